/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * crc32c.h - the CRC of RFC 3720 (Castagnoli)
 *
 * About 8 GB/s where the processor has an instruction for it (SSE 4.2).
 * crc32c(crc32c(0, a), b) is the value of a and b together.
 */
#ifndef CUZK_LIB_CRC32C_H
#define CUZK_LIB_CRC32C_H

#include <stddef.h>
#include <stdint.h>

uint32_t crc32c(uint32_t crc, const void *data, size_t len);
/* The same without the instruction, for tests. */
uint32_t crc32c_portable(uint32_t crc, const void *data, size_t len);

#endif
