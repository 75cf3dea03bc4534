/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * msm.c - multi-scalar multiplication on the device, host side
 *
 * The method is told in msm.cuh.  Two entries meet in msm_reduce_lists(): cuda_msm
 * with one list per bucket, cuda_sum with a single list.
 */
#include <errno.h>
#include <string.h>

#include "gpu/cuda/msm_work.h"

#define THREADS 256
/* additions that share a thread, and threads' products that share an inversion */
#define ADDS_PER_THREAD 32
#define PRODUCTS_PER_INVERSION 32
#define MIN_PRODUCTS_PER_INVERSION 4

struct group_kernels {
	enum cuda_kernel round_counts, add_forward, invert, add_backward;
};

static const struct group_kernels groups[] = {
	[CUDA_G1] = {
		KERNEL_msm_round_counts_g1, KERNEL_msm_add_forward_g1, KERNEL_msm_invert_g1,
		KERNEL_msm_add_backward_g1,
	},
	[CUDA_G2] = {
		KERNEL_msm_round_counts_g2, KERNEL_msm_add_forward_g2, KERNEL_msm_invert_g2,
		KERNEL_msm_add_backward_g2,
	},
};

static uint64_t blocks_for(uint64_t n, unsigned int threads)
{
	return (n + threads - 1) / threads;
}

/* ---- prefix sums ---- */

uint64_t cuda_scan_scratch(uint32_t n)
{
	return blocks_for(n, SCAN_TILE) + 1;
}

int cuda_scan(struct cuda_ctx *ctx, CUdeviceptr in, CUdeviceptr out, uint32_t n,
	      CUdeviceptr scratch)
{
	uint32_t tiles = (uint32_t)blocks_for(n, SCAN_TILE);
	CUdeviceptr none = 0;
	int last = 1, r;

	r = cuda_launch(ctx, KERNEL_scan_tiles, tiles, SCAN_THREADS, 0,
			(void *[]){ &in, &n, &scratch });
	if (r)
		return r;
	r = cuda_launch(ctx, KERNEL_scan_sums, 1, SCAN_THREADS, 0,
			(void *[]){ &scratch, &tiles, &none });
	if (r)
		return r;
	return cuda_launch(ctx, KERNEL_scan_apply, tiles, SCAN_THREADS, 0,
			   (void *[]){ &in, &out, &n, &scratch, &last });
}

/* ---- buffers of one sum ---- */

static uint64_t sort_tiles(uint64_t n)
{
	return blocks_for(n, SORT_TILE);
}

static uint64_t max_u64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

uint32_t msm_add_threads(const struct cuda_ctx *ctx, uint64_t slots)
{
	uint64_t full = (uint64_t)ctx->sm_count * 1024;
	uint64_t t = max_u64(slots / ADDS_PER_THREAD, full);

	return (uint32_t)(t < slots ? t : slots);
}

/*
 * Inversions for that many products.  One is worth about 20 products in work but
 * 30 in time, and sharing costs three products one after the other: fill the
 * device with few warps first, then share.
 */
static uint32_t inversions_for(const struct cuda_ctx *ctx, uint32_t products)
{
	uint32_t full = (uint32_t)ctx->sm_count * 256;
	uint32_t share = (products + full - 1) / full;

	if (share < MIN_PRODUCTS_PER_INVERSION)
		share = MIN_PRODUCTS_PER_INVERSION;
	if (share > PRODUCTS_PER_INVERSION)
		share = PRODUCTS_PER_INVERSION;
	return (products + share - 1) / share;
}

void msm_work_free(struct cuda_ctx *ctx, struct msm_work *w)
{
	CUdeviceptr *all[] = {
		&w->keys[0], &w->keys[1], &w->values[0], &w->values[1], &w->starts[0],
		&w->starts[1], &w->counts, &w->scan, &w->pairs, &w->points[0], &w->points[1],
		&w->prefix, &w->totals, &w->scratch, &w->left,
	};
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		cuda_free(ctx, *all[i]);
		*all[i] = 0;
	}
}

struct buffer {
	CUdeviceptr *p;
	uint64_t bytes;
};

#define WORK_BUFFERS 15

