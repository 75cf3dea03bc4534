/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * ifma_fr.h - eight elements of Fr at once, by AVX-512 IFMA
 *
 * A struct fv holds eight residues mod r as five vectors of 52-bit digits.
 * It is lazy: digits are signed 64-bit numbers that may exceed 52 bits, and
 * the value may be anything in (-16r, 16r).  fv_mul() accepts that, so sums
 * and differences of up to a dozen products need no reduction in between.
 * "Tidy" means digits in [0, 2^52) and a value in [0, 2.1r), which fits 256 bits.
 *
 * A product is a * b / 2^260.  A factor given as struct tw or made by
 * fv_factor() carries its own 2^260, so multiplying by it leaves the
 * representation of the other operand (2^256, that of struct fr) as it is.
 * The product of two loaded vectors is short by FV_PRODUCT_FACTOR.
 *
 * The order of the lanes inside a vector is fv_load()'s own affair: all per-lane
 * values come in through it.
 *
 * Include only from files compiled for AVX-512 F, DQ, VL and IFMA.
 */
#ifndef CUZK_BLS12_381_IFMA_FR_H
#define CUZK_BLS12_381_IFMA_FR_H

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/bls12_381/fr.h"

#define FV_LANES 8
#define FV_PRODUCT_FACTOR 16	/* 2^(260 - 256) */

struct fv {
	__m512i l[5];
};

/*
 * One factor for all lanes, known long before it is used: digit i of the
 * other operand is multiplied by w * 2^(52 i + 104) mod r, digits l[i], so that
 * the sum is only two digits too long.
 */
struct tw {
	uint64_t l[5][5];
};

#define FV_INLINE static inline __attribute__((always_inline))
#define FV_UNROLL _Pragma("GCC unroll 10")
#define FV_MASK 0xfffffffffffffull

/* r in 52-bit digits */
#define FV_R0 0xfffff00000001ull
#define FV_R1 0x02fffe5bfefffull
#define FV_R2 0x9a1d80553bda4ull
#define FV_R3 0x7d483339d8080ull
#define FV_R4 0x073eda753299dull
/* 2^208 - (r >> 52), what fv_mul() adds instead of subtracting multiples of r */
#define FV_N1 (FV_MASK + 1 - FV_R1)
#define FV_N2 (FV_MASK - FV_R2)
#define FV_N3 (FV_MASK - FV_R3)
#define FV_N4 (FV_MASK - FV_R4)

FV_INLINE __m512i fv_set1(uint64_t v)
{
	return _mm512_set1_epi64((long long)v);
}

/* Eight times four 64-bit words, word w of all lanes to t[w]. */
FV_INLINE void fv_gather(__m512i t[4], const struct fr *p, size_t stride)
{
	__m512i z[4], u0, u1, u2, u3;
	int i;

	FV_UNROLL for (i = 0; i < 4; i++) {
		__m256i lo = _mm256_loadu_si256((const __m256i *)(p + i * stride));
		__m256i hi = _mm256_loadu_si256((const __m256i *)(p + (i + 4) * stride));

		z[i] = _mm512_inserti64x4(_mm512_castsi256_si512(lo), hi, 1);
	}
	u0 = _mm512_unpacklo_epi64(z[0], z[1]);
	u1 = _mm512_unpackhi_epi64(z[0], z[1]);
	u2 = _mm512_unpacklo_epi64(z[2], z[3]);
	u3 = _mm512_unpackhi_epi64(z[2], z[3]);
	t[0] = _mm512_shuffle_i64x2(u0, u2, 0x88);
	t[1] = _mm512_shuffle_i64x2(u1, u3, 0x88);
	t[2] = _mm512_shuffle_i64x2(u0, u2, 0xdd);
	t[3] = _mm512_shuffle_i64x2(u1, u3, 0xdd);
}

