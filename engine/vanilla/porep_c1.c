/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * porep_c1.c - the output of commit phase 1: JSON in base64 in JSON
 *
 * The inner text is decoded and parsed piece by piece; only field elements
 * and indexes stay, about a fifth of its size.  Members may come in any order,
 * unknown ones are skipped, repeated and missing ones are refused.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/vanilla/internal.h"
#include "lib/base64.h"
#include "lib/json.h"

struct c1_reader {
	struct vanilla *v;
	struct c1 *c1;
	struct json j;
	struct base64_reader base64;
	struct field_path path;
	bool have_roots[3];			/* of root_c, root_r, root_d */
	bool no_memory;
	char what[160];				/* what json_fail was told */

	/* of the challenge that is being read, as bytes */
	uint8_t rows[N_COLUMNS][MAX_LAYERS][32];
	struct {
		uint64_t layer, node;
		uint8_t parents[N_HASHED_PARENTS][32];
	} labels[MAX_LAYERS + 1];		/* the last one: encoding_proof */

	char buf[64 << 10];
};

__attribute__((format(printf, 2, 3)))
static void fail(struct c1_reader *r, const char *fmt, ...)
{
	va_list ap;

	if (r->j.error)
		return;
	va_start(ap, fmt);
	vsnprintf(r->what, sizeof(r->what), fmt, ap);
	va_end(ap);
	json_fail(&r->j, r->what);
}

/* after a failure the path stays where it broke */
static void leave(struct c1_reader *r, size_t mark)
{
	if (!r->j.error)
		field_path_leave(&r->path, mark);
}

/*
 * Goes to the next member that names has; its index, or -1 behind the last,
 * where all but those in optional must have been seen.  The path has the
 * member's name until leave(mark).
 */
static int next_member(struct c1_reader *r, const char *const *names, unsigned int optional,
		       unsigned int *seen, size_t *mark)
{
	struct json_str key;
	int i;

	while (json_key(&r->j, &key) > 0) {
		for (i = 0; names[i] && !json_str_is(&key, names[i]); i++)
			;
		if (!names[i]) {
			json_skip(&r->j);
			continue;
		}
		*mark = field_path_enter(&r->path, names[i]);
		if (*seen & 1u << i) {
			fail(r, "given twice");
			return -1;
		}
		*seen |= 1u << i;
		return i;
	}
	for (i = 0; names[i] && !r->j.error; i++) {
		if (!((*seen | optional) & 1u << i)) {
			field_path_enter(&r->path, names[i]);
			fail(r, "missing");
		}
	}
	return -1;
}

/* Before element i of n: true, and the path has its index until leave(mark). */
static bool next_element(struct c1_reader *r, unsigned int i, unsigned int n, size_t *mark)
{
	int more = json_next(&r->j);

	if (more > 0 && i < n) {
		*mark = field_path_index(&r->path, i);
		return true;
	}
	if (more > 0)
		fail(r, "more than %u elements", n);
	else if (more == 0 && i < n)
		fail(r, "%u elements instead of %u", i, n);
	return false;
}

static void read_fr(struct c1_reader *r, struct fr *x, uint8_t bytes[32])
{
	if (json_bytes(&r->j, bytes, 32) == 0 && fr_from_bytes_le(x, bytes) < 0)
		fail(r, "not below the field's modulus");
}

static void read_u32(struct c1_reader *r, uint32_t *v)
{
	uint64_t x = 0;

	if (json_u64(&r->j, &x) == 0 && x > UINT32_MAX)
		fail(r, "above 2^32");
	*v = x;
}

/* {"hashes": [...], "index": i} */
static void read_level(struct c1_reader *r, unsigned int arity, uint8_t *index, struct fr *siblings)
{
	static const char *const names[] = { "hashes", "index", NULL };
	unsigned int seen = 0, i;
	size_t mark, inner;
	uint8_t bytes[32];
	uint64_t v = 0;
	int m;

	json_object(&r->j);
	while ((m = next_member(r, names, 0, &seen, &mark)) >= 0) {
		if (m == 1) {
			if (json_u64(&r->j, &v) == 0 && v >= arity)
				fail(r, "not below %u", arity);
			*index = v;
		} else {
			json_array(&r->j);
			for (i = 0; next_element(r, i, arity - 1, &inner); i++) {
				read_fr(r, &siblings[i], bytes);
				leave(r, inner);
			}
		}
		leave(r, mark);
	}
}

