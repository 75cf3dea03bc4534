/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* bench-pipeline.c - cuzk-bench pipeline: proofs, and the memory of each phase */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/cs/system.h"
#include "engine/groth16/params.h"
#include "engine/groth16/prover.h"
#include "engine/groth16/verify.h"
#include "tools/bench-dense.h"
#include "tools/bench-engine.h"
#include "tools/bench-memory.h"
#include "tools/bench-model.h"
#include "tools/bench-monitor.h"
#include "tools/bench-trace.h"
#include "tools/bench.h"

#define PARALLEL_MAX 64
#define NAME "pipeline"

static const char *const stages[GPU_STAGE_N] = {
	"idle", "upload", "evaluate", "ntt", "msm_h", "msm_l", "msm_a", "msm_b1", "msm_b2",
};

struct pipeline {
	struct bench *bench;
	const char *kind;
	struct circuit circuit;
	struct cs *cs;
	struct tpool *pool;
	struct vanilla *vanilla;
	const struct gpu_ops *ops;
	struct gpu *gpu;
	struct gpu_cs *gpu_cs;
	struct gpu_srs *gpu_srs;
	struct vk vk;
	struct pvk *pvk;
	_Atomic bool loading;			/* the parameters; the monitor's thread only reads it */
	uint64_t loaded_bytes;		/* what the device layer holds between proofs */

	struct holders holders, at_peak;
	uint64_t peak;			/* the monitor's thread writes both; read when it is detached */

	/* the proof on the device; whoever holds the device */
	pthread_mutex_t device;
	unsigned int proof;
	enum gpu_stage stage;
	uint64_t stage_start;
	bool exact;			/* whether after_evaluation is wanted */
	struct memory after_evaluation;
	uint64_t stage_ns[GPU_STAGE_N];
};

/* ---- phases ---- */

static void head(void)
{
	printf("%-38s %10s %10s %8s %9s\n", "phase", "resident", "anonymous", "file", "seconds");
}

static void print_memory(const char *phase, const struct memory *m, double seconds)
{
	printf("%-38s %10.1f %10.1f %8.1f", phase, m->resident / 1048576., m->anonymous / 1048576.,
	       m->file / 1048576.);
	if (seconds >= 0)
		printf(" %9.3f", seconds);
	printf("\n");
	fflush(stdout);
}

/* What is resident now that the freed memory is returned. */
static void phase(const char *name, double seconds)
{
	struct memory m = { 0 };

	memory_return();
	memory_exact(0, &m);
	print_memory(name, &m, seconds);
}

static void on_peak(void *arg, uint64_t resident)
{
	struct pipeline *p = arg;
	struct gpu_stats stats;

	p->ops->stats(p->gpu, &stats);
	holders_set(&p->holders, p->loaded_bytes && stats.host_bytes > p->loaded_bytes ?
		    stats.host_bytes - p->loaded_bytes : 0, "prover's vectors and scratch");
	holders_set(&p->holders, p->loading ? stats.host_bytes : 0, "points, prepared");
	holders_copy(&p->at_peak, &p->holders);
	p->peak = resident;
}

static void watch(struct pipeline *p)
{
	p->peak = 0;
	monitor_on_peak(p->bench->monitor, on_peak, p);
}

static void print_peak(struct pipeline *p, const char *what)
{
	uint64_t known = 0;
	size_t i;

	monitor_on_peak(p->bench->monitor, NULL, NULL);
	printf("peak while %s: %.1f MiB, in %s, held by\n", what, p->peak / 1048576.,
	       p->at_peak.stage[0] ? p->at_peak.stage : "the start");
	for (i = 0; i < p->at_peak.n; i++) {
		printf("  %-40s %10.1f MiB\n", p->at_peak.holder[i].name,
		       p->at_peak.holder[i].bytes / 1048576.);
		known += p->at_peak.holder[i].bytes;
	}
	if (p->peak >= known)
		printf("  %-40s %10.1f MiB\n", "nobody named", (p->peak - known) / 1048576.);
	else
		printf("  %-40s %10.1f MiB\n", "less what was reserved, not touched",
		       (known - p->peak) / 1048576.);
}

/* ---- the classic way ---- */

