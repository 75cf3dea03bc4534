/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * ntt.h - transforms and the quotient on the device, host side
 *
 * Data are struct fr in device memory.  Tables of roots are made once for a
 * length and root and stay in the arena until the tables are closed.
 */
#ifndef CUZK_GPU_CUDA_NTT_H
#define CUZK_GPU_CUDA_NTT_H

#include "gpu/cuda/ctx.h"

#define CUDA_NTT_MAX_LOG 31

struct cuda_ntt;	/* tables of one context */

int cuda_ntt_open(struct cuda_ntt **ntt, struct cuda_ctx *ctx);
void cuda_ntt_close(struct cuda_ntt *ntt);
/*
 * Blocks of up to 2^log_points points have the factors between passes in one table (18, if
 * this is not called before the first transform), longer ones in two: for tests of short ones.
 */
void cuda_ntt_set_direct(struct cuda_ntt *ntt, unsigned int log_points);

enum cuda_ntt_order {
	CUDA_NTT_DIF,	/* natural order in, bit-reversed out */
	CUDA_NTT_DIT,	/* bit-reversed in, natural out */
};

/*
 * In place, without the division by the length.  root: a primitive 2^32-th
 * root of unity; inverse takes its inverse.  -EINVAL for log_n > CUDA_NTT_MAX_LOG.
 */
int cuda_ntt_run(struct cuda_ntt *ntt, CUdeviceptr data, unsigned int log_n,
		 const struct fr *root, bool inverse, enum cuda_ntt_order order);
/* data[i] *= factor * base^rev(i), of 2^log_n in bit-reversed order */
int cuda_ntt_scale_reversed(struct cuda_ntt *ntt, CUdeviceptr data, unsigned int log_n,
			    const struct fr *base, const struct fr *factor);
/* natural order to bit-reversed and back */
int cuda_ntt_reverse(struct cuda_ntt *ntt, CUdeviceptr data, unsigned int log_n);

/*
 * h scalars (canonical) from a, b on the domain, gpu.h's quotient.  Takes h as
 * third vector; a and b are destroyed.  POWERS leaves h in bit-reversed order:
 * the place of h_i is rev(i), and the last place holds the coefficient that
 * is always zero.  ODD_COSET and COSET leave natural order; with COSET h
 * may be a.
 */
int cuda_quotient(struct cuda_ntt *ntt, CUdeviceptr a, CUdeviceptr b, CUdeviceptr h,
		  unsigned int log_n, enum gpu_h_basis basis);

#endif
