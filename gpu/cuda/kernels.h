/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * kernels.h - every kernel the host launches: enumerator and name, by module
 */
#ifndef CUZK_GPU_CUDA_KERNELS_H
#define CUZK_GPU_CUDA_KERNELS_H

#define CUDA_KERNELS_MSM(X)		\
	X(scan_tiles)			\
	X(scan_sums)			\
	X(scan_apply)			\
	X(sort_count)			\
	X(sort_scatter)			\
	X(msm_digits)			\
	X(msm_starts)			\
	X(msm_round_pairs)		\
	X(msm_join_pairs)		\
	X(msm_neighbours)		\
	X(msm_round_counts_g1)		\
	X(msm_add_forward_g1)		\
	X(msm_invert_g1)		\
	X(msm_add_backward_g1)		\
	X(msm_evens_g1)			\
	X(msm_buckets_g1)		\
	X(msm_fold_g1)			\
	X(msm_round_counts_g2)		\
	X(msm_add_forward_g2)		\
	X(msm_invert_g2)		\
	X(msm_add_backward_g2)		\
	X(msm_evens_g2)			\
	X(msm_buckets_g2)		\
	X(msm_fold_g2)

#define CUDA_KERNELS_FR(X)		\
	X(ntt_dif_columns)		\
	X(ntt_dif_rows)			\
	X(ntt_dit_columns)		\
	X(ntt_dit_rows)			\
	X(ntt_dif_stage)		\
	X(ntt_dit_stage)		\
	X(ntt_roots)			\
	X(ntt_direct)			\
	X(ntt_powers)			\
	X(fr_product)			\
	X(fr_product_scalars)		\
	X(fr_scale_reversed)		\
	X(fr_reverse)			\
	X(fr_powers)			\
	X(fr_quotient_powers)		\
	X(fr_quotient_odd)

#define CUDA_KERNELS_CS(X)		\
	X(eval_rows)			\
	X(eval_tail)			\
	X(eval_ports)			\
	X(select_count)			\
	X(select_fill)			\
	X(select_bounds)	\
	X(peak_fr)			\
	X(peak_fp)

#define CUDA_KERNELS_POINTS(X)		\
	X(points_load_g1)		\
	X(points_load_g2)		\
	X(points_encode_g1)		\
	X(points_encode_g2)		\
	X(points_gather)		\
	X(base_mul_g1)			\
	X(base_mul_g2)			\
	X(transform_load_g1)		\
	X(transform_stage_g1)		\
	X(transform_store_g1)

#define CUDA_KERNELS(X)			\
	CUDA_KERNELS_MSM(X)		\
	CUDA_KERNELS_FR(X)		\
	CUDA_KERNELS_CS(X)		\
	CUDA_KERNELS_POINTS(X)

enum cuda_kernel {
#define X(name) KERNEL_##name,
	CUDA_KERNELS(X)
#undef X
	CUDA_KERNEL_COUNT
};

#endif
