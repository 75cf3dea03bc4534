/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * binfile.h - the container of circom's and snarkjs' files
 *
 *	magic (4 bytes), u32 version, u32 number of sections, then for each
 *	u32 type, u64 size, size bytes; all little-endian, nothing behind.
 */
#ifndef CUZK_GROTH16_BINFILE_H
#define CUZK_GROTH16_BINFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/groth16/error.h"

#define BINFILE_SECTIONS_MAX 32

struct binfile {
	const char *name;	/* for messages; the caller's, as the data are */
	uint32_t version;
	uint32_t n_sections;
	struct binfile_section {
		uint32_t type;
		const uint8_t *data;
		uint64_t size;
	} sections[BINFILE_SECTIONS_MAX];
};

/* CUZK_ERROR_INPUT or, for keys, what cls says. A type must not repeat. */
int binfile_parse(struct binfile *bin, const char *name, const void *data, size_t size,
		  const char magic[4], enum cuzk_error_class cls, struct cuzk_error *err);
/* The section of a type, NULL: absent. */
const struct binfile_section *binfile_section(const struct binfile *bin, uint32_t type);

/*
 * A cursor over bytes that cannot run over their end: a read behind it gives
 * zeros and sets bad.
 */
struct cursor {
	const uint8_t *p, *end;
	bool bad;
};

static inline void cursor_init(struct cursor *c, const void *data, size_t size)
{
	c->p = data;
	c->end = c->p + size;
	c->bad = false;
}

static inline size_t cursor_left(const struct cursor *c)
{
	return c->end - c->p;
}

/* n bytes, or NULL. */
const uint8_t *cursor_bytes(struct cursor *c, size_t n);
uint32_t cursor_u32(struct cursor *c);
uint64_t cursor_u64(struct cursor *c);
uint32_t cursor_u32_be(struct cursor *c);

/* Little-endian values that need not be aligned. */
uint32_t load_le32(const uint8_t *p);
uint64_t load_le64(const uint8_t *p);
uint32_t load_be32(const uint8_t *p);
uint64_t load_be64(const uint8_t *p);
void store_le32(uint8_t *p, uint32_t v);
void store_le64(uint8_t *p, uint64_t v);
void store_be32(uint8_t *p, uint32_t v);
void store_be64(uint8_t *p, uint64_t v);

/* The moduli as these files have them: r 32 bytes, p 48 bytes, little-endian. */
extern const uint8_t binfile_fr_modulus[32], binfile_fp_modulus[48];
/*
 * Reads "u32 n8, n8 bytes" and compares with a modulus of size bytes: true
 * when equal; sets c->bad when the bytes end.
 */
bool cursor_modulus(struct cursor *c, const uint8_t *modulus, size_t size);

#endif
