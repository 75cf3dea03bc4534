/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* chacha.h - the ChaCha block function (Bernstein 2008; RFC 8439 for 20 rounds) */
#ifndef CUZK_LIB_CHACHA_H
#define CUZK_LIB_CHACHA_H

#include <stdint.h>

/*
 * One block of keystream as little-endian words.  rounds is even.  tail is
 * words 12..15: counter and nonce, in the layout of whoever uses it (RFC 8439:
 * 32-bit counter, 96-bit nonce; Bernstein: 64-bit counter, 64-bit nonce).
 */
void chacha_block(uint32_t out[16], unsigned int rounds, const uint8_t key[32],
		  const uint32_t tail[4]);

#endif
