/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* keep.c - memory of engines that outlives their processes */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plugin/keep.h"
#include "plugin/log.h"
#include "plugin/wire.h"

#define SEALS (F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)
#define FDNAME_MAX 256

void keep_init(struct keep *keep, struct notify *notify)
{
	memset(keep, 0, sizeof(*keep));
	keep->notify = notify;
}

static void entry_fini(struct keep_entry *e)
{
	free(e->engine);
	free(e->name);
	close(e->fd);
}

void keep_fini(struct keep *keep)
{
	while (keep->n)
		entry_fini(&keep->entries[--keep->n]);
}

/* The name in the manager's store; false: too long for one. */
static bool fd_name(char buf[FDNAME_MAX], const char *engine, const char *name)
{
	return snprintf(buf, FDNAME_MAX, KEEP_PREFIX "%s/%s", engine, name) < FDNAME_MAX;
}

/* Nobody can change or shorten it any more: whoever maps it needs no trust. */
static int check_fd(int fd, uint64_t *bytes)
{
	int seals = fcntl(fd, F_GET_SEALS);
	struct stat st;

	if (seals < 0 || (seals & SEALS) != SEALS || fstat(fd, &st) < 0 || st.st_size <= 0)
		return -EINVAL;
	*bytes = st.st_size;
	return 0;
}

struct keep_entry *keep_find(struct keep *keep, const char *engine, const char *name)
{
	uint32_t i;

	for (i = 0; i < keep->n; i++)
		if (!strcmp(keep->entries[i].name, name) &&
		    !strcmp(keep->entries[i].engine, engine))
			return &keep->entries[i];
	return NULL;
}

void keep_forget(struct keep *keep, struct keep_entry *e)
{
	char buf[FDNAME_MAX];

	if (fd_name(buf, e->engine, e->name))
		notify_unstore(keep->notify, buf);
	entry_fini(e);
	*e = keep->entries[--keep->n];
}

/* Takes fd, on failure too. */
static int add(struct keep *keep, const char *engine, const char *name, int fd, uint64_t bytes,
	       uint64_t users)
{
	struct keep_entry *e = keep_find(keep, engine, name);

	if (e)
		keep_forget(keep, e);
	if (keep->n == KEEP_MAX) {
		close(fd);
		return -ENOSPC;
	}
	e = &keep->entries[keep->n];
	*e = (struct keep_entry){ .engine = strdup(engine), .name = strdup(name), .fd = fd,
				  .bytes = bytes, .users = users };
	if (!e->engine || !e->name) {
		entry_fini(e);
		return -ENOMEM;
	}
	keep->n++;
	return 0;
}

int keep_inherit(struct keep *keep, const char *fdname, int fd)
{
	char engine[FDNAME_MAX];
	uint64_t bytes = 0;
	int err = -EINVAL;
	char *name;
	bool again;

	snprintf(engine, sizeof(engine), "%s", fdname + strlen(KEEP_PREFIX));
	name = strrchr(engine, '/');
	if (name) {
		*name++ = '\0';
		if (wire_memory_name(name))
			err = check_fd(fd, &bytes);
	}
	if (err) {
		log_warning("%s from the service manager is not sealed memory; ignored", fdname);
		notify_unstore(keep->notify, fdname);
		close(fd);
		return err;
	}
	again = keep_find(keep, engine, name) != NULL;
	err = add(keep, engine, name, fd, bytes, 0);
	/* add() has taken both of the name out of the manager's store */
	if (!err && again)
		notify_store(keep->notify, fd, fdname);
	return err;
}

int keep_put(struct keep *keep, const char *engine, const char *name, int fd, uint64_t bytes,
	     uint32_t user)
{
	char buf[FDNAME_MAX];
	uint64_t have;
	int err;

	err = wire_memory_name(name) && fd_name(buf, engine, name) ? check_fd(fd, &have) : -EINVAL;
	if (!err && have != bytes)
		err = -EINVAL;
	if (err) {
		close(fd);
		return err;
	}
	err = add(keep, engine, name, fd, bytes, 1ull << user);
	if (!err)
		notify_store(keep->notify, fd, buf);
	return err;
}

void keep_use(struct keep *keep, const char *engine, const char *name, uint32_t user)
{
	struct keep_entry *e = keep_find(keep, engine, name);

	if (e)
		e->users |= 1ull << user;
}

bool keep_drop(struct keep *keep, const char *engine, const char *name, uint32_t user)
{
	struct keep_entry *e = keep_find(keep, engine, name);

	if (!e)
		return false;
	e->users &= ~(1ull << user);
	return !e->users;
}

struct keep_entry *keep_unused(struct keep *keep)
{
	uint32_t i;

	for (i = 0; i < keep->n; i++)
		if (!keep->entries[i].users)
			return &keep->entries[i];
	return NULL;
}

uint64_t keep_bytes(const struct keep *keep)
{
	uint64_t bytes = 0;
	uint32_t i;

	for (i = 0; i < keep->n; i++)
		bytes += keep->entries[i].bytes;
	return bytes;
}
