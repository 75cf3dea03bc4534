/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* post.c - WinningPoSt and WindowPoSt (filecoin-spec 3.2, 3.5, 4.2) */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/vanilla/internal.h"

struct post_work {
	struct vanilla *v;
	const struct cuzk_blob *blobs;
	/* of the given sectors: what is read and checked, before unrolling and padding */
	struct post_sector_input *sectors;
	struct post_challenge_input *challenges;
	uint64_t *ids;
	unsigned int n_challenges;	/* of each given sector */
	size_t n_paths;
	struct fault fault;
};

/* The place of path n of sector s in the randomness' sequence. */
static uint64_t challenge_index(const struct vanilla *v, size_t s, unsigned int n,
				unsigned int n_challenges)
{
	return v->global_index ? (v->first_sector + s) * n_challenges + n : n;
}

static void sector_read(struct bincode *b, struct post_work *w, size_t s)
{
	const struct vanilla *v = w->v;
	struct post_sector_input *sector = &w->sectors[s];
	struct fr roots[WINNING_CHALLENGES];
	struct merkle_ends ends;
	unsigned int n;
	size_t mark, inner;

	w->ids[s] = bincode_u64(b, "sector_id");
	fr_read(b, "comm_r", &sector->comm_r);
	bincode_count(b, 1, 72, "sectors");
	mark = bincode_enter_at(b, "sectors", 0);
	bincode_count(b, w->n_challenges, 76, "inclusion_proofs");
	for (n = 0; n < w->n_challenges && !b->failed; n++) {
		struct post_challenge_input *c = &w->challenges[s * w->n_challenges + n];

		inner = bincode_enter_at(b, "inclusion_proofs", n);
		merkle_read(b, &v->shape->tree_r,
			    post_challenge(v->randomness, w->ids[s],
					   challenge_index(v, s, n, w->n_challenges),
					   1ull << v->shape->log_nodes), &c->path, &ends);
		roots[n] = ends.root;
		c->leaf = ends.leaf;
		bincode_leave(b, inner);
	}
	fr_read(b, "comm_c", &sector->comm_c);
	fr_read(b, "comm_r_last", &sector->comm_r_last);
	for (n = 0; n < w->n_challenges && !b->failed; n++) {
		if (fr_equal(&roots[n], &sector->comm_r_last))
			continue;
		bincode_enter_at(b, "inclusion_proofs", n);
		bincode_enter(b, "root");
		bincode_fail(b, "differs from comm_r_last");
	}
	bincode_leave(b, mark);
	bincode_end(b);
}

/* A sector's number of eight printable bytes is possible, but not what a failure means. */
static bool is_text(const struct bincode *b)
{
	size_t i;

	for (i = 0; i < 8 && i < b->len; i++)
		if (b->data[i] < ' ' || b->data[i] > '~')
			return false;
	return b->len > 0;
}

static void read_item(void *arg, size_t s, unsigned int thread)
{
	struct post_work *w = arg;
	struct field_path root;
	struct bincode b;

	(void)thread;
	if (fault_before(&w->fault, s))
		return;
	field_path_init(&root, "vanilla_proofs");
	field_path_index(&root, s);
	bincode_open(&b, w->blobs[s].data, w->blobs[s].len, root.s);
	sector_read(&b, w, s);
	if (b.failed)
		fault_set(&w->fault, s, "%s%s", b.error,
			  is_text(&b) ? "; it looks like text where bincode is due" : "");
}

static void comm_r_item(void *arg, size_t s, unsigned int thread)
{
	struct post_work *w = arg;
	const struct post_sector_input *sector = &w->sectors[s];
	struct fr comm_r;

	(void)thread;
	if (fault_before(&w->fault, s))
		return;
	comm_r_hash(&comm_r, &sector->comm_c, &sector->comm_r_last);
	if (!fr_equal(&comm_r, &sector->comm_r))
		fault_set(&w->fault, s,
			  "vanilla_proofs[%zu].comm_r: not the hash of comm_c and comm_r_last", s);
}

static void path_item(void *arg, size_t item, unsigned int thread)
{
	struct post_work *w = arg;
	const struct path_input *paths[PATH_BATCH];
	struct fr leaf[PATH_BATCH], root[PATH_BATCH];
	size_t first = item * PATH_BATCH, i, n = w->n_paths - first;

	(void)thread;
	if (fault_before(&w->fault, first))
		return;
	n = n < PATH_BATCH ? n : PATH_BATCH;
	for (i = 0; i < n; i++) {
		paths[i] = &w->challenges[first + i].path;
		leaf[i] = w->challenges[first + i].leaf;
	}
	path_roots(&w->v->shape->tree_r, paths, leaf, n, root);
	for (i = 0; i < n; i++) {
		size_t s = (first + i) / w->n_challenges;

		if (fr_equal(&root[i], &w->sectors[s].comm_r_last))
			continue;
		fault_set(&w->fault, first + i,
			  "vanilla_proofs[%zu].sectors[0].inclusion_proofs[%zu]: %s", s,
			  (first + i) % w->n_challenges,
			  "leaf and path hash to another root than comm_r_last");
		return;
	}
}

