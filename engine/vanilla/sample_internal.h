/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* sample_internal.h - what the makers of samples share */
#ifndef CUZK_VANILLA_SAMPLE_INTERNAL_H
#define CUZK_VANILLA_SAMPLE_INTERNAL_H

#include "engine/vanilla/internal.h"
#include "engine/vanilla/sample.h"

/*
 * A tree whose leaves are constant in blocks of 2^log_block, but for some that
 * are given apart ("special").
 */
struct sample_tree {
	const struct tree *shape;
	bool sha;			/* SHA-256 nodes, else Poseidon */
	unsigned int log_nodes, log_block, uniform;	/* levels up to uniform lie in a block */
	unsigned int shift[MAX_LEVELS + 1];		/* log2 of a node's leaves, by level */
	struct fr *common[MAX_LEVELS + 1];	/* by block up to uniform, then by node */
	size_t n_special[MAX_LEVELS + 1];
	uint64_t *special[MAX_LEVELS + 1];	/* ascending */
	struct fr *special_value[MAX_LEVELS + 1];
};

/*
 * leaves: one a block, 2^(log_nodes - log_block); special_nodes ascending.
 * -ENOMEM, and t is to be given to fini all the same.
 */
int sample_tree_init(struct sample_tree *t, const struct tree *shape, bool sha,
		     unsigned int log_nodes, unsigned int log_block, const struct fr *leaves,
		     const uint64_t *special_nodes, const struct fr *special_values,
		     size_t n_special);
void sample_tree_fini(struct sample_tree *t);
const struct fr *sample_tree_node(const struct sample_tree *t, unsigned int level, uint64_t i);
const struct fr *sample_tree_root(const struct sample_tree *t);

/* Text or bytes that grow; failure sticks. */
struct sample_out {
	uint8_t *data;
	size_t len, size;
	bool failed;
};

void out_bytes(struct sample_out *o, const void *data, size_t len);
void out_u64(struct sample_out *o, uint64_t v);
void out_fr(struct sample_out *o, const struct fr *x);
__attribute__((format(printf, 2, 3)))
void out_text(struct sample_out *o, const char *fmt, ...);
void out_json_bytes(struct sample_out *o, const uint8_t *bytes, size_t n);
void out_json_fr(struct sample_out *o, const struct fr *x);
/* A Merkle proof of node: bincode, JSON. */
void out_merkle(struct sample_out *o, const struct sample_tree *t, uint64_t node);
void out_json_merkle(struct sample_out *o, const struct sample_tree *t, uint64_t node);

/* 254 bits that depend on seed, what and i only */
void sample_random(uint64_t seed, const char *what, uint64_t i, uint8_t out[32]);
void sample_random_fr(uint64_t seed, const char *what, uint64_t i, struct fr *out);

int sample_post(struct vanilla_sample *s, const struct sector_shape *shape, unsigned int n_sectors,
		uint64_t seed);
int sample_update(struct vanilla_sample *s, const struct sector_shape *shape, uint64_t seed);
int sample_porep(struct vanilla_sample *s, const struct sector_shape *shape, uint64_t seed);

#endif
