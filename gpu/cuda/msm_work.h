/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * msm_work.h - what the device's sums are made of, for msm*.c only
 *
 * Everything is queued on the context's stream; msm_reduce_lists and
 * msm_sum_buckets wait for it, so that afterwards points may go.
 */
#ifndef CUZK_GPU_CUDA_MSM_WORK_H
#define CUZK_GPU_CUDA_MSM_WORK_H

#include "gpu/cuda/msm.h"
#include "gpu/cuda/tiles.h"

#define MSM_SCALAR_BITS 255	/* of the signed form: windows * c must reach it */
#define MSM_MAX_WINDOW 24
#define MSM_MAX_WINDOWS CUDA_WINDOWS	/* c >= 4 */
/* pairs sorted at once: more windows together for short sums, one for long */
#define MSM_GROUP_PAIRS (1ull << 28)
/* buckets summed at once: enough to fill the device, one window's at least */
#define MSM_BATCH_BUCKETS (1ull << (MSM_MAX_WINDOW - 1))

/* XYZZ as the kernels leave it */
struct g1_xyzz {
	struct fp x, y, zz, zzz;
};

struct g2_xyzz {
	struct fp2 x, y, zz, zzz;
};

/*
 * Sized for n_pairs pairs in n_keys lists.  Pairs and points ping-pong: the
 * first round halves them, so the second buffer of points is half the first.
 */
struct msm_work {
	uint32_t n_pairs, n_keys;
	uint64_t n_slots;		/* of the first round, at most */
	CUdeviceptr keys[2], values[2];
	CUdeviceptr starts[2], counts, scan;
	CUdeviceptr pairs, points[2], prefix, totals, scratch, left;
	CUdeviceptr buckets;		/* the caller's, n_keys points */
	uint32_t *lengths;		/* NULL, or the caller's: of the n_keys lists, used up */
};

uint64_t msm_work_bytes(const struct cuda_ctx *ctx, enum cuda_group group, uint64_t pairs,
			uint64_t keys);
int msm_work_alloc(struct cuda_ctx *ctx, enum cuda_group group, uint64_t pairs, uint64_t keys,
		   struct msm_work *w);
void msm_work_free(struct cuda_ctx *ctx, struct msm_work *w);

/* Bytes of a coordinate. */
static inline uint64_t msm_field(enum cuda_group group)
{
	return cuda_point_size(group) / 2;
}

/* Lanes that are one thread of the kernels that know points. */
static inline unsigned int msm_lanes(enum cuda_group group)
{
	return group == CUDA_G1 ? 1 : 2;
}

/* Blocks of ADD_THREADS for so many threads. */
static inline uint64_t msm_add_blocks(enum cuda_group group, uint64_t threads)
{
	return (threads * msm_lanes(group) + ADD_THREADS - 1) / ADD_THREADS;
}

/* The kernels' struct point_list: coordinates in one array of points, or in two. */
struct msm_points {
	CUdeviceptr x, y;
	uint32_t step;			/* in coordinates */
};

static inline struct msm_points msm_together(enum cuda_group group, CUdeviceptr points)
{
	return (struct msm_points){ points, points + msm_field(group), 2 };
}

/* n of them from at on */
static inline struct msm_points msm_apart(enum cuda_group group, CUdeviceptr at, uint32_t n)
{
	return (struct msm_points){ at, at + msm_field(group) * n, 1 };
}

/* The kernels' struct msm_leavings: the points that lists left, and whose list a slot is. */
struct msm_leavings {
	CUdeviceptr buckets, keys;
};

/*
 * Additions of neighbours: slot i adds points pairs[i] and pairs[i] + 1, by their names
 * in values if that is not 0, or with its top bit set pairs[i] and what is left.  prefix
 * has a coordinate for each slot; totals and scratch one for each of msm_add_threads(slots).
 */
struct msm_round {
	struct msm_points points;
	CUdeviceptr values, pairs;
	struct msm_leavings leavings;
	uint32_t slots;
	CUdeviceptr prefix, totals, scratch;
};

