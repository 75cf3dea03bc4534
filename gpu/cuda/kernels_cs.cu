/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* kernels_cs.cu - the kernels that read constraint systems and witnesses */
#include "gpu/cuda/evaluate.cuh"
#include "gpu/cuda/select.cuh"

/*
 * The peak that benchmarks measure against: products in registers, two chains a
 * thread.  data[2i] and data[2i+1] times data[2i] to the power of rounds.
 */
template <class F> __device__ __forceinline__ void peak_body(F *data, uint32_t n, uint32_t rounds)
{
	uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
	F k, x, y;

	if (i >= n)
		return;
	x = k = data[2 * i];
	y = data[2 * i + 1];
	for (uint32_t r = 0; r < rounds; r++) {
		x = fe_mul(x, k);
		y = fe_mul(y, k);
	}
	data[2 * i] = x;
	data[2 * i + 1] = y;
}

extern "C" __global__ __launch_bounds__(256)
void peak_fr(fr_t *data, uint32_t n, uint32_t rounds)
{
	peak_body(data, n, rounds);
}

extern "C" __global__ __launch_bounds__(256)
void peak_fp(fp_t *data, uint32_t n, uint32_t rounds)
{
	peak_body(data, n, rounds);
}
