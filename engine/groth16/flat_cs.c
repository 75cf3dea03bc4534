/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* flat_cs.c - a struct cs from plain rows: one template, one instance */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/groth16/flat_cs.h"

struct flat_cs {
	struct cs cs;
	struct cs_template tmpl;
	struct cs_instance inst;
	uint64_t max_terms;
	uint64_t n_lcs;		/* added so far */

	uint32_t *lc_end;
	struct cs_term *terms;
	uint32_t *slots;
	uint64_t *a_aux, *b_input, *b_aux, *full_map;
	uint32_t *full_rank;

	struct fr *coeffs;
	uint32_t n_coeffs, max_coeffs;
	/* open addressing over coeffs: index + 1, 0 empty; 2^log_table entries */
	uint32_t *table;
	unsigned int log_table;
};

static size_t words(size_t bits)
{
	return (bits + 63) / 64;
}

static uint32_t *table_slot(const struct flat_cs *f, const struct fr *v)
{
	uint64_t mask = (1ull << f->log_table) - 1;
	uint64_t h = (v->l[0] ^ v->l[1] * 3 ^ v->l[2] * 5 ^ v->l[3] * 7) * 0x9e3779b97f4a7c15ull;
	uint64_t i = h >> (64 - f->log_table);

	while (f->table[i] && !fr_equal(&f->coeffs[f->table[i] - 1], v))
		i = (i + 1) & mask;
	return &f->table[i];
}

static int table_grow(struct flat_cs *f)
{
	uint32_t *old = f->table, i;
	struct fr *coeffs;

	f->log_table++;
	f->table = calloc(1ull << f->log_table, sizeof(*f->table));
	if (!f->table) {
		f->table = old;
		f->log_table--;
		return -ENOMEM;
	}
	free(old);
	for (i = 0; i < f->n_coeffs; i++)
		*table_slot(f, &f->coeffs[i]) = i + 1;
	coeffs = realloc(f->coeffs, (sizeof(*coeffs) << f->log_table) / 2);
	if (!coeffs)
		return -ENOMEM;
	f->coeffs = coeffs;
	f->max_coeffs = (1u << f->log_table) / 2;
	return 0;
}

static int coeff_index(struct flat_cs *f, const struct fr *v, uint32_t *index)
{
	uint32_t *slot = table_slot(f, v);
	int ret;

	if (!*slot) {
		if (f->n_coeffs == f->max_coeffs) {
			ret = table_grow(f);
			if (ret)
				return ret;
			slot = table_slot(f, v);
		}
		f->coeffs[f->n_coeffs] = *v;
		*slot = ++f->n_coeffs;
	}
	*index = *slot - 1;
	return 0;
}

/* Zero, the powers of two and their negatives; the first of equal ones is found. */
static void fixed_coeffs(struct flat_cs *f)
{
	struct fr power = fr_one;
	uint32_t i;

	f->coeffs[CS_COEFF_ZERO] = fr_zero;
	for (i = 0; i < CS_COEFF_MINUS_ONE - CS_COEFF_ONE; i++) {
		f->coeffs[CS_COEFF_ONE + i] = power;
		fr_neg(&f->coeffs[CS_COEFF_MINUS_ONE + i], &power);
		fr_double(&power, &power);
	}
	f->n_coeffs = CS_COEFF_OTHER;
	for (i = 0; i < f->n_coeffs; i++) {
		uint32_t *slot = table_slot(f, &f->coeffs[i]);

		if (!*slot)
			*slot = i + 1;
	}
}

int flat_cs_open(struct flat_cs **out, uint32_t n_inputs, uint32_t n_aux, uint32_t n_rows,
		 uint64_t n_terms)
{
	struct flat_cs *f;

	/* lc_end counts terms in 32 bits */
	if (n_inputs < 1 || n_inputs > FLAT_WIRES_MAX || n_aux >= FLAT_WIRES_MAX ||
	    n_rows > FLAT_ROWS_MAX || n_terms > UINT32_MAX)
		return -EINVAL;
	f = calloc(1, sizeof(*f));
	if (!f)
		return -ENOMEM;
	f->max_terms = n_terms;
	f->cs.n_rows = n_rows;
	f->cs.n_inputs = n_inputs;
	f->cs.n_aux = f->cs.n_full = n_aux;
	f->log_table = 12;
	f->max_coeffs = (1u << f->log_table) / 2;
	f->lc_end = malloc((3ull * n_rows + 1) * sizeof(*f->lc_end));
	f->terms = malloc((n_terms + 1) * sizeof(*f->terms));
	f->slots = malloc((n_aux + 1ull) * sizeof(*f->slots));
	f->a_aux = calloc(words(n_aux) + 1, 8);
	f->b_aux = calloc(words(n_aux) + 1, 8);
	f->full_map = calloc(words(n_aux) + 1, 8);
	f->b_input = calloc(words(n_inputs) + 1, 8);
	f->full_rank = calloc(words(n_aux) / 8 + 2, sizeof(*f->full_rank));
	f->coeffs = malloc(f->max_coeffs * sizeof(*f->coeffs));
	f->table = calloc(1ull << f->log_table, sizeof(*f->table));
	if (!f->lc_end || !f->terms || !f->slots || !f->a_aux || !f->b_aux || !f->full_map ||
	    !f->b_input || !f->full_rank || !f->coeffs || !f->table) {
		flat_cs_close(f);
		return -ENOMEM;
	}
	fixed_coeffs(f);
	*out = f;
	return 0;
}

