/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * u-cuda-prove.c - the CUDA backend against the host's, function by function:
 * evaluation, transforms, parameters, sums and whole proofs
 *
 * Runs on the device there is, or on the emulated one.
 *
 * Tests fault class "slow transfers".
 */
#include <errno.h>

#include "engine/circuits/circuit.h"
#include "engine/cs/system.h"
#include "engine/groth16/coset.h"
#include "engine/groth16/make.h"
#include "engine/groth16/params.h"
#include "gpu/cuda/device.h"
#include "gpu/gpu.h"
#include "lib/bls12_381/encoding.h"
#include "t/random-srs.h"
#include "t/tap.h"

static const struct gpu_ops *cuda;
static struct gpu *dev;
static bool cancel;

static void rnd_scalar(struct scalar *s)
{
	struct fr v;

	rnd_fr(&v);
	fr_to_scalar(s, &v);
}

/* Zero, one, r - 1 and a short one among random scalars. */
static struct scalar *rnd_scalars(size_t n)
{
	struct scalar *s = xalloc(n, sizeof(*s));
	struct fr minus;
	size_t i;

	fr_neg(&minus, &fr_one);
	for (i = 0; i < n; i++)
		rnd_scalar(&s[i]);
	memset(&s[0], 0, sizeof(s[0]));
	if (n > 3) {
		s[1] = (struct scalar){ { 1 } };
		fr_to_scalar(&s[2], &minus);
		s[3] = (struct scalar){ { 0xff00 } };
	}
	return s;
}

static bool cancelled(void *arg)
{
	return cancel;
}

static void log_line(void *arg, int priority, const char *line)
{
	diag("%s", line);
}

/* ---- evaluation ---- */

static void test_system(uint32_t n_templates, uint32_t n_instances, uint32_t max_rows)
{
	uint64_t bad = 7, want_bad = 7;
	struct fr *out[3], *sums[3];
	struct gpu_cs *cs, *host_cs;
	struct sys s;
	size_t size;
	int k, r;

	sys_open(&s, n_templates, n_instances, max_rows);
	size = sizeof(struct fr) << s.cs.log_domain;
	for (k = 0; k < 3; k++) {
		out[k] = malloc(size);
		sums[k] = malloc(size);
		memset(out[k], 0xff, size);
	}
	if (!ok(cuda->cs_load(dev, &s.cs, &cs) == 0, "a system of %llu rows is loaded",
		(unsigned long long)s.cs.n_rows))
		exit(tap_done());
	r = cuda->evaluate(dev, cs, &s.w, out[0], out[1], out[2], &bad);
	ok(r == 0 && !memcmp(out[0], s.want[0], size) && !memcmp(out[1], s.want[1], size) &&
	   !memcmp(out[2], s.want[2], size), "its values are those by definition");
	ok(bad == UINT64_MAX, "all rows are satisfied");
	memset(out[0], 0xff, size);
	r = cuda->evaluate(dev, cs, &s.w, out[0], out[1], NULL, NULL);
	ok(r == 0 && !memcmp(out[0], s.want[0], size), "without c too");
	/* a wrong value in the last row of some instance, and what follows from it */
	fr_add(&s.w.full[s.cs.n_full / 2], &s.w.full[s.cs.n_full / 2], &fr_one);
	if (gpu_cpu_ops.cs_load(host, &s.cs, &host_cs))
		abort();
	r = cuda->evaluate(dev, cs, &s.w, out[0], out[1], out[2], &bad);
	k = gpu_cpu_ops.evaluate(host, host_cs, &s.w, sums[0], sums[1], sums[2], &want_bad);
	ok(r == 0 && k == 0 && bad == want_bad && !memcmp(out[2], sums[2], size),
	   "with a wrong value, row %llu is the first bad one", (unsigned long long)want_bad);
	gpu_cpu_ops.cs_unload(host, host_cs);
	cuda->cs_unload(dev, cs);
	sys_close(&s);
	for (k = 0; k < 3; k++) {
		free(out[k]);
		free(sums[k]);
	}
}

/* ---- pieces ---- */

