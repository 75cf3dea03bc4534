/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* hash.c - a table of chains inside of the structs that are found through it */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>

#include "plugin/hash.h"

#define SLOTS_AT_FIRST 64

int hash_init(struct hash *hash)
{
	hash->slots = calloc(SLOTS_AT_FIRST, sizeof(*hash->slots));
	if (!hash->slots)
		return -ENOMEM;
	hash->n_slots = SLOTS_AT_FIRST;
	hash->count = 0;
	return 0;
}

void hash_fini(struct hash *hash)
{
	free(hash->slots);
	hash->slots = NULL;
}

static struct hash_node **slot(const struct hash *hash, uint64_t value)
{
	return &hash->slots[value & (hash->n_slots - 1)];
}

static void grow(struct hash *hash)
{
	struct hash_node **old = hash->slots, *node, *next;
	size_t n_old = hash->n_slots, i;
	struct hash_node **more = calloc(2 * n_old, sizeof(*more));

	if (!more)
		return;
	hash->slots = more;
	hash->n_slots = 2 * n_old;
	for (i = 0; i < n_old; i++) {
		for (node = old[i]; node; node = next) {
			next = node->next;
			node->next = *slot(hash, node->value);
			*slot(hash, node->value) = node;
		}
	}
	free(old);
}

void hash_add(struct hash *hash, struct hash_node *node, uint64_t value)
{
	if (hash->count >= hash->n_slots)
		grow(hash);
	node->value = value;
	node->next = *slot(hash, value);
	*slot(hash, value) = node;
	hash->count++;
}

void hash_del(struct hash *hash, struct hash_node *node)
{
	struct hash_node **p = slot(hash, node->value);

	while (*p != node) {
		assert(*p);
		p = &(*p)->next;
	}
	*p = node->next;
	node->next = NULL;
	hash->count--;
}

static struct hash_node *find(struct hash_node *node, uint64_t value)
{
	while (node && node->value != value)
		node = node->next;
	return node;
}

struct hash_node *hash_first(const struct hash *hash, uint64_t value)
{
	return find(*slot(hash, value), value);
}

struct hash_node *hash_next(const struct hash_node *node)
{
	return find(node->next, node->value);
}

uint64_t hash_number(uint64_t x)
{
	/* a bijection that spreads every bit (Stafford's variant 13 of the Murmur3 finalizer) */
	x ^= x >> 30;
	x *= 0xbf58476d1ce4e5b9ull;
	x ^= x >> 27;
	x *= 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

uint64_t hash_bytes(const void *data, size_t len)
{
	static uint64_t key;
	const uint8_t *p = data;
	uint64_t h;

	/* a client that chooses its names must not be able to choose our chains */
	while (!key)
		if (getrandom(&key, sizeof(key), 0) != sizeof(key))
			key = 0x9e3779b97f4a7c15ull;
	for (h = key; len--; p++)
		h = hash_number(h ^ *p);
	return h;
}
