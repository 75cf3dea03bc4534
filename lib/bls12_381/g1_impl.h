/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* g1_impl.h - G1: the curve over Fp and its endomorphism (x, y) -> (beta x, y) */
#define G(name) g1_##name
#define F(name) fp_##name
#define FE struct fp
#define POINT struct g1
#define AFFINE struct g1_affine
#define CURVE_B (&FP_4)

#include "lib/bls12_381/curve_impl.h"

void g1_mul_vartime(struct g1 *r, const struct g1_affine *a, const struct scalar *k)
{
	struct g1_affine tables[2][8];
	int8_t digits[2][WNAF_MAX];
	uint64_t k0[2], k1[2];
	int i;

	if (g1_affine_is_infinity(a)) {
		g1_set_infinity(r);
		return;
	}
	split_lambda(k0, k1, k);
	wnaf5(digits[0], k0, 2);
	wnaf5(digits[1], k1, 2);
	g1_odd_table(tables[0], a);
	for (i = 0; i < 8; i++) {
		fp_mul(&tables[1][i].x, &tables[0][i].x, &FP_BETA);
		tables[1][i].y = tables[0][i].y;
	}
	g1_strauss(r, (const struct g1_affine (*)[8])tables, (const int8_t (*)[WNAF_MAX])digits, 2);
}

static void g1_mul_abs_z(struct g1 *r, const struct g1 *a)
{
	struct g1 t = *a, b = *a;
	int i;

	for (i = 62; i >= 0; i--) {
		g1_double(&t, &t);
		if (BLS_ABS_Z >> i & 1)
			g1_add(&t, &t, &b);
	}
	*r = t;
}

/*
 * phi(x, y) = (beta^2 x, y) satisfies phi^2 + phi + 1 = 0 on the whole curve,
 * so phi(a) = -z^2 a implies (z^4 - z^2 + 1) a = r a = 0; on G1 it holds.
 * (Scott, "A note on group membership tests for G1, G2 and GT on BLS
 * pairing-friendly curves", 2021.)
 */
bool g1_in_subgroup(const struct g1_affine *a)
{
	struct g1_affine phi;
	struct g1 t;

	if (g1_affine_is_infinity(a))
		return true;
	g1_affine_mul_abs_z(&t, a);
	g1_mul_abs_z(&t, &t);
	if (g1_is_infinity(&t))
		return false;
	fp_mul(&phi.x, &a->x, &FP_BETA2);
	fp_neg(&phi.y, &a->y);
	return g1_equal_affine(&t, &phi);
}

#undef G
#undef F
#undef FE
#undef POINT
#undef AFFINE
#undef CURVE_B