static void work_layout(const struct cuda_ctx *ctx, enum cuda_group group, struct msm_work *w,
			struct buffer buffers[WORK_BUFFERS])
{
	uint64_t point = cuda_point_size(group), field = msm_field(group);
	/* what a list left adds half a slot, but not in the first round */
	uint64_t n = w->n_pairs, odd = w->n_keys < n ? w->n_keys : n;
	uint64_t slots = n / 2 + 1, threads, hist = sort_tiles(n) * 256;

	w->n_slots = slots;
	threads = max_u64(slots / ADDS_PER_THREAD, (uint64_t)ctx->sm_count * 1024) + 1;
	memcpy(buffers, (struct buffer[WORK_BUFFERS]){
		{ &w->keys[0], 4 * n },
		{ &w->keys[1], 4 * n },
		{ &w->values[0], 4 * n },
		{ &w->values[1], 4 * n },
		{ &w->starts[0], 4 * ((uint64_t)w->n_keys + 2) },
		{ &w->starts[1], 4 * ((uint64_t)w->n_keys + 2) },
		{ &w->counts, 4 * (max_u64(hist, w->n_keys) + 2) },
		{ &w->scan, 4 * (max_u64(blocks_for(hist, SCAN_TILE), blocks_for(w->n_keys, SCAN_TILE)) + 2) },
		{ &w->pairs, 4 * slots },
		{ &w->points[0], point * slots },
		{ &w->points[1], point * ((slots + odd) / 2 + 1) },
		{ &w->prefix, field * slots },
		{ &w->totals, field * threads },
		{ &w->scratch, field * threads },
		{ &w->left, 2 * (uint64_t)w->n_keys },
	}, sizeof(struct buffer) * WORK_BUFFERS);
}

uint64_t msm_work_bytes(const struct cuda_ctx *ctx, enum cuda_group group, uint64_t pairs,
			uint64_t keys)
{
	struct msm_work w = { .n_pairs = (uint32_t)pairs, .n_keys = (uint32_t)keys };
	struct buffer buffers[WORK_BUFFERS];
	uint64_t sum = 0;
	int i;

	work_layout(ctx, group, &w, buffers);
	for (i = 0; i < WORK_BUFFERS; i++)
		sum += buffers[i].bytes + ARENA_ALIGN;
	return sum;
}

int msm_work_alloc(struct cuda_ctx *ctx, enum cuda_group group, uint64_t pairs, uint64_t keys,
		   struct msm_work *w)
{
	struct buffer buffers[WORK_BUFFERS];
	int i, r;

	memset(w, 0, sizeof(*w));
	w->n_pairs = (uint32_t)pairs;
	w->n_keys = (uint32_t)keys;
	work_layout(ctx, group, w, buffers);
	for (i = 0; i < WORK_BUFFERS; i++) {
		r = cuda_alloc(ctx, buffers[i].p, buffers[i].bytes);
		if (r) {
			msm_work_free(ctx, w);
			return r;
		}
	}
	return 0;
}

/* ---- sorting ---- */

/* Sorts keys[0], values[0]; the result is in them again whatever the passes. */
static int sort_pairs(struct cuda_ctx *ctx, struct msm_work *w, uint32_t n, uint32_t max_key)
{
	uint32_t tiles = (uint32_t)sort_tiles(n);
	int shift, r = 0;

	for (shift = 0; shift < 32 && !r && (shift == 0 || max_key >> shift); shift += 8) {
		CUdeviceptr t;

		r = cuda_launch(ctx, KERNEL_sort_count, tiles, SORT_THREADS, 0,
				(void *[]){ &w->keys[0], &n, &shift, &w->counts });
		if (!r)
			r = cuda_scan(ctx, w->counts, w->counts, tiles * 256, w->scan);
		if (!r)
			r = cuda_launch(ctx, KERNEL_sort_scatter, tiles, SORT_THREADS, 0,
					(void *[]){ &w->keys[0], &w->values[0], &n, &shift,
						    &w->counts, &w->keys[1], &w->values[1] });
		t = w->keys[0], w->keys[0] = w->keys[1], w->keys[1] = t;
		t = w->values[0], w->values[0] = w->values[1], w->values[1] = t;
	}
	return r;
}

/* ---- rounds ---- */

int msm_add_slots(struct cuda_ctx *ctx, enum cuda_group group, const struct msm_round *round,
		  struct msm_points out)
{
	uint32_t threads = msm_add_threads(ctx, round->slots);
	uint32_t inversions = inversions_for(ctx, threads);
	const struct group_kernels *g = &groups[group];
	struct msm_round r = *round;
	int ret;

