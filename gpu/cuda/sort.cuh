/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * sort.cuh - stable radix sort of (key, value) pairs of 32-bit words
 *
 * Least significant digit first, 8 bits a pass.  A pass is: sort_count (a
 * histogram per tile, stored digit-major), an exclusive scan of all of them
 * (scan.cuh), sort_scatter.  A tile is staged in shared memory in sorted order
 * before it is written, so that a digit's run leaves in coalesced stores.
 */
#ifndef CUZK_GPU_CUDA_SORT_CUH
#define CUZK_GPU_CUDA_SORT_CUH

#include "gpu/cuda/scan.cuh"

#define SORT_BITS 8
#define SORT_DIGITS (1 << SORT_BITS)
#define SORT_THREADS 256
#define SORT_WARPS (SORT_THREADS / 32)
#define SORT_ITEMS 16
#define SORT_TILE (SORT_THREADS * SORT_ITEMS)

/* counts[digit * gridDim.x + tile] */
extern "C" __global__ __launch_bounds__(SORT_THREADS)
void sort_count(const uint32_t *keys, uint32_t n, int shift, uint32_t *counts)
{
	__shared__ uint32_t hist[SORT_DIGITS];
	uint32_t base = blockIdx.x * SORT_TILE + threadIdx.x;

	hist[threadIdx.x] = 0;
	__syncthreads();
#pragma unroll
	for (int i = 0; i < SORT_ITEMS; i++) {
		uint32_t j = base + i * SORT_THREADS;

		if (j < n)
			atomicAdd(&hist[keys[j] >> shift & (SORT_DIGITS - 1)], 1u);
	}
	__syncthreads();
	counts[threadIdx.x * gridDim.x + blockIdx.x] = hist[threadIdx.x];
}

/*
 * offsets: the exclusive scan of counts.  Each warp owns a contiguous part of
 * the tile and ranks it 32 items at a time: lanes with equal digits find each
 * other by match, so ranks follow the input order and the sort is stable.
 */
extern "C" __global__ __launch_bounds__(SORT_THREADS)
void sort_scatter(const uint32_t *keys, const uint32_t *values, uint32_t n, int shift,
		  const uint32_t *offsets, uint32_t *keys_out, uint32_t *values_out)
{
	__shared__ uint32_t warp_hist[SORT_WARPS][SORT_DIGITS];
	__shared__ uint32_t digit_start[SORT_DIGITS];	/* in the tile */
	__shared__ uint32_t digit_global[SORT_DIGITS];
	__shared__ uint32_t stage_keys[SORT_TILE], stage_values[SORT_TILE];
	__shared__ uint32_t warp_sums[32];
	unsigned int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
	uint32_t tile = blockIdx.x * SORT_TILE;
	uint32_t first = tile + warp * (32 * SORT_ITEMS) + lane;
	uint32_t count = n - tile < SORT_TILE ? n - tile : SORT_TILE;
	uint32_t key[SORT_ITEMS], rank[SORT_ITEMS];

#pragma unroll
	for (int w = 0; w < SORT_WARPS; w++)
		warp_hist[w][threadIdx.x] = 0;
	__syncthreads();

#pragma unroll
	for (int i = 0; i < SORT_ITEMS; i++) {
		uint32_t j = first + i * 32;
		/* items behind the end rank last within the tile and are not written */
		uint32_t digit, peers, old = 0;
		int leader;

		key[i] = j < n ? keys[j] : 0xffffffff;
		digit = j < n ? key[i] >> shift & (SORT_DIGITS - 1) : SORT_DIGITS - 1;
		peers = __match_any_sync(0xffffffff, digit);
		leader = __ffs((int)peers) - 1;
		if (lane == (unsigned int)leader)
			old = warp_hist[warp][digit];
		old = __shfl_sync(0xffffffff, old, leader);
		rank[i] = old + __popc(peers & ((1u << lane) - 1));
		__syncwarp();
		if (lane == (unsigned int)leader)
			warp_hist[warp][digit] = old + __popc(peers);
		__syncwarp();
	}
	__syncthreads();

	/* warp_hist becomes the start of each warp's run of a digit in the tile */
	{
		uint32_t sum = 0, start;

#pragma unroll
		for (int w = 0; w < SORT_WARPS; w++) {
			uint32_t c = warp_hist[w][threadIdx.x];

			warp_hist[w][threadIdx.x] = sum;
			sum += c;
		}
		start = block_scan(sum, warp_sums) - sum;
		digit_start[threadIdx.x] = start;
		digit_global[threadIdx.x] = offsets[threadIdx.x * gridDim.x + blockIdx.x];
	}
	__syncthreads();

#pragma unroll
	for (int i = 0; i < SORT_ITEMS; i++) {
		uint32_t j = first + i * 32;
		uint32_t digit, at;

		digit = j < n ? key[i] >> shift & (SORT_DIGITS - 1) : SORT_DIGITS - 1;
		at = digit_start[digit] + warp_hist[warp][digit] + rank[i];
		stage_keys[at] = key[i];
		if (j < n)
			stage_values[at] = values[j];
	}
	__syncthreads();

#pragma unroll
	for (int i = 0; i < SORT_ITEMS; i++) {
		uint32_t at = threadIdx.x + i * SORT_THREADS;

		if (at < count) {
			uint32_t k = stage_keys[at];
			uint32_t digit = k >> shift & (SORT_DIGITS - 1);
			uint32_t to = digit_global[digit] + at - digit_start[digit];

			keys_out[to] = k;
			values_out[to] = stage_values[at];
		}
	}
}

#endif
