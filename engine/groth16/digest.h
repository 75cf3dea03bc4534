/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * digest.h - digests of parameter files and the manifest that lists them
 *
 * Filecoin's manifest parameters.json has, for each file name, the first 16
 * bytes of the file's BLAKE2b-512 as 32 hex digits.  Hashing 44 GiB takes
 * minutes, so a verdict file remembers digests by (device, inode, size, mtime).
 */
#ifndef CUZK_GROTH16_DIGEST_H
#define CUZK_GROTH16_DIGEST_H

#include "engine/groth16/error.h"
#include "engine/groth16/file.h"
#include "engine/groth16/progress.h"

#define DIGEST_HEX 33	/* 32 digits and the NUL */

/* Of a mapped file. -ENOMEM or -EIO (libcrypto). */
int digest_map(const struct file_map *map, const struct progress *progress, char hex[DIGEST_HEX]);
/*
 * The same with verdicts kept in the file cache (NULL: none).  A cache that
 * cannot be read or written costs time, nothing else.
 */
int digest_map_cached(const struct file_map *map, const char *cache,
		      const struct progress *progress, char hex[DIGEST_HEX]);
/*
 * Of a file that may change meanwhile, read piece by piece, its pages left to
 * the kernel to forget.  go_on (may block) false: -ECANCELED.
 */
int digest_path(const char *path, bool (*go_on)(void *arg), void *arg, char hex[DIGEST_HEX]);
/*
 * The digest that manifest lists for a file name (no folder).  -ENOENT: not
 * listed; any other failure is of the manifest itself, CUZK_ERROR_PARAMS.
 */
int manifest_find(const char *manifest, const char *name, char hex[DIGEST_HEX],
		  struct cuzk_error *err);

#endif
