/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * hash.h - a table of chains inside of the structs that are found through it
 *
 * Keys are compared by the caller: hash_first() and hash_next() give all
 * entries of one hash value.  The table grows by itself; when there is no
 * memory for that it works on, slower.
 */
#ifndef CUZK_PLUGIN_HASH_H
#define CUZK_PLUGIN_HASH_H

#include <stddef.h>
#include <stdint.h>

struct hash_node {
	struct hash_node *next;
	uint64_t value;
};

struct hash {
	struct hash_node **slots;
	size_t n_slots;		/* a power of two */
	size_t count;
};

/* 0 or -ENOMEM. */
int hash_init(struct hash *hash);
void hash_fini(struct hash *hash);
void hash_add(struct hash *hash, struct hash_node *node, uint64_t value);
/* node must be in the table. */
void hash_del(struct hash *hash, struct hash_node *node);
struct hash_node *hash_first(const struct hash *hash, uint64_t value);
struct hash_node *hash_next(const struct hash_node *node);

/* Hash values: of bytes that a client chooses (keyed by the process), and of a counter. */
uint64_t hash_bytes(const void *data, size_t len);
uint64_t hash_number(uint64_t number);

#endif
