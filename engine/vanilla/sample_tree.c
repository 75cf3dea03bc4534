/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* sample_tree.c - trees of made-up sectors, and proofs of their leaves */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/vanilla/sample_internal.h"
#include "lib/poseidon/poseidon.h"
#include "lib/sha256.h"

static const struct fr *common_node(const struct sample_tree *t, unsigned int level, uint64_t i)
{
	if (level <= t->uniform)
		return &t->common[level][i << t->shift[level] >> t->log_block];
	return &t->common[level][i];
}

const struct fr *sample_tree_node(const struct sample_tree *t, unsigned int level, uint64_t i)
{
	size_t lo = 0, hi = t->n_special[level];

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (t->special[level][mid] == i)
			return &t->special_value[level][mid];
		if (t->special[level][mid] < i)
			lo = mid + 1;
		else
			hi = mid;
	}
	return common_node(t, level, i);
}

const struct fr *sample_tree_root(const struct sample_tree *t)
{
	return sample_tree_node(t, t->shape->n_levels, 0);
}

static void hash_node(const struct sample_tree *t, unsigned int arity, const struct fr *in,
		      struct fr *out)
{
	if (t->sha)
		sha_node(out, &in[0], &in[1]);
	else
		poseidon_hash(arity, in, out);
}

/* Level level + 1 of what is common. */
static int common_level(struct sample_tree *t, unsigned int level)
{
	const unsigned int arity = t->shape->arity[level];
	bool uniform = level + 1 <= t->uniform;
	uint64_t n = uniform ? 1ull << (t->log_nodes - t->log_block) :
			       1ull << (t->log_nodes - t->shift[level + 1]);
	struct fr in[8], *out = calloc(n, sizeof(*out));
	unsigned int c;
	uint64_t i;

	t->common[level + 1] = out;
	if (!out)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		for (c = 0; c < arity; c++)
			in[c] = uniform ? t->common[level][i] :
				*common_node(t, level, arity * i + c);
		hash_node(t, arity, in, &out[i]);
	}
	return 0;
}

static int special_level(struct sample_tree *t, unsigned int level)
{
	const unsigned int arity = t->shape->arity[level];
	size_t i, n = 0, max = t->n_special[level];
	struct fr in[8];
	unsigned int c;

	t->special[level + 1] = calloc(max + 1, sizeof(uint64_t));
	t->special_value[level + 1] = calloc(max + 1, sizeof(struct fr));
	if (!t->special[level + 1] || !t->special_value[level + 1])
		return -ENOMEM;
	for (i = 0; i < max; i++) {
		uint64_t node = t->special[level][i] / arity;

		if (n && t->special[level + 1][n - 1] == node)
			continue;
		for (c = 0; c < arity; c++)
			in[c] = *sample_tree_node(t, level, arity * node + c);
		t->special[level + 1][n] = node;
		hash_node(t, arity, in, &t->special_value[level + 1][n++]);
	}
	t->n_special[level + 1] = n;
	return 0;
}

int sample_tree_init(struct sample_tree *t, const struct tree *shape, bool sha,
		     unsigned int log_nodes, unsigned int log_block, const struct fr *leaves,
		     const uint64_t *special_nodes, const struct fr *special_values,
		     size_t n_special)
{
	size_t blocks = (size_t)1 << (log_nodes - log_block);
	unsigned int level;
	int ret = 0;

	memset(t, 0, sizeof(*t));
	t->shape = shape;
	t->sha = sha;
	t->log_nodes = log_nodes;
	t->log_block = log_block;
	for (level = 0; level < shape->n_levels; level++) {
		t->shift[level + 1] = t->shift[level] + __builtin_ctz(shape->arity[level]);
		if (t->shift[level + 1] <= log_block)
			t->uniform = level + 1;
	}
	t->common[0] = calloc(blocks, sizeof(struct fr));
	t->special[0] = calloc(n_special + 1, sizeof(uint64_t));
	t->special_value[0] = calloc(n_special + 1, sizeof(struct fr));
	if (!t->common[0] || !t->special[0] || !t->special_value[0])
		return -ENOMEM;
	memcpy(t->common[0], leaves, blocks * sizeof(*leaves));
	if (n_special) {
		memcpy(t->special[0], special_nodes, n_special * sizeof(*special_nodes));
		memcpy(t->special_value[0], special_values, n_special * sizeof(*special_values));
	}
	t->n_special[0] = n_special;
	for (level = 0; level < shape->n_levels && !ret; level++) {
		ret = common_level(t, level);
		if (!ret)
			ret = special_level(t, level);
	}
	return ret;
}

void sample_tree_fini(struct sample_tree *t)
{
	unsigned int level;

	for (level = 0; level <= MAX_LEVELS; level++) {
		free(t->common[level]);
		free(t->special[level]);
		free(t->special_value[level]);
	}
}

void out_bytes(struct sample_out *o, const void *data, size_t len)
{
	if (o->failed)
		return;
	if (len > o->size - o->len) {
		size_t size = 2 * o->size + len + 256;
		uint8_t *p = realloc(o->data, size);

		if (!p) {
			o->failed = true;
			return;
		}
		o->data = p;
		o->size = size;
	}
	memcpy(o->data + o->len, data, len);
	o->len += len;
}

