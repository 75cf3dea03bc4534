/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * g2.h - E': y^2 = x^3 + 4(1 + u) over Fp2
 *
 * Affine: (0, 0) is infinity.  Jacobian: (X/Z^2, Y/Z^3), Z = 0 is infinity.
 */
#ifndef CUZK_BLS12_381_G2_H
#define CUZK_BLS12_381_G2_H

#include "lib/bls12_381/fp.h"
#include "lib/bls12_381/fr.h"

struct g2_affine {
	struct fp2 x, y;
};

struct g2 {
	struct fp2 x, y, z;
};

extern const struct g2_affine G2_GENERATOR;

static inline bool g2_affine_is_infinity(const struct g2_affine *a)
{
	return fp2_is_zero(&a->x) && fp2_is_zero(&a->y);
}

static inline bool g2_is_infinity(const struct g2 *a)
{
	return fp2_is_zero(&a->z);
}

/*
 * Every function takes any point of the curve, infinity included, unless it
 * says otherwise; time depends on the operands.  Any output may be any input.
 */
bool g2_affine_is_on_curve(const struct g2_affine *a);
bool g2_is_on_curve(const struct g2 *a);
bool g2_affine_equal(const struct g2_affine *a, const struct g2_affine *b);
bool g2_equal(const struct g2 *a, const struct g2 *b);	/* as points, whatever the Z */
void g2_affine_neg(struct g2_affine *r, const struct g2_affine *a);
void g2_neg(struct g2 *r, const struct g2 *a);
void g2_set_infinity(struct g2 *r);
void g2_from_affine(struct g2 *r, const struct g2_affine *a);
void g2_to_affine(struct g2_affine *r, const struct g2 *a);
/* n points with one inversion; r and a do not overlap */
void g2_batch_to_affine(struct g2_affine *r, const struct g2 *a, size_t n);
void g2_double(struct g2 *r, const struct g2 *a);
void g2_add(struct g2 *r, const struct g2 *a, const struct g2 *b);
void g2_add_affine(struct g2 *r, const struct g2 *a, const struct g2_affine *b);
/* k a, a in the subgroup of order r, k any 256-bit integer */
void g2_mul_vartime(struct g2 *r, const struct g2_affine *a, const struct scalar *k);
/* k a for any point of the curve, slower: k of n_limbs little-endian limbs */
void g2_mul_any_vartime(struct g2 *r, const struct g2_affine *a, const uint64_t *k,
			size_t n_limbs);
/* Whether a, a point of the curve, is in the subgroup of order r; infinity is. */
bool g2_in_subgroup(const struct g2_affine *a);
/* The same by r a = 0: a slow twin that uses no endomorphism. */
bool g2_in_subgroup_slow(const struct g2_affine *a);

#endif
