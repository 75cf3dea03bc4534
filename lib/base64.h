/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * base64.h - base64 (RFC 4648); decoding takes the standard and the URL-safe alphabet
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
/* The bytes that len characters without padding give. */
#define BASE64_BYTES(len) ((len) / 4 * 3 + (len) % 4 * 3 / 4)

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
/*
 * 0 bytes: the end.  -EINVAL: r->pos is the offset of the wrong character; what stands before its
 * group came with the calls before.
 */
int base64_read(struct base64_reader *r, uint8_t *out, size_t max, size_t *out_len);

/*
 * Goes to byte at of what the text gives, which is at most its end.  Reading goes on with the group
 * that holds it: so many bytes of what comes next stand before it.
 */
unsigned int base64_seek(struct base64_reader *r, size_t at);

/* Standard alphabet with padding, no NUL; out has BASE64_LENGTH(len) characters. */
#define BASE64_LENGTH(len) (((len) + 2) / 3 * 4)
void base64_encode(char *out, const void *data, size_t len);

#endif
