/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * fp_portable.h - multiplication in Fp and Fr in portable C
 *
 * What a core is built over: fr_mul, fr_sqr, fp_mul, fp_sqr, fp_sqr_n (n squarings)
 * and the product fpw_mul with its reduction fpw_redc.  fp_adx.h is the other one.
 */
#ifndef CUZK_BLS12_381_FP_PORTABLE_H
#define CUZK_BLS12_381_FP_PORTABLE_H

#include "lib/bls12_381/limbs.h"

/*
 * r = a b / 2^(64 n) mod m, below 2m before the last subtraction: operand
 * scanning, each step adds a b[i], then the multiple of m that clears the
 * lowest limb (Koc, Acar, Kaliski, 1996: CIOS).  m has a spare top bit.
 */
static force_inline void mont_mul(uint64_t *r, const uint64_t *a, const uint64_t *b,
				  const uint64_t *m, uint64_t m_inv, int n)
{
	uint64_t t[7] = { 0 };
	int i, j;

	UNROLL
	for (i = 0; i < n; i++) {
		u128 x = 0, y;
		uint64_t q, top;

		UNROLL
		for (j = 0; j < n; j++) {
			x += (u128)a[j] * b[i] + t[j];
			t[j] = x;
			x >>= 64;
		}
		top = t[n] + (uint64_t)x;	/* no carry: m < 2^(64 n - 1) */
		q = t[0] * m_inv;
		y = ((u128)q * m[0] + t[0]) >> 64;
		UNROLL
		for (j = 1; j < n; j++) {
			y += (u128)q * m[j] + t[j];
			t[j - 1] = y;
			y >>= 64;
		}
		y += top;
		t[n - 1] = y;
		t[n] = y >> 64;
	}
	limbs_reduce_once(r, t, t[n], m, n);
}

void fr_mul(struct fr *r, const struct fr *a, const struct fr *b)
{
	FR_CHECK(a);
	FR_CHECK(b);
	mont_mul(r->l, a->l, b->l, R_LIMBS, R_INV, 4);
}

void fr_sqr(struct fr *r, const struct fr *a)
{
	fr_mul(r, a, a);
}

void fp_mul(struct fp *r, const struct fp *a, const struct fp *b)
{
	FP_CHECK(a);
	FP_CHECK(b);
	mont_mul(r->l, a->l, b->l, P_LIMBS, P_INV, 6);
}

void fp_sqr(struct fp *r, const struct fp *a)
{
	fp_mul(r, a, a);
}

static void fp_sqr_n(struct fp *r, const struct fp *a, unsigned int n)
{
	fp_sqr(r, a);
	while (--n)
		fp_sqr(r, r);
}

static void fpw_mul(struct fpw *r, const struct fp *a, const struct fp *b)
{
	uint64_t t[12] = { 0 };
	int i, j;

	UNROLL
	for (i = 0; i < 6; i++) {
		u128 x = 0;

		UNROLL
		for (j = 0; j < 6; j++) {
			x += (u128)a->l[j] * b->l[i] + t[i + j];
			t[i + j] = x;
			x >>= 64;
		}
		t[i + 6] = x;
	}
	memcpy(r, t, sizeof(t));
}

static void fpw_redc(struct fp *r, const struct fpw *a)
{
	uint64_t t[12], carry = 0;
	int i, j;

	memcpy(t, a, sizeof(t));
	UNROLL
	for (i = 0; i < 6; i++) {
		uint64_t q = t[i] * P_INV;
		u128 x = 0;

		UNROLL
		for (j = 0; j < 6; j++) {
			x += (u128)q * P_LIMBS[j] + t[i + j];
			t[i + j] = x;
			x >>= 64;
		}
		x += (u128)t[i + 6] + carry;
		t[i + 6] = x;
		carry = x >> 64;
	}
	limbs_reduce_once(r->l, t + 6, carry, P_LIMBS, 6);
}

#endif
