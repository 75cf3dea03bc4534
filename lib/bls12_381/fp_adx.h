/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * fp_adx.h - multiplication in Fp, Fp2 and Fr with BMI2 and ADX
 *
 * The twin of fp_portable.h over adx_x86_64.S.  Products take operands below
 * 2p, give results below p.
 */
#ifndef CUZK_BLS12_381_FP_ADX_H
#define CUZK_BLS12_381_FP_ADX_H

#include "lib/bls12_381/limbs.h"

void adx_fr_mul(struct fr *r, const struct fr *a, const struct fr *b);
void adx_fr_add(struct fr *r, const struct fr *a, const struct fr *b);
void adx_fr_sub(struct fr *r, const struct fr *a, const struct fr *b);
void adx_fp_mul(struct fp *r, const struct fp *a, const struct fp *b);
void adx_fp_sqr(struct fp *r, const struct fp *a);
void adx_fp_add(struct fp *r, const struct fp *a, const struct fp *b);
void adx_fp_sub(struct fp *r, const struct fp *a, const struct fp *b);
void adx_fpw_redc(struct fp *r, const struct fpw *a);
void adx_fpw_add(struct fpw *r, const struct fpw *a, const struct fpw *b);
void adx_fpw_sub(struct fpw *r, const struct fpw *a, const struct fpw *b);
void adx_fp_sqr_n(struct fp *r, const struct fp *a, unsigned int n);
void adx_fp2w_mul(struct fp2w *r, const struct fp2 *a, const struct fp2 *b);
void adx_fp2w_redc(struct fp2 *r, const struct fp2w *a);
void adx_fp2_add(struct fp2 *r, const struct fp2 *a, const struct fp2 *b);
void adx_fp2_sub(struct fp2 *r, const struct fp2 *a, const struct fp2 *b);
void adx_fp2_mul(struct fp2 *r, const struct fp2 *a, const struct fp2 *b);
void adx_fp2_sqr(struct fp2 *r, const struct fp2 *a);

#define BLS_OWN_ADD_SUB 1
#define BLS_OWN_FP2 1

void fr_mul(struct fr *r, const struct fr *a, const struct fr *b)
{
	FR_CHECK(a);
	FR_CHECK(b);
	adx_fr_mul(r, a, b);
}

void fr_add(struct fr *r, const struct fr *a, const struct fr *b)
{
	FR_CHECK(a);
	FR_CHECK(b);
	adx_fr_add(r, a, b);
}

void fr_sub(struct fr *r, const struct fr *a, const struct fr *b)
{
	FR_CHECK(a);
	FR_CHECK(b);
	adx_fr_sub(r, a, b);
}

void fr_sqr(struct fr *r, const struct fr *a)
{
	FR_CHECK(a);
	adx_fr_mul(r, a, a);
}

void fp_mul(struct fp *r, const struct fp *a, const struct fp *b)
{
	FP_CHECK(a);
	FP_CHECK(b);
	adx_fp_mul(r, a, b);
}

void fp_add(struct fp *r, const struct fp *a, const struct fp *b)
{
	FP_CHECK(a);
	FP_CHECK(b);
	adx_fp_add(r, a, b);
}

void fp_sub(struct fp *r, const struct fp *a, const struct fp *b)
{
	FP_CHECK(a);
	FP_CHECK(b);
	adx_fp_sub(r, a, b);
}

void fp_sqr(struct fp *r, const struct fp *a)
{
	FP_CHECK(a);
	adx_fp_sqr(r, a);
}

void fp2_mul(struct fp2 *r, const struct fp2 *a, const struct fp2 *b)
{
	FP2_CHECK(a);
	FP2_CHECK(b);
	adx_fp2_mul(r, a, b);
}

void fp2_add(struct fp2 *r, const struct fp2 *a, const struct fp2 *b)
{
	FP2_CHECK(a);
	FP2_CHECK(b);
	adx_fp2_add(r, a, b);
}

void fp2_sub(struct fp2 *r, const struct fp2 *a, const struct fp2 *b)
{
	FP2_CHECK(a);
	FP2_CHECK(b);
	adx_fp2_sub(r, a, b);
}

void fp2_sqr(struct fp2 *r, const struct fp2 *a)
{
	FP2_CHECK(a);
	adx_fp2_sqr(r, a);
}

#define fpw_redc adx_fpw_redc
#define fpw_add adx_fpw_add
#define fpw_sub adx_fpw_sub
#define fp_sqr_n adx_fp_sqr_n
#define fp2w_mul adx_fp2w_mul
#define fp2w_redc adx_fp2w_redc

#endif
