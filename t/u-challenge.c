/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * u-challenge.c - challenges and parents, with BLAKE2b and ChaCha below them
 *
 * The synthetic challenges are those that rust-fil-proofs' own test expects
 * for these numbers.  The interactive ones and version 1.1's parents are
 * covered by the golden proofs.
 */
#include <openssl/evp.h>

#include "engine/vanilla/internal.h"
#include "lib/blake2b.h"
#include "lib/chacha.h"
#include "t/tap.h"

static void test_blake2b(void)
{
	/* the first bytes of RFC 7693's "abc", and of a keyed hash of 0..254 (BLAKE2's KAT) */
	static const uint8_t abc[8] = { 0xba, 0x80, 0xa5, 0x3f, 0x98, 0x1c, 0x4d, 0x0d };
	static const uint8_t keyed[8] = { 0x14, 0x27, 0x09, 0xd6, 0x2e, 0x28, 0xfc, 0xcc };
	uint8_t data[300], key[64], out[64], theirs[64];
	size_t i, good = 0;
	unsigned int n;
	struct blake2b b;

	for (i = 0; i < sizeof(data); i++)
		data[i] = i;
	for (i = 0; i < sizeof(key); i++)
		key[i] = i;
	blake2b_init(&b, 64, NULL, 0);
	blake2b_update(&b, "abc", 3);
	blake2b_final(&b, out);
	ok(!memcmp(out, abc, 8), "BLAKE2b of abc");
	blake2b_init(&b, 64, key, 64);
	blake2b_update(&b, data, 255);
	blake2b_final(&b, out);
	ok(!memcmp(out, keyed, 8), "BLAKE2b with a key");
	for (i = 0; i <= sizeof(data); i++) {
		blake2b_init(&b, 64, NULL, 0);
		blake2b_update(&b, data, i / 3);
		blake2b_update(&b, data + i / 3, i - i / 3);
		blake2b_final(&b, out);
		good += EVP_Digest(data, i, theirs, &n, EVP_blake2b512(), NULL) == 1 &&
			!memcmp(out, theirs, 64);
	}
	ok(good == i, "libcrypto gives the same for every length to 300");
}

static void test_chacha(void)
{
	uint8_t key[32], iv[16], zeros[128] = { 0 }, theirs[128], ours[128];
	uint32_t tail[4], block[16];
	EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
	int i, n;

	for (i = 0; i < 32; i++)
		key[i] = 7 * i + 1;
	for (i = 0; i < 16; i++)
		iv[i] = 11 * i + 3;
	iv[1] = iv[2] = iv[3] = 0;	/* the counter may not wrap */
	for (i = 0; i < 4; i++)
		tail[i] = (uint32_t)iv[4 * i] | (uint32_t)iv[4 * i + 1] << 8 |
			  (uint32_t)iv[4 * i + 2] << 16 | (uint32_t)iv[4 * i + 3] << 24;
	EVP_EncryptInit_ex(ctx, EVP_chacha20(), NULL, key, iv);
	EVP_EncryptUpdate(ctx, theirs, &n, zeros, sizeof(zeros));
	EVP_CIPHER_CTX_free(ctx);
	chacha_block(block, 20, key, tail);
	for (i = 0; i < 64; i++)
		ours[i] = block[i / 4] >> 8 * (i % 4);
	tail[0]++;
	chacha_block(block, 20, key, tail);
	for (i = 0; i < 64; i++)
		ours[64 + i] = block[i / 4] >> 8 * (i % 4);
	ok(!memcmp(ours, theirs, sizeof(ours)), "libcrypto gives the same ChaCha20");
}

static void test_synthetic(void)
{
	static const uint32_t want[10] = { 176, 781, 801, 986, 290, 211, 692, 856, 986, 332 };
	uint8_t replica_id[32] = { 55 }, comm_r[32] = { 101 }, seed[32];
	uint32_t got[10], half[5];

	memset(seed, 1, sizeof(seed));
	synthetic_challenges(replica_id, comm_r, seed, 1 << 10, 21, 0, 10, got);
	ok(!memcmp(got, want, sizeof(want)), "synthetic challenges");
	synthetic_challenges(replica_id, comm_r, seed, 1 << 10, 21, 5, 5, half);
	ok(!memcmp(half, want + 5, sizeof(half)), "and from the middle on");
}

static void test_versions(void)
{
	static struct vanilla v = { .version = SEAL_NON_INTERACTIVE };
	/* sha256(tag | 32 times 1 | 32 times 2 | LE32(18 + i)) mod (2^30 - 1) + 1 */
	static const uint32_t want[3] = { 876667198, 70914137, 106197929 };
	uint32_t got[18], a[N_PARENTS], b[N_PARENTS], node;
	struct graph old, new;
	size_t i, good = 0, range = 0;

	v.shape = sector_shape(3);
	memset(v.replica_id, 1, 32);
	memset(v.comm_r, 2, 32);
	porep_challenges(&v, 1, 18, got);
	ok(!memcmp(got, want, sizeof(want)), "non-interactive challenges of partition 1");

	/* the same porep id, so that only the version differs */
	graph_init(&old, 6, 18, true);
	graph_init(&new, 6, 18, false);
	for (i = 0; i < 1000; i++) {
		node = 2 + i * 262 % ((1 << 18) - 2);
		graph_parents(&old, node, a);
		graph_parents(&new, node, b);
		good += a[5] == node - 1 && b[0] == node - 1 &&
			!memcmp(a, b + 1, 5 * sizeof(*a)) && !memcmp(a + 6, b + 6, 8 * sizeof(*a));
	}
	ok(good == 1000, "the first version has the predecessor last");
	graph_init(&old, 3, 30, true);
	graph_init(&new, 3, 30, false);
	for (i = good = 0; i < 1000; i++) {
		unsigned int p;

		node = 2 + i * 1073737;
		graph_parents(&old, node, a);
		graph_parents(&new, node, b);
		for (p = 6; p < N_PARENTS; p++) {
			good += a[p] == (b[p] & ((1u << 29) - 1));
			range += b[p] >> 29 != 0;
		}
	}
	ok(good == 8000 && range > 1000, "and its expander edges are cut to 32 bits at 32 GiB");
}

int main(void)
{
	test_blake2b();
	test_chacha();
	test_synthetic();
	test_versions();
	return tap_done();
}