static int dense_measured(struct pipeline *p, const struct cs_witness *w)
{
	uint64_t vector = sizeof(struct fr) << p->cs->log_domain, start = bench_ns();
	struct fr *full = NULL, *abc[3] = { NULL };
	struct dense *d;
	bool right;
	int ret, k;

	if (dense_open(&d, p->cs))
		return ctl_fail(NAME, "no memory for the explicit matrices");
	phase("classic: explicit matrices", (bench_ns() - start) / 1e9);
	holders_set(&p->holders, dense_bytes(p->cs), "explicit matrices");
	start = bench_ns();
	full = dense_witness(p->cs, w);
	for (k = 0; k < 3; k++)
		abc[k] = malloc(vector);
	if (!full || !abc[0] || !abc[1] || !abc[2]) {
		ret = ctl_fail(NAME, "no memory for the classic evaluation");
		goto out;
	}
	phase("classic: after witness", (bench_ns() - start) / 1e9);
	holders_set(&p->holders, bench_dense_witness_bytes(p->cs), "full witness");
	holders_stage(&p->holders, "classic evaluation");
	start = bench_ns();
	dense_evaluate(d, p->pool, full, abc[0], abc[1], abc[2]);
	start = bench_ns() - start;
	holders_set(&p->holders, 3 * vector, "a, b, c");
	right = dense_check(p->cs, w, abc[0], abc[1], abc[2]);
	ret = right ? 0 : ctl_fail(NAME, "the classic evaluation differs");
	if (right)
		phase("classic: after evaluation", start / 1e9);
out:
	for (k = 0; k < 3; k++)
		free(abc[k]);
	free(full);
	dense_close(d);
	holders_set(&p->holders, 0, "explicit matrices");
	holders_set(&p->holders, 0, "full witness");
	holders_set(&p->holders, 0, "a, b, c");
	return ret;
}

static int compare_dense(struct pipeline *p)
{
	struct cs_witness w;
	char err[256] = "";
	int ret;

	ret = bench_circuit(NAME, p->kind, &p->circuit, &p->cs);
	if (ret)
		return ret;
	watch(p);
	ret = circuit_witness(&p->circuit, p->cs, vanilla_circuit_input(p->vanilla, 0), p->pool, &w,
			      err);
	if (ret) {
		ret = ctl_fail(NAME, "witness: %s", *err ? err : strerror(-ret));
	} else {
		ret = dense_measured(p, &w);
		cs_witness_fini(&w);
	}
	cs_free(p->cs);
	p->cs = NULL;
	if (ret)
		return ret;
	phase("classic: after drop", -1);
	print_peak(p, "evaluating the classic way");
	return 0;
}

/* ---- loading ---- */

static void stage_end(struct pipeline *p)
{
	uint64_t now = bench_ns();

	if (p->stage != GPU_STAGE_IDLE) {
		p->stage_ns[p->stage] += now - p->stage_start;
		trace_span(p->bench->trace, 0, "stage", p->stage_start, now, "%s",
			   stages[p->stage]);
	}
	p->stage_start = now;
}

/* Of the device layer, in the thread that proves. */
static void on_progress(void *arg, enum gpu_stage stage, uint64_t done, uint64_t total)
{
	struct pipeline *p = arg;

	(void)done;
	(void)total;
	if (stage == p->stage)
		return;
	stage_end(p);
	if (p->stage == GPU_STAGE_EVALUATE && p->exact) {
		memory_return();
		memory_exact(0, &p->after_evaluation);
	}
	p->stage = stage;
	p->stage_start = bench_ns();
	if (p->proof)
		holders_stage(&p->holders, "%s of proof %u", stages[stage], p->proof);
}

