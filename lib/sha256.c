/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* sha256.c - SHA-256, with the x86 SHA extensions where there are any */
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "lib/sha256.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>
#include <immintrin.h>
#define HAVE_SHA_NI 1
#endif

const uint32_t sha256_iv[8] = {
	0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
	0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
};

/* aligned: the vector code loads four at a time */
const uint32_t sha256_k[64] __attribute__((aligned(16))) = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
	0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
	0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
	0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
	0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
	0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
	0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
	0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t ror(uint32_t x, unsigned int n)
{
	return x >> n | x << (32 - n);
}

static uint32_t load_be32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void store_be32(uint8_t *p, uint32_t x)
{
	p[0] = x >> 24;
	p[1] = x >> 16;
	p[2] = x >> 8;
	p[3] = x;
}

void sha256_compress_portable(uint32_t state[8], const uint8_t *p, size_t n_blocks)
{
	for (; n_blocks; n_blocks--, p += SHA256_BLOCK) {
		uint32_t w[64], s[8];
		int i;

		for (i = 0; i < 16; i++)
			w[i] = load_be32(p + 4 * i);
		for (; i < 64; i++) {
			uint32_t s0 = ror(w[i - 15], 7) ^ ror(w[i - 15], 18) ^ w[i - 15] >> 3;
			uint32_t s1 = ror(w[i - 2], 17) ^ ror(w[i - 2], 19) ^ w[i - 2] >> 10;

			w[i] = w[i - 16] + s0 + w[i - 7] + s1;
		}
		memcpy(s, state, sizeof(s));
		for (i = 0; i < 64; i++) {
			uint32_t t1 = s[7] + (ror(s[4], 6) ^ ror(s[4], 11) ^ ror(s[4], 25)) +
				      ((s[4] & s[5]) ^ (~s[4] & s[6])) + sha256_k[i] + w[i];
			uint32_t t2 = (ror(s[0], 2) ^ ror(s[0], 13) ^ ror(s[0], 22)) +
				      ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));

			s[7] = s[6];
			s[6] = s[5];
			s[5] = s[4];
			s[4] = s[3] + t1;
			s[3] = s[2];
			s[2] = s[1];
			s[1] = s[0];
			s[0] = t1 + t2;
		}
		for (i = 0; i < 8; i++)
			state[i] += s[i];
	}
}

#ifdef HAVE_SHA_NI
/*
 * sha256rnds2 does two rounds on the state kept as two vectors, {a, b, e, f}
 * and {c, d, g, h} from the highest word down.
 */
__attribute__((target("sha,sse4.1")))
static void compress_ni(uint32_t state[8], const uint8_t *p, size_t n_blocks)
{
	const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0bull, 0x0405060700010203ull);
	__m128i lo = _mm_loadu_si128((const __m128i *)state);		/* d c b a */
	__m128i hi = _mm_loadu_si128((const __m128i *)(state + 4));	/* h g f e */
	__m128i abef, cdgh;

	lo = _mm_shuffle_epi32(lo, 0xb1);		/* c d a b */
	hi = _mm_shuffle_epi32(hi, 0x1b);		/* e f g h */
	abef = _mm_alignr_epi8(lo, hi, 8);
	cdgh = _mm_blend_epi16(hi, lo, 0xf0);

	for (; n_blocks; n_blocks--, p += SHA256_BLOCK) {
		const __m128i abef0 = abef, cdgh0 = cdgh;
		__m128i w[4];
		int i;

		for (i = 0; i < 4; i++)
			w[i] = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)p + i), swap);
#pragma GCC unroll 16
		for (i = 0; i < 16; i++) {
			__m128i wk;

			if (i >= 4) {
				__m128i t = _mm_sha256msg1_epu32(w[i & 3], w[(i + 1) & 3]);

				t = _mm_add_epi32(t, _mm_alignr_epi8(w[(i + 3) & 3],
								     w[(i + 2) & 3], 4));
				w[i & 3] = _mm_sha256msg2_epu32(t, w[(i + 3) & 3]);
			}
			wk = _mm_add_epi32(w[i & 3],
					   _mm_load_si128((const __m128i *)(sha256_k + 4 * i)));
			cdgh = _mm_sha256rnds2_epu32(cdgh, abef, wk);
			abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(wk, 0x0e));
		}
		abef = _mm_add_epi32(abef, abef0);
		cdgh = _mm_add_epi32(cdgh, cdgh0);
	}
	lo = _mm_shuffle_epi32(abef, 0x1b);		/* a b e f from the lowest word */
	hi = _mm_shuffle_epi32(cdgh, 0xb1);
	_mm_storeu_si128((__m128i *)state, _mm_blend_epi16(lo, hi, 0xf0));
	_mm_storeu_si128((__m128i *)(state + 4), _mm_alignr_epi8(hi, lo, 8));
}

static bool detect_ni(void)
{
	unsigned int a, b, c, d;

	return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_SSE4_1) && (c & bit_SSSE3) &&
	       __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & bit_SHA);
}
#endif

void sha256_compress(uint32_t state[8], const uint8_t *blocks, size_t n_blocks)
{
#ifdef HAVE_SHA_NI
	/* what the processor has never changes, so a race only repeats the question */
	static atomic_int have_ni;	/* 0: not asked yet, 1: no, 2: yes */
	int have = atomic_load_explicit(&have_ni, memory_order_relaxed);

	if (!have) {
		have = detect_ni() ? 2 : 1;
		atomic_store_explicit(&have_ni, have, memory_order_relaxed);
	}
	if (have == 2) {
		compress_ni(state, blocks, n_blocks);
		return;
	}
#endif
	sha256_compress_portable(state, blocks, n_blocks);
}

void sha256_init(struct sha256 *h)
{
	memcpy(h->state, sha256_iv, sizeof(h->state));
	h->bytes = 0;
}

void sha256_update(struct sha256 *h, const void *data, size_t len)
{
	size_t have = h->bytes % SHA256_BLOCK;
	const uint8_t *p = data;

	h->bytes += len;
	if (have) {
		size_t n = SHA256_BLOCK - have < len ? SHA256_BLOCK - have : len;

		memcpy(h->tail + have, p, n);
		p += n;
		len -= n;
		if (have + n < SHA256_BLOCK)
			return;
		sha256_compress(h->state, h->tail, 1);
	}
	sha256_compress(h->state, p, len / SHA256_BLOCK);
	if (len % SHA256_BLOCK)
		memcpy(h->tail, p + len - len % SHA256_BLOCK, len % SHA256_BLOCK);
}

void sha256_final(struct sha256 *h, uint8_t out[SHA256_SIZE])
{
	size_t have = h->bytes % SHA256_BLOCK;
	int i;

	h->tail[have++] = 0x80;
	if (have > SHA256_BLOCK - 8) {
		memset(h->tail + have, 0, SHA256_BLOCK - have);
		sha256_compress(h->state, h->tail, 1);
		have = 0;
	}
	memset(h->tail + have, 0, SHA256_BLOCK - 8 - have);
	store_be32(h->tail + SHA256_BLOCK - 8, h->bytes >> 29);
	store_be32(h->tail + SHA256_BLOCK - 4, h->bytes << 3);
	sha256_compress(h->state, h->tail, 1);
	for (i = 0; i < 8; i++)
		store_be32(out + 4 * i, h->state[i]);
}

void sha256(uint8_t out[SHA256_SIZE], const void *data, size_t len)
{
	struct sha256 h;

	sha256_init(&h);
	sha256_update(&h, data, len);
	sha256_final(&h, out);
}
