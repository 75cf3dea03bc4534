/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* por.c - proofs of retrieval: a Merkle path in a Poseidon tree */
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
