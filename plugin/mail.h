/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * mail.h - a queue between threads that a poll loop can wait on
 *
 * Any thread posts; one thread takes.  What is sent embeds a struct mail and
 * belongs to the queue until it is taken.  Order is kept.
 */
#ifndef CUZK_PLUGIN_MAIL_H
#define CUZK_PLUGIN_MAIL_H

#include <pthread.h>
#include <stddef.h>

struct mail {
	struct mail *next;
};

struct mailbox {
	pthread_mutex_t queue_lock;	/* protects the list; nothing is taken inside */
	struct mail *head, **tail;
	int fd;				/* an eventfd: readable when there may be mail */
};

/* 0 or -errno. */
int mailbox_init(struct mailbox *box);
/* The box must be empty. */
void mailbox_fini(struct mailbox *box);
void mailbox_post(struct mailbox *box, struct mail *mail);
/* Everything that is there, oldest first, linked by next; NULL when empty. Never blocks. */
struct mail *mailbox_take(struct mailbox *box);
/* Blocks until there may be something to take. */
void mailbox_wait(struct mailbox *box);
/* So long at most; -1: without end. */
void mailbox_wait_ms(struct mailbox *box, int ms);

#define mail_entry(ptr, type, member) ((type *)((char *)(ptr) - offsetof(type, member)))

#endif