static int by_wire(const void *a, const void *b)
{
	uint32_t x = ((const struct flat_term *)a)->wire, y = ((const struct flat_term *)b)->wire;

	return (x > y) - (x < y);
}

static void set_bit(uint64_t *map, uint32_t i)
{
	map[i / 64] |= 1ull << i % 64;
}

static uint32_t wire_ref(struct flat_cs *f, uint32_t wire, unsigned int matrix)
{
	uint32_t n_inputs = f->cs.n_inputs;

	if (wire >= n_inputs) {
		wire -= n_inputs;
		if (matrix < 2)
			set_bit(matrix ? f->b_aux : f->a_aux, wire);
		return CS_REF(CS_REF_AUX, wire);
	}
	if (matrix == 1)
		set_bit(f->b_input, wire);
	return wire ? CS_REF(CS_REF_INPUT, wire - 1) : CS_REF(CS_REF_ONE, 0);
}

int flat_cs_add(struct flat_cs *f, struct flat_term *terms, size_t n)
{
	unsigned int matrix = f->n_lcs % 3;
	bool sorted = true;
	size_t i, k;
	int ret;

	if (f->n_lcs == 3 * f->cs.n_rows || n > f->max_terms - f->cs.n_terms)
		return -EINVAL;
	for (i = 0; i < n; i++) {
		if (terms[i].wire >= (uint64_t)f->cs.n_inputs + f->cs.n_aux)
			return -EINVAL;
		sorted = sorted && (!i || terms[i].wire > terms[i - 1].wire);
	}
	if (!sorted)
		qsort(terms, n, sizeof(*terms), by_wire);
	for (i = 0; i < n; i = k) {
		struct cs_term *t = &f->terms[f->cs.n_terms];
		struct fr sum = terms[i].coeff;

		for (k = i + 1; k < n && terms[k].wire == terms[i].wire; k++)
			fr_add(&sum, &sum, &terms[k].coeff);
		if (fr_is_zero(&sum))
			continue;
		ret = coeff_index(f, &sum, &t->coeff);
		if (ret)
			return ret;
		t->ref = wire_ref(f, terms[i].wire, matrix);
		f->cs.n_terms++;
	}
	f->lc_end[f->n_lcs++] = f->cs.n_terms;
	return 0;
}

static uint32_t popcount(const uint64_t *map, size_t n_words)
{
	uint32_t n = 0;
	size_t i;

	for (i = 0; i < n_words; i++)
		n += __builtin_popcountll(map[i]);
	return n;
}

int flat_cs_finish(struct flat_cs *f)
{
	struct cs *cs = &f->cs;
	size_t n_words = words(cs->n_aux), i;
	uint32_t rank = 0;

	if (f->n_lcs != 3 * cs->n_rows)
		return -EINVAL;
	for (i = 0; i < cs->n_aux; i++) {
		f->slots[i] = CS_SLOT_FULL | i;
		set_bit(f->full_map, i);
	}
	for (i = 0; i <= n_words; i++) {
		if (i % 8 == 0)
			f->full_rank[i / 8] = rank;
		rank += __builtin_popcountll(f->full_map[i]);
	}
	while (1ull << cs->log_domain < cs->n_rows + cs->n_inputs)
		cs->log_domain++;

	f->tmpl.n_rows = cs->n_rows;
	f->tmpl.n_aux = f->tmpl.n_full = cs->n_aux;
	f->tmpl.n_inputs = cs->n_inputs - 1;
	f->inst.input_base = 1;
	cs->n_templates = cs->n_instances = 1;
	cs->n_coeffs = f->n_coeffs;
	cs->n_lcs = f->n_lcs;
	cs->n_slots = cs->n_aux;
	cs->names = "r1cs";
	cs->names_size = sizeof("r1cs");
	cs->templates = &f->tmpl;
	cs->instances = &f->inst;
	cs->coeffs = f->coeffs;
	cs->lc_end = f->lc_end;
	cs->terms = f->terms;
	cs->slots = f->slots;
	cs->ports = f->slots;	/* none: any address */
	cs->a_aux_density = f->a_aux;
	cs->b_input_density = f->b_input;
	cs->b_aux_density = f->b_aux;
	cs->n_a_aux = popcount(f->a_aux, n_words);
	cs->n_b_aux = popcount(f->b_aux, n_words);
	cs->n_b_input = popcount(f->b_input, words(cs->n_inputs));
	cs->full_map = f->full_map;
	cs->full_rank = f->full_rank;
	return 0;
}

const struct cs *flat_cs_get(const struct flat_cs *f)
{
	return &f->cs;
}

void flat_cs_close(struct flat_cs *f)
{
	if (!f)
		return;
	free(f->lc_end);
	free(f->terms);
	free(f->slots);
	free(f->a_aux);
	free(f->b_aux);
	free(f->full_map);
	free(f->b_input);
	free(f->full_rank);
	free(f->coeffs);
	free(f->table);
	free(f);
}
