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
	struct wnaf_digit digits[2][27];
	uint64_t k0[2], k1[2];
	int n[2], i;

	if (g1_affine_is_infinity(a)) {
		g1_set_infinity(r);
		return;
	}
	split_lambda(k0, k1, k);
	n[0] = wnaf(digits[0], k0, 2, 5);
	n[1] = wnaf(digits[1], k1, 2, 5);
	g1_odd_table(tables[0], a);
	for (i = 0; i < 8; i++) {
		fp_mul(&tables[1][i].x, &tables[0][i].x, &FP_BETA);
		tables[1][i].y = tables[0][i].y;
	}
	g1_strauss(r, (const struct g1_affine (*)[8])tables,
		   (const struct wnaf_digit (*)[27])digits, n, 2);
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

/* Where in pts the pairs of a round are, and what is left of each run. */
static size_t sum_runs_pairs(const uint32_t *len, size_t n_runs, uint32_t *at)
{
	size_t i, pos = 0, n = 0;
	uint32_t k;

	for (i = 0; i < n_runs; i++) {
		for (k = 0; k + 1 < len[i]; k += 2)
			at[n++] = pos + k;
		pos += len[i];
	}
	return n;
}

/* The slope's denominator; 0 where the sum needs none: infinity is in it or is it. */
static void affine_denominator(struct fp *den, const struct g1_affine *a, const struct g1_affine *b)
{
	if (g1_affine_is_infinity(a) || g1_affine_is_infinity(b)) {
		*den = fp_zero;
		return;
	}
	fp_sub(den, &b->x, &a->x);
	if (fp_is_zero(den))
		fp_add(den, &a->y, &b->y);	/* 2y, or 0 for opposite points */
}

/* a += b by the inverse of the denominator */
static void affine_finish(struct g1_affine *a, const struct g1_affine *b, const struct fp *inv)
{
	struct fp s, t;

	if (fp_equal(&a->x, &b->x)) {
		fp_sqr(&s, &a->x);		/* 3 x^2 */
		fp_double(&t, &s);
		fp_add(&s, &s, &t);
	} else {
		fp_sub(&s, &b->y, &a->y);
	}
	fp_mul(&s, &s, inv);
	fp_sqr(&t, &s);
	fp_sub(&t, &t, &a->x);
	fp_sub(&t, &t, &b->x);
	fp_sub(&a->x, &a->x, &t);
	fp_mul(&a->x, &a->x, &s);
	fp_sub(&a->y, &a->x, &a->y);
	a->x = t;
}

/*
 * Each round adds neighbours in affine coordinates, 5 multiplications and a
 * squaring a sum, with one inversion for all of them.
 */
void g1_sum_runs(struct g1_affine *pts, uint32_t *len, size_t n_runs, struct fp *tmp, uint32_t *at)
{
	size_t i, n, in, out;

	while ((n = sum_runs_pairs(len, n_runs, at))) {
		struct fp acc = fp_one, inv, den;

		for (i = 0; i < n; i++) {
			affine_denominator(&den, &pts[at[i]], &pts[at[i] + 1]);
			tmp[2 * i] = acc;
			tmp[2 * i + 1] = den;
			if (!fp_is_zero(&den))
				fp_mul(&acc, &acc, &den);
		}
		fp_inv_vartime(&acc, &acc);
		for (i = n; i-- > 0;) {
			struct g1_affine *a = &pts[at[i]], *b = a + 1;

			if (fp_is_zero(&tmp[2 * i + 1])) {
				if (g1_affine_is_infinity(a))
					*a = *b;
				else if (!g1_affine_is_infinity(b))
					*a = (struct g1_affine){ fp_zero, fp_zero };
				continue;
			}
			fp_mul(&inv, &acc, &tmp[2 * i]);
			fp_mul(&acc, &acc, &tmp[2 * i + 1]);
			affine_finish(a, b, &inv);
		}
		for (i = in = out = 0; i < n_runs; i++) {
			uint32_t k;

			for (k = 0; k < len[i]; k += 2)
				pts[out++] = pts[in + k];
			in += len[i];
			len[i] = (len[i] + 1) / 2;
		}
	}
}

#undef G
#undef F
#undef FE
#undef POINT
#undef AFFINE
#undef CURVE_B
