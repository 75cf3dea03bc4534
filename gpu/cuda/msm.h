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

/* out[0..n] = exclusive prefix sums of in[0..n), out may be in (of n + 1 words). */
int cuda_scan(struct cuda_ctx *ctx, CUdeviceptr in, CUdeviceptr out, uint32_t n,
	      CUdeviceptr scratch);
/* words of scratch that cuda_scan needs */
uint64_t cuda_scan_scratch(uint32_t n);

#endif