static void test_ntt(unsigned int log_n)
{
	size_t n = (size_t)1 << log_n, size = n * sizeof(struct fr), i;
	struct fr *a = malloc(size), *b = malloc(size), *c = malloc(size), *d = malloc(size);
	struct fr shift;
	int inverse, with_shift, same = 0;

	rnd_fr(&shift);
	for (inverse = 0; inverse < 2; inverse++)
		for (with_shift = 0; with_shift < 2; with_shift++) {
			const struct fr *s = with_shift ? &shift : NULL;

			for (i = 0; i < n; i++)
				rnd_fr(&a[i]);
			memcpy(b, a, size);
			same += cuda->ntt(dev, a, log_n, inverse, &FR_ROOT_7, s) == 0 &&
				gpu_cpu_ops.ntt(host, b, log_n, inverse, &FR_ROOT_7, s) == 0 &&
				!memcmp(a, b, size);
		}
	ok(same == 4, "2^%u: transforms forward and inverse, with shift and without", log_n);
	for (same = 0; same < 3; same++) {
		static const char *const names[] = { "powers", "odd coset", "coset" };
		enum gpu_h_basis basis = same;
		struct scalar *h = malloc(size), *want = malloc(size);

		for (i = 0; i < n; i++) {
			rnd_fr(&a[i]);
			rnd_fr(&b[i]);
		}
		memcpy(c, a, size);
		memcpy(d, b, size);
		ok(cuda->quotient(dev, a, b, log_n, basis, h) == 0 &&
		   gpu_cpu_ops.quotient(host, c, d, log_n, basis, want) == 0 &&
		   !memcmp(h, want, (n - !same) * sizeof(*h)), "2^%u: quotient, %s", log_n,
		   names[same]);
		free(h);
		free(want);
	}
	free(a);
	free(b);
	free(c);
	free(d);
}

static void test_points(size_t n)
{
	struct scalar *s = rnd_scalars(n);
	uint8_t (*p1)[96] = xalloc(n, 96), (*w1)[96] = xalloc(n, 96);
	uint8_t (*p2)[192] = xalloc(n, 192), (*w2)[192] = xalloc(n, 192);

	ok(cuda->mul_base_g1(dev, &G1_GENERATOR, s, n, p1) == 0 &&
	   gpu_cpu_ops.mul_base_g1(host, &G1_GENERATOR, s, n, w1) == 0 && !memcmp(p1, w1, 96 * n),
	   "%zu multiples of the generator of G1", n);
	ok(cuda->mul_base_g2(dev, &G2_GENERATOR, s, n, p2) == 0 &&
	   gpu_cpu_ops.mul_base_g2(host, &G2_GENERATOR, s, n, w2) == 0 && !memcmp(p2, w2, 192 * n),
	   "and of G2");
	free(s);
	free(p1);
	free(w1);
	free(p2);
	free(w2);
}

/* ---- parameters and sums ---- */

/* One byte of one point changed: the place is named.  check 2 also sees the wrong order. */
static void test_bad_point(const struct gpu_srs_desc *desc)
{
	/* on the curve, not in the subgroup: (0, 2) */
	static const uint8_t low_order[96] = { [95] = 2 };
	const uint64_t at[5] = { desc->n_h - 1, 0, desc->n_a / 2, 1, desc->n_bg2 - 1 };
	const void *const data[5] = { desc->h, desc->l, desc->a, desc->bg1, desc->bg2 };
	struct gpu_srs *srs = NULL;
	uint8_t old[96];
	int i, good = 0;

	for (i = 0; i < 5; i++) {
		uint8_t *p = (uint8_t *)data[i] + at[i] * (i == 4 ? 192 : 96) + 47;
		uint64_t bad = 0;

		*p ^= 1;
		good += cuda->srs_load(dev, desc, 1, &srs, &bad) == -EBADMSG &&
			bad == ((uint64_t)i << 56 | at[i]);
		*p ^= 1;
	}
	ok(good == 5, "a wrong point of each vector is found and named");
	{
		uint8_t *p = (uint8_t *)desc->l + 96 * 7;
		uint64_t bad = 0;

		memcpy(old, p, 96);
		memcpy(p, low_order, 96);
		ok(cuda->srs_load(dev, desc, 1, &srs, &bad) == 0,
		   "a point of another order passes the fast check");
		cuda->srs_unload(dev, srs);
		ok(cuda->srs_load(dev, desc, 2, &srs, &bad) == -EBADMSG &&
		   bad == (UINT64_C(1) << 56 | 7), "and not the full one");
		memset(p, 0, 96);
		p[0] = 0x40;
		ok(cuda->srs_load(dev, desc, 1, &srs, &bad) == -EBADMSG &&
		   bad == (UINT64_C(1) << 56 | 7), "nor infinity either");
		memcpy(p, old, 96);
	}
}

