/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * msm_buckets.c - buckets of windows to the windows' sums
 *
 * A window is worth the sum of (b + 1) B_b over its buckets.  Running sums take two
 * additions a bucket, one after the other.  Many buckets are halved before, in affine
 * coordinates with inversions shared as in the lists, so that the same two additions take
 * a third of the products and all at once.  With A_i = B_2i + B_2i+1 it is
 *
 *   2 (sum of (i + 1) A_i) - sum of B_2i,
 *
 * so each halving leaves half the buckets and a row, the even ones, whose plain sum is due.
 * Rows of earlier halvings are added up by neighbours in the same go.  Running sums of
 * what is left give the last A's weighted sum and the rows' plain ones.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/cuda/msm_work.h"

#define THREADS 256
#define MIN_BUCKETS_PER_THREAD 4
#define MAX_BUCKETS_PER_THREAD 64
/* Buckets of a window that are not worth halving. */
#define FEW_BUCKETS 16

/* Rows of one length, all windows' of a kind together: first A, then those due, oldest first. */
struct rows {
	CUdeviceptr at;
	uint32_t n_buckets, count, halvings;
};

static uint32_t n_rows(const struct rows *r)
{
	return r->count * (r->halvings + 1);
}

/* ---- halving ---- */

struct halver {
	struct msm_round round;
	CUdeviceptr points[2];		/* in turns, the first as large as the buckets */
};

static void halver_free(struct cuda_ctx *ctx, struct halver *h)
{
	cuda_free(ctx, h->round.pairs);
	cuda_free(ctx, h->round.prefix);
	cuda_free(ctx, h->round.totals);
	cuda_free(ctx, h->round.scratch);
	cuda_free(ctx, h->points[0]);
	cuda_free(ctx, h->points[1]);
}

static int halver_alloc(struct cuda_ctx *ctx, enum cuda_group group, uint64_t n, struct halver *h)
{
	uint64_t point = cuda_point_size(group), field = msm_field(group), slots = n / 2;
	uint64_t share = field * msm_add_threads(ctx, slots);
	const struct {
		CUdeviceptr *p;
		uint64_t bytes;
	} all[] = {
		{ &h->points[0], point * n },
		{ &h->points[1], point * (n / 4 * 3) },
		{ &h->round.pairs, 4 * slots },
		{ &h->round.prefix, field * slots },
		{ &h->round.totals, share },
		{ &h->round.scratch, share },
	};
	size_t i;
	int r = 0;

	memset(h, 0, sizeof(*h));
	for (i = 0; i < sizeof(all) / sizeof(all[0]) && !r; i++)
		r = cuda_alloc(ctx, all[i].p, all[i].bytes);
	if (r)
		halver_free(ctx, h);
	return r;
}

static bool worth_halving(const struct cuda_ctx *ctx, const struct rows *r)
{
	return r->n_buckets > FEW_BUCKETS &&
	       (uint64_t)n_rows(r) * r->n_buckets >= ctx->halve_least;
}

/* points from the first-th on */
static struct msm_points from(enum cuda_group group, struct msm_points points, uint32_t first)
{
	uint64_t skip = msm_field(group) * points.step * first;

	return (struct msm_points){ points.x + skip, points.y + skip, points.step };
}

/* r's rows, which are `in`, to half as long ones and one more a window, in out. */
static int halve(struct cuda_ctx *ctx, enum cuda_group group, struct halver *h,
		 const struct rows *r, struct msm_points in, struct msm_points out)
{
	uint32_t slots = n_rows(r) * (r->n_buckets / 2), evens = r->count * (r->n_buckets / 2);
	struct msm_points due = from(group, out, slots);
	int ret;

	h->round.points = in;
	h->round.slots = slots;
	ret = msm_add_slots(ctx, group, &h->round, out);
	if (!ret)
		ret = cuda_launch(ctx, group == CUDA_G1 ? KERNEL_msm_evens_g1 : KERNEL_msm_evens_g2,
				  msm_add_blocks(group, evens), ADD_THREADS, 0,
				  (void *[]){ &in, &evens, &due });
	return ret;
}

/* Halves r as long as it is worth it.  The rows are h's in the end. */
static int halve_all(struct cuda_ctx *ctx, enum cuda_group group, struct halver *h, struct rows *r)
{
	struct msm_points in = msm_together(group, r->at);
	uint32_t pairs = n_rows(r) * (r->n_buckets / 2);
	int side = 0, ret;

	ret = CUDA_RUN(ctx, msm_neighbours, pairs, THREADS, &pairs, &h->round.pairs);
	for (; !ret && worth_halving(ctx, r); side ^= 1) {
		struct rows next = { h->points[side], r->n_buckets / 2, r->count, r->halvings + 1 };
		struct msm_points out;

		/* running sums take points with their coordinates together */
		out = worth_halving(ctx, &next) ?
		      msm_apart(group, next.at, n_rows(&next) * next.n_buckets) :
		      msm_together(group, next.at);
		ret = halve(ctx, group, h, r, in, out);
		in = out;
		*r = next;
	}
	return ret;
}

/* ---- running sums ---- */

