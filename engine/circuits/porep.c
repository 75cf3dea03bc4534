/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* porep.c - the proof of replication: StackedCircuit (filecoin-spec 4.1) */
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "engine/circuits/gadgets.h"
#include "engine/circuits/parts.h"

#define PARENTS (POREP_DRG_PARENTS + POREP_EXP_PARENTS)
#define LABEL_PARENTS 37
#define MAX_LAYERS 11

static int column_check(const struct circuit *c, const struct porep_column_input *column,
			const char *what, size_t challenge, char *err)
{
	if (column->n_rows != c->layers) {
		snprintf(err, 256, "%s %zu: column has %zu rows, not %u", what, challenge,
			 column->n_rows, c->layers);
		return -EINVAL;
	}
	return path_check(&c->tree, &column->path, what, challenge, err);
}

int porep_check(const struct circuit *c, const struct porep_input *in, char *err)
{
	const struct circuit_tree tree_d = { c->log_nodes, 2, 0, 0 };
	size_t i, k;
	int ret;

	if (in->n_challenges != c->challenges) {
		snprintf(err, 256, "%s takes %u challenges, not %zu", c->name, c->challenges,
			 in->n_challenges);
		return -EINVAL;
	}
	for (i = 0; i < in->n_challenges; i++) {
		const struct porep_challenge_input *ch = &in->challenges[i];

		ret = path_check(&tree_d, &ch->path_d, "comm_d path of challenge", i, err);
		for (k = 0; !ret && k < POREP_DRG_PARENTS; k++)
			ret = column_check(c, &ch->drg[k], "drg parent of challenge", i, err);
		for (k = 0; !ret && k < POREP_EXP_PARENTS; k++)
			ret = column_check(c, &ch->exp[k], "exp parent of challenge", i, err);
		if (!ret)
			ret = path_check(&c->tree, &ch->path_r, "comm_r_last path of challenge", i,
					 err);
		if (!ret)
			ret = path_check(&c->tree, &ch->path_c, "comm_c path of challenge", i, err);
		if (ret)
			return ret;
	}
	return 0;
}

void porep_prelude(struct synth *s, const struct circuit *c, const struct porep_input *in,
		   struct porep_vars *v)
{
	uint32_t pair[2];

	synth_scope(s, "replica_id");
	v->replica_id = gadget_alloc_input(s, in ? &in->replica_id : NULL);
	gadget_sha256_field(s, v->replica_id, v->replica_bits);
	synth_scope(s, "commitments");
	v->comm_d = gadget_alloc_input(s, in ? &in->comm_d : NULL);
	v->comm_r = gadget_alloc_input(s, in ? &in->comm_r : NULL);
	v->comm_r_last = gadget_alloc(s, 1, in ? &in->comm_r_last : NULL);
	v->comm_c = gadget_alloc(s, 1, in ? &in->comm_c : NULL);
	pair[0] = v->comm_c;
	pair[1] = v->comm_r_last;
	gadget_equal(s, v->comm_r, gadget_poseidon(s, POSEIDON_MERKLE, 2, pair));
}

void por_sha256_synth(struct synth *s, unsigned int levels, uint32_t leaf, uint32_t root,
		      const struct path_input *path)
{
	uint32_t cur = leaf, bits[64], pair[2];
	unsigned int i, n_bits = 0;

	for (i = 0; i < levels; i++) {
		gadget_insert(s, cur, path ? path->index[i] : 0, path ? &path->siblings[i] : NULL,
			      pair, bits, &n_bits);
		cur = gadget_sha256_node(s, pair[0], pair[1]);
	}
	gadget_path_end(s, bits, n_bits, cur, root);
}

