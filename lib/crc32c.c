/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* crc32c.c - the CRC of RFC 3720: the processor's instruction, or four bits at a time */
#include <string.h>

#include "lib/crc32c.h"

static uint32_t by_table(uint32_t crc, const uint8_t *p, size_t len)
{
	/* the remainders of the 16 nibbles; polynomial 0x82f63b78, reflected */
	static const uint32_t table[16] = {
		0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1,
		0x417b1dbc, 0x5125dad3, 0x61c69362, 0x7198540d,
		0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9,
		0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75,
	};

	for (; len--; p++) {
		crc ^= *p;
		crc = crc >> 4 ^ table[crc & 15];
		crc = crc >> 4 ^ table[crc & 15];
	}
	return crc;
}

#ifdef __x86_64__
static __attribute__((target("sse4.2")))
uint32_t by_instruction(uint32_t crc, const uint8_t *p, size_t len)
{
	uint64_t wide = crc, word;

	for (; len >= 8; p += 8, len -= 8) {
		memcpy(&word, p, 8);
		wide = __builtin_ia32_crc32di(wide, word);
	}
	for (crc = wide; len; p++, len--)
		crc = __builtin_ia32_crc32qi(crc, *p);
	return crc;
}

static uint32_t run(uint32_t crc, const uint8_t *p, size_t len)
{
	return __builtin_cpu_supports("sse4.2") ? by_instruction(crc, p, len) :
	       by_table(crc, p, len);
}
#else
static uint32_t run(uint32_t crc, const uint8_t *p, size_t len)
{
	return by_table(crc, p, len);
}
#endif

uint32_t crc32c(uint32_t crc, const void *data, size_t len)
{
	return ~run(~crc, data, len);
}

uint32_t crc32c_portable(uint32_t crc, const void *data, size_t len)
{
	return ~by_table(~crc, data, len);
}
