/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * random-cs.h - random constraint systems with every kind of term, and their
 * values by a dense evaluation
 */
#ifndef CUZK_T_RANDOM_CS_H
#define CUZK_T_RANDOM_CS_H

#include <stdlib.h>
#include <string.h>

#include "lib/cs.h"

#define MAX_PORTS 12
#define N_OWN 4		/* own coefficients of a template */
#define N_COEFFS (CS_COEFF_OTHER + 40)

static uint64_t seed = 1234567891234567;

static inline uint64_t rnd(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static inline void rnd_fr(struct fr *r)
{
	int i;

	for (i = 0; i < 4; i++)
		r->l[i] = rnd();
	r->l[3] >>= 2;
}

static inline void *xalloc(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size);

	if (!p)
		abort();
	return p;
}

/*
 * A system and its values twice: as struct cs_witness, and dense.  Row r of a
 * template has the template's aux variable r, a full one, in C only, so that
 * the rows can be satisfied.
 */
struct sys {
	struct cs cs;
	struct cs_template *templates;
	struct cs_instance *instances;
	struct fr *coeffs;
	uint32_t *lc_end, *slots, *ports, *own, *full_rank;
	struct cs_term *terms;
	uint64_t *full_map, *density[3];	/* of cs: a_aux, b_input, b_aux */
	struct cs_witness w;
	struct fr *aux;			/* dense */
	struct fr *want[3];		/* dense result */
};

static inline uint32_t rnd_coeff(void)
{
	switch (rnd() % 8) {
	case 0:
		return CS_COEFF_ZERO;
	case 1:
		return CS_COEFF_ONE;
	case 2:
		return CS_COEFF_MINUS_ONE;
	case 3:
		return CS_COEFF_ONE + rnd() % 255;
	case 4:
		return CS_COEFF_MINUS_ONE + rnd() % 255;
	case 5:
		return CS_COEFF_ONE + rnd() % 8;
	}
	return CS_COEFF_OTHER + rnd() % (N_COEFFS - CS_COEFF_OTHER);
}

static inline void fill_coeffs(struct fr *c)
{
	struct fr p = fr_one;
	int k;

	for (k = 0; k < 255; k++) {
		c[CS_COEFF_ONE + k] = p;
		fr_neg(&c[CS_COEFF_MINUS_ONE + k], &p);
		fr_add(&p, &p, &p);
	}
	for (k = CS_COEFF_OTHER; k < N_COEFFS; k++)
		rnd_fr(&c[k]);
}

/* Terms of one combination; long ones now and then, to pass every buffer's end. */
static inline void fill_lc(struct sys *s, const struct cs_template *t, bool is_c, uint32_t row)
{
	struct cs *cs = &s->cs;
	uint32_t n = rnd() % 6;

	if (rnd() % 16 == 0)
		n = 60 + rnd() % 100;
	/* all powers of two, each several times: sums that carry */
	if (rnd() % 16 == 1) {
		uint32_t sign = rnd() % 2 ? CS_COEFF_ONE : CS_COEFF_MINUS_ONE, k;

		for (k = 0; k < 3 * 255; k++)
			s->terms[cs->n_terms++] = (struct cs_term){ CS_REF(CS_REF_ONE, 0),
								    sign + k % 255 };
	}
	while (n--) {
		struct cs_term *term = &s->terms[cs->n_terms];

		term->coeff = rnd_coeff();
		switch (rnd() % 4) {
		case 0:
			term->ref = CS_REF(CS_REF_ONE, 0);
			if (rnd() % 2)
				term->coeff = CS_COEFF_OWN | (uint32_t)(rnd() % N_OWN);
			break;
		case 1:
			if (t->n_aux == t->n_rows)
				continue;
			term->ref = CS_REF(CS_REF_AUX, t->n_rows + rnd() % (t->n_aux - t->n_rows));
			break;
		case 2:
			if (!t->n_ports)
				continue;
			term->ref = CS_REF(CS_REF_PORT, rnd() % t->n_ports);
			break;
		default:
			if (!t->n_inputs)
				continue;
			term->ref = CS_REF(CS_REF_INPUT, rnd() % t->n_inputs);
			break;
		}
		cs->n_terms++;
	}
	if (is_c)
		s->terms[cs->n_terms++] = (struct cs_term){ CS_REF(CS_REF_AUX, row), CS_COEFF_ONE };
	s->lc_end[cs->n_lcs++] = cs->n_terms;
}

