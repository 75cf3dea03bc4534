/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * msm_lists.c - several sums with one set of points, together
 *
 * The last rounds of a sum are too short to fill a device and cost the same for one
 * list as for many: the lists share them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/cuda/msm_work.h"
#include "gpu/cuda/total.h"

#define PAIRS_MAX (1ull << 27)	/* at once */

struct lists {
	struct cuda_ctx *ctx;
	enum cuda_group group;
	CUdeviceptr points;
	unsigned int k;
	const CUdeviceptr *values;
	const uint64_t *n;
	uint64_t parts;			/* that each list is cut into */
};

static uint64_t part_begin(const struct lists *l, unsigned int j, uint64_t part)
{
	return l->n[j] * part / l->parts;
}

static uint64_t part_pairs(const struct lists *l, uint64_t part)
{
	uint64_t sum = 0;
	unsigned int j;

	for (j = 0; j < l->k; j++)
		sum += part_begin(l, j, part + 1) - part_begin(l, j, part);
	return sum;
}

/* Fewer parts as long as the longest fits. */
static int cut_lists(struct lists *l)
{
	uint64_t room = cuda_arena_largest(l->ctx->arena) / 8 * 7, longest = 0, pairs;
	unsigned int j;

	for (j = 0; j < l->k; j++) {
		if (l->n[j] >= 1ull << 31)
			return -EINVAL;
		longest = l->n[j] > longest ? l->n[j] : longest;
	}
	for (l->parts = 1;; l->parts *= 2) {
		/* rounding moves at most one a list */
		pairs = part_pairs(l, 0) + l->k;
		if (pairs <= PAIRS_MAX && msm_work_bytes(l->ctx, l->group, pairs, l->k) <= room)
			return 0;
		if (l->parts > longest)
			return -ENOMEM;
	}
}

static int put_lists(const struct lists *l, uint64_t part, struct msm_work *w,
		     uint32_t lengths[CUDA_LISTS])
{
	struct cuda_ctx *ctx = l->ctx;
	uint32_t starts[CUDA_LISTS + 1] = { 0 };
	unsigned int j;
	int r = 0;

	for (j = 0; j < l->k && !r; j++) {
		uint64_t first = part_begin(l, j, part);
		uint64_t n = part_begin(l, j, part + 1) - first, at = 4 * (uint64_t)starts[j];

		starts[j + 1] = starts[j] + (uint32_t)n;
		lengths[j] = (uint32_t)n;
		if (!n)
			continue;
		r = cuda_check(ctx, ctx->drv->copy(w->values[0] + at, l->values[j] + 4 * first,
						   4 * n, ctx->stream), "copying indices");
		if (!r)
			r = cuda_check(ctx, ctx->drv->fill_u32(w->keys[0] + at, j, n, ctx->stream),
				       "naming lists");
	}
	return r ? r : cuda_copy_up(ctx, w->starts[0], starts, 4 * ((uint64_t)l->k + 1));
}

static int add_part(const struct lists *l, uint64_t part, CUdeviceptr sums, uint8_t *host,
		    struct cuda_total *totals)
{
	uint64_t size = cuda_point_size(l->group), pairs = part_pairs(l, part);
	uint32_t lengths[CUDA_LISTS];
	struct msm_work w;
	unsigned int j;
	int r;

	if (!pairs)
		return 0;
	r = msm_work_alloc(l->ctx, l->group, pairs, l->k, &w);
	if (r)
		return r;
	w.buckets = sums;
	w.lengths = lengths;
	r = put_lists(l, part, &w, lengths);
	if (!r)
		r = msm_reduce_lists(l->ctx, l->group, l->points, &w, (uint32_t)pairs);
	if (!r)
		r = cuda_copy_down(l->ctx, host, sums, size * l->k);
	msm_work_free(l->ctx, &w);
	for (j = 0; j < l->k && !r; j++)
		cuda_total_add(&totals[j], host + size * j);
	return r;
}

int cuda_sum_lists(struct cuda_ctx *ctx, enum cuda_group group, CUdeviceptr points,
		   unsigned int k, const CUdeviceptr *values, const uint64_t *n, void *out)
{
	uint8_t host[CUDA_LISTS * sizeof(struct g2_affine)] __attribute__((aligned(16)));
	struct lists l = { ctx, group, points, k, values, n, 1 };
	struct cuda_total totals[CUDA_LISTS];
	uint64_t part;
	CUdeviceptr sums = 0;
	unsigned int j;
	int r;

	if (!k || k > CUDA_LISTS)
		return -EINVAL;
	if (ctx->lost)
		return -EIO;
	for (j = 0; j < k; j++)
		cuda_total_init(&totals[j], group);
	r = cuda_alloc(ctx, &sums, cuda_point_size(group) * k);
	if (!r)
		r = cut_lists(&l);
	for (part = 0; part < l.parts && !r; part++)
		r = add_part(&l, part, sums, host, totals);
	cuda_free(ctx, sums);
	for (j = 0; j < k && !r; j++)
		cuda_total_get(&totals[j], (uint8_t *)out + cuda_point_size(group) * j);
	return r;
}

