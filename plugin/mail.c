/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* mail.c - a queue between threads that a poll loop can wait on */
#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "plugin/mail.h"

int mailbox_init(struct mailbox *box)
{
	int err;

	box->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (box->fd < 0)
		return -errno;
	err = pthread_mutex_init(&box->queue_lock, NULL);
	if (err) {
		close(box->fd);
		return -err;
	}
	box->head = NULL;
	box->tail = &box->head;
	return 0;
}

void mailbox_fini(struct mailbox *box)
{
	assert(!box->head);
	pthread_mutex_destroy(&box->queue_lock);
	close(box->fd);
}

void mailbox_post(struct mailbox *box, struct mail *mail)
{
	static const uint64_t one = 1;
	int was_empty;

	mail->next = NULL;
	pthread_mutex_lock(&box->queue_lock);
	was_empty = !box->head;
	*box->tail = mail;
	box->tail = &mail->next;
	/* under the lock: mailbox_take() must not clear an event that is yet to come */
	if (was_empty && write(box->fd, &one, sizeof(one)) < 0)
		assert(errno == EAGAIN);	/* the counter is full: it is readable */
	pthread_mutex_unlock(&box->queue_lock);
}

struct mail *mailbox_take(struct mailbox *box)
{
	struct mail *list;
	uint64_t count;

	pthread_mutex_lock(&box->queue_lock);
	if (read(box->fd, &count, sizeof(count)) < 0)
		assert(errno == EAGAIN);	/* nothing was posted */
	list = box->head;
	box->head = NULL;
	box->tail = &box->head;
	pthread_mutex_unlock(&box->queue_lock);
	return list;
}

void mailbox_wait_ms(struct mailbox *box, int ms)
{
	struct pollfd pfd = { .fd = box->fd, .events = POLLIN };

	/* an interruption looks like early mail, which is allowed */
	poll(&pfd, 1, ms);
}

void mailbox_wait(struct mailbox *box)
{
	mailbox_wait_ms(box, -1);
}
