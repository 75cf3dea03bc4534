/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * ifma_fp.h - eight elements of the base field at once, by AVX-512 IFMA
 *
 * Include it only in files compiled for AVX-512 F, DQ, BW, VL, IFMA, VBMI and
 * VBMI2, and call those only where the processor has them (msm_path_available).
 *
 * struct fp8 holds eight elements, limb i of all of them in l[i]; limbs are 52
 * bits, so that an element has 416 bits for the 381 of p and sums need no
 * reduction.  Elements are in Montgomery form, x 2^416 mod p.  Forms:
 *
 *   columns	any signed 64-bit limbs; only sums take it
 *   loose	limbs below 2^52, a value of 0 <= v < 9.8 p; products take it
 *   semi	loose, and v < 2.25 p; what products and sums leave in memory
 *   reduced	v < p
 *
 * Montgomery's reduction uses k p = m 2^52 - 1 in seven of its eight steps:
 * then the quotient digit is the lowest limb itself and the lowest column
 * vanishes by construction.
 */
#ifndef CUZK_GPU_CPU_IFMA_FP_H
#define CUZK_GPU_CPU_IFMA_FP_H

#include <immintrin.h>
#include <stdbool.h>
#include <stdint.h>

#include "gpu/cpu/ifma_consts.h"

struct fp8 {
	__m512i l[8];
};

#define FP8_INLINE static inline __attribute__((always_inline))

FP8_INLINE __m512i fp8_const(const uint64_t *limb)
{
	return _mm512_set1_epi64(*(const long long *)limb);
}

FP8_INLINE __m512i fp8_mask52(void)
{
	return _mm512_set1_epi64(IFMA_MASK);
}

FP8_INLINE void fp8_set_const(struct fp8 *r, const uint64_t c[8])
{
	int i;

	for (i = 0; i < 8; i++)
		r->l[i] = fp8_const(&c[i]);
}

FP8_INLINE void fp8_set_zero(struct fp8 *r)
{
	int i;

	for (i = 0; i < 8; i++)
		r->l[i] = _mm512_setzero_si512();
}

/* columns of a value that is not negative and below 2^416, to limbs */
FP8_INLINE void fp8_carry(struct fp8 *r, const __m512i *c)
{
	const __m512i mask = fp8_mask52();
	__m512i x = c[0];
	int i;

#pragma GCC unroll 8
	for (i = 0; i < 7; i++) {
		r->l[i] = _mm512_and_si512(x, mask);
		x = _mm512_add_epi64(c[i + 1], _mm512_srai_epi64(x, 52));
	}
	r->l[7] = x;
}

/*
 * columns of a value 0 <= v < 9.8 p to semi: takes off the multiple of p that the
 * top limb calls for.  Carries that the top column has yet to get are below
 * 2^-7 of the step of the table.
 */
FP8_INLINE void fp8_fold_carry(struct fp8 *r, const __m512i *c)
{
	__m512i t[8], i = _mm512_srai_epi64(_mm512_add_epi64(c[7], _mm512_srai_epi64(c[6], 52)), 17);
	int j;

#pragma GCC unroll 8
	for (j = 0; j < 8; j++)
		t[j] = _mm512_sub_epi64(c[j], _mm512_permutexvar_epi64(i,
					_mm512_load_si512(ifma_fold[j])));
	fp8_carry(r, t);
}

/* t[0..15] = a b as columns */
FP8_INLINE void fp8_mul_wide(__m512i *t, const struct fp8 *a, const struct fp8 *b)
{
	int i, j;

#pragma GCC unroll 16
	for (i = 0; i < 16; i++)
		t[i] = _mm512_setzero_si512();
#pragma GCC unroll 8
	for (i = 0; i < 8; i++) {
#pragma GCC unroll 8
		for (j = 0; j < 8; j++)
			t[i + j] = _mm512_madd52lo_epu64(t[i + j], a->l[j], b->l[i]);
#pragma GCC unroll 8
		for (j = 0; j < 8; j++)
			t[i + j + 1] = _mm512_madd52hi_epu64(t[i + j + 1], a->l[j], b->l[i]);
	}
}

