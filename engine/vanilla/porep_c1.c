/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * porep_c1.c - the output of commit phase 1: JSON in base64 in JSON
 *
 * The inner text is decoded and parsed piece by piece; only field elements
 * and indexes stay, about a fifth of its size.  Members may come in any order,
 * unknown ones are skipped, repeated and missing ones are refused.  The text is
 * read in order, but for challenges that other threads have read before.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/vanilla/c1.h"

int c1_partition_open(const struct sector_shape *shape, struct porep_partition *part)
{
	const unsigned int n = shape->porep_challenges;
	const size_t rows = shape->layers * sizeof(struct fr);
	size_t size = n * (ARENA_ROUND(sizeof(*part->challenges)) + N_PARENTS * ARENA_ROUND(rows) +
			   (N_PARENTS + 2) * path_size(&shape->tree_r) +
			   path_size(&shape->tree_d)) + 16;
	unsigned int i, p;

	part->extra = calloc(n, sizeof(*part->extra));
	if (!part->extra || arena_open(&part->arena, size) < 0) {
		c1_partition_close(part);
		return -ENOMEM;
	}
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

void c1_partition_close(struct porep_partition *part)
{
	free(part->extra);
	free(part->arena.mem);
	memset(part, 0, sizeof(*part));
}

/* [[challenges] partitions] */
static void read_partitions(struct c1_reader *r, struct tpool *pool)
{
	struct vanilla *v = r->v;
	const unsigned int n = v->shape->porep_challenges;
	size_t mark, inner;
	unsigned int i, k;

	json_array(&r->j);
	r->ahead = c1_ahead_open(r, pool);
	while (json_next(&r->j) > 0) {
		struct porep_partition *part = &v->porep[v->n_partitions];

		mark = field_path_index(&r->path, v->n_partitions);
		if (v->n_partitions == MAX_POREP_PARTITIONS) {
			c1_fail(r, "more partitions than any proof has");
			return;
		}
		k = v->n_partitions++;
		if (!part->challenges && c1_partition_open(v->shape, part) < 0) {
			r->no_memory = true;
			c1_fail(r, "out of memory");
			return;
		}
		v->bytes += part->arena.size;
		json_array(&r->j);
		for (i = 0; c1_element(r, i, n, &inner); i++) {
			if (!c1_ahead_take(r, k, i))
				c1_challenge(r, &part->challenges[i], &part->extra[i]);
			c1_leave(r, inner);
		}
		c1_leave(r, mark);
	}
}

/* {"StackedDrg32GiBV1": ...}; the name says the size only */
static void read_proofs(struct c1_reader *r, struct tpool *pool)
{
	struct json_str key;
	char name[32];
	unsigned int i;

	json_object(&r->j);
	if (json_key(&r->j, &key) <= 0) {
		c1_fail(r, "empty");
		return;
	}
	for (i = 0; i < N_SECTOR_SIZES; i++) {
		snprintf(name, sizeof(name), "StackedDrg%sV1", sector_shape(i)->text);
		if (json_str_is(&key, name))
			break;
	}
	if (i == N_SECTOR_SIZES) {
		c1_fail(r, "\"%.*s\" is no kind of vanilla proof", key.len < 48 ? (int)key.len : 48,
		     key.s);
		return;
	}
	if (r->v->shape && r->v->shape != sector_shape(i)) {
		c1_fail(r, "%s, but the registered proof is for %s", name, r->v->shape->text);
		return;
	}
	r->v->shape = sector_shape(i);
	read_partitions(r, pool);
	if (json_key(&r->j, &key) > 0)
		c1_fail(r, "more than one kind of proof");
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
		snprintf(name, sizeof(name), "StackedDrg%s%s",
			 sector_shape(i % N_SECTOR_SIZES)->text, version_names[i / N_SECTOR_SIZES]);
		if (json_str_is(&s, name))
			break;
	}
	if (i == 4 * N_SECTOR_SIZES) {
		c1_fail(r, "\"%.*s\" is no registered seal proof",
			s.len < 48 ? (int)s.len : 48, s.s);
		return;
	}
	if (wanted && wanted != i)
		c1_fail(r, "%s (%u), but the request's registered_proof is %llu", name, i,
		     (unsigned long long)wanted);
	else if (v->shape && v->shape != sector_shape(i % N_SECTOR_SIZES))
		c1_fail(r, "%s, but the vanilla proofs are of %s sectors", name, v->shape->text);
	v->registered = i;
	v->version = i / N_SECTOR_SIZES;
	v->shape = sector_shape(i % N_SECTOR_SIZES);
}

static void read_c1(struct c1_reader *r, uint64_t wanted, struct tpool *pool)
{
	static const char *const names[] = {
		"registered_proof", "vanilla_proofs", "comm_r", "comm_d", "replica_id", "seed",
		"ticket", NULL
	};
	struct vanilla *v = r->v;
	unsigned int seen = 0;
	struct fr x;
	size_t mark;
	int m;

	json_object(&r->j);
	while ((m = c1_member(r, names, 0, &seen, &mark)) >= 0) {
		switch (m) {
		case 0:
			read_registered(r, wanted);
			break;
		case 1:
			read_proofs(r, pool);
			break;
		case 2:
			c1_fr(r, &x, v->comm_r);
			break;
		case 3:
			c1_fr(r, &x, v->comm_d);
			break;
		case 4:
			c1_fr(r, &x, v->replica_id);
			break;
		case 5:
			json_bytes(&r->j, v->seed, 32);
			break;
		case 6:
			json_bytes(&r->j, v->ticket, 32);
			break;
		}
		c1_leave(r, mark);
	}
	json_end(&r->j);
}

static int read_base64(void *ctx, char *buf, size_t max, size_t *len, const char **why)
{
	struct c1_reader *r = ctx;
	int ret = base64_read(&r->base64, (uint8_t *)buf, max < r->step ? max : r->step, len);

	*why = "Phase1Out is not base64 behind this";
	if (ret < 0)
		return ret;
	if (r->drop) {
		*len -= *len < r->drop ? *len : r->drop;
		memmove(buf, buf + r->drop, *len);
		r->drop = 0;
	}
	if (r->step < sizeof(r->buf))
		r->step *= 2;
	return 0;
}

void c1_text(struct c1_reader *r, const struct base64_reader *text, uint64_t at, uint64_t end)
{
	size_t groups = (end + 2) / 3;

	r->base64 = *text;
	if (groups < text->len / 4)
		r->base64.len = 4 * groups;
	r->drop = base64_seek(&r->base64, at);
	/* behind what others have read, little is needed */
	r->step = JSON_BUF_MIN;
	json_seek(&r->j, at, read_base64);
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
		return input_error(err,
				   "vanilla_proof: vanilla_proofs: %u partitions instead of %u",
				   v->n_partitions, n);
	if (size && size != shape->bytes)
		return input_error(err, "vanilla_proof.SectorSize: %llu, but the proof is for %s",
				   (unsigned long long)size, shape->text);
	if (req->sector_size && req->sector_size != shape->bytes)
		return input_error(err, "sector_size: %llu, but the proof is for %s",
				   (unsigned long long)req->sector_size, shape->text);
	return 0;
}

int porep_c1_read(struct vanilla *v, const struct cuzk_request *req, struct tpool *pool,
		  struct c1 *c1, struct cuzk_error *err)
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
	r->step = sizeof(r->buf);
	json_init_pieces(&r->j, read_base64, r, r->buf, sizeof(r->buf));
	read_c1(r, req->registered_proof, pool);
	c1_ahead_close(r->ahead);
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
