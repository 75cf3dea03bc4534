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
#define SORT_WARPS (SORT_THREADS / 32)
#define SORT_ITEMS (SORT_TILE / SORT_THREADS)

/* counts[digit * gridDim.x + tile] */
extern "C" __global__ __launch_bounds__(SORT_THREADS)
void sort_count(const uint32_t *keys, uint32_t n, int shift, uint32_t *counts)
{
	__shared__ uint32_t hist[SORT_DIGITS];
	uint32_t tile = blockIdx.x * SORT_TILE;
	uint32_t key[SORT_ITEMS];

	if (threadIdx.x < SORT_DIGITS)
		hist[threadIdx.x] = 0;
	__syncthreads();
	if (n - tile >= SORT_TILE) {
		const uint4 *from = (const uint4 *)(keys + tile) + threadIdx.x;

#pragma unroll
		for (int i = 0; i < SORT_ITEMS / 4; i++) {
			uint4 v = from[i * SORT_THREADS];

			key[4 * i] = v.x;
			key[4 * i + 1] = v.y;
			key[4 * i + 2] = v.z;
			key[4 * i + 3] = v.w;
		}
#pragma unroll
		for (int i = 0; i < SORT_ITEMS; i++)
			atomicAdd(&hist[key[i] >> shift & (SORT_DIGITS - 1)], 1u);
	} else {
		for (uint32_t j = tile + threadIdx.x; j < n; j += SORT_THREADS)
			atomicAdd(&hist[keys[j] >> shift & (SORT_DIGITS - 1)], 1u);
	}
	__syncthreads();
	if (threadIdx.x < SORT_DIGITS)
		counts[threadIdx.x * gridDim.x + blockIdx.x] = hist[threadIdx.x];
}

/* Lanes of the warp with the same digit. */
static __device__ __forceinline__ uint32_t sort_peers(uint32_t digit)
{
	uint32_t peers = 0xffffffff;

#pragma unroll
	for (int b = 0; b < SORT_BITS; b++) {
		bool set = digit >> b & 1;
		uint32_t vote = __ballot_sync(0xffffffff, set);

		peers &= set ? vote : ~vote;
	}
	return peers;
}

/*
 * offsets: the exclusive scan of counts.  Each warp owns a contiguous part of
 * the tile and ranks it 32 items at a time: lanes with equal digits find each
 * other by votes, so ranks follow the input order and the sort is stable.  All
 * loads are asked for before the first is needed; keys, then values, go through
 * one stage.
 */
extern "C" __global__ __launch_bounds__(SORT_THREADS, 1024 / SORT_THREADS)
void sort_scatter(const uint32_t *keys, const uint32_t *values, uint32_t n, int shift,
		  const uint32_t *offsets, uint32_t *keys_out, uint32_t *values_out)
{
	__shared__ uint16_t warp_hist[SORT_WARPS][SORT_DIGITS];
	__shared__ uint32_t digit_start[SORT_DIGITS];	/* in the tile */
	__shared__ uint32_t digit_to[SORT_DIGITS];	/* from a place in the tile to its own */
	__shared__ uint32_t stage[SORT_TILE];
	__shared__ uint32_t warp_sums[32];
	unsigned int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
	uint32_t tile = blockIdx.x * SORT_TILE;
	uint32_t first = tile + warp * (32 * SORT_ITEMS) + lane;
	uint32_t count = n - tile < SORT_TILE ? n - tile : SORT_TILE;
	uint32_t key[SORT_ITEMS], value[SORT_ITEMS], start, sum = 0;
	uint32_t at[SORT_ITEMS / 2] = {};	/* places in the tile, two to a word */
	uint32_t digit = threadIdx.x;

	/* items behind the end rank last within the tile and are not written */
#pragma unroll
	for (int i = 0; i < SORT_ITEMS; i++)
		key[i] = first + i * 32 < n ? keys[first + i * 32] : 0xffffffff;
#pragma unroll
	for (int i = 0; i < SORT_ITEMS; i++)
		value[i] = first + i * 32 < n ? values[first + i * 32] : 0;
	for (unsigned int i = threadIdx.x; i < SORT_WARPS * SORT_DIGITS; i += SORT_THREADS)
		warp_hist[i / SORT_DIGITS][i % SORT_DIGITS] = 0;
	__syncthreads();

#pragma unroll
	for (int i = 0; i < SORT_ITEMS; i++) {
		uint32_t d = first + i * 32 < n ? key[i] >> shift & (SORT_DIGITS - 1) :
						  SORT_DIGITS - 1;
		uint32_t peers = sort_peers(d), below = peers & ((1u << lane) - 1);
		uint32_t old = warp_hist[warp][d];

		at[i / 2] |= (old + __popc(below)) << (i % 2 * 16);
		__syncwarp();
		if (!below)
			warp_hist[warp][d] = (uint16_t)(old + __popc(peers));
		__syncwarp();
	}
	__syncthreads();

	/* warp_hist becomes the start of each warp's run of a digit in the tile */
	if (digit < SORT_DIGITS) {
#pragma unroll
		for (int w = 0; w < SORT_WARPS; w++) {
			uint32_t c = warp_hist[w][digit];

			warp_hist[w][digit] = (uint16_t)sum;
			sum += c;
		}
	}
	start = block_scan(sum, warp_sums) - sum;
	if (digit < SORT_DIGITS) {
		digit_start[digit] = start;
		digit_to[digit] = offsets[digit * gridDim.x + blockIdx.x] - start;
	}
	__syncthreads();

#pragma unroll
	for (int i = 0; i < SORT_ITEMS; i++) {
		uint32_t d = first + i * 32 < n ? key[i] >> shift & (SORT_DIGITS - 1) :
						  SORT_DIGITS - 1;

		at[i / 2] += (digit_start[d] + warp_hist[warp][d]) << (i % 2 * 16);
		stage[at[i / 2] >> (i % 2 * 16) & 0xffff] = key[i];
	}
	__syncthreads();
	/* from here on key[i] is the place of what is staged at the thread's i-th */
#pragma unroll
	for (int i = 0; i < SORT_ITEMS; i++) {
		uint32_t from = threadIdx.x + i * SORT_THREADS;
		uint32_t k = stage[from];

		key[i] = digit_to[k >> shift & (SORT_DIGITS - 1)] + from;
		if (from < count)
			keys_out[key[i]] = k;
	}
	__syncthreads();
#pragma unroll
	for (int i = 0; i < SORT_ITEMS; i++)
		stage[at[i / 2] >> (i % 2 * 16) & 0xffff] = value[i];
	__syncthreads();
#pragma unroll
	for (int i = 0; i < SORT_ITEMS; i++) {
		uint32_t from = threadIdx.x + i * SORT_THREADS;

		if (from < count)
			values_out[key[i]] = stage[from];
	}
}

#endif