static int load_params(struct pipeline *p, const char *dir)
{
	struct cuzk_error err = { .size = sizeof(err) };
	struct gpu_srs_desc desc;
	struct params params;
	struct gpu_stats stats;
	uint64_t bad = 0;
	char path[4096];
	int ret;

	ret = bench_params_path(NAME, dir, p->kind, path);
	if (ret)
		return ret;
	if (params_open(&params, path, &err))
		return ctl_fail(NAME, "%s", err.text);
	params_srs_desc(&params, &desc);
	holders_stage(&p->holders, "loading the parameters");
	holders_set(&p->holders, params.size, "mapped file of parameters");
	p->loading = true;
	ret = p->ops->srs_load(p->gpu, &desc, 0, &p->gpu_srs, &bad);
	if (ret) {
		p->loading = false;
		params_close(&params);
		return ctl_fail(NAME, "%s: %s", path, strerror(-ret));
	}
	p->vk = params.vk;
	params.vk.ic = NULL;
	if (pvk_open(&p->pvk, &p->vk)) {
		params_close(&params);
		return ctl_fail(NAME, "no memory");
	}
	memory_forget(params.data, params.size);
	params_close(&params);
	p->loading = false;
	holders_set(&p->holders, 0, "points, prepared");
	holders_set(&p->holders, 0, "mapped file of parameters");
	p->ops->stats(p->gpu, &stats);
	holders_set(&p->holders, stats.host_bytes, "parameters");
	return 0;
}

static int load(struct pipeline *p, const char *dir)
{
	uint64_t start = bench_ns();
	struct gpu_stats stats;
	int ret;

	watch(p);
	ret = load_params(p, dir);
	p->stage = GPU_STAGE_IDLE;
	if (ret)
		return ret;
	phase("parameters", (bench_ns() - start) / 1e9);
	start = bench_ns();
	ret = bench_circuit(NAME, p->kind, &p->circuit, &p->cs);
	if (ret)
		return ret;
	ret = p->ops->cs_load(p->gpu, p->cs, &p->gpu_cs);
	if (ret)
		return ctl_fail(NAME, "loading the system: %s", strerror(-ret));
	phase("constraint system", (bench_ns() - start) / 1e9);
	holders_set(&p->holders, cs_size(p->cs), "constraint system");
	p->ops->stats(p->gpu, &stats);
	p->loaded_bytes = stats.host_bytes;
	print_peak(p, "loading");
	return 0;
}

static void unload(struct pipeline *p)
{
	monitor_on_peak(p->bench->monitor, NULL, NULL);
	if (p->gpu_cs)
		p->ops->cs_unload(p->gpu, p->gpu_cs);
	p->ops->srs_unload(p->gpu, p->gpu_srs);
	p->ops->close(p->gpu);
	pvk_close(p->pvk);
	free(p->vk.ic);
	cs_free(p->cs);
}

/* ---- proofs ---- */

static int make_witness(struct pipeline *p, unsigned int proof, struct cs_witness *w)
{
	uint32_t partition = proof % vanilla_partitions(p->vanilla);
	uint64_t start = bench_ns();
	char err[256] = "";
	int ret;

	ret = circuit_witness(&p->circuit, p->cs, vanilla_circuit_input(p->vanilla, partition),
			      p->pool, w, err);
	if (ret)
		return ctl_fail(NAME, "witness: %s", *err ? err : strerror(-ret));
	holders_set(&p->holders, bench_witness_bytes(p->cs), "witness of proof %u", proof + 1);
	trace_span(p->bench->trace, 1 + proof, "stage", start, bench_ns(), "witness");
	return 0;
}

/* The device's part, assembly and verification. */
static int finish(struct pipeline *p, unsigned int proof, const struct cs_witness *w)
{
	struct cuzk_error err = { .size = sizeof(err) };
	uint8_t bytes[PROOF_SIZE];
	struct blinding blinding;
	struct gpu_sums sums;
	struct gpu_job *job;
	struct proof made;
	uint64_t bad_row;
	int ret;

	p->proof = proof + 1;
	p->stage = GPU_STAGE_IDLE;
	ret = p->ops->prove_start(p->gpu, p->gpu_cs, p->gpu_srs, w, false, &job, &bad_row);
	if (!ret)
		ret = p->ops->prove_finish(p->gpu, job, &sums);
	if (!ret)
		stage_end(p);
	p->stage = GPU_STAGE_IDLE;
	if (ret)
		return ctl_fail(NAME, "proving: %s", strerror(-ret));
	if (blinding_random(&blinding))
		return ctl_fail(NAME, "no random numbers");
	prover_assemble(&made, &p->vk, &sums, &blinding);
	proof_write(bytes, &made);
	if (proof_read(&made, bytes, &err))
		return ctl_fail(NAME, "the proof: %s", err.text);
	ret = pvk_verify(p->pvk, &made, w->inputs + 1, p->cs->n_inputs - 1);
	return ret == 1 ? 0 : ctl_fail(NAME, "proof %u does not verify", proof + 1);
}

