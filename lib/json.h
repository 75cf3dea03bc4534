/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * json.h - a pull reader for JSON (RFC 8259), in memory or by pieces
 *
 * The caller walks the document and says what it expects; nothing is
 * allocated and nothing is copied unless asked for.  The first error sticks:
 * every later call returns -EBADMSG, and json_error() says what and where.
 *
 *	json_init(&j, text, len);
 *	if (json_object(&j) == 0)
 *		while (json_key(&j, &key) > 0) {
 *			if (json_str_is(&key, "size"))
 *				json_u64(&j, &size);
 *			else
 *				json_skip(&j);
 *		}
 *	err = json_end(&j);
 *
 * Nesting is bounded by JSON_DEPTH_MAX, text must be UTF-8.  Member order is
 * free; repeated keys are the caller's to refuse.
 *
 * By pieces, the text comes through a read function and a buffer of the
 * caller's, so that a text that is itself the content of something else is
 * never whole in memory.  A key, string or number must fit the buffer, and is
 * valid until the next call.
 */
#ifndef CUZK_LIB_JSON_H
#define CUZK_LIB_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JSON_DEPTH_MAX 64

enum json_type {
	JSON_BAD,		/* no value starts here */
	JSON_OBJECT,
	JSON_ARRAY,
	JSON_STRING,
	JSON_NUMBER,
	JSON_BOOL,
	JSON_NULL,
};

/* A string as it stands between its quotes. */
struct json_str {
	const char *s;
	size_t len;
	bool escaped;		/* holds backslashes: json_str_copy() undoes them */
};

/*
 * Fills buf with up to max bytes, JSON_READ_MIN at least; *len = 0: the end.  Negative: the text is
 * broken in a way that *why says (a string that lives on).
 */
#define JSON_READ_MIN 16
typedef int (*json_read_fn)(void *ctx, char *buf, size_t max, size_t *len, const char **why);

struct json {
	const char *start, *p, *end;
	unsigned int depth;
	/* bit d: an object (1) or array (0) is open at depth d; it has had a member */
	uint64_t is_object, has_member;
	const char *error;	/* what is wrong; NULL: nothing so far */
	const char *error_at;
	/* by pieces only */
	json_read_fn read;		/* NULL: nothing more comes */
	const char *broken;		/* what is wrong behind what is in memory */
	void *ctx;
	char *buf;
	size_t buf_size;
	const char *keep;		/* not to be lost when more is read; NULL: p */
	uint64_t base;			/* start's offset in the text */
	bool pieces;
};

void json_init(struct json *j, const char *text, size_t len);
/* buf of at least JSON_BUF_MIN bytes, better 64 KiB. */
#define JSON_BUF_MIN 256
void json_init_pieces(struct json *j, json_read_fn read, void *ctx, char *buf, size_t buf_size);
enum json_type json_peek(struct json *j);
/* Opens an object or array: 0 or -EBADMSG. */
int json_object(struct json *j);
int json_array(struct json *j);
/* The next member's key; its value must be read next.  1, 0: closed, -EBADMSG. */
int json_key(struct json *j, struct json_str *key);
/* Is there another element?  1: it must be read next, 0: closed, -EBADMSG. */
int json_next(struct json *j);
/* Scalars. */
int json_string(struct json *j, struct json_str *str);
int json_u64(struct json *j, uint64_t *v);	/* no fraction, no exponent */
int json_bytes(struct json *j, uint8_t *out, size_t n);	/* an array of n integers, 0..255 */
int json_bool(struct json *j, bool *v);
int json_null(struct json *j);
/* Offset in the text of what is read next, behind white space. */
uint64_t json_tell(struct json *j);
/* By pieces: goes on at that offset, where read's next bytes belong.  Nesting stays as it is. */
void json_seek(struct json *j, uint64_t at, json_read_fn read);
/* Any value, with everything in it. */
int json_skip(struct json *j);
/* The document ends here: 0 or -EBADMSG. */
int json_end(struct json *j);
/* The caller found a value wrong: what is a string that lives on.  Returns -EBADMSG. */
int json_fail(struct json *j, const char *what);
/* "line 3, column 7: expected a string" into buf; by pieces "byte 60: expected ...". */
void json_error(const struct json *j, char *buf, size_t size);

bool json_str_is(const struct json_str *str, const char *s);
/* Undoes escapes, adds a NUL.  Length without it, or -ENOSPC, or -EBADMSG (NUL inside). */
int json_str_copy(const struct json_str *str, char *buf, size_t size);

#endif
