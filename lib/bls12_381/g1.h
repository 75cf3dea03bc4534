/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * g1.h - E: y^2 = x^3 + 4 over Fp
 *
 * Affine: (0, 0) is infinity.  Jacobian: (X/Z^2, Y/Z^3), Z = 0 is infinity.
 */
#ifndef CUZK_BLS12_381_G1_H
#define CUZK_BLS12_381_G1_H

#include "lib/bls12_381/fp.h"
#include "lib/bls12_381/fr.h"

struct g1_affine {
	struct fp x, y;
};

struct g1 {
	struct fp x, y, z;
};

extern const struct g1_affine G1_GENERATOR;

static inline bool g1_affine_is_infinity(const struct g1_affine *a)
{
	return fp_is_zero(&a->x) && fp_is_zero(&a->y);
}

static inline bool g1_is_infinity(const struct g1 *a)
{
	return fp_is_zero(&a->z);
}

/*
 * Every function takes any point of the curve, infinity included, unless it
 * says otherwise; time depends on the operands.  Any output may be any input.
 */
bool g1_affine_is_on_curve(const struct g1_affine *a);
bool g1_is_on_curve(const struct g1 *a);
bool g1_affine_equal(const struct g1_affine *a, const struct g1_affine *b);
bool g1_equal(const struct g1 *a, const struct g1 *b);	/* as points, whatever the Z */
void g1_affine_neg(struct g1_affine *r, const struct g1_affine *a);
void g1_neg(struct g1 *r, const struct g1 *a);
void g1_set_infinity(struct g1 *r);
void g1_from_affine(struct g1 *r, const struct g1_affine *a);
void g1_to_affine(struct g1_affine *r, const struct g1 *a);
/* n points with one inversion; r and a do not overlap */
void g1_batch_to_affine(struct g1_affine *r, const struct g1 *a, size_t n);
void g1_double(struct g1 *r, const struct g1 *a);
void g1_add(struct g1 *r, const struct g1 *a, const struct g1 *b);
void g1_add_affine(struct g1 *r, const struct g1 *a, const struct g1_affine *b);
/* k a, a in the subgroup of order r, k any 256-bit integer */
void g1_mul_vartime(struct g1 *r, const struct g1_affine *a, const struct scalar *k);
/* k a for any point of the curve, slower: k of n_limbs little-endian limbs */
void g1_mul_any_vartime(struct g1 *r, const struct g1_affine *a, const uint64_t *k,
			size_t n_limbs);
/* Whether a, a point of the curve, is in the subgroup of order r; infinity is. */
bool g1_in_subgroup(const struct g1_affine *a);
/* The same by r a = 0: a slow twin that uses no endomorphism. */
bool g1_in_subgroup_slow(const struct g1_affine *a);
/*
 * Sums runs of points: run i is the next len[i] of pts.  On return pts begins
 * with one point for each run that was not empty, and len[i] is 0 or 1.  tmp
 * holds as many elements as pts has points, at half as many.
 */
void g1_sum_runs(struct g1_affine *pts, uint32_t *len, size_t n_runs, struct fp *tmp, uint32_t *at);

#endif
