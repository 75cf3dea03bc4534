/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* c1_challenge.c - one challenge's proof in the output of commit phase 1 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "engine/vanilla/c1.h"

void c1_fail(struct c1_reader *r, const char *fmt, ...)
{
	va_list ap;

	if (r->j.error)
		return;
	va_start(ap, fmt);
	vsnprintf(r->what, sizeof(r->what), fmt, ap);
	va_end(ap);
	json_fail(&r->j, r->what);
}

void c1_leave(struct c1_reader *r, size_t mark)
{
	if (!r->j.error)
		field_path_leave(&r->path, mark);
}

int c1_member(struct c1_reader *r, const char *const *names, unsigned int optional,
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
			c1_fail(r, "given twice");
			return -1;
		}
		*seen |= 1u << i;
		return i;
	}
	for (i = 0; names[i] && !r->j.error; i++) {
		if (!((*seen | optional) & 1u << i)) {
			field_path_enter(&r->path, names[i]);
			c1_fail(r, "missing");
		}
	}
	return -1;
}

bool c1_element(struct c1_reader *r, unsigned int i, unsigned int n, size_t *mark)
{
	int more = json_next(&r->j);

	if (more > 0 && i < n) {
		*mark = field_path_index(&r->path, i);
		return true;
	}
	if (more > 0)
		c1_fail(r, "more than %u elements", n);
	else if (more == 0 && i < n)
		c1_fail(r, "%u elements instead of %u", i, n);
	return false;
}

void c1_fr(struct c1_reader *r, struct fr *x, uint8_t bytes[32])
{
	if (json_bytes(&r->j, bytes, 32) == 0 && fr_from_bytes_le(x, bytes) < 0)
		c1_fail(r, "not below the field's modulus");
}

static void read_u32(struct c1_reader *r, uint32_t *v)
{
	uint64_t x = 0;

	if (json_u64(&r->j, &x) == 0 && x > UINT32_MAX)
		c1_fail(r, "above 2^32");
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
	while ((m = c1_member(r, names, 0, &seen, &mark)) >= 0) {
		if (m == 1) {
			if (json_u64(&r->j, &v) == 0 && v >= arity)
				c1_fail(r, "not below %u", arity);
			*index = v;
		} else {
			json_array(&r->j);
			for (i = 0; c1_element(r, i, arity - 1, &inner); i++) {
				c1_fr(r, &siblings[i], bytes);
				c1_leave(r, inner);
			}
		}
		c1_leave(r, mark);
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
	while (c1_member(r, names, 0, &seen, &mark) >= 0) {
		json_array(&r->j);
		for (i = 0; c1_element(r, i, n, &inner); i++) {
			read_level(r, tree->arity[first + i], &index[first + i], siblings);
			siblings += tree->arity[first + i] - 1;
			c1_leave(r, inner);
		}
		c1_leave(r, mark);
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
		c1_fail(r, "differs from that of the first challenge");
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
	while (c1_member(r, data, 0, &seen[0], &mark[0]) >= 0) {
		json_object(&r->j);
		while (c1_member(r, kinds[tree->n_parts - 1], 0, &seen[1], &mark[1]) >= 0) {
			json_object(&r->j);
			while ((m = c1_member(r, parts[tree->n_parts - 1], 0, &seen[2],
						&mark[2])) >= 0) {
				if (m == 0) {
					c1_fr(r, &root, bytes);
					if (!r->j.error)
						check_root(r, which, &root);
				} else if (m == 1) {
					c1_fr(r, leaf, bytes);
				} else {
					for (first = 0, i = 0; i < (unsigned int)m - 2; i++)
						first += tree->part_levels[i];
					read_path(r, tree, first, tree->part_levels[m - 2], path);
				}
				c1_leave(r, mark[2]);
			}
			c1_leave(r, mark[1]);
		}
		c1_leave(r, mark[0]);
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
	while ((m = c1_member(r, names, 1u << 2, &seen, &mark)) >= 0) {
		if (m == 0) {
			read_u32(r, index);
		} else if (m == 2) {
			json_null(&r->j);
		} else {
			json_array(&r->j);
			for (i = 0; c1_element(r, i, r->v->shape->layers, &inner); i++) {
				c1_fr(r, &rows[i], r->rows[c][i]);
				c1_leave(r, inner);
			}
		}
		c1_leave(r, mark);
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
	while ((m = c1_member(r, names, 0, &seen, &mark)) >= 0) {
		if (m == 0)
			read_rows(r, c, rows, &extra->column_index[c]);
		else
			read_merkle(r, &r->v->shape->tree_r, ROOT_C, path, &extra->leaf_c[c]);
		c1_leave(r, mark);
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
	while ((m = c1_member(r, names, 0, &seen, &mark)) >= 0) {
		if (m == 0) {
			read_column(r, COLUMN_OWN, extra->own_rows, &in->path_c, extra);
			c1_leave(r, mark);
			continue;
		}
		columns = m == 1 ? in->drg : in->exp;
		n = m == 1 ? POREP_DRG_PARENTS : POREP_EXP_PARENTS;
		json_array(&r->j);
		for (i = 0; c1_element(r, i, n, &inner); i++) {
			read_column(r, m == 1 ? i : POREP_DRG_PARENTS + i,
				    (struct fr *)columns[i].rows, &columns[i].path, extra);
			c1_leave(r, inner);
		}
		c1_leave(r, mark);
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
	while ((m = c1_member(r, names, 1u << 3, &seen, &mark)) >= 0) {
		if (m == 0) {
			json_array(&r->j);
			for (i = 0; c1_element(r, i, N_HASHED_PARENTS, &inner); i++) {
				json_bytes(&r->j, r->labels[l].parents[i], 32);
				c1_leave(r, inner);
			}
		} else if (m == 3) {
			json_null(&r->j);
		} else {
			json_u64(&r->j, m == 1 ? &r->labels[l].layer : &r->labels[l].node);
		}
		c1_leave(r, mark);
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
		c1_fail(r, "%llu instead of %u", (unsigned long long)r->labels[l].layer, layer + 1);
		return;
	}
	if (r->labels[l].node != node) {
		field_path_enter(&r->path, "node");
		c1_fail(r, "%llu, but the first label is of node %llu",
		     (unsigned long long)r->labels[l].node, (unsigned long long)node);
		return;
	}
	for (p = 0; p < N_HASHED_PARENTS; p++) {
		if (!memcmp(r->labels[l].parents[p], hashed_parent(r, layer, p, &column, &row), 32))
			continue;
		field_path_enter_at(&r->path, "parents", p);
		c1_fail(r, "differs from %s.column.rows[%u]", porep_column_name(column), row);
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
		c1_leave(r, mark);
	}
}

void c1_challenge(struct c1_reader *r, struct porep_challenge_input *in,
			   struct porep_extra *extra)
{
	static const char *const names[] = { "comm_d_proofs", "comm_r_last_proof",
		"replica_column_proofs", "labeling_proofs", "encoding_proof", NULL };
	const struct sector_shape *shape = r->v->shape;
	unsigned int seen = 0, l;
	size_t mark, inner;
	int m;

	json_object(&r->j);
	while ((m = c1_member(r, names, 0, &seen, &mark)) >= 0) {
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
			for (l = 0; c1_element(r, l, shape->layers, &inner); l++) {
				read_label(r, l);
				c1_leave(r, inner);
			}
			break;
		case 4:
			read_label(r, shape->layers);
			break;
		}
		c1_leave(r, mark);
	}
	if (!r->j.error)
		check_labels(r, extra);
}
