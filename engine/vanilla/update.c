/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* update.c - SnapDeals, EmptySectorUpdate (filecoin-spec 3.3, 3.5, 4.3) */
#include <errno.h>
#include <string.h>

#include "engine/vanilla/internal.h"
#include "lib/poseidon/poseidon.h"

struct update_work {
	struct vanilla *v;
	const struct cuzk_blob *blobs;
	struct update_input *parts;	/* n_partitions */
	struct fr comm_r_old, comm_r_new, comm_d_new;
	struct fault fault;
};

/* what the arrays of a partition hold */
static struct fr *apex_of(const struct update_input *part)
{
	return (struct fr *)part->apex_leafs;
}

static struct update_challenge_input *challenges_of(const struct update_input *part)
{
	return (struct update_challenge_input *)part->challenges;
}

/* A Merkle proof whose root must be want, which was called name before. */
static void proof_read(struct bincode *b, const char *field, const struct tree *tree, uint32_t node,
		       struct path_input *path, struct fr *leaf, const struct fr *want,
		       const char *name)
{
	size_t mark = bincode_enter(b, field);
	struct merkle_ends ends;

	merkle_read(b, tree, node, path, &ends);
	if (!b->failed && !fr_equal(&ends.root, want)) {
		bincode_enter(b, "root");
		bincode_fail(b, "differs from %s", name);
	}
	if (!b->failed)
		*leaf = ends.leaf;
	bincode_leave(b, mark);
}

/*
 * The roots of the replica trees are not given apart: those of the first
 * challenge count, and comm_r_old and comm_r_new pin them later.
 */
static void peek_root(struct bincode *b, const struct tree *tree, struct fr *root)
{
	size_t skip = 4, i;
	unsigned int part, level = 0;

	if (tree->n_parts > 1) {
		for (part = 0; part < tree->n_parts; part++) {
			skip += 8;
			for (i = 0; i < tree->part_levels[part]; i++)
				skip += 16 + 32 * (tree->arity[level++] - 1u);
		}
	}
	if (b->failed || b->len - b->pos < skip + 32)
		return;		/* the reader proper will say so */
	if (fr_from_bytes_le(root, b->data + b->pos + skip) < 0)
		memset(root, 0, sizeof(*root));
}

static size_t merkle_size(const struct tree *tree)
{
	return 4 + 64 + 8 * tree->n_parts + 16 * tree->n_levels + 32 * tree->n_siblings;
}

static void part_read(struct bincode *b, struct update_work *w, unsigned int k)
{
	const struct sector_shape *shape = w->v->shape;
	struct update_input *part = &w->parts[k];
	uint32_t nodes[86];
	unsigned int i;
	size_t mark;

	fr_read(b, "comm_c", &part->comm_c);
	bincode_count(b, shape->apex_leafs, 32, "apex_leafs");
	for (i = 0; i < shape->apex_leafs && !b->failed; i++) {
		mark = bincode_enter_at(b, "apex_leafs", i);
		fr_read(b, "", &apex_of(part)[i]);
		bincode_leave(b, mark);
	}
	bincode_count(b, shape->update_challenges,
		      2 * merkle_size(&shape->tree_r) + merkle_size(&shape->tree_d),
		      "challenge_proofs");
	update_challenges(shape, &w->comm_r_new, k, nodes);
	for (i = 0; i < shape->update_challenges && !b->failed; i++) {
		struct update_challenge_input *c = &challenges_of(part)[i];

		mark = bincode_enter_at(b, "challenge_proofs", i);
		if (i == 0)
			peek_root(b, &shape->tree_r, &part->root_r_old);
		proof_read(b, "proof_r_old", &shape->tree_r, nodes[i], &c->path_r_old,
			   &c->leaf_r_old, &part->root_r_old, "that of the first challenge");
		proof_read(b, "proof_d_new", &shape->tree_d, nodes[i], &c->path_d_new,
			   &c->leaf_d_new, &w->comm_d_new, "comm_d_new");
		if (i == 0)
			peek_root(b, &shape->tree_r, &part->root_r_new);
		proof_read(b, "proof_r_new", &shape->tree_r, nodes[i], &c->path_r_new,
			   &c->leaf_r_new, &part->root_r_new, "that of the first challenge");
		bincode_leave(b, mark);
	}
	bincode_end(b);
}

static void read_item(void *arg, size_t k, unsigned int thread)
{
	struct update_work *w = arg;
	struct field_path root;
	struct bincode b;

	(void)thread;
	if (fault_before(&w->fault, k))
		return;
	field_path_init(&root, "vanilla_proofs");
	field_path_index(&root, k);
	bincode_open(&b, w->blobs[k].data, w->blobs[k].len, root.s);
	part_read(&b, w, k);
	if (b.failed)
		fault_set(&w->fault, k, "%s", b.error);
}