FP8_INLINE void fp8_sqr_wide(__m512i *t, const struct fp8 *a)
{
	int i, j;

#pragma GCC unroll 16
	for (i = 0; i < 16; i++)
		t[i] = _mm512_setzero_si512();
#pragma GCC unroll 8
	for (i = 0; i < 7; i++) {
#pragma GCC unroll 8
		for (j = i + 1; j < 8; j++)
			t[i + j] = _mm512_madd52lo_epu64(t[i + j], a->l[j], a->l[i]);
#pragma GCC unroll 8
		for (j = i + 1; j < 8; j++)
			t[i + j + 1] = _mm512_madd52hi_epu64(t[i + j + 1], a->l[j], a->l[i]);
	}
#pragma GCC unroll 16
	for (i = 1; i < 15; i++)
		t[i] = _mm512_add_epi64(t[i], t[i]);
#pragma GCC unroll 8
	for (i = 0; i < 8; i++) {
		t[2 * i] = _mm512_madd52lo_epu64(t[2 * i], a->l[i], a->l[i]);
		t[2 * i + 1] = _mm512_madd52hi_epu64(t[2 * i + 1], a->l[i], a->l[i]);
	}
}

/*
 * t / 2^416 mod p: t[8..15] are the columns of a value below 1.24 p + p + t / 2^416.
 * t may have signed columns, its value is not negative.
 */
FP8_INLINE void fp8_redc(__m512i *t)
{
	const __m512i mask = fp8_mask52();
	__m512i q;
	int i, j;

#pragma GCC unroll 8
	for (i = 0; i < 7; i++) {
		q = _mm512_and_si512(t[i], mask);
		t[i + 1] = _mm512_add_epi64(t[i + 1], _mm512_srai_epi64(t[i], 52));
#pragma GCC unroll 8
		for (j = 0; j < 8; j++)
			t[i + 1 + j] = _mm512_madd52lo_epu64(t[i + 1 + j], q,
							     fp8_const(&ifma_m[j]));
#pragma GCC unroll 8
		for (j = 0; j < 8; j++)
			t[i + 2 + j] = _mm512_madd52hi_epu64(t[i + 2 + j], q,
							     fp8_const(&ifma_m[j]));
	}
	q = _mm512_madd52lo_epu64(_mm512_setzero_si512(), t[7],
				  _mm512_set1_epi64(IFMA_P_NEG_INV));
	t[7] = _mm512_madd52lo_epu64(t[7], q, fp8_const(&ifma_p[0]));
	t[8] = _mm512_add_epi64(t[8], _mm512_srai_epi64(t[7], 52));
#pragma GCC unroll 8
	for (j = 1; j < 8; j++)
		t[7 + j] = _mm512_madd52lo_epu64(t[7 + j], q, fp8_const(&ifma_p[j]));
#pragma GCC unroll 8
	for (j = 0; j < 8; j++)
		t[8 + j] = _mm512_madd52hi_epu64(t[8 + j], q, fp8_const(&ifma_p[j]));
}

/* loose a, b; semi r */
FP8_INLINE void fp8_mul(struct fp8 *r, const struct fp8 *a, const struct fp8 *b)
{
	__m512i t[16];

	fp8_mul_wide(t, a, b);
	fp8_redc(t);
	fp8_carry(r, t + 8);
}

FP8_INLINE void fp8_sqr(struct fp8 *r, const struct fp8 *a)
{
	__m512i t[16];

	fp8_sqr_wide(t, a);
	fp8_redc(t);
	fp8_carry(r, t + 8);
}

/* r = a - b + 3p: semi a, b; loose r < 5.3 p */
FP8_INLINE void fp8_sub(struct fp8 *r, const struct fp8 *a, const struct fp8 *b)
{
	__m512i t[8];
	int i;

#pragma GCC unroll 8
	for (i = 0; i < 8; i++)
		t[i] = _mm512_add_epi64(_mm512_sub_epi64(a->l[i], b->l[i]),
					fp8_const(&ifma_3p[i]));
	fp8_carry(r, t);
}

/* r = a + b: semi a, b; loose r < 4.5 p */
FP8_INLINE void fp8_add(struct fp8 *r, const struct fp8 *a, const struct fp8 *b)
{
	__m512i t[8];
	int i;

#pragma GCC unroll 8
	for (i = 0; i < 8; i++)
		t[i] = _mm512_add_epi64(a->l[i], b->l[i]);
	fp8_carry(r, t);
}

/* loose to semi */
FP8_INLINE void fp8_fold(struct fp8 *r, const struct fp8 *a)
{
	__m512i t[8];
	int i;

	for (i = 0; i < 8; i++)
		t[i] = a->l[i];
	fp8_fold_carry(r, t);
}

/* r = a in the lanes of m */
FP8_INLINE void fp8_blend(struct fp8 *r, __mmask8 m, const struct fp8 *a)
{
	int i;

	for (i = 0; i < 8; i++)
		r->l[i] = _mm512_mask_mov_epi64(r->l[i], m, a->l[i]);
}

