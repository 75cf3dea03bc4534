/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* zkey.c - snarkjs' .zkey of Groth16 over BLS12-381 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "engine/groth16/binfile.h"
#include "engine/groth16/zkey.h"

enum {
	ZKEY_PROTOCOL = 1, ZKEY_HEADER, ZKEY_IC, ZKEY_COEFFS, ZKEY_A, ZKEY_B1, ZKEY_B2, ZKEY_L,
	ZKEY_H, ZKEY_CONTRIBUTIONS, ZKEY_N
};

static const char *const section_names[ZKEY_N] = {
	NULL, "protocol", "header", "IC", "coefficient", "A", "B1", "B2", "C", "H", "contribution",
};

#define PARAMS CUZK_ERROR_PARAMS
#define PROTOCOL_GROTH16 1u
#define COEFF_SIZE 44u		/* u32 matrix, u32 row, u32 wire, 32-byte value */

static bool fp_is_canonical(const struct fp *a)
{
	struct fp p;
	int i;

	memcpy(&p, binfile_fp_modulus, sizeof(p));
	for (i = 5; i >= 0; i--)
		if (a->l[i] != p.l[i])
			return a->l[i] < p.l[i];
	return false;
}

/* A point of the right order in memory form, not infinity. */
static bool g1_load(struct g1_affine *r, const uint8_t *p)
{
	memcpy(r, p, sizeof(*r));
	return fp_is_canonical(&r->x) && fp_is_canonical(&r->y) && !g1_affine_is_infinity(r) &&
	       g1_affine_is_on_curve(r) && g1_in_subgroup(r);
}

static bool g2_load(struct g2_affine *r, const uint8_t *p)
{
	memcpy(r, p, sizeof(*r));
	return fp_is_canonical(&r->x.c0) && fp_is_canonical(&r->x.c1) &&
	       fp_is_canonical(&r->y.c0) && fp_is_canonical(&r->y.c1) &&
	       !g2_affine_is_infinity(r) && g2_affine_is_on_curve(r) && g2_in_subgroup(r);
}

static int bad_point(const char *name, const char *which, struct cuzk_error *err)
{
	return error_set(err, PARAMS, -EINVAL,
			 "%s: header: %s is not a point of the curve's subgroup", name, which);
}

static int parse_header(struct zkey *z, const char *name, const struct binfile_section *s,
			struct cuzk_error *err)
{
	struct cursor c;
	bool ours;
	uint32_t domain;
	const uint8_t *p;

	cursor_init(&c, s->data, s->size);
	ours = cursor_modulus(&c, binfile_fp_modulus, 48) &&
	       cursor_modulus(&c, binfile_fr_modulus, 32);
	if (!c.bad && !ours)
		return error_set(err, PARAMS, -EINVAL, "%s: header: the curve is not BLS12-381",
				 name);
	z->n_wires = cursor_u32(&c);
	z->n_public = cursor_u32(&c);
	domain = cursor_u32(&c);
	p = cursor_bytes(&c, 3 * 96 + 3 * 192);
	if (c.bad || cursor_left(&c))
		return error_set(err, PARAMS, -EINVAL, "%s: header section has %" PRIu64
				 " bytes, not 964", name, s->size);
	if (z->n_wires < 1 || z->n_wires > FLAT_WIRES_MAX || z->n_public >= z->n_wires ||
	    z->n_public >= VK_IC_MAX)
		return error_set(err, PARAMS, -EINVAL, "%s: header: %u wires, %u of them public",
				 name, z->n_wires, z->n_public);
	if (domain < 2 || (domain & (domain - 1)) || domain > FLAT_ROWS_MAX)
		return error_set(err, PARAMS, -EINVAL, "%s: header: domain of %u is no power of 2",
				 name, domain);
	z->log_domain = __builtin_ctz(domain);
	if (!g1_load(&z->vk.alpha_g1, p))
		return bad_point(name, "alpha1", err);
	if (!g1_load(&z->vk.beta_g1, p + 96))
		return bad_point(name, "beta1", err);
	if (!g2_load(&z->vk.beta_g2, p + 192))
		return bad_point(name, "beta2", err);
	if (!g2_load(&z->vk.gamma_g2, p + 384))
		return bad_point(name, "gamma2", err);
	if (!g1_load(&z->vk.delta_g1, p + 576))
		return bad_point(name, "delta1", err);
	if (!g2_load(&z->vk.delta_g2, p + 672))
		return bad_point(name, "delta2", err);
	return 0;
}

