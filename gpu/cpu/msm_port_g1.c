/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* msm_port_g1.c - the portable kernel of G1 */
#include <string.h>

#include "gpu/cpu/msm_impl.h"
#include "lib/bls12_381/encoding.h"

#define F(x) fp_##x
#define FE struct fp
#define G(x) g1_##x
#define AFFINE struct g1_affine
#define ENCODED_SIZE G1_UNCOMPRESSED_SIZE
#define NAME(x) g1_port_##x

/* Flags and coordinates only: whether it is on the curve is asked for apart. */
static bool g1_port_from_zcash(AFFINE *r, const uint8_t *in)
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
	return fp_from_bytes_be(&r->x, in) == 0 && fp_from_bytes_be(&r->y, in + 48) == 0;
}

#include "gpu/cpu/msm_port_impl.h"

const struct msm_kernel msm_port_g1 = {
	.point_size = sizeof(AFFINE),
	.sum_size = sizeof(AFFINE),
	.scratch_size = sizeof(struct work),
	.best_lists = 2048,
	.sum_lists = g1_port_sum_lists,
	.add_pairs = g1_port_add_pairs,
	.clear = g1_port_clear,
	.sum_get = g1_port_sum_get,
	.sum_set = g1_port_sum_set,
	.point_get = g1_port_point_get,
	.points_clear = g1_port_clear,
	.points_decode = g1_port_points_decode,
	.points_on_curve = g1_port_points_on_curve,
	.points_from_sums = g1_port_points_from_sums,
	.sums_to_zcash = g1_port_sums_to_zcash,
};

static void set_infinity(void *r)
{
	g1_set_infinity(r);
}

static void double_point(void *r, const void *a)
{
	g1_double(r, a);
}

static void add(void *r, const void *a, const void *b)
{
	g1_add(r, a, b);
}

static void add_affine(void *r, const void *a, const void *b)
{
	g1_add_affine(r, a, b);
}

static void to_affine(void *r, const void *a)
{
	g1_to_affine(r, a);
}

static bool in_subgroup(const void *a)
{
	return g1_in_subgroup(a);
}

const struct msm_curve msm_curve_g1 = {
	.affine_size = sizeof(AFFINE),
	.set_infinity = set_infinity,
	.double_ = double_point,
	.add = add,
	.add_affine = add_affine,
	.to_affine = to_affine,
	.in_subgroup = in_subgroup,
};
