/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * u-lane.c - a proof in a lane beside proofs of the device's first handle
 *
 * On the host, and on the CUDA device there is, or the emulated one.  Sums are
 * compared with those that the host makes of each system alone.
 */
#include <errno.h>
#include <time.h>
#include <unistd.h>

#include "engine/circuits/circuit.h"
#include "engine/cs/system.h"
#include "engine/groth16/make.h"
#include "gpu/gpu.h"
#include "lib/gate.h"
#include "t/tap.h"

#define LANE (96u << 20)	/* what sums take grows with the multiprocessors */
#define TIMES 3

static const struct gpu_ops *ops;
static struct gate gate;

/* A system on a handle, and its sums as they must be. */
struct load {
	const char *circuit;
	struct gpu *gpu;
	struct cs *cs;
	struct cs_witness w;
	struct gpu_cs *gcs;
	struct gpu_srs *srs;
	struct gpu_sums want;
	struct vk vk;
	unsigned int right, n;
	int status;
	atomic_bool stop;
	atomic_bool *cancel;
};

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static void log_line(void *arg, int priority, const char *line)
{
	diag("%s", line);
}

static bool cancelled(void *arg)
{
	return atomic_load((atomic_bool *)arg);
}

static int load_on(const struct gpu_ops *o, struct gpu *gpu, struct load *l)
{
	struct cuzk_error err = { .size = sizeof(err) };
	struct g1_fixed *inputs;	/* NULL in this basis */
	struct toxic_waste toxic;
	int r;

	r = toxic_parse(&toxic, "48577,22580,53332,5481,3673", &err);
	if (!r)
		r = params_make_srs(l->cs, &toxic, GPU_H_POWERS, o, gpu, NULL, &l->srs, &l->vk,
				    &inputs, &err);
	return r ? r : o->cs_load(gpu, l->cs, &l->gcs);
}

static int prove_on(const struct gpu_ops *o, struct gpu *gpu, struct load *l,
		    struct gpu_sums *sums)
{
	struct gpu_job *job;
	uint64_t bad;
	int r = o->prove_start(gpu, l->gcs, l->srs, &l->w, false, &job, &bad);

	return r ? r : o->prove_finish(gpu, job, sums);
}

static void unload_from(const struct gpu_ops *o, struct gpu *gpu, struct load *l)
{
	o->srs_unload(gpu, l->srs);
	o->cs_unload(gpu, l->gcs);
	vk_fini(&l->vk);
	l->srs = NULL;
	l->gcs = NULL;
	memset(&l->vk, 0, sizeof(l->vk));
}

/* The system, its witness, and its sums by the host. */
static void load_open(struct load *l, const char *name, struct gpu *host)
{
	struct tiny_input in;
	struct circuit c;
	char err[256];

	memset(l, 0, sizeof(*l));
	l->circuit = name;
	fr_from_u64(&in.x, 5);
	if (circuit_find(name, &c) || circuit_build(&c, &l->cs) ||
	    circuit_witness(&c, l->cs, (union circuit_input){ .tiny = &in }, NULL, &l->w, err) ||
	    load_on(&gpu_cpu_ops, host, l) || prove_on(&gpu_cpu_ops, host, l, &l->want))
		abort();
	unload_from(&gpu_cpu_ops, host, l);
}

static void load_close(struct load *l)
{
	cs_witness_fini(&l->w);
	cs_free(l->cs);
}

static bool sums_equal(const struct gpu_sums *a, const struct gpu_sums *b)
{
	return g1_affine_equal(&a->h, &b->h) && g1_affine_equal(&a->l, &b->l) &&
	       g1_affine_equal(&a->a, &b->a) && g1_affine_equal(&a->b1, &b->b1) &&
	       g2_affine_equal(&a->b2, &b->b2);
}

static bool prove(struct load *l)
{
	struct gpu_sums sums;

	l->status = prove_on(ops, l->gpu, l, &sums);
	return !l->status && sums_equal(&sums, &l->want);
}

static void *bulk_main(void *arg)
{
	struct load *l = arg;

	do {
		l->n++;
		l->right += prove(l);
	} while (!atomic_load(&l->stop));
	return NULL;
}

static void start(struct load *l, pthread_t *thread)
{
	l->right = l->n = 0;
	atomic_store(&l->stop, false);
	if (pthread_create(thread, NULL, bulk_main, l))
		abort();
}

static void stop(struct load *l, pthread_t thread)
{
	atomic_store(&l->stop, true);
	pthread_join(thread, NULL);
}

