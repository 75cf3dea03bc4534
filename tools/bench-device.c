/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* bench-device.c - evaluation and proofs of a kind on a device, with parameters made on it */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/cs/system.h"
#include "engine/groth16/make.h"
#include "engine/groth16/prover.h"
#include "engine/groth16/verify.h"
#include "tools/bench-device.h"
#include "tools/bench-engine.h"
#include "tools/bench.h"

#define NAME "kernels"

struct whole {
	const struct gpu_ops *ops;
	struct gpu *gpu;
	struct cs *cs;
	struct cs_witness w;
	struct gpu_cs *gpu_cs;
	struct gpu_srs *srs;
	struct vk vk;
	struct pvk *pvk;
	unsigned int rounds;
};

static void line(const char *what, const char *kind, const struct samples *s, double rows)
{
	struct samples copy = *s;
	double ns = samples_median(&copy);

	printf("%s %s: %.2f ms, spread %.1f %%", what, kind, ns / 1e6, 100 * samples_spread(&copy));
	if (rows > 0)
		printf(", %.1f M rows/s", rows / ns * 1e3);
	puts(", result right");
	fflush(stdout);
}

/* Satisfied by the device's account and, the first time, equal to the host's values. */
static int evaluate(struct whole *d, const char *kind)
{
	uint64_t n = UINT64_C(1) << d->cs->log_domain, bad = 0, start;
	struct fr *v[6] = { NULL };
	struct gpu_config config = { .size = sizeof(config) };
	struct samples s = { .n = 0 };
	struct gpu_cs *host_cs = NULL;
	struct gpu *host = NULL;
	char err[256] = "";
	unsigned int i;
	int ret = 0;

	for (i = 0; i < 6 && !ret; i++) {
		v[i] = malloc(n * sizeof(struct fr));
		if (!v[i])
			ret = ctl_fail(NAME, "no memory for the rows");
	}
	if (!ret && (gpu_cpu_ops.open(&host, &config, err) ||
		     gpu_cpu_ops.cs_load(host, d->cs, &host_cs) ||
		     gpu_cpu_ops.evaluate(host, host_cs, &d->w, v[3], v[4], v[5], &bad)))
		ret = ctl_fail(NAME, "evaluation on the host: %s", err);
	for (i = 0; i <= d->rounds && !ret; i++) {
		start = bench_ns();
		ret = d->ops->evaluate(d->gpu, d->gpu_cs, &d->w, v[0], v[1], v[2], &bad);
		if (ret)
			ret = ctl_fail(NAME, "evaluation: %s", strerror(-ret));
		else if (bad != UINT64_MAX)
			ret = ctl_fail(NAME, "row %" PRIu64 " is not satisfied", bad);
		else if (i)
			samples_add(&s, bench_ns() - start);
	}
	for (i = 0; i < 3 && !ret; i++)
		if (memcmp(v[i], v[i + 3], n * sizeof(struct fr)))
			ret = ctl_fail(NAME, "evaluation: values are not the host's");
	if (!ret)
		line("evaluate, with copies to the host,", kind, &s, d->cs->n_rows);
	if (host) {
		if (host_cs)
			gpu_cpu_ops.cs_unload(host, host_cs);
		gpu_cpu_ops.close(host);
	}
	for (i = 0; i < 6; i++)
		free(v[i]);
	return ret;
}

static int verify(struct whole *d, const struct gpu_sums *sums)
{
	struct cuzk_error err = { .size = sizeof(err) };
	uint8_t bytes[PROOF_SIZE];
	struct blinding blinding;
	struct proof proof;

	if (blinding_random(&blinding))
		return ctl_fail(NAME, "no random numbers");
	prover_assemble(&proof, &d->vk, sums, &blinding);
	proof_write(bytes, &proof);
	if (proof_read(&proof, bytes, &err))
		return ctl_fail(NAME, "the proof: %s", err.text);
	if (pvk_verify(d->pvk, &proof, d->w.inputs + 1, d->cs->n_inputs - 1) != 1)
		return ctl_fail(NAME, "the proof does not verify");
	return 0;
}

