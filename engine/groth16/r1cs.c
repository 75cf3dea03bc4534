/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* r1cs.c - circom's .r1cs and .wtns over BLS12-381 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "engine/groth16/binfile.h"
#include "engine/groth16/r1cs.h"

enum { R1CS_HEADER = 1, R1CS_ROWS = 2, R1CS_LABELS = 3, R1CS_GATES = 4, R1CS_GATES_USED = 5 };
enum { WTNS_HEADER = 1, WTNS_VALUES = 2 };

#define INPUT CUZK_ERROR_INPUT
#define TERM_SIZE 36u	/* u32 wire, 32-byte coefficient */
#define UNUSED_WIRES_MAX 65536u	/* in a file without labels */

static int parse_header(struct r1cs *r, const char *name, const struct binfile_section *s,
			uint64_t *n_labels, struct cuzk_error *err)
{
	struct cursor c;
	bool ours;

	cursor_init(&c, s->data, s->size);
	ours = cursor_modulus(&c, binfile_fr_modulus, 32);
	if (!c.bad && !ours)
		return error_set(
			err, INPUT, -EINVAL,
			"%s: header: the field is not that of BLS12-381 (circom --prime bls12381)",
			name);
	r->n_wires = cursor_u32(&c);
	r->n_outputs = cursor_u32(&c);
	r->n_public = cursor_u32(&c);
	r->n_private = cursor_u32(&c);
	*n_labels = cursor_u64(&c);
	r->n_rows = cursor_u32(&c);
	if (c.bad || cursor_left(&c))
		return error_set(err, INPUT, -EINVAL,
				 "%s: header section has %" PRIu64 " bytes, not 64", name, s->size);
	if (r->n_wires < 1 || r->n_wires > FLAT_WIRES_MAX)
		return error_set(err, INPUT, -EINVAL, "%s: header: %u wires, not 1..%u", name,
				 r->n_wires, FLAT_WIRES_MAX);
	if ((uint64_t)r->n_outputs + r->n_public + r->n_private + 1 > r->n_wires)
		return error_set(
			err, INPUT, -EINVAL,
			"%s: header: %u outputs, %u public and %u private inputs do not fit %u wires",
			name, r->n_outputs, r->n_public, r->n_private, r->n_wires);
	if (r->n_rows > FLAT_ROWS_MAX)
		return error_set(err, INPUT, -EINVAL, "%s: header: %u constraints, more than %u",
				 name, r->n_rows, FLAT_ROWS_MAX);
	return 0;
}

static int check_term(const struct r1cs *r, const char *name, uint32_t row, unsigned int lc,
		      const uint8_t *p, struct cuzk_error *err)
{
	uint32_t wire = load_le32(p);
	struct scalar v;

	if (wire >= r->n_wires)
		return error_set(err, INPUT, -EINVAL, "%s: constraint %u, %c: wire %u of %u", name,
				 row, 'A' + lc, wire, r->n_wires);
	memcpy(&v, p + 4, sizeof(v));
	if (!scalar_is_canonical(&v))
		return error_set(
			err, INPUT, -EINVAL,
			"%s: constraint %u, %c: coefficient of wire %u is not below the modulus",
			name, row, 'A' + lc, wire);
	return 0;
}

static int parse_rows(struct r1cs *r, const char *name, struct cuzk_error *err)
{
	const uint8_t *p;
	struct cursor c;
	uint32_t row, n, i;
	unsigned int lc;
	int ret;

	cursor_init(&c, r->rows, r->rows_size);
	for (row = 0; row < r->n_rows; row++)
		for (lc = 0; lc < 3; lc++) {
			n = cursor_u32(&c);
			if (c.bad || n > cursor_left(&c) / TERM_SIZE)
				return error_set(
					err, INPUT, -EINVAL,
					"%s: the constraint section ends in constraint %u of %u, %c",
					name, row, r->n_rows, 'A' + lc);
			r->n_terms += n;
			for (i = 0; i < n; i++) {
				p = cursor_bytes(&c, TERM_SIZE);
				ret = check_term(r, name, row, lc, p, err);
				if (ret)
					return ret;
			}
		}
	if (cursor_left(&c))
		return error_set(err, INPUT, -EINVAL,
				 "%s: %zu bytes behind the last of %u constraints", name,
				 cursor_left(&c), r->n_rows);
	return 0;
}

int r1cs_parse(struct r1cs *r, const char *name, const void *data, size_t size,
	       struct cuzk_error *err)
{
	const struct binfile_section *header, *rows, *labels, *gates;
	struct binfile bin;
	uint64_t n_labels;
	int ret;

