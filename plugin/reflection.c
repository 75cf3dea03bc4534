/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* reflection.c - answers of grpc.reflection.v1: which services there are, and their descriptors */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/proto/descriptors.h"
#include "plugin/reflection.h"

#define NOT_FOUND 5
#define UNIMPLEMENTED 12

/* Fields of ServerReflectionRequest and ServerReflectionResponse. */
enum { ASK_FILE = 3, ASK_SYMBOL = 4, ASK_EXTENSION = 5, ASK_EXTENSIONS = 6, ASK_SERVICES = 7 };
enum { ANSWER_REQUEST = 2, ANSWER_FILES = 4, ANSWER_SERVICES = 6, ANSWER_ERROR = 7 };

/* Fields of FileDescriptorSet, FileDescriptorProto and what is inside. */
enum { SET_FILE = 1 };
enum { FILE_NAME = 1, FILE_PACKAGE = 2, FILE_MESSAGE = 4, FILE_ENUM = 5, FILE_SERVICE = 6 };
enum { ANY_NAME = 1, MESSAGE_NESTED = 3, MESSAGE_ENUM = 4, SERVICE_METHOD = 2 };

struct bytes {
	const uint8_t *p;
	size_t len;
};

/* ---- reading ---- */

static bool get_varint(struct bytes *b, uint64_t *value)
{
	int shift;

	for (*value = 0, shift = 0; b->len && shift < 64; shift += 7) {
		uint8_t byte = *b->p++;

		b->len--;
		*value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return true;
	}
	return false;
}

/* The next field: 1; 0: the end; -EBADMSG. value is empty unless it is of bytes. */
static int next_field(struct bytes *b, uint32_t *field, struct bytes *value)
{
	uint64_t key, n = 0;

	if (!b->len)
		return 0;
	if (!get_varint(b, &key))
		return -EBADMSG;
	*field = (uint32_t)(key >> 3);
	value->p = b->p;
	value->len = 0;
	switch (key & 7) {
	case 0:
		return get_varint(b, &n) ? 1 : -EBADMSG;
	case 1:
		n = 8;
		break;
	case 5:
		n = 4;
		break;
	case 2:
		if (!get_varint(b, &n))
			return -EBADMSG;
		break;
	default:
		return -EBADMSG;
	}
	if (n > b->len)
		return -EBADMSG;
	if ((key & 7) == 2) {
		value->p = b->p;
		value->len = n;
	}
	b->p += n;
	b->len -= n;
	return 1;
}

/* The first field of that number, or nothing. */
static struct bytes find(struct bytes b, uint32_t wanted)
{
	struct bytes value;
	uint32_t field;

	while (next_field(&b, &field, &value) > 0)
		if (field == wanted)
			return value;
	return (struct bytes){ NULL, 0 };
}

static bool next_of(struct bytes *b, uint32_t wanted, struct bytes *value)
{
	uint32_t field;

	while (next_field(b, &field, value) > 0)
		if (field == wanted)
			return true;
	return false;
}

static bool next_file(struct bytes *set, struct bytes *file)
{
	return next_of(set, SET_FILE, file);
}

static struct bytes all_files(void)
{
	return (struct bytes){ proto_descriptors, proto_descriptors_size };
}

/* ---- looking up ---- */

/* name without its first part; false when it does not begin with that. */
static bool strip(struct bytes *name, struct bytes part)
{
	if (name->len < part.len || memcmp(name->p, part.p, part.len))
		return false;
	if (name->len == part.len) {
		name->len = 0;
		return true;
	}
	if (name->p[part.len] != '.' || name->len == part.len + 1)
		return false;
	name->p += part.len + 1;
	name->len -= part.len + 1;
	return true;
}

/* Is the rest of a symbol one of the things of that kind in scope, or inside of one? */
static bool holds(struct bytes scope, uint32_t kind, struct bytes symbol)
{
	struct bytes thing, rest;

	while (next_of(&scope, kind, &thing)) {
		rest = symbol;
		if (!strip(&rest, find(thing, ANY_NAME)))
			continue;
		if (!rest.len)
			return true;
		if (kind == FILE_MESSAGE || kind == MESSAGE_NESTED)
			return holds(thing, MESSAGE_NESTED, rest) ||
			       holds(thing, MESSAGE_ENUM, rest);
		return kind == FILE_SERVICE && holds(thing, SERVICE_METHOD, rest);
	}
	return false;
}