static void test_random_proof(uint32_t n_instances, uint32_t max_rows, bool dense)
{
	struct gpu_sums sums, want;
	struct random_srs srs;
	uint64_t bad = 0, want_bad = 0;
	struct gpu_stats stats;
	struct sys s;
	int r;

	sys_open(&s, 5, n_instances, max_rows);
	random_srs_open(&srs, &s.cs, dense);
	r = prove(&gpu_cpu_ops, host, &s.cs, &srs.desc, &s.w, true, &bad, &want);
	ok(r == 0 && prove(cuda, dev, &s.cs, &srs.desc, &s.w, true, &bad, &sums) == 0 &&
	   sums_equal(&sums, &want), "%s parameters, %u variables: the five sums are the host's",
	   dense ? "dense" : "sparse", s.cs.n_aux);
	cuda->stats(dev, &stats);
	ok(stats.bytes_up > 0 && stats.bytes_down > 0 && stats.device_peak > 0 &&
	   stats.ns[GPU_STAGE_MSM_B2] > 0, "the proof's figures are there");
	if (!dense)
		test_bad_point(&srs.desc);
	fr_add(&s.w.full[0], &s.w.full[0], &fr_one);
	ok(prove(&gpu_cpu_ops, host, &s.cs, &srs.desc, &s.w, true, &want_bad, &want) == -EDOM &&
	   prove(cuda, dev, &s.cs, &srs.desc, &s.w, true, &bad, &sums) == -EDOM && bad == want_bad,
	   "a witness that does not satisfy row %llu is refused", (unsigned long long)bad);
	srs.desc.n_a--;
	ok(prove(cuda, dev, &s.cs, &srs.desc, &s.w, false, &bad, &sums) == -EINVAL,
	   "so are parameters of another system");
	srs.desc.n_a++;
	cancel = true;
	ok(prove(cuda, dev, &s.cs, &srs.desc, &s.w, false, &bad, &sums) == -ECANCELED, "cancelled");
	cancel = false;
	random_srs_close(&srs);
	sys_close(&s);
}

/* All that an arena gives, in pieces of at least 4 KiB; whether any lies in [from, to). */
static bool takes_from(struct cuda_ctx *ctx, CUdeviceptr from, CUdeviceptr to)
{
	CUdeviceptr at[4096];
	bool inside = false;
	uint64_t bytes;
	size_t n = 0;

	while (n < 4096 && (bytes = cuda_arena_largest(ctx->arena)) >= 4096) {
		if (cuda_alloc(ctx, &at[n], bytes))
			abort();
		inside |= at[n] < to && at[n] + bytes > from;
		n++;
	}
	while (n > 0)
		cuda_free(ctx, at[--n]);
	return inside;
}

/* A lane's share is nobody else's, and is given back. */
static void test_lane_memory(void)
{
	struct gpu_config config = {
		.size = sizeof(config), .threads = 1, .vram_budget = 64 << 20, .log = log_line,
	};
	uint64_t all, share = 20 << 20;
	struct gpu *bulk, *lane;
	CUdeviceptr from, to;
	char err[256];

	if (cuda->open(&bulk, &config, err)) {
		ok(false, "open: %s", err);
		return;
	}
	all = cuda_arena_largest(bulk->ctx->arena);
	if (!ok(!cuda->lane_open(bulk, &config, share, &lane, err), "a lane of 20 MiB of 64"))
		return;
	from = lane->ctx->memory;
	to = from + share;
	ok(!takes_from(bulk->ctx, from, to), "what is left never lies in it");
	ok(takes_from(lane->ctx, from, to) && !takes_from(lane->ctx, 0, from) &&
	   !takes_from(lane->ctx, to, UINT64_MAX), "and its own always does");
	ok(cuda_arena_used(bulk->ctx->arena) >= share, "it counts as used");
	cuda->close(lane);
	ok(cuda_arena_largest(bulk->ctx->arena) == all, "until it is closed");
	cuda->close(bulk);
}

