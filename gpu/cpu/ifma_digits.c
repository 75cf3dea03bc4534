/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* ifma_digits.c - signed digits of eight scalars at once */
#include "gpu/cpu/ifma_mem.h"
#include "gpu/cpu/msm_impl.h"

static const uint64_t R[4] = {
	0xffffffff00000001, 0x53bda402fffe5bfe, 0x3339d80809a1d805, 0x73eda753299d7d48
};
static const uint64_t R_HALF[4] = {	/* (r - 1) / 2 */
	0x7fffffff80000000, 0xa9ded2017fff2dff, 0x199cec0404d0ec02, 0x39f6d3a994cebea4
};

/* r = a - b by lanes; returns the lanes where a < b */
FP8_INLINE __mmask8 sub4(__m512i r[4], const __m512i a[4], const __m512i b[4])
{
	const __m512i one = _mm512_set1_epi64(1);
	__mmask8 borrow = 0;
	int i;

	for (i = 0; i < 4; i++) {
		__m512i d = _mm512_sub_epi64(a[i], b[i]);
		__mmask8 less = _mm512_cmplt_epu64_mask(a[i], b[i]);

		less |= borrow & _mm512_testn_epi64_mask(d, d);
		r[i] = _mm512_mask_sub_epi64(d, borrow, d, one);
		borrow = less;
	}
	return borrow;
}

FP8_INLINE void add4(__m512i r[4], const __m512i a[4], const __m512i b[4])
{
	const __m512i one = _mm512_set1_epi64(1), ones = _mm512_set1_epi64(-1);
	__mmask8 carry = 0;
	int i;

	for (i = 0; i < 4; i++) {
		__m512i s = _mm512_add_epi64(a[i], b[i]);
		__mmask8 over = _mm512_cmplt_epu64_mask(s, a[i]);

		over |= carry & _mm512_cmpeq_epi64_mask(s, ones);
		r[i] = _mm512_mask_add_epi64(s, carry, s, one);
		carry = over;
	}
}

bool msm_digits_ifma(const struct msm_recode *rc, const struct scalar *s, size_t n,
		     unsigned int first, unsigned int n_windows, uint32_t *digit, size_t stride)
{
	__m512i r[4], half[4], halves[4];
	size_t at, i;
	unsigned int w;
	int k;

	for (k = 0; k < 4; k++) {
		r[k] = fp8_const(&R[k]);
		half[k] = fp8_const(&R_HALF[k]);
		halves[k] = fp8_const(&rc->halves.l[k]);
	}
	for (at = 0; at < n; at += 8) {
		__m512i v[5], t[4];
		__mmask8 neg, large;
		const uint8_t *row[8];

		for (i = 0; i < 8; i++)
			row[i] = (const uint8_t *)&s[at + i < n ? at + i : at];
		fp8_load_words(&v[0], &v[1], row, 0);
		fp8_load_words(&v[2], &v[3], row, 16);
		large = ~sub4(t, v, r);
		if (large)
			return false;
		neg = sub4(t, half, v);
		sub4(t, r, v);
		for (k = 0; k < 4; k++)
			v[k] = _mm512_mask_mov_epi64(v[k], neg, t[k]);
		add4(v, v, halves);
		v[4] = _mm512_setzero_si512();
		for (w = 0; w < n_windows; w++) {
			unsigned int bit = rc->offset[first + w], width = rc->width[first + w];
			__m512i x = _mm512_shrdv_epi64(v[bit / 64], v[bit / 64 + 1],
						       _mm512_set1_epi64(bit % 64)), d;
			__mmask8 m;

			x = _mm512_and_si512(x, _mm512_set1_epi64((1ll << width) - 1));
			d = _mm512_sub_epi64(x, _mm512_set1_epi64(1ll << (width - 1)));
			m = _mm512_movepi64_mask(d) ^ neg;
			d = _mm512_abs_epi64(d);
			d = _mm512_mask_or_epi64(d, m, d, _mm512_set1_epi64(MSM_NEGATIVE));
			if (at + 8 <= n)
				_mm256_storeu_si256((__m256i *)(digit + w * stride + at),
						    _mm512_cvtepi64_epi32(d));
			else
				_mm256_mask_storeu_epi32(digit + w * stride + at, 0xff >> (at + 8 - n),
							 _mm512_cvtepi64_epi32(d));
		}
	}
	return true;
}
