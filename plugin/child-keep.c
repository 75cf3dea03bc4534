/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* child-keep.c - memory that the service keeps for the engine of this instance process */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plugin/child.h"

/* Under keep_lock. */
static struct child_kept **find(struct child *c, const char *name)
{
	struct child_kept **p;

	for (p = &c->kept; *p && strcmp((*p)->name, name); p = &(*p)->next)
		;
	return p;
}

static void remove_kept(struct child *c, const char *name)
{
	struct child_kept **p = find(c, name), *k = *p;

	if (!k)
		return;
	*p = k->next;
	close(k->fd);
	free(k);
}

/* Takes fd, in place of what has the name. */
static int add_kept(struct child *c, const char *name, int fd)
{
	struct child_kept *k = calloc(1, sizeof(*k));

	if (!k) {
		close(fd);
		return -ENOMEM;
	}
	wire_copy(k->name, sizeof(k->name), name);
	k->fd = fd;
	pthread_mutex_lock(&c->keep_lock);
	remove_kept(c, name);
	k->next = c->kept;
	c->kept = k;
	pthread_mutex_unlock(&c->keep_lock);
	return 0;
}

int child_memory_put(void *ctx, const char *name, int fd, uint64_t bytes)
{
	static const int seals = F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
	struct wire_header h = { .type = WIRE_KEEP, .id = bytes };
	struct child *c = ctx;
	int own, r;

	r = fcntl(fd, F_GET_SEALS);
	if (!wire_memory_name(name) || r < 0 || (r & seals) != seals)
		return -EINVAL;
	own = fcntl(fd, F_DUPFD_CLOEXEC, WIRE_FD + 1);
	if (own < 0)
		return -errno;
	r = add_kept(c, name, own);
	if (r < 0)
		return r;
	/* Without the service this process has no purpose. */
	if (wire_send(c->sock, &h, name, strlen(name), fd, 0) < 0)
		_exit(1);
	return 0;
}

int child_memory_get(void *ctx, const char *name)
{
	struct child *c = ctx;
	struct child_kept *k;
	int fd = -ENOENT;

	pthread_mutex_lock(&c->keep_lock);
	k = *find(c, name);
	if (k) {
		fd = fcntl(k->fd, F_DUPFD_CLOEXEC, WIRE_FD + 1);
		if (fd < 0)
			fd = -errno;
	}
	pthread_mutex_unlock(&c->keep_lock);
	if (fd >= 0)
		child_send(c, WIRE_KEEP_USE, 0, 0, name, strlen(name));
	return fd;
}

void child_memory_drop(void *ctx, const char *name)
{
	struct child *c = ctx;

	/* it stays to be had as long as another instance uses it: WIRE_KEPT_GONE says when not */
	if (wire_memory_name(name))
		child_send(c, WIRE_KEEP_DROP, 0, 0, name, strlen(name));
}

void child_kept(struct child *c, struct wire_message *msg)
{
	if (!wire_memory_name(msg->body) || (msg->h.type == WIRE_KEPT) != (msg->fd >= 0))
		child_fail(c, INSTANCE_DEATH_PROTOCOL, "bad message about kept memory");
	if (msg->h.type == WIRE_KEPT) {
		if (add_kept(c, msg->body, msg->fd) < 0)
			child_fail(c, INSTANCE_DEATH_CRASHED, "out of memory");
		msg->fd = -1;
		return;
	}
	pthread_mutex_lock(&c->keep_lock);
	remove_kept(c, msg->body);
	pthread_mutex_unlock(&c->keep_lock);
}

void child_kept_fini(struct child *c)
{
	while (c->kept)
		remove_kept(c, c->kept->name);
}