/* comm_r of old and new replica, and the apex tree up to comm_d_new */
static void part_item(void *arg, size_t k, unsigned int thread)
{
	struct update_work *w = arg;
	const struct sector_shape *shape = w->v->shape;
	const struct update_input *part = &w->parts[k];
	const struct path_input *path = &part->challenges[0].path_d_new;
	unsigned int part_levels = __builtin_ctz(shape->update_partitions);
	struct fr row[MAX_APEX_LEAFS], x;
	unsigned int n, i;

	(void)thread;
	if (fault_before(&w->fault, k))
		return;
	comm_r_hash(&x, &part->comm_c, &part->root_r_old);
	if (!fr_equal(&x, &w->comm_r_old)) {
		fault_set(&w->fault, k,
			  "vanilla_proofs[%zu].comm_c: does not give comm_r_old with its root",
			  k);
		return;
	}
	comm_r_hash(&x, &part->comm_c, &part->root_r_new);
	if (!fr_equal(&x, &w->comm_r_new)) {
		fault_set(&w->fault, k,
			  "vanilla_proofs[%zu].comm_c: does not give comm_r_new with its root",
			  k);
		return;
	}
	memcpy(row, part->apex_leafs, shape->apex_leafs * sizeof(*row));
	for (n = shape->apex_leafs / 2; n; n /= 2)
		for (i = 0; i < n; i++)
			sha_node(&row[i], &row[2 * i], &row[2 * i + 1]);
	path_root_sha(path, shape->log_nodes - part_levels, part_levels, &row[0], &x);
	if (!fr_equal(&x, &w->comm_d_new))
		fault_set(&w->fault, k,
			  "vanilla_proofs[%zu].apex_leafs: do not hash to comm_d_new", k);
}

/* The new leaf is the old one plus data times rho of the node's high bits. */
static void encode(const struct sector_shape *shape, const struct fr *phi, uint32_t node,
		   const struct update_challenge_input *c, struct fr *out)
{
	struct fr in[2] = { *phi }, rho;

	fr_from_u64(&in[1], node >> (shape->log_nodes - shape->update_h));
	poseidon_hash_tag(POSEIDON_CUSTOM, 2, in, &rho);
	fr_mul(&rho, &rho, &c->leaf_d_new);
	fr_add(out, &c->leaf_r_old, &rho);
}

static void challenge_fault(struct update_work *w, size_t item, size_t k, unsigned int i,
			    const char *what)
{
	fault_set(&w->fault, item, "vanilla_proofs[%zu].challenge_proofs[%u].%s", k, i, what);
}

static void data_check(struct update_work *w, size_t k, unsigned int i, size_t item,
		       const struct fr *phi)
{
	const struct sector_shape *shape = w->v->shape;
	const struct update_challenge_input *c = &w->parts[k].challenges[i];
	unsigned int low = shape->log_nodes - __builtin_ctz(shape->update_partitions) -
			   shape->apex_levels;
	uint32_t node = path_node(&shape->tree_d, &c->path_d_new);
	struct fr apex, x;

	path_root_sha(&c->path_d_new, 0, low, &c->leaf_d_new, &apex);
	path_root_sha(&c->path_d_new, low, shape->log_nodes - low, &apex, &x);
	if (!fr_equal(&x, &w->comm_d_new))
		challenge_fault(w, item, k, i, "proof_d_new: hashes to another root");
	else if (!fr_equal(&apex, &w->parts[k].apex_leafs[node >> low & (shape->apex_leafs - 1)]))
		challenge_fault(w, item, k, i,
				"proof_d_new: its path does not pass the apex leaf");
	encode(shape, phi, node, c, &x);
	if (!fr_equal(&x, &c->leaf_r_new))
		challenge_fault(w, item, k, i,
				"proof_r_new.leaf: does not encode the new data");
}

#define BATCH (PATH_BATCH / 2)	/* challenges: an old and a new path each */