/* Two proofs between start and finish, not three. */
static void test_jobs(void)
{
	struct gpu_job *jobs[3];
	struct gpu_sums sums[2];
	struct random_srs srs;
	struct gpu_srs *gsrs = NULL;
	struct gpu_cs *gcs = NULL;
	uint64_t bad;
	struct sys s;

	sys_open(&s, 3, 4, 8);
	random_srs_open(&srs, &s.cs, false);
	if (!ok(cuda->cs_load(dev, &s.cs, &gcs) == 0 &&
		cuda->srs_load(dev, &srs.desc, 1, &gsrs, &bad) == 0, "a system and parameters"))
		goto unload;
	ok(cuda->prove_start(dev, gcs, gsrs, &s.w, false, &jobs[0], &bad) == 0 &&
	   cuda->prove_start(dev, gcs, gsrs, &s.w, true, &jobs[1], &bad) == 0,
	   "two proofs are begun");
	ok(cuda->prove_start(dev, gcs, gsrs, &s.w, false, &jobs[2], &bad) == -EAGAIN,
	   "a third has to wait");
	ok(cuda->prove_finish(dev, jobs[0], &sums[0]) == 0 &&
	   cuda->prove_finish(dev, jobs[1], &sums[1]) == 0 && sums_equal(&sums[0], &sums[1]),
	   "both end, and alike");
unload:
	cuda->srs_unload(dev, gsrs);
	cuda->cs_unload(dev, gcs);
	random_srs_close(&srs);
	sys_close(&s);
}

/* ---- a circuit with parameters made on the device ---- */

static char *make_params(const struct gpu_ops *ops, struct gpu *gpu, const struct cs *cs,
			 size_t *size)
{
	static const char toxic_text[] = "48577,22580,53332,5481,3673";
	struct cuzk_error err = { .size = sizeof(err) };
	struct make_result result;
	struct toxic_waste toxic;
	char *data = NULL;
	FILE *f = open_memstream(&data, size);

	if (!f || toxic_parse(&toxic, toxic_text, &err) ||
	    params_make(cs, &toxic, GPU_H_POWERS, ops, gpu, NULL, f, NULL, NULL, &result, &err) ||
	    fclose(f))
		diag("%s", err.text);
	return data;
}

/*
 * The sums of tiny-N over parameters that are in no file, on both backends; l
 * with what the inputs add.
 */
static int prove_made(const struct gpu_ops *ops, struct gpu *gpu, const struct cs *cs,
		      const struct cs_witness *w, enum gpu_h_basis basis, struct gpu_sums *sums,
		      struct vk *vk)
{
	struct cuzk_error err = { .size = sizeof(err) };
	struct toxic_waste toxic;
	struct g1_fixed *inputs = NULL;
	struct gpu_srs *srs = NULL;
	struct gpu_cs *gcs = NULL;
	struct gpu_job *job;
	uint64_t bad;
	int r;

	r = toxic_parse(&toxic, "48577,22580,53332,5481,3673", &err);
	if (!r)
		r = params_make_srs(cs, &toxic, basis, ops, gpu, NULL, &srs, vk,
				    &inputs, &err);
	if (!r)
		r = ops->cs_load(gpu, cs, &gcs);
	if (!r)
		r = ops->prove_start(gpu, gcs, srs, w, true, &job, &bad);
	if (!r)
		r = ops->prove_finish(gpu, job, sums);
	if (!r && inputs)
		r = coset_add_inputs(sums, inputs, w->inputs + 1, cs->n_inputs - 1);
	g1_fixed_close(inputs);
	ops->srs_unload(gpu, srs);
	ops->cs_unload(gpu, gcs);
	return r;
}