static int one_proof(struct pipeline *p, unsigned int i)
{
	uint64_t start = bench_ns(), witness_ns, prove_ns, first = start;
	struct memory after;
	struct cs_witness w;
	char name[64];
	int ret;

	holders_stage(&p->holders, "witness of proof %u", i + 1);
	ret = make_witness(p, i, &w);
	if (ret)
		return ret;
	witness_ns = bench_ns() - start;
	memory_return();
	memory_exact(0, &after);
	p->exact = true;
	memset(p->stage_ns, 0, sizeof(p->stage_ns));
	start = bench_ns();
	ret = finish(p, i, &w);
	prove_ns = bench_ns() - start;
	if (ret) {
		cs_witness_fini(&w);
		return ret;
	}
	trace_span(p->bench->trace, 1 + i, "proof", first, bench_ns(), "proof %u", i + 1);
	snprintf(name, sizeof(name), "proof %u: after witness", i + 1);
	print_memory(name, &after, witness_ns / 1e9);
	snprintf(name, sizeof(name), "proof %u: after evaluation", i + 1);
	print_memory(name, &p->after_evaluation, p->stage_ns[GPU_STAGE_EVALUATE] / 1e9);
	snprintf(name, sizeof(name), "proof %u: after proof, verified", i + 1);
	phase(name, prove_ns / 1e9);
	cs_witness_fini(&w);
	holders_set(&p->holders, 0, "witness of proof %u", i + 1);
	snprintf(name, sizeof(name), "proof %u: after drop", i + 1);
	phase(name, -1);
	return 0;
}

struct parallel {
	struct pipeline *p;
	pthread_t thread;
	unsigned int proof;
	int ret;
};

/* Witnesses are made side by side; the device takes one proof at a time, as in the service. */
static void *parallel_run(void *arg)
{
	struct parallel *q = arg;
	struct pipeline *p = q->p;
	uint64_t start = bench_ns();
	struct cs_witness w;

	q->ret = make_witness(p, q->proof, &w);
	if (q->ret)
		return NULL;
	pthread_mutex_lock(&p->device);
	p->exact = false;
	q->ret = finish(p, q->proof, &w);
	pthread_mutex_unlock(&p->device);
	cs_witness_fini(&w);
	holders_set(&p->holders, 0, "witness of proof %u", q->proof + 1);
	trace_span(p->bench->trace, 1 + q->proof, "proof", start, bench_ns(), "proof %u",
		   q->proof + 1);
	return NULL;
}

static int parallel(struct pipeline *p, unsigned int first, unsigned int n)
{
	struct parallel q[PARALLEL_MAX];
	uint64_t start = bench_ns();
	unsigned int i, started;
	char name[64];
	int ret = 0;

	for (started = 0; started < n; started++) {
		q[started] = (struct parallel){ .p = p, .proof = first + started };
		if (pthread_create(&q[started].thread, NULL, parallel_run, &q[started])) {
			ret = ctl_fail(NAME, "no thread");
			break;
		}
	}
	for (i = 0; i < started; i++) {
		pthread_join(q[i].thread, NULL);
		if (q[i].ret)
			ret = q[i].ret;
	}
	if (ret)
		return ret;
	snprintf(name, sizeof(name), "%u in parallel, verified: after drop", n);
	phase(name, (bench_ns() - start) / 1e9);
	return 0;
}

static int one_after_another(struct pipeline *p, unsigned int n)
{
	unsigned int i;
	int k, ret;

	watch(p);
	for (i = 0; i < n; i++) {
		ret = one_proof(p, i);
		if (ret)
			return ret;
	}
	print_peak(p, "proving one after another");
	printf("stages of the last proof, seconds:");
	for (k = GPU_STAGE_EVALUATE; k < GPU_STAGE_N; k++)
		printf(" %s %.3f", stages[k], p->stage_ns[k] / 1e9);
	printf("\n");
	return 0;
}

