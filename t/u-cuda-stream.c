/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * u-cuda-stream.c - proofs whose points do not stay on the device: several in one
 * pass, against the host's; budgets without room; ends before their time
 *
 * Runs on the device there is, or on the emulated one.
 */
#include <errno.h>

#include "gpu/cuda/device.h"
#include "t/random-srs.h"
#include "t/tap.h"

static const struct gpu_ops *cuda;
static bool cancel;

static bool cancelled(void *arg)
{
	return cancel;
}

#define ALL_VECTORS 31u
#define BATCH_TEST 4

/* A system, witnesses for it, random parameters, and what the host says of them. */
struct streamed {
	struct sys s[BATCH_TEST];
	struct random_srs srs;
	struct gpu_sums want[BATCH_TEST];
	struct gpu *gpu;
	struct gpu_cs *cs;
	struct gpu_srs *gsrs;
	struct gpu_job *jobs[BATCH_TEST];
	struct gpu_stats opened;
	uint64_t used;			/* of the arena, then */
	uint64_t host_bytes;		/* of the parameters */
};

static char last_log[512];

static void keep_log(void *arg, int priority, const char *line)
{
	snprintf(last_log, sizeof(last_log), "%s", line);
	diag("%s", line);
}

/* A device of its own with little memory, on which the vectors of must_stream do not stay. */
static int streamed_load(struct streamed *t, uint32_t n_instances, uint32_t max_rows,
			 uint64_t piece, bool dense, unsigned int must_stream)
{
	struct gpu_config config = {
		.size = sizeof(config), .threads = 2, .log = keep_log, .cancelled = cancelled,
		/* others stay where there is room for them beside a proof */
		.vram_budget = (must_stream == ALL_VECTORS ? 48 : 192) << 20,
	};
	uint64_t bad, state = seed;
	char err[256];
	unsigned int i;
	int r;

	memset(t, 0, sizeof(*t));
	for (i = 0; i < BATCH_TEST; i++) {
		/* one system each time, with other values */
		seed = state;
		sys_open(&t->s[i], 5, n_instances, max_rows);
		if (i)
			sys_again(&t->s[i]);
	}
	random_srs_open(&t->srs, &t->s[0].cs, dense);
	for (i = 0; i < BATCH_TEST; i++)
		if (prove(&gpu_cpu_ops, host, &t->s[0].cs, &t->srs.desc, &t->s[i].w, true, &bad,
			  &t->want[i]))
			abort();
	/* from here on the driver may fail */
	r = cuda->open(&t->gpu, &config, err);
	if (r)
		return r;
	t->gpu->must_stream = must_stream;
	cuda->stats(t->gpu, &t->opened);
	t->used = cuda_arena_used(t->gpu->ctx->arena);
	r = cuda->cs_load(t->gpu, &t->s[0].cs, &t->cs);
	if (!r)
		r = cuda->srs_load(t->gpu, &t->srs.desc, 1, &t->gsrs, &bad);
	if (r)
		return r;
	t->gsrs->piece = piece;
	t->host_bytes = t->gsrs->host_bytes;
	return 0;
}

static void streamed_open(struct streamed *t, uint32_t n_instances, uint32_t max_rows,
			  uint64_t piece, bool dense, unsigned int must_stream)
{
	if (streamed_load(t, n_instances, max_rows, piece, dense, must_stream))
		abort();
}

static void streamed_fini(struct streamed *t)
{
	unsigned int i;

	cuda->close(t->gpu);
	random_srs_close(&t->srs);
	for (i = 0; i < BATCH_TEST; i++)
		sys_close(&t->s[i]);
}

/* Whether everything was given back; the tables of transforms stay with the device. */
static bool nothing_left(struct streamed *t)
{
	struct gpu_stats stats;

	cuda->srs_unload(t->gpu, t->gsrs);
	cuda->cs_unload(t->gpu, t->cs);
	cuda_ntt_close(t->gpu->ntt);
	t->gpu->ntt = NULL;
	cuda->stats(t->gpu, &stats);
	return stats.host_bytes == t->opened.host_bytes && !t->gpu->jobs &&
	       cuda_arena_used(t->gpu->ctx->arena) == t->used;
}

