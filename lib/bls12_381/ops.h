/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * ops.h - the table of functions that exist once per instruction set
 *
 * core_*.c compile the same *_impl.h files, each over its own field
 * multiplications; names.h gives every function the suffix of its build.
 * arch.c chooses a table when the program or library is loaded, before anyone
 * can call it, and defines the public functions as jumps through the table.
 */
#ifndef CUZK_BLS12_381_OPS_H
#define CUZK_BLS12_381_OPS_H

#include "lib/bls12_381/fp.h"
#include "lib/bls12_381/fr.h"
#include "lib/bls12_381/g1.h"
#include "lib/bls12_381/g2.h"
#include "lib/bls12_381/pairing.h"

/* X(return type, name, parameters, arguments) */
#define BLS_FIELD_OPS(X, f, t) \
	X(void, f##_add, (struct t *r, const struct t *a, const struct t *b), (r, a, b)) \
	X(void, f##_sub, (struct t *r, const struct t *a, const struct t *b), (r, a, b)) \
	X(void, f##_neg, (struct t *r, const struct t *a), (r, a)) \
	X(void, f##_double, (struct t *r, const struct t *a), (r, a)) \
	X(void, f##_mul, (struct t *r, const struct t *a, const struct t *b), (r, a, b)) \
	X(void, f##_sqr, (struct t *r, const struct t *a), (r, a)) \
	X(void, f##_inv_vartime, (struct t *r, const struct t *a), (r, a)) \
	X(void, f##_batch_inv_vartime, (struct t *a, size_t n, struct t *tmp), (a, n, tmp))

#define BLS_FR_OPS(X) \
	BLS_FIELD_OPS(X, fr, fr) \
	X(void, fr_pow_vartime, (struct fr *r, const struct fr *a, const uint64_t *e, \
				 size_t n_limbs), (r, a, e, n_limbs)) \
	X(void, fr_from_scalar, (struct fr *r, const struct scalar *s), (r, s)) \
	X(void, fr_to_scalar, (struct scalar *s, const struct fr *a), (s, a))

#define BLS_FP_OPS(X) \
	BLS_FIELD_OPS(X, fp, fp) \
	X(void, fp_pow_vartime, (struct fp *r, const struct fp *a, const uint64_t *e, \
				 size_t n_limbs), (r, a, e, n_limbs)) \
	X(bool, fp_sqrt, (struct fp *r, const struct fp *a), (r, a)) \
	X(void, fp_from_u64, (struct fp *r, uint64_t v), (r, v)) \
	X(bool, fp_is_larger_half, (const struct fp *a), (a)) \
	X(int, fp_from_bytes_be, (struct fp *r, const uint8_t in[48]), (r, in)) \
	X(void, fp_to_bytes_be, (uint8_t out[48], const struct fp *a), (out, a)) \
	BLS_FIELD_OPS(X, fp2, fp2) \
	X(void, fp2_mul_fp, (struct fp2 *r, const struct fp2 *a, const struct fp *b), (r, a, b)) \
	X(void, fp2_mul_xi, (struct fp2 *r, const struct fp2 *a), (r, a)) \
	X(void, fp2_conj, (struct fp2 *r, const struct fp2 *a), (r, a)) \
	X(bool, fp2_sqrt, (struct fp2 *r, const struct fp2 *a), (r, a)) \
	X(bool, fp2_is_larger_half, (const struct fp2 *a), (a))

#define BLS_CURVE_OPS(X, g) \
	X(bool, g##_affine_is_on_curve, (const struct g##_affine *a), (a)) \
	X(bool, g##_is_on_curve, (const struct g *a), (a)) \
	X(bool, g##_affine_equal, (const struct g##_affine *a, const struct g##_affine *b), \
	  (a, b)) \
	X(bool, g##_equal, (const struct g *a, const struct g *b), (a, b)) \
	X(void, g##_affine_neg, (struct g##_affine *r, const struct g##_affine *a), (r, a)) \
	X(void, g##_neg, (struct g *r, const struct g *a), (r, a)) \
	X(void, g##_set_infinity, (struct g *r), (r)) \
	X(void, g##_from_affine, (struct g *r, const struct g##_affine *a), (r, a)) \
	X(void, g##_to_affine, (struct g##_affine *r, const struct g *a), (r, a)) \
	X(void, g##_batch_to_affine, (struct g##_affine *r, const struct g *a, size_t n), \
	  (r, a, n)) \
	X(void, g##_double, (struct g *r, const struct g *a), (r, a)) \
	X(void, g##_add, (struct g *r, const struct g *a, const struct g *b), (r, a, b)) \
	X(void, g##_add_affine, (struct g *r, const struct g *a, const struct g##_affine *b), \
	  (r, a, b)) \
	X(void, g##_mul_vartime, (struct g *r, const struct g##_affine *a, \
				  const struct scalar *k), (r, a, k)) \
	X(void, g##_mul_any_vartime, (struct g *r, const struct g##_affine *a, const uint64_t *k, \
				      size_t n_limbs), (r, a, k, n_limbs)) \
	X(bool, g##_in_subgroup, (const struct g##_affine *a), (a)) \
	X(bool, g##_in_subgroup_slow, (const struct g##_affine *a), (a))

#define BLS_PAIRING_OPS(X) \
	X(void, fp12_mul, (struct fp12 *r, const struct fp12 *a, const struct fp12 *b), (r, a, b)) \
	X(void, fp12_sqr, (struct fp12 *r, const struct fp12 *a), (r, a)) \
	X(void, fp12_inv_vartime, (struct fp12 *r, const struct fp12 *a), (r, a)) \
	X(void, fp12_conj, (struct fp12 *r, const struct fp12 *a), (r, a)) \
	X(void, fp12_frobenius, (struct fp12 *r, const struct fp12 *a), (r, a)) \
	X(void, fp12_frobenius2, (struct fp12 *r, const struct fp12 *a), (r, a)) \
	X(void, fp12_cyclotomic_sqr, (struct fp12 *r, const struct fp12 *a), (r, a)) \
	X(void, fp12_cyclotomic_exp_abs_z, (struct fp12 *r, const struct fp12 *a), (r, a)) \
	X(void, g2_prepare, (struct g2_prepared *r, const struct g2_affine *q), (r, q)) \
	X(void, miller_loop_n, (struct fp12 *r, const struct miller_pair *pairs, size_t n), \
	  (r, pairs, n)) \
	X(void, final_exp, (struct fp12 *r, const struct fp12 *f), (r, f)) \
	X(void, pairing, (struct fp12 *r, const struct g1_affine *p, const struct g2_affine *q), \
	  (r, p, q)) \
	X(bool, pairing_product_is_one, (const struct miller_pair *pairs, size_t n), (pairs, n))

#define BLS_OPS(X) \
	BLS_FR_OPS(X) \
	BLS_FP_OPS(X) \
	BLS_CURVE_OPS(X, g1) \
	X(void, g1_sum_runs, (struct g1_affine *pts, uint32_t *len, size_t n_runs, struct fp *tmp, \
			      uint32_t *at), (pts, len, n_runs, tmp, at)) \
	BLS_CURVE_OPS(X, g2) \
	BLS_PAIRING_OPS(X)

struct bls_ops {
	const char *name;
#define X(type, fn, params, args) type (*op_##fn) params;
	BLS_OPS(X)
#undef X
};

extern const struct bls_ops bls_ops_portable, bls_ops_adx;

#endif