	ret = cuda_launch(ctx, g->add_forward, msm_add_blocks(group, threads), ADD_THREADS, 0,
			  (void *[]){ &r.points, &r.values, &r.pairs, &r.leavings, &r.slots,
				      &threads, &r.prefix, &r.totals });
	if (!ret)
		ret = cuda_launch(ctx, g->invert, msm_add_blocks(group, inversions), ADD_THREADS,
				  0, (void *[]){ &r.totals, &threads, &inversions, &r.scratch });
	if (!ret)
		ret = cuda_launch(ctx, g->add_backward, msm_add_blocks(group, threads),
				  ADD_THREADS, 0,
				  (void *[]){ &r.points, &r.values, &r.pairs, &r.leavings,
					      &r.slots, &threads, &r.prefix, &r.totals, &out });
	return ret;
}

uint64_t msm_join_bytes(const struct cuda_ctx *ctx, enum cuda_group group, uint64_t n)
{
	uint64_t field = msm_field(group);

	return 3 * 4 * n + field * n + 2 * field * msm_add_threads(ctx, n) + 5 * ARENA_ALIGN;
}

int msm_join(struct cuda_ctx *ctx, enum cuda_group group, CUdeviceptr points, uint32_t n)
{
	struct msm_round round = { .points = msm_together(group, points), .slots = n };
	uint64_t share = msm_field(group) * msm_add_threads(ctx, n);
	int r;

	r = cuda_alloc(ctx, &round.values, 8 * (uint64_t)n);
	if (!r)
		r = cuda_alloc(ctx, &round.pairs, 4 * (uint64_t)n);
	if (!r)
		r = cuda_alloc(ctx, &round.prefix, msm_field(group) * n);
	if (!r)
		r = cuda_alloc(ctx, &round.totals, share);
	if (!r)
		r = cuda_alloc(ctx, &round.scratch, share);
	if (!r)
		r = CUDA_RUN(ctx, msm_join_pairs, n, THREADS, &n, &n, &round.values, &round.pairs);
	/* a thread reads its slot's points before it writes the sum over the first */
	if (!r)
		r = msm_add_slots(ctx, group, &round, round.points);
	cuda_free(ctx, round.values);
	cuda_free(ctx, round.pairs);
	cuda_free(ctx, round.prefix);
	cuda_free(ctx, round.totals);
	cuda_free(ctx, round.scratch);
	return r;
}

#define LEFT 0x80000000u	/* with a length: there is a point left */

/* Slots of the next round, of lists whose lengths the host knows: as msm_round_counts. */
static uint32_t halve(uint32_t *lengths, uint32_t n)
{
	uint32_t sum = 0, i;

	for (i = 0; i < n; i++) {
		uint32_t left = lengths[i] & LEFT, len = lengths[i] & ~LEFT;
		bool odd = len & 1;

		len = len / 2 + (odd && left);
		sum += len;
		lengths[i] = len | (odd ? left ^ LEFT : left);
	}
	return sum;
}

/* The same from the device, which is waited for. */
static int count_slots(struct cuda_ctx *ctx, const struct msm_work *w, CUdeviceptr next,
		       uint32_t *slots)
{
	if (!w->lengths)
		return cuda_copy_down(ctx, slots, next + 4 * (uint64_t)w->n_keys, 4);
	*slots = halve(w->lengths, w->n_keys);
	return *slots ? 0 : cuda_wait(ctx);
}

int msm_reduce_lists(struct cuda_ctx *ctx, enum cuda_group group, CUdeviceptr points,
		     struct msm_work *w, uint32_t n)
{
	struct msm_round round = {
		.points = msm_together(group, points), .values = w->values[0], .pairs = w->pairs,
		.prefix = w->prefix, .totals = w->totals, .scratch = w->scratch,
	};
	/* keys of the rounds alternate between the two buffers, starts likewise */
	CUdeviceptr keys = w->keys[0], next_keys = w->keys[1];
	CUdeviceptr starts = w->starts[0], next = w->starts[1];
	/* whether lists left a point, before a round and after */
	CUdeviceptr left = 0, left_next = w->left;
	int side = 0, r;

