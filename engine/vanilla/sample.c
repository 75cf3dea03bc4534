/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* sample.c - made-up requests: entry, PoSt and SnapDeals */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/vanilla/sample_internal.h"
#include "lib/poseidon/poseidon.h"

/* different leaves: of a sector's replica, and with each value of SnapDeals' high bits */
#define LOG_POST_LEAVES 3
#define POST_LEAVES (1 << LOG_POST_LEAVES)
#define MAX_UPDATE_LEAVES (1 << 10)

/* the second sector's number starts as JSON does: '{' */
#define FIRST_SECTOR 122

static int take(struct vanilla_sample *s, struct sample_out *o, size_t i)
{
	s->blobs[i].data = o->data;
	s->blobs[i].len = o->len;
	return o->failed ? -ENOMEM : 0;
}

/* One sector with the challenges of the request. */
static int post_sector(struct vanilla_sample *s, const struct sector_shape *shape, uint64_t s_index,
		       uint64_t seed)
{
	bool winning = s->req.kind == CUZK_KIND_WINNING_POST;
	bool counted = winning || s->req.registered_proof < 10;
	unsigned int n = winning ? WINNING_CHALLENGES : WINDOW_CHALLENGES, i;
	uint64_t id = FIRST_SECTOR + s_index;
	struct sample_out o = { 0 };
	struct sample_tree tree;
	struct fr comm_c, comm_r, leaves[POST_LEAVES];
	int ret;

	for (i = 0; i < POST_LEAVES; i++)
		sample_random_fr(seed, "replica leaf", id << LOG_POST_LEAVES | i, &leaves[i]);
	ret = sample_tree_init(&tree, &shape->tree_r, false, shape->log_nodes,
			       shape->log_nodes - LOG_POST_LEAVES, leaves, NULL, NULL, 0);
	if (ret < 0)
		goto out_fini;
	sample_random_fr(seed, "comm_c", id, &comm_c);
	comm_r_hash(&comm_r, &comm_c, sample_tree_root(&tree));
	out_u64(&o, id);
	out_fr(&o, &comm_r);
	out_u64(&o, 1);
	out_u64(&o, n);
	for (i = 0; i < n; i++)
		out_merkle(&o, &tree, post_challenge(s->req.randomness.data, id,
						     counted && !winning ? s_index * n + i :
						     i, 1ull << shape->log_nodes));
	out_fr(&o, &comm_c);
	out_fr(&o, sample_tree_root(&tree));
	ret = take(s, &o, s_index);
out_fini:
	sample_tree_fini(&tree);
	return ret;
}

int sample_post(struct vanilla_sample *s, const struct sector_shape *shape, unsigned int n_sectors,
		uint64_t seed)
{
	uint8_t *randomness = s->owned[0] = malloc(32);
	unsigned int i;
	int ret = 0;

	if (!randomness)
		return -ENOMEM;
	sample_random(seed, "randomness", 0, randomness);
	s->req.randomness = (struct cuzk_blob){ randomness, 32 };
	s->req.n_vanilla_proofs = n_sectors;
	for (i = 0; i < n_sectors && !ret; i++)
		ret = post_sector(s, shape, i, seed);
	return ret;
}

struct update_trees {
	struct sample_tree r_old, d_new, r_new;
	struct fr comm_c, comm_r_old, comm_d_new, comm_r_new;
	struct fr old[MAX_UPDATE_LEAVES], data[MAX_UPDATE_LEAVES], new[MAX_UPDATE_LEAVES];
};

/*
 * The challenges follow from comm_r_new, so every leaf has to be right.  rho
 * depends on a node's high bits only: one leaf for each of their values will do.
 */
static int update_trees(struct update_trees *t, const struct sector_shape *shape, uint64_t seed)
{
	unsigned int log_block = shape->log_nodes - shape->update_h, i;
	struct fr in[2], phi, rho;
	int ret;

	for (i = 0; i < 1u << shape->update_h; i++) {
		sample_random_fr(seed, "old leaf", i, &t->old[i]);
		sample_random_fr(seed, "data", i, &t->data[i]);
	}
	ret = sample_tree_init(&t->r_old, &shape->tree_r, false, shape->log_nodes, log_block,
			       t->old, NULL, NULL, 0);
	if (!ret)
		ret = sample_tree_init(&t->d_new, &shape->tree_d, true, shape->log_nodes,
				       log_block, t->data, NULL, NULL, 0);
	if (ret)
		return ret;
	sample_random_fr(seed, "comm_c", 0, &t->comm_c);
	comm_r_hash(&t->comm_r_old, &t->comm_c, sample_tree_root(&t->r_old));
	t->comm_d_new = *sample_tree_root(&t->d_new);
	in[0] = t->comm_d_new;
	in[1] = t->comm_r_old;
	poseidon_hash_tag(POSEIDON_CUSTOM, 2, in, &phi);
	for (i = 0; i < 1u << shape->update_h; i++) {
		in[0] = phi;
		fr_from_u64(&in[1], i);
		poseidon_hash_tag(POSEIDON_CUSTOM, 2, in, &rho);
		fr_mul(&rho, &rho, &t->data[i]);
		fr_add(&t->new[i], &t->old[i], &rho);
	}
	ret = sample_tree_init(&t->r_new, &shape->tree_r, false, shape->log_nodes, log_block,
			       t->new, NULL, NULL, 0);
	if (!ret)
		comm_r_hash(&t->comm_r_new, &t->comm_c, sample_tree_root(&t->r_new));
	return ret;
}

