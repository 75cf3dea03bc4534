/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* bincode.c - bounded reader of bincode 1.x */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lib/bincode.h"

void bincode_open(struct bincode *b, const void *data, size_t len, const char *root)
{
	b->data = data;
	b->len = data ? len : 0;
	b->pos = 0;
	b->failed = false;
	b->error[0] = '\0';
	field_path_init(&b->path, root);
}

size_t bincode_enter(struct bincode *b, const char *name)
{
	return b->failed ? b->path.len : field_path_enter(&b->path, name);
}

size_t bincode_enter_at(struct bincode *b, const char *name, uint64_t i)
{
	return b->failed ? b->path.len : field_path_enter_at(&b->path, name, i);
}

void bincode_leave(struct bincode *b, size_t mark)
{
	if (!b->failed)
		field_path_leave(&b->path, mark);
}

int bincode_fail(struct bincode *b, const char *fmt, ...)
{
	char text[160];
	va_list ap;

	if (b->failed)
		return -EINVAL;
	b->failed = true;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	snprintf(b->error, sizeof(b->error), "%s: %s (byte %zu of %zu)", b->path.s, text, b->pos,
		 b->len);
	return -EINVAL;
}

const uint8_t *bincode_bytes(struct bincode *b, size_t n, const char *field)
{
	const uint8_t *p;

	if (b->failed)
		return NULL;
	if (n > b->len - b->pos) {
		bincode_enter(b, field);
		bincode_fail(b, "the data ends where %zu bytes are due", n);
		return NULL;
	}
	p = b->data + b->pos;
	b->pos += n;
	return p;
}

uint32_t bincode_u32(struct bincode *b, const char *field)
{
	const uint8_t *p = bincode_bytes(b, 4, field);

	if (!p)
		return 0;
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

uint64_t bincode_u64(struct bincode *b, const char *field)
{
	const uint8_t *p = bincode_bytes(b, 8, field);
	uint64_t v = 0;
	int i;

	for (i = 7; p && i >= 0; i--)
		v = v << 8 | p[i];
	return v;
}

uint64_t bincode_count(struct bincode *b, uint64_t expected, size_t min_size, const char *field)
{
	uint64_t n = bincode_u64(b, field);

	if (b->failed)
		return 0;
	if (n != expected) {
		b->pos -= 8;
		bincode_enter(b, field);
		bincode_fail(b, "%llu elements instead of %llu", (unsigned long long)n,
			     (unsigned long long)expected);
		return 0;
	}
	if (n > (b->len - b->pos) / min_size) {
		bincode_enter(b, field);
		bincode_fail(b, "the data ends inside these %llu elements", (unsigned long long)n);
		return 0;
	}
	return n;
}

int bincode_end(struct bincode *b)
{
	if (!b->failed && b->pos != b->len)
		return bincode_fail(b, "%zu bytes too many", b->len - b->pos);
	return b->failed ? -EINVAL : 0;
}
