/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* bench-synth.c - cuzk-bench synth: witness and evaluation alone */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "engine/cs/system.h"
#include "gpu/cpu/evaluate.h"
#include "tools/bench-engine.h"
#include "tools/bench-memory.h"
#include "tools/bench-perf.h"
#include "tools/bench-trace.h"
#include "tools/bench.h"

#define NAME "synth"

struct synth_run {
	struct bench *bench;
	const struct circuit *circuit;
	const struct cs *cs;
	const struct vanilla *vanilla;
	struct tpool *pool;		/* NULL: one thread */
	const struct perf *perf;
	bool witness_only;
	uint64_t counts[2][PERF_N];	/* of witness and evaluation, of all rounds */
	struct samples wall[2], cpu[2];
};

static void counted(struct synth_run *r, uint64_t before[PERF_N], int what)
{
	uint64_t after[PERF_N];
	int i;

	perf_read(r->perf, after);
	for (i = 0; i < PERF_N; i++)
		r->counts[what][i] += after[i] == UINT64_MAX ? 0 : after[i] - before[i];
}

static int witness(struct synth_run *r, struct cs_witness *w)
{
	uint64_t before[PERF_N], start, cpu;
	char err[256] = "";
	int ret;

	perf_read(r->perf, before);
	start = bench_ns();
	cpu = bench_process_ns();
	ret = circuit_witness(r->circuit, r->cs, vanilla_circuit_input(r->vanilla, 0), r->pool, w,
			      err);
	if (ret)
		return ctl_fail(NAME, "witness: %s", *err ? err : strerror(-ret));
	samples_add(&r->cpu[0], (bench_process_ns() - cpu) / 1e9);
	samples_add(&r->wall[0], (bench_ns() - start) / 1e9);
	counted(r, before, 0);
	trace_span(r->bench->trace, 0, "stage", start, bench_ns(), "witness");
	return 0;
}

static struct fr *vector(size_t bytes)
{
	struct fr *v = aligned_alloc(2 << 20, (bytes + (2 << 20) - 1) & ~(size_t)((2 << 20) - 1));

	if (v) {
		madvise(v, bytes, MADV_HUGEPAGE);
		memset(v, 0, bytes);	/* the pages are there before the clock runs */
	}
	return v;
}

static int satisfied(const struct synth_run *r, uint64_t bad)
{
	char path[256];

	if (bad == UINT64_MAX)
		return 0;
	cs_row_path(r->cs, bad, path, sizeof(path));
	return ctl_fail(NAME, "constraint %" PRIu64 " is not satisfied: %s", bad, path);
}

/* Every row is checked: only a satisfied system's figures are printed. */
static int evaluation(struct synth_run *r, const struct cs_witness *w, struct fr *a, struct fr *b)
{
	uint64_t before[PERF_N], start, cpu, bad = 0;
	int ret;

	perf_read(r->perf, before);
	start = bench_ns();
	cpu = bench_process_ns();
	ret = cpu_evaluate(r->cs, w, cpu_isa_best(), r->pool, NULL, a, b, NULL, NULL);
	if (ret)
		return ctl_fail(NAME, "evaluation: %s", strerror(-ret));
	samples_add(&r->cpu[1], (bench_process_ns() - cpu) / 1e9);
	samples_add(&r->wall[1], (bench_ns() - start) / 1e9);
	counted(r, before, 1);
	trace_span(r->bench->trace, 0, "stage", start, bench_ns(), "evaluation");
	if (r->wall[1].n > 1)
		return 0;
	ret = cpu_evaluate(r->cs, w, cpu_isa_best(), r->pool, NULL, a, b, NULL, &bad);
	return ret ? ctl_fail(NAME, "evaluation: %s", strerror(-ret)) : satisfied(r, bad);
}