	for (;;) {
		struct msm_points out;
		CUdeviceptr t;

		r = cuda_launch(ctx, groups[group].round_counts,
				blocks_for((uint64_t)w->n_keys * msm_lanes(group), THREADS), THREADS, 0,
				(void *[]){ &starts, &w->n_keys, &round.points, &round.values,
					    &left, &left_next, &w->buckets, &w->counts });
		if (!r)
			r = cuda_scan(ctx, w->counts, next, w->n_keys, w->scan);
		if (!r)
			r = count_slots(ctx, w, next, &round.slots);
		if (r || round.slots == 0)
			return r;
		r = CUDA_RUN(ctx, msm_round_pairs, blocks_for(n, MSM_PAIRS_PER_THREAD), THREADS,
			     &keys, &n, &w->n_keys, &starts, &next, &w->pairs, &next_keys);
		out = msm_apart(group, w->points[side], round.slots);
		round.leavings = (struct msm_leavings){ w->buckets, next_keys };
		if (!r)
			r = msm_add_slots(ctx, group, &round, out);
		if (r)
			return r;
		t = keys, keys = next_keys, next_keys = t;
		t = starts, starts = next, next = t;
		round.points = out;
		round.values = 0;
		side ^= 1;
		left = left_next;
		left_next = w->left + (side ? w->n_keys : 0);
		n = round.slots;
	}
}

/* ---- windows ---- */

void msm_window_bias(const struct msm_cut *cut, uint32_t bias[9])
{
	int w;

	memset(bias, 0, 9 * sizeof(*bias));
	for (w = 0; w < cut->windows; w++) {
		int bit = msm_window_bit(cut, w) + msm_window_width(cut, w) - 1;

		if (bit < 9 * 32)
			bias[bit / 32] |= 1u << (bit % 32);
	}
}

/*
 * The least times measured of all cuts, doc/gpu-tuning.md.  Short sums take as long as
 * their launches: all windows are worked at together, so they are of one width, and the
 * topmost has about as many bits as the others, or its few buckets would have long lists.
 * 15 and 17 divide 255.  In long ones a window costs n additions and a bucket two to four:
 * no more bits than there are.
 */
struct msm_cut msm_choose_cut(uint64_t n)
{
	static const struct {
		uint64_t from;
		struct msm_cut cut;
	} cuts[] = {
		{ 11 << 23, { .c = 24, .windows = 11, .wide = 2 } },
		{ 3 << 23, { .c = 22, .windows = 12, .wide = 3 } },
		{ 1 << 23, { .c = 20, .windows = 13, .wide = 8 } },
		{ 3 << 19, { .c = 17, .windows = 15, .wide = 15 } },
		{ 1 << 13, { .c = 15, .windows = 17, .wide = 17 } },
		{ 0, { .c = 8, .windows = 32, .wide = 32 } },
	};
	size_t i = 0;

	while (n < cuts[i].from)
		i++;
	return cuts[i].cut;
}

void g1_from_xyzz(struct g1 *r, const struct g1_xyzz *p)
{
	/* Z = ZZZ / ZZ; scaled by ZZ ZZZ: X' = X ZZ, Y' = Y ZZZ, Z' = ZZ gives X'/Z'^2 = X/ZZ */
	fp_mul(&r->x, &p->x, &p->zz);
	fp_mul(&r->y, &p->y, &p->zzz);
	r->z = p->zz;
}

void g2_from_xyzz(struct g2 *r, const struct g2_xyzz *p)
{
	fp2_mul(&r->x, &p->x, &p->zz);
	fp2_mul(&r->y, &p->y, &p->zzz);
	r->z = p->zz;
}

void msm_combine_g1(const struct g1_xyzz *sums, const struct msm_cut *cut, struct g1 *acc)
{
	int w, i;

	g1_set_infinity(acc);
	for (w = cut->windows; w-- > 0;) {
		struct g1 t;

		for (i = 0; i < msm_window_width(cut, w); i++)
			g1_double(acc, acc);
		g1_from_xyzz(&t, &sums[w]);
		g1_add(acc, acc, &t);
	}
}