static void streamed_close(struct streamed *t)
{
	struct gpu_stats stats;

	ok(nothing_left(t), "memory of the device and pinned memory are given back");
	cuda->stats(t->gpu, &stats);
	ok(stats.host_peak == t->opened.host_bytes + t->host_bytes, "pinned memory was counted");
	streamed_fini(t);
}

static int start(struct streamed *t, unsigned int i)
{
	uint64_t bad;

	return cuda->prove_start(t->gpu, t->cs, t->gsrs, &t->s[i].w, false, &t->jobs[i], &bad);
}

/* Each proof's sums, whatever was done before. */
static bool finish(struct streamed *t, unsigned int i)
{
	struct gpu_sums sums;

	return cuda->prove_finish(t->gpu, t->jobs[i], &sums) == 0 && sums_equal(&sums, &t->want[i]);
}

/* k proofs in one pass, for k = 1, 2, 3; with pieces of that many points at most. */
static void test_stream(uint32_t n_instances, uint32_t max_rows, uint64_t piece, bool dense,
			unsigned int must_stream)
{
	struct gpu_stats stats, before;
	uint64_t one = 0, moved;
	struct streamed t;
	unsigned int k, i;
	bool good;

	streamed_open(&t, n_instances, max_rows, piece, dense, must_stream);
	good = t.gsrs->streamed && cuda->prove_batch(t.gpu, t.cs, t.gsrs) > 2;
	for (i = 0; i < CUDA_VECTOR_N; i++) {
		bool stays = !(must_stream >> i & 1);

		good &= (t.gsrs->points[i] != 0) == stays && (t.gsrs->host[i] != NULL) != stays;
	}
	ok(good, "vectors %02x are pinned on the host, the others stay on the device", must_stream);
	for (k = 1; k <= 3; k++) {
		cuda->stats(t.gpu, &before);
		for (i = 0, good = true; i < k; i++)
			good &= !start(&t, i) && !cuda->prove_work(t.gpu, t.jobs[i]);
		for (i = 0; i < k; i++)
			good &= finish(&t, i);
		ok(good, "pieces of %llu, %u proofs in a pass: the sums are the host's",
		   (unsigned long long)piece, k);
		cuda->stats(t.gpu, &stats);
		moved = stats.stream_bytes - before.stream_bytes;
		one = k == 1 ? moved : one;
		/* h for each, the others once */
		moved -= (k - 1) * (must_stream & 1 ? t.gsrs->n[CUDA_VECTOR_H] * 96 : 0);
		ok(moved == one && one == t.gsrs->host_bytes,
		   "points come once for all, but those of h: %llu bytes",
		   (unsigned long long)moved);
	}
	ok(start(&t, 0) == 0 && finish(&t, 0), "finish does the work too");
	streamed_close(&t);
}

/* More proofs than the batch takes, ends in other orders, one that is cancelled. */
static void test_batch(void)
{
	struct gpu_sums sums;
	struct streamed t;

	streamed_open(&t, 12, 9, 64, false, ALL_VECTORS);
	t.gsrs->batch = 2;
	ok(!start(&t, 0) && !start(&t, 1) && !start(&t, 2) && start(&t, 3) == -EAGAIN,
	   "as many as the batch and one more are begun");
	ok(!cuda->prove_work(t.gpu, t.jobs[1]) && !cuda->prove_work(t.gpu, t.jobs[0]) &&
	   finish(&t, 1), "the second ends, with the first in its pass");
	cancel = true;
	ok(t.jobs[0]->has_others && finish(&t, 0),
	   "the first, whose sums are there, is not cancelled any more");
	ok(cuda->prove_work(t.gpu, t.jobs[2]) == -ECANCELED &&
	   cuda->prove_finish(t.gpu, t.jobs[2], &sums) == -ECANCELED, "the third is");
	cancel = false;
	ok(!start(&t, 0) && !start(&t, 1) && !cuda->prove_work(t.gpu, t.jobs[0]) &&
	   !cuda->prove_work(t.gpu, t.jobs[1]), "two more are begun");
	cancel = true;
	ok(cuda->prove_finish(t.gpu, t.jobs[0], &sums) == -ECANCELED, "one is cancelled");
	cancel = false;
	ok(finish(&t, 1), "the other ends without it");
	streamed_close(&t);
}

