/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * msm_windows.c - the windows of one sum, handed out to those who work at it
 *
 * Windows have nothing in common but points and scalars.  One context takes them
 * all, or several take them in turns: while one sorts or gathers, the other keeps
 * the multipliers busy.
 */
#include <errno.h>
#include <string.h>

#include "gpu/cuda/msm_work.h"
#include "gpu/cuda/total.h"

/* The buffers are separate pieces of the arena: leave a margin for holes. */
static uint64_t room_of(const struct cuda_ctx *ctx)
{
	return cuda_arena_largest(ctx->arena) / 8 * 7;
}

/* Bytes that n points need with these groups; the sums of pieces are small beside it. */
static uint64_t cut_bytes(const struct cuda_ctx *ctx, enum cuda_group group, uint64_t n, int c,
			  int per_group, int per_batch)
{
	return msm_work_bytes(ctx, group, n * (uint64_t)per_group, (uint64_t)per_group << (c - 1)) +
	       2 * (cuda_point_size(group) * (uint64_t)per_batch << (c - 1));
}

static void cut_windows(const struct cuda_ctx *ctx, enum cuda_group group, uint64_t n, uint64_t room,
			struct msm_cut *cut)
{
	int c = cut->c;

	cut->per_group = 1;
	while (cut->per_group < cut->windows &&
	       n * (uint64_t)(cut->per_group + 1) <= MSM_GROUP_PAIRS &&
	       cut_bytes(ctx, group, n, c, cut->per_group + 1, cut->per_group + 1) <= room)
		cut->per_group++;
	cut->per_batch = cut->per_group;
	while (cut->per_batch < cut->windows &&
	       (cut->per_batch + 1ull) << (c - 1) <= MSM_BATCH_BUCKETS &&
	       cut_bytes(ctx, group, n, c, cut->per_group, cut->per_batch + 1) <= room)
		cut->per_batch++;
}

/* Pairs that fill a device: more at once only save launches. */
#define PAIRS_ENOUGH (1ull << 26)

uint64_t cuda_windows_bytes(const struct cuda_ctx *ctx, enum cuda_group group, uint64_t n)
{
	struct msm_cut cut = msm_choose_cut(n);
	uint64_t together = n ? PAIRS_ENOUGH / n : 1;

	if (together > (uint64_t)cut.windows)
		together = (uint64_t)cut.windows;
	if (!together)
		together = 1;
	return cut_bytes(ctx, group, n, cut.c, (int)together, (int)together) / 7 * 8 + 8 * ARENA_ALIGN;
}

static struct msm_cut cut_of(const struct cuda_windows *w)
{
	return (struct msm_cut){ .c = w->c, .windows = w->windows, .wide = w->wide };
}

int msm_windows_open(struct cuda_windows *w, struct cuda_ctx *ctx, enum cuda_group group,
		     CUdeviceptr points, CUdeviceptr scalars, CUdeviceptr index, uint32_t n,
		     unsigned int workers, const struct msm_cut *cut)
{
	uint32_t bias[9];
	int r;

	memset(w, 0, sizeof(*w));
	w->group = group;
	w->points = points;
	w->scalars = scalars;
	w->index = index;
	w->n = n;
	w->workers = workers;
	w->c = cut->c;
	w->windows = cut->windows;
	w->wide = cut->wide;
	w->todo = UINT64_MAX >> (64 - w->windows);
	pthread_mutex_init(&w->lock, NULL);
	msm_window_bias(cut, bias);
	r = cuda_alloc(ctx, &w->bias, sizeof(bias));
	if (!r)
		r = cuda_copy_up(ctx, w->bias, bias, sizeof(bias));
	/* the others' streams do not wait for this one */
	if (!r && workers > 1)
		r = cuda_wait(ctx);
	if (r)
		cuda_windows_close(w, ctx);
	return r;
}

int cuda_windows_open(struct cuda_windows *w, struct cuda_ctx *ctx, enum cuda_group group,
		      CUdeviceptr points, CUdeviceptr scalars, CUdeviceptr index, uint32_t n,
		      unsigned int workers)
{
	struct msm_cut cut = msm_choose_cut(n);

	return msm_windows_open(w, ctx, group, points, scalars, index, n, workers, &cut);
}

void cuda_windows_close(struct cuda_windows *w, struct cuda_ctx *ctx)
{
	cuda_free(ctx, w->bias);
	pthread_mutex_destroy(&w->lock);
}

/*
 * Some neighbours of one width of those that are left, at most so many, and no more than
 * leaves as many for each other: all end at about the same time.  0: none.
 */
