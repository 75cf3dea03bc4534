/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* u-sha256.c - SHA-256 against libcrypto and against itself in pieces */
#include <openssl/evp.h>

#include "lib/sha256.h"
#include "t/tap.h"

static uint64_t seed = 1;

static uint8_t next_byte(void)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return seed >> 56;
}

static bool same_as_libcrypto(const uint8_t *data, size_t len)
{
	uint8_t ours[32], theirs[32];
	unsigned int n;

	sha256(ours, data, len);
	return EVP_Digest(data, len, theirs, &n, EVP_sha256(), NULL) == 1 && n == 32 &&
	       !memcmp(ours, theirs, 32);
}

static bool in_pieces(const uint8_t *data, size_t len)
{
	struct sha256 h;
	uint8_t whole[32], pieces[32];
	size_t at = 0, n;

	sha256(whole, data, len);
	sha256_init(&h);
	while (at < len) {
		n = next_byte() % 150;
		n = n < len - at ? n : len - at;
		sha256_update(&h, data + at, n);
		at += n;
	}
	sha256_final(&h, pieces);
	return !memcmp(whole, pieces, 32);
}

int main(void)
{
	static const uint8_t abc[32] = {
		0xba, 0x78, 0x16, 0xbf, 0x8f, 0x01, 0xcf, 0xea, 0x41, 0x41, 0x40, 0xde, 0x5d, 0xae,
		0x22, 0x23, 0xb0, 0x03, 0x61, 0xa3, 0x96, 0x17, 0x7a, 0x9c, 0xb4, 0x10, 0xff, 0x61,
		0xf2, 0x00, 0x15, 0xad,
	};
	static uint8_t data[4096];
	uint32_t a[8], b[8];
	uint8_t out[32];
	size_t i, good = 0;

	sha256(out, "abc", 3);
	ok(!memcmp(out, abc, 32), "the standard's example");
	for (i = 0; i < sizeof(data); i++)
		data[i] = next_byte();
	for (i = 0; i <= 300; i++)
		good += same_as_libcrypto(data, i);
	ok(good == 301, "libcrypto gives the same for every length to 300");
	ok(same_as_libcrypto(data, sizeof(data)), "and for 4096 bytes");
	for (i = good = 0; i < 200; i++)
		good += in_pieces(data, 10 * i);
	ok(good == 200, "pieces of any size give the same");
	for (i = good = 0; i < 64; i++) {
		memcpy(a, data + 17 * i, sizeof(a));
		memcpy(b, a, sizeof(b));
		sha256_compress(a, data + i, i);
		sha256_compress_portable(b, data + i, i);
		good += !memcmp(a, b, sizeof(a));
	}
	ok(good == 64, "the portable twin gives the same words, unaligned too");
	return tap_done();
}