/* rows, column hash, path to comm_c */
static void column(struct synth *s, const struct circuit *c, uint32_t comm_c,
		   const struct porep_column_input *in, uint32_t *rows)
{
	uint32_t hash;
	unsigned int i;

	rows[0] = gadget_alloc(s, c->layers, in ? in->rows : NULL);
	for (i = 1; i < c->layers; i++)
		rows[i] = rows[0] + i;
	hash = gadget_poseidon(s, POSEIDON_MERKLE, c->layers, rows);
	por_synth(s, &c->tree, hash, comm_c, in ? &in->path : NULL);
}

/*
 * label = sha256(replica_id | layer | node | zeros | 37 parents): parents in
 * turn until there are 37.
 */
static uint32_t label(struct synth *s, const struct porep_vars *v, unsigned int layer,
		      uint32_t challenge, const uint32_t (*parents)[256], unsigned int n_parents)
{
	uint32_t msg[512 + 256 * LABEL_PARENTS], hash[SHA_STATE_BITS];
	unsigned int i;

	memcpy(msg, v->replica_bits, 256 * sizeof(*msg));
	for (i = 0; i < 32; i++)
		msg[256 + i] = layer >> (31 - i) & 1 ? CS_ARG_TRUE : CS_ARG_FALSE;
	for (i = 0; i < 64; i++)
		msg[288 + i] = challenge + 63 - i;
	for (i = 352; i < 512; i++)
		msg[i] = CS_ARG_FALSE;
	for (i = 0; i < LABEL_PARENTS; i++)
		memcpy(&msg[512 + 256 * i], parents[i % n_parents], 256 * sizeof(*msg));
	gadget_sha256(s, msg, 512 + 256 * LABEL_PARENTS, hash);
	return gadget_sha256_pack(s, hash);
}

void porep_synth(struct synth *s, const struct circuit *c, const struct porep_input *in,
		 const struct porep_vars *v, unsigned int i)
{
	const struct porep_challenge_input *ch = in ? &in->challenges[i] : NULL;
	uint32_t rows[PARENTS][MAX_LAYERS], labels[MAX_LAYERS], leaf, challenge, encoded, hash;
	uint32_t parents[PARENTS][256];
	unsigned int k, layer;

	assert(c->layers <= MAX_LAYERS);
	synth_scope(s, "challenge %u/comm_d", i);
	leaf = gadget_alloc(s, 1, ch ? &ch->data_leaf : NULL);
	por_sha256_synth(s, c->log_nodes, leaf, v->comm_d, ch ? &ch->path_d : NULL);
	for (k = 0; k < PARENTS; k++) {
		bool drg = k < POREP_DRG_PARENTS;
		unsigned int at = drg ? k : k - POREP_DRG_PARENTS;

		synth_scope(s, "challenge %u/%s parent %u", i, drg ? "drg" : "exp", at);
		column(s, c, v->comm_c, !ch ? NULL : drg ? &ch->drg[at] : &ch->exp[at], rows[k]);
	}
	synth_scope(s, "challenge %u", i);
	challenge = gadget_uint64(s, ch ? ch->challenge : 0);
	for (layer = 1; layer <= c->layers; layer++) {
		synth_scope(s, "challenge %u/layer %u", i, layer);
		for (k = 0; k < POREP_DRG_PARENTS; k++)
			gadget_sha256_field(s, rows[k][layer - 1], parents[k]);
		for (; layer > 1 && k < PARENTS; k++)
			gadget_sha256_field(s, rows[k][layer - 2], parents[k]);
		labels[layer - 1] = label(s, v, layer, challenge, parents, k);
	}
	synth_scope(s, "challenge %u/comm_r_last", i);
	encoded = gadget_add(s, labels[c->layers - 1], leaf);
	por_synth(s, &c->tree, encoded, v->comm_r_last, ch ? &ch->path_r : NULL);
	synth_scope(s, "challenge %u/comm_c", i);
	hash = gadget_poseidon(s, POSEIDON_MERKLE, c->layers, labels);
	por_synth(s, &c->tree, hash, v->comm_c, ch ? &ch->path_c : NULL);
}
