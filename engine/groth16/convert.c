/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* convert.c - snarkjs' .zkey to .params and back, as far as nothing is lost */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "engine/groth16/binfile.h"
#include "engine/groth16/convert.h"
#include "lib/bls12_381/encoding.h"

#define PARAMS CUZK_ERROR_PARAMS

static void put(FILE *f, const void *data, size_t size)
{
	fwrite(data, 1, size, f);
}

static void put_le32(FILE *f, uint32_t v)
{
	uint8_t buf[4];

	store_le32(buf, v);
	put(f, buf, sizeof(buf));
}

static void put_le64(FILE *f, uint64_t v)
{
	uint8_t buf[8];

	store_le64(buf, v);
	put(f, buf, sizeof(buf));
}

static void put_be32(FILE *f, uint32_t v)
{
	uint8_t buf[4];

	store_be32(buf, v);
	put(f, buf, sizeof(buf));
}

static int finish(FILE *f, struct cuzk_error *err)
{
	return ferror(f) ? error_set(err, CUZK_ERROR_RESOURCE, -EIO, "cannot write the file") : 0;
}

static bool bit(const uint64_t *map, uint64_t i)
{
	return map[i / 64] >> i % 64 & 1;
}

/* Whether a .params keeps variable i's point of A (matrix 0) or B (1). */
static bool kept(const struct cs *cs, unsigned int matrix, uint64_t i)
{
	if (i < cs->n_inputs)
		return matrix == 0 || bit(cs->b_input_density, i);
	return bit(matrix ? cs->b_aux_density : cs->a_aux_density, i - cs->n_inputs);
}

/* One point in memory form as .params has it; infinity only where it may be left out. */
static int put_encoded(FILE *f, const uint8_t *point, bool g2, bool keep, const char *name,
		       const char *section, uint64_t i, struct cuzk_error *err)
{
	struct g1_affine p1, checked1;
	struct g2_affine p2, checked2;
	uint8_t buf[192];
	bool infinity;
	enum point_status status;

	if (g2) {
		memcpy(&p2, point, sizeof(p2));
		infinity = g2_affine_is_infinity(&p2);
	} else {
		memcpy(&p1, point, sizeof(p1));
		infinity = g1_affine_is_infinity(&p1);
	}
	if (infinity != !keep)
		return error_set(err, PARAMS, -EINVAL,
				 "%s: section %s: point %" PRIu64
				 " is %sinfinity, which .params cannot express",
				 name, section, i, infinity ? "" : "not ");
	if (!keep)
		return 0;
	/* reading it back is the check */
	if (g2) {
		g2_to_uncompressed(buf, &p2);
		status = g2_from_uncompressed(&checked2, buf, POINT_ANY_ORDER);
		if (!status && memcmp(&checked2, &p2, sizeof(p2)))
			status = POINT_NOT_CANONICAL;
	} else {
		g1_to_uncompressed(buf, &p1);
		status = g1_from_uncompressed(&checked1, buf, POINT_ANY_ORDER);
		if (!status && memcmp(&checked1, &p1, sizeof(p1)))
			status = POINT_NOT_CANONICAL;
	}
	if (status)
		return error_set(err, PARAMS, -EBADMSG, "%s: section %s: point %" PRIu64 " %s",
				 name, section, i, point_status_str(status));
	put(f, buf, g2 ? 192 : 96);
	return 0;
}

/* matrix 2: every one of n points; 0 and 1: those of A and B that are kept. */
static int put_section(FILE *f, const struct cs *cs, unsigned int matrix, const uint8_t *points,
		       uint64_t n, bool g2, const char *name, const char *section,
		       struct cuzk_error *err)
{
	uint64_t i, count = 0;
	int ret = 0;

	for (i = 0; i < n; i++)
		count += matrix == 2 || kept(cs, matrix, i);
	put_be32(f, count);
	for (i = 0; !ret && i < n; i++)
		ret = put_encoded(f, points + i * (g2 ? 192 : 96), g2,
				  matrix == 2 || kept(cs, matrix, i), name, section, i, err);
	return ret;
}

int convert_zkey_to_params(const struct zkey *z, const char *name, FILE *out,
			   struct cuzk_error *err)
{
	uint8_t *key = malloc(VK_SIZE(z->vk.n_ic));
	struct flat_cs *f = NULL;
	const struct cs *cs;
	int ret;

	if (!key)
		return error_nomem(err, "the verifying key");
	vk_write(key, &z->vk);
	put(out, key, VK_SIZE(z->vk.n_ic));
	free(key);
	ret = zkey_to_cs(z, &f, err);
	if (ret)
		return ret;
	cs = flat_cs_get(f);
	ret = put_section(out, cs, 2, z->h, 1ull << z->log_domain, false, name, "H", err);
	if (!ret)
		ret = put_section(out, cs, 2, z->l, cs->n_aux, false, name, "C", err);
	if (!ret)
		ret = put_section(out, cs, 0, z->a, z->n_wires, false, name, "A", err);
	if (!ret)
		ret = put_section(out, cs, 1, z->b1, z->n_wires, false, name, "B1", err);
	if (!ret)
		ret = put_section(out, cs, 1, z->b2, z->n_wires, true, name, "B2", err);
	flat_cs_close(f);
	return ret ? ret : finish(out, err);
}

static void put_header(FILE *f, uint32_t type, uint64_t size)
{
	put_le32(f, type);
	put_le64(f, size);
}

/* Value v of a term, Montgomery form, as section 4 has it: v * R^2. */
static void put_coeff(FILE *f, uint32_t matrix, uint32_t row, uint32_t wire, const struct fr *v)
{
	struct scalar limbs;
	struct fr raw;

	put_le32(f, matrix);
	put_le32(f, row);
	put_le32(f, wire);
	memcpy(&limbs, v, sizeof(limbs));
	fr_from_scalar(&raw, &limbs);
	put(f, &raw, sizeof(raw));
}