static void report(struct synth_run *r)
{
	static const char *const names[] = { "witness", "evaluation of A and B" };
	unsigned int threads = tpool_threads(r->pool);
	int i, k;

	printf("%s: %" PRIu64 " rows, %u aux variables, %" PRIu64
	       " terms in templates, %u thread%s, satisfied\n", r->circuit->name, r->cs->n_rows,
	       r->cs->n_aux, r->cs->n_terms, threads, threads == 1 ? "" : "s");
	printf("%-24s %10s %8s %10s %14s\n", "", "seconds", "spread", "processor", "rows/s");
	for (i = 0; i < (r->witness_only ? 1 : 2); i++) {
		double s = samples_median(&r->wall[i]);

		printf("%-24s %10.4f %7.1f%% %10.4f %14.0f\n", names[i], s,
		       100 * samples_spread(&r->wall[i]), samples_median(&r->cpu[i]),
		       r->cs->n_rows / s);
	}
	for (k = 0; k < PERF_N; k++) {
		if (r->perf->fd[k] < 0)
			printf("%s: the kernel does not give them here (%s)\n", perf_name(k),
			       strerror(-r->perf->fd[k]));
		else if (r->witness_only)
			printf("%s: witness %.4g\n", perf_name(k),
			       (double)r->counts[0][k] / r->wall[0].n);
		else
			printf("%s: witness %.4g, evaluation %.4g\n", perf_name(k),
			       (double)r->counts[0][k] / r->wall[0].n,
			       (double)r->counts[1][k] / r->wall[1].n);
	}
}

static int rounds_run(struct synth_run *r, unsigned int rounds, struct fr *a, struct fr *b)
{
	struct cs_witness w;
	unsigned int i;
	int ret;

	for (i = 0; i < rounds; i++) {
		ret = witness(r, &w);
		if (ret)
			return ret;
		if (a)
			ret = evaluation(r, &w, a, b);
		else if (!i)
			ret = satisfied(r, cs_first_bad_row(r->cs, &w, r->pool));
		cs_witness_fini(&w);
		if (ret)
			return ret;
	}
	report(r);
	return 0;
}

static int run(struct synth_run *r, unsigned int rounds)
{
	size_t bytes = sizeof(struct fr) << r->cs->log_domain;
	struct fr *a, *b;
	int ret;

	if (r->witness_only)
		return rounds_run(r, rounds, NULL, NULL);
	a = vector(bytes);
	b = vector(bytes);
	ret = a && b ? rounds_run(r, rounds, a, b) : ctl_fail(NAME, "no memory for the rows");
	free(a);
	free(b);
	return ret;
}

int bench_synth(struct bench *bench, int argc, char **argv)
{
	const char *kind = NULL, *threads = NULL, *rounds_text = NULL, *request = NULL;
	struct synth_run r = { .bench = bench };
	const struct ctl_option options[] = {
		{ "--kind", &kind }, { "--threads", &threads }, { "--rounds", &rounds_text },
		{ "--request", &request }, { "--witness-only", NULL, &r.witness_only }, { NULL },
	};
	struct circuit circuit;
	struct vanilla *vanilla;
	struct perf perf;
	uint64_t rounds = 3;
	struct cs *cs;
	int ret;

	if (ctl_parse(NAME, argc, argv, options, NULL, NULL, 0) < 0 ||
	    bench_number(NAME, "--rounds", rounds_text, 1, BENCH_SAMPLES, &rounds))
		return CTL_USAGE;
	if (!kind)
		return ctl_usage(NAME, "--kind NAME is needed");
	perf_open(&perf);
	ret = bench_pool(NAME, threads, &r.pool);
	if (ret)
		goto out_perf;
	ret = bench_admit(NAME, kind, request, 1, r.pool, &vanilla);
	if (ret)
		goto out_pool;
	ret = bench_circuit(NAME, kind, &circuit, &cs);
	if (ret)
		goto out_vanilla;
	r.circuit = &circuit;
	r.cs = cs;
	r.vanilla = vanilla;
	r.perf = &perf;
	trace_row(bench->trace, 0, "synthesis");
	ret = run(&r, rounds);
	cs_free(cs);
out_vanilla:
	vanilla_free(vanilla);
out_pool:
	tpool_close(r.pool);
out_perf:
	perf_close(&perf);
	return ret;
}