static void challenge_item(void *arg, size_t item, unsigned int thread)
{
	struct update_work *w = arg;
	const struct sector_shape *shape = w->v->shape;
	unsigned int batches = (shape->update_challenges + BATCH - 1) / BATCH;
	size_t k = item / batches;
	unsigned int first = item % batches * BATCH, n = shape->update_challenges - first, i;
	const struct update_input *part = &w->parts[k];
	const struct path_input *paths[PATH_BATCH];
	struct fr leaf[PATH_BATCH], root[PATH_BATCH], phi, in[2] = { w->comm_d_new, w->comm_r_old };

	(void)thread;
	if (fault_before(&w->fault, item))
		return;
	n = n < BATCH ? n : BATCH;
	for (i = 0; i < n; i++) {
		paths[2 * i] = &part->challenges[first + i].path_r_old;
		leaf[2 * i] = part->challenges[first + i].leaf_r_old;
		paths[2 * i + 1] = &part->challenges[first + i].path_r_new;
		leaf[2 * i + 1] = part->challenges[first + i].leaf_r_new;
	}
	path_roots(&shape->tree_r, paths, leaf, 2 * n, root);
	poseidon_hash_tag(POSEIDON_CUSTOM, 2, in, &phi);
	for (i = 0; i < 2 * n; i++) {
		if (fr_equal(&root[i], i % 2 ? &part->root_r_new : &part->root_r_old))
			continue;
		challenge_fault(w, item, k, first + i / 2,
				i % 2 ? "proof_r_new: hashes to another root" :
					"proof_r_old: hashes to another root");
		return;
	}
	for (i = 0; i < n; i++)
		data_check(w, k, first + i, item, &phi);
}

static size_t part_size(const struct sector_shape *shape)
{
	return ARENA_ROUND(shape->apex_leafs * sizeof(struct fr)) +
	       ARENA_ROUND(shape->update_challenges * sizeof(struct update_challenge_input)) +
	       shape->update_challenges *
	       (2 * path_size(&shape->tree_r) + path_size(&shape->tree_d));
}

static int update_open(struct vanilla *v, struct update_work *w, struct cuzk_error *err)
{
	const struct sector_shape *shape = v->shape;
	size_t size = ARENA_ROUND(v->n_partitions * sizeof(*w->parts)) +
		      v->n_partitions * part_size(shape);
	unsigned int k, i;

	if (arena_open(&v->arena, size) < 0)
		return memory_error(err, size);
	v->bytes += size;
	v->update = w->parts = arena_take(&v->arena, v->n_partitions * sizeof(*w->parts));
	for (k = 0; k < v->n_partitions; k++) {
		struct update_input *part = &w->parts[k];
		struct update_challenge_input *c;

		part->partition = k;
		part->h_select = shape->update_h_select;
		part->comm_r_old = w->comm_r_old;
		part->comm_d_new = w->comm_d_new;
		part->comm_r_new = w->comm_r_new;
		part->n_apex_leafs = shape->apex_leafs;
		part->apex_leafs = arena_take(&v->arena, shape->apex_leafs * sizeof(struct fr));
		part->n_challenges = shape->update_challenges;
		c = arena_take(&v->arena, shape->update_challenges * sizeof(*c));
		part->challenges = c;
		for (i = 0; i < shape->update_challenges; i++) {
			path_alloc(&c[i].path_r_old, &shape->tree_r, &v->arena);
			path_alloc(&c[i].path_d_new, &shape->tree_d, &v->arena);
			path_alloc(&c[i].path_r_new, &shape->tree_r, &v->arena);
		}
	}
	return 0;
}

static bool check_all(struct update_work *w, struct tpool *pool)
{
	const struct vanilla *v = w->v;
	size_t batches = (v->shape->update_challenges + BATCH - 1) / BATCH;

	tpool_run(pool, read_item, w, v->n_partitions);
	if (!w->fault.set)
		tpool_run(pool, part_item, w, v->n_partitions);
	if (!w->fault.set)
		tpool_run(pool, challenge_item, w, v->n_partitions * batches);
	return !w->fault.set;
}

int update_admit(struct vanilla *v, const struct cuzk_request *req, struct tpool *pool,
		 struct cuzk_error *err)
{
	struct update_work w = { .v = v, .blobs = req->vanilla_proofs };
	int ret;

	v->n_partitions = v->shape->update_partitions;
	if (req->n_vanilla_proofs != v->n_partitions)
		return input_error(err,
				   "vanilla_proofs: %llu of them, SnapDeals of %s sectors takes %u",
				   (unsigned long long)req->n_vanilla_proofs, v->shape->text,
				   v->n_partitions);
	ret = request_fr(&req->comm_r_old, "comm_r_old", &w.comm_r_old, err);
	if (!ret)
		ret = request_fr(&req->comm_r_new, "comm_r_new", &w.comm_r_new, err);
	if (!ret)
		ret = request_fr(&req->comm_d_new, "comm_d_new", &w.comm_d_new, err);
	if (!ret)
		ret = update_open(v, &w, err);
	if (ret)
		return ret;
	fault_init(&w.fault);
	if (!check_all(&w, pool))
		ret = input_error(err, "%s", w.fault.text);
	fault_fini(&w.fault);
	return ret;
}
