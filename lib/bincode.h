/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * bincode.h - bounded reader of bincode 1.x (little-endian, fixed integers)
 *
 * Nothing is allocated and nothing is read beyond the end.  A count is
 * compared with the bytes that are left before anybody can use it.  The
 * first failure sticks: later reads return zeros, so that a caller may check
 * once per structure.  The message names the field by its path, which the
 * caller keeps with bincode_enter and bincode_leave.
 */
#ifndef CUZK_LIB_BINCODE_H
#define CUZK_LIB_BINCODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/field_path.h"

struct bincode {
	const uint8_t *data;
	size_t len, pos;
	bool failed;
	struct field_path path;
	char error[FIELD_PATH_SIZE + 240];	/* one line, when failed */
};

/* root names the blob in messages. */
void bincode_open(struct bincode *b, const void *data, size_t len, const char *root);

/* As field_path_enter and so on; after a failure the path stays where it broke. */
size_t bincode_enter(struct bincode *b, const char *name);
size_t bincode_enter_at(struct bincode *b, const char *name, uint64_t i);
void bincode_leave(struct bincode *b, size_t mark);

/* Sets the error "PATH: TEXT (byte POS of LEN)", unless there is one. Always returns -EINVAL. */
__attribute__((format(printf, 2, 3)))
int bincode_fail(struct bincode *b, const char *fmt, ...);

uint32_t bincode_u32(struct bincode *b, const char *field);
uint64_t bincode_u64(struct bincode *b, const char *field);
/* n bytes in place; NULL when they are not there. */
const uint8_t *bincode_bytes(struct bincode *b, size_t n, const char *field);
/*
 * A u64 count that must be expected, of elements of at least min_size bytes
 * each.  0 on failure.
 */
uint64_t bincode_count(struct bincode *b, uint64_t expected, size_t min_size, const char *field);
/* Nothing may follow. */
int bincode_end(struct bincode *b);

#endif