/* Inverse of fv_gather(): the lanes of t[w] are (0 1 4 5 2 3 6 7). */
FV_INLINE void fv_scatter(struct fr *p, size_t stride, const __m512i t[4])
{
	__m512i u0, u1, u2, u3, z[4];
	int i;

	u0 = _mm512_shuffle_i64x2(t[0], t[2], 0x44);	/* words 0 2, lanes 0 1 4 5 */
	u1 = _mm512_shuffle_i64x2(t[1], t[3], 0x44);
	u2 = _mm512_shuffle_i64x2(t[0], t[2], 0xee);	/* lanes 2 3 6 7 */
	u3 = _mm512_shuffle_i64x2(t[1], t[3], 0xee);
	u0 = _mm512_shuffle_i64x2(u0, u0, 0xd8);	/* block order: w0, w2 of each half */
	u1 = _mm512_shuffle_i64x2(u1, u1, 0xd8);
	u2 = _mm512_shuffle_i64x2(u2, u2, 0xd8);
	u3 = _mm512_shuffle_i64x2(u3, u3, 0xd8);
	z[0] = _mm512_unpacklo_epi64(u0, u1);
	z[1] = _mm512_unpackhi_epi64(u0, u1);
	z[2] = _mm512_unpacklo_epi64(u2, u3);
	z[3] = _mm512_unpackhi_epi64(u2, u3);
	FV_UNROLL for (i = 0; i < 4; i++) {
		_mm256_storeu_si256((__m256i *)(p + i * stride), _mm512_castsi512_si256(z[i]));
		_mm256_storeu_si256((__m256i *)(p + (i + 4) * stride),
				    _mm512_extracti64x4_epi64(z[i], 1));
	}
}

/* (a | b) & mask */
FV_INLINE __m512i fv_or_mask(__m512i a, __m512i b)
{
	return _mm512_ternarylogic_epi64(a, b, fv_set1(FV_MASK), 0xa8);
}

/* The elements p[0], p[stride], ...; tidy ones. Tidy. */
FV_INLINE void fv_load(struct fv *r, const struct fr *p, size_t stride)
{
	__m512i t[4];

	fv_gather(t, p, stride);
	r->l[0] = _mm512_and_si512(t[0], fv_set1(FV_MASK));
	r->l[1] = fv_or_mask(_mm512_srli_epi64(t[0], 52), _mm512_slli_epi64(t[1], 12));
	r->l[2] = fv_or_mask(_mm512_srli_epi64(t[1], 40), _mm512_slli_epi64(t[2], 24));
	r->l[3] = fv_or_mask(_mm512_srli_epi64(t[2], 28), _mm512_slli_epi64(t[3], 36));
	r->l[4] = _mm512_srli_epi64(t[3], 16);
}

/* a - r, digit by digit: a tidy value around zero, so that sums stay small. */
FV_INLINE void fv_center(struct fv *r, const struct fv *a)
{
	r->l[0] = _mm512_sub_epi64(a->l[0], fv_set1(FV_R0));
	r->l[1] = _mm512_sub_epi64(a->l[1], fv_set1(FV_R1));
	r->l[2] = _mm512_sub_epi64(a->l[2], fv_set1(FV_R2));
	r->l[3] = _mm512_sub_epi64(a->l[3], fv_set1(FV_R3));
	r->l[4] = _mm512_sub_epi64(a->l[4], fv_set1(FV_R4));
}

/* a tidy */
FV_INLINE void fv_store(struct fr *p, size_t stride, const struct fv *a)
{
	__m512i t[4];

	t[0] = _mm512_or_si512(a->l[0], _mm512_slli_epi64(a->l[1], 52));
	t[1] = _mm512_or_si512(_mm512_srli_epi64(a->l[1], 12), _mm512_slli_epi64(a->l[2], 40));
	t[2] = _mm512_or_si512(_mm512_srli_epi64(a->l[2], 24), _mm512_slli_epi64(a->l[3], 28));
	t[3] = _mm512_or_si512(_mm512_srli_epi64(a->l[3], 36), _mm512_slli_epi64(a->l[4], 16));
	fv_scatter(p, stride, t);
}

FV_INLINE void fv_add(struct fv *r, const struct fv *a, const struct fv *b)
{
	int i;

	FV_UNROLL for (i = 0; i < 5; i++)
		r->l[i] = _mm512_add_epi64(a->l[i], b->l[i]);
}

FV_INLINE void fv_sub(struct fv *r, const struct fv *a, const struct fv *b)
{
	int i;

	FV_UNROLL for (i = 0; i < 5; i++)
		r->l[i] = _mm512_sub_epi64(a->l[i], b->l[i]);
}

/* Digits of a into [0, 2^52); the top one keeps the rest, and the sign. */
FV_INLINE void fv_carry(struct fv *r, const struct fv *a)
{
	__m512i t = a->l[0];
	int i;

	FV_UNROLL for (i = 0; i < 4; i++) {
		r->l[i] = _mm512_and_si512(t, fv_set1(FV_MASK));
		t = _mm512_add_epi64(a->l[i + 1], _mm512_srai_epi64(t, 52));
	}
	r->l[4] = t;
}