/* {"path": [...]}: levels first .. first + n of tree */
static void read_path(struct c1_reader *r, const struct tree *tree, unsigned int first,
		      unsigned int n, const struct path_input *path)
{
	static const char *const names[] = { "path", NULL };
	uint8_t *index = (uint8_t *)path->index;
	struct fr *siblings = (struct fr *)path->siblings;
	unsigned int seen = 0, i;
	size_t mark, inner;

	for (i = 0; i < first; i++)
		siblings += tree->arity[i] - 1;
	json_object(&r->j);
	while (next_member(r, names, 0, &seen, &mark) >= 0) {
		json_array(&r->j);
		for (i = 0; next_element(r, i, n, &inner); i++) {
			read_level(r, tree->arity[first + i], &index[first + i], siblings);
			siblings += tree->arity[first + i] - 1;
			leave(r, inner);
		}
		leave(r, mark);
	}
}

enum root { ROOT_C, ROOT_R, ROOT_D };

static void check_root(struct c1_reader *r, enum root which, const struct fr *root)
{
	struct fr *first = which == ROOT_C ? &r->c1->root_c : which == ROOT_R ? &r->c1->root_r :
			   &r->c1->root_d;

	if (!r->have_roots[which]) {
		*first = *root;
		r->have_roots[which] = true;
	} else if (!fr_equal(first, root)) {
		fail(r, "differs from that of the first challenge");
	}
}

/* {"data": {"Sub": {...}}} */
static void read_merkle(struct c1_reader *r, const struct tree *tree, enum root which,
			const struct path_input *path, struct fr *leaf)
{
	static const char *const data[] = { "data", NULL };
	static const char *const kinds[3][2] = { { "Single" }, { "Sub" }, { "Top" } };
	static const char *const single[] = { "root", "leaf", "path", NULL };
	static const char *const sub[] = { "root", "leaf", "base_proof", "sub_proof", NULL };
	static const char *const top[] = { "root", "leaf", "base_proof", "sub_proof", "top_proof",
					   NULL };
	static const char *const *const parts[3] = { single, sub, top };
	unsigned int seen[3] = { 0 }, i, first;
	size_t mark[3];
	uint8_t bytes[32];
	struct fr root;
	int m;

	json_object(&r->j);
	while (next_member(r, data, 0, &seen[0], &mark[0]) >= 0) {
		json_object(&r->j);
		while (next_member(r, kinds[tree->n_parts - 1], 0, &seen[1], &mark[1]) >= 0) {
			json_object(&r->j);
			while ((m = next_member(r, parts[tree->n_parts - 1], 0, &seen[2],
						&mark[2])) >= 0) {
				if (m == 0) {
					read_fr(r, &root, bytes);
					if (!r->j.error)
						check_root(r, which, &root);
				} else if (m == 1) {
					read_fr(r, leaf, bytes);
				} else {
					for (first = 0, i = 0; i < (unsigned int)m - 2; i++)
						first += tree->part_levels[i];
					read_path(r, tree, first, tree->part_levels[m - 2], path);
				}
				leave(r, mark[2]);
			}
			leave(r, mark[1]);
		}
		leave(r, mark[0]);
	}
}

/* {"index": i, "rows": [...], "_h": null} */
static void read_rows(struct c1_reader *r, unsigned int c, struct fr *rows, uint32_t *index)
{
	static const char *const names[] = { "index", "rows", "_h", NULL };
	unsigned int seen = 0, i;
	size_t mark, inner;
	int m;

	json_object(&r->j);
	while ((m = next_member(r, names, 1u << 2, &seen, &mark)) >= 0) {
		if (m == 0) {
			read_u32(r, index);
		} else if (m == 2) {
			json_null(&r->j);
		} else {
			json_array(&r->j);
			for (i = 0; next_element(r, i, r->v->shape->layers, &inner); i++) {
				read_fr(r, &rows[i], r->rows[c][i]);
				leave(r, inner);
			}
		}
		leave(r, mark);
	}
}

