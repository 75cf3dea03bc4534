/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * msm_pieces.c - sums whose points come in pieces
 *
 * A sum cut into m sums pays the buckets of every window m times: 2^(c-1) lists,
 * and four additions each for the running sums.  Here the buckets live as long
 * as the sum: a piece's lists are added to buckets of their own, those are joined to
 * the sum's by one addition each, and the running sums are made once.
 */
#include <errno.h>
#include <string.h>

#include "gpu/cuda/msm_work.h"

/* What lists made at once cost beside their additions: rounds that are waited for, 0.7 ms. */
#define GROUP_COST 1800000ull

/*
 * In additions, for n points in m pieces: the lists, a join of every bucket for
 * each piece, and the buckets' sums.
 */
static uint64_t pieces_cost(uint64_t n, uint64_t m, uint64_t windows, uint64_t buckets)
{
	return windows * n + m * buckets + msm_buckets_cost(buckets);
}

static int choose_window(uint64_t n, uint64_t m, uint64_t most_buckets)
{
	uint64_t best_cost = UINT64_MAX;
	int c, best = 4;

	for (c = 4; c <= MSM_MAX_WINDOW; c++) {
		uint64_t windows = (MSM_SCALAR_BITS + c - 1) / c;
		uint64_t cost = pieces_cost(n, m, windows, windows << (c - 1));

		if (c > 4 && windows << (c - 1) > most_buckets)
			break;
		if (cost < best_cost) {
			best_cost = cost;
			best = c;
		}
	}
	return best;
}

/* The lists need more than the buckets. */
static uint64_t most_buckets(uint64_t room)
{
	return room / 4 / (2 * cuda_point_size(CUDA_G1));
}

/* Buckets of all windows, twice: the sum's, and a piece's behind them. */
static uint64_t bucket_bytes(int windows, int c)
{
	return 2 * (cuda_point_size(CUDA_G1) * (uint64_t)windows << (c - 1));
}

/* Windows whose lists of n points are made at once in so many bytes; 0: not one. */
static int per_group(const struct cuda_ctx *ctx, uint64_t n, int c, uint64_t room)
{
	int windows = (MSM_SCALAR_BITS + c - 1) / c, count = 0, groups;

	while (count < windows && n * (uint64_t)(count + 1) <= MSM_GROUP_PAIRS &&
	       msm_work_bytes(ctx, CUDA_G1, n * (uint64_t)(count + 1),
			      (uint64_t)(count + 1) << (c - 1)) <= room)
		count++;
	if (!count)
		return 0;
	/* the same number of groups, of one size */
	groups = (windows + count - 1) / count;
	return (windows + groups - 1) / groups;
}

/* Of the memory that the buckets leave, with a margin for holes. */
static uint64_t lists_room(uint64_t room)
{
	return room / 8 * 7;
}

uint64_t cuda_pieces_cost(const struct cuda_ctx *ctx, uint64_t n, uint64_t piece, uint64_t room)
{
	uint64_t m = (n + piece - 1) / piece, windows, groups;
	int c = choose_window(n, m, most_buckets(room)), count;

	windows = (MSM_SCALAR_BITS + (uint64_t)c - 1) / (uint64_t)c;
	if (room < bucket_bytes((int)windows, c))
		return UINT64_MAX;
	room = lists_room(room - bucket_bytes((int)windows, c));
	count = per_group(ctx, piece, c, room);
	if (!count || msm_join_bytes(ctx, CUDA_G1, windows << (c - 1)) > room)
		return UINT64_MAX;
	groups = (windows + (uint64_t)count - 1) / (uint64_t)count;
	return pieces_cost(n, m, windows, windows << (c - 1)) + m * groups * GROUP_COST;
}

static struct msm_cut cut_of(const struct cuda_pieces *p)
{
	return (struct msm_cut){ .c = p->c, .windows = p->windows, .wide = p->windows };
}