/* A wrong point is found on its way to the host too. */
static void test_stream_bad_point(void)
{
	struct gpu_srs *srs = NULL;
	struct streamed t;
	uint64_t bad = 0;

	streamed_open(&t, 5, 5, 100, false, ALL_VECTORS);
	((uint8_t *)t.srs.desc.a)[96 + 95] ^= 1;
	cuda->srs_unload(t.gpu, t.gsrs);
	t.gsrs = NULL;
	ok(cuda->srs_load(t.gpu, &t.srs.desc, 1, &srs, &bad) == -EBADMSG && bad == (2ull << 56 | 1),
	   "a wrong point is found on its way to the host too");
	streamed_close(&t);
}

/* What the log says of budgets with no room. */
static void test_budgets(void)
{
	struct gpu_config config = {
		.size = sizeof(config), .threads = 1, .vram_budget = 48 << 20, .log = keep_log,
	};
	struct gpu_srs_desc desc = { .n_h = (1u << 21) - 1 };
	struct gpu_stats stats;
	struct random_srs srs;
	struct gpu_srs *gsrs;
	struct gpu *gpu;
	char err[256];
	uint64_t bad;
	struct sys s;

	if (cuda->open(&gpu, &config, err))
		abort();
	ok(cuda->srs_load(gpu, &desc, 0, &gsrs, &bad) == -ENOMEM &&
	   strstr(last_log, "take at least 192 MiB of device memory, vram_budget leaves 48 MiB"),
	   "a domain of 2^21 has no room in 48 MiB");
	cuda->stats(gpu, &stats);
	cuda->close(gpu);

	sys_open(&s, 5, 25, 12);
	random_srs_open(&srs, &s.cs, false);
	config.host_budget = stats.host_bytes + 1000;
	if (cuda->open(&gpu, &config, err))
		abort();
	gpu->must_stream = ALL_VECTORS;
	ok(cuda->srs_load(gpu, &srs.desc, 0, &gsrs, &bad) == -ENOMEM &&
	   strstr(last_log, "of parameters do not fit the device and host_budget leaves 0 MiB"),
	   "nor have points on the host beyond its budget");
	cuda->close(gpu);
	random_srs_close(&srs);
	sys_close(&s);
}

/*
 * Two proofs on a driver that fails once, somewhere: the sums are right or the
 * error is told, and whatever it was, nothing is left behind.
 */
static void test_failing(void)
{
	struct streamed t = { .gpu = NULL };
	unsigned int i, n = 0, good = 0;
	int r;

	r = streamed_load(&t, 3, 5, 40, false, ALL_VECTORS);
	if (!t.gpu) {
		ok(r == -EIO || r == -ENOMEM, "the device does not open");
		return;
	}
	for (i = 0; i < 2 && !r; i++) {
		r = start(&t, i);
		if (!r) {
			n++;
			cuda->prove_work(t.gpu, t.jobs[i]);
		}
	}
	for (i = 0; i < n; i++) {
		struct gpu_sums sums;
		int err = cuda->prove_finish(t.gpu, t.jobs[i], &sums);

		good += err || sums_equal(&sums, &t.want[i]);
		r = err ? err : r;
	}
	ok(good == n && (!r || r == -EIO || r == -ENOMEM), "%u proofs were begun: %s", n,
	   strerror(-r));
	ok(nothing_left(&t), "nothing is left behind");
	streamed_fini(&t);
}

/*
 * What is planned for the parameters of a 32 GiB PoRep.  Only the plan is made: the
 * emulated device's memory is never touched.
 */
