/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * list.h - doubly linked lists inside of the structs that are listed
 *
 * A head is a struct list that points to itself; so does an entry that is in
 * no list.  Removing an entry that is in none is allowed.
 */
#ifndef CUZK_PLUGIN_LIST_H
#define CUZK_PLUGIN_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct list {
	struct list *prev, *next;
};

static inline void list_init(struct list *l)
{
	l->prev = l;
	l->next = l;
}

static inline bool list_empty(const struct list *head)
{
	return head->next == head;
}

/* At the end of the list. */
static inline void list_add(struct list *head, struct list *entry)
{
	entry->prev = head->prev;
	entry->next = head;
	head->prev->next = entry;
	head->prev = entry;
}

static inline void list_del(struct list *entry)
{
	entry->prev->next = entry->next;
	entry->next->prev = entry->prev;
	list_init(entry);
}

#define list_entry(ptr, type, member) ((type *)((char *)(ptr) - offsetof(type, member)))

/* The body must not remove entries other than the current one in the _safe form. */
#define list_each(pos, head) for (pos = (head)->next; pos != (head); pos = pos->next)
#define list_each_safe(pos, tmp, head)						\
	for (pos = (head)->next, tmp = pos->next; pos != (head); pos = tmp, tmp = pos->next)

#endif
