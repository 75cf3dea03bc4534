/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * msm_kernel.h - what a path does for a group: many affine additions at once
 *
 * A sum is a point in the kernel's own form, sum_size bytes at a multiple of
 * 64.  All functions take any points of the curve: equal, opposite, infinity.
 */
#ifndef CUZK_GPU_CPU_MSM_KERNEL_H
#define CUZK_GPU_CPU_MSM_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpu/cpu/msm.h"

/* Buckets in a block. */
#define MSM_SLOTS 4096
/* The most lists that a call of sum_lists takes. */
#define MSM_LISTS 2048
#define MSM_NEGATIVE 0x80000000u

/*
 * Lists of points: element j of list s is entry[pos[s] + j * step], a point's
 * index, with MSM_NEGATIVE set where its negative is meant.
 */
struct msm_lists {
	const uint32_t *entry;
	const uint32_t *pos;
	const uint32_t *count;	/* not 0, descending */
	const uint32_t *dest;	/* where in out the sum goes */
	size_t n;		/* lists, at most MSM_LISTS */
	size_t step;
};

struct msm_kernel {
	size_t point_size;	/* of a set's points */
	size_t sum_size;
	size_t scratch_size;	/* for one thread, 64-byte aligned */
	size_t best_lists;	/* for a call of sum_lists: their sums stay in the cache */

	/* out[dest[s]] = the sum of list s */
	void (*sum_lists)(void *scratch, const void *points, const struct msm_lists *lists,
			  void *out);
	/*
	 * dst[i] = src[a[i]] + src[b[i]], i < n; a and b NULL: src[2i] + src[2i+1].
	 * dst and src do not overlap.
	 */
	void (*add_pairs)(void *scratch, void *dst, const void *src, const uint32_t *a,
			  const uint32_t *b, size_t n);
	/* n sums become infinity */
	void (*clear)(void *out, size_t n);
	/* out: struct g1_affine or g2_affine */
	void (*sum_get)(const void *sum, void *out);
	void (*sum_set)(void *sum, const void *affine);
	/* out: struct g1_affine or g2_affine; false for infinity */
	bool (*point_get)(const void *point, void *out);
	/* n points become infinity */
	void (*points_clear)(void *points, size_t n);
	/*
	 * Returns how many were decoded before the first with wrong flags or a
	 * coordinate that is not below p: n when all were good.
	 */
	size_t (*points_decode)(void *points, const void *src, size_t n,
				enum msm_encoding encoding);
	/* How many points lie on the curve, or are infinity, before the first that does not. */
	size_t (*points_on_curve)(const void *points, size_t n);
	void (*points_from_sums)(void *points, const void *sums, size_t n);
	/* zcash bytes of n sums */
	void (*sums_to_zcash)(uint8_t *out, const void *sums, size_t n);
};

/* Kernels of the portable path, and of the fast one (NULL where it is not built). */
extern const struct msm_kernel msm_port_g1, msm_port_g2;
const struct msm_kernel *msm_ifma_g1(void);
const struct msm_kernel *msm_ifma_g2(void);

#endif
