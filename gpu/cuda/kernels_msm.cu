/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* kernels_msm.cu - entry points of the multi-scalar multiplication, both groups */
#include "gpu/cuda/msm.cuh"
#include "gpu/cuda/scan.cuh"
#include "gpu/cuda/sort.cuh"

/* add_blocks: of the additions that a multiprocessor is to hold */
#define MSM_KERNELS(g, F, add_blocks)							\
extern "C" __global__ __launch_bounds__(256)						\
void msm_round_counts_##g(const uint32_t *starts, uint32_t n_keys,			\
		struct point_list<F> points, const uint32_t *values, const uint8_t *left_before, \
		uint8_t *left_after, affine_at<F> *buckets, uint32_t *counts)		\
{											\
	msm_round_counts_body<F>(starts, n_keys, points, values, left_before, left_after, \
				 buckets, counts);					\
}											\
extern "C" __global__ __launch_bounds__(ADD_THREADS)						\
void msm_add_forward_##g(struct point_list<F> points, const uint32_t *values,		\
		const uint32_t *pairs, struct msm_leavings<F> leavings, uint32_t n_slots, \
		uint32_t n_threads, stored<F> *prefix, stored<F> *totals)		\
{											\
	msm_add_forward_body<F>(points, values, pairs, leavings, n_slots, n_threads,	\
				prefix, totals);					\
}											\
extern "C" __global__ __launch_bounds__(ADD_THREADS)						\
void msm_invert_##g(stored<F> *totals, uint32_t n, uint32_t n_threads,			\
		stored<F> *scratch)							\
{											\
	msm_invert_body<F>(totals, n, n_threads, scratch);				\
}											\
extern "C" __global__ __launch_bounds__(ADD_THREADS, add_blocks)				\
void msm_add_backward_##g(struct point_list<F> points, const uint32_t *values,		\
		const uint32_t *pairs, struct msm_leavings<F> leavings, uint32_t n_slots, \
		uint32_t n_threads, const stored<F> *prefix, const stored<F> *totals,	\
		struct point_list<F> out)						\
{											\
	msm_add_backward_body<F>(points, values, pairs, leavings, n_slots, n_threads,	\
				 prefix, totals, out);					\
}											\
extern "C" __global__ __launch_bounds__(ADD_THREADS)						\
void msm_evens_##g(struct point_list<F> points, uint32_t n, struct point_list<F> out)	\
{											\
	msm_evens_body<F>(points, n, out);						\
}											\
extern "C" __global__ __launch_bounds__(ADD_THREADS, 3)				\
void msm_buckets_##g(const affine_at<F> *buckets, uint32_t n_buckets, uint32_t n_windows, \
		uint32_t piece, xyzz_at<F> *sums, xyzz_at<F> *runs)			\
{											\
	msm_buckets_body<F>(buckets, n_buckets, n_windows, piece, sums, runs);		\
}											\
extern "C" __global__ __launch_bounds__(ADD_THREADS, 3)				\
void msm_fold_##g(const xyzz_at<F> *sums, const xyzz_at<F> *runs,			\
		const xyzz_at<F> *shifts,						\
		uint32_t n, int log_piece, uint32_t n_rows, xyzz_at<F> *sums_out,	\
		xyzz_at<F> *runs_out, xyzz_at<F> *shifts_out)				\
{											\
	msm_fold_body<F>(sums, runs, shifts, n, log_piece, n_rows, sums_out, runs_out,	\
			 shifts_out);							\
}

MSM_KERNELS(g1, fp_t, 4)
MSM_KERNELS(g2, fp2_half, 3)