static bool find_symbol(struct bytes symbol, struct bytes *file)
{
	struct bytes set = all_files(), rest;

	while (next_file(&set, file)) {
		rest = symbol;
		if (!strip(&rest, find(*file, FILE_PACKAGE)) || !rest.len)
			continue;
		if (holds(*file, FILE_SERVICE, rest) || holds(*file, FILE_MESSAGE, rest) ||
		    holds(*file, FILE_ENUM, rest))
			return true;
	}
	return false;
}

static bool find_file(struct bytes name, struct bytes *file)
{
	struct bytes set = all_files(), n;

	while (next_file(&set, file)) {
		n = find(*file, FILE_NAME);
		if (n.len == name.len && !memcmp(n.p, name.p, n.len))
			return true;
	}
	return false;
}

/* ---- writing ---- */

static void put_varint(FILE *f, uint64_t value)
{
	for (; value > 0x7f; value >>= 7)
		putc((int)(value & 0x7f) | 0x80, f);
	putc((int)value, f);
}

static void put_bytes(FILE *f, uint32_t field, const void *data, size_t len)
{
	put_varint(f, field << 3 | 2);
	put_varint(f, len);
	fwrite(data, 1, len, f);
}

static void put_error(FILE *f, int code, const char *text)
{
	char buf[128];
	size_t len = strlen(text);

	buf[0] = 1 << 3 | 0;
	buf[1] = (char)code;
	buf[2] = 2 << 3 | 2;
	buf[3] = (char)len;
	memcpy(buf + 4, text, len);
	put_bytes(f, ANSWER_ERROR, buf, len + 4);
}

static size_t varint_size(uint64_t value)
{
	size_t n = 1;

	while (value >>= 7)
		n++;
	return n;
}

/* FileDescriptorResponse { repeated bytes file_descriptor_proto = 1; } */
static void put_file(FILE *f, struct bytes file)
{
	put_varint(f, ANSWER_FILES << 3 | 2);
	put_varint(f, 1 + varint_size(file.len) + file.len);
	put_bytes(f, 1, file.p, file.len);
}

/* ListServiceResponse { repeated ServiceResponse { string name = 1; } service = 1; } */
static void put_services(FILE *f)
{
	struct bytes set = all_files(), file, list, service, package, name;
	char buf[512], full[128];
	size_t len = 0;
	int n;

	while (next_file(&set, &file)) {
		package = find(file, FILE_PACKAGE);
		list = file;
		while (next_of(&list, FILE_SERVICE, &service)) {
			name = find(service, ANY_NAME);
			n = snprintf(full, sizeof(full), "%.*s.%.*s", (int)package.len, package.p,
				     (int)name.len, name.p);
			if (n > 120 || len + n + 4 > sizeof(buf))
				continue;	/* names of this size are not ours */
			buf[len++] = 1 << 3 | 2;
			buf[len++] = (char)(n + 2);
			buf[len++] = 1 << 3 | 2;
			buf[len++] = (char)n;
			memcpy(buf + len, full, n);
			len += n;
		}
	}
	put_bytes(f, ANSWER_SERVICES, buf, len);
}

int reflection_answer(const uint8_t *request, size_t len, uint8_t **answer, size_t *answer_len)
{
	struct bytes b = { request, len }, value, asked = { NULL, 0 }, file;
	uint32_t field, what = 0;
	char *buf = NULL;
	FILE *f;
	int r;

	while ((r = next_field(&b, &field, &value)) > 0) {
		if (field >= ASK_FILE && field <= ASK_SERVICES) {
			what = field;	/* a oneof: the last one counts */
			asked = value;
		}
	}
	if (r < 0)
		return r;
	f = open_memstream(&buf, answer_len);
	if (!f)
		return -ENOMEM;
	put_bytes(f, ANSWER_REQUEST, request, len);
	if (what == ASK_SERVICES)
		put_services(f);
	else if (what == ASK_FILE && find_file(asked, &file))
		put_file(f, file);
	else if (what == ASK_SYMBOL && find_symbol(asked, &file))
		put_file(f, file);
	else if (what == ASK_FILE || what == ASK_SYMBOL)
		put_error(f, NOT_FOUND, "no such file or symbol");
	else
		put_error(f, what ? NOT_FOUND : UNIMPLEMENTED, "there are no extensions");
	if (fclose(f)) {
		free(buf);
		return -ENOMEM;
	}
	*answer = (uint8_t *)buf;
	return 0;
}
