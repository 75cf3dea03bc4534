/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* file.h - whole files for the tools; "-" is standard input or output */
#ifndef CUZK_TOOLS_FILE_H
#define CUZK_TOOLS_FILE_H

#include <stddef.h>

/* *data is malloc'ed and has a NUL behind it. -EFBIG: longer than limit; -errno. */
int ctl_file_read(const char *path, size_t limit, void **data, size_t *len);
/* The file is there whole or not at all: written beside, synced, renamed. */
int ctl_file_write(const char *path, const void *data, size_t len);

#endif