static void read_column(struct c1_reader *r, unsigned int c, struct fr *rows,
			const struct path_input *path, struct porep_extra *extra)
{
	static const char *const names[] = { "column", "inclusion_proof", NULL };
	unsigned int seen = 0;
	size_t mark;
	int m;

	json_object(&r->j);
	while ((m = next_member(r, names, 0, &seen, &mark)) >= 0) {
		if (m == 0)
			read_rows(r, c, rows, &extra->column_index[c]);
		else
			read_merkle(r, &r->v->shape->tree_r, ROOT_C, path, &extra->leaf_c[c]);
		leave(r, mark);
	}
}

static void read_columns(struct c1_reader *r, struct porep_challenge_input *in,
			 struct porep_extra *extra)
{
	static const char *const names[] = { "c_x", "drg_parents", "exp_parents", NULL };
	unsigned int seen = 0, i, n;
	struct porep_column_input *columns;
	size_t mark, inner;
	int m;

	json_object(&r->j);
	while ((m = next_member(r, names, 0, &seen, &mark)) >= 0) {
		if (m == 0) {
			read_column(r, COLUMN_OWN, extra->own_rows, &in->path_c, extra);
			leave(r, mark);
			continue;
		}
		columns = m == 1 ? in->drg : in->exp;
		n = m == 1 ? POREP_DRG_PARENTS : POREP_EXP_PARENTS;
		json_array(&r->j);
		for (i = 0; next_element(r, i, n, &inner); i++) {
			read_column(r, m == 1 ? i : POREP_DRG_PARENTS + i,
				    (struct fr *)columns[i].rows, &columns[i].path, extra);
			leave(r, inner);
		}
		leave(r, mark);
	}
}

/* {"parents": [...], "layer_index": l, "node": n} */
static void read_label(struct c1_reader *r, unsigned int l)
{
	static const char *const names[] = { "parents", "layer_index", "node", "_h", NULL };
	unsigned int seen = 0, i;
	size_t mark, inner;
	int m;

	json_object(&r->j);
	while ((m = next_member(r, names, 1u << 3, &seen, &mark)) >= 0) {
		if (m == 0) {
			json_array(&r->j);
			for (i = 0; next_element(r, i, N_HASHED_PARENTS, &inner); i++) {
				json_bytes(&r->j, r->labels[l].parents[i], 32);
				leave(r, inner);
			}
		} else if (m == 3) {
			json_null(&r->j);
		} else {
			json_u64(&r->j, m == 1 ? &r->labels[l].layer : &r->labels[l].node);
		}
		leave(r, mark);
	}
}

/* Parent number p of the label on layer (from 0): the reference's order, repeated to 37. */
static const uint8_t *hashed_parent(const struct c1_reader *r, unsigned int layer, unsigned int p,
				    unsigned int *column, unsigned int *row)
{
	*column = p % (layer ? N_PARENTS : POREP_DRG_PARENTS);
	*row = *column < POREP_DRG_PARENTS ? layer : layer - 1;
	return r->rows[*column][*row];
}

static void check_label(struct c1_reader *r, unsigned int l, unsigned int layer, uint64_t node)
{
	unsigned int p, column, row;

	if (r->labels[l].layer != layer + 1) {
		field_path_enter(&r->path, "layer_index");
		fail(r, "%llu instead of %u", (unsigned long long)r->labels[l].layer, layer + 1);
		return;
	}
	if (r->labels[l].node != node) {
		field_path_enter(&r->path, "node");
		fail(r, "%llu, but the first label is of node %llu",
		     (unsigned long long)r->labels[l].node, (unsigned long long)node);
		return;
	}
	for (p = 0; p < N_HASHED_PARENTS; p++) {
		if (!memcmp(r->labels[l].parents[p], hashed_parent(r, layer, p, &column, &row), 32))
			continue;
		field_path_enter_at(&r->path, "parents", p);
		fail(r, "differs from %s.column.rows[%u]", porep_column_name(column), row);
		return;
	}
}