void msm_combine_g2(const struct g2_xyzz *sums, const struct msm_cut *cut, struct g2 *acc)
{
	int w, i;

	g2_set_infinity(acc);
	for (w = cut->windows; w-- > 0;) {
		struct g2 t;

		for (i = 0; i < msm_window_width(cut, w); i++)
			g2_double(acc, acc);
		g2_from_xyzz(&t, &sums[w]);
		g2_add(acc, acc, &t);
	}
}

int msm_group(struct cuda_ctx *ctx, enum cuda_group group, CUdeviceptr points, unsigned int k,
	      const CUdeviceptr *scalars, CUdeviceptr index, uint32_t n, const struct msm_cut *cut,
	      int first, int count, CUdeviceptr bias, CUdeviceptr buckets)
{
	int c = msm_window_width(cut, first), bit = msm_window_bit(cut, first), r;
	uint32_t each = n * (uint32_t)count, row = (uint32_t)count << (c - 1);
	uint32_t pairs = k * each, keys = k * row, first_key;
	struct msm_work w;
	unsigned int j;

	r = msm_work_alloc(ctx, group, pairs, keys, &w);
	if (r)
		return r;
	w.buckets = buckets;
	for (j = 0; j < k && !r; j++) {
		CUdeviceptr s = scalars[j], to_keys = w.keys[0] + 4 * (uint64_t)j * each;
		CUdeviceptr to_values = w.values[0] + 4 * (uint64_t)j * each;

		first_key = j * row;
		r = CUDA_RUN(ctx, msm_digits, n, THREADS, &s, &index, &n, &c, &bit, &count, &bias,
			     &first_key, &keys, &to_keys, &to_values);
	}
	if (!r)
		r = sort_pairs(ctx, &w, pairs, keys);
	if (!r)
		r = CUDA_RUN(ctx, msm_starts, (uint64_t)keys + 1, THREADS, &w.keys[0], &pairs, &keys,
			     &w.starts[0]);
	if (!r)
		r = msm_reduce_lists(ctx, group, points, &w, pairs);
	msm_work_free(ctx, &w);
	return r;
}

uint64_t cuda_sum_bytes(const struct cuda_ctx *ctx, enum cuda_group group, uint64_t n)
{
	return (msm_work_bytes(ctx, group, n, 1) + cuda_point_size(group)) / 7 * 8 + 2 * ARENA_ALIGN;
}

int cuda_sum(struct cuda_ctx *ctx, enum cuda_group group, CUdeviceptr points,
	     CUdeviceptr values, uint64_t n, void *out)
{
	uint64_t size = cuda_point_size(group), piece = n, done;
	uint64_t room = cuda_arena_largest(ctx->arena) / 8 * 7;
	CUdeviceptr total = 0;
	struct g2_affine sum;
	struct g1 g1;
	struct g2 g2;
	int r;

	g1_set_infinity(&g1);
	g2_set_infinity(&g2);
	while (piece && msm_work_bytes(ctx, group, piece, 1) > room) {
		if (piece < 1024)
			return -ENOMEM;
		piece = (piece + 1) / 2;
	}
	r = cuda_alloc(ctx, &total, size);
	for (done = 0; done < n && !r; done += piece) {
		uint32_t now = (uint32_t)(n - done < piece ? n - done : piece);
		uint32_t starts[2] = { 0, now }, length = now;
		struct msm_work w;

		r = msm_work_alloc(ctx, group, now, 1, &w);
		if (r)
			break;
		w.buckets = total;
		w.lengths = &length;
		/* one list: every key is 0 */
		r = cuda_clear(ctx, w.keys[0], 4ull * now);
		if (!r)
			r = cuda_check(ctx, ctx->drv->copy(w.values[0], values + 4 * done, 4ull * now,
							   ctx->stream), "copying indices");
		if (!r)
			r = cuda_copy_up(ctx, w.starts[0], starts, sizeof(starts));
		if (!r)
			r = msm_reduce_lists(ctx, group, points, &w, now);
		if (!r)
			r = cuda_copy_down(ctx, &sum, total, size);
		msm_work_free(ctx, &w);
		if (!r && group == CUDA_G1)
			g1_add_affine(&g1, &g1, (const struct g1_affine *)&sum);
		else if (!r)
			g2_add_affine(&g2, &g2, &sum);
	}
	cuda_free(ctx, total);
	if (r)
		return r;
	if (group == CUDA_G1)
		g1_to_affine(out, &g1);
	else
		g2_to_affine(out, &g2);
	return 0;
}
