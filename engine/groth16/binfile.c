/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* binfile.c - the container of circom's and snarkjs' files */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "engine/groth16/binfile.h"

const uint8_t binfile_fr_modulus[32] = {
	0x01, 0x00, 0x00, 0x00, 0xff, 0xff, 0xff, 0xff, 0xfe, 0x5b, 0xfe, 0xff, 0x02, 0xa4, 0xbd, 0x53,
	0x05, 0xd8, 0xa1, 0x09, 0x08, 0xd8, 0x39, 0x33, 0x48, 0x7d, 0x9d, 0x29, 0x53, 0xa7, 0xed, 0x73,
};

const uint8_t binfile_fp_modulus[48] = {
	0xab, 0xaa, 0xff, 0xff, 0xff, 0xff, 0xfe, 0xb9, 0xff, 0xff, 0x53, 0xb1, 0xfe, 0xff, 0xab, 0x1e,
	0x24, 0xf6, 0xb0, 0xf6, 0xa0, 0xd2, 0x30, 0x67, 0xbf, 0x12, 0x85, 0xf3, 0x84, 0x4b, 0x77, 0x64,
	0xd7, 0xac, 0x4b, 0x43, 0xb6, 0xa7, 0x1b, 0x4b, 0x9a, 0xe6, 0x7f, 0x39, 0xea, 0x11, 0x01, 0x1a,
};

uint32_t load_le32(const uint8_t *p)
{
	return p[0] | p[1] << 8 | p[2] << 16 | (uint32_t)p[3] << 24;
}

uint64_t load_le64(const uint8_t *p)
{
	return load_le32(p) | (uint64_t)load_le32(p + 4) << 32;
}

uint32_t load_be32(const uint8_t *p)
{
	return p[3] | p[2] << 8 | p[1] << 16 | (uint32_t)p[0] << 24;
}

uint64_t load_be64(const uint8_t *p)
{
	return (uint64_t)load_be32(p) << 32 | load_be32(p + 4);
}

void store_be64(uint8_t *p, uint64_t v)
{
	store_be32(p, v >> 32);
	store_be32(p + 4, v);
}

void store_le32(uint8_t *p, uint32_t v)
{
	p[0] = v;
	p[1] = v >> 8;
	p[2] = v >> 16;
	p[3] = v >> 24;
}

void store_le64(uint8_t *p, uint64_t v)
{
	store_le32(p, v);
	store_le32(p + 4, v >> 32);
}

void store_be32(uint8_t *p, uint32_t v)
{
	p[0] = v >> 24;
	p[1] = v >> 16;
	p[2] = v >> 8;
	p[3] = v;
}

const uint8_t *cursor_bytes(struct cursor *c, size_t n)
{
	const uint8_t *p = c->p;

	if (c->bad || cursor_left(c) < n) {
		c->bad = true;
		return NULL;
	}
	c->p += n;
	return p;
}

uint32_t cursor_u32(struct cursor *c)
{
	const uint8_t *p = cursor_bytes(c, 4);

	return p ? load_le32(p) : 0;
}

uint64_t cursor_u64(struct cursor *c)
{
	const uint8_t *p = cursor_bytes(c, 8);

	return p ? load_le64(p) : 0;
}

uint32_t cursor_u32_be(struct cursor *c)
{
	const uint8_t *p = cursor_bytes(c, 4);

	return p ? load_be32(p) : 0;
}

bool cursor_modulus(struct cursor *c, const uint8_t *modulus, size_t size)
{
	uint32_t n8 = cursor_u32(c);
	const uint8_t *p;

	if (n8 != size)
		return false;
	p = cursor_bytes(c, size);
	return p && !memcmp(p, modulus, size);
}

const struct binfile_section *binfile_section(const struct binfile *bin, uint32_t type)
{
	uint32_t i;

	for (i = 0; i < bin->n_sections; i++)
		if (bin->sections[i].type == type)
			return &bin->sections[i];
	return NULL;
}

int binfile_parse(struct binfile *bin, const char *name, const void *data, size_t size,
		  const char magic[4], enum cuzk_error_class cls, struct cuzk_error *err)
{
	struct binfile_section *s;
	const uint8_t *p;
	struct cursor c;
	uint32_t i, n;

	memset(bin, 0, sizeof(*bin));
	bin->name = name;
	cursor_init(&c, data, size);
	p = cursor_bytes(&c, 4);
	if (!p || memcmp(p, magic, 4))
		return error_set(err, cls, -EINVAL, "%s: not a .%.4s file", name, magic);
	bin->version = cursor_u32(&c);
	n = cursor_u32(&c);
	if (c.bad)
		return error_set(err, cls, -EINVAL, "%s: ends inside its header", name);
	if (n > BINFILE_SECTIONS_MAX)
		return error_set(err, cls, -EINVAL, "%s: %u sections, more than %u", name, n,
				 BINFILE_SECTIONS_MAX);
	for (i = 0; i < n; i++) {
		uint32_t type = cursor_u32(&c);
		uint64_t len = cursor_u64(&c);

		if (c.bad)
			return error_set(err, cls, -EINVAL,
					 "%s: ends before section %u of %u", name, i + 1, n);
		if (len > cursor_left(&c))
			return error_set(err, cls, -EINVAL,
					 "%s: section of type %u has %" PRIu64
					 " bytes, the file only %zu more",
					 name, type, len, cursor_left(&c));
		if (binfile_section(bin, type))
			return error_set(err, cls, -EINVAL, "%s: two sections of type %u", name,
					 type);
		s = &bin->sections[bin->n_sections++];
		s->type = type;
		s->size = len;
		s->data = cursor_bytes(&c, len);
	}
	if (cursor_left(&c))
		return error_set(err, cls, -EINVAL, "%s: %zu bytes behind the last section", name,
				 cursor_left(&c));
	return 0;
}
