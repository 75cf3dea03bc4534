/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* blake2b.h - BLAKE2b, with or without a key (RFC 7693) */
#ifndef CUZK_LIB_BLAKE2B_H
#define CUZK_LIB_BLAKE2B_H

#include <stddef.h>
#include <stdint.h>

struct blake2b {
	uint64_t h[8];
	uint64_t bytes;		/* compressed, without tail */
	uint8_t tail[128];
	size_t n_tail, out_len;
};

/* out_len 1..64, key_len 0..64; key may be NULL when key_len is 0. */
void blake2b_init(struct blake2b *b, size_t out_len, const void *key, size_t key_len);
void blake2b_update(struct blake2b *b, const void *data, size_t len);
/* out_len bytes; b may be initialised again, not continued. */
void blake2b_final(struct blake2b *b, uint8_t *out);

#endif
