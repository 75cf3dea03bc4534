/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * keep.h - memory of engines that outlives their processes
 *
 * An instance hands over sealed memory under a name (cuzk_engine.h,
 * memory_put).  It is kept here, in the descriptor store of the service
 * manager, and shown to every instance with the same engine, now and after a
 * restart of the service.  Entries belong to an engine; which instances use one
 * is a bit set by their numbers.
 */
#ifndef CUZK_PLUGIN_KEEP_H
#define CUZK_PLUGIN_KEEP_H

#include <stdbool.h>
#include <stdint.h>

#include "plugin/notify.h"

#define KEEP_MAX 64		/* entries; with the sockets less than FileDescriptorStoreMax= */
#define KEEP_PREFIX "cuzk-memory/"

struct keep_entry {
	char *engine, *name;
	int fd;
	uint64_t bytes;
	uint64_t users;		/* bit per instance */
};

struct keep {
	struct notify *notify;
	struct keep_entry entries[KEEP_MAX];
	uint32_t n;
};

void keep_init(struct keep *keep, struct notify *notify);
void keep_fini(struct keep *keep);

/*
 * A descriptor that the service manager hands over under a name that begins
 * with KEEP_PREFIX.  Takes fd; one that is not usable is closed and forgotten
 * there.  0 or -errno.
 */
int keep_inherit(struct keep *keep, const char *fdname, int fd);

/* Takes fd, on failure too.  -EINVAL: not sealed, or not of that size; -ENOSPC; -ENOMEM. */
int keep_put(struct keep *keep, const char *engine, const char *name, int fd, uint64_t bytes,
	     uint32_t user);
/* NULL: nothing is kept so. */
struct keep_entry *keep_find(struct keep *keep, const char *engine, const char *name);
void keep_use(struct keep *keep, const char *engine, const char *name, uint32_t user);
/* Whether nobody uses it any more. */
bool keep_drop(struct keep *keep, const char *engine, const char *name, uint32_t user);
/* One that nobody uses; NULL: there is none. */
struct keep_entry *keep_unused(struct keep *keep);
/* Closes it here and in the service manager's store. */
void keep_forget(struct keep *keep, struct keep_entry *entry);
uint64_t keep_bytes(const struct keep *keep);

#endif
