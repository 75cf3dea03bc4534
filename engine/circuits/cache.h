/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* cache.h - constraint systems kept in files, so that they are built once and shared */
#ifndef CUZK_CIRCUITS_CACHE_H
#define CUZK_CIRCUITS_CACHE_H

#include "engine/circuits/circuit.h"

#define CACHE_NOTE 512

/*
 * The folder to use: option when it is set; else the first of systemd's
 * $CACHE_DIRECTORY; else /var/cache/cuzk where that exists.  NULL: none.
 * The text is option's or the environment's.
 */
const char *cache_dir(const char *option);

/* Path of the circuit's file in dir.  -ENAMETOOLONG. */
int cache_path(const char *dir, const struct circuit *c, char *buf, size_t size);

/*
 * The circuit's system: mapped from its file in dir, read-only, so that all
 * processes share its pages; or, where the file is absent, damaged or of
 * another version, built and the file written (at once, by rename).  dir NULL
 * only builds.  A cache that does not work is no error: note (CACHE_NOTE
 * bytes) gets one line about it, "" when there is nothing to say.
 * *mapped: it came from the file.  -ENOMEM.
 */
int cache_load(const char *dir, const struct circuit *c, struct cs **cs, bool *mapped, char *note);

#endif
