/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * ifma_points_impl.h - a set's points from bytes and back, eight at a time
 *
 * Included after ifma_msm_impl.h.  Packed points have reduced coordinates;
 * infinity has zeros and IFMA_INFINITY_BYTE in the last byte of its first one.
 */

/* Place of element k of a packed point in the zcash encoding: the coefficient of u first. */
#define ZCASH_ELEMENT(k) (ELEMENTS == 1 ? (k) : (k) ^ 1)

FP8_INLINE __m512i swap_bytes(__m512i a)
{
	return _mm512_shuffle_epi8(a, _mm512_broadcast_i32x4(
			_mm_set_epi8(8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7)));
}

/* rows of 8 consecutive items; those behind the last repeat the first, or go to dump */
FP8_INLINE void item_rows(uint8_t *row[8], const void *base, size_t size, size_t n, void *dump)
{
	size_t i;

	for (i = 0; i < 8; i++)
		row[i] = i < n ? (uint8_t *)base + i * size : dump;
}

FP8_INLINE __mmask8 fp8_below_p(const struct fp8 *a)
{
	__m512i t[8];
	struct fp8 d;
	int i;

	for (i = 0; i < 8; i++)
		t[i] = _mm512_sub_epi64(a->l[i], fp8_const(&ifma_p[i]));
	fp8_carry(&d, t);
	return _mm512_movepi64_mask(d.l[7]);
}

FP8_INLINE __mmask8 fp8_all_zero(const struct fp8 *a)
{
	__m512i or = a->l[0];
	int i;

	for (i = 1; i < 8; i++)
		or = _mm512_or_si512(or, a->l[i]);
	return _mm512_testn_epi64_mask(or, or);
}

/* The integers of 8 encoded points; returns the lanes whose flags are wrong. */
FP8_INLINE __mmask8 load_encoded(struct fp8 f[2 * ELEMENTS], uint8_t *const row[8],
				 enum msm_encoding encoding)
{
	const uint8_t *const *r = (const uint8_t *const *)row;
	__mmask8 flagged, compressed, larger;
	struct fp8 *first;
	__m512i w[6], be[6];
	int i, k;

	if (encoding == MSM_AFFINE) {
		for (k = 0; k < 2 * ELEMENTS; k++)
			fp8_load_packed(&f[k], r, 48 * k);
		return 0;
	}
	for (k = 0; k < 2 * ELEMENTS; k++) {
		for (i = 0; i < 3; i++)
			fp8_load_words(&be[2 * i], &be[2 * i + 1], r, 48 * k + 16 * i);
		for (i = 0; i < 6; i++)
			w[i] = swap_bytes(be[5 - i]);
		fp8_from_words(&f[ZCASH_ELEMENT(k)], w);
	}
	/* the flags are the three top bits of 384 in the first coordinate of the encoding */
	first = &f[ZCASH_ELEMENT(0)];
	compressed = _mm512_test_epi64_mask(first->l[7], _mm512_set1_epi64(1 << 19));
	flagged = _mm512_test_epi64_mask(first->l[7], _mm512_set1_epi64(1 << 18));
	larger = _mm512_test_epi64_mask(first->l[7], _mm512_set1_epi64(1 << 17));
	first->l[7] = _mm512_mask_and_epi64(first->l[7], flagged, first->l[7],
					    _mm512_set1_epi64((1 << 18) - 1));
	if (flagged) {
		__mmask8 zero = 0xff;

		for (k = 0; k < 2 * ELEMENTS; k++)
			zero &= fp8_all_zero(&f[k]);
		compressed |= flagged & ~zero;
	}
	return compressed | larger;
}

static size_t NAME(points_decode)(void *points, const void *src, size_t n,
				  enum msm_encoding encoding)
{
	uint8_t dump[POINT_SIZE];
	struct fp8 f[2 * ELEMENTS], to_mont;
	size_t at;
	int k;

	fp8_set_const(&to_mont, encoding == MSM_AFFINE ? ifma_from_384 : ifma_from_int);
	for (at = 0; at < n; at += 8) {
		const uint8_t *in = (const uint8_t *)src + at * POINT_SIZE;
		uint8_t *out = (uint8_t *)points + at * POINT_SIZE, *row[8];
		size_t now = n - at < 8 ? n - at : 8;
		__mmask8 bad, infinite = 0xff;

		item_rows(row, in, POINT_SIZE, now, (void *)in);
		bad = load_encoded(f, row, encoding);
		for (k = 0; k < 2 * ELEMENTS; k++) {
			bad |= ~fp8_below_p(&f[k]);
			infinite &= fp8_all_zero(&f[k]);
		}
		bad &= 0xff >> (8 - now);
		if (bad)
			return at + __builtin_ctz(bad);
		item_rows(row, out, POINT_SIZE, now, dump);
		for (k = 0; k < 2 * ELEMENTS; k++) {
			fp8_mul(&f[k], &f[k], &to_mont);
			fp8_reduce(&f[k], &f[k]);
			if (k == 0)
				f[0].l[7] = _mm512_mask_mov_epi64(f[0].l[7], infinite,
							_mm512_set1_epi64(IFMA_INFINITY_LIMB));
			fp8_store_packed(row, 48 * k, &f[k]);
		}
	}
	return n;
}

