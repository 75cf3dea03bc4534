/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * scan.cuh - exclusive prefix sums of 32-bit counts
 *
 * Two levels: each block sums a tile of SCAN_TILE counts, one block scans the
 * tile sums, each block scans its tile and adds its offset.  The middle step
 * takes up to SCAN_TILE tiles in one go and loops beyond that, so any length
 * below 2^32 works.  The sum itself must stay below 2^32.
 */
#ifndef CUZK_GPU_CUDA_SCAN_CUH
#define CUZK_GPU_CUDA_SCAN_CUH

#include <stdint.h>

#ifndef __CUDACC__
#include "gpu/cuda/emu.h"
#endif

#include "gpu/cuda/tiles.h"

#define SCAN_ITEMS (SCAN_TILE / SCAN_THREADS)

/* Inclusive scan over the block; warp_sums holds 32 words of shared memory. */
static __device__ __forceinline__ uint32_t block_scan(uint32_t v, uint32_t *warp_sums)
{
	unsigned int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
	unsigned int warps = (blockDim.x + 31) >> 5;

	for (int d = 1; d < 32; d <<= 1) {
		uint32_t o = __shfl_up_sync(0xffffffff, v, d);

		if (lane >= (unsigned int)d)
			v += o;
	}
	if (lane == 31)
		warp_sums[warp] = v;
	__syncthreads();
	if (warp == 0) {
		uint32_t s = lane < warps ? warp_sums[lane] : 0;

		for (int d = 1; d < 32; d <<= 1) {
			uint32_t o = __shfl_up_sync(0xffffffff, s, d);

			if (lane >= (unsigned int)d)
				s += o;
		}
		warp_sums[lane] = s;
	}
	__syncthreads();
	if (warp)
		v += warp_sums[warp - 1];
	return v;
}

extern "C" __global__ __launch_bounds__(SCAN_THREADS)
void scan_tiles(const uint32_t *in, uint32_t n, uint32_t *tile_sums)
{
	__shared__ uint32_t warp_sums[32];
	uint32_t base = blockIdx.x * SCAN_TILE + threadIdx.x, v = 0;

#pragma unroll
	for (int i = 0; i < SCAN_ITEMS; i++) {
		uint32_t j = base + i * SCAN_THREADS;

		if (j < n)
			v += in[j];
	}
	v = block_scan(v, warp_sums);
	if (threadIdx.x == SCAN_THREADS - 1)
		tile_sums[blockIdx.x] = v;
}

/* One block; sums becomes its exclusive scan, *total (if not NULL) the sum. */
extern "C" __global__ __launch_bounds__(SCAN_THREADS)
void scan_sums(uint32_t *sums, uint32_t n, uint32_t *total)
{
	__shared__ uint32_t warp_sums[32];
	__shared__ uint32_t carry;

	if (threadIdx.x == 0)
		carry = 0;
	__syncthreads();
	for (uint32_t base = 0; base < n; base += SCAN_TILE) {
		uint32_t local[SCAN_ITEMS], v = 0, excl;
		uint32_t j0 = base + threadIdx.x * SCAN_ITEMS;

#pragma unroll
		for (int i = 0; i < SCAN_ITEMS; i++) {
			local[i] = j0 + i < n ? sums[j0 + i] : 0;
			v += local[i];
		}
		excl = block_scan(v, warp_sums) - v + carry;
		v += excl;
#pragma unroll
		for (int i = 0; i < SCAN_ITEMS; i++) {
			if (j0 + i < n)
				sums[j0 + i] = excl;
			excl += local[i];
		}
		__syncthreads();
		if (threadIdx.x == SCAN_THREADS - 1)
			carry = v;
		__syncthreads();
	}
	if (threadIdx.x == 0 && total)
		*total = carry;
}

/* out may be in; out[n] = the sum when last is set */
extern "C" __global__ __launch_bounds__(SCAN_THREADS)
void scan_apply(const uint32_t *in, uint32_t *out, uint32_t n, const uint32_t *tile_sums, int last)
{
	__shared__ uint32_t warp_sums[32];
	uint32_t local[SCAN_ITEMS], v = 0, excl;
	uint32_t j0 = blockIdx.x * SCAN_TILE + threadIdx.x * SCAN_ITEMS;

#pragma unroll
	for (int i = 0; i < SCAN_ITEMS; i++) {
		local[i] = j0 + i < n ? in[j0 + i] : 0;
		v += local[i];
	}
	excl = block_scan(v, warp_sums) - v + tile_sums[blockIdx.x];
#pragma unroll
	for (int i = 0; i < SCAN_ITEMS; i++) {
		if (j0 + i < n)
			out[j0 + i] = excl;
		excl += local[i];
		if (last && j0 + i + 1 == n)
			out[n] = excl;
	}
}

#endif