/* The labels' parents are copies of the columns' rows. */
static void check_labels(struct c1_reader *r, struct porep_extra *extra)
{
	unsigned int layers = r->v->shape->layers, l;
	size_t mark;

	extra->node = r->labels[0].node;
	for (l = 0; l <= layers && !r->j.error; l++) {
		mark = l < layers ? field_path_enter_at(&r->path, "labeling_proofs", l) :
				    field_path_enter(&r->path, "encoding_proof");
		check_label(r, l, l < layers ? l : layers - 1, extra->node);
		leave(r, mark);
	}
}

static void read_challenge(struct c1_reader *r, struct porep_challenge_input *in,
			   struct porep_extra *extra)
{
	static const char *const names[] = { "comm_d_proofs", "comm_r_last_proof",
		"replica_column_proofs", "labeling_proofs", "encoding_proof", NULL };
	const struct sector_shape *shape = r->v->shape;
	unsigned int seen = 0, l;
	size_t mark, inner;
	int m;

	json_object(&r->j);
	while ((m = next_member(r, names, 0, &seen, &mark)) >= 0) {
		switch (m) {
		case 0:
			read_merkle(r, &shape->tree_d, ROOT_D, &in->path_d, &in->data_leaf);
			break;
		case 1:
			read_merkle(r, &shape->tree_r, ROOT_R, &in->path_r, &extra->leaf_r);
			break;
		case 2:
			read_columns(r, in, extra);
			break;
		case 3:
			json_array(&r->j);
			for (l = 0; next_element(r, l, shape->layers, &inner); l++) {
				read_label(r, l);
				leave(r, inner);
			}
			break;
		case 4:
			read_label(r, shape->layers);
			break;
		}
		leave(r, mark);
	}
	if (!r->j.error)
		check_labels(r, extra);
}

static int partition_open(struct vanilla *v, struct porep_partition *part)
{
	const struct sector_shape *shape = v->shape;
	const unsigned int n = shape->porep_challenges;
	const size_t rows = shape->layers * sizeof(struct fr);
	size_t size = n * (ARENA_ROUND(sizeof(*part->challenges)) + N_PARENTS * ARENA_ROUND(rows) +
			   (N_PARENTS + 2) * path_size(&shape->tree_r) +
			   path_size(&shape->tree_d)) + 16;
	unsigned int i, p;

	part->extra = calloc(n, sizeof(*part->extra));
	if (!part->extra || arena_open(&part->arena, size) < 0)
		return -ENOMEM;
	v->bytes += size;
	part->challenges = arena_take(&part->arena, n * sizeof(*part->challenges));
	part->input.n_challenges = n;
	part->input.challenges = part->challenges;
	for (i = 0; i < n; i++) {
		struct porep_challenge_input *in = &part->challenges[i];

		path_alloc(&in->path_d, &shape->tree_d, &part->arena);
		path_alloc(&in->path_r, &shape->tree_r, &part->arena);
		path_alloc(&in->path_c, &shape->tree_r, &part->arena);
		for (p = 0; p < N_PARENTS; p++) {
			struct porep_column_input *col = p < POREP_DRG_PARENTS ? &in->drg[p] :
							 &in->exp[p - POREP_DRG_PARENTS];

			col->n_rows = shape->layers;
			col->rows = arena_take(&part->arena, rows);
			path_alloc(&col->path, &shape->tree_r, &part->arena);
		}
	}
	return 0;
}

/* [[challenges] partitions] */
static void read_partitions(struct c1_reader *r)
{
	struct vanilla *v = r->v;
	const unsigned int n = v->shape->porep_challenges;
	size_t mark, inner;
	unsigned int i;

	json_array(&r->j);
	while (json_next(&r->j) > 0) {
		struct porep_partition *part = &v->porep[v->n_partitions];

		mark = field_path_index(&r->path, v->n_partitions);
		if (v->n_partitions == MAX_POREP_PARTITIONS) {
			fail(r, "more partitions than any proof has");
			return;
		}
		v->n_partitions++;
		if (partition_open(v, part) < 0) {
			r->no_memory = true;
			fail(r, "out of memory");
			return;
		}
		json_array(&r->j);
		for (i = 0; next_element(r, i, n, &inner); i++) {
			read_challenge(r, &part->challenges[i], &part->extra[i]);
			leave(r, inner);
		}
		leave(r, mark);
	}
}