static size_t NAME(points_on_curve)(const void *points, size_t n)
{
	struct el x, y, t, b;
	size_t at;
	int k;

	for (k = 0; k < ELEMENTS; k++)
		fp8_set_const(&b.c[k], ifma_b);
	for (at = 0; at < n; at += 8) {
		const uint8_t *in = (const uint8_t *)points + at * POINT_SIZE;
		size_t now = n - at < 8 ? n - at : 8;
		__mmask8 bad, infinite;
		uint8_t *row[8];

		item_rows(row, in, POINT_SIZE, now, (void *)in);
		el_load_packed(&x, (const uint8_t *const *)row, 0);
		el_load_packed(&y, (const uint8_t *const *)row, ELEMENTS * 48);
		infinite = _mm512_test_epi64_mask(x.c[0].l[7], _mm512_set1_epi64(IFMA_INFINITY_LIMB));
		/* x^3 + b - y^2 */
		el_sqr(&t, &y);
		el_sub(&b, &b, &t);
		el_sqr(&t, &x);
		el_mul(&t, &t, &x);
		for (k = 0; k < ELEMENTS; k++) {
			fp8_add(&t.c[k], &t.c[k], &b.c[k]);
			fp8_set_const(&b.c[k], ifma_b);
		}
		bad = ~el_is_zero(&t) & ~infinite & (0xff >> (8 - now));
		if (bad)
			return at + __builtin_ctz(bad);
	}
	return n;
}

static void NAME(points_clear)(void *points, size_t n)
{
	size_t i;

	memset(points, 0, n * POINT_SIZE);
	for (i = 0; i < n; i++)
		((uint8_t *)points)[i * POINT_SIZE + 47] = IFMA_INFINITY_BYTE;
}

static void NAME(points_from_sums)(void *points, const void *sums, size_t n)
{
	uint8_t dump[POINT_SIZE];
	struct fp8 a, b;
	size_t at;
	int k;

	for (at = 0; at < n; at += 8) {
		const uint8_t *in = (const uint8_t *)sums + at * SUM_SIZE;
		size_t now = n - at < 8 ? n - at : 8;
		uint8_t *from[8], *to[8];
		__mmask8 infinite;

		item_rows(from, in, SUM_SIZE, now, (void *)in);
		item_rows(to, (uint8_t *)points + at * POINT_SIZE, POINT_SIZE, now, dump);
		for (k = 0; k < 2 * ELEMENTS; k++) {
			fp8_load_wide(&a, (const uint8_t *const *)from, 64 * k);
			/* the flag of infinity is no part of the number */
			infinite = k ? 0 : _mm512_test_epi64_mask(a.l[7],
						_mm512_set1_epi64(IFMA_INFINITY_LIMB));
			fp8_reduce(&b, &a);
			fp8_blend(&b, infinite, &a);
			fp8_store_packed(to, 48 * k, &b);
		}
	}
}

static bool NAME(point_get)(const void *point, void *out)
{
	const uint8_t *in = point;
	struct fp *f = out, t;
	uint64_t limb[8];
	int i;

	if (in[47] & IFMA_INFINITY_BYTE) {
		memset(out, 0, 2 * ELEMENTS * sizeof(struct fp));
		return false;
	}
	for (i = 0; i < 2 * ELEMENTS; i++) {
		memcpy(&t, in + 48 * i, 48);
		ifma_words_to_limbs(limb, t.l);
		ifma_fp_get(&f[i], limb);
	}
	return true;
}

static void NAME(sums_to_zcash)(uint8_t *out, const void *sums, size_t n)
{
	uint8_t dump[POINT_SIZE];
	struct fp8 a, one;
	__m512i w[6], be[6];
	size_t at, i;
	int k;

	fp8_set_zero(&one);
	one.l[0] = _mm512_set1_epi64(1);
	for (at = 0; at < n; at += 8) {
		const uint8_t *in = (const uint8_t *)sums + at * SUM_SIZE;
		size_t now = n - at < 8 ? n - at : 8;
		uint8_t *from[8], *to[8];

		item_rows(from, in, SUM_SIZE, now, (void *)in);
		item_rows(to, out + at * POINT_SIZE, POINT_SIZE, now, dump);
		for (k = 0; k < 2 * ELEMENTS; k++) {
			fp8_load_wide(&a, (const uint8_t *const *)from, 64 * k);
			fp8_mul(&a, &a, &one);
			fp8_reduce(&a, &a);
			fp8_to_words(w, &a);
			for (i = 0; i < 6; i++)
				be[i] = swap_bytes(w[5 - i]);
			for (i = 0; i < 3; i++)
				fp8_store_words(to, 48 * ZCASH_ELEMENT(k) + 16 * i, be[2 * i],
						be[2 * i + 1]);
		}
		for (i = 0; i < now; i++)
			if (((const uint64_t *)(in + i * SUM_SIZE))[7] & IFMA_INFINITY_LIMB) {
				memset(to[i], 0, POINT_SIZE);
				to[i][0] = 0x40;
			}
	}
}
