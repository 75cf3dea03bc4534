/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* challenge.c - which nodes a proof has to open (filecoin-spec 3.5) */
#include <string.h>

#include "engine/vanilla/internal.h"
#include "lib/blake2b.h"
#include "lib/chacha.h"
#include "lib/poseidon/poseidon.h"
#include "lib/sha256.h"

static void store_le(uint8_t *p, uint64_t v, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		p[i] = v >> 8 * i;
}

uint64_t post_challenge(const uint8_t randomness[32], uint64_t sector, uint64_t index,
			uint64_t nodes)
{
	uint8_t in[48], out[32];
	uint64_t v = 0;
	int i;

	memcpy(in, randomness, 32);
	store_le(in + 32, sector, 8);
	store_le(in + 40, index, 8);
	sha256(out, in, sizeof(in));
	for (i = 7; i >= 0; i--)
		v = v << 8 | out[i];
	return v % nodes;
}

/* A 256-bit little-endian number to a node other than the first. */
static uint32_t to_challenge(const uint8_t digest[32], uint64_t nodes)
{
	uint64_t rem = 0;
	int i;

	for (i = 31; i >= 0; i--)
		rem = (rem << 8 | digest[i]) % (nodes - 1);	/* nodes <= 2^31: no overflow */
	return rem + 1;
}

static void interactive(const struct vanilla *v, unsigned int k, unsigned int n, uint32_t *out)
{
	uint8_t in[68], digest[32];
	unsigned int i;

	memcpy(in, v->replica_id, 32);
	memcpy(in + 32, v->seed, 32);
	for (i = 0; i < n; i++) {
		store_le(in + 64, (uint64_t)n * k + i, 4);
		sha256(digest, in, sizeof(in));
		out[i] = to_challenge(digest, 1ull << v->shape->log_nodes);
	}
}

static void non_interactive(const struct vanilla *v, unsigned int k, unsigned int n, uint32_t *out)
{
	static const char tag[] = "filecoin.io|PoRep|1|NonInteractive|1";
	uint8_t digest[32], count[4];
	struct sha256 h;
	unsigned int i;

	for (i = 0; i < n; i++) {
		sha256_init(&h);
		sha256_update(&h, tag, sizeof(tag) - 1);
		sha256_update(&h, v->replica_id, 32);
		sha256_update(&h, v->comm_r, 32);
		store_le(count, (uint64_t)n * k + i, 4);
		sha256_update(&h, count, 4);
		sha256_final(&h, digest);
		out[i] = to_challenge(digest, 1ull << v->shape->log_nodes);
	}
}

/* ChaCha20 keyed by a domain tag, the replica id and something else */
static void synthetic_key(const char *tag, const uint8_t replica_id[32], const uint8_t other[32],
			  uint8_t key[32])
{
	struct blake2b b;

	blake2b_init(&b, 32, tag, strlen(tag));
	blake2b_update(&b, replica_id, 32);
	blake2b_update(&b, other, 32);
	blake2b_final(&b, key);
}

/* bytes [at, at + n) of the keystream, at and n multiples of 4 */
static void keystream(const uint8_t key[32], uint64_t at, uint8_t *out, unsigned int n)
{
	/* counter, then the nonce "synth-porep\0" */
	uint32_t tail[4] = { 0, 0x746e7973, 0x6f702d68, 0x00706572 };
	uint32_t block[16];
	unsigned int i;

	for (i = 0; i < n; i += 4) {
		uint64_t word = (at + i) / 4;

		if (i == 0 || word % 16 == 0) {
			tail[0] = word / 16;
			chacha_block(block, 20, key, tail);
		}
		store_le(out + i, block[word % 16], 4);
	}
}

void synthetic_challenges(const uint8_t replica_id[32], const uint8_t comm_r[32],
			  const uint8_t seed[32], uint64_t nodes, uint32_t candidates,
			  uint64_t first, unsigned int n, uint32_t *out)
{
	uint8_t generation[32], selection[32], index[4], candidate[32];
	unsigned int i;

	synthetic_key("filecoin.io|PoRep|1|Synthetic|1|Generation", replica_id, comm_r,
		      generation);
	synthetic_key("filecoin.io|PoRep|1|Synthetic|1|Selection", replica_id, seed, selection);
	for (i = 0; i < n; i++) {
		uint32_t which;

		keystream(selection, 4 * (first + i), index, 4);
		which = (uint32_t)index[0] | (uint32_t)index[1] << 8 | (uint32_t)index[2] << 16 |
			(uint32_t)index[3] << 24;
		keystream(generation, 32 * (uint64_t)(which % candidates), candidate, 32);
		out[i] = to_challenge(candidate, nodes);
	}
}

void porep_challenges(const struct vanilla *v, unsigned int k, unsigned int n, uint32_t *out)
{
	const uint64_t nodes = 1ull << v->shape->log_nodes;

	switch (v->version) {
	case SEAL_V1:
	case SEAL_V1_1:
		interactive(v, k, n, out);
		break;
	case SEAL_SYNTHETIC:
		synthetic_challenges(v->replica_id, v->comm_r, v->seed, nodes,
				     nodes < 1 << 18 ? nodes : 1 << 18, (uint64_t)n * k, n, out);
		break;
	case SEAL_NON_INTERACTIVE:
		non_interactive(v, k, n, out);
		break;
	}
}

void update_challenges(const struct sector_shape *shape, const struct fr *comm_r_new,
		       unsigned int k, uint32_t *out)
{
	const unsigned int bits = shape->log_nodes - __builtin_ctz(shape->update_partitions);
	const unsigned int per_digest = 254 / bits, n = shape->update_challenges;
	const unsigned int digests = (n + per_digest - 1) / per_digest;
	struct scalar s = { { 0 } };
	unsigned int i, j;

	for (i = 0; i < n; i++) {
		unsigned int at = i % per_digest * bits;
		uint32_t c = 0;

		if (at == 0) {
			struct fr in[2] = { *comm_r_new };

			fr_from_u64(&in[1], (uint64_t)k * digests + i / per_digest);
			poseidon_hash_tag(POSEIDON_CUSTOM, 2, in, &in[0]);
			fr_to_scalar(&s, &in[0]);
		}
		for (j = 0; j < bits; j++)
			c |= (uint32_t)(s.l[(at + j) / 64] >> (at + j) % 64 & 1) << j;
		out[i] = c | (uint32_t)k << bits;
	}
}