static inline void dense_term(struct sys *s, const struct cs_instance *inst, const struct cs_term *term,
		       struct fr *acc)
{
	uint32_t i = CS_REF_INDEX(term->ref), var;
	uint32_t coeff = term->coeff;
	const struct fr *v = &fr_one;
	struct fr t;

	switch (CS_REF_KIND(term->ref)) {
	case CS_REF_ONE:
		if (coeff & CS_COEFF_OWN)
			coeff = s->own[N_OWN * inst->tmpl + (coeff & ~CS_COEFF_OWN)];
		break;
	case CS_REF_AUX:
		v = &s->aux[inst->aux_base + i];
		break;
	case CS_REF_INPUT:
		v = &s->w.inputs[inst->input_base + i];
		break;
	case CS_REF_PORT:
		var = s->ports[inst->port_base + i];
		v = CS_VAR_IS_INPUT(var) ? &s->w.inputs[CS_VAR_INDEX(var)] : &s->aux[var];
		break;
	}
	fr_mul(&t, v, &s->coeffs[coeff]);
	fr_add(acc, acc, &t);
}

/* Values of an instance's variables, and of its rows, which they are made to satisfy. */
static inline void dense_instance(struct sys *s, const struct cs_instance *inst)
{
	const struct cs_template *t = &s->templates[inst->tmpl];
	uint64_t term = t->first_term;
	uint32_t i;
	int k;

	for (i = 0; i < t->n_inputs; i++)
		rnd_fr(&s->w.inputs[inst->input_base + i]);
	for (i = t->n_rows; i < t->n_aux; i++) {
		struct fr *v = &s->aux[inst->aux_base + i];

		if (s->slots[t->first_slot + i] & CS_SLOT_FULL)
			rnd_fr(v);
		else
			*v = rnd() % 2 ? fr_one : fr_zero;
	}
	for (i = 0; i < t->n_rows; i++) {
		struct fr v[3] = { 0 };

		for (k = 0; k < 3; k++) {
			uint64_t end = s->lc_end[t->first_lc + 3 * i + k];

			for (; term < end; term++)
				dense_term(s, inst, &s->terms[term], &v[k]);
		}
		/* the own variable was 0 so far */
		fr_mul(&s->aux[inst->aux_base + i], &v[0], &v[1]);
		fr_sub(&s->aux[inst->aux_base + i], &s->aux[inst->aux_base + i], &v[2]);
		fr_mul(&v[2], &v[0], &v[1]);
		for (k = 0; k < 3; k++)
			s->want[k][inst->row_base + i] = v[k];
	}
}

static inline void sys_close(struct sys *s)
{
	int k;

	free(s->templates);
	free(s->instances);
	free(s->coeffs);
	free(s->lc_end);
	free(s->slots);
	free(s->ports);
	free(s->own);
	free(s->full_rank);
	free(s->terms);
	free(s->full_map);
	free(s->w.inputs);
	free(s->w.bits);
	free(s->w.full);
	free(s->aux);
	for (k = 0; k < 3; k++) {
		free(s->want[k]);
		free(s->density[k]);
	}
}

