/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* por.c - proofs of retrieval: a Merkle path in a Poseidon tree */
#include <assert.h>
#include <errno.h>
#include <stdio.h>

#include "engine/circuits/gadgets.h"
#include "engine/circuits/parts.h"

unsigned int tree_levels(const struct circuit_tree *tree)
{
	return tree->base_levels + !!tree->sub + !!tree->top;
}

unsigned int tree_arity(const struct circuit_tree *tree, unsigned int level)
{
	if (level < tree->base_levels)
		return tree->base;
	return level == tree->base_levels ? tree->sub : tree->top;
}

unsigned int tree_siblings(const struct circuit_tree *tree)
{
	unsigned int i, n = 0;

	for (i = 0; i < tree_levels(tree); i++)
		n += tree_arity(tree, i) - 1;
	return n;
}

int path_check(const struct circuit_tree *tree, const struct path_input *path, const char *what,
	       size_t index, char *err)
{
	unsigned int i;

	if (path->n_levels != tree_levels(tree) || path->n_siblings != tree_siblings(tree)) {
		snprintf(err, 256, "%s %zu: path has %zu levels and %zu siblings, not %u and %u",
			 what, index, path->n_levels, path->n_siblings, tree_levels(tree),
			 tree_siblings(tree));
		return -EINVAL;
	}
	for (i = 0; i < path->n_levels; i++) {
		if (path->index[i] >= tree_arity(tree, i)) {
			snprintf(err, 256, "%s %zu: path index %u at level %u is not below %u",
				 what, index, path->index[i], i, tree_arity(tree, i));
			return -EINVAL;
		}
	}
	return 0;
}

void por_synth(struct synth *s, const struct circuit_tree *tree, uint32_t leaf, uint32_t root,
	       const struct path_input *path)
{
	const struct fr *siblings = path ? path->siblings : NULL;
	unsigned int i, n_bits = 0;
	uint32_t cur = leaf, bits[64];

	for (i = 0; i < tree_levels(tree); i++) {
		unsigned int arity = tree_arity(tree, i);

		cur = gadget_level(s, arity, cur, path ? path->index[i] : 0, siblings, bits,
				   &n_bits);
		if (path)
			siblings += arity - 1;
	}
	gadget_path_end(s, bits, n_bits, cur, root);
}

/* The instances of leaf and path. */
static unsigned int n_instances(const struct circuit_tree *tree)
{
	return 1 + tree_levels(tree) + 1;
}

void por_leaf_many(struct synth *s, const struct circuit_tree *tree, uint32_t root, unsigned int n,
		   const struct fr *const *leaf, const struct path_input *const *path)
{
	uint32_t cur[GADGET_LANES], bits[GADGET_LANES][64];
	const struct fr *siblings[GADGET_LANES];
	unsigned int index[GADGET_LANES], i, k, n_bits = 0;
	struct synth lane[GADGET_LANES];

	assert(n <= GADGET_LANES);
	for (k = 0; k < n; k++) {
		lane[k] = *s;
		lane[k].next += k * n_instances(tree);
		cur[k] = gadget_alloc(&lane[k], 1, leaf[k]);
		siblings[k] = path[k]->siblings;
	}
	for (i = 0; i < tree_levels(tree); i++) {
		unsigned int arity = tree_arity(tree, i);

		for (k = 0; k < n; k++)
			index[k] = path[k]->index[i];
		gadget_level_many(lane, n, arity, cur, index, siblings, bits, &n_bits);
		for (k = 0; k < n; k++)
			siblings[k] += arity - 1;
	}
	for (k = 0; k < n; k++) {
		gadget_path_end(&lane[k], bits[k], n_bits, cur[k], root);
		if (lane[k].err)
			s->err = lane[k].err;
	}
	s->next += n * n_instances(tree);
}