static int parse_ic(struct zkey *z, const char *name, struct cuzk_error *err)
{
	uint32_t i;

	z->vk.n_ic = z->n_public + 1;
	z->vk.ic = malloc(z->vk.n_ic * sizeof(*z->vk.ic));
	if (!z->vk.ic)
		return error_nomem(err, "the verifying key");
	for (i = 0; i < z->vk.n_ic; i++)
		if (!g1_load(&z->vk.ic[i], z->ic + 96ull * i)) {
			vk_fini(&z->vk);
			return error_set(
				err, PARAMS, -EINVAL,
				"%s: IC point %u of %u is not a point of the curve's subgroup",
				name, i, z->n_public + 1);
		}
	return 0;
}

static int parse_coeffs(struct zkey *z, const char *name, struct cuzk_error *err)
{
	uint32_t i, row_end = 0, n_public_rows = 0, matrix, row, wire;
	struct fr one_r2;
	struct scalar v;

	/* 1 in the section's form, 1 * R^2: the limbs of R in Montgomery form */
	fr_from_scalar(&one_r2,
		       &(struct scalar){ { fr_one.l[0], fr_one.l[1], fr_one.l[2], fr_one.l[3] } });
	for (i = 0; i < z->n_coeffs; i++) {
		const uint8_t *p = z->coeffs + (size_t)COEFF_SIZE * i;

		matrix = load_le32(p);
		row = load_le32(p + 4);
		wire = load_le32(p + 8);
		memcpy(&v, p + 12, sizeof(v));
		if (matrix > 1 || row >> z->log_domain || wire >= z->n_wires ||
		    !scalar_is_canonical(&v))
			return error_set(
				err, PARAMS, -EINVAL,
				"%s: coefficient %u: matrix %u, row %u, wire %u or its value out of range",
				name, i, matrix, row, wire);
		if (row >= row_end)
			row_end = row + 1;
	}
	/* the last rows must be "wire s times 1" in A alone, one for each public wire */
	if (row_end < z->n_public + 1)
		goto no_public_rows;
	z->n_rows = row_end - (z->n_public + 1);
	for (i = 0; i < z->n_coeffs; i++) {
		const uint8_t *p = z->coeffs + (size_t)COEFF_SIZE * i;

		row = load_le32(p + 4);
		if (row < z->n_rows)
			continue;
		memcpy(&v, p + 12, sizeof(v));
		if (load_le32(p) != 0 || load_le32(p + 8) != row - z->n_rows ||
		    memcmp(&v, &one_r2, sizeof(v)))
			goto no_public_rows;
		n_public_rows++;
	}
	if (n_public_rows != z->n_public + 1)
		goto no_public_rows;
	return 0;

no_public_rows:
	return error_set(err, PARAMS, -EINVAL,
			 "%s: the coefficients do not end with one row for each of %u public wires",
			 name, z->n_public + 1);
}

/* The section, of exactly size bytes. */
static int get_section(const struct binfile *bin, uint32_t type, uint64_t size,
		       const uint8_t **data, struct cuzk_error *err)
{
	const struct binfile_section *s = binfile_section(bin, type);

	if (!s)
		return error_set(err, PARAMS, -EINVAL, "%s: no %s section", bin->name,
				 section_names[type]);
	if (s->size != size)
		return error_set(err, PARAMS, -EINVAL,
				 "%s: %s section has %" PRIu64
				 " bytes, the header asks for %" PRIu64,
				 bin->name, section_names[type], s->size, size);
	*data = s->data;
	return 0;
}

