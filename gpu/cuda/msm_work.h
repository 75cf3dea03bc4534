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

#define MSM_SCALAR_BITS 255	/* of the signed form: windows * c must reach it */
#define MSM_MAX_WINDOW 22
#define MSM_MAX_WINDOWS CUDA_WINDOWS	/* c >= 4 */
/* pairs sorted at once: more windows together for short sums, one for long */
#define MSM_GROUP_PAIRS (1ull << 28)
/* buckets summed at once: enough to fill the device, bounded for the memory */
#define MSM_BATCH_BUCKETS (1ull << 22)

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
	CUdeviceptr pairs, points[2], prefix, totals, scratch;
	CUdeviceptr buckets;		/* the caller's, n_keys points */
	uint32_t *lengths;		/* NULL, or the caller's: of the n_keys lists, used up */
};

uint64_t msm_work_bytes(const struct cuda_ctx *ctx, enum cuda_group group, uint64_t pairs,
			uint64_t keys);
int msm_work_alloc(struct cuda_ctx *ctx, enum cuda_group group, uint64_t pairs, uint64_t keys,
		   struct msm_work *w);
void msm_work_free(struct cuda_ctx *ctx, struct msm_work *w);

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
 * Lists to buckets, of count windows of one width from first on: those of the first of k
 * vectors of scalars, then those of the second and so on.  All have n scalars
 * and the same points.
 */
int msm_group(struct cuda_ctx *ctx, enum cuda_group group, CUdeviceptr points, unsigned int k,
	      const CUdeviceptr *scalars, CUdeviceptr index, uint32_t n, const struct msm_cut *cut,
	      int first, int count, CUdeviceptr bias, CUdeviceptr buckets);
/* Sums the buckets of count windows, n_buckets (a power of two) each; sums[count] on the host. */
int msm_sum_buckets(struct cuda_ctx *ctx, enum cuda_group group, CUdeviceptr buckets,
		    uint32_t n_buckets, uint32_t count, uint8_t *out);
/* The sums of all windows to the sum. */
void msm_combine_g1(const struct g1_xyzz *sums, const struct msm_cut *cut, struct g1 *acc);
void msm_combine_g2(const struct g2_xyzz *sums, const struct msm_cut *cut, struct g2 *acc);

#endif
