/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* g2_impl.h - G2: the twist over Fp2 and its endomorphism psi */
#define G(name) g2_##name
#define F(name) fp2_##name
#define FE struct fp2
#define POINT struct g2
#define AFFINE struct g2_affine
#define CURVE_B (&FP2_4_4)

#include "lib/bls12_381/curve_impl.h"

/*
 * psi: untwist, Frobenius, twist.  On G2 it is multiplication by z.
 * (Galbraith, Scott, "Exponentiation in pairing-friendly groups using
 * homomorphisms", 2008.)
 */
static void g2_psi(struct g2_affine *r, const struct g2_affine *a)
{
	fp2_conj(&r->x, &a->x);
	fp2_conj(&r->y, &a->y);
	fp2_mul(&r->x, &r->x, &PSI_X);
	fp2_mul(&r->y, &r->y, &PSI_Y);
}

/* k mod r = sum of digits[i] |z|^i */
static void split_z(uint64_t digits[4], const struct scalar *scalar)
{
	uint64_t k[4];
	int i, j;

	scalar_mod_r(k, scalar);
	for (i = 0; i < 3; i++) {
		uint64_t rem = 0;

		for (j = 3 - i; j >= 0; j--) {
			u128 x = (u128)rem << 64 | k[j];

			k[j] = x / BLS_ABS_Z;
			rem = x % BLS_ABS_Z;
		}
		digits[i] = rem;
	}
	digits[3] = k[0];
}

/* k = sum of d_i |z|^i, and |z|^i a = (-psi)^i (a): four scalars of 64 bits */
void g2_mul_vartime(struct g2 *r, const struct g2_affine *a, const struct scalar *k)
{
	struct g2_affine tables[4][8];
	struct wnaf_digit digits[4][27];
	uint64_t d[4];
	int n[4], i, s;

	if (g2_affine_is_infinity(a)) {
		g2_set_infinity(r);
		return;
	}
	split_z(d, k);
	g2_odd_table(tables[0], a);
	for (s = 0; s < 4; s++) {
		n[s] = wnaf(digits[s], &d[s], 1, 5);
		for (i = 0; s && i < 8; i++) {
			g2_psi(&tables[s][i], &tables[s - 1][i]);
			fp2_neg(&tables[s][i].y, &tables[s][i].y);
		}
	}
	g2_strauss(r, (const struct g2_affine (*)[8])tables,
		   (const struct wnaf_digit (*)[27])digits, n, 4);
}

/*
 * psi^2 - (z + 1) psi + p = 0 on the whole twist, so psi(a) = z a implies
 * (p - z) a = 0; p - z is r times the cofactor of G1, which is prime to the
 * cofactor of G2.  (Scott 2021, as for G1.)
 */
bool g2_in_subgroup(const struct g2_affine *a)
{
	struct g2_affine psi;
	struct g2 t;

	if (g2_affine_is_infinity(a))
		return true;
	g2_affine_mul_abs_z(&t, a);
	if (g2_is_infinity(&t))
		return false;
	g2_psi(&psi, a);
	fp2_neg(&psi.y, &psi.y);
	return g2_equal_affine(&t, &psi);
}

#undef G
#undef F
#undef FE
#undef POINT
#undef AFFINE
#undef CURVE_B