/* {"StackedDrg32GiBV1": ...}; the name says the size only */
static void read_proofs(struct c1_reader *r)
{
	struct json_str key;
	char name[32];
	unsigned int i;

	json_object(&r->j);
	if (json_key(&r->j, &key) <= 0) {
		fail(r, "empty");
		return;
	}
	for (i = 0; i < N_SECTOR_SIZES; i++) {
		snprintf(name, sizeof(name), "StackedDrg%sV1", sector_shape(i)->text);
		if (json_str_is(&key, name))
			break;
	}
	if (i == N_SECTOR_SIZES) {
		fail(r, "\"%.*s\" is no kind of vanilla proof", key.len < 48 ? (int)key.len : 48,
		     key.s);
		return;
	}
	if (r->v->shape && r->v->shape != sector_shape(i)) {
		fail(r, "%s, but the registered proof is for %s", name, r->v->shape->text);
		return;
	}
	r->v->shape = sector_shape(i);
	read_partitions(r);
	if (json_key(&r->j, &key) > 0)
		fail(r, "more than one kind of proof");
}

static const char *const version_names[] = {
	[SEAL_V1] = "V1",
	[SEAL_V1_1] = "V1_1",
	[SEAL_SYNTHETIC] = "V1_1_Feat_SyntheticPoRep",
	[SEAL_NON_INTERACTIVE] = "V1_2_Feat_NonInteractivePoRep",
};

static void read_registered(struct c1_reader *r, uint64_t wanted)
{
	struct vanilla *v = r->v;
	struct json_str s;
	unsigned int i;
	char name[64];

	if (json_string(&r->j, &s) < 0)
		return;
	for (i = 0; i < 4 * N_SECTOR_SIZES; i++) {
		snprintf(name, sizeof(name), "StackedDrg%s%s", sector_shape(i % N_SECTOR_SIZES)->text,
			 version_names[i / N_SECTOR_SIZES]);
		if (json_str_is(&s, name))
			break;
	}
	if (i == 4 * N_SECTOR_SIZES) {
		fail(r, "\"%.*s\" is no registered seal proof", s.len < 48 ? (int)s.len : 48, s.s);
		return;
	}
	if (wanted && wanted != i)
		fail(r, "%s (%u), but the request's registered_proof is %llu", name, i,
		     (unsigned long long)wanted);
	else if (v->shape && v->shape != sector_shape(i % N_SECTOR_SIZES))
		fail(r, "%s, but the vanilla proofs are of %s sectors", name, v->shape->text);
	v->registered = i;
	v->version = i / N_SECTOR_SIZES;
	v->shape = sector_shape(i % N_SECTOR_SIZES);
}

static void read_c1(struct c1_reader *r, uint64_t wanted)
{
	static const char *const names[] = { "registered_proof", "vanilla_proofs", "comm_r", "comm_d",
		"replica_id", "seed", "ticket", NULL };
	struct vanilla *v = r->v;
	unsigned int seen = 0;
	struct fr x;
	size_t mark;
	int m;

	json_object(&r->j);
	while ((m = next_member(r, names, 0, &seen, &mark)) >= 0) {
		switch (m) {
		case 0:
			read_registered(r, wanted);
			break;
		case 1:
			read_proofs(r);
			break;
		case 2:
			read_fr(r, &x, v->comm_r);
			break;
		case 3:
			read_fr(r, &x, v->comm_d);
			break;
		case 4:
			read_fr(r, &x, v->replica_id);
			break;
		case 5:
			json_bytes(&r->j, v->seed, 32);
			break;
		case 6:
			json_bytes(&r->j, v->ticket, 32);
			break;
		}
		leave(r, mark);
	}
	json_end(&r->j);
}

static int read_base64(void *ctx, char *buf, size_t max, size_t *len, const char **why)
{
	*why = "Phase1Out is not base64 behind this";
	return base64_read(ctx, (uint8_t *)buf, max, len);
}

