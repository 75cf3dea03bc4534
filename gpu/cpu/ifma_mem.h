/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * ifma_mem.h - elements between memory and the eight lanes of ifma_fp.h
 *
 * Packed: 48 bytes, the integer x 2^416 mod p in little-endian order, as sets
 * of points keep them.  Wide: 64 bytes, the eight limbs, as sums keep them.
 * A row is the address of one lane's element.
 */
#ifndef CUZK_GPU_CPU_IFMA_MEM_H
#define CUZK_GPU_CPU_IFMA_MEM_H

#include "gpu/cpu/ifma_fp.h"
#include "lib/bls12_381/fp.h"

/* In the highest byte of a packed x, or limb 7 of a wide one: the point is infinity. */
#define IFMA_INFINITY_BYTE 0x80
#define IFMA_INFINITY_LIMB (1ull << 19)

/* 16 bytes at the same offset of each row: lo and hi words by lane */
FP8_INLINE void fp8_load_words(__m512i *lo, __m512i *hi, const uint8_t *const row[8], size_t at)
{
	__m512i even, odd;

	even = _mm512_broadcast_i64x2(_mm_loadu_si128((const __m128i *)(row[0] + at)));
	odd = _mm512_broadcast_i64x2(_mm_loadu_si128((const __m128i *)(row[1] + at)));
	even = _mm512_mask_broadcast_i64x2(even, 0x0c, _mm_loadu_si128((const __m128i *)(row[2] + at)));
	odd = _mm512_mask_broadcast_i64x2(odd, 0x0c, _mm_loadu_si128((const __m128i *)(row[3] + at)));
	even = _mm512_mask_broadcast_i64x2(even, 0x30, _mm_loadu_si128((const __m128i *)(row[4] + at)));
	odd = _mm512_mask_broadcast_i64x2(odd, 0x30, _mm_loadu_si128((const __m128i *)(row[5] + at)));
	even = _mm512_mask_broadcast_i64x2(even, 0xc0, _mm_loadu_si128((const __m128i *)(row[6] + at)));
	odd = _mm512_mask_broadcast_i64x2(odd, 0xc0, _mm_loadu_si128((const __m128i *)(row[7] + at)));
	*lo = _mm512_unpacklo_epi64(even, odd);
	*hi = _mm512_unpackhi_epi64(even, odd);
}

FP8_INLINE void fp8_store_words(uint8_t *const row[8], size_t at, __m512i lo, __m512i hi)
{
	__m512i even = _mm512_unpacklo_epi64(lo, hi), odd = _mm512_unpackhi_epi64(lo, hi);

	_mm_storeu_si128((__m128i *)(row[0] + at), _mm512_castsi512_si128(even));
	_mm_storeu_si128((__m128i *)(row[1] + at), _mm512_castsi512_si128(odd));
	_mm_storeu_si128((__m128i *)(row[2] + at), _mm512_extracti64x2_epi64(even, 1));
	_mm_storeu_si128((__m128i *)(row[3] + at), _mm512_extracti64x2_epi64(odd, 1));
	_mm_storeu_si128((__m128i *)(row[4] + at), _mm512_extracti64x2_epi64(even, 2));
	_mm_storeu_si128((__m128i *)(row[5] + at), _mm512_extracti64x2_epi64(odd, 2));
	_mm_storeu_si128((__m128i *)(row[6] + at), _mm512_extracti64x2_epi64(even, 3));
	_mm_storeu_si128((__m128i *)(row[7] + at), _mm512_extracti64x2_epi64(odd, 3));
}

/* six 64-bit words to eight limbs */
FP8_INLINE void fp8_from_words(struct fp8 *r, const __m512i w[6])
{
	const __m512i mask = fp8_mask52();

	r->l[0] = _mm512_and_si512(w[0], mask);
	r->l[1] = _mm512_and_si512(_mm512_shrdi_epi64(w[0], w[1], 52), mask);
	r->l[2] = _mm512_and_si512(_mm512_shrdi_epi64(w[1], w[2], 40), mask);
	r->l[3] = _mm512_and_si512(_mm512_shrdi_epi64(w[2], w[3], 28), mask);
	r->l[4] = _mm512_and_si512(_mm512_shrdi_epi64(w[3], w[4], 16), mask);
	r->l[5] = _mm512_and_si512(_mm512_srli_epi64(w[4], 4), mask);
	r->l[6] = _mm512_and_si512(_mm512_shrdi_epi64(w[4], w[5], 56), mask);
	r->l[7] = _mm512_srli_epi64(w[5], 44);
}

/* eight limbs of a value below 2^384 to six words */
FP8_INLINE void fp8_to_words(__m512i w[6], const struct fp8 *a)
{
	w[0] = _mm512_or_si512(a->l[0], _mm512_slli_epi64(a->l[1], 52));
	w[1] = _mm512_or_si512(_mm512_srli_epi64(a->l[1], 12), _mm512_slli_epi64(a->l[2], 40));
	w[2] = _mm512_or_si512(_mm512_srli_epi64(a->l[2], 24), _mm512_slli_epi64(a->l[3], 28));
	w[3] = _mm512_or_si512(_mm512_srli_epi64(a->l[3], 36), _mm512_slli_epi64(a->l[4], 16));
	w[4] = _mm512_or_si512(_mm512_or_si512(_mm512_srli_epi64(a->l[4], 48),
					       _mm512_slli_epi64(a->l[5], 4)),
			       _mm512_slli_epi64(a->l[6], 56));
	w[5] = _mm512_or_si512(_mm512_srli_epi64(a->l[6], 8), _mm512_slli_epi64(a->l[7], 44));
}

FP8_INLINE void fp8_load_packed(struct fp8 *r, const uint8_t *const row[8], size_t at)
{
	__m512i w[6];

	fp8_load_words(&w[0], &w[1], row, at);
	fp8_load_words(&w[2], &w[3], row, at + 16);
	fp8_load_words(&w[4], &w[5], row, at + 32);
	fp8_from_words(r, w);
}

FP8_INLINE void fp8_store_packed(uint8_t *const row[8], size_t at, const struct fp8 *a)
{
	__m512i w[6];

	fp8_to_words(w, a);
	fp8_store_words(row, at, w[0], w[1]);
	fp8_store_words(row, at + 16, w[2], w[3]);
	fp8_store_words(row, at + 32, w[4], w[5]);
}

FP8_INLINE void fp8_load_wide(struct fp8 *r, const uint8_t *const row[8], size_t at)
{
	int i;

	for (i = 0; i < 4; i++)
		fp8_load_words(&r->l[2 * i], &r->l[2 * i + 1], row, at + 16 * i);
}

FP8_INLINE void fp8_store_wide(uint8_t *const row[8], size_t at, const struct fp8 *a)
{
	int i;

	for (i = 0; i < 4; i++)
		fp8_store_words(row, at + 16 * i, a->l[2 * i], a->l[2 * i + 1]);
}

/*
 * In every lane 1/a for a semi a without zeros; semi.  One inversion of the
 * product of all lanes; costs about one fp_inv_vartime.
 */
void fp8_inv_vartime(struct fp8 *r, const struct fp8 *a);

void ifma_words_to_limbs(uint64_t limb[8], const uint64_t word[6]);
/* One element, semi, to struct fp with its reduced form, and back. */
void ifma_fp_get(struct fp *r, const uint64_t limb[8]);
void ifma_fp_set(uint64_t limb[8], const struct fp *a);

#endif
