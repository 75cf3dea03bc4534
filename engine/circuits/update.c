/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* update.c - SnapDeals: EmptySectorUpdateCircuit (filecoin-spec 4.3) */
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "engine/circuits/g-update.h"
#include "engine/circuits/gadgets.h"
#include "engine/circuits/parts.h"

static unsigned int log2_of(unsigned int n)
{
	return __builtin_ctz(n);
}

/* Bits of a challenge that the randomness gives; the partition is behind them. */
static unsigned int random_bits(const struct circuit *c)
{
	return c->log_nodes - log2_of(c->partitions);
}

static unsigned int challenges_per_digest(const struct circuit *c)
{
	return 254 / random_bits(c);
}

static unsigned int n_digests(const struct circuit *c)
{
	unsigned int per = challenges_per_digest(c);

	return (c->challenges + per - 1) / per;
}

/* The six h, lowest byte first: 7..12, or 1 for sectors of up to 32 KiB. */
static uint64_t h_values(const struct circuit *c)
{
	return c->log_nodes <= 10 ? UINT64_C(0x010101010101) : UINT64_C(0x0c0b0a090807);
}

/* Levels of TreeD below its apex. */
static unsigned int low_levels(const struct circuit *c)
{
	return random_bits(c) - log2_of(c->apex_leafs);
}

int update_check(const struct circuit *c, const struct update_input *in, char *err)
{
	const struct circuit_tree tree_d = { c->log_nodes, 2, 0, 0 };
	size_t i;
	int ret = 0;

	if (in->n_challenges != c->challenges || in->n_apex_leafs != c->apex_leafs) {
		snprintf(err, 256, "%s takes %u challenges and %u apex leafs, not %zu and %zu",
			 c->name, c->challenges, c->apex_leafs, in->n_challenges,
			 in->n_apex_leafs);
		return -EINVAL;
	}
	if (in->partition >= c->partitions || in->h_select >> UPDATE_HS) {
		snprintf(err, 256, "%s: no partition %llu with h_select %llu", c->name,
			 (unsigned long long)in->partition, (unsigned long long)in->h_select);
		return -EINVAL;
	}
	for (i = 0; i < in->n_challenges && !ret; i++) {
		const struct update_challenge_input *ch = &in->challenges[i];

		ret = path_check(&c->tree, &ch->path_r_old, "old replica path of challenge", i,
				 err);
		if (!ret)
			ret = path_check(c->apex_leafs ? &tree_d : &c->tree, &ch->path_d_new,
					 "data path of challenge", i, err);
		if (!ret)
			ret = path_check(&c->tree, &ch->path_r_new, "replica path of challenge",
					 i, err);
	}
	return ret;
}

/* por_no_challenge_input in a binary SHA-256 tree */
static void por_sha256_given(struct synth *s, unsigned int levels, uint32_t leaf, uint32_t root,
			     const uint32_t *bits, uint32_t siblings)
{
	uint32_t pair[2];
	unsigned int i;

	for (i = 0; i < levels; i++) {
		gadget_insert_given(s, leaf, bits[i], siblings + i, pair);
		leaf = gadget_sha256_node(s, pair[0], pair[1]);
	}
	gadget_equal(s, leaf, root);
}

/* path siblings, then por_no_challenge_input in a Poseidon tree */
static void por_given(struct synth *s, const struct circuit_tree *tree, uint32_t leaf,
		      uint32_t root, const uint32_t *bits, const struct path_input *path)
{
	uint32_t first = gadget_alloc(s, tree_siblings(tree), path ? path->siblings : NULL);
	uint32_t siblings[8];
	unsigned int i, k;

	for (i = 0; i < tree_levels(tree); i++) {
		unsigned int arity = tree_arity(tree, i);

		for (k = 0; k < arity - 1; k++)
			siblings[k] = first++;
		leaf = gadget_level_given(s, arity, leaf, bits, siblings);
		bits += log2_of(arity);
	}
	gadget_equal(s, leaf, root);
}

/* the SHA-256 tree over the apex leaves, then the partition's path to comm_d_new */
static void apex_por(struct synth *s, const struct circuit *c, const struct update_vars *v,
		     uint32_t partition_path)
{
	uint32_t row[UPDATE_MAX_APEX];
	unsigned int n, i;

	for (i = 0; i < c->apex_leafs; i++)
		row[i] = v->apex_leafs + i;
	for (n = c->apex_leafs / 2; n; n /= 2)
		for (i = 0; i < n; i++)
			row[i] = gadget_sha256_node(s, row[2 * i], row[2 * i + 1]);
	por_sha256_given(s, log2_of(c->partitions), row[0], v->comm_d_new, v->partition_bits,
			 partition_path);
}

void update_prelude(struct synth *s, const struct circuit *c, const struct update_input *in,
		    struct update_vars *v)
{
	unsigned int log_partitions = log2_of(c->partitions), i;
	uint32_t bits, partition = 0, pair[2], comm_r_old, comm_c, apex_path = 0;

