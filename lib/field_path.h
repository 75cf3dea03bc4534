/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * field_path.h - where a reader is in nested data, for messages
 *
 * "vanilla_proofs[3].sectors[0].path[2]".  Kept by readers as they go down and
 * up, so appending is cheap; what does not fit is cut.
 */
#ifndef CUZK_LIB_FIELD_PATH_H
#define CUZK_LIB_FIELD_PATH_H

#include <stddef.h>
#include <stdint.h>

#define FIELD_PATH_SIZE 192

struct field_path {
	size_t len;
	char s[FIELD_PATH_SIZE];	/* NUL-terminated */
};

void field_path_init(struct field_path *path, const char *root);
/* Appends ".name" or ".name[i]"; returns what leave needs to undo it. */
size_t field_path_enter(struct field_path *path, const char *name);
size_t field_path_enter_at(struct field_path *path, const char *name, uint64_t i);
/* Appends "[i]". */
size_t field_path_index(struct field_path *path, uint64_t i);
void field_path_leave(struct field_path *path, size_t mark);

#endif