static int update_part(struct vanilla_sample *s, const struct update_trees *t,
		       const struct sector_shape *shape, unsigned int k)
{
	unsigned int low = shape->log_nodes - __builtin_ctz(shape->update_partitions) -
			   shape->apex_levels, i;
	struct sample_out o = { 0 };
	uint32_t nodes[86];

	update_challenges(shape, &t->comm_r_new, k, nodes);
	out_fr(&o, &t->comm_c);
	out_u64(&o, shape->apex_leafs);
	for (i = 0; i < shape->apex_leafs; i++)
		out_fr(&o, sample_tree_node(&t->d_new, low, k * shape->apex_leafs + i));
	out_u64(&o, shape->update_challenges);
	for (i = 0; i < shape->update_challenges; i++) {
		out_merkle(&o, &t->r_old, nodes[i]);
		out_merkle(&o, &t->d_new, nodes[i]);
		out_merkle(&o, &t->r_new, nodes[i]);
	}
	return take(s, &o, k);
}

int sample_update(struct vanilla_sample *s, const struct sector_shape *shape, uint64_t seed)
{
	struct update_trees *t = calloc(1, sizeof(*t));
	uint8_t *comms = s->owned[0] = malloc(96);
	unsigned int k;
	int ret;

	if (!t || !comms) {
		free(t);
		return -ENOMEM;
	}
	ret = update_trees(t, shape, seed);
	s->req.n_vanilla_proofs = shape->update_partitions;
	for (k = 0; k < shape->update_partitions && !ret; k++)
		ret = update_part(s, t, shape, k);
	fr_to_bytes_le(comms, &t->comm_r_old);
	fr_to_bytes_le(comms + 32, &t->comm_r_new);
	fr_to_bytes_le(comms + 64, &t->comm_d_new);
	s->req.comm_r_old = (struct cuzk_blob){ comms, 32 };
	s->req.comm_r_new = (struct cuzk_blob){ comms + 32, 32 };
	s->req.comm_d_new = (struct cuzk_blob){ comms + 64, 32 };
	sample_tree_fini(&t->r_old);
	sample_tree_fini(&t->d_new);
	sample_tree_fini(&t->r_new);
	free(t);
	return ret;
}

int vanilla_sample_make(enum cuzk_proof_kind kind, unsigned int registered, unsigned int n_sectors,
			uint64_t seed, struct vanilla_sample **out)
{
	const struct sector_shape *shape = sector_shape(registered % N_SECTOR_SIZES);
	struct vanilla_sample *s;
	size_t max = 1;
	int ret;

	if (kind == CUZK_KIND_WINDOW_POST ? registered < 5 || registered >= 15 :
	    kind == CUZK_KIND_POREP ? registered >= 20 : registered >= 5)
		return -EINVAL;
	if (kind == CUZK_KIND_UPDATE)
		max = shape->update_partitions;
	else if (kind == CUZK_KIND_WINDOW_POST)
		max = n_sectors && n_sectors < shape->window_sectors ? n_sectors :
		      shape->window_sectors;
	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	s->blobs = calloc(max, sizeof(*s->blobs));
	if (!s->blobs) {
		ret = -ENOMEM;
		goto err_free;
	}
	s->req.size = sizeof(s->req);
	s->req.kind = kind;
	s->req.registered_proof = registered;
	s->req.sector_size = shape->bytes;
	s->req.miner_id = 1000;
	s->req.vanilla_proofs = s->blobs;
	if (kind == CUZK_KIND_POREP)
		ret = sample_porep(s, shape, seed);
	else if (kind == CUZK_KIND_UPDATE)
		ret = sample_update(s, shape, seed);
	else
		ret = sample_post(s, shape, max, seed);
	if (ret < 0)
		goto err_free;
	*out = s;
	return 0;

err_free:
	vanilla_sample_free(s);
	return ret;
}

void vanilla_sample_free(struct vanilla_sample *s)
{
	size_t i;

	if (!s)
		return;
	for (i = 0; i < s->req.n_vanilla_proofs; i++)
		free((void *)s->blobs[i].data);
	for (i = 0; i < sizeof(s->owned) / sizeof(s->owned[0]); i++)
		free(s->owned[i]);
	free(s->blobs);
	free(s);
}