/* a + k*r with carried digits; k*r digit by digit, k small */
FV_INLINE void fv_carry_plus(struct fv *r, const struct fv *a, uint64_t k)
{
	struct fv t;

	t.l[0] = _mm512_add_epi64(a->l[0], fv_set1(k * FV_R0));
	t.l[1] = _mm512_add_epi64(a->l[1], fv_set1(k * FV_R1));
	t.l[2] = _mm512_add_epi64(a->l[2], fv_set1(k * FV_R2));
	t.l[3] = _mm512_add_epi64(a->l[3], fv_set1(k * FV_R3));
	t.l[4] = _mm512_add_epi64(a->l[4], fv_set1(k * FV_R4));
	fv_carry(r, &t);
}

/* r tidy, from a product: a in (-r, r) */
FV_INLINE void fv_tidy(struct fv *r, const struct fv *a)
{
	fv_carry_plus(r, a, 1);
}

/* Fully reduced, from a product: a in (-r, r) */
FV_INLINE void fv_canon(struct fv *r, const struct fv *a)
{
	struct fv t;
	__mmask8 neg;

	fv_carry(&t, a);
	neg = _mm512_movepi64_mask(t.l[4]);
	t.l[0] = _mm512_mask_add_epi64(t.l[0], neg, t.l[0], fv_set1(FV_R0));
	t.l[1] = _mm512_mask_add_epi64(t.l[1], neg, t.l[1], fv_set1(FV_R1));
	t.l[2] = _mm512_mask_add_epi64(t.l[2], neg, t.l[2], fv_set1(FV_R2));
	t.l[3] = _mm512_mask_add_epi64(t.l[3], neg, t.l[3], fv_set1(FV_R3));
	t.l[4] = _mm512_mask_add_epi64(t.l[4], neg, t.l[4], fv_set1(FV_R4));
	fv_carry(r, &t);
}

/*
 * Fully reduced, from anything in (-16r, 16r).  With 16r added the top digit
 * is below 2^52, and q = top * floor(2^62 / (r4 + 1)) / 2^62 is the quotient by r
 * or one less: the digits below the top ones count for less than 2^-46 of r.
 */
FV_INLINE void fv_reduce(struct fv *r, const struct fv *a)
{
	const uint64_t inv = (1ull << 62) / (FV_R4 + 1);
	__m512i zero = _mm512_setzero_si512(), q;
	struct fv t;

	fv_carry_plus(&t, a, 16);
	q = _mm512_srli_epi64(_mm512_madd52hi_epu64(zero, t.l[4], fv_set1(inv)), 10);
	t.l[0] = _mm512_sub_epi64(t.l[0], _mm512_madd52lo_epu64(zero, q, fv_set1(FV_R0)));
	t.l[1] = _mm512_sub_epi64(t.l[1], _mm512_madd52hi_epu64(zero, q, fv_set1(FV_R0)));
	t.l[1] = _mm512_sub_epi64(t.l[1], _mm512_madd52lo_epu64(zero, q, fv_set1(FV_R1)));
	t.l[2] = _mm512_sub_epi64(t.l[2], _mm512_madd52hi_epu64(zero, q, fv_set1(FV_R1)));
	t.l[2] = _mm512_sub_epi64(t.l[2], _mm512_madd52lo_epu64(zero, q, fv_set1(FV_R2)));
	t.l[3] = _mm512_sub_epi64(t.l[3], _mm512_madd52hi_epu64(zero, q, fv_set1(FV_R2)));
	t.l[3] = _mm512_sub_epi64(t.l[3], _mm512_madd52lo_epu64(zero, q, fv_set1(FV_R3)));
	t.l[4] = _mm512_sub_epi64(t.l[4], _mm512_madd52hi_epu64(zero, q, fv_set1(FV_R3)));
	t.l[4] = _mm512_sub_epi64(t.l[4], _mm512_madd52lo_epu64(zero, q, fv_set1(FV_R4)));
	/* now in [0, 2r): one r less is a product's range */
	fv_center(&t, &t);
	fv_canon(r, &t);
}

/*
 * One digit of the reduction c -> c / 2^260 mod r: with t = c[i] mod 2^52,
 * m = t / r mod 2^52 = t + (t mod 2^20) * 2^32 mod 2^52, as r = 1 - 2^32 mod
 * 2^52.  Subtracting m*r clears the digit; of m*r0 = m*(2^52 - 2^32 + 1) only
 * the carry (s >> 52) + (m >> 20) - m is left, and r1..r4 are subtracted by
 * adding their complement and taking m off the digit above.
 */
