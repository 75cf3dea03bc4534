/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* merkle.c - Merkle proofs: read from bincode, and hashed to their roots */
#include <assert.h>
#include <string.h>

#include "engine/vanilla/internal.h"
#include "lib/poseidon/many.h"
#include "lib/poseidon/poseidon.h"
#include "lib/sha256.h"

size_t path_size(const struct tree *tree)
{
	return ARENA_ROUND(tree->n_levels) + ARENA_ROUND(tree->n_siblings * sizeof(struct fr));
}

void path_alloc(struct path_input *path, const struct tree *tree, struct arena *a)
{
	path->n_levels = tree->n_levels;
	path->n_siblings = tree->n_siblings;
	path->index = arena_take(a, tree->n_levels);
	path->siblings = arena_take(a, tree->n_siblings * sizeof(struct fr));
}

unsigned int tree_index(const struct tree *tree, unsigned int level, uint64_t node)
{
	unsigned int i;

	for (i = 0; i < level; i++)
		node /= tree->arity[i];
	return node % tree->arity[level];
}

uint64_t path_node(const struct tree *tree, const struct path_input *path)
{
	uint64_t node = 0;
	unsigned int i;

	for (i = tree->n_levels; i-- > 0;)
		node = node * tree->arity[i] + path->index[i];
	return node;
}

void fr_read(struct bincode *b, const char *field, struct fr *x)
{
	const uint8_t *p = bincode_bytes(b, 32, field);

	if (p && fr_from_bytes_le(x, p) < 0) {
		b->pos -= 32;
		bincode_enter(b, field);
		bincode_fail(b, "not below the field's modulus");
	}
}

static void level_read(struct bincode *b, const struct tree *tree, unsigned int level,
		       uint64_t node, uint8_t *index, struct fr *siblings)
{
	unsigned int i, n = tree->arity[level] - 1;
	unsigned int want = tree_index(tree, level, node);
	uint64_t k;
	size_t mark;

	bincode_count(b, n, 32, "hashes");
	for (i = 0; i < n && !b->failed; i++) {
		mark = bincode_enter_at(b, "hashes", i);
		fr_read(b, "", &siblings[i]);
		bincode_leave(b, mark);
	}
	k = bincode_u64(b, "index");
	if (!b->failed && k != want) {
		b->pos -= 8;
		bincode_enter(b, "index");
		bincode_fail(b, "%llu leads away from the challenge %llu, which needs %u",
			     (unsigned long long)k, (unsigned long long)node, want);
	}
	*index = k;
}

void merkle_read(struct bincode *b, const struct tree *tree, uint64_t node,
		 struct path_input *path, struct merkle_ends *ends)
{
	static const char *const parts[3] = { "base_proof", "sub_proof", "top_proof" };
	uint8_t *index = (uint8_t *)path->index;		/* path_alloc's memory */
	struct fr *siblings = (struct fr *)path->siblings;
	unsigned int part, i, level = 0, at = 0;
	uint32_t tag = bincode_u32(b, "data");
	size_t mark, inner;

	if (!b->failed && tag != tree->n_parts - 1) {
		b->pos -= 4;
		bincode_enter(b, "data");
		bincode_fail(b, "kind %u of Merkle proof instead of %u", tag, tree->n_parts - 1);
	}
	if (tree->n_parts == 1) {
		fr_read(b, "root", &ends->root);
		fr_read(b, "leaf", &ends->leaf);
	}
	for (part = 0; part < tree->n_parts; part++) {
		mark = bincode_enter(b, tree->n_parts == 1 ? "path" : parts[part]);
		bincode_count(b, tree->part_levels[part], 16, "path");
		for (i = 0; i < tree->part_levels[part] && !b->failed; i++) {
			inner = bincode_enter_at(b, "path", i);
			level_read(b, tree, level, node, &index[level], &siblings[at]);
			bincode_leave(b, inner);
			at += tree->arity[level++] - 1;
		}
		bincode_leave(b, mark);
	}
	if (tree->n_parts > 1) {
		fr_read(b, "root", &ends->root);
		fr_read(b, "leaf", &ends->leaf);
	}
}

void path_roots(const struct tree *tree, const struct path_input *const *paths,
		const struct fr *leaf, size_t n, struct fr *root)
{
	struct fr in[PATH_BATCH * 8];
	unsigned int level, at = 0, arity, i;
	size_t p;

	assert(n <= PATH_BATCH);
	memmove(root, leaf, n * sizeof(*root));
	for (level = 0; level < tree->n_levels; level++) {
		struct fr *node = in;

		arity = tree->arity[level];
		assert(arity <= 8);
		for (p = 0; p < n; p++) {
			const struct fr *sib = paths[p]->siblings + at;
			unsigned int own = paths[p]->index[level];

			assert(own < arity);
			for (i = 0; i < arity; i++)
				*node++ = i == own ? root[p] : *sib++;
		}
		poseidon_hash_many(arity, in, root, n);
		at += arity - 1;
	}
}

void sha_node(struct fr *out, const struct fr *left, const struct fr *right)
{
	uint8_t in[64], digest[32];

	fr_to_bytes_le(in, left);
	fr_to_bytes_le(in + 32, right);
	sha256(digest, in, sizeof(in));
	digest[31] &= 0x3f;
	fr_from_bytes_le(out, digest);	/* 254 bits are below the modulus */
}

void path_root_sha(const struct path_input *path, unsigned int first, unsigned int n_levels,
		   const struct fr *leaf, struct fr *root)
{
	unsigned int level;

	*root = *leaf;
	for (level = first; level < first + n_levels; level++) {
		if (path->index[level])
			sha_node(root, &path->siblings[level], root);
		else
			sha_node(root, root, &path->siblings[level]);
	}
}

void comm_r_hash(struct fr *out, const struct fr *comm_c, const struct fr *comm_r_last)
{
	struct fr in[2] = { *comm_c, *comm_r_last };

	poseidon_hash(2, in, out);
}
