/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* prove.c - evaluation, quotient and the five sums of one proof */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "gpu/cpu/cpu.h"
#include "gpu/cpu/evaluate.h"

/*
 * Sums are taken in slices, so that progress shows and cancelling works within
 * seconds; at this size the buckets' own cost is below 2 % of a slice.
 */
#define SLICE ((size_t)1 << 22)		/* scalars */
#define SLICE_ONES ((size_t)1 << 24)	/* bits of a map, a multiple of 64 */

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void stage_done(struct gpu *gpu, enum gpu_stage stage, uint64_t since)
{
	pthread_mutex_lock(&gpu->stats_lock);
	gpu->stats.ns[stage] += now_ns() - since;
	pthread_mutex_unlock(&gpu->stats_lock);
}

/* A running sum in either group. */
struct total {
	struct g1 g1;
	struct g2 g2;
};

static int sum_slice(struct gpu *gpu, const struct msm_points *points,
		     const struct msm_scalars *what, struct total *total)
{
	struct g1_affine p1;
	struct g2_affine p2;
	int err;

	if (msm_points_group(points) == MSM_G1) {
		err = msm_g1(gpu->pool, points, what, &p1);
		if (!err)
			g1_add_affine(&total->g1, &total->g1, &p1);
	} else {
		err = msm_g2(gpu->pool, points, what, &p2);
		if (!err)
			g2_add_affine(&total->g2, &total->g2, &p2);
	}
	return err;
}

/* total = the sum; n scalars with their indexes (NULL: in order), and a map of ones or none. */
static int sum(struct gpu *gpu, enum gpu_stage stage, const struct msm_points *points,
	       const struct scalar *scalars, const uint32_t *index, size_t n,
	       const uint64_t *ones, size_t n_ones, struct total *total)
{
	enum msm_group group = msm_points_group(points);
	size_t most = n < SLICE ? n : SLICE, most_ones = n_ones < SLICE_ONES ? n_ones : SLICE_ONES;
	uint64_t scratch = msm_scratch_bytes(group, most, most_ones, tpool_threads(gpu->pool));
	size_t i = 0, k = 0;
	int err;

	g1_set_infinity(&total->g1);
	g2_set_infinity(&total->g2);
	ctl_begin(&gpu->ctl, stage, n + n_ones);
	err = cpu_reserve(gpu, scratch);
	if (err)
		return err;
	while (!err && (i < n || k < n_ones)) {
		struct msm_scalars what = { 0 };

		what.n = n - i < SLICE ? n - i : SLICE;
		what.scalar = scalars + i;
		what.index = index ? index + i : NULL;
		what.first = index ? 0 : i;
		what.n_ones = n_ones - k < SLICE_ONES ? n_ones - k : SLICE_ONES;
		what.ones = what.n_ones ? ones + k / 64 : NULL;
		what.ones_first = k;
		err = ctl_stop(&gpu->ctl, 0) ? -ECANCELED : sum_slice(gpu, points, &what, total);
		i += what.n;
		k += what.n_ones;
		ctl_done(&gpu->ctl, 0, what.n + what.n_ones);
	}
	cpu_release(gpu, scratch);
	return err;
}

/* The parameters are of this system. */
static bool srs_fits(const struct gpu_cs *cs, const struct gpu_srs *srs)
{
	uint64_t n_h = (UINT64_C(1) << cs->cs->log_domain) - (srs->h_basis == GPU_H_POWERS);
	int i;

	if (msm_points_count(srs->points[CPU_VECTOR_H]) != n_h)
		return false;
	for (i = CPU_VECTOR_L; i < CPU_VECTOR_N; i++)
		if (msm_points_count(srs->points[i]) != cpu_selection_points(cs, srs, i))
			return false;
	return true;
}

/* h = the sum over the quotient: the only stages with vectors as long as the domain */
static int sum_h(struct gpu *gpu, struct gpu_cs *cs, struct gpu_srs *srs,
		 const struct cs_witness *w, bool check, uint64_t *bad_row, struct gpu_sums *sums)
{
	uint64_t bytes = sizeof(struct fr) << cs->cs->log_domain, bad = UINT64_MAX, t;
	struct fr *a, *b, *h;
	struct total total;
	int err = -ENOMEM;

	a = cpu_alloc(gpu, bytes);
	b = cpu_alloc(gpu, bytes);
	/* the scalars of this basis take the place of a */
	h = srs->h_basis == GPU_H_COSET ? a : cpu_alloc(gpu, bytes);
	if (!a || !b || !h)
		goto err_free;
	t = now_ns();
	err = cpu_evaluate(cs->cs, w, gpu->isa, gpu->pool, &gpu->ctl, a, b, NULL,
			   check ? &bad : NULL);
	stage_done(gpu, GPU_STAGE_EVALUATE, t);
	if (!err && bad != UINT64_MAX) {
		*bad_row = bad;
		err = -EDOM;
	}
	if (err)
		goto err_free;
	t = now_ns();
	err = ntt_quotient(gpu->ntt, a, b, cs->cs->log_domain, srs->h_basis, (struct scalar *)h);
	stage_done(gpu, GPU_STAGE_NTT, t);
	cpu_free(gpu, b, bytes);
	b = NULL;
	if (h != a)
		cpu_free(gpu, a, bytes);
	a = NULL;
	if (err)
		goto err_free;
	t = now_ns();
	err = sum(gpu, GPU_STAGE_MSM_H, srs->points[CPU_VECTOR_H], (struct scalar *)h, NULL,
		  msm_points_count(srs->points[CPU_VECTOR_H]), NULL, 0, &total);
	stage_done(gpu, GPU_STAGE_MSM_H, t);
	if (!err)
		g1_to_affine(&sums->h, &total.g1);
err_free:
	if (h != a)
		cpu_free(gpu, a, bytes);
	cpu_free(gpu, b, bytes);
	cpu_free(gpu, h, bytes);
	return err;
}

