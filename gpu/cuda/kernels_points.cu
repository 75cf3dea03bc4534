/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* kernels_points.cu - entry points of the kernels that read, write and make points */
#include "gpu/cuda/points.cuh"
#include "gpu/cuda/transform.cuh"

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

extern "C" __global__ __launch_bounds__(64, 6)
void transform_load_g1(const g1_affine_t *in, uint32_t n, uint32_t first,
		       struct power_table powers, jacobian *out)
{
	transform_load_body(in, n, first, powers, out);
}

extern "C" __global__ __launch_bounds__(64, 6)
void transform_stage_g1(jacobian *points, uint32_t first, uint32_t n, int log_n, int level,
			struct power_table roots)
{
	transform_stage_body(points, first, n, log_n, level, roots);
}

extern "C" __global__ __launch_bounds__(64)
void transform_store_g1(const jacobian *points, uint32_t first, uint32_t n, int log_n,
			uint32_t n_threads, fp_t *prefix, g1_affine_t *out)
{
	transform_store_body(points, first, n, log_n, n_threads, prefix, out);
}

/* out[i] = in[index[i]], of points of `words` times 16 bytes; a thread copies 16 bytes. */
extern "C" __global__ __launch_bounds__(256)
void points_gather(const uint4 *in, const uint32_t *index, uint32_t n, uint32_t words, uint4 *out)
{
	uint64_t t = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
	uint64_t i = t / words;

	if (i < n)
		out[t] = in[(uint64_t)index[i] * words + t % words];
}
