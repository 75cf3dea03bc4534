/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * fr.h - the scalar field of BLS12-381, r of 255 bits
 *
 * struct fr is in Montgomery form, x * 2^256 mod r, always fully reduced:
 * equal elements are equal bytes.  struct scalar is the canonical integer
 * below r (or, where a function says so, any 256-bit integer).  Limbs are
 * little-endian, so on the machines we run on a struct scalar is the 32-byte
 * little-endian encoding that Filecoin uses.
 */
#ifndef CUZK_BLS12_381_FR_H
#define CUZK_BLS12_381_FR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fr {
	uint64_t l[4];
};

struct scalar {
	uint64_t l[4];
};

extern const struct fr fr_zero, fr_one;
/* primitive 2^32-th roots of unity: 7^((r-1)/2^32) (bellman), 5^(...) (snarkjs) */
extern const struct fr FR_ROOT_7, FR_ROOT_5;
extern const struct fr FR_GENERATOR;	/* 7, bellman's coset shift */

static inline bool fr_is_zero(const struct fr *a)
{
	return (a->l[0] | a->l[1] | a->l[2] | a->l[3]) == 0;
}

static inline bool fr_equal(const struct fr *a, const struct fr *b)
{
	return ((a->l[0] ^ b->l[0]) | (a->l[1] ^ b->l[1]) |
		(a->l[2] ^ b->l[2]) | (a->l[3] ^ b->l[3])) == 0;
}

static inline bool fr_is_one(const struct fr *a)
{
	return fr_equal(a, &fr_one);
}

/* Any output may be any input. */
void fr_add(struct fr *r, const struct fr *a, const struct fr *b);
void fr_sub(struct fr *r, const struct fr *a, const struct fr *b);
void fr_neg(struct fr *r, const struct fr *a);
void fr_double(struct fr *r, const struct fr *a);
void fr_mul(struct fr *r, const struct fr *a, const struct fr *b);
void fr_sqr(struct fr *r, const struct fr *a);
/* 1/a, 0 for 0; time depends on a */
void fr_inv_vartime(struct fr *r, const struct fr *a);
/* all of a[0..n) in place, zeros stay; tmp holds n elements */
void fr_batch_inv_vartime(struct fr *a, size_t n, struct fr *tmp);
void fr_pow_vartime(struct fr *r, const struct fr *a, const uint64_t *e, size_t n_limbs);
void fr_pow_u64(struct fr *r, const struct fr *a, uint64_t e);
void fr_from_u64(struct fr *r, uint64_t v);

void fr_from_scalar(struct fr *r, const struct scalar *s);	/* s < r */
void fr_to_scalar(struct scalar *s, const struct fr *a);
bool scalar_is_canonical(const struct scalar *s);		/* s < r */
/* 32 bytes little-endian; -EINVAL when not below r */
int fr_from_bytes_le(struct fr *r, const uint8_t in[32]);
int fr_from_bytes_be(struct fr *r, const uint8_t in[32]);
void fr_to_bytes_le(uint8_t out[32], const struct fr *a);
/* decimal digits; -EINVAL when not digits or not below r */
int fr_from_dec(struct fr *r, const char *s);

#endif