/* {"SectorNum": n, "Phase1Out": "...", "SectorSize": n} */
static int read_envelope(const struct cuzk_request *req, struct json_str *out, uint64_t *number,
			 uint64_t *size, struct cuzk_error *err)
{
	const struct cuzk_blob *blob = &req->vanilla_proof;
	struct json_str key;
	unsigned int seen = 0, bit;
	struct json j;
	char text[160];

	if (!blob->data || !blob->len)
		return input_error(err, "vanilla_proof: empty");
	*size = 0;
	*number = req->sector_number;
	json_init(&j, blob->data, blob->len);
	json_object(&j);
	while (json_key(&j, &key) > 0) {
		bit = json_str_is(&key, "SectorNum") ? 1 : json_str_is(&key, "Phase1Out") ? 2 :
		      json_str_is(&key, "SectorSize") ? 4 : 0;
		if (seen & bit)
			json_fail(&j, "a member is given twice");
		seen |= bit;
		if (bit == 1)
			json_u64(&j, number);
		else if (bit == 2)
			json_string(&j, out);
		else if (bit == 4)
			json_u64(&j, size);
		else
			json_skip(&j);
	}
	if (json_end(&j) < 0) {
		json_error(&j, text, sizeof(text));
		return input_error(err, "vanilla_proof: %s", text);
	}
	if (!(seen & 2))
		return input_error(err, "vanilla_proof: Phase1Out is missing");
	if (req->sector_number && *number != req->sector_number)
		return input_error(err, "vanilla_proof.SectorNum: %llu, but sector_number is %llu",
				   (unsigned long long)*number,
				   (unsigned long long)req->sector_number);
	return 0;
}

static int check_counts(const struct vanilla *v, const struct cuzk_request *req, uint64_t size,
			struct cuzk_error *err)
{
	const struct sector_shape *shape = v->shape;
	unsigned int n = v->version == SEAL_NON_INTERACTIVE ? shape->ni_partitions :
			 shape->porep_partitions;

	if (v->n_partitions != n)
		return input_error(err, "vanilla_proof: vanilla_proofs has %u partitions instead of %u",
				   v->n_partitions, n);
	if (size && size != shape->bytes)
		return input_error(err, "vanilla_proof.SectorSize: %llu, but the proof is for %s",
				   (unsigned long long)size, shape->text);
	if (req->sector_size && req->sector_size != shape->bytes)
		return input_error(err, "sector_size: %llu, but the proof is for %s",
				   (unsigned long long)req->sector_size, shape->text);
	return 0;
}

int porep_c1_read(struct vanilla *v, const struct cuzk_request *req, struct c1 *c1,
		  struct cuzk_error *err)
{
	struct json_str text = { 0 };
	struct c1_reader *r;
	char *plain = NULL, where[200];
	uint64_t size = 0;
	int ret = read_envelope(req, &text, &c1->sector_number, &size, err);

	if (ret < 0)
		return ret;
	r = calloc(1, sizeof(*r));
	v->porep = calloc(MAX_POREP_PARTITIONS, sizeof(*v->porep));
	if (text.escaped)	/* nobody writes base64 so, but it is legal */
		plain = malloc(text.len + 8);
	if (!r || !v->porep || (text.escaped && !plain)) {
		ret = memory_error(err, sizeof(*r) + text.len);
		goto out_free;
	}
	if (plain) {
		ret = json_str_copy(&text, plain, text.len + 8);
		text.s = plain;
		text.len = ret < 0 ? 0 : ret;
		ret = 0;
	}
	r->v = v;
	r->c1 = c1;
	field_path_init(&r->path, "");
	base64_open(&r->base64, text.s, text.len);
	json_init_pieces(&r->j, read_base64, &r->base64, r->buf, sizeof(r->buf));
	read_c1(r, req->registered_proof);
	if (r->no_memory) {
		ret = memory_error(err, v->bytes);
	} else if (r->j.error) {
		json_error(&r->j, where, sizeof(where));
		ret = input_error(err, "vanilla_proof: %s%s%s", r->path.s, r->path.len ? ": " : "",
				  where);
	} else {
		ret = check_counts(v, req, size, err);
	}
out_free:
	free(plain);
	free(r);
	return ret;
}
