/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* ifma_mem.c - single elements in and out of the eight lanes, and their inversion */
#include <string.h>

#include "gpu/cpu/ifma_mem.h"

static void limbs_to_words(uint64_t w[6], const uint64_t l[8])
{
	w[0] = l[0] | l[1] << 52;
	w[1] = l[1] >> 12 | l[2] << 40;
	w[2] = l[2] >> 24 | l[3] << 28;
	w[3] = l[3] >> 36 | l[4] << 16;
	w[4] = l[4] >> 48 | l[5] << 4 | l[6] << 56;
	w[5] = l[6] >> 8 | l[7] << 44;
}

void ifma_words_to_limbs(uint64_t l[8], const uint64_t w[6])
{
	l[0] = w[0] & IFMA_MASK;
	l[1] = (w[0] >> 52 | w[1] << 12) & IFMA_MASK;
	l[2] = (w[1] >> 40 | w[2] << 24) & IFMA_MASK;
	l[3] = (w[2] >> 28 | w[3] << 36) & IFMA_MASK;
	l[4] = (w[3] >> 16 | w[4] << 48) & IFMA_MASK;
	l[5] = w[4] >> 4 & IFMA_MASK;
	l[6] = (w[4] >> 56 | w[5] << 8) & IFMA_MASK;
	l[7] = w[5] >> 44;
}

static void broadcast(struct fp8 *r, const uint64_t l[8])
{
	int i;

	for (i = 0; i < 8; i++)
		r->l[i] = _mm512_set1_epi64((long long)l[i]);
}

static void lane0(uint64_t l[8], const struct fp8 *a)
{
	int i;

	for (i = 0; i < 8; i++)
		l[i] = (uint64_t)_mm_cvtsi128_si64(_mm512_castsi512_si128(a->l[i]));
}

static void permute(struct fp8 *r, const struct fp8 *a, __m512i how)
{
	int i;

	for (i = 0; i < 8; i++)
		r->l[i] = _mm512_permutexvar_epi64(how, a->l[i]);
}

void fp8_inv_vartime(struct fp8 *r, const struct fp8 *a)
{
	struct fp8 near, pair, far, quad, others, all, fix;
	uint64_t l[8];
	struct fp x;

	/* others: the product of the seven other lanes */
	permute(&near, a, _mm512_set_epi64(6, 7, 4, 5, 2, 3, 0, 1));
	fp8_mul(&pair, a, &near);
	permute(&far, &pair, _mm512_set_epi64(5, 4, 7, 6, 1, 0, 3, 2));
	fp8_mul(&others, &near, &far);
	fp8_mul(&quad, &pair, &far);
	permute(&far, &quad, _mm512_set_epi64(3, 2, 1, 0, 7, 6, 5, 4));
	fp8_mul(&others, &others, &far);
	fp8_mul(&all, &quad, &far);

	fp8_reduce(&all, &all);
	lane0(l, &all);
	limbs_to_words(x.l, l);
	fp_inv_vartime(&x, &x);
	ifma_words_to_limbs(l, x.l);
	broadcast(&all, l);
	fp8_set_const(&fix, ifma_inv_fix);
	fp8_mul(&all, &all, &fix);
	fp8_mul(r, &all, &others);
}

void ifma_fp_get(struct fp *r, const uint64_t limb[8])
{
	struct fp8 a, k;
	uint64_t l[8];

	broadcast(&a, limb);
	fp8_set_const(&k, ifma_to_384);
	fp8_mul(&a, &a, &k);
	fp8_reduce(&a, &a);
	lane0(l, &a);
	limbs_to_words(r->l, l);
}

void ifma_fp_set(uint64_t limb[8], const struct fp *a)
{
	struct fp8 x, k;

	ifma_words_to_limbs(limb, a->l);
	broadcast(&x, limb);
	fp8_set_const(&k, ifma_from_384);
	fp8_mul(&x, &x, &k);
	fp8_reduce(&x, &x);
	lane0(limb, &x);
}
