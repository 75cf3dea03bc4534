/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* ifma_msm_g2.c - the fast kernel of G2 */
#include <string.h>

#include "gpu/cpu/msm_kernel.h"

#define ELEMENTS 2
#define NAME(x) g2_##x

#include "gpu/cpu/ifma_el.h"
#include "gpu/cpu/ifma_msm_impl.h"
#include "gpu/cpu/ifma_points_impl.h"

static const struct msm_kernel kernel = {
	.point_size = POINT_SIZE,
	.sum_size = SUM_SIZE,
	.scratch_size = sizeof(struct work),
	.best_lists = 1024,
	.sum_lists = g2_sum_lists,
	.add_pairs = g2_add_pairs,
	.clear = g2_clear,
	.sum_get = g2_sum_get,
	.sum_set = g2_sum_set,
	.point_get = g2_point_get,
	.points_clear = g2_points_clear,
	.points_decode = g2_points_decode,
	.points_on_curve = g2_points_on_curve,
	.points_from_sums = g2_points_from_sums,
	.sums_to_zcash = g2_sums_to_zcash,
};

const struct msm_kernel *msm_ifma_g2(void)
{
	return &kernel;
}