int cuda_pieces_open(struct cuda_pieces *p, struct cuda_ctx *ctx, uint64_t n, uint64_t piece)
{
	uint64_t most = most_buckets(cuda_arena_largest(ctx->arena));
	struct msm_cut cut;
	uint32_t bias[9];
	int r;

	memset(p, 0, sizeof(*p));
	p->c = choose_window(n, piece ? (n + piece - 1) / piece : 1, most);
	p->windows = (MSM_SCALAR_BITS + p->c - 1) / p->c;
	cut = cut_of(p);
	msm_window_bias(&cut, bias);
	r = cuda_alloc(ctx, &p->bias, sizeof(bias));
	if (!r)
		r = cuda_alloc(ctx, &p->buckets, bucket_bytes(p->windows, p->c));
	if (!r)
		r = cuda_copy_up(ctx, p->bias, bias, sizeof(bias));
	if (r)
		cuda_pieces_close(p, ctx);
	return r;
}

void cuda_pieces_close(struct cuda_pieces *p, struct cuda_ctx *ctx)
{
	cuda_free(ctx, p->bias);
	cuda_free(ctx, p->buckets);
	memset(p, 0, sizeof(*p));
}

/* What fits the arena: its lists to the buckets, or to a piece's. */
static int add_part(struct cuda_pieces *p, struct cuda_ctx *ctx, CUdeviceptr points,
		    CUdeviceptr scalars, uint32_t n)
{
	struct msm_cut cut = cut_of(p);
	uint64_t row = cuda_point_size(CUDA_G1) << (p->c - 1);
	uint32_t all = (uint32_t)p->windows << (p->c - 1);
	CUdeviceptr to = p->buckets + (p->any ? row * (uint64_t)p->windows : 0);
	int at, r = 0;

	cut.per_group = per_group(ctx, n, p->c, lists_room(cuda_arena_largest(ctx->arena)));
	if (!cut.per_group)
		return -ENOMEM;
	for (at = 0; at < p->windows && !r; at += cut.per_group) {
		int left = p->windows - at;

		r = msm_group(ctx, CUDA_G1, points, 1, &scalars, 0, n, &cut, at,
			      left < cut.per_group ? left : cut.per_group, p->bias,
			      to + row * (uint64_t)at);
	}
	if (!r && p->any)
		r = msm_join(ctx, CUDA_G1, p->buckets, all);
	p->any = true;
	return r;
}

int cuda_pieces_add(struct cuda_pieces *p, struct cuda_ctx *ctx, CUdeviceptr points,
		    CUdeviceptr scalars, uint64_t n)
{
	uint64_t part = n, done;
	int r = 0;

	if (n >= 1ull << 31)
		return -EINVAL;
	while (part && !per_group(ctx, part, p->c, lists_room(cuda_arena_largest(ctx->arena)))) {
		if (part < 1024)
			return -ENOMEM;
		part = (part + 1) / 2;
	}
	for (done = 0; done < n && !r; done += part)
		r = add_part(p, ctx, points + done * cuda_point_size(CUDA_G1),
			     scalars + sizeof(struct scalar) * done,
			     (uint32_t)(n - done < part ? n - done : part));
	return r;
}

int cuda_pieces_sum(struct cuda_pieces *p, struct cuda_ctx *ctx, struct g1_affine *out)
{
	struct g1_xyzz sums[MSM_MAX_WINDOWS];
	const struct msm_cut cut = cut_of(p);
	uint32_t n_buckets = 1u << (p->c - 1);
	uint64_t row = cuda_point_size(CUDA_G1) << (p->c - 1);
	int batch = (int)(MSM_BATCH_BUCKETS / n_buckets), at, r = 0;
	struct g1 sum;

	g1_set_infinity(&sum);
	for (at = 0; at < p->windows && p->any && !r; at += batch) {
		int left = p->windows - at;

		r = msm_sum_buckets(ctx, CUDA_G1, p->buckets + row * (uint64_t)at, n_buckets,
				    (uint32_t)(left < batch ? left : batch), (uint8_t *)&sums[at]);
	}
	if (r)
		return r;
	if (p->any)
		msm_combine_g1(sums, &cut, &sum);
	g1_to_affine(out, &sum);
	return 0;
}
