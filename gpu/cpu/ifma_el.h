/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * ifma_el.h - eight coordinates of points of either curve
 *
 * The includer defines ELEMENTS: 1 for G1 (Fp), 2 for G2 (Fp2).  Unless said
 * otherwise operands and results are semi (ifma_fp.h), any output may be any
 * input.
 */
#ifndef CUZK_GPU_CPU_IFMA_EL_H
#define CUZK_GPU_CPU_IFMA_EL_H

#include "gpu/cpu/ifma_mem.h"

struct el {
	struct fp8 c[ELEMENTS];
};

/*
 * Products are long: copied to where they are used, the loops that they make
 * up would not fit the instruction cache.
 */
#define EL_PRODUCT static __attribute__((noinline, unused))

FP8_INLINE void el_load_packed(struct el *r, const uint8_t *const row[8], size_t at)
{
	int k;

	for (k = 0; k < ELEMENTS; k++)
		fp8_load_packed(&r->c[k], row, at + 48 * k);
}

FP8_INLINE void el_store_packed(uint8_t *const row[8], size_t at, const struct el *a)
{
	int k;

	for (k = 0; k < ELEMENTS; k++)
		fp8_store_packed(row, at + 48 * k, &a->c[k]);
}

FP8_INLINE void el_load_wide(struct el *r, const uint8_t *const row[8], size_t at)
{
	int k;

	for (k = 0; k < ELEMENTS; k++)
		fp8_load_wide(&r->c[k], row, at + 64 * k);
}

FP8_INLINE void el_store_wide(uint8_t *const row[8], size_t at, const struct el *a)
{
	int k;

	for (k = 0; k < ELEMENTS; k++)
		fp8_store_wide(row, at + 64 * k, &a->c[k]);
}

FP8_INLINE void el_zero(struct el *r)
{
	int k;

	for (k = 0; k < ELEMENTS; k++)
		fp8_set_zero(&r->c[k]);
}

FP8_INLINE void el_one(struct el *r)
{
	el_zero(r);
	fp8_set_const(&r->c[0], ifma_one);
}

FP8_INLINE void el_blend(struct el *r, __mmask8 m, const struct el *a)
{
	int k;

	for (k = 0; k < ELEMENTS; k++)
		fp8_blend(&r->c[k], m, &a->c[k]);
}

FP8_INLINE void el_reduce(struct el *r, const struct el *a)
{
	int k;

	for (k = 0; k < ELEMENTS; k++)
		fp8_reduce(&r->c[k], &a->c[k]);
}

/* exact, for a loose a */
FP8_INLINE __mmask8 el_is_zero(const struct el *a)
{
	__mmask8 m = 0xff;
	int k;

	for (k = 0; k < ELEMENTS; k++)
		m &= fp8_is_zero(&a->c[k]);
	return m;
}

/* never misses a zero, for a loose a */
FP8_INLINE __mmask8 el_maybe_zero(const struct el *a)
{
	__mmask8 m = 0xff;
	int k;

	for (k = 0; k < ELEMENTS; k++)
		m &= fp8_maybe_zero(&a->c[k]);
	return m;
}

/* a - b + 3p, loose below 5.3 p */
FP8_INLINE void el_sub(struct el *r, const struct el *a, const struct el *b)
{
	int k;

	for (k = 0; k < ELEMENTS; k++)
		fp8_sub(&r->c[k], &a->c[k], &b->c[k]);
}

/* a - b, or -a - b in the lanes of neg, + 5p; loose below 7.3 p */
FP8_INLINE void el_sub_signed(struct el *r, const struct el *a, __mmask8 neg, const struct el *b)
{
	const __m512i zero = _mm512_setzero_si512();
	__m512i t[8];
	int i, k;

	for (k = 0; k < ELEMENTS; k++) {
#pragma GCC unroll 8
		for (i = 0; i < 8; i++)
			t[i] = _mm512_add_epi64(_mm512_sub_epi64(
					_mm512_mask_sub_epi64(a->c[k].l[i], neg, zero, a->c[k].l[i]),
					b->c[k].l[i]), fp8_const(&ifma_5p[i]));
		fp8_carry(&r->c[k], t);
	}
}

/* p - a in the lanes of m, for a reduced a */
FP8_INLINE void el_neg_lanes(struct el *a, __mmask8 m)
{
	__m512i t[8];
	struct fp8 n;
	int i, k;

	if (__builtin_expect(!m, 0))
		return;
	for (k = 0; k < ELEMENTS; k++) {
		for (i = 0; i < 8; i++)
			t[i] = _mm512_sub_epi64(fp8_const(&ifma_p[i]), a->c[k].l[i]);
		fp8_carry(&n, t);
		fp8_blend(&a->c[k], m, &n);
	}
}

/* 2a, loose below 4.5 p */
FP8_INLINE void el_double(struct el *r, const struct el *a)
{
	int k;

	for (k = 0; k < ELEMENTS; k++)
		fp8_add(&r->c[k], &a->c[k], &a->c[k]);
}

/* a b and a^2 as columns of values below 2.25 p; a, b loose, semi to be squared */
FP8_INLINE void el_mul_columns(__m512i t[ELEMENTS][8], const struct el *a, const struct el *b)
{
#if ELEMENTS == 1
	__m512i p[16];
	int i;

	fp8_mul_wide(p, &a->c[0], &b->c[0]);
	fp8_redc(p);
	for (i = 0; i < 8; i++)
		t[0][i] = p[8 + i];
#else
	fp8x2_mul_columns(t[0], t[1], a->c, b->c);
#endif
}