/* ---- with scalars ---- */

/* As many of the k as fit with all their windows; 0: not one. */
static unsigned int at_once(const struct cuda_ctx *ctx, enum cuda_group group, unsigned int k,
			    uint64_t n, const struct msm_cut *cut)
{
	uint64_t room = cuda_arena_largest(ctx->arena) / 8 * 7;
	uint64_t windows = (uint64_t)cut->windows, keys = windows << (cut->c - 1);
	unsigned int j = 0;

	while (j < k && n * windows * (j + 1) <= MSM_GROUP_PAIRS &&
	       msm_work_bytes(ctx, group, n * windows * (j + 1), keys * (j + 1)) +
			       2 * cuda_point_size(group) * keys * (j + 1) <= room)
		j++;
	return j;
}

static void combine(enum cuda_group group, const uint8_t *sums, const struct msm_cut *cut,
		    void *out)
{
	struct g1 g1;
	struct g2 g2;

	if (group == CUDA_G1) {
		msm_combine_g1((const struct g1_xyzz *)sums, cut, &g1);
		g1_to_affine(out, &g1);
	} else {
		msm_combine_g2((const struct g2_xyzz *)sums, cut, &g2);
		g2_to_affine(out, &g2);
	}
}

/* Buckets of that many rows, each a window of some sum, to the sums of the rows. */
static int sum_rows(struct cuda_ctx *ctx, enum cuda_group group, CUdeviceptr buckets,
		    uint32_t n_buckets, uint32_t rows, uint8_t *sums)
{
	uint32_t batch = (uint32_t)(MSM_BATCH_BUCKETS / n_buckets), at;
	uint64_t size = cuda_point_size(group);
	int r = 0;

	for (at = 0; at < rows && !r; at += batch)
		r = msm_sum_buckets(ctx, group, buckets + size * n_buckets * at, n_buckets,
				    rows - at < batch ? rows - at : batch, sums + 2 * size * at);
	return r;
}

/* j sums at once, all their windows. */
static int sums_at_once(struct cuda_ctx *ctx, enum cuda_group group, CUdeviceptr points,
			unsigned int j, const CUdeviceptr *scalars, CUdeviceptr index, uint32_t n,
			const struct msm_cut *cut, CUdeviceptr bias, uint8_t *out)
{
	uint32_t n_buckets = 1u << (cut->c - 1), rows = j * (uint32_t)cut->windows;
	uint64_t size = cuda_point_size(group);
	CUdeviceptr buckets = 0;
	uint8_t *sums;
	unsigned int i;
	int r;

	sums = aligned_alloc(16, 2 * size * rows);
	if (!sums)
		return -ENOMEM;
	r = cuda_alloc(ctx, &buckets, size * n_buckets * rows);
	if (!r)
		r = msm_group(ctx, group, points, j, scalars, index, n, cut, 0, cut->windows, bias,
			      buckets);
	if (!r)
		r = sum_rows(ctx, group, buckets, n_buckets, rows, sums);
	cuda_free(ctx, buckets);
	for (i = 0; i < j && !r; i++)
		combine(group, sums + 2 * size * (uint64_t)cut->windows * i, cut, out + size * i);
	free(sums);
	return r;
}

int cuda_msm_lists(struct cuda_ctx *ctx, enum cuda_group group, CUdeviceptr points,
		   unsigned int k, const CUdeviceptr *scalars, CUdeviceptr index, uint64_t n,
		   void *out)
{
	struct msm_cut cut = msm_choose_cut(n);
	uint64_t size = cuda_point_size(group);
	CUdeviceptr bias_dev = 0;
	unsigned int most, i, j;
	uint8_t *to = out;
	uint32_t bias[9];
	int r;

	if (n >= 1ull << 31)
		return -EINVAL;
	/* one width for all, whose lists are made together */
	cut.wide = cut.windows;
	msm_window_bias(&cut, bias);
	r = cuda_alloc(ctx, &bias_dev, sizeof(bias));
	if (!r)
		r = cuda_copy_up(ctx, bias_dev, bias, sizeof(bias));
	most = at_once(ctx, group, k, n, &cut);
	for (i = 0; i < k && !r; i += j) {
		j = k - i < most ? k - i : most;
		if (j > 1 && n) {
			r = sums_at_once(ctx, group, points, j, scalars + i, index, (uint32_t)n,
					 &cut, bias_dev, to + size * i);
			continue;
		}
		j = 1;
		r = cuda_msm(ctx, group, points, scalars[i], index, n, to + size * i);
	}
	cuda_free(ctx, bias_dev);
	return r;
}
