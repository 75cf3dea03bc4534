/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * base64.h - base64 decoding (RFC 4648), standard and URL-safe alphabet
 *
 * Padding may be missing where the text ends; what is given must be right,
 * and the unused bits of the last character must be zero.  No white space.
 */
#ifndef CUZK_LIB_BASE64_H
#define CUZK_LIB_BASE64_H

#include <stddef.h>
#include <stdint.h>

/* Upper bound of the bytes that len characters give. */
#define BASE64_BOUND(len) (((len) / 4 + 1) * 3)

/*
 * Decodes all of text.  out has room for BASE64_BOUND(len) bytes.
 * -EINVAL: *bad (may be NULL) is the offset of the first wrong character, or
 * len where the text is too short.
 */
int base64_decode(uint8_t *out, size_t *out_len, const char *text, size_t len, size_t *bad);

/* Decoding by pieces: read at most max bytes (at least 3) from the text. */
struct base64_reader {
	const char *text;
	size_t len, pos;
};

void base64_open(struct base64_reader *r, const char *text, size_t len);
/* 0 bytes: the end.  -EINVAL: r->pos is the offset of the wrong character. */
int base64_read(struct base64_reader *r, uint8_t *out, size_t max, size_t *out_len);

#endif