static void test_beside(struct load *bulk, struct load *urgent)
{
	uint64_t alone, took, most = 0;
	unsigned int right = 0, i;
	struct gpu_stats stats;
	pthread_t thread;

	alone = now_ns();
	ok(prove(bulk) && prove(urgent), "%s: each alone is right", ops->name);
	alone = now_ns() - alone;
	start(bulk, &thread);
	for (i = 0; i < TIMES; i++) {
		usleep(alone / 3000);
		took = now_ns();
		gate_close(&gate);
		right += prove(urgent);
		gate_open(&gate);
		took = now_ns() - took;
		most = took > most ? took : most;
	}
	stop(bulk, thread);
	ok(right == TIMES, "%s: %s in a lane, %u times: the sums are the host's", ops->name,
	   urgent->circuit, right);
	ok(bulk->n && bulk->right == bulk->n, "%s: and so are those of %s beside it, %u times",
	   ops->name, bulk->circuit, bulk->n);
	ops->stats(bulk->gpu, &stats);
	diag("urgent: %.1f ms at most; both alone %.1f ms; a step of the others %.1f ms at most, "
	     "of the device %.1f ms", most / 1e6, alone / 1e6, gate_longest_ns(&gate) / 1e6,
	     stats.longest_step_ns / 1e6);
}

static void test_gate(struct load *bulk)
{
	unsigned int n, i;
	pthread_t thread;

	start(bulk, &thread);
	usleep(20000);
	gate_close(&gate);
	/* none is timed when it closed on threads that were about to begin: a second is enough then */
	for (i = 0; i < 1000 && !gate_longest_ns(&gate); i++)
		usleep(1000);
	n = bulk->n;
	usleep(200000);
	ok(bulk->n == n, "%s: while the gate is closed, nothing is finished", ops->name);
	gate_open(&gate);
	stop(bulk, thread);
	ok(bulk->right == bulk->n, "%s: it goes on, right", ops->name);
}

static void test_cancel(struct load *bulk, struct load *urgent)
{
	pthread_t thread;

	start(bulk, &thread);
	atomic_store(urgent->cancel, true);
	prove(urgent);
	ok(urgent->status == -ECANCELED, "%s: cancelled in the lane: %d", ops->name,
	   urgent->status);
	atomic_store(urgent->cancel, false);
	stop(bulk, thread);
	ok(bulk->n && bulk->right == bulk->n, "%s: the others do not notice", ops->name);
}

/* A lane too small for the system. */
static void test_no_room(struct load *bulk, struct gpu_config *config)
{
	struct load large = *bulk;
	struct gpu *lane = NULL;
	struct gpu_sums sums;
	char err[256] = "";
	int r;

	large.srs = NULL;
	large.gcs = NULL;
	memset(&large.vk, 0, sizeof(large.vk));
	r = ops->lane_open(bulk->gpu, config, 128 << 10, &lane, err);
	if (!r)
		r = load_on(ops, lane, &large);
	if (!r)
		r = prove_on(ops, lane, &large, &sums);
	ok(r == -ENOMEM, "%s: a system that is too large for a lane: %d %s", ops->name, r, err);
	if (lane) {
		unload_from(ops, lane, &large);
		ops->close(lane);
	}
	ok(prove(bulk), "%s: the others do not notice that either", ops->name);
	r = ops->lane_open(bulk->gpu, config, 1ull << 50, &lane, err);
	ok(r == -ENOMEM && *err, "%s: a lane that is too large: %s", ops->name, err);
}

static void test(const struct gpu_ops *backend, struct gpu *host, const char *large,
		 const char *small)
{
	static atomic_bool no, cancel;
	struct gpu_config config = {
		.size = sizeof(config), .threads = 2, .log = log_line, .gate = &gate,
		.cancelled = cancelled, .arg = &no,
	};
	struct gpu_config lane_config = config;
	struct load bulk, urgent;
	char err[256] = "";

	lane_config.gate = NULL;
	lane_config.arg = &cancel;
	ops = backend;
	load_open(&bulk, large, host);
	load_open(&urgent, small, host);
	urgent.cancel = &cancel;
	if (ops->open(&bulk.gpu, &config, err)) {
		skip("gpu", err);
		goto out;
	}
	if (!ok(!ops->lane_open(bulk.gpu, &lane_config, LANE, &urgent.gpu, err),
		"%s: a lane opens", ops->name))
		goto out;
	if (!ok(!load_on(ops, bulk.gpu, &bulk) && !load_on(ops, urgent.gpu, &urgent),
		"%s: %s on the device, %s in the lane", ops->name, large, small))
		goto out;
	test_beside(&bulk, &urgent);
	test_gate(&bulk);
	test_cancel(&bulk, &urgent);
	unload_from(ops, urgent.gpu, &urgent);
	ops->close(urgent.gpu);
	if (ops != &gpu_cpu_ops)
		test_no_room(&bulk, &lane_config);
	unload_from(ops, bulk.gpu, &bulk);
	ops->close(bulk.gpu);
out:
	load_close(&bulk);
	load_close(&urgent);
}

int main(void)
{
	struct gpu_config config = { .size = sizeof(config) };
	char err[256] = "";
	struct gpu *host;

	gate_init(&gate);
	if (gpu_cpu_ops.open(&host, &config, err)) {
		diag("%s", err);
		return 1;
	}
	test(&gpu_cpu_ops, host, "tiny-20000", "tiny-100");
	if (gpu_cuda_ops())
		test(gpu_cuda_ops(), host, "tiny-100", "tiny-3");
	else
		skip("gpu", "built without CUDA");
	gpu_cpu_ops.close(host);
	gate_fini(&gate);
	return tap_done();
}