/* Which variables have a coefficient that is not zero in A (k = 0) or B (1), from the terms. */
static inline void mark_instance(struct sys *s, const struct cs_instance *inst)
{
	const struct cs_template *t = &s->templates[inst->tmpl];
	uint64_t term = t->first_term, lc;

	for (lc = 0; lc < 3 * (uint64_t)t->n_rows; lc++) {
		for (; term < s->lc_end[t->first_lc + lc]; term++) {
			uint32_t ref = s->terms[term].ref, i = CS_REF_INDEX(ref);
			bool input = CS_REF_KIND(ref) != CS_REF_AUX;

			if (lc % 3 == 2 || s->terms[term].coeff == CS_COEFF_ZERO)
				continue;
			if (s->terms[term].coeff & CS_COEFF_OWN &&
			    cs_one_coeff(&s->cs, t, s->terms[term].coeff) == CS_COEFF_ZERO)
				continue;
			if (CS_REF_KIND(ref) == CS_REF_AUX) {
				i += inst->aux_base;
			} else if (CS_REF_KIND(ref) == CS_REF_INPUT) {
				i += inst->input_base;
			} else if (CS_REF_KIND(ref) == CS_REF_PORT) {
				input = CS_VAR_IS_INPUT(s->ports[inst->port_base + i]);
				i = CS_VAR_INDEX(s->ports[inst->port_base + i]);
			}
			if (lc % 3 == 1)
				s->density[input ? 1 : 2][i / 64] |= 1ull << i % 64;
			else if (!input)
				s->density[0][i / 64] |= 1ull << i % 64;
		}
	}
}

static inline uint32_t count_bits(const uint64_t *map, uint32_t n)
{
	uint32_t i, count = 0;

	for (i = 0; i < n; i++)
		count += map[i / 64] >> i % 64 & 1;
	return count;
}

/* Values of all variables, and the maps of which are full. */
static inline void sys_values(struct sys *s)
{
	struct cs *cs = &s->cs;
	uint32_t i, j, full;

	for (i = 0; i < cs->n_instances; i++)
		dense_instance(s, &s->instances[i]);
	for (i = 0; i < cs->n_inputs; i++)
		s->want[0][cs->n_rows + i] = s->w.inputs[i];
	for (i = 0, full = 0; i < cs->n_instances; i++) {
		const struct cs_instance *inst = &s->instances[i];
		const struct cs_template *t = &s->templates[inst->tmpl];

		for (j = 0; j < t->n_aux; j++) {
			uint32_t v = inst->aux_base + j;

			if (v % 512 == 0)
				s->full_rank[v / 512] = full;
			if (s->slots[t->first_slot + j] & CS_SLOT_FULL) {
				s->full_map[v / 64] |= 1ull << v % 64;
				s->w.full[full++] = s->aux[v];
			} else if (!fr_is_zero(&s->aux[v])) {
				s->w.bits[v / 64] |= 1ull << v % 64;
			}
		}
	}
}

/* The same system with other values. */
static inline void sys_again(struct sys *s)
{
	memset(s->aux, 0, s->cs.n_aux * sizeof(*s->aux));
	memset(s->w.bits, 0, (s->cs.n_aux / 64 + 1) * sizeof(*s->w.bits));
	sys_values(s);
}