static int get_points(struct zkey *z, const struct binfile *bin, struct cuzk_error *err)
{
	uint64_t n = z->n_wires;
	int ret;

	ret = get_section(bin, ZKEY_IC, 96ull * (z->n_public + 1), &z->ic, err);
	if (!ret)
		ret = get_section(bin, ZKEY_A, 96 * n, &z->a, err);
	if (!ret)
		ret = get_section(bin, ZKEY_B1, 96 * n, &z->b1, err);
	if (!ret)
		ret = get_section(bin, ZKEY_B2, 192 * n, &z->b2, err);
	if (!ret)
		ret = get_section(bin, ZKEY_L, 96 * (n - z->n_public - 1), &z->l, err);
	if (!ret)
		ret = get_section(bin, ZKEY_H, 96ull << z->log_domain, &z->h, err);
	return ret;
}

int zkey_parse(struct zkey *z, const char *name, const void *data, size_t size,
	       struct cuzk_error *err)
{
	const struct binfile_section *s;
	const uint8_t *protocol;
	struct binfile bin;
	int ret;

	memset(z, 0, sizeof(*z));
	ret = binfile_parse(&bin, name, data, size, "zkey", PARAMS, err);
	if (ret)
		return ret;
	if (bin.version != 1)
		return error_set(err, PARAMS, -EINVAL, "%s: .zkey version %u, not 1", name,
				 bin.version);
	ret = get_section(&bin, ZKEY_PROTOCOL, 4, &protocol, err);
	if (ret)
		return ret;
	if (load_le32(protocol) != PROTOCOL_GROTH16)
		return error_set(err, PARAMS, -EINVAL, "%s: protocol %u is not Groth16 (1)", name,
				 load_le32(protocol));
	s = binfile_section(&bin, ZKEY_HEADER);
	if (!s)
		return error_set(err, PARAMS, -EINVAL, "%s: no header section", name);
	ret = parse_header(z, name, s, err);
	if (ret)
		return ret;
	ret = get_points(z, &bin, err);
	if (ret)
		return ret;
	s = binfile_section(&bin, ZKEY_COEFFS);
	if (!s)
		return error_set(err, PARAMS, -EINVAL, "%s: no coefficient section", name);
	z->n_coeffs = s->size >= 4 ? load_le32(s->data) : 0;
	if (s->size != 4 + (uint64_t)COEFF_SIZE * z->n_coeffs)
		return error_set(err, PARAMS, -EINVAL, "%s: coefficient section has %" PRIu64
				 " bytes for %u coefficients", name, s->size, z->n_coeffs);
	z->coeffs = s->data + 4;
	ret = parse_coeffs(z, name, err);
	if (ret)
		return ret;
	return parse_ic(z, name, err);
}

void zkey_fini(struct zkey *z)
{
	vk_fini(&z->vk);
	memset(z, 0, sizeof(*z));
}

/* start[2 * row + matrix]: where that combination's coefficients begin in order[]. */
static int sort_coeffs(const struct zkey *z, uint32_t **start_out, uint32_t **order_out,
		       uint32_t *longest)
{
	size_t n_lcs = 2ull * z->n_rows, k;
	uint32_t *start = calloc(n_lcs + 2, sizeof(*start));
	uint32_t *order = malloc((z->n_coeffs + 1ull) * sizeof(*order));
	uint32_t i;

	if (!start || !order) {
		free(start);
		free(order);
		return -ENOMEM;
	}
	/* counts land two places on, so that filling moves each start into its own place */
	for (i = 0; i < z->n_coeffs; i++) {
		const uint8_t *p = z->coeffs + (size_t)COEFF_SIZE * i;
		size_t lc = 2ull * load_le32(p + 4) + load_le32(p);

		if (lc + 2 < n_lcs + 2)
			start[lc + 2]++;
	}
	*longest = 0;
	for (k = 2; k < n_lcs + 2; k++) {
		if (start[k] > *longest)
			*longest = start[k];
		start[k] += start[k - 1];
	}
	for (i = 0; i < z->n_coeffs; i++) {
		const uint8_t *p = z->coeffs + (size_t)COEFF_SIZE * i;
		size_t lc = 2ull * load_le32(p + 4) + load_le32(p);

		if (lc < n_lcs)
			order[start[lc + 1]++] = i;
	}
	*start_out = start;
	*order_out = order;
	return 0;
}

