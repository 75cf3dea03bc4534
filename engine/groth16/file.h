/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * file.h - whole files: mapped for reading, replaced atomically when written
 */
#ifndef CUZK_GROTH16_FILE_H
#define CUZK_GROTH16_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "engine/groth16/error.h"

struct file_map {
	const uint8_t *data;	/* size bytes */
	size_t size;
	dev_t dev;
	ino_t ino;
	uint64_t mtime_ns;
	int guard;		/* place in the table of guarded maps + 1; 0: none */
};

/*
 * Maps a regular file.  cls is the class of failures.  An empty file is
 * mapped as 0 bytes.  -ENOENT stays -ENOENT.
 */
int file_map(struct file_map *map, const char *path, enum cuzk_error_class cls,
	     struct cuzk_error *err);
void file_unmap(struct file_map *map);
/*
 * Whether a read went behind the file's end, because it was cut off since it
 * was mapped.  Such reads give zeros and no SIGBUS, as long as at most
 * FILE_GUARDED files are mapped.
 */
#define FILE_GUARDED 64
bool file_broken(const struct file_map *map);
/* The pages were read for the last time for a while: let the kernel have them. */
void file_forget(const struct file_map *map);

/*
 * A file being written next to its place, moved there by commit.  What is
 * there and no regular file (a device, a pipe) is written to instead.
 */
struct file_new {
	FILE *f;
	char *path, *tmp;
};

int file_create(struct file_new *file, const char *path, struct cuzk_error *err);
/* Flushes, syncs and renames; closes in any case. */
int file_commit(struct file_new *file, struct cuzk_error *err);
/* Gives up an open one; nothing for one that was committed. */
void file_discard(struct file_new *file);

#endif