static int sum_witness(struct gpu *gpu, struct gpu_cs *cs, struct gpu_srs *srs,
		       const struct cs_witness *w, enum gpu_stage stage, enum cpu_vector vector,
		       struct cpu_selection *sel, struct total *total)
{
	uint64_t t = now_ns();
	int err = 0;

	if (!sel->scalars)
		err = cpu_select(gpu, cs, srs, w, vector, sel);
	if (!err)
		err = sum(gpu, stage, srs->points[vector], sel->scalars, sel->index, sel->n,
			  sel->ones, sel->n_ones, total);
	stage_done(gpu, stage, t);
	return err;
}

static int sum_all(struct gpu *gpu, struct gpu_cs *cs, struct gpu_srs *srs,
		   const struct cs_witness *w, bool check, uint64_t *bad_row, struct gpu_sums *sums)
{
	struct cpu_selection sel = { 0 };
	struct total total;
	int err;

	err = sum_h(gpu, cs, srs, w, check, bad_row, sums);
	if (err)
		return err;
	err = sum_witness(gpu, cs, srs, w, GPU_STAGE_MSM_L, CPU_VECTOR_L, &sel, &total);
	cpu_selection_fini(gpu, &sel);
	if (err)
		return err;
	g1_to_affine(&sums->l, &total.g1);
	err = sum_witness(gpu, cs, srs, w, GPU_STAGE_MSM_A, CPU_VECTOR_A, &sel, &total);
	cpu_selection_fini(gpu, &sel);
	if (err)
		return err;
	g1_to_affine(&sums->a, &total.g1);
	/* both sums of B take the same scalars */
	err = sum_witness(gpu, cs, srs, w, GPU_STAGE_MSM_B1, CPU_VECTOR_B1, &sel, &total);
	if (!err) {
		g1_to_affine(&sums->b1, &total.g1);
		err = sum_witness(gpu, cs, srs, w, GPU_STAGE_MSM_B2, CPU_VECTOR_B2, &sel, &total);
	}
	cpu_selection_fini(gpu, &sel);
	if (!err)
		g2_to_affine(&sums->b2, &total.g2);
	return err;
}

/* The host has nobody to leave the work to: all of it is done here. */
int cpu_prove_start(struct gpu *gpu, struct gpu_cs *cs, struct gpu_srs *srs,
		    const struct cs_witness *w, bool check_satisfied, struct gpu_job **out,
		    uint64_t *bad_row)
{
	struct gpu_job *job;
	int err;

	if (!srs_fits(cs, srs))
		return -EINVAL;
	job = calloc(1, sizeof(*job));
	if (!job)
		return -ENOMEM;
	cpu_begin(gpu);
	pthread_mutex_lock(&gpu->stats_lock);
	memset(gpu->stats.ns, 0, sizeof(gpu->stats.ns));
	gpu->stats.host_peak = gpu->stats.host_bytes;
	pthread_mutex_unlock(&gpu->stats_lock);
	err = sum_all(gpu, cs, srs, w, check_satisfied, bad_row, &job->sums);
	if (err) {
		free(job);
		return err;
	}
	pthread_mutex_lock(&gpu->stats_lock);
	job->stats = gpu->stats;
	pthread_mutex_unlock(&gpu->stats_lock);
	*out = job;
	return 0;
}

int cpu_prove_finish(struct gpu *gpu, struct gpu_job *job, struct gpu_sums *sums)
{
	/* another proof may have been made since */
	pthread_mutex_lock(&gpu->stats_lock);
	memcpy(gpu->stats.ns, job->stats.ns, sizeof(job->stats.ns));
	gpu->stats.host_peak = job->stats.host_peak;
	pthread_mutex_unlock(&gpu->stats_lock);
	*sums = job->sums;
	free(job);
	return 0;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

/*
 * Either the three vectors of the quotient, or one of them and its sum, or a
 * selection of the witness (select.c) and its sum in the larger group.
 */
void cpu_prove_bytes(struct gpu *gpu, const struct cs *cs, uint64_t *host, uint64_t *device)
{
	uint64_t vector = sizeof(struct fr) << cs->log_domain, n_vars, n_full, bytes;
	unsigned int threads = tpool_threads(gpu->pool);

	n_vars = (uint64_t)cs->n_inputs + cs->n_aux;
	n_full = (uint64_t)cs->n_inputs + cs->n_full;
	bytes = vector + msm_scratch_bytes(MSM_G1, smaller(vector / sizeof(struct fr), SLICE), 0,
					   threads);
	bytes = larger(bytes, 3 * vector);
	*host = larger(bytes, n_full * (sizeof(struct scalar) + sizeof(uint32_t)) +
			      (n_vars / 64 + 2) * sizeof(uint64_t) +
			      msm_scratch_bytes(MSM_G2, smaller(n_full, SLICE),
						smaller(n_vars, SLICE_ONES), threads)) +
		sizeof(struct gpu_job);
	*device = 0;
}
