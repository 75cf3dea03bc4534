/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * modinfo.h - what an engine says of itself, read without loading it
 *
 * The section .cuzk.modinfo of a 64-bit ELF file holds "key=value" strings,
 * each ended by a NUL (plugin/api/cuzk_engine.h).  The file is read, never
 * mapped or executed, and every offset in it is checked.
 */
#ifndef CUZK_LIB_MODINFO_H
#define CUZK_LIB_MODINFO_H

#include <stddef.h>

#define MODINFO_MAX (1 << 20)	/* bytes of the section */

struct modinfo {
	char *text;		/* strings, each ended by NUL */
	size_t len;
};

/*
 * -errno of open and read; -EISDIR, -EINVAL: no regular file; -ENOEXEC: not a
 * 64-bit ELF file of this machine's byte order; -ENODATA: no such section;
 * -EBADMSG: offsets or strings that do not fit.
 */
int modinfo_read(struct modinfo *info, const char *path);
void modinfo_free(struct modinfo *info);

/* The entry behind prev, the first one for NULL; NULL at the end. */
const char *modinfo_next(const struct modinfo *info, const char *prev);

/* The value of the first entry with that key, or NULL. */
const char *modinfo_get(const struct modinfo *info, const char *key);

#endif