static bool check_all(struct post_work *w, struct tpool *pool)
{
	size_t n = w->v->n_given;

	tpool_run(pool, read_item, w, n);
	if (!w->fault.set)
		tpool_run(pool, comm_r_item, w, n);
	if (!w->fault.set)
		tpool_run(pool, path_item, w, (w->n_paths + PATH_BATCH - 1) / PATH_BATCH);
	return !w->fault.set;
}

/* One sector with 66 challenges becomes 66 sectors with one each. */
static void unroll(struct vanilla *v, struct post_sector_input *sectors,
		   const struct post_challenge_input *challenges)
{
	unsigned int i;

	for (i = 0; i < WINNING_CHALLENGES; i++) {
		sectors[i] = sectors[0];
		sectors[i].n_challenges = 1;
		sectors[i].challenges = &challenges[i];
	}
	v->post.n_sectors = WINNING_CHALLENGES;
}

static void pad(struct vanilla *v, struct post_sector_input *sectors)
{
	size_t i;

	for (i = v->n_given; i < v->shape->window_sectors; i++)
		sectors[i] = sectors[v->n_given - 1];
	v->post.n_sectors = v->shape->window_sectors;
}

static int post_open(struct vanilla *v, struct post_work *w, size_t n_circuit,
		     struct cuzk_error *err)
{
	const struct tree *tree = &v->shape->tree_r;
	size_t n = v->n_given, i;
	size_t size = ARENA_ROUND(n * sizeof(*w->ids)) +
		      ARENA_ROUND(n_circuit * sizeof(*w->sectors)) +
		      ARENA_ROUND(w->n_paths * sizeof(*w->challenges)) +
		      w->n_paths * path_size(tree);

	if (arena_open(&v->arena, size) < 0)
		return memory_error(err, size);
	v->sector_ids = w->ids = arena_take(&v->arena, n * sizeof(*w->ids));
	w->sectors = arena_take(&v->arena, n_circuit * sizeof(*w->sectors));
	w->challenges = arena_take(&v->arena, w->n_paths * sizeof(*w->challenges));
	for (i = 0; i < w->n_paths; i++)
		path_alloc(&w->challenges[i].path, tree, &v->arena);
	for (i = 0; i < n; i++) {
		w->sectors[i].n_challenges = w->n_challenges;
		w->sectors[i].challenges = &w->challenges[i * w->n_challenges];
	}
	v->post.sectors = w->sectors;
	v->bytes += size;
	return 0;
}

int post_admit(struct vanilla *v, const struct cuzk_request *req, struct tpool *pool,
	       struct cuzk_error *err)
{
	bool winning = v->kind == CUZK_KIND_WINNING_POST;
	uint64_t max = winning ? 1 : v->shape->window_sectors;
	struct post_work w = { .v = v, .blobs = req->vanilla_proofs };
	int ret;

	if (req->randomness.len != 32 || !req->randomness.data)
		return input_error(err, "randomness: %zu bytes instead of 32",
				   req->randomness.len);
	memcpy(v->randomness, req->randomness.data, 32);
	v->randomness[31] &= 0x3f;	/* as the proofs API does before any use */
	if (req->n_vanilla_proofs < 1 || req->n_vanilla_proofs > max)
		return input_error(err,
				   "vanilla_proofs: %llu of them, %s of %s sectors takes %s%llu",
				   (unsigned long long)req->n_vanilla_proofs,
				   winning ? "WinningPoSt" : "a WindowPoSt partition",
				   v->shape->text, winning ? "" : "1 to ", (unsigned long long)max);
	v->n_partitions = 1;
	v->n_given = req->n_vanilla_proofs;
	/* partition_index only counts where all sectors are counted through */
	v->first_sector = winning ? 0 :
			  (uint64_t)req->partition_index * v->shape->window_sectors;
	v->global_index = winning || req->registered_proof < 10;
	w.n_challenges = winning ? WINNING_CHALLENGES : WINDOW_CHALLENGES;
	w.n_paths = (size_t)v->n_given * w.n_challenges;
	ret = post_open(v, &w, winning ? WINNING_CHALLENGES : max, err);
	if (ret < 0)
		return ret;
	fault_init(&w.fault);
	if (!check_all(&w, pool))
		ret = input_error(err, "%s", w.fault.text);
	else if (winning)
		unroll(v, w.sectors, w.challenges);
	else
		pad(v, w.sectors);
	fault_fini(&w.fault);
	return ret;
}