/* The two bases of h differ in how they divide C's point between h and l. */
static void join_h_l(struct gpu_sums *sums)
{
	struct g1 sum;

	g1_from_affine(&sum, &sums->h);
	g1_add_affine(&sum, &sum, &sums->l);
	g1_to_affine(&sums->l, &sum);
	memset(&sums->h, 0, sizeof(sums->h));
}

static void test_params_on_device(const struct circuit *c, const struct cs *cs)
{
	struct gpu_sums sums, want;
	struct tiny_input in;
	struct cs_witness w;
	struct vk vk = { .ic = NULL }, want_vk = { .ic = NULL };
	char err[256];
	int r;

	fr_from_u64(&in.x, 5);
	if (circuit_witness(c, cs, (union circuit_input){ .tiny = &in }, NULL, &w, err))
		abort();
	ok(prove_made(cuda, dev, cs, &w, GPU_H_POWERS, &sums, &vk) == 0 &&
	   prove_made(&gpu_cpu_ops, host, cs, &w, GPU_H_POWERS, &want, &want_vk) == 0 &&
	   sums_equal(&sums, &want) &&
	   !memcmp(vk.ic, want_vk.ic, vk.n_ic * sizeof(*vk.ic)),
	   "%s: the same without a file between", c->name);
	vk_fini(&vk);
	vk_fini(&want_vk);
	join_h_l(&want);
	r = prove_made(cuda, dev, cs, &w, GPU_H_COSET, &sums, &vk);
	join_h_l(&sums);
	ok(r == 0 && sums_equal(&sums, &want), "%s: rearranged, the same sums", c->name);
	vk_fini(&vk);
	r = prove_made(&gpu_cpu_ops, host, cs, &w, GPU_H_COSET, &sums, &vk);
	join_h_l(&sums);
	ok(r == 0 && sums_equal(&sums, &want), "%s: and so on the host", c->name);
	vk_fini(&vk);
	cs_witness_fini(&w);
}

static void test_circuit(const char *name)
{
	size_t size = 0, want_size = 0;
	struct circuit c;
	struct cs *cs;
	char *data, *want;

	if (circuit_find(name, &c) || circuit_build(&c, &cs))
		abort();
	data = make_params(cuda, dev, cs, &size);
	want = make_params(&gpu_cpu_ops, host, cs, &want_size);
	ok(size == want_size && size > 868 && !memcmp(data, want, size),
	   "%s: parameters made on the device are the host's, %zu bytes", name, size);
	free(data);
	free(want);
	test_params_on_device(&c, cs);
	cs_free(cs);
}

int main(int argc, char **argv)
{
	struct gpu_config config = {
		.size = sizeof(config), .threads = 2, .log = log_line, .cancelled = cancelled,
	};
	bool large = argc > 1 && !strcmp(argv[1], "--large");
	char err[256] = "";
	struct gpu_stats stats;

	cuda = gpu_cuda_ops();
	if (!cuda || cuda->open(&dev, &config, err)) {
		skip("gpu", cuda ? err : "built without CUDA");
		return tap_done();
	}
	config.threads = 0;
	if (gpu_cpu_ops.open(&host, &config, err)) {
		diag("%s", err);
		return 1;
	}
	test_system(1, 1, 1);
	test_system(5, 300, 30);
	test_system(1, 1, 2000);
	test_system(3, 33, 70);
	test_ntt(0);
	test_ntt(1);
	test_ntt(7);
	test_ntt(12);
	test_points(1);
	test_points(300);
	test_random_proof(25, 12, false);
	test_random_proof(25, 12, true);
	test_jobs();
	test_lane_memory();
	test_circuit("tiny-3");
	test_circuit("tiny-100");
	if (large) {
		test_system(6, 20000, 100);
		test_ntt(20);
		test_points(100000);
		test_random_proof(3000, 60, false);
		test_random_proof(3000, 60, true);
	}
	ok(dev->n_together > 0, "sums were made beside the quotient: of %u proofs", dev->n_together);
	cuda->stats(dev, &stats);
	diag("device memory: %llu bytes in use at the end, %llu at most",
	     (unsigned long long)stats.device_bytes, (unsigned long long)stats.device_peak);
	cuda->close(dev);
	gpu_cpu_ops.close(host);
	return tap_done();
}
