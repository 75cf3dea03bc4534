/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* wire.c - rows in the canonical byte form that the digests hash */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/cs/wire.h"

static void put_u32(uint8_t *p, uint32_t v)
{
	p[0] = v;
	p[1] = v >> 8;
	p[2] = v >> 16;
	p[3] = v >> 24;
}

static void term_range(const struct cs *cs, const struct cs_template *t, uint32_t row,
		       unsigned int k, uint32_t *first, uint32_t *end)
{
	const uint32_t *e = &cs->lc_end[t->first_lc + 3 * (uint64_t)row + k];

	*first = row || k ? e[-1] : t->first_term;
	*end = *e;
}

int wire_init(struct wire *w, const struct cs *cs, const struct cs_template *t,
	      const uint8_t (*coeff_bytes)[32])
{
	uint64_t n_terms = 0, at = 0;
	uint32_t row, i, n, first, end, n_patches = 0;
	unsigned int k;

	memset(w, 0, sizeof(*w));
	if (t->n_rows)
		n_terms = cs->lc_end[t->first_lc + 3 * (uint64_t)t->n_rows - 1] - t->first_term;
	if (n_terms * WIRE_TERM + 12 * (uint64_t)t->n_rows > UINT32_MAX)
		return -E2BIG;
	w->bytes = malloc(n_terms * WIRE_TERM + 12 * (uint64_t)t->n_rows + 1);
	w->row = calloc((size_t)t->n_rows + 1, sizeof(*w->row));
	w->patch_end = calloc((size_t)t->n_rows + 1, sizeof(*w->patch_end));
	w->patches = calloc(n_terms + 1, sizeof(*w->patches));
	w->sorted = calloc((size_t)t->n_rows / 64 + 1, sizeof(*w->sorted));
	if (!w->bytes || !w->row || !w->patch_end || !w->patches || !w->sorted) {
		wire_fini(w);
		return -ENOMEM;
	}
	for (row = 0; row < t->n_rows; row++) {
		w->row[row] = at;
		for (k = 0; k < 3; k++) {
			uint64_t count_at = at;
			uint32_t ports = 0, inputs = 0;

			term_range(cs, t, row, k, &first, &end);
			at += 4;
			for (i = first, n = 0; i < end; i++) {
				const struct cs_term *term = &cs->terms[i];
				enum cs_ref_kind kind = CS_REF_KIND(term->ref);
				uint32_t coeff = cs_one_coeff(cs, t, term->coeff);

				if (coeff == CS_COEFF_ZERO)
					continue;
				ports += kind == CS_REF_PORT;
				inputs += kind == CS_REF_INPUT;
				w->bytes[at] = kind == CS_REF_AUX;
				put_u32(&w->bytes[at + 1], 0);
				memcpy(&w->bytes[at + 5], coeff_bytes[coeff], 32);
				if (kind != CS_REF_ONE)
					w->patches[n_patches++] =
						(struct wire_patch){ at, term->ref };
				at += WIRE_TERM;
				n++;
			}
			put_u32(&w->bytes[count_at], n);
			w->nnz[k] += n;
			if (end - first > w->max_lc)
				w->max_lc = end - first;
			if (ports > 1 || (ports && inputs))
				w->sorted[row / 64] |= UINT64_C(1) << (row % 64);
		}
		w->patch_end[row] = n_patches;
	}
	w->row[t->n_rows] = at;
	return 0;
}

void wire_fini(struct wire *w)
{
	free(w->bytes);
	free(w->row);
	free(w->patch_end);
	free(w->patches);
	free(w->sorted);
	memset(w, 0, sizeof(*w));
}

static inline uint64_t key_of(const struct cs *cs, const struct cs_instance *inst, uint32_t ref)
{
	const uint64_t aux = UINT64_C(1) << 32;
	uint32_t i = CS_REF_INDEX(ref), var;

	switch (CS_REF_KIND(ref)) {
	case CS_REF_AUX:
		return aux | (inst->aux_base + i);
	case CS_REF_INPUT:
		return inst->input_base + i;
	case CS_REF_PORT:
		var = cs->ports[inst->port_base + i];
		return CS_VAR_IS_INPUT(var) ? CS_VAR_INDEX(var) : aux | var;
	default:
		return 0;
	}
}

/* Merge sort of natural runs: bound ports come in a few of them. */
static struct wire_term *sort_terms(struct wire_term *t, struct wire_term *tmp, size_t n)
{
	for (;;) {
		size_t i = 0, out = 0, runs = 0;
		struct wire_term *swap;

		while (i < n) {
			size_t a = i, ae, b, be;

			for (ae = a + 1; ae < n && t[ae - 1].key <= t[ae].key; ae++)
				;
			b = ae;
			for (be = b < n ? b + 1 : n; be < n && t[be - 1].key <= t[be].key; be++)
				;
			i = be;
			while (a < ae && b < be)
				tmp[out++] = t[b].key < t[a].key ? t[b++] : t[a++];
			while (a < ae)
				tmp[out++] = t[a++];
			while (b < be)
				tmp[out++] = t[b++];
			runs++;
		}
		swap = t;
		t = tmp;
		tmp = swap;
		if (runs <= 1)
			return t;
	}
}

static void sorted_row(const struct wire *w, const struct cs *cs, const struct cs_instance *inst,
		       uint32_t row, const uint8_t (*coeff_bytes)[32], struct wire_term *tmp,
		       uint8_t *out)
{
	const struct cs_template *t = &cs->templates[inst->tmpl];
	uint32_t first, end, i, n;
	unsigned int k;

	for (k = 0; k < 3; k++) {
		struct wire_term *s;

		term_range(cs, t, row, k, &first, &end);
		for (i = first, n = 0; i < end; i++) {
			uint32_t coeff = cs_one_coeff(cs, t, cs->terms[i].coeff);

			if (coeff != CS_COEFF_ZERO)
				tmp[n++] = (struct wire_term){ key_of(cs, inst, cs->terms[i].ref),
							       coeff };
		}
		s = sort_terms(tmp, tmp + w->max_lc, n);
		put_u32(out, n);
		out += 4;
		for (i = 0; i < n; i++, out += WIRE_TERM) {
			out[0] = s[i].key >> 32;
			put_u32(out + 1, s[i].key);
			memcpy(out + 5, coeff_bytes[s[i].coeff], 32);
		}
	}
}

void wire_row(const struct wire *w, const struct cs *cs, const struct cs_instance *inst,
	      uint32_t row, const uint8_t (*coeff_bytes)[32], struct wire_term *tmp, uint8_t *out)
{
	uint32_t base = w->row[row], i;

	if (w->sorted[row / 64] >> (row % 64) & 1) {
		sorted_row(w, cs, inst, row, coeff_bytes, tmp, out);
		return;
	}
	memcpy(out, w->bytes + base, w->row[row + 1] - base);
	for (i = row ? w->patch_end[row - 1] : 0; i < w->patch_end[row]; i++) {
		uint64_t key = key_of(cs, inst, w->patches[i].ref);
		uint8_t *p = out + (w->patches[i].at - base);

		p[0] = key >> 32;
		put_u32(p + 1, key);
	}
}
