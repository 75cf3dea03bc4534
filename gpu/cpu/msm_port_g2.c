/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* msm_port_g2.c - the portable kernel of G2 */
#include <string.h>

#include "gpu/cpu/msm_impl.h"
#include "lib/bls12_381/encoding.h"

#define F(x) fp2_##x
#define FE struct fp2
#define G(x) g2_##x
#define AFFINE struct g2_affine
#define ENCODED_SIZE G2_UNCOMPRESSED_SIZE
#define NAME(x) g2_port_##x

/* Flags and coordinates only: whether it is on the curve is asked for apart. */
static bool g2_port_from_zcash(AFFINE *r, const uint8_t *in)
{
	uint8_t first = in[0];
	size_t i;

	if (first & 0x40) {
		if (first != 0x40)
			return false;
		for (i = 1; i < ENCODED_SIZE; i++)
			if (in[i])
				return false;
		memset(r, 0, sizeof(*r));
		return true;
	}
	if (first & 0xe0)
		return false;
	return fp_from_bytes_be(&r->x.c1, in) == 0 && fp_from_bytes_be(&r->x.c0, in + 48) == 0 &&
	       fp_from_bytes_be(&r->y.c1, in + 96) == 0 && fp_from_bytes_be(&r->y.c0, in + 144) == 0;
}

#include "gpu/cpu/msm_port_impl.h"

const struct msm_kernel msm_port_g2 = {
	.point_size = sizeof(AFFINE),
	.sum_size = sizeof(AFFINE),
	.scratch_size = sizeof(struct work),
	.best_lists = 1024,
	.sum_lists = g2_port_sum_lists,
	.add_pairs = g2_port_add_pairs,
	.clear = g2_port_clear,
	.sum_get = g2_port_sum_get,
	.sum_set = g2_port_sum_set,
	.point_get = g2_port_point_get,
	.points_clear = g2_port_clear,
	.points_decode = g2_port_points_decode,
	.points_on_curve = g2_port_points_on_curve,
	.points_from_sums = g2_port_points_from_sums,
	.sums_to_zcash = g2_port_sums_to_zcash,
};

static void set_infinity(void *r)
{
	g2_set_infinity(r);
}

static void double_point(void *r, const void *a)
{
	g2_double(r, a);
}

static void add(void *r, const void *a, const void *b)
{
	g2_add(r, a, b);
}

static void add_affine(void *r, const void *a, const void *b)
{
	g2_add_affine(r, a, b);
}

static void to_affine(void *r, const void *a)
{
	g2_to_affine(r, a);
}

static bool in_subgroup(const void *a)
{
	return g2_in_subgroup(a);
}

const struct msm_curve msm_curve_g2 = {
	.affine_size = sizeof(AFFINE),
	.set_infinity = set_infinity,
	.double_ = double_point,
	.add = add,
	.add_affine = add_affine,
	.to_affine = to_affine,
	.in_subgroup = in_subgroup,
};
