/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* arena.c - hands out pieces of one range of device memory */
#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "gpu/cuda/arena.h"

struct piece {
	struct piece *prev, *next;	/* by address; together they cover the range */
	uint64_t at, size;
	bool used;
};

struct arena {
	struct piece *first;
	uint64_t size, used, peak;
};

int cuda_arena_open(struct arena **out, uint64_t base, uint64_t size)
{
	struct arena *arena = calloc(1, sizeof(*arena));
	struct piece *p = calloc(1, sizeof(*p));
	uint64_t start = (base + ARENA_ALIGN - 1) & ~(uint64_t)(ARENA_ALIGN - 1);

	if (!arena || !p || base + size < start) {
		free(arena);
		free(p);
		return -ENOMEM;
	}
	p->at = start;
	p->size = (base + size - start) & ~(uint64_t)(ARENA_ALIGN - 1);
	arena->first = p;
	arena->size = p->size;
	*out = arena;
	return 0;
}

void cuda_arena_close(struct arena *arena)
{
	struct piece *p, *next;

	if (!arena)
		return;
	for (p = arena->first; p; p = next) {
		next = p->next;
		free(p);
	}
	free(arena);
}

int cuda_arena_alloc(struct arena *arena, uint64_t bytes, uint64_t *at)
{
	struct piece *p, *best = NULL, *rest;

	if (bytes > UINT64_MAX - ARENA_ALIGN)
		return -ENOMEM;
	bytes = bytes ? (bytes + ARENA_ALIGN - 1) & ~(uint64_t)(ARENA_ALIGN - 1) : ARENA_ALIGN;
	for (p = arena->first; p; p = p->next)
		if (!p->used && p->size >= bytes && (!best || p->size < best->size))
			best = p;
	if (!best)
		return -ENOMEM;
	if (best->size > bytes) {
		rest = calloc(1, sizeof(*rest));
		if (!rest)
			return -ENOMEM;
		rest->at = best->at + bytes;
		rest->size = best->size - bytes;
		rest->prev = best;
		rest->next = best->next;
		if (rest->next)
			rest->next->prev = rest;
		best->next = rest;
		best->size = bytes;
	}
	best->used = true;
	arena->used += bytes;
	if (arena->used > arena->peak)
		arena->peak = arena->used;
	*at = best->at;
	return 0;
}

/* p swallows the piece behind it where both are free. */
static void merge(struct piece *p)
{
	struct piece *next = p->next;

	if (p->used || !next || next->used)
		return;
	p->size += next->size;
	p->next = next->next;
	if (p->next)
		p->next->prev = p;
	free(next);
}

void cuda_arena_free(struct arena *arena, uint64_t at)
{
	struct piece *p;

	if (!at)
		return;
	for (p = arena->first; p && p->at != at; p = p->next)
		;
	assert(p && p->used);
	p->used = false;
	arena->used -= p->size;
	merge(p);
	if (p->prev)
		merge(p->prev);
}

uint64_t cuda_arena_size(const struct arena *arena)
{
	return arena->size;
}

uint64_t cuda_arena_used(const struct arena *arena)
{
	return arena->used;
}

uint64_t cuda_arena_peak(const struct arena *arena)
{
	return arena->peak;
}

uint64_t cuda_arena_largest(const struct arena *arena)
{
	const struct piece *p;
	uint64_t largest = 0;

	for (p = arena->first; p; p = p->next)
		if (!p->used && p->size > largest)
			largest = p->size;
	return largest;
}
