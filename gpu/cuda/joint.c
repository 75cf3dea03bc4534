/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * joint.c - the sums over the witness, of several proofs in one pass
 *
 * Points of l, a, b1 and b2 come once for all the proofs.  Of a piece, each proof
 * takes those whose variable is one: as many lists, added together.  The variables
 * with values of their own are the same for all proofs of a system, and few (1.3 % of
 * a PoRep's): their points are put aside as the pieces pass, for a sum a proof
 * behind the last.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/cuda/device.h"
#include "gpu/cuda/total.h"

#define THREADS 256
#define PIECE_SHARE 16			/* of the memory that is free: a buffer for points */
#define PIECE_MAX (96ull << 23)
#define PIECE_MIN (192ull << 10)

static const enum cuda_vector order[] = {
	CUDA_VECTOR_L, CUDA_VECTOR_A, CUDA_VECTOR_B1, CUDA_VECTOR_B2,
};

#define N_ORDER (sizeof(order) / sizeof(order[0]))

struct joint {
	struct gpu *gpu;
	struct gpu_cs *cs;
	struct gpu_srs *srs;
	struct gpu_job *jobs[CUDA_LISTS];
	unsigned int k;
	struct selection s[CUDA_LISTS];
	struct cuda_total totals[CUDA_LISTS];
	struct gpu_sums sums[CUDA_LISTS];
	struct cuda_feed feed;
};

static enum gpu_stage stage_of(enum cuda_vector v)
{
	static const enum gpu_stage stages[CUDA_VECTOR_N] = {
		[CUDA_VECTOR_H] = GPU_STAGE_MSM_H,
		[CUDA_VECTOR_L] = GPU_STAGE_MSM_L,
		[CUDA_VECTOR_A] = GPU_STAGE_MSM_A,
		[CUDA_VECTOR_B1] = GPU_STAGE_MSM_B1,
		[CUDA_VECTOR_B2] = GPU_STAGE_MSM_B2,
	};

	return stages[v];
}

static void *sum_of(struct gpu_sums *sums, enum cuda_vector v)
{
	switch (v) {
	case CUDA_VECTOR_L:
		return &sums->l;
	case CUDA_VECTOR_A:
		return &sums->a;
	case CUDA_VECTOR_B1:
		return &sums->b1;
	case CUDA_VECTOR_B2:
		return &sums->b2;
	default:
		return &sums->h;
	}
}

static void selections_free(struct joint *j)
{
	unsigned int i;

	for (i = 0; i < j->k; i++)
		cuda_selection_free(j->gpu, &j->s[i]);
}

static int select_all(struct joint *j, enum cuda_vector v)
{
	unsigned int i;
	int r = 0;

	/* both sums of B take the same points' places and scalars */
	if (v == CUDA_VECTOR_B2)
		return 0;
	selections_free(j);
	for (i = 0; i < j->k && !r; i++)
		r = cuda_select(j->gpu, j->cs, j->srs, &j->jobs[i]->w, v, &j->s[i]);
	return r;
}

/* Where the selections pass from one piece to the next: of ones by proof, then of values. */
static int bounds_get(struct joint *j, const struct cuda_piece *p, uint32_t **out)
{
	uint32_t *bounds = calloc((j->k + 1) * (size_t)p->pieces, sizeof(*bounds)), *last;
	unsigned int i;
	int r = 0;

	if (!bounds)
		return -ENOMEM;
	for (i = 0; i < j->k && !r; i++) {
		bounds[i * (size_t)p->pieces] = (uint32_t)j->s[i].n_ones;
		if (p->pieces > 1)
			r = cuda_selection_bounds(j->gpu, j->s[i].ones, j->s[i].n_ones, p->step,
						  p->pieces, bounds + i * (size_t)p->pieces);
	}
	last = bounds + j->k * (size_t)p->pieces;
	*last = (uint32_t)j->s[0].n;
	if (!r && p->pieces > 1)
		r = cuda_selection_bounds(j->gpu, j->s[0].index, j->s[0].n, p->step, p->pieces,
					  last);
	if (r) {
		free(bounds);
		return r;
	}
	*out = bounds;
	return 0;
}

static uint64_t begin_of(const uint32_t *bounds, const struct cuda_piece *p, unsigned int list,
			 uint32_t at)
{
	return at ? bounds[list * (size_t)p->pieces + at - 1] : 0;
}

static uint64_t end_of(const uint32_t *bounds, const struct cuda_piece *p, unsigned int list,
		       uint32_t at)
{
	return bounds[list * (size_t)p->pieces + at];
}

/* The points of one piece whose variables are one, of every proof. */
static int add_ones(struct joint *j, const struct cuda_piece *p, const uint32_t *bounds,
		    uint32_t at)
{
	union cuda_point points[CUDA_LISTS];
	enum cuda_group group = cuda_vector_group(p->vector);
	CUdeviceptr values[CUDA_LISTS];
	uint64_t n[CUDA_LISTS];
	unsigned int i;
	int r;

	for (i = 0; i < j->k; i++) {
		uint64_t first = begin_of(bounds, p, i, at);

		values[i] = j->s[i].ones + 4 * first;
		n[i] = end_of(bounds, p, i, at) - first;
	}
	r = cuda_sum_lists(j->gpu->ctx, group, p->base, j->k, values, n, points);
	for (i = 0; i < j->k && !r; i++)
		cuda_total_add(&j->totals[i], (uint8_t *)points + i * p->size);
	return r;
}

/* Those of the variables with values, aside. */
static int put_aside(struct joint *j, const struct cuda_piece *p, const uint32_t *bounds,
		     uint32_t at, CUdeviceptr aside)
{
	uint64_t first = begin_of(bounds, p, j->k, at);
	uint32_t n = (uint32_t)(end_of(bounds, p, j->k, at) - first);
	uint32_t words = (uint32_t)(p->size / 16);
	CUdeviceptr base = p->base, index = j->s[0].index + 4 * first;
	CUdeviceptr to = aside + p->size * first;

	return CUDA_RUN(j->gpu->ctx, points_gather, (uint64_t)n * words, THREADS, &base, &index, &n,
			&words, &to);
}

static int add_piece(struct joint *j, const struct cuda_piece *p, const uint32_t *bounds,
		     uint32_t at, CUdeviceptr aside)
{
	int r;

	r = device_progress(j->gpu, stage_of(p->vector), p->first, j->srs->n[p->vector]);
	if (!r && aside)
		r = put_aside(j, p, bounds, at, aside);
	if (!r)
		r = add_ones(j, p, bounds, at);
	/* the piece is given up: nothing queued may need it */
	return r ? r : cuda_wait(j->gpu->ctx);
}

static int add_values(struct joint *j, enum cuda_vector v, CUdeviceptr points, bool aside)
{
	enum cuda_group group = cuda_vector_group(v);
	union cuda_point sums[CUDA_LISTS];
	CUdeviceptr scalars[CUDA_LISTS];
	unsigned int i;
	int r;

	for (i = 0; i < j->k; i++)
		scalars[i] = j->s[i].scalars;
	r = device_progress(j->gpu, stage_of(v), j->srs->n[v], j->srs->n[v]);
	if (!r)
		r = cuda_msm_lists(j->gpu->ctx, group, points, j->k, scalars,
				   aside ? 0 : j->s[0].index, j->s[0].n, sums);
	for (i = 0; i < j->k && !r; i++)
		cuda_total_add(&j->totals[i], (uint8_t *)sums + i * cuda_point_size(group));
	return r;
}

static int add_pieces(struct joint *j, enum cuda_vector v, CUdeviceptr aside)
{
	uint32_t *bounds = NULL, at = 0;
	struct cuda_piece p;
	int r;

	do {
		r = cuda_feed_next(&j->feed, &p);
		if (!r && !at)
			r = bounds_get(j, &p, &bounds);
		if (!r && p.n)
			r = add_piece(j, &p, bounds, at, aside);
	} while (!r && ++at < p.pieces);
	free(bounds);
	return r;
}

static int sum_vector(struct joint *j, enum cuda_vector v)
{
	enum cuda_group group = cuda_vector_group(v);
	CUdeviceptr aside = 0;
	unsigned int i;
	int r;

	for (i = 0; i < j->k; i++)
		cuda_total_init(&j->totals[i], group);
	r = select_all(j, v);
	if (!r && !j->srs->resident[v])
		r = cuda_alloc(j->gpu->ctx, &aside, j->s[0].n * cuda_point_size(group));
	if (!r)
		r = add_pieces(j, v, aside);
	if (!r)
		r = add_values(j, v, aside ? aside : j->srs->points[v], aside);
	cuda_free(j->gpu->ctx, aside);
	for (i = 0; i < j->k && !r; i++)
		cuda_total_get(&j->totals[i], sum_of(&j->sums[i], v));
	return r;
}

static uint64_t buffer_bytes(const struct gpu *gpu)
{
	uint64_t bytes = cuda_arena_largest(gpu->ctx->arena) / PIECE_SHARE;

	bytes = bytes < PIECE_MAX ? bytes : PIECE_MAX;
	return bytes > PIECE_MIN ? bytes : PIECE_MIN;
}

/* All four sums of j->k proofs; their shares of the time go to the jobs. */
static int sum_all(struct joint *j)
{
	unsigned int i, k;
	int r;

	r = cuda_feed_open(&j->feed, j->gpu, j->srs, order, N_ORDER, buffer_bytes(j->gpu));
	if (r)
		return r;
	for (i = 0; i < N_ORDER && !r; i++) {
		uint64_t t = cuda_now_ns();

		r = sum_vector(j, order[i]);
		t = cuda_now_ns() - t;
		for (k = 0; k < j->k; k++)
			j->jobs[k]->ns[stage_of(order[i])] += t / j->k;
	}
	cuda_feed_close(&j->feed);
	selections_free(j);
	return r;
}

static void collect(struct joint *j, const struct gpu_job *first)
{
	struct gpu_job *job;

	for (job = j->gpu->jobs; job && j->k < CUDA_LISTS; job = job->next)
		if (job == first || (job->cs == first->cs && job->srs == first->srs && job->has_h &&
				     !job->has_others && !job->status))
			j->jobs[j->k++] = job;
}

int cuda_joint_sums(struct gpu *gpu, struct gpu_job *first)
{
	struct device_traffic before = device_traffic(gpu);
	struct joint *j = calloc(1, sizeof(*j));
	unsigned int i;
	int r;

	if (!j)
		return -ENOMEM;
	j->gpu = gpu;
	j->cs = first->cs;
	j->srs = first->srs;
	collect(j, first);
	/* their selections may be too many: others then follow in a pass of their own */
	while ((r = sum_all(j)) == -ENOMEM && j->k > 1) {
		j->k = (j->k + 1) / 2;
		for (i = 0; i < j->k && j->jobs[i] != first; i++)
			;
		if (i == j->k)
			j->jobs[0] = first;
	}
	for (i = 0; i < j->k; i++) {
		struct gpu_job *job = j->jobs[i];

		device_traffic_add(gpu, &job->traffic, &before, j->k);
		if (r)
			continue;
		j->sums[i].h = job->sums.h;
		job->sums = j->sums[i];
		job->has_others = true;
	}
	free(j);
	return r;
}
