/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* bench-model.c - cuzk-bench model: the memory of a proof, computed */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "engine/cs/system.h"
#include "gpu/cpu/msm.h"
#include "tools/bench-dense.h"
#include "tools/bench-engine.h"
#include "tools/bench-model.h"
#include "tools/bench.h"

/* The host backend sums in slices of this many scalars and bits (gpu/cpu/prove.c). */
#define SLICE ((uint64_t)1 << 22)
#define SLICE_ONES ((uint64_t)1 << 24)

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

void model_make(struct model *m, const struct gpu_ops *ops, struct gpu *gpu, const struct cs *cs,
		unsigned int threads)
{
	uint64_t vector = sizeof(struct fr) << cs->log_domain, device;
	uint64_t n_vars = (uint64_t)cs->n_inputs + cs->n_aux;
	uint64_t n_full = (uint64_t)cs->n_inputs + cs->n_full;
	uint64_t n_b = (uint64_t)cs->n_b_input + cs->n_b_aux;

	m->params = msm_points_bytes(MSM_G1, (UINT64_C(1) << cs->log_domain) - 1) +
		    msm_points_bytes(MSM_G1, cs->n_aux) +
		    msm_points_bytes(MSM_G1, (uint64_t)cs->n_inputs + cs->n_a_aux) +
		    msm_points_bytes(MSM_G1, n_b) + msm_points_bytes(MSM_G2, n_b);
	m->cs = cs_size(cs);
	m->witness = bench_witness_bytes(cs);
	m->quotient = 3 * vector;
	m->sum_h = vector + msm_scratch_bytes(MSM_G1, smaller(vector / sizeof(struct fr), SLICE),
					      0, threads);
	m->sum_b2 = n_full * (sizeof(struct scalar) + sizeof(uint32_t)) + n_vars / 8 +
		    msm_scratch_bytes(MSM_G2, smaller(n_full, SLICE), smaller(n_vars, SLICE_ONES),
				      threads);
	ops->prove_bytes(gpu, cs, &m->prover, &device);
	m->peak = m->params + m->cs + m->witness + m->prover;
	m->dense_cs = dense_bytes(cs);
	m->dense_witness = bench_dense_witness_bytes(cs);
	m->dense_abc = 3 * vector;
}

static void line(const char *what, uint64_t bytes)
{
	printf("  %-44s %12.1f MiB\n", what, bytes / 1048576.);
}

int bench_model(struct bench *b, int argc, char **argv)
{
	const char *kind = NULL, *threads = NULL;
	const struct ctl_option options[] = { { "--kind", &kind }, { "--threads", &threads },
					      { NULL } };
	struct gpu_config config = { .size = sizeof(config) };
	struct circuit circuit;
	char err[256] = "";
	struct model m;
	struct gpu *gpu;
	struct cs *cs;
	struct tpool *pool;
	int ret;

	(void)b;
	if (ctl_parse("model", argc, argv, options, NULL, NULL, 0) < 0)
		return CTL_USAGE;
	if (!kind)
		return ctl_usage("model", "--kind NAME is needed");
	ret = bench_pool("model", threads, &pool);
	if (ret)
		return ret;
	config.threads = tpool_threads(pool);
	tpool_close(pool);
	ret = bench_circuit("model", kind, &circuit, &cs);
	if (ret)
		return ret;
	if (gpu_cpu_ops.open(&gpu, &config, err)) {
		cs_free(cs);
		return ctl_fail("model", "%s", err);
	}
	model_make(&m, &gpu_cpu_ops, gpu, cs, config.threads);
	printf("%s: %" PRIu64 " rows, %u inputs, %u aux variables of which %u full, domain 2^%u\n",
	       kind, cs->n_rows, cs->n_inputs, cs->n_aux, cs->n_full, cs->log_domain);
	line("parameters, prepared", m.params);
	line("constraint system", m.cs);
	line("witness", m.witness);
	line("a, b and the quotient", m.quotient);
	line("h and the scratch of its sum", m.sum_h);
	line("selection and scratch of the sum in G2", m.sum_b2);
	line("one proof beyond parameters (largest of three)", m.cs + m.witness + m.prover);
	line("peak", m.peak);
	line("classic: explicit matrices", m.dense_cs);
	line("classic: full witness", m.dense_witness);
	line("classic: a, b, c", m.dense_abc);
	line("classic: one proof beyond parameters", m.dense_cs + m.dense_witness + m.dense_abc);
	gpu_cpu_ops.close(gpu);
	cs_free(cs);
	return 0;
}
