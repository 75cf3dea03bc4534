/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * graph.c - the parents of a node of the stacked graph
 *
 * Six base parents are drawn by bucket sampling on a metagraph of five nodes
 * for each real one (DRSample), with ChaCha8 seeded by the porep id and the
 * node; eight expander parents come from a Feistel permutation over all edges,
 * with BLAKE2b as its round function.
 */
#include <string.h>

#include "engine/vanilla/internal.h"
#include "lib/blake2b.h"
#include "lib/chacha.h"
#include "lib/sha256.h"

#define META_NODES (POREP_DRG_PARENTS - 1)
#define FEISTEL_ROUNDS 3

static void domain_seed(const char *tag, unsigned int registered, uint8_t seed[32])
{
	uint8_t porep_id[32] = { registered };
	struct sha256 h;

	sha256_init(&h);
	sha256_update(&h, tag, strlen(tag));
	sha256_update(&h, porep_id, 32);
	sha256_final(&h, seed);
}

void graph_init(struct graph *g, unsigned int registered, unsigned int log_nodes, bool legacy)
{
	uint8_t seed[32];
	unsigned int i;
	int b;

	g->nodes = 1u << log_nodes;
	g->legacy = legacy;
	domain_seed("Filecoin_DRSample", registered, g->drg_seed);
	domain_seed("Filecoin_Feistel", registered, seed);
	for (i = 0; i < FEISTEL_ROUNDS; i++) {
		g->feistel_keys[i] = 0;
		for (b = 7; b >= 0; b--)
			g->feistel_keys[i] = g->feistel_keys[i] << 8 | seed[8 * i + b];
	}
	/* the smallest power of 4 that holds all edges, 8 a node */
	g->half_bits = (log_nodes + 3 + 1) / 2;
}

struct rng {
	uint8_t key[32];
	uint32_t block[16], tail[4];
	unsigned int word;
};

static uint64_t rng_u64(struct rng *r)
{
	uint64_t v;

	if (r->word == 16) {
		chacha_block(r->block, 8, r->key, r->tail);
		r->tail[0]++;
		r->word = 0;
	}
	v = r->block[r->word] | (uint64_t)r->block[r->word + 1] << 32;
	r->word += 2;
	return v;
}

static void base_parents(const struct graph *g, uint32_t node, uint32_t *parents)
{
	uint64_t meta = (uint64_t)node * META_NODES, buckets, max, min, parent;
	struct rng rng = { .word = 16 };
	uint32_t *others;
	int i;

	if (node < 2) {
		memset(parents, 0, POREP_DRG_PARENTS * sizeof(*parents));
		return;
	}
	memcpy(rng.key, g->drg_seed, 28);
	for (i = 0; i < 4; i++)
		rng.key[28 + i] = node >> 8 * i;
	/* ceil(log2): meta is a multiple of 5, so no power of two */
	buckets = 64 - __builtin_clzll(meta);
	/* the direct predecessor is last in the first version, then first */
	others = g->legacy ? parents : parents + 1;
	parents[g->legacy ? META_NODES : 0] = node - 1;
	for (i = 0; i < META_NODES; i++) {
		max = 1ull << (rng_u64(&rng) % buckets + 1);
		max = max < meta ? max : meta;
		min = max >> 1 > 2 ? max >> 1 : 2;
		parent = (meta - (min + rng_u64(&rng) % (max - min + 1))) / META_NODES;
		others[i] = parent == node ? node - 1 : parent;
	}
}

static uint64_t feistel_round(uint64_t right, uint64_t key, uint64_t mask)
{
	uint8_t in[16], out[64];
	struct blake2b b;
	uint64_t v = 0;
	int i;

	for (i = 0; i < 8; i++) {
		in[i] = right >> (56 - 8 * i);
		in[8 + i] = key >> (56 - 8 * i);
	}
	blake2b_init(&b, 64, NULL, 0);
	blake2b_update(&b, in, sizeof(in));
	blake2b_final(&b, out);
	for (i = 0; i < 8; i++)
		v = v << 8 | out[i];
	return v & mask;
}

static uint64_t permute(const struct graph *g, uint64_t edge)
{
	const uint64_t mask = (1ull << g->half_bits) - 1;
	uint64_t left, right, next;
	int i;

	do {
		left = edge >> g->half_bits & mask;
		right = edge & mask;
		for (i = 0; i < FEISTEL_ROUNDS; i++) {
			next = left ^ feistel_round(right, g->feistel_keys[i], mask);
			left = right;
			right = next;
		}
		edge = left << g->half_bits | right;
	} while (edge >= (uint64_t)g->nodes * POREP_EXP_PARENTS);
	return edge;
}

void graph_parents(const struct graph *g, uint32_t node, uint32_t parents[N_PARENTS])
{
	unsigned int i;
	uint64_t edge;

	base_parents(g, node, parents);
	for (i = 0; i < POREP_EXP_PARENTS; i++) {
		edge = permute(g, (uint64_t)node * POREP_EXP_PARENTS + i);
		/* the first version cut the edge to 32 bits */
		if (g->legacy)
			edge = (uint32_t)edge;
		parents[POREP_DRG_PARENTS + i] = edge / POREP_EXP_PARENTS;
	}
}
