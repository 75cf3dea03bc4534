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

#include <pthread.h>

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

/*
 * The same, n above 0, by several contexts of one device at once, each on a thread of its
 * own: open by one; work by each, until no window is left; sum and close when
 * all are back.  What was queued on other streams must have been waited for.
 * A worker without room gives its windows to the others; if nobody has, sum says
 * -ENOMEM.
 */
#define CUDA_WINDOWS 64

struct cuda_windows {
	enum cuda_group group;
	CUdeviceptr points, scalars, index, bias;
	uint32_t n;
	int c, windows, wide;		/* struct msm_cut */
	unsigned int workers;
	pthread_mutex_t lock;		/* protects the rest */
	uint64_t todo;			/* bits by window */
	int status;			/* why there is no going on */
	uint8_t sums[CUDA_WINDOWS * 8 * sizeof(struct fp)] __attribute__((aligned(16)));
};

int cuda_windows_open(struct cuda_windows *w, struct cuda_ctx *ctx, enum cuda_group group,
		      CUdeviceptr points, CUdeviceptr scalars, CUdeviceptr index, uint32_t n,
		      unsigned int workers);
int cuda_windows_work(struct cuda_windows *w, struct cuda_ctx *ctx);
int cuda_windows_sum(struct cuda_windows *w, void *out);
void cuda_windows_close(struct cuda_windows *w, struct cuda_ctx *ctx);
/* Of a context's memory, with which n points are not cut into pieces. */
uint64_t cuda_windows_bytes(const struct cuda_ctx *ctx, enum cuda_group group, uint64_t n);

/* Sum of points[values[i] & 0x7fffffff], negated where the top bit is set. */
int cuda_sum(struct cuda_ctx *ctx, enum cuda_group group, CUdeviceptr points,
	     CUdeviceptr values, uint64_t n, void *out);
/* As cuda_windows_bytes(), of cuda_sum(). */
uint64_t cuda_sum_bytes(const struct cuda_ctx *ctx, enum cuda_group group, uint64_t n);

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