FV_INLINE void fv_redc_digit(__m512i *c, int i)
{
	__m512i low = _mm512_srli_epi64(_mm512_slli_epi64(c[i], 44), 12);
	__m512i s = _mm512_add_epi64(c[i], low);
	__m512i m = _mm512_and_si512(s, fv_set1(FV_MASK));
	__m512i carry = _mm512_add_epi64(_mm512_srai_epi64(s, 52), _mm512_srli_epi64(m, 20));

	c[i + 1] = _mm512_madd52lo_epu64(c[i + 1], m, fv_set1(FV_N1));
	c[i + 2] = _mm512_madd52lo_epu64(c[i + 2], m, fv_set1(FV_N2));
	c[i + 3] = _mm512_madd52lo_epu64(c[i + 3], m, fv_set1(FV_N3));
	c[i + 4] = _mm512_madd52lo_epu64(c[i + 4], m, fv_set1(FV_N4));
	c[i + 1] = _mm512_add_epi64(c[i + 1], _mm512_sub_epi64(carry, m));
	c[i + 2] = _mm512_madd52hi_epu64(c[i + 2], m, fv_set1(FV_N1));
	c[i + 3] = _mm512_madd52hi_epu64(c[i + 3], m, fv_set1(FV_N2));
	c[i + 4] = _mm512_madd52hi_epu64(c[i + 4], m, fv_set1(FV_N3));
	c[i + 5] = _mm512_madd52hi_epu64(c[i + 5], m, fv_set1(FV_N4));
	c[i + 5] = _mm512_sub_epi64(c[i + 5], m);
}

/* c += a * b at digit i; a's digits below 2^52 */
FV_INLINE void fv_madd_row(__m512i *c, int i, const struct fv *a, __m512i b)
{
	int j;

	FV_UNROLL for (j = 0; j < 5; j++)
		c[i + j] = _mm512_madd52lo_epu64(c[i + j], a->l[j], b);
	FV_UNROLL for (j = 0; j < 5; j++)
		c[i + j + 1] = _mm512_madd52hi_epu64(c[i + j + 1], a->l[j], b);
}

/*
 * r = a * b / 2^260 in (-r, a b / 2^260]; a's digits below 2^52.  The order of
 * rows and reductions keeps independent work between the steps of the one
 * long dependency, the digits m.
 */
FV_INLINE void fv_mul_digits(struct fv *r, const struct fv *a, __m512i b0, __m512i b1,
			     __m512i b2, __m512i b3, __m512i b4)
{
	__m512i c[10];
	int i;

	FV_UNROLL for (i = 0; i < 10; i++)
		c[i] = _mm512_setzero_si512();
	fv_madd_row(c, 0, a, b0);
	fv_madd_row(c, 1, a, b1);
	fv_redc_digit(c, 0);
	fv_madd_row(c, 2, a, b2);
	fv_redc_digit(c, 1);
	fv_madd_row(c, 3, a, b3);
	fv_redc_digit(c, 2);
	fv_madd_row(c, 4, a, b4);
	fv_redc_digit(c, 3);
	fv_redc_digit(c, 4);
	FV_UNROLL for (i = 0; i < 5; i++)
		r->l[i] = c[i + 5];
}

/* a in (-16r, 16r), b tidy; the result is in (-r, b] */
FV_INLINE void fv_mul(struct fv *r, const struct fv *a, const struct fv *b)
{
	struct fv t;

	fv_carry_plus(&t, a, 16);
	fv_mul_digits(r, &t, b->l[0], b->l[1], b->l[2], b->l[3], b->l[4]);
}

/* Like struct tw, but a factor per lane. */
struct fv_ahead {
	__m512i l[5][5];
};

/* Digit j of what digit i of the other factor is multiplied by; one of w and v is NULL. */
FV_INLINE __m512i fv_ahead_digit(const struct tw *w, const struct fv_ahead *v, int i, int j)
{
	return v ? v->l[i][j] : fv_set1(w->l[i][j]);
}

/*
 * r = t times a factor known ahead, in (-r, r): 66 multiplications for
 * fv_mul()'s 90.  t's digits below 2^52.  Column by column, so that the digits
 * of the reduction are known early; two sums for some columns, as one
 * product waits four cycles for another in the same sum.
 */
