/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * parts.h - the circuits as passes: a prelude, then equal segments
 *
 * A segment (a sector, a challenge) uses the same instances as every other,
 * so its first instance is known and segments of a witness run on many
 * threads.  in is NULL in shape passes.
 */
#ifndef CUZK_CIRCUITS_PARTS_H
#define CUZK_CIRCUITS_PARTS_H

#include "engine/circuits/circuit.h"
#include "engine/circuits/synth.h"

void tiny_synth(struct synth *s, const struct circuit *c, const struct tiny_input *in);

/* sector i */
void post_synth(struct synth *s, const struct circuit *c, const struct post_input *in,
		unsigned int i);
int post_check(const struct circuit *c, const struct post_input *in, char *err);

/* What the PoRep's prelude gives its challenges. */
struct porep_vars {
	uint32_t replica_id, comm_d, comm_r, comm_r_last, comm_c;
	uint32_t replica_bits[256];	/* in SHA-256's order */
};

void porep_prelude(struct synth *s, const struct circuit *c, const struct porep_input *in,
		   struct porep_vars *v);
/* challenge i */
void porep_synth(struct synth *s, const struct circuit *c, const struct porep_input *in,
		 const struct porep_vars *v, unsigned int i);
int porep_check(const struct circuit *c, const struct porep_input *in, char *err);

#define UPDATE_MAX_DIGESTS 256

/* What the Update's prelude gives its challenges. */
struct update_vars {
	uint32_t partition_bits[8], h_bits[8];
	uint32_t comm_d_new, comm_r_new, root_r_old, root_r_new, phi;
	uint32_t apex_leafs;				/* the first */
	uint32_t digest_bits[UPDATE_MAX_DIGESTS];	/* the first of each */
};

void update_prelude(struct synth *s, const struct circuit *c, const struct update_input *in,
		    struct update_vars *v);
/* challenge i */
void update_synth(struct synth *s, const struct circuit *c, const struct update_input *in,
		  const struct update_vars *v, unsigned int i);
int update_check(const struct circuit *c, const struct update_input *in, char *err);

/* Levels of the tree, and the arity of each, bottom up. */
unsigned int tree_levels(const struct circuit_tree *tree);
unsigned int tree_arity(const struct circuit_tree *tree, unsigned int level);
/* sum of arity-1 */
unsigned int tree_siblings(const struct circuit_tree *tree);
/* -EINVAL and a line in err (256 bytes) when path has not the tree's levels */
int path_check(const struct circuit_tree *tree, const struct path_input *path, const char *what,
	       size_t index, char *err);
/* Private PoRCircuit in Poseidon: path of leaf, an input of its index, root equality. */
void por_synth(struct synth *s, const struct circuit_tree *tree, uint32_t leaf, uint32_t root,
	       const struct path_input *path);
/*
 * Leaf allocation and PoR of n <= 16 paths under one root, which follow one
 * another; witness passes only.  The paths go up together, as hashes side by
 * side take a fraction of the time.
 */
void por_leaf_many(struct synth *s, const struct circuit_tree *tree, uint32_t root, unsigned int n,
		   const struct fr *const *leaf, const struct path_input *const *path);
/* por_synth() in a binary SHA-256 tree. */
void por_sha256_synth(struct synth *s, unsigned int levels, uint32_t leaf, uint32_t root,
		      const struct path_input *path);

#endif
