/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* blake2b.c - BLAKE2b */
#include <assert.h>
#include <string.h>

#include "lib/blake2b.h"

static const uint64_t iv[8] = {
	0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
	0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179,
};

static const uint8_t sigma[10][16] = {
	{ 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 },
	{ 14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3 },
	{ 11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4 },
	{ 7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8 },
	{ 9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13 },
	{ 2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9 },
	{ 12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11 },
	{ 13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10 },
	{ 6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5 },
	{ 10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0 },
};

static uint64_t ror(uint64_t x, unsigned int n)
{
	return x >> n | x << (64 - n);
}

static uint64_t load_le64(const uint8_t *p)
{
	uint64_t v = 0;
	int i;

	for (i = 7; i >= 0; i--)
		v = v << 8 | p[i];
	return v;
}

static void mix(uint64_t v[16], int a, int b, int c, int d, uint64_t x, uint64_t y)
{
	v[a] += v[b] + x;
	v[d] = ror(v[d] ^ v[a], 32);
	v[c] += v[d];
	v[b] = ror(v[b] ^ v[c], 24);
	v[a] += v[b] + y;
	v[d] = ror(v[d] ^ v[a], 16);
	v[c] += v[d];
	v[b] = ror(v[b] ^ v[c], 63);
}

static void compress(struct blake2b *b, const uint8_t *block, size_t n, uint64_t last)
{
	uint64_t m[16], v[16];
	int i;

	b->bytes += n;
	for (i = 0; i < 16; i++)
		m[i] = load_le64(block + 8 * i);
	memcpy(v, b->h, sizeof(b->h));
	memcpy(v + 8, iv, sizeof(iv));
	v[12] ^= b->bytes;	/* below 2^64 bytes: the high word stays zero */
	v[14] ^= last;
	for (i = 0; i < 12; i++) {
		const uint8_t *s = sigma[i % 10];

		mix(v, 0, 4, 8, 12, m[s[0]], m[s[1]]);
		mix(v, 1, 5, 9, 13, m[s[2]], m[s[3]]);
		mix(v, 2, 6, 10, 14, m[s[4]], m[s[5]]);
		mix(v, 3, 7, 11, 15, m[s[6]], m[s[7]]);
		mix(v, 0, 5, 10, 15, m[s[8]], m[s[9]]);
		mix(v, 1, 6, 11, 12, m[s[10]], m[s[11]]);
		mix(v, 2, 7, 8, 13, m[s[12]], m[s[13]]);
		mix(v, 3, 4, 9, 14, m[s[14]], m[s[15]]);
	}
	for (i = 0; i < 8; i++)
		b->h[i] ^= v[i] ^ v[8 + i];
}

void blake2b_init(struct blake2b *b, size_t out_len, const void *key, size_t key_len)
{
	assert(out_len >= 1 && out_len <= 64 && key_len <= 64);
	memcpy(b->h, iv, sizeof(iv));
	b->h[0] ^= 0x01010000 ^ key_len << 8 ^ out_len;
	b->bytes = 0;
	b->out_len = out_len;
	b->n_tail = 0;
	if (key_len) {
		memset(b->tail, 0, sizeof(b->tail));
		memcpy(b->tail, key, key_len);
		b->n_tail = sizeof(b->tail);
	}
}

void blake2b_update(struct blake2b *b, const void *data, size_t len)
{
	const uint8_t *p = data;

	/* the last block is compressed by final, so a full tail waits */
	while (len) {
		size_t n = sizeof(b->tail) - b->n_tail;

		if (!n) {
			compress(b, b->tail, sizeof(b->tail), 0);
			b->n_tail = 0;
			continue;
		}
		n = n < len ? n : len;
		memcpy(b->tail + b->n_tail, p, n);
		b->n_tail += n;
		p += n;
		len -= n;
	}
}

void blake2b_final(struct blake2b *b, uint8_t *out)
{
	size_t i;

	memset(b->tail + b->n_tail, 0, sizeof(b->tail) - b->n_tail);
	compress(b, b->tail, b->n_tail, ~0ull);
	for (i = 0; i < b->out_len; i++)
		out[i] = b->h[i / 8] >> 8 * (i % 8);
}