/* Threads for so many additions: enough to fill the device. */
uint32_t msm_add_threads(const struct cuda_ctx *ctx, uint64_t slots);
/* out[i] = the addition that slot i asks for */
int msm_add_slots(struct cuda_ctx *ctx, enum cuda_group group, const struct msm_round *round,
		  struct msm_points out);

/*
 * keys[0], values[0], starts[0] describe n points in w->n_keys lists;
 * afterwards buckets[k] is the sum of list k.
 */
int msm_reduce_lists(struct cuda_ctx *ctx, enum cuda_group group, CUdeviceptr points,
		     struct msm_work *w, uint32_t n);

/* points[i] += points[n + i], i < n; scratch of msm_join_bytes() comes from the arena. */
int msm_join(struct cuda_ctx *ctx, enum cuda_group group, CUdeviceptr points, uint32_t n);
uint64_t msm_join_bytes(const struct cuda_ctx *ctx, enum cuda_group group, uint64_t n);

/*
 * How a sum is cut into windows, the first `wide` of c bits and the rest of c - 1, and
 * these are worked at: sorted and added a group at a time, summed a batch.  Together they
 * have MSM_SCALAR_BITS at least.  (r - 1)/2 is 0.906 2^254: with the bias below the topmost
 * window, at most 2^(254 - its bits) 16/15, it stays below 2^254 if that has four bits.
 */
struct msm_cut {
	int c, windows, wide, per_group, per_batch;
};

static inline int msm_window_width(const struct msm_cut *cut, int w)
{
	return cut->c - (w >= cut->wide);
}

/* its lowest bit */
static inline int msm_window_bit(const struct msm_cut *cut, int w)
{
	return w * (cut->c - 1) + (w < cut->wide ? w : cut->wide);
}

/* bias = sum over windows of 2^(bit + width - 1), in 9 words */
void msm_window_bias(const struct msm_cut *cut, uint32_t bias[9]);
/* For n points; per_group and per_batch depend on memory and are left 0. */
struct msm_cut msm_choose_cut(uint64_t n);
/* cuda_windows_open() with a cut of the caller's. */
int msm_windows_open(struct cuda_windows *w, struct cuda_ctx *ctx, enum cuda_group group,
		     CUdeviceptr points, CUdeviceptr scalars, CUdeviceptr index, uint32_t n,
		     unsigned int workers, const struct msm_cut *cut);
/*
 * What n buckets cost, in additions: four each in running sums, two beyond as many as are
 * worth halving before.
 */
static inline uint64_t msm_buckets_cost(uint64_t n)
{
	return 2 * n + 2 * (n < CUDA_HALVE_LEAST ? n : CUDA_HALVE_LEAST);
}

/*
 * Lists to buckets, of count windows of one width from first on: those of the first of k
 * vectors of scalars, then those of the second and so on.  All have n scalars
 * and the same points.
 */
int msm_group(struct cuda_ctx *ctx, enum cuda_group group, CUdeviceptr points, unsigned int k,
	      const CUdeviceptr *scalars, CUdeviceptr index, uint32_t n, const struct msm_cut *cut,
	      int first, int count, CUdeviceptr bias, CUdeviceptr buckets);
/* Sums the buckets of count windows, n_buckets (a power of two) each: XYZZ out[count], on the host. */
int msm_sum_buckets(struct cuda_ctx *ctx, enum cuda_group group, CUdeviceptr buckets,
		    uint32_t n_buckets, uint32_t count, uint8_t *out);
void g1_from_xyzz(struct g1 *r, const struct g1_xyzz *p);
void g2_from_xyzz(struct g2 *r, const struct g2_xyzz *p);
/* The sums of all windows to the sum. */
void msm_combine_g1(const struct g1_xyzz *sums, const struct msm_cut *cut, struct g1 *acc);
void msm_combine_g2(const struct g2_xyzz *sums, const struct msm_cut *cut, struct g2 *acc);

#endif