static int run(struct pipeline *p, const char *dir, bool dense, unsigned int n,
	       unsigned int n_parallel, uint64_t start_bytes)
{
	uint64_t peak, computed;
	struct model m;
	int ret;

	if (dense) {
		ret = compare_dense(p);
		if (ret)
			return ret;
	}
	ret = load(p, dir);
	if (ret)
		return ret;
	ret = one_after_another(p, n);
	if (ret)
		return ret;
	peak = p->peak;
	model_make(&m, p->ops, p->gpu, p->cs, tpool_threads(p->pool));
	computed = m.peak + start_bytes;
	printf("computed: parameters %.1f, constraint system %.1f, witness %.1f, prover %.1f, "
	       "program %.1f: %.1f MiB, measured %.1f, ratio %.4f\n", m.params / 1048576.,
	       m.cs / 1048576., m.witness / 1048576., m.prover / 1048576., start_bytes / 1048576.,
	       computed / 1048576., peak / 1048576., (double)peak / computed);
	if (dense)
		printf("system, witness and rows: %.1f MiB here, %.1f the classic way: %.1f times\n",
		       (m.cs + m.witness + m.quotient) / 1048576.,
		       (m.dense_cs + m.dense_witness + m.dense_abc) / 1048576.,
		       (double)(m.dense_cs + m.dense_witness + m.dense_abc) /
		       (m.cs + m.witness + m.quotient));
	if (!n_parallel)
		return 0;
	watch(p);
	ret = parallel(p, n, n_parallel);
	if (!ret)
		print_peak(p, "proving in parallel");
	return ret;
}

int bench_pipeline(struct bench *b, int argc, char **argv)
{
	const char *kind = NULL, *dir = NULL, *n_text = NULL, *p_text = NULL, *threads = NULL;
	const char *request = NULL;
	bool dense = false;
	const struct ctl_option options[] = {
		{ "--kind", &kind }, { "--params", &dir }, { "--proofs", &n_text },
		{ "--parallel", &p_text }, { "--threads", &threads }, { "--request", &request },
		{ "--compare-dense", NULL, &dense }, { NULL },
	};
	struct pipeline p = { .bench = b, .ops = &gpu_cpu_ops,
			      .device = PTHREAD_MUTEX_INITIALIZER };
	struct gpu_config config = { .size = sizeof(config), .progress = on_progress, .arg = &p };
	struct memory start = { 0 };
	uint64_t n = 3, n_parallel = 0;
	char err[256] = "";
	int ret, i;

	for (i = 0; i < argc; i++)
		if (!strcmp(argv[i], "-n") || !strcmp(argv[i], "-p"))
			argv[i] = argv[i][1] == 'n' ? "--proofs" : "--parallel";
	if (ctl_parse(NAME, argc, argv, options, NULL, NULL, 0) < 0 ||
	    bench_number(NAME, "--proofs", n_text, 1, 10000, &n) ||
	    bench_number(NAME, "--parallel", p_text, 0, PARALLEL_MAX, &n_parallel))
		return CTL_USAGE;
	if (!kind || !dir)
		return ctl_usage(NAME, "--kind NAME and --params DIR are needed");
	p.kind = kind;
	holders_init(&p.holders);
	ret = bench_pool(NAME, threads, &p.pool);
	if (ret)
		return ret;
	trace_row(b->trace, 0, "device");
	for (i = 0; (uint64_t)i < n + n_parallel; i++)
		trace_row(b->trace, 1 + i, "proof %d", i + 1);
	head();
	phase("start", -1);
	ret = bench_admit(NAME, kind, request, 1, p.pool, &p.vanilla);
	if (ret)
		goto out_pool;
	phase("request", -1);
	memory_exact(0, &start);
	holders_set(&p.holders, start.resident, "program and request");
	config.threads = tpool_threads(p.pool);
	if (p.ops->open(&p.gpu, &config, err)) {
		ret = ctl_fail(NAME, "%s", err);
		goto out_vanilla;
	}
	ret = run(&p, dir, dense, n, n_parallel, start.resident);
	unload(&p);
out_vanilla:
	vanilla_free(p.vanilla);
out_pool:
	tpool_close(p.pool);
	return ret;
}
