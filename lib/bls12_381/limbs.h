/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * limbs.h - what the implementation files of the fields share
 *
 * Private to core_*.c: struct fpw, sums modulo m on limbs, and the checks of
 * a build with --enable-verify.
 */
#ifndef CUZK_BLS12_381_LIMBS_H
#define CUZK_BLS12_381_LIMBS_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/bls12_381/consts.h"
#include "lib/bls12_381/fp.h"
#include "lib/bls12_381/fr.h"

typedef unsigned __int128 u128;

#define force_inline inline __attribute__((always_inline))

/* Before a loop over limbs: -O2 leaves these rolled. */
#ifdef __clang__
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 12")
#endif

/*
 * A product of two elements before its Montgomery reduction.  Below p 2^384,
 * and sums of them are taken modulo p 2^384, so fpw_redc gives the element.
 */
struct fpw {
	uint64_t l[12];
};

struct fp2w {
	struct fpw c0, c1;
};

/* Whether a < m. */
static force_inline bool limbs_below(const uint64_t *a, const uint64_t *m, int n)
{
	int i;

	for (i = n - 1; i > 0; i--)
		if (a[i] != m[i])
			break;
	return a[i] < m[i];
}

#ifdef CUZK_VERIFY
static inline void limbs_check(const uint64_t *a, const uint64_t *m, int n, const char *what,
			       const char *func)
{
	if (limbs_below(a, m, n))
		return;
	fprintf(stderr, "%s: %s is not reduced\n", func, what);
	abort();
}
#define FP_CHECK(a) limbs_check((a)->l, P_LIMBS, 6, #a, __func__)
#define FR_CHECK(a) limbs_check((a)->l, R_LIMBS, 4, #a, __func__)
#define FP2_CHECK(a) do { FP_CHECK(&(a)->c0); FP_CHECK(&(a)->c1); } while (0)
#else
#define FP_CHECK(a) ((void)0)
#define FP2_CHECK(a) ((void)0)
#define FR_CHECK(a) ((void)0)
#endif

static force_inline uint64_t limb_addc(uint64_t *r, uint64_t a, uint64_t b, uint64_t carry)
{
	u128 x = (u128)a + b + carry;

	*r = x;
	return x >> 64;
}

static force_inline uint64_t limb_subb(uint64_t *r, uint64_t a, uint64_t b, uint64_t borrow)
{
	u128 x = (u128)a - b - borrow;

	*r = x;
	return (uint64_t)(x >> 64) & 1;
}

/* r = t - m if t >= m, else t; carry is the limb above t */
static force_inline void limbs_reduce_once(uint64_t *r, const uint64_t *t, uint64_t carry,
					    const uint64_t *m, int n)
{
	uint64_t d[6], borrow = 0, keep;
	int i;

	UNROLL
	for (i = 0; i < n; i++)
		borrow = limb_subb(&d[i], t[i], m[i], borrow);
	keep = -(uint64_t)(carry < borrow);
	UNROLL
	for (i = 0; i < n; i++)
		r[i] = d[i] ^ (keep & (d[i] ^ t[i]));
}

static force_inline void limbs_add_mod(uint64_t *r, const uint64_t *a, const uint64_t *b,
					const uint64_t *m, int n)
{
	uint64_t t[6], carry = 0;
	int i;

	UNROLL
	for (i = 0; i < n; i++)
		carry = limb_addc(&t[i], a[i], b[i], carry);
	limbs_reduce_once(r, t, carry, m, n);
}

static force_inline void limbs_sub_mod(uint64_t *r, const uint64_t *a, const uint64_t *b,
					const uint64_t *m, int n)
{
	uint64_t t[6], borrow = 0, mask, carry = 0;
	int i;

	UNROLL
	for (i = 0; i < n; i++)
		borrow = limb_subb(&t[i], a[i], b[i], borrow);
	mask = -borrow;
	UNROLL
	for (i = 0; i < n; i++)
		carry = limb_addc(&r[i], t[i], m[i] & mask, carry);
}

#endif