	memset(r, 0, sizeof(*r));
	ret = binfile_parse(&bin, name, data, size, "r1cs", INPUT, err);
	if (ret)
		return ret;
	if (bin.version != 1)
		return error_set(err, INPUT, -EINVAL, "%s: .r1cs version %u, not 1", name,
				 bin.version);
	header = binfile_section(&bin, R1CS_HEADER);
	rows = binfile_section(&bin, R1CS_ROWS);
	labels = binfile_section(&bin, R1CS_LABELS);
	gates = binfile_section(&bin, R1CS_GATES_USED);
	if (!header || !rows)
		return error_set(err, INPUT, -EINVAL, "%s: no %s section", name,
				 header ? "constraint" : "header");
	ret = parse_header(r, name, header, &n_labels, err);
	if (ret)
		return ret;
	if (labels && labels->size != 8ull * r->n_wires)
		return error_set(err, INPUT, -EINVAL,
				 "%s: label section has %" PRIu64
				 " bytes, not 8 for each of %u wires",
				 name, labels->size, r->n_wires);
	if (gates && (gates->size < 4 || load_le32(gates->data)))
		return error_set(err, INPUT, -EINVAL, "%s: custom gates are not rank-1 constraints",
				 name);
	r->rows = rows->data;
	r->rows_size = rows->size;
	ret = parse_rows(r, name, err);
	if (ret)
		return ret;
	/* the labels vouch for the number of wires; without them the terms must */
	if (!labels && r->n_wires > r->n_terms + UNUSED_WIRES_MAX)
		return error_set(err, INPUT, -EINVAL,
				 "%s: header: %u wires, the constraints have only %" PRIu64
				 " terms",
				 name, r->n_wires, r->n_terms);
	return 0;
}

int r1cs_to_cs(const struct r1cs *r, struct flat_cs **out, struct cuzk_error *err)
{
	uint32_t n_inputs = 1 + r->n_outputs + r->n_public;
	struct flat_term *terms = NULL, *more;
	struct flat_cs *f;
	struct cursor c;
	uint32_t n, i, room = 0;
	uint64_t lc;
	int ret;

	ret = flat_cs_open(&f, n_inputs, r->n_wires - n_inputs, r->n_rows, r->n_terms);
	if (ret)
		goto err_say;
	cursor_init(&c, r->rows, r->rows_size);
	for (lc = 0; lc < 3ull * r->n_rows; lc++) {
		n = cursor_u32(&c);
		if (n > room) {
			more = realloc(terms, n * sizeof(*terms));
			if (!more) {
				ret = -ENOMEM;
				goto err_close;
			}
			terms = more;
			room = n;
		}
		for (i = 0; i < n; i++) {
			const uint8_t *p = cursor_bytes(&c, TERM_SIZE);

			terms[i].wire = load_le32(p);
			fr_from_bytes_le(&terms[i].coeff, p + 4);
		}
		ret = flat_cs_add(f, terms, n);
		if (ret)
			goto err_close;
	}
	ret = flat_cs_finish(f);
	if (ret)
		goto err_close;
	free(terms);
	*out = f;
	return 0;

err_close:
	flat_cs_close(f);
	free(terms);
err_say:
	if (ret == -ENOMEM)
		return error_nomem(err, "the constraint system");
	return error_set(err, INPUT, ret, "a system of %u wires, %u constraints and %" PRIu64
			 " terms is too large", r->n_wires, r->n_rows, r->n_terms);
}

int wtns_parse(struct fr **out, const char *name, const void *data, size_t size,
	       uint32_t n_wires, struct cuzk_error *err)
{
	const struct binfile_section *header, *values;
	struct binfile bin;
	struct cursor c;
	struct fr *wires;
	uint32_t n, i;
	bool ours;
	int ret;

	ret = binfile_parse(&bin, name, data, size, "wtns", INPUT, err);
	if (ret)
		return ret;
	if (bin.version != 2)
		return error_set(err, INPUT, -EINVAL, "%s: .wtns version %u, not 2", name,
				 bin.version);
	header = binfile_section(&bin, WTNS_HEADER);
	values = binfile_section(&bin, WTNS_VALUES);
	if (!header || !values)
		return error_set(err, INPUT, -EINVAL, "%s: no %s section", name,
				 header ? "value" : "header");
	cursor_init(&c, header->data, header->size);
	ours = cursor_modulus(&c, binfile_fr_modulus, 32);
	if (!c.bad && !ours)
		return error_set(err, INPUT, -EINVAL,
				 "%s: header: the field is not that of BLS12-381", name);
	n = cursor_u32(&c);
	if (c.bad || cursor_left(&c))
		return error_set(err, INPUT, -EINVAL,
				 "%s: header section has %" PRIu64 " bytes, not 40", name,
				 header->size);
	if (n != n_wires)
		return error_set(err, INPUT, -EINVAL, "%s: %u values for %u wires", name, n,
				 n_wires);
	if (values->size != 32ull * n)
		return error_set(err, INPUT, -EINVAL,
				 "%s: value section has %" PRIu64
				 " bytes, not 32 for each of %u values",
				 name, values->size, n);
	wires = malloc((n + 1ull) * sizeof(*wires));
	if (!wires)
		return error_nomem(err, "the witness");
	for (i = 0; i < n; i++)
		if (fr_from_bytes_le(&wires[i], values->data + 32ull * i)) {
			ret = error_set(err, INPUT, -EINVAL,
					"%s: value of wire %u is not below the modulus", name, i);
			goto err_free;
		}
	if (n && !fr_is_one(&wires[0])) {
		ret = error_set(err, INPUT, -EINVAL, "%s: wire 0 is not 1", name);
		goto err_free;
	}
	*out = wires;
	return 0;

err_free:
	free(wires);
	return ret;
}
