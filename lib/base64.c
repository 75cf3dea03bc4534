/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* base64.c - base64, decoding of the standard and URL-safe alphabet */
#include <errno.h>
#include <stdbool.h>
#ifdef CUZK_X86
#include <immintrin.h>
#endif

#include "lib/base64.h"

/* value of a character; 64: none */
static const uint8_t value[256] = {
#define N4 64, 64, 64, 64
#define N16 N4, N4, N4, N4
	N16, N16,
	64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 62, 64, 62, 64, 63,
	52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 64, 64, 64, 64, 64, 64,
	64, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14,
	15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 64, 64, 64, 64, 63,
	64, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40,
	41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 64, 64, 64, 64, 64,
	N16, N16, N16, N16, N16, N16, N16, N16,
#undef N16
#undef N4
};

#ifdef CUZK_X86
/*
 * Decodes the first of n groups, eight at a time, as far as there are no wrong characters and
 * the rest has room for the 32 bytes that are written each time.  How many it decoded.
 */
__attribute__((target("avx2")))
static size_t decode_avx2(const uint8_t *p, uint8_t *o, size_t n)
{
	/* the bytes of each group of four, first one first, then the two halves */
	const __m256i order = _mm256_setr_epi8(
		2, 1, 0, 6, 5, 4, 10, 9, 8, 14, 13, 12, -1, -1, -1, -1,
		2, 1, 0, 6, 5, 4, 10, 9, 8, 14, 13, 12, -1, -1, -1, -1);
	const __m256i halves = _mm256_setr_epi32(0, 1, 2, 4, 5, 6, 3, 7);
	__m256i v, delta, known;
	size_t i;

	/* known: 0xff where the character is one; delta: from it to its value */
#define SET(c) _mm256_set1_epi8(c)
#define VALUES(mask, d) do {								\
		__m256i in = (mask);							\
		known = _mm256_or_si256(known, in);					\
		delta = _mm256_or_si256(delta, _mm256_and_si256(in, SET(d)));		\
	} while (0)
#define BETWEEN(first, last)								\
	_mm256_and_si256(_mm256_cmpgt_epi8(v, SET((first) - 1)),			\
			 _mm256_cmpgt_epi8(SET((last) + 1), v))
#define IS(c) _mm256_cmpeq_epi8(v, SET(c))
	for (i = 0; (n - i) * 3 >= 32; i += 8, p += 32, o += 24) {
		v = _mm256_loadu_si256((const __m256i *)p);
		known = delta = _mm256_setzero_si256();
		VALUES(BETWEEN('A', 'Z'), -'A');
		VALUES(BETWEEN('a', 'z'), 26 - 'a');
		VALUES(BETWEEN('0', '9'), 52 - '0');
		VALUES(IS('+'), 62 - '+');
		VALUES(IS('-'), 62 - '-');
		VALUES(IS('/'), 63 - '/');
		VALUES(IS('_'), 63 - '_');
		if (_mm256_movemask_epi8(known) != -1)
			break;
		v = _mm256_add_epi8(v, delta);
		/* pairs of six bits to twelve, pairs of those to 24 */
		v = _mm256_maddubs_epi16(v, _mm256_set1_epi32(0x01400140));
		v = _mm256_madd_epi16(v, _mm256_set1_epi32(0x00011000));
		v = _mm256_permutevar8x32_epi32(_mm256_shuffle_epi8(v, order), halves);
		_mm256_storeu_si256((__m256i *)o, v);
	}
#undef IS
#undef BETWEEN
#undef VALUES
#undef SET
	return i;
}
#endif

void base64_open(struct base64_reader *r, const char *text, size_t len)
{
	/* padding only completes a last group, and says nothing new */
	if (len && len % 4 == 0 && text[len - 1] == '=') {
		len--;
		if (text[len - 1] == '=')
			len--;
	}
	r->text = text;
	r->len = len;
	r->pos = 0;
}

/* the last 2 or 3 characters */
static int read_rest(struct base64_reader *r, uint8_t *out, size_t *out_len)
{
	size_t i, n = r->len - r->pos;
	uint32_t v = 0;

	for (i = 0; i < n; i++) {
		uint8_t c = value[(uint8_t)r->text[r->pos + i]];

		if (c == 64) {
			r->pos += i;
			return -EINVAL;
		}
		v = v << 6 | c;
	}
	if (n == 1) {
		r->pos = r->len;
		return -EINVAL;
	}
	if (v & (n == 2 ? 0xf : 0x3)) {	/* bits that no byte holds */
		r->pos = r->len - 1;
		return -EINVAL;
	}
	if (n == 2) {
		out[0] = v >> 4;
	} else {
		out[0] = v >> 10;
		out[1] = v >> 2;
	}
	*out_len = n - 1;
	r->pos = r->len;
	return 0;
}

int base64_read(struct base64_reader *r, uint8_t *out, size_t max, size_t *out_len)
{
	size_t groups = (r->len - r->pos) / 4, n = groups < max / 3 ? groups : max / 3;
	const uint8_t *p = (const uint8_t *)r->text + r->pos;
	uint8_t *o = out;
	size_t i = 0;

#ifdef CUZK_X86
	if (__builtin_cpu_supports("avx2"))
		i = decode_avx2(p, o, n);
#endif
	for (p += 4 * i, o += 3 * i; i < n; i++, p += 4, o += 3) {
		uint32_t a = value[p[0]], b = value[p[1]], c = value[p[2]], d = value[p[3]];
		uint32_t v;

		if ((a | b | c | d) & 64) {
			if (i)
				break;
			r->pos += a & 64 ? 0 : b & 64 ? 1 : c & 64 ? 2 : 3;
			return -EINVAL;
		}
		v = a << 18 | b << 12 | c << 6 | d;
		o[0] = v >> 16;
		o[1] = v >> 8;
		o[2] = v;
	}
	r->pos += 4 * i;
	*out_len = 3 * i;
	if (!n && r->pos < r->len)
		return read_rest(r, out, out_len);
	return 0;
}

unsigned int base64_seek(struct base64_reader *r, size_t at)
{
	r->pos = at / 3 * 4;
	return at % 3;
}

int base64_decode(uint8_t *out, size_t *out_len, const char *text, size_t len, size_t *bad)
{
	struct base64_reader r;
	size_t total = 0, n;

	base64_open(&r, text, len);
	do {
		if (base64_read(&r, out + total, BASE64_BOUND(len) - total, &n) < 0) {
			if (bad)
				*bad = r.pos;
			return -EINVAL;
		}
		total += n;
	} while (n);
	*out_len = total;
	return 0;
}

void base64_encode(char *out, const void *data, size_t len)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const uint8_t *p = data;
	uint32_t v;

	for (; len >= 3; len -= 3, p += 3) {
		v = (uint32_t)p[0] << 16 | (uint32_t)p[1] << 8 | p[2];
		*out++ = digits[v >> 18];
		*out++ = digits[v >> 12 & 63];
		*out++ = digits[v >> 6 & 63];
		*out++ = digits[v & 63];
	}
	if (!len)
		return;
	v = (uint32_t)p[0] << 16 | (len == 2 ? (uint32_t)p[1] << 8 : 0);
	*out++ = digits[v >> 18];
	*out++ = digits[v >> 12 & 63];
	*out++ = len == 2 ? digits[v >> 6 & 63] : '=';
	*out = '=';
}
