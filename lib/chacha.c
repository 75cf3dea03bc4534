/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* chacha.c - the ChaCha block function */
#include <string.h>

#include "lib/chacha.h"

static uint32_t rol(uint32_t x, unsigned int n)
{
	return x << n | x >> (32 - n);
}

static void quarter(uint32_t *a, uint32_t *b, uint32_t *c, uint32_t *d)
{
	*a += *b;
	*d = rol(*d ^ *a, 16);
	*c += *d;
	*b = rol(*b ^ *c, 12);
	*a += *b;
	*d = rol(*d ^ *a, 8);
	*c += *d;
	*b = rol(*b ^ *c, 7);
}

void chacha_block(uint32_t out[16], unsigned int rounds, const uint8_t key[32],
		  const uint32_t tail[4])
{
	uint32_t in[16] = { 0x61707865, 0x3320646e, 0x79622d32, 0x6b206574 };
	unsigned int i;

	for (i = 0; i < 8; i++, key += 4)
		in[4 + i] = (uint32_t)key[0] | (uint32_t)key[1] << 8 | (uint32_t)key[2] << 16 |
			    (uint32_t)key[3] << 24;
	memcpy(in + 12, tail, 4 * sizeof(*tail));
	memcpy(out, in, sizeof(in));
	for (i = 0; i < rounds; i += 2) {
		quarter(&out[0], &out[4], &out[8], &out[12]);
		quarter(&out[1], &out[5], &out[9], &out[13]);
		quarter(&out[2], &out[6], &out[10], &out[14]);
		quarter(&out[3], &out[7], &out[11], &out[15]);
		quarter(&out[0], &out[5], &out[10], &out[15]);
		quarter(&out[1], &out[6], &out[11], &out[12]);
		quarter(&out[2], &out[7], &out[8], &out[13]);
		quarter(&out[3], &out[4], &out[9], &out[14]);
	}
	for (i = 0; i < 16; i++)
		out[i] += in[i];
}
