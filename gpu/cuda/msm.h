/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * msm.h - multi-scalar multiplication on the device, host side
 *
 * out is a struct g1_affine or g2_affine by group.  Scratch comes from the
 * context's arena; where it cannot hold a whole sum, the points are taken in
 * pieces.  Returns 0 or -errno as gpu.h.
 */
#ifndef CUZK_GPU_CUDA_MSM_H
#define CUZK_GPU_CUDA_MSM_H

#include "gpu/cuda/ctx.h"

enum cuda_group { CUDA_G1, CUDA_G2 };

static inline uint64_t cuda_point_size(enum cuda_group group)
{
	return group == CUDA_G1 ? sizeof(struct g1_affine) : sizeof(struct g2_affine);
}

/*
 * Sum of scalars[i] * points[index[i]], scalars canonical and below r.
 * index = 0: points[i].  n below 2^31.
 */
int cuda_msm(struct cuda_ctx *ctx, enum cuda_group group, CUdeviceptr points,
	     CUdeviceptr scalars, CUdeviceptr index, uint64_t n, void *out);

/* Sum of points[values[i] & 0x7fffffff], negated where the top bit is set. */
int cuda_sum(struct cuda_ctx *ctx, enum cuda_group group, CUdeviceptr points,
	     CUdeviceptr values, uint64_t n, void *out);

/*
 * A sum in G1 whose points come one piece after the other, in any order.  open:
 * n points in all, in pieces of about that many; add: n of them with their
 * scalars, which may go when it returns; sum: of all so far.
 */
struct cuda_pieces {
	int c, windows;
	CUdeviceptr bias, buckets;	/* the sum's, then a piece's */
	bool any;
};

int cuda_pieces_open(struct cuda_pieces *p, struct cuda_ctx *ctx, uint64_t n, uint64_t piece);
int cuda_pieces_add(struct cuda_pieces *p, struct cuda_ctx *ctx, CUdeviceptr points,
		    CUdeviceptr scalars, uint64_t n);
int cuda_pieces_sum(struct cuda_pieces *p, struct cuda_ctx *ctx, struct g1_affine *out);
void cuda_pieces_close(struct cuda_pieces *p, struct cuda_ctx *ctx);
/*
 * What such a sum costs, in additions, when it has so many bytes of the device
 * beside points and scalars.  UINT64_MAX: it needs more.
 */
uint64_t cuda_pieces_cost(const struct cuda_ctx *ctx, uint64_t n, uint64_t piece, uint64_t room);

/*
 * k sums with one set of points, made together: sums[j] = sum of
 * points[values[j][i]], i < n[j], out[j] an affine point.  k at most CUDA_LISTS.
 */
#define CUDA_LISTS 32

int cuda_sum_lists(struct cuda_ctx *ctx, enum cuda_group group, CUdeviceptr points,
		   unsigned int k, const CUdeviceptr *values, const uint64_t *n, void *out);

/* k sums as cuda_msm's with the same points, and index, made together. */
int cuda_msm_lists(struct cuda_ctx *ctx, enum cuda_group group, CUdeviceptr points,
		   unsigned int k, const CUdeviceptr *scalars, CUdeviceptr index, uint64_t n,
		   void *out);

/* out[0..n] = exclusive prefix sums of in[0..n), out may be in (of n + 1 words). */
int cuda_scan(struct cuda_ctx *ctx, CUdeviceptr in, CUdeviceptr out, uint32_t n,
	      CUdeviceptr scratch);
/* words of scratch that cuda_scan needs */
uint64_t cuda_scan_scratch(uint32_t n);

#endif