FV_INLINE void fv_mul_known(struct fv *r, const struct fv *t, const struct tw *w,
			    const struct fv_ahead *v)
{
	__m512i c[7], c1, c3, c4, f;
	int i;

	FV_UNROLL for (i = 0; i < 7; i++)
		c[i] = _mm512_setzero_si512();
	c1 = c3 = c4 = _mm512_setzero_si512();
	FV_UNROLL for (i = 0; i < 5; i++) {
		f = fv_ahead_digit(w, v, i, 0);
		c[0] = _mm512_madd52lo_epu64(c[0], t->l[i], f);
		c1 = _mm512_madd52hi_epu64(c1, t->l[i], f);
		f = fv_ahead_digit(w, v, i, 1);
		c[1] = _mm512_madd52lo_epu64(c[1], t->l[i], f);
		c[2] = _mm512_madd52hi_epu64(c[2], t->l[i], f);
	}
	c[1] = _mm512_add_epi64(c[1], c1);
	FV_UNROLL for (i = 0; i < 5; i++) {
		f = fv_ahead_digit(w, v, i, 2);
		c[2] = _mm512_madd52lo_epu64(c[2], t->l[i], f);
		c[3] = _mm512_madd52hi_epu64(c[3], t->l[i], f);
		f = fv_ahead_digit(w, v, i, 3);
		c3 = _mm512_madd52lo_epu64(c3, t->l[i], f);
		c4 = _mm512_madd52hi_epu64(c4, t->l[i], f);
	}
	c[3] = _mm512_add_epi64(c[3], c3);
	fv_redc_digit(c, 0);
	FV_UNROLL for (i = 0; i < 5; i++) {
		f = fv_ahead_digit(w, v, i, 4);
		c4 = _mm512_madd52lo_epu64(c4, t->l[i], f);
		c[5] = _mm512_madd52hi_epu64(c[5], t->l[i], f);
	}
	c[4] = _mm512_add_epi64(c[4], c4);
	fv_redc_digit(c, 1);
	FV_UNROLL for (i = 0; i < 5; i++)
		r->l[i] = c[i + 2];
}

/* a in (-16r, 16r); the result is in (-r, r) */
FV_INLINE void fv_mul_tw(struct fv *r, const struct fv *a, const struct tw *w)
{
	struct fv t;

	fv_carry_plus(&t, a, 16);
	fv_mul_known(r, &t, w, NULL);
}

/* a tidy; the result is in (-r, r) */
FV_INLINE void fv_mul_ahead(struct fv *r, const struct fv *a, const struct fv_ahead *w)
{
	fv_mul_known(r, a, NULL, w);
}

/* a and b tidy; the result is in (-r, r), short by FV_PRODUCT_FACTOR */
FV_INLINE void fv_mul_tidy(struct fv *r, const struct fv *a, const struct fv *b)
{
	fv_mul_digits(r, a, b->l[0], b->l[1], b->l[2], b->l[3], b->l[4]);
}

/* a * 2^4: from struct fr's 2^256 to a factor's 2^260 */
static inline void fv_factor_form(struct fr *r, const struct fr *a)
{
	int i;

	*r = *a;
	for (i = 0; i < 4; i++)
		fr_double(r, r);
}

static inline void tw_from_fr(struct tw *w, const struct fr *a)
{
	struct fr shift = {{ 0, 1ull << 40 }};	/* 2^104 as words */
	struct fr t;
	int i, j;

	for (i = 0; i < 5; i++) {
		fr_mul(&t, a, &shift);
		w->l[i][0] = t.l[0] & FV_MASK;
		w->l[i][1] = (t.l[0] >> 52 | t.l[1] << 12) & FV_MASK;
		w->l[i][2] = (t.l[1] >> 40 | t.l[2] << 24) & FV_MASK;
		w->l[i][3] = (t.l[2] >> 28 | t.l[3] << 36) & FV_MASK;
		w->l[i][4] = t.l[3] >> 16;
		for (j = 0; j < 52; j++)
			fr_double(&shift, &shift);
	}
}

/* a tidy, a factor; shifts[i] is 2^(52 i + 104) as words, in all lanes, tidy */
FV_INLINE void fv_ahead_init(struct fv_ahead *w, const struct fv *a, const struct fv shifts[5])
{
	struct fv t;
	int i, j;

	for (i = 0; i < 5; i++) {
		fv_mul_tidy(&t, a, &shifts[i]);
		fv_tidy(&t, &t);
		for (j = 0; j < 5; j++)
			w->l[i][j] = t.l[j];
	}
}

static inline void fv_ahead_shifts(struct fv shifts[5])
{
	struct fr shift = {{ 0, 1ull << 40 }}, lanes[FV_LANES];
	int i, j;

	for (i = 0; i < 5; i++) {
		for (j = 0; j < FV_LANES; j++)
			lanes[j] = shift;
		fv_load(&shifts[i], lanes, 1);
		for (j = 0; j < 52; j++)
			fr_double(&shift, &shift);
	}
}

/* A factor per lane from eight elements. Tidy. */
static inline void fv_factor(struct fv *r, const struct fr a[FV_LANES])
{
	struct fr t[FV_LANES];
	int i;

	for (i = 0; i < FV_LANES; i++)
		fv_factor_form(&t[i], &a[i]);
	fv_load(r, t, 1);
}

#endif