static int prove(struct whole *d, const char *kind)
{
	struct samples s = { .n = 0 };
	struct gpu_stats stats;
	struct gpu_sums sums;
	struct gpu_job *job;
	uint64_t start, bad;
	unsigned int i;
	int ret = 0;

	for (i = 0; i <= d->rounds && !ret; i++) {
		start = bench_ns();
		ret = d->ops->prove_start(d->gpu, d->gpu_cs, d->srs, &d->w, false, &job, &bad);
		if (!ret)
			ret = d->ops->prove_finish(d->gpu, job, &sums);
		if (ret)
			return ctl_fail(NAME, "proving: %s", strerror(-ret));
		if (i)
			samples_add(&s, bench_ns() - start);
		ret = verify(d, &sums);
	}
	if (ret)
		return ret;
	line("prove, from witness to sums,", kind, &s, 0);
	d->ops->stats(d->gpu, &stats);
	printf("    evaluate %.2f, ntt %.2f, msm h %.2f, l %.2f, a %.2f, b1 %.2f, b2 %.2f ms\n",
	       stats.ns[GPU_STAGE_EVALUATE] / 1e6, stats.ns[GPU_STAGE_NTT] / 1e6,
	       stats.ns[GPU_STAGE_MSM_H] / 1e6, stats.ns[GPU_STAGE_MSM_L] / 1e6,
	       stats.ns[GPU_STAGE_MSM_A] / 1e6, stats.ns[GPU_STAGE_MSM_B1] / 1e6,
	       stats.ns[GPU_STAGE_MSM_B2] / 1e6);
	return 0;
}

/* The system with parameters of a waste that everybody knows: for measuring only. */
static int load(struct whole *d)
{
	struct cuzk_error err = { .size = sizeof(err) };
	struct g1_fixed *inputs;	/* NULL in this basis */
	struct toxic_waste toxic;

	if (toxic_parse(&toxic, "48577,22580,53332,5481,3673", &err) ||
	    params_make_srs(d->cs, &toxic, GPU_H_POWERS, d->ops, d->gpu, NULL, &d->srs, &d->vk,
			    &inputs, &err))
		return ctl_fail(NAME, "parameters: %s", err.text);
	if (pvk_open(&d->pvk, &d->vk))
		return ctl_fail(NAME, "no memory for the verifying key");
	if (d->ops->cs_load(d->gpu, d->cs, &d->gpu_cs))
		return ctl_fail(NAME, "the system does not fit the device");
	return 0;
}

static int witness(struct whole *d, const char *kind)
{
	struct vanilla *vanilla;
	struct circuit circuit;
	char err[256] = "";
	int ret;

	ret = bench_admit(NAME, kind, NULL, 1, NULL, &vanilla);
	if (ret)
		return ret;
	ret = bench_circuit(NAME, kind, &circuit, &d->cs);
	if (!ret && circuit_witness(&circuit, d->cs, vanilla_circuit_input(vanilla, 0), NULL, &d->w,
				    err))
		ret = ctl_fail(NAME, "witness: %s", err);
	vanilla_free(vanilla);
	return ret;
}

int device_proofs(const char *backend, const struct gpu_config *config, const char *kind,
		  unsigned int rounds)
{
	struct whole d = { .ops = strcmp(backend, "cpu") ? gpu_cuda_ops() : &gpu_cpu_ops,
			    .rounds = rounds };
	char err[256] = "";
	int ret;

	if (!d.ops)
		return ctl_fail(NAME, "built without CUDA");
	ret = witness(&d, kind);
	if (ret)
		goto out;
	if (d.ops->open(&d.gpu, config, err)) {
		ret = ctl_fail(NAME, "%s", err);
		goto out;
	}
	ret = load(&d);
	if (!ret)
		ret = evaluate(&d, kind);
	if (!ret)
		ret = prove(&d, kind);
	if (d.srs)
		d.ops->srs_unload(d.gpu, d.srs);
	if (d.gpu_cs)
		d.ops->cs_unload(d.gpu, d.gpu_cs);
	d.ops->close(d.gpu);
	pvk_close(d.pvk);
	vk_fini(&d.vk);
out:
	if (d.w.inputs)
		cs_witness_fini(&d.w);
	cs_free(d.cs);
	return ret;
}
