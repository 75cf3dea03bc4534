/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * fp12.h - the extension of degree 12 that pairings take values in
 *
 * Fp6 = Fp2[v] / (v^3 - xi), Fp12 = Fp6[w] / (w^2 - v), xi = 1 + u.
 * Representations are those of fp.h.  Any output may be any input.
 */
#ifndef CUZK_BLS12_381_FP12_H
#define CUZK_BLS12_381_FP12_H

#include "lib/bls12_381/fp.h"

struct fp6 {
	struct fp2 c0, c1, c2;
};

struct fp12 {
	struct fp6 c0, c1;
};

extern const struct fp12 fp12_one;

static inline bool fp6_equal(const struct fp6 *a, const struct fp6 *b)
{
	return fp2_equal(&a->c0, &b->c0) && fp2_equal(&a->c1, &b->c1) && fp2_equal(&a->c2, &b->c2);
}

static inline bool fp12_equal(const struct fp12 *a, const struct fp12 *b)
{
	return fp6_equal(&a->c0, &b->c0) && fp6_equal(&a->c1, &b->c1);
}

static inline bool fp12_is_one(const struct fp12 *a)
{
	return fp12_equal(a, &fp12_one);
}

void fp12_mul(struct fp12 *r, const struct fp12 *a, const struct fp12 *b);
void fp12_sqr(struct fp12 *r, const struct fp12 *a);
void fp12_inv_vartime(struct fp12 *r, const struct fp12 *a);	/* 0 for 0 */
void fp12_conj(struct fp12 *r, const struct fp12 *a);	/* a^(p^6); 1/a after final_exp */
void fp12_frobenius(struct fp12 *r, const struct fp12 *a);	/* a^p */
void fp12_frobenius2(struct fp12 *r, const struct fp12 *a);	/* a^(p^2) */
/* a^2 and a^|z| for a with a^(p^4 - p^2 + 1) = 1 only, as final_exp's outcomes are */
void fp12_cyclotomic_sqr(struct fp12 *r, const struct fp12 *a);
void fp12_cyclotomic_exp_abs_z(struct fp12 *r, const struct fp12 *a);

#endif