	synth_scope(s, "partition");
	bits = gadget_update_select(s, log_partitions + UPDATE_HS,
				    in ? in->partition | in->h_select << log_partitions : 0);
	for (i = 0; i < log_partitions; i++)
		v->partition_bits[i] = bits + i;
	for (i = 0; i < UPDATE_HS; i++)
		v->h_bits[i] = bits + log_partitions + i;
	if (c->kind == CIRCUIT_UPDATE)
		partition = gadget_pack(s, v->partition_bits, log_partitions);

	synth_scope(s, "commitments");
	comm_r_old = gadget_alloc_input(s, in ? &in->comm_r_old : NULL);
	v->comm_d_new = gadget_alloc_input(s, in ? &in->comm_d_new : NULL);
	v->comm_r_new = gadget_alloc_input(s, in ? &in->comm_r_new : NULL);
	pair[0] = v->comm_d_new;
	pair[1] = comm_r_old;
	v->phi = gadget_poseidon(s, POSEIDON_CUSTOM, 2, pair);
	comm_c = gadget_alloc(s, 1, in ? &in->comm_c : NULL);
	v->root_r_old = gadget_alloc(s, 1, in ? &in->root_r_old : NULL);
	v->root_r_new = gadget_alloc(s, 1, in ? &in->root_r_new : NULL);
	if (c->apex_leafs) {
		v->apex_leafs = gadget_alloc(s, c->apex_leafs, in ? in->apex_leafs : NULL);
		apex_path = gadget_alloc(s, log_partitions,
					 in ? in->challenges[0].path_d_new.siblings +
					      random_bits(c) : NULL);
	}
	pair[0] = comm_c;
	pair[1] = v->root_r_old;
	gadget_equal(s, gadget_poseidon(s, POSEIDON_MERKLE, 2, pair), comm_r_old);
	pair[1] = v->root_r_new;
	gadget_equal(s, gadget_poseidon(s, POSEIDON_MERKLE, 2, pair), v->comm_r_new);
	if (c->apex_leafs) {
		synth_scope(s, "apex");
		apex_por(s, c, v, apex_path);
	}
	synth_scope(s, "challenges");
	if (c->kind == CIRCUIT_UPDATE_POSEIDON)
		partition = gadget_alloc(s, 1, &fr_zero);
	assert(n_digests(c) <= UPDATE_MAX_DIGESTS);
	for (i = 0; i < n_digests(c); i++)
		v->digest_bits[i] = gadget_update_digest(s, partition, v->comm_r_new,
							 n_digests(c), i);
}

void update_synth(struct synth *s, const struct circuit *c, const struct update_input *in,
		  const struct update_vars *v, unsigned int i)
{
	const struct update_challenge_input *ch = in ? &in->challenges[i] : NULL;
	unsigned int n_random = random_bits(c), per = challenges_per_digest(c), k, low;
	uint32_t bits[64], pair[2], leafs, apex[UPDATE_MAX_APEX], apex_leaf, siblings;

	synth_scope(s, "challenge %u", i);
	for (k = 0; k < n_random; k++)
		bits[k] = v->digest_bits[i / per] + i % per * n_random + k;
	for (; k < c->log_nodes; k++)
		bits[k] = v->partition_bits[k - n_random];
	pair[0] = v->phi;
	pair[1] = gadget_update_high_bits(s, h_values(c), v->h_bits, bits, c->log_nodes);
	leafs = gadget_update_encode(s, gadget_poseidon(s, POSEIDON_CUSTOM, 2, pair),
				     ch ? &ch->leaf_r_old : NULL, ch ? &ch->leaf_d_new : NULL,
				     ch ? &ch->leaf_r_new : NULL);
	synth_scope(s, "challenge %u/old replica", i);
	por_given(s, &c->tree, leafs, v->root_r_old, bits, ch ? &ch->path_r_old : NULL);
	synth_scope(s, "challenge %u/new replica", i);
	por_given(s, &c->tree, leafs + 3, v->root_r_new, bits, ch ? &ch->path_r_new : NULL);
	synth_scope(s, "challenge %u/new data", i);
	if (!c->apex_leafs) {
		por_given(s, &c->tree, leafs + 1, v->comm_d_new, bits,
			  ch ? &ch->path_d_new : NULL);
		return;
	}
	for (k = 0; k < c->apex_leafs; k++)
		apex[k] = v->apex_leafs + k;
	low = low_levels(c);
	apex_leaf = gadget_update_choose(s, apex, log2_of(c->apex_leafs), bits + low);
	siblings = gadget_alloc(s, low, ch ? ch->path_d_new.siblings : NULL);
	por_sha256_given(s, low, leafs + 1, apex_leaf, bits, siblings);
}