int zkey_to_cs(const struct zkey *z, struct flat_cs **out, struct cuzk_error *err)
{
	uint32_t *start = NULL, *order = NULL, longest, k;
	struct flat_term *terms = NULL;
	struct flat_cs *f;
	size_t lc;
	int ret;

	ret = flat_cs_open(&f, z->n_public + 1, z->n_wires - z->n_public - 1, z->n_rows,
			   z->n_coeffs);
	if (ret)
		goto err_say;
	ret = sort_coeffs(z, &start, &order, &longest);
	if (ret)
		goto err_close;
	terms = malloc((longest + 1ull) * sizeof(*terms));
	if (!terms) {
		ret = -ENOMEM;
		goto err_close;
	}
	for (lc = 0; lc < 2ull * z->n_rows; lc++) {
		for (k = start[lc]; k < start[lc + 1]; k++) {
			const uint8_t *p = z->coeffs + (size_t)COEFF_SIZE * order[k];
			struct flat_term *t = &terms[k - start[lc]];
			struct fr raw;
			struct scalar mont;

			/* the file has v * R^2 and v * R is what we keep */
			memcpy(&raw, p + 12, sizeof(raw));
			fr_to_scalar(&mont, &raw);
			memcpy(&t->coeff, &mont, sizeof(mont));
			t->wire = load_le32(p + 8);
		}
		ret = flat_cs_add(f, terms, start[lc + 1] - start[lc]);
		if (!ret && lc % 2)
			ret = flat_cs_add(f, terms, 0);
		if (ret)
			goto err_close;
	}
	ret = flat_cs_finish(f);
	if (ret)
		goto err_close;
	if (flat_cs_get(f)->log_domain != z->log_domain) {
		ret = error_set(
			err, PARAMS, -EINVAL,
			"the key's domain is 2^%u, its %u constraints and %u public wires give 2^%u",
			z->log_domain, z->n_rows, z->n_public + 1, flat_cs_get(f)->log_domain);
		goto err_close_said;
	}
	free(start);
	free(order);
	free(terms);
	*out = f;
	return 0;

err_close:
	if (ret == -ENOMEM)
		error_nomem(err, "the constraint system");
	else
		error_set(err, PARAMS, ret, "the key's system of %u constraints is too large",
			  z->n_rows);
err_close_said:
	flat_cs_close(f);
	free(start);
	free(order);
	free(terms);
	return ret;
err_say:
	return ret == -ENOMEM ? error_nomem(err, "the constraint system") :
	       error_set(err, PARAMS, ret, "the key's system of %u wires is too large", z->n_wires);
}

void zkey_srs_desc(const struct zkey *z, struct gpu_srs_desc *desc)
{
	memset(desc, 0, sizeof(*desc));
	desc->encoding = GPU_POINTS_MONT;
	desc->h_basis = GPU_H_ODD_COSET;
	desc->dense = true;
	desc->n_h = 1ull << z->log_domain;
	desc->n_l = z->n_wires - z->n_public - 1;
	desc->n_a = desc->n_bg1 = desc->n_bg2 = z->n_wires;
	desc->h = z->h;
	desc->l = z->l;
	desc->a = z->a;
	desc->bg1 = z->b1;
	desc->bg2 = z->b2;
}
