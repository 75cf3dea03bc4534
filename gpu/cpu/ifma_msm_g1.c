/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* ifma_msm_g1.c - the fast kernel of G1 */
#include <string.h>

#include "gpu/cpu/msm_kernel.h"

#define ELEMENTS 1
#define NAME(x) g1_##x

#include "gpu/cpu/ifma_el.h"
#include "gpu/cpu/ifma_msm_impl.h"
#include "gpu/cpu/ifma_points_impl.h"

static const struct msm_kernel kernel = {
	.point_size = POINT_SIZE,
	.sum_size = SUM_SIZE,
	.scratch_size = sizeof(struct work),
	.best_lists = 2048,
	.sum_lists = g1_sum_lists,
	.add_pairs = g1_add_pairs,
	.clear = g1_clear,
	.sum_get = g1_sum_get,
	.sum_set = g1_sum_set,
	.point_get = g1_point_get,
	.points_clear = g1_points_clear,
	.points_decode = g1_points_decode,
	.points_on_curve = g1_points_on_curve,
	.points_from_sums = g1_points_from_sums,
	.sums_to_zcash = g1_sums_to_zcash,
};

const struct msm_kernel *msm_ifma_g1(void)
{
	return &kernel;
}
