/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* field_path.c - where a reader is in nested data, for messages */
#include <string.h>

#include "lib/field_path.h"

static void append(struct field_path *path, const char *s)
{
	size_t n = strlen(s);

	if (n > sizeof(path->s) - 1 - path->len)
		n = sizeof(path->s) - 1 - path->len;
	memcpy(path->s + path->len, s, n);
	path->len += n;
	path->s[path->len] = '\0';
}

void field_path_init(struct field_path *path, const char *root)
{
	path->len = 0;
	path->s[0] = '\0';
	append(path, root);
}

size_t field_path_enter(struct field_path *path, const char *name)
{
	size_t mark = path->len;

	if (mark && *name)
		append(path, ".");
	append(path, name);
	return mark;
}

size_t field_path_index(struct field_path *path, uint64_t i)
{
	char digits[24], *p = digits + sizeof(digits);
	size_t mark = path->len;

	*--p = '\0';
	*--p = ']';
	do
		*--p = '0' + i % 10;
	while (i /= 10);
	*--p = '[';
	append(path, p);
	return mark;
}

size_t field_path_enter_at(struct field_path *path, const char *name, uint64_t i)
{
	size_t mark = field_path_enter(path, name);

	field_path_index(path, i);
	return mark;
}

void field_path_leave(struct field_path *path, size_t mark)
{
	path->len = mark;
	path->s[mark] = '\0';
}