static uint32_t term_wire(const struct cs *cs, uint32_t ref)
{
	switch (CS_REF_KIND(ref)) {
	case CS_REF_AUX:
		return cs->n_inputs + CS_REF_INDEX(ref);
	case CS_REF_INPUT:
		return 1 + CS_REF_INDEX(ref);
	default:
		return 0;
	}
}

/* The rows of a flat system, A and B only, then one for each public wire. */
static void put_coeffs(FILE *f, const struct cs *cs)
{
	uint64_t lc, count = cs->n_inputs;
	uint32_t i, begin;

	for (lc = 0; lc < cs->n_lcs; lc++)
		if (lc % 3 < 2)
			count += cs->lc_end[lc] - (lc ? cs->lc_end[lc - 1] : 0);
	put_header(f, 4, 4 + 44 * count);
	put_le32(f, count);
	for (lc = 0; lc < cs->n_lcs; lc++) {
		begin = lc ? cs->lc_end[lc - 1] : 0;
		for (i = begin; lc % 3 < 2 && i < cs->lc_end[lc]; i++)
			put_coeff(f, lc % 3, lc / 3, term_wire(cs, cs->terms[i].ref),
				  &cs->coeffs[cs->terms[i].coeff]);
	}
	for (i = 0; i < cs->n_inputs; i++)
		put_coeff(f, 0, cs->n_rows + i, i, &fr_one);
}

static int put_point(FILE *f, const uint8_t *in, bool g2, const char *name,
		     enum params_section section, uint64_t i, struct cuzk_error *err)
{
	enum point_status status;
	struct g1_affine p1;
	struct g2_affine p2;

	status = g2 ? g2_from_uncompressed(&p2, in, POINT_ANY_ORDER) :
		 g1_from_uncompressed(&p1, in, POINT_ANY_ORDER);
	if (status)
		return error_set(err, PARAMS, -EBADMSG, "%s: section %s: point %" PRIu64 " %s",
				 name, params_section_name(section), i, point_status_str(status));
	put(f, g2 ? (void *)&p2 : (void *)&p1, g2 ? sizeof(p2) : sizeof(p1));
	return 0;
}

/* A section with a point for every one of n; those that are not kept are infinity. */
static int put_points(FILE *f, uint32_t type, const struct params *p, const char *name,
		      enum params_section section, const struct cs *cs, unsigned int matrix,
		      uint64_t n, struct cuzk_error *err)
{
	static const uint8_t infinity[192];
	bool g2 = section == PARAMS_B_G2;
	size_t size = g2 ? 192 : 96;
	const uint8_t *in = p->data + p->section[section].offset;
	uint64_t i, k = 0;
	int ret = 0;

	put_header(f, type, n * size);
	for (i = 0; !ret && i < n; i++) {
		if (matrix < 2 && !kept(cs, matrix, i)) {
			put(f, infinity, size);
			continue;
		}
		ret = put_point(f, in + k * size, g2, name, section, k, err);
		k++;
	}
	return ret;
}

static void put_vk(FILE *f, const struct params *p, const struct cs *cs)
{
	const struct vk *vk = &p->vk;

	put_header(f, 2, 964);
	put_le32(f, 48);
	put(f, binfile_fp_modulus, 48);
	put_le32(f, 32);
	put(f, binfile_fr_modulus, 32);
	put_le32(f, cs->n_inputs + cs->n_aux);
	put_le32(f, cs->n_inputs - 1);
	put_le32(f, 1u << cs->log_domain);
	put(f, &vk->alpha_g1, 96);
	put(f, &vk->beta_g1, 96);
	put(f, &vk->beta_g2, 192);
	put(f, &vk->gamma_g2, 192);
	put(f, &vk->delta_g1, 96);
	put(f, &vk->delta_g2, 192);
	put_header(f, 3, 96ull * vk->n_ic);
	put(f, vk->ic, 96ull * vk->n_ic);
}

int convert_params_to_zkey(const struct params *p, const char *name, const struct cs *cs,
			   FILE *out, struct cuzk_error *err)
{
	static const uint8_t no_hash[64];
	uint64_t n = (uint64_t)cs->n_inputs + cs->n_aux;
	int ret;

	if (params_h_basis(p) != GPU_H_ODD_COSET)
		return error_set(
			err, PARAMS, -ENOTSUP,
			"%s: its polynomials are over roots of unity from 7, those of a .zkey from 5: "
			"make a key for this circuit with snarkjs",
			name);
	ret = params_match(p, name, cs, err);
	if (ret)
		return ret;
	put(out, "zkey", 4);
	put_le32(out, 1);
	put_le32(out, 10);
	put_header(out, 1, 4);
	put_le32(out, 1);
	put_vk(out, p, cs);
	put_coeffs(out, cs);
	ret = put_points(out, 5, p, name, PARAMS_A, cs, 0, n, err);
	if (!ret)
		ret = put_points(out, 6, p, name, PARAMS_B_G1, cs, 1, n, err);
	if (!ret)
		ret = put_points(out, 7, p, name, PARAMS_B_G2, cs, 1, n, err);
	if (!ret)
		ret = put_points(out, 8, p, name, PARAMS_L, cs, 2, cs->n_aux, err);
	if (!ret)
		ret = put_points(out, 9, p, name, PARAMS_H, cs, 2, 1ull << cs->log_domain, err);
	if (ret)
		return ret;
	put_header(out, 10, 68);
	put(out, no_hash, sizeof(no_hash));
	put_le32(out, 0);
	return finish(out, err);
}
