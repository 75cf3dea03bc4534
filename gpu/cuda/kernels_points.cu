/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* kernels_points.cu - entry points of the kernels that read, write and make points */
#include "gpu/cuda/points.cuh"

#define POINTS_KERNELS(g, F)								\
extern "C" __global__ __launch_bounds__(128)						\
void points_load_##g(const void *in, uint32_t n, uint64_t first, int zcash, int checks,	\
		int reverse_bits, affine<F> *out, unsigned long long *bad)		\
{											\
	points_load_body<F>(in, n, first, zcash, checks, reverse_bits, out, bad);	\
}											\
extern "C" __global__ __launch_bounds__(128)						\
void points_encode_##g(const affine<F> *in, uint32_t n, uint32_t *out)			\
{											\
	points_encode_body<F>(in, n, out);						\
}											\
extern "C" __global__ __launch_bounds__(128)						\
void base_mul_##g(const affine<F> *table, const uint32_t *scalars, uint32_t n,		\
		uint64_t first, uint32_t n_threads, int reverse_bits, xyzz<F> *sums,	\
		F *prefix, affine<F> *out)						\
{											\
	base_mul_body<F>(table, scalars, n, first, n_threads, reverse_bits, sums, prefix, out); \
}

POINTS_KERNELS(g1, fp_t)
POINTS_KERNELS(g2, fp2_t)
