/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * sha256.h - SHA-256 (FIPS 180-4)
 *
 * sha256_compress takes the SHA extensions of x86 when the processor has
 * them, else the portable twin; both give the same words.  State words are in
 * host order, message blocks are bytes.
 */
#ifndef CUZK_LIB_SHA256_H
#define CUZK_LIB_SHA256_H

#include <stddef.h>
#include <stdint.h>

#define SHA256_SIZE 32
#define SHA256_BLOCK 64

extern const uint32_t sha256_iv[8];
extern const uint32_t sha256_k[64];

/* n_blocks blocks of 64 bytes into state. */
void sha256_compress(uint32_t state[8], const uint8_t *blocks, size_t n_blocks);
void sha256_compress_portable(uint32_t state[8], const uint8_t *blocks, size_t n_blocks);

struct sha256 {
	uint32_t state[8];
	uint64_t bytes;
	uint8_t tail[SHA256_BLOCK];	/* bytes % 64 of them are valid */
};

void sha256_init(struct sha256 *h);
void sha256_update(struct sha256 *h, const void *data, size_t len);
/* h may be initialised again, not continued. */
void sha256_final(struct sha256 *h, uint8_t out[SHA256_SIZE]);
void sha256(uint8_t out[SHA256_SIZE], const void *data, size_t len);

#endif
