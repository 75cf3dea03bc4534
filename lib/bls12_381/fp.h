/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * fp.h - the base field of BLS12-381, p of 381 bits, and its quadratic extension
 *
 * struct fp is in Montgomery form, x * 2^384 mod p, always fully reduced:
 * equal elements are equal bytes.  Every function takes and gives that form
 * unless it says otherwise.  Any output may be any input.
 */
#ifndef CUZK_BLS12_381_FP_H
#define CUZK_BLS12_381_FP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fp {
	uint64_t l[6];
};

/* c0 + c1 u, u^2 = -1 */
struct fp2 {
	struct fp c0, c1;
};

extern const struct fp fp_zero, fp_one;
extern const struct fp2 fp2_zero, fp2_one;

static inline bool fp_is_zero(const struct fp *a)
{
	return (a->l[0] | a->l[1] | a->l[2] | a->l[3] | a->l[4] | a->l[5]) == 0;
}

static inline bool fp_equal(const struct fp *a, const struct fp *b)
{
	return ((a->l[0] ^ b->l[0]) | (a->l[1] ^ b->l[1]) | (a->l[2] ^ b->l[2]) |
		(a->l[3] ^ b->l[3]) | (a->l[4] ^ b->l[4]) | (a->l[5] ^ b->l[5])) == 0;
}

static inline bool fp_is_one(const struct fp *a)
{
	return fp_equal(a, &fp_one);
}

void fp_add(struct fp *r, const struct fp *a, const struct fp *b);
void fp_sub(struct fp *r, const struct fp *a, const struct fp *b);
void fp_neg(struct fp *r, const struct fp *a);
void fp_double(struct fp *r, const struct fp *a);
void fp_mul(struct fp *r, const struct fp *a, const struct fp *b);
void fp_sqr(struct fp *r, const struct fp *a);
/* 1/a, 0 for 0; time depends on a */
void fp_inv_vartime(struct fp *r, const struct fp *a);
/* all of a[0..n) in place, zeros stay; tmp holds n elements */
void fp_batch_inv_vartime(struct fp *a, size_t n, struct fp *tmp);
/* a^e, e of n_limbs little-endian limbs; time depends on e */
void fp_pow_vartime(struct fp *r, const struct fp *a, const uint64_t *e, size_t n_limbs);
/* A square root of a; false, and r untouched, when a has none. */
bool fp_sqrt(struct fp *r, const struct fp *a);
void fp_from_u64(struct fp *r, uint64_t v);
/* Whether a > (p-1)/2 as an integer: a > -a. */
bool fp_is_larger_half(const struct fp *a);
/* 48 bytes big-endian; -EINVAL when not below p, r untouched */
int fp_from_bytes_be(struct fp *r, const uint8_t in[48]);
void fp_to_bytes_be(uint8_t out[48], const struct fp *a);

static inline bool fp2_is_zero(const struct fp2 *a)
{
	return fp_is_zero(&a->c0) && fp_is_zero(&a->c1);
}

static inline bool fp2_equal(const struct fp2 *a, const struct fp2 *b)
{
	return fp_equal(&a->c0, &b->c0) && fp_equal(&a->c1, &b->c1);
}

static inline bool fp2_is_one(const struct fp2 *a)
{
	return fp_is_one(&a->c0) && fp_is_zero(&a->c1);
}

void fp2_add(struct fp2 *r, const struct fp2 *a, const struct fp2 *b);
void fp2_sub(struct fp2 *r, const struct fp2 *a, const struct fp2 *b);
void fp2_neg(struct fp2 *r, const struct fp2 *a);
void fp2_double(struct fp2 *r, const struct fp2 *a);
void fp2_mul(struct fp2 *r, const struct fp2 *a, const struct fp2 *b);
void fp2_sqr(struct fp2 *r, const struct fp2 *a);
void fp2_mul_fp(struct fp2 *r, const struct fp2 *a, const struct fp *b);
void fp2_mul_xi(struct fp2 *r, const struct fp2 *a);	/* times xi = 1 + u */
void fp2_conj(struct fp2 *r, const struct fp2 *a);	/* c0 - c1 u = a^p */
void fp2_inv_vartime(struct fp2 *r, const struct fp2 *a);
void fp2_batch_inv_vartime(struct fp2 *a, size_t n, struct fp2 *tmp);
/* A square root of a; false, and r untouched, when a has none. */
bool fp2_sqrt(struct fp2 *r, const struct fp2 *a);
/* Whether a > -a, compared by c1, then by c0. */
bool fp2_is_larger_half(const struct fp2 *a);

#endif