static int take(struct cuda_windows *w, int most, int *first)
{
	int left, end, count = 0;

	pthread_mutex_lock(&w->lock);
	left = w->status ? 0 : __builtin_popcountll(w->todo);
	if (left) {
		left = (left + (int)w->workers - 1) / (int)w->workers;
		if (left < most)
			most = left;
		*first = __builtin_ctzll(w->todo);
		end = *first < w->wide ? w->wide : w->windows;
		while (count < most && *first + count < end && w->todo >> (*first + count) & 1)
			w->todo &= ~(UINT64_C(1) << (*first + count++));
	}
	pthread_mutex_unlock(&w->lock);
	return count;
}

/* For who did not get them done: another may, unless the device is at fault. */
static void give_back(struct cuda_windows *w, int first, int count, int status)
{
	pthread_mutex_lock(&w->lock);
	w->todo |= UINT64_MAX >> (64 - count) << first;
	if (status != -ENOMEM || w->workers == 1)
		w->status = status;
	pthread_mutex_unlock(&w->lock);
}

static int add_windows(struct cuda_windows *w, struct cuda_ctx *ctx, const struct msm_cut *cut,
		       int first, int count)
{
	uint64_t point = cuda_point_size(w->group);
	uint32_t n_buckets = 1u << (msm_window_width(cut, first) - 1);
	int per_group = cut->per_group, at, r;
	CUdeviceptr buckets;

	/* lists whose numbers have no more bits than three passes of the sort */
	while (per_group > 1 && (uint64_t)per_group * n_buckets >= 1u << 24)
		per_group--;
	r = cuda_alloc(ctx, &buckets, point * n_buckets * (uint64_t)count);
	for (at = 0; at < count && !r; at += per_group)
		r = msm_group(ctx, w->group, w->points, 1, &w->scalars, w->index, w->n, cut,
			      first + at, count - at < per_group ? count - at : per_group,
			      w->bias, buckets + point * n_buckets * (uint64_t)at);
	if (!r)
		r = msm_sum_buckets(ctx, w->group, buckets, n_buckets, (uint32_t)count,
				    w->sums + 2 * point * (uint64_t)first);
	cuda_free(ctx, buckets);
	return r;
}

int cuda_windows_work(struct cuda_windows *w, struct cuda_ctx *ctx)
{
	struct msm_cut cut = cut_of(w);
	int first, count, r = 0;

	cut_windows(ctx, w->group, w->n, room_of(ctx), &cut);
	while (!r && (count = take(w, cut.per_batch, &first))) {
		r = add_windows(w, ctx, &cut, first, count);
		if (r)
			give_back(w, first, count, r);
	}
	return r;
}

int cuda_windows_sum(struct cuda_windows *w, void *out)
{
	struct msm_cut cut = cut_of(w);
	struct g1 g1;
	struct g2 g2;

	if (w->status || w->todo)
		return w->status ? w->status : -ENOMEM;
	if (w->group == CUDA_G1) {
		msm_combine_g1((const struct g1_xyzz *)w->sums, &cut, &g1);
		g1_to_affine(out, &g1);
	} else {
		msm_combine_g2((const struct g2_xyzz *)w->sums, &cut, &g2);
		g2_to_affine(out, &g2);
	}
	return 0;
}

/* The most points at once for which there is room; 0: too few. */
static uint64_t piece_that_fits(const struct cuda_ctx *ctx, enum cuda_group group, uint64_t n)
{
	uint64_t room = room_of(ctx);

	while (n && cut_bytes(ctx, group, n, msm_choose_cut(n).c, 1, 1) > room) {
		if (n < 1024)
			return 0;
		n = (n + 1) / 2;
	}
	return n;
}

int cuda_msm(struct cuda_ctx *ctx, enum cuda_group group, CUdeviceptr points,
	     CUdeviceptr scalars, CUdeviceptr index, uint64_t n, void *out)
{
	uint64_t piece = piece_that_fits(ctx, group, n), done;
	struct cuda_windows w;
	struct cuda_total total;
	union cuda_point sum;
	int r = 0;

	if (n >= 1ull << 31)
		return -EINVAL;
	if (n && !piece)
		return -ENOMEM;
	cuda_total_init(&total, group);
	for (done = 0; done < n && !r; done += piece) {
		uint32_t now = (uint32_t)(n - done < piece ? n - done : piece);

		r = cuda_windows_open(&w, ctx, group,
				      index ? points : points + done * cuda_point_size(group),
				      scalars + sizeof(struct scalar) * done,
				      index ? index + 4 * done : 0, now, 1);
		if (r)
			return r;
		r = cuda_windows_work(&w, ctx);
		if (!r)
			r = cuda_windows_sum(&w, &sum);
		if (!r)
			cuda_total_add(&total, &sum);
		cuda_windows_close(&w, ctx);
	}
	if (!r)
		cuda_total_get(&total, out);
	return r;
}