/* max_rows of a template; one template and one instance make a flat system */
static inline void sys_open(struct sys *s, uint32_t n_templates, uint32_t n_instances, uint32_t max_rows)
{
	struct cs *cs = &s->cs;
	uint32_t i, j, max_aux = max_rows + 40;
	uint64_t n_all;
	int k;

	memset(s, 0, sizeof(*s));
	s->templates = xalloc(n_templates, sizeof(*s->templates));
	s->instances = xalloc(n_instances, sizeof(*s->instances));
	s->coeffs = xalloc(N_COEFFS, sizeof(*s->coeffs));
	s->lc_end = xalloc(3 * (size_t)n_templates * max_rows, sizeof(*s->lc_end));
	s->slots = xalloc((size_t)n_templates * max_aux, sizeof(*s->slots));
	s->ports = xalloc((size_t)n_instances * MAX_PORTS, sizeof(*s->ports));
	s->terms = xalloc(3 * (size_t)n_templates * max_rows * 100 + 10000, sizeof(*s->terms));
	s->own = xalloc((size_t)n_templates * N_OWN, sizeof(*s->own));
	fill_coeffs(s->coeffs);
	for (i = 0; i < n_templates; i++) {
		struct cs_template *t = &s->templates[i];

		/* one of them has no rows at all */
		t->n_rows = i == 1 ? 0 : max_rows - rnd() % (max_rows / 4 + 1);
		t->n_aux = t->n_rows + rnd() % 40;
		t->n_inputs = n_templates == 1 ? 5 : rnd() % 3;
		t->n_ports = i == 0 ? 0 : rnd() % MAX_PORTS;
		t->first_lc = cs->n_lcs;
		t->first_term = cs->n_terms;
		t->first_slot = cs->n_slots;
		t->first_own = cs->n_own;
		for (j = 0; j < N_OWN; j++)
			s->own[cs->n_own++] = rnd_coeff();
		for (j = 0; j < t->n_aux; j++) {
			bool is_full = j < t->n_rows || rnd() % 4 == 0;

			s->slots[cs->n_slots++] = is_full ? CS_SLOT_FULL | t->n_full++ : CS_SLOT_BIT;
		}
		for (j = 0; j < t->n_rows; j++)
			for (k = 0; k < 3; k++)
				fill_lc(s, t, k == 2, j);
	}
	cs->n_inputs = 1;
	for (i = 0; i < n_instances; i++) {
		struct cs_instance *inst = &s->instances[i];
		const struct cs_template *t;

		inst->tmpl = i ? rnd() % n_templates : 0;
		t = &s->templates[inst->tmpl];
		inst->row_base = cs->n_rows;
		inst->aux_base = cs->n_aux;
		inst->full_base = cs->n_full;
		inst->input_base = cs->n_inputs;
		inst->port_base = cs->n_ports;
		for (j = 0; j < t->n_ports; j++)
			s->ports[cs->n_ports++] = rnd() % 4 == 0 ?
				CS_VAR_INPUT | (uint32_t)(rnd() % cs->n_inputs) : rnd() % cs->n_aux;
		cs->n_rows += t->n_rows;
		cs->n_aux += t->n_aux;
		cs->n_full += t->n_full;
		cs->n_inputs += t->n_inputs;
	}
	while (1ull << cs->log_domain < cs->n_rows + cs->n_inputs)
		cs->log_domain++;
	n_all = 1ull << cs->log_domain;
	s->full_map = xalloc(cs->n_aux / 64 + 1, 8);
	s->full_rank = xalloc(cs->n_aux / 512 + 1, 4);
	s->w.inputs = xalloc(cs->n_inputs, sizeof(struct fr));
	s->w.inputs[0] = fr_one;
	s->w.bits = xalloc(cs->n_aux / 64 + 1, 8);
	s->w.full = xalloc(cs->n_full, sizeof(struct fr));
	s->aux = xalloc(cs->n_aux, sizeof(struct fr));
	for (k = 0; k < 3; k++)
		s->want[k] = xalloc(n_all, sizeof(struct fr));
	cs->n_templates = n_templates;
	cs->n_instances = n_instances;
	sys_values(s);
	cs->n_coeffs = N_COEFFS;
	cs->templates = s->templates;
	cs->instances = s->instances;
	cs->coeffs = s->coeffs;
	cs->lc_end = s->lc_end;
	cs->terms = s->terms;
	cs->slots = s->slots;
	cs->ports = s->ports;
	cs->own = s->own;
	cs->full_map = s->full_map;
	cs->full_rank = s->full_rank;
	s->density[0] = xalloc(cs->n_aux / 64 + 1, 8);
	s->density[1] = xalloc(cs->n_inputs / 64 + 1, 8);
	s->density[2] = xalloc(cs->n_aux / 64 + 1, 8);
	for (i = 0; i < n_instances; i++)
		mark_instance(s, &s->instances[i]);
	cs->a_aux_density = s->density[0];
	cs->b_input_density = s->density[1];
	cs->b_aux_density = s->density[2];
	cs->n_a_aux = count_bits(s->density[0], cs->n_aux);
	cs->n_b_input = count_bits(s->density[1], cs->n_inputs);
	cs->n_b_aux = count_bits(s->density[2], cs->n_aux);
}

#endif