/* sums[i], of (b + 1) times a bucket, and runs[i], of the buckets, of each row: XYZZ on the host */
static int sum_rows(struct cuda_ctx *ctx, enum cuda_group group, const struct rows *r,
		    uint8_t *sums, uint8_t *runs)
{
	bool g1 = group == CUDA_G1;
	uint64_t size = 2 * cuda_point_size(group);
	uint32_t count = n_rows(r), n_buckets = r->n_buckets;
	uint64_t per_thread = (uint64_t)n_buckets * count / ((uint64_t)ctx->sm_count * 512);
	uint32_t piece = MIN_BUCKETS_PER_THREAD, pieces;
	/* of each side: sums, runs and shifts of its pieces */
	CUdeviceptr at[2][3] = { { 0, 0, 0 }, { 0, 0, 0 } }, buckets = r->at;
	int log_piece = 0, side = 0, i, ret = 0;

	while (piece < MAX_BUCKETS_PER_THREAD && 2 * piece <= per_thread)
		piece *= 2;
	while (piece > n_buckets)
		piece /= 2;
	while (1u << log_piece < piece)
		log_piece++;
	pieces = n_buckets / piece;
	for (i = 0; i < 6 && !ret; i++) {
		/* side 1 has half as many; side 0 has shifts after the second halving */
		uint64_t n = i == 2 ? pieces / 4 + 1 : i < 2 ? pieces : pieces / 2 + 1;

		ret = cuda_alloc(ctx, &at[i / 3][i % 3], size * n * count);
	}
	if (!ret)
		ret = cuda_launch(ctx, g1 ? KERNEL_msm_buckets_g1 : KERNEL_msm_buckets_g2,
				  msm_add_blocks(group, (uint64_t)pieces * count), ADD_THREADS, 0,
				  (void *[]){ &buckets, &n_buckets, &count, &piece, &at[0][0],
					      &at[0][1] });
	for (i = 0; !ret && pieces > 1; pieces /= 2, side ^= 1, i++) {
		CUdeviceptr none = 0, *in = at[side], *to = at[side ^ 1];

		ret = cuda_launch(ctx, g1 ? KERNEL_msm_fold_g1 : KERNEL_msm_fold_g2,
				  msm_add_blocks(group, 3ull * (pieces / 2) * count), ADD_THREADS, 0,
				  (void *[]){ &in[0], &in[1], i ? &in[2] : &none, &pieces,
					      &log_piece, &count, &to[0], &to[1], &to[2] });
	}
	if (!ret)
		ret = cuda_copy_down(ctx, sums, at[side][0], size * count);
	if (!ret)
		ret = cuda_copy_down(ctx, runs, at[side][1], size * count);
	for (i = 0; i < 6; i++)
		cuda_free(ctx, at[i / 3][i % 3]);
	return ret;
}

/* ---- both ---- */

/* What the windows are worth: A's sum doubled as often as it was halved, less what is due. */
static void combine_g1(const struct rows *r, const struct g1_xyzz *sums, const struct g1_xyzz *runs,
		       struct g1_xyzz *out)
{
	uint32_t w, i;

	for (w = 0; w < r->count; w++) {
		struct g1 acc, due;

		g1_from_xyzz(&acc, &sums[w]);
		for (i = r->halvings; i-- > 0;) {
			g1_from_xyzz(&due, &runs[(i + 1) * r->count + w]);
			g1_neg(&due, &due);
			g1_double(&acc, &acc);
			g1_add(&acc, &acc, &due);
		}
		out[w].x = acc.x;
		out[w].y = acc.y;
		fp_sqr(&out[w].zz, &acc.z);
		fp_mul(&out[w].zzz, &out[w].zz, &acc.z);
	}
}

static void combine_g2(const struct rows *r, const struct g2_xyzz *sums, const struct g2_xyzz *runs,
		       struct g2_xyzz *out)
{
	uint32_t w, i;

	for (w = 0; w < r->count; w++) {
		struct g2 acc, due;

		g2_from_xyzz(&acc, &sums[w]);
		for (i = r->halvings; i-- > 0;) {
			g2_from_xyzz(&due, &runs[(i + 1) * r->count + w]);
			g2_neg(&due, &due);
			g2_double(&acc, &acc);
			g2_add(&acc, &acc, &due);
		}
		out[w].x = acc.x;
		out[w].y = acc.y;
		fp2_sqr(&out[w].zz, &acc.z);
		fp2_mul(&out[w].zzz, &out[w].zz, &acc.z);
	}
}

static int sum_and_combine(struct cuda_ctx *ctx, enum cuda_group group, const struct rows *r,
			   uint8_t *out)
{
	uint64_t bytes = 2 * cuda_point_size(group) * n_rows(r);
	uint8_t *sums = aligned_alloc(16, 2 * bytes);
	int ret;

	if (!sums)
		return -ENOMEM;
	ret = sum_rows(ctx, group, r, sums, sums + bytes);
	if (!ret && group == CUDA_G1)
		combine_g1(r, (void *)sums, (void *)(sums + bytes), (void *)out);
	else if (!ret)
		combine_g2(r, (void *)sums, (void *)(sums + bytes), (void *)out);
	free(sums);
	return ret;
}

int msm_sum_buckets(struct cuda_ctx *ctx, enum cuda_group group, CUdeviceptr buckets,
		    uint32_t n_buckets, uint32_t count, uint8_t *out)
{
	struct rows rows = { buckets, n_buckets, count, 0 };
	struct halver halver;
	int r;

	if (!worth_halving(ctx, &rows))
		return sum_and_combine(ctx, group, &rows, out);
	r = halver_alloc(ctx, group, (uint64_t)n_buckets * count, &halver);
	/* running sums alone take longer, but less memory */
	if (r == -ENOMEM)
		return sum_and_combine(ctx, group, &rows, out);
	if (!r)
		r = halve_all(ctx, group, &halver, &rows);
	if (!r)
		r = sum_and_combine(ctx, group, &rows, out);
	halver_free(ctx, &halver);
	return r;
}
