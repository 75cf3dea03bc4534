/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * loader.h - loads an engine's shared object, strictly
 *
 * Runs in the instance process only; the service itself never loads an engine.
 */
#ifndef CUZK_PLUGIN_LOADER_H
#define CUZK_PLUGIN_LOADER_H

#include <stddef.h>

#include "plugin/api/cuzk_engine.h"

#define LOADER_WHY 1024

/* Writes the file that library ("/path" or "NAME") means. -ENAMETOOLONG. */
int loader_path(const char *library, char *path, size_t size);

/*
 * Opens a shared object: regular, not writable by everybody, RTLD_NOW |
 * RTLD_LOCAL.  It is never closed: what a driver has been loaded by must stay.
 * On failure why says what is wrong with which file, in one line.
 */
int loader_dlopen(const char *library, void **handle, char why[LOADER_WHY]);
/* A symbol that this very object defines, not one of its dependencies. */
int loader_symbol(void *handle, const char *name, void **symbol, char why[LOADER_WHY]);

/*
 * Loads an engine and copies its table: min(size) bytes of it, holes filled with
 * stubs that return -ENOSYS.  Refused with why filled: another major version
 * (-EPROTO), operations that its capabilities promise and it lacks, unknown
 * capability bits, fields that must be zero and are not (-EINVAL).
 */
int loader_open(const char *library, const struct cuzk_host *host, struct cuzk_engine_ops *ops,
		char why[LOADER_WHY]);

/* The checks on a table that did not come from a file (foreign.c). */
int loader_check(const struct cuzk_engine_ops *foreign, struct cuzk_engine_ops *ops,
		 const char *path, char why[LOADER_WHY]);

#endif
