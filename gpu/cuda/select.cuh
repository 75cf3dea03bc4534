/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * select.cuh - which points a witness asks for, and with what scalars
 *
 * The aux variables of a sum are those of a density (NULL: all), and their
 * points follow each other.  A thread looks at 32 variables: bits that are 1
 * become point indices, full values become index and scalar.  Three prefix
 * sums over the words (points, ones, full values) say where.
 */
#ifndef CUZK_GPU_CUDA_SELECT_CUH
#define CUZK_GPU_CUDA_SELECT_CUH

#include "gpu/cuda/evaluate.cuh"

static __device__ __forceinline__ uint32_t select_word(const uint32_t *density, uint32_t i,
						       uint32_t n_aux)
{
	uint32_t left = n_aux - 32 * i;

	if (density)
		return density[i];
	return left < 32 ? (1u << left) - 1 : 0xffffffff;
}

extern "C" __global__ __launch_bounds__(256)
void select_count(const uint32_t *density, const uint32_t *bits, const uint32_t *full_map,
		  uint32_t n_aux, uint32_t n_words, uint32_t *points, uint32_t *ones,
		  uint32_t *fulls)
{
	uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i >= n_words)
		return;
	uint32_t dense = select_word(density, i, n_aux);

	points[i] = __popc(dense);
	ones[i] = __popc(dense & bits[i] & ~full_map[i]);
	fulls[i] = __popc(dense & full_map[i]);
}

/*
 * points, ones, fulls: the prefix sums.  first_point is the index of the first
 * variable's point, first_scalar that of its place among the scalars.
 */
extern "C" __global__ __launch_bounds__(256)
void select_fill(const uint32_t *density, const uint32_t *bits, const uint32_t *full_map,
		 const uint32_t *full_rank, const fr_t *full, uint32_t n_aux, uint32_t n_words,
		 const uint32_t *points, const uint32_t *ones, const uint32_t *fulls,
		 uint32_t first_point, uint32_t first_scalar, uint32_t *one_points, fr_t *scalars,
		 uint32_t *scalar_points)
{
	uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i >= n_words)
		return;
	uint32_t dense = select_word(density, i, n_aux), map = full_map[i];
	uint32_t word = dense & bits[i] & ~map, base = first_point + points[i], at = ones[i];

	for (; word; word &= word - 1)
		one_points[at++] = base + __popc(dense & ((word & -word) - 1));
	word = dense & map;
	if (!word)
		return;
	uint32_t rank = full_rank_of(full_map, full_rank, 32 * i);

	at = first_scalar + fulls[i];
	for (; word; word &= word - 1) {
		uint32_t below = (word & -word) - 1;

		scalar_points[at] = base + __popc(dense & below);
		store_fr(&scalars[at++], fe_canonical(load_fr(&full[rank + __popc(map & below)])));
	}
}

/* bounds[k] = how many of n ascending indices are below (k + 1) step, k < count */
extern "C" __global__ __launch_bounds__(256)
void select_bounds(const uint32_t *index, uint32_t n, uint64_t step, uint32_t count,
		   uint32_t *bounds)
{
	uint32_t k = blockIdx.x * blockDim.x + threadIdx.x, lo = 0, hi = n;

	if (k >= count)
		return;
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (index[mid] < (k + 1) * step)
			lo = mid + 1;
		else
			hi = mid;
	}
	bounds[k] = lo;
}

#endif