void out_u64(struct sample_out *o, uint64_t v)
{
	uint8_t b[8];
	int i;

	for (i = 0; i < 8; i++)
		b[i] = v >> 8 * i;
	out_bytes(o, b, 8);
}

void out_fr(struct sample_out *o, const struct fr *x)
{
	uint8_t b[32];

	fr_to_bytes_le(b, x);
	out_bytes(o, b, 32);
}

void out_text(struct sample_out *o, const char *fmt, ...)
{
	char text[128];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	out_bytes(o, text, strlen(text));
}

void out_json_bytes(struct sample_out *o, const uint8_t *bytes, size_t n)
{
	char text[4 * 32 + 2], *p = text;
	size_t i;

	*p++ = '[';
	for (i = 0; i < n && i < 32; i++) {
		if (bytes[i] >= 100)
			*p++ = '0' + bytes[i] / 100;
		if (bytes[i] >= 10)
			*p++ = '0' + bytes[i] / 10 % 10;
		*p++ = '0' + bytes[i] % 10;
		*p++ = ',';
	}
	p[-1] = ']';
	out_bytes(o, text, p - text);
}

void out_json_fr(struct sample_out *o, const struct fr *x)
{
	uint8_t b[32];

	fr_to_bytes_le(b, x);
	out_json_bytes(o, b, 32);
}

static void out_part(struct sample_out *o, const struct sample_tree *t, unsigned int first,
		     unsigned int n, uint64_t node)
{
	unsigned int level, c;
	uint64_t i;

	out_u64(o, n);
	for (level = first; level < first + n; level++) {
		unsigned int arity = t->shape->arity[level];

		i = node >> t->shift[level];
		out_u64(o, arity - 1);
		for (c = 0; c < arity; c++)
			if (c != i % arity)
				out_fr(o, sample_tree_node(t, level, i / arity * arity + c));
		out_u64(o, i % arity);
	}
}

void out_merkle(struct sample_out *o, const struct sample_tree *t, uint64_t node)
{
	const struct tree *shape = t->shape;
	const uint8_t tag[4] = { shape->n_parts - 1 };
	unsigned int part, first = 0;

	out_bytes(o, tag, 4);
	if (shape->n_parts == 1) {
		out_fr(o, sample_tree_root(t));
		out_fr(o, sample_tree_node(t, 0, node));
	}
	for (part = 0; part < shape->n_parts; part++) {
		out_part(o, t, first, shape->part_levels[part], node);
		first += shape->part_levels[part];
	}
	if (shape->n_parts > 1) {
		out_fr(o, sample_tree_root(t));
		out_fr(o, sample_tree_node(t, 0, node));
	}
}

static void out_json_part(struct sample_out *o, const struct sample_tree *t, unsigned int first,
			  unsigned int n, uint64_t node)
{
	unsigned int level, c, k;
	uint64_t i;

	out_text(o, "{\"path\":[");
	for (level = first; level < first + n; level++) {
		unsigned int arity = t->shape->arity[level];

		i = node >> t->shift[level];
		out_text(o, "%s{\"hashes\":[", level > first ? "," : "");
		for (c = k = 0; c < arity; c++) {
			if (c == i % arity)
				continue;
			if (k++)
				out_text(o, ",");
			out_json_fr(o, sample_tree_node(t, level, i / arity * arity + c));
		}
		out_text(o, "],\"index\":%u}", (unsigned int)(i % arity));
	}
	out_text(o, "]}");
}

void out_json_merkle(struct sample_out *o, const struct sample_tree *t, uint64_t node)
{
	static const char *const kinds[] = { "Single", "Sub", "Top" };
	static const char *const parts[] = { "base_proof", "sub_proof", "top_proof" };
	const struct tree *shape = t->shape;
	unsigned int part, first = 0;

	out_text(o, "{\"data\":{\"%s\":{", kinds[shape->n_parts - 1]);
	for (part = 0; part < shape->n_parts; part++) {
		out_text(o, "\"%s\":", shape->n_parts == 1 ? "path" : parts[part]);
		out_json_part(o, t, first, shape->part_levels[part], node);
		first += shape->part_levels[part];
		out_text(o, ",");
	}
	out_text(o, "\"root\":");
	out_json_fr(o, sample_tree_root(t));
	out_text(o, ",\"leaf\":");
	out_json_fr(o, sample_tree_node(t, 0, node));
	out_text(o, "}}}");
}

void sample_random(uint64_t seed, const char *what, uint64_t i, uint8_t out[32])
{
	uint8_t in[16];
	struct sha256 h;
	int b;

	for (b = 0; b < 8; b++) {
		in[b] = seed >> 8 * b;
		in[8 + b] = i >> 8 * b;
	}
	sha256_init(&h);
	sha256_update(&h, what, strlen(what));
	sha256_update(&h, in, sizeof(in));
	sha256_final(&h, out);
	out[31] &= 0x3f;
}

void sample_random_fr(uint64_t seed, const char *what, uint64_t i, struct fr *out)
{
	uint8_t bytes[32];

	sample_random(seed, what, i, bytes);
	fr_from_bytes_le(out, bytes);
}