static void test_plan(unsigned int gib, enum gpu_h_basis basis, const char *kept,
		      unsigned int most_pieces)
{
	static const char letters[] = "hlabB";
	struct gpu_config config = {
		.size = sizeof(config), .threads = 1, .vram_budget = (uint64_t)gib << 30,
		.log = keep_log,
	};
	struct cs cs = { .n_aux = 130169893, .n_full = 1699030, .n_inputs = 19, .log_domain = 27 };
	struct gpu_srs srs = {
		.h_basis = basis,
		.n = { (1u << 27) - 1, 130169893, 129753312, 33112281, 33112281 },
	};
	struct gpu_cs gcs = { .cs = &cs };
	char text[CUDA_VECTOR_N + 1] = "", err[256];
	unsigned int batch, pieces;
	struct gpu *gpu;
	uint64_t room, vectors;
	int i, r;

	if (cuda->open(&gpu, &config, err)) {
		skip("large", err);
		return;
	}
	room = cuda_arena_largest(gpu->ctx->arena);
	r = cuda_plan(gpu, &srs, true);
	for (i = 0; i < CUDA_VECTOR_N; i++) {
		uint64_t bytes = srs.n[i] * cuda_point_size(cuda_vector_group(i));

		if (!srs.resident[i])
			continue;
		text[strlen(text)] = letters[i];
		/* as loading does, but that it takes the memory */
		r = r ? r : cuda_alloc(gpu->ctx, &srs.points[i], bytes);
		room -= bytes;
	}
	batch = cuda_prove_batch(gpu, &gcs, &srs);
	pieces = srs.h_piece ? (srs.n[0] + srs.h_piece - 1) / srs.h_piece : 1;
	ok(!r && !strcmp(text, kept) && pieces <= most_pieces && (!srs.streamed || batch >= 10),
	   "%u GiB, %s: %s stay%s, %u pieces of h, %u proofs in a pass", gib,
	   basis == GPU_H_COSET ? "coset" : "powers", *text ? text : "none",
	   strlen(text) == 1 ? "s" : "", pieces, batch);
	vectors = (basis == GPU_H_COSET ? 2 : 3) * (32ull << 27);
	if (!srs.resident[CUDA_VECTOR_H])
		ok(vectors + srs.h_piece * 96 + (batch + 1) * cuda_witness_bytes(&gcs) <= room,
		   "the quotient has room beside the first piece and what waits");
	device_host_release(gpu, srs.host_bytes);
	cuda->close(gpu);
}

int main(int argc, char **argv)
{
	struct gpu_config config = { .size = sizeof(config) };
	bool large = argc > 1 && !strcmp(argv[1], "--large");
	struct gpu *dev;
	char err[256] = "";

	cuda = gpu_cuda_ops();
	if (argc > 1 && !strcmp(argv[1], "--fail") && cuda) {
		if (gpu_cpu_ops.open(&host, &config, err))
			abort();
		test_failing();
		gpu_cpu_ops.close(host);
		return tap_done();
	}
	if (!cuda || cuda->open(&dev, &config, err)) {
		skip("gpu", cuda ? err : "built without CUDA");
		return tap_done();
	}
	cuda->close(dev);
	if (gpu_cpu_ops.open(&host, &config, err)) {
		diag("%s", err);
		return 1;
	}
	/* for the emulated device */
	setenv("FAKE_CUDA_MEMORY", "0x1800000000", 1);
	test_plan(14, GPU_H_POWERS, "", 64);
	test_plan(16, GPU_H_POWERS, "", 8);
	test_plan(16, GPU_H_COSET, "", 8);
	test_plan(24, GPU_H_POWERS, "b", 8);
	test_plan(24, GPU_H_COSET, "hb", 1);
	test_plan(32, GPU_H_POWERS, "hb", 1);
	test_plan(80, GPU_H_COSET, "hlabB", 1);
	test_stream(12, 12, 100, false, ALL_VECTORS);
	test_stream(12, 12, 257, true, ALL_VECTORS);
	test_stream(5, 12, 70, false, 1u << CUDA_VECTOR_L | 1u << CUDA_VECTOR_A);
	test_stream(5, 12, 70, false, 1u << CUDA_VECTOR_H);
	test_batch();
	test_stream_bad_point();
	test_budgets();
	if (large)
		test_stream(200, 60, 1000, false, ALL_VECTORS);
	gpu_cpu_ops.close(host);
	return tap_done();
}