FP8_INLINE void el_sqr_columns(__m512i t[ELEMENTS][8], const struct el *a)
{
#if ELEMENTS == 1
	__m512i p[16];
	int i;

	fp8_sqr_wide(p, &a->c[0]);
	fp8_redc(p);
	for (i = 0; i < 8; i++)
		t[0][i] = p[8 + i];
#else
	fp8x2_sqr_columns(t[0], t[1], a->c);
#endif
}

/* a, b loose */
EL_PRODUCT void el_mul(struct el *r, const struct el *a, const struct el *b)
{
	__m512i t[ELEMENTS][8];
	int k;

	el_mul_columns(t, a, b);
	for (k = 0; k < ELEMENTS; k++)
		fp8_carry(&r->c[k], t[k]);
}

EL_PRODUCT void el_sqr(struct el *r, const struct el *a)
{
	__m512i t[ELEMENTS][8];
	int k;

	el_sqr_columns(t, a);
	for (k = 0; k < ELEMENTS; k++)
		fp8_carry(&r->c[k], t[k]);
}

/* a b - c; a, b loose */
EL_PRODUCT void el_mul_sub(struct el *r, const struct el *a, const struct el *b,
			   const struct el *c)
{
	__m512i t[ELEMENTS][8];
	int i, k;

	el_mul_columns(t, a, b);
	for (k = 0; k < ELEMENTS; k++) {
#pragma GCC unroll 8
		for (i = 0; i < 8; i++)
			t[k][i] = _mm512_add_epi64(_mm512_sub_epi64(t[k][i], c->c[k].l[i]),
						   fp8_const(&ifma_3p[i]));
		fp8_fold_carry(&r->c[k], t[k]);
	}
}

/* a^2 - b - c */
FP8_INLINE void el_sqr_sub_sub(struct el *r, const struct el *a, const struct el *b,
			       const struct el *c)
{
	__m512i t[ELEMENTS][8];
	int i, k;

	el_sqr_columns(t, a);
	for (k = 0; k < ELEMENTS; k++) {
#pragma GCC unroll 8
		for (i = 0; i < 8; i++)
			t[k][i] = _mm512_add_epi64(_mm512_sub_epi64(t[k][i], _mm512_add_epi64(
					b->c[k].l[i], c->c[k].l[i])), fp8_const(&ifma_5p[i]));
		fp8_fold_carry(&r->c[k], t[k]);
	}
}

/* a^2 - 2b - d, where d = c - b + 3p of a semi c: the integer a^2 - b - c + 5p again */
EL_PRODUCT void el_sqr_sub_twice_sub(struct el *r, const struct el *a, const struct el *b,
				     const struct el *d)
{
	__m512i t[ELEMENTS][8];
	int i, k;

	el_sqr_columns(t, a);
	for (k = 0; k < ELEMENTS; k++) {
#pragma GCC unroll 8
		for (i = 0; i < 8; i++)
			t[k][i] = _mm512_sub_epi64(_mm512_add_epi64(t[k][i], fp8_const(&ifma_8p[i])),
					_mm512_add_epi64(_mm512_add_epi64(b->c[k].l[i], b->c[k].l[i]),
							 d->c[k].l[i]));
		fp8_fold_carry(&r->c[k], t[k]);
	}
}

/* 3 a^2 */
FP8_INLINE void el_sqr_times3(struct el *r, const struct el *a)
{
	__m512i t[ELEMENTS][8];
	int i, k;

	el_sqr_columns(t, a);
	for (k = 0; k < ELEMENTS; k++) {
		for (i = 0; i < 8; i++)
			t[k][i] = _mm512_add_epi64(t[k][i], _mm512_add_epi64(t[k][i], t[k][i]));
		fp8_fold_carry(&r->c[k], t[k]);
	}
}

/*
 * Inverting by the norm: 1/a = conj(a) / N(a), N(a) in Fp.  The norm of an
 * element of Fp is itself.  a is loose.
 */
FP8_INLINE void el_norm(struct fp8 *r, const struct el *a)
{
#if ELEMENTS == 1
	*r = a->c[0];
#else
	fp8x2_norm(r, a->c);
#endif
}

EL_PRODUCT void el_mul_norm(struct fp8 *r, const struct el *a)
{
	struct fp8 n;

	el_norm(&n, a);
	fp8_mul(r, r, &n);
}

EL_PRODUCT void el_inv_from_norm(struct el *r, const struct el *a, const struct fp8 *norm_inv)
{
#if ELEMENTS == 1
	r->c[0] = *norm_inv;
#else
	struct fp8 t;
	__m512i neg[8];
	int i;

	/* 0 - a.c1 + 8p: a.c1 is below 7.3 p */
	for (i = 0; i < 8; i++)
		neg[i] = _mm512_sub_epi64(fp8_const(&ifma_8p[i]), a->c[1].l[i]);
	fp8_carry(&t, neg);
	fp8_mul(&r->c[0], &a->c[0], norm_inv);
	fp8_mul(&r->c[1], &t, norm_inv);
#endif
}

#endif