/* Lanes that may be 0 mod p, for a loose a: never misses one, errs once in 2^48. */
FP8_INLINE __mmask8 fp8_maybe_zero(const struct fp8 *a)
{
	/* i p has i as its lowest limb times 1/p */
	__m512i i = _mm512_madd52lo_epu64(_mm512_setzero_si512(), a->l[0],
					  _mm512_set1_epi64(IFMA_P_INV));

	return _mm512_cmplt_epu64_mask(i, _mm512_set1_epi64(10));
}

/* Lanes that are 0 mod p, for a loose a. */
static inline __mmask8 fp8_is_zero(const struct fp8 *a)
{
	struct fp8 s;
	__m512i i;
	__mmask8 m = 0xff;
	int j;

	fp8_fold(&s, a);	/* leaves 0, p or 2p of a multiple of p */
	i = _mm512_madd52lo_epu64(_mm512_setzero_si512(), s.l[0], _mm512_set1_epi64(IFMA_P_INV));
	m = _mm512_cmplt_epu64_mask(i, _mm512_set1_epi64(8));
	for (j = 0; j < 8; j++)
		m &= _mm512_cmpeq_epu64_mask(s.l[j], _mm512_permutexvar_epi64(i,
					     _mm512_load_si512(ifma_multiple[j])));
	return m;
}

/* semi to reduced */
static inline void fp8_reduce(struct fp8 *r, const struct fp8 *a)
{
	struct fp8 s = *a;
	__m512i t[8];
	int i, k;

	for (k = 0; k < 2; k++) {
		struct fp8 d;

		for (i = 0; i < 8; i++)
			t[i] = _mm512_sub_epi64(s.l[i], fp8_const(&ifma_p[i]));
		fp8_carry(&d, t);	/* the top limb keeps the sign */
		fp8_blend(&s, (__mmask8)~_mm512_movepi64_mask(d.l[7]), &d);
	}
	*r = s;
}

/* ---- Fp2 = Fp[u]/(u^2 + 1) ---- */

/*
 * Karatsuba with one reduction for each part; a, b loose.
 * r0, r1: columns of values below 2.25 p.
 */
FP8_INLINE void fp8x2_mul_columns(__m512i *r0, __m512i *r1, const struct fp8 a[2],
				  const struct fp8 b[2])
{
	__m512i t0[16], t1[16], t2[16];
	struct fp8 sa, sb;
	int i;

	fp8_add(&sa, &a[0], &a[1]);
	fp8_add(&sb, &b[0], &b[1]);
	fp8_mul_wide(t0, &a[0], &b[0]);
	fp8_mul_wide(t1, &a[1], &b[1]);
	fp8_mul_wide(t2, &sa, &sb);
	for (i = 0; i < 16; i++) {
		t2[i] = _mm512_sub_epi64(t2[i], _mm512_add_epi64(t0[i], t1[i]));
		t0[i] = _mm512_sub_epi64(t0[i], t1[i]);
	}
	for (i = 0; i < 8; i++)
		t0[7 + i] = _mm512_add_epi64(t0[7 + i], fp8_const(&ifma_wide[i]));
	fp8_redc(t0);
	fp8_redc(t2);
	for (i = 0; i < 8; i++) {
		r0[i] = t0[8 + i];
		r1[i] = t2[8 + i];
	}
}

/* (a0 + a1)(a0 - a1), 2 a0 a1; semi a; columns of values below 2.25 p */
FP8_INLINE void fp8x2_sqr_columns(__m512i *r0, __m512i *r1, const struct fp8 a[2])
{
	__m512i t[16];
	struct fp8 s, d;
	int i;

	fp8_add(&s, &a[0], &a[1]);
	for (i = 0; i < 8; i++)
		t[i] = _mm512_add_epi64(_mm512_sub_epi64(a[0].l[i], a[1].l[i]),
					fp8_const(&ifma_3p[i]));
	fp8_carry(&d, t);
	fp8_mul_wide(t, &s, &d);
	fp8_redc(t);
	for (i = 0; i < 8; i++)
		r0[i] = t[8 + i];
	fp8_mul_wide(t, &a[0], &a[1]);
	for (i = 0; i < 16; i++)
		t[i] = _mm512_add_epi64(t[i], t[i]);
	fp8_redc(t);
	for (i = 0; i < 8; i++)
		r1[i] = t[8 + i];
}

/* c0^2 + c1^2; loose a */
FP8_INLINE void fp8x2_norm(struct fp8 *r, const struct fp8 a[2])
{
	__m512i t[16], u[16];
	int i;

	fp8_sqr_wide(t, &a[0]);
	fp8_sqr_wide(u, &a[1]);
	for (i = 0; i < 16; i++)
		t[i] = _mm512_add_epi64(t[i], u[i]);
	fp8_redc(t);
	fp8_carry(r, t + 8);
}

#endif
