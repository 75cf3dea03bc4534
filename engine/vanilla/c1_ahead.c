/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * c1_ahead.c - challenges of a C1 that several threads read before its reader comes to them
 *
 * Where a challenge starts is known for sure only to who has read all before it.  But its text
 * begins in a way that hardly anything else does: so the threads look for that, then each takes a
 * place and reads one challenge from there to the next at most.  The reader itself still walks over
 * everything; where it comes to a place from which a challenge was read, it goes on behind that.  A
 * place that was none costs only the time that was spent on it, and a fault is found again by the
 * reader, which says where.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/vanilla/c1.h"

/* how the text of a challenge begins, written without white space and in the usual order */
#define HEAD "{\"comm_d_proofs\":"
#define HEAD_LEN (sizeof(HEAD) - 1)

#define CHUNK (48 << 10)	/* bytes looked through at once; a multiple of 3 */
#define CHUNK_PLACES 7		/* a challenge has more than 8 KiB of text in the smallest sector */

struct chunk {
	unsigned int n;
	uint16_t at[CHUNK_PLACES];	/* from the chunk's start */
};

struct place {
	uint64_t start, end;		/* of the challenge's text; end: 0 it was not read */
	struct fr roots[3];
};

struct c1_ahead {
	struct vanilla *v;
	struct base64_reader text;
	uint64_t first, size;		/* bytes of the inner text: looked at from there, all */
	size_t n_chunks, n_places, n_opened, n_readers;
	struct chunk *chunks;
	struct place *places;
	struct c1_reader **readers;	/* one for each thread */
};

static void find_item(void *arg, size_t item, unsigned int thread)
{
	struct c1_ahead *a = arg;
	struct chunk *chunk = &a->chunks[item];
	struct base64_reader text = a->text;
	char buf[CHUNK + 3 * HEAD_LEN], *p = buf;
	size_t len = 0, n;

	(void)thread;
	base64_seek(&text, a->first + item * CHUNK);
	/* up to where the text is not base64, if it is not */
	while (sizeof(buf) - len >= 3 &&
	       base64_read(&text, (uint8_t *)buf + len, sizeof(buf) - len, &n) == 0 && n)
		len += n;
	while (chunk->n < CHUNK_PLACES && (p = memmem(p, buf + len - p, HEAD, HEAD_LEN)) &&
	       p - buf < CHUNK)
		chunk->at[chunk->n++] = p++ - buf;
}

static void read_item(void *arg, size_t item, unsigned int thread)
{
	struct c1_ahead *a = arg;
	const unsigned int n = a->v->shape->porep_challenges;
	struct porep_partition *part = &a->v->porep[item / n];
	struct place *place = &a->places[item];
	uint64_t limit = item + 1 < a->n_places ? place[1].start : a->size;
	struct c1_reader *r = a->readers[thread];
	struct c1 c1 = { 0 };

	if (!r) {
		r = a->readers[thread] = calloc(1, sizeof(*r));
		if (!r)
			return;
	}
	r->v = a->v;
	r->c1 = &c1;
	memset(r->have_roots, 0, sizeof(r->have_roots));
	field_path_init(&r->path, "");
	json_init_pieces(&r->j, NULL, r, r->buf, sizeof(r->buf));
	c1_text(r, &a->text, place->start, limit);
	r->step = sizeof(r->buf);
	c1_challenge(r, &part->challenges[item % n], &part->extra[item % n]);
	if (r->j.error || json_tell(&r->j) > limit)
		return;
	place->roots[0] = c1.root_c;
	place->roots[1] = c1.root_r;
	place->roots[2] = c1.root_d;
	place->end = json_tell(&r->j);
}

/* What each chunk found, in the text's order. */
static int list_places(struct c1_ahead *a, uint64_t from, size_t max)
{
	size_t i, n = 0;
	unsigned int k;
	uint64_t start;

	for (i = 0; i < a->n_chunks; i++)
		n += a->chunks[i].n;
	a->places = calloc(n ? n : 1, sizeof(*a->places));
	if (!a->places)
		return -1;
	for (i = 0; i < a->n_chunks; i++) {
		for (k = 0; k < a->chunks[i].n && a->n_places < max; k++) {
			start = a->first + i * CHUNK + a->chunks[i].at[k];
			if (start >= from)
				a->places[a->n_places++].start = start;
		}
	}
	return 0;
}

static int open_partitions(struct c1_ahead *a)
{
	const unsigned int n = a->v->shape->porep_challenges;

	for (; a->n_opened * n < a->n_places; a->n_opened++)
		if (c1_partition_open(a->v->shape, &a->v->porep[a->n_opened]) < 0)
			return -1;
	return 0;
}

struct c1_ahead *c1_ahead_open(struct c1_reader *r, struct tpool *pool)
{
	struct c1_ahead *a;
	uint64_t from;

	if (tpool_threads(pool) < 2)
		return NULL;
	from = json_tell(&r->j);
	a = calloc(1, sizeof(*a));
	if (!a || r->j.error)
		goto err_close;
	a->v = r->v;
	a->text = r->base64;
	a->first = from - from % 3;
	a->size = BASE64_BYTES(a->text.len);
	if (from >= a->size)
		goto err_close;
	a->n_chunks = (a->size - a->first + CHUNK - 1) / CHUNK;
	a->chunks = calloc(a->n_chunks, sizeof(*a->chunks));
	a->readers = calloc(tpool_threads(pool), sizeof(*a->readers));
	if (!a->chunks || !a->readers)
		goto err_close;
	a->n_readers = tpool_threads(pool);
	tpool_run(pool, find_item, a, a->n_chunks);
	if (list_places(a, from, MAX_POREP_PARTITIONS * r->v->shape->porep_challenges) < 0 ||
	    a->n_places < 2 || open_partitions(a) < 0)
		goto err_close;
	tpool_run(pool, read_item, a, a->n_places);
	return a;

err_close:
	c1_ahead_close(a);
	return NULL;
}

bool c1_ahead_take(struct c1_reader *r, unsigned int partition, unsigned int challenge)
{
	struct fr *const roots[3] = { &r->c1->root_c, &r->c1->root_r, &r->c1->root_d };
	struct c1_ahead *a = r->ahead;
	size_t item = (size_t)partition * r->v->shape->porep_challenges + challenge;
	const struct place *place;
	unsigned int i;

	if (!a || item >= a->n_places)
		return false;
	place = &a->places[item];
	if (!place->end || json_tell(&r->j) != place->start)
		return false;
	for (i = 0; i < 3; i++)
		if (r->have_roots[i] && !fr_equal(roots[i], &place->roots[i]))
			return false;
	for (i = 0; i < 3; i++) {
		*roots[i] = place->roots[i];
		r->have_roots[i] = true;
	}
	c1_text(r, &a->text, place->end, a->size);
	return true;
}

void c1_ahead_close(struct c1_ahead *a)
{
	size_t i;

	if (!a)
		return;
	for (i = 0; i < a->n_readers; i++)
		free(a->readers[i]);
	for (i = a->v ? a->v->n_partitions : 0; i < a->n_opened; i++)
		c1_partition_close(&a->v->porep[i]);
	free(a->readers);
	free(a->places);
	free(a->chunks);
	free(a);
}
