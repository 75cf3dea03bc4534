/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* bench-dense.c - the classic way to hold a system, to compare with */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/cs/system.h"
#include "tools/bench-dense.h"

#define CHUNK 4096u	/* rows */

struct matrix {
	uint64_t *end;		/* of each row's terms */
	uint32_t *column;
	struct fr *coeff;
};

struct dense {
	const struct cs *cs;
	struct matrix m[3];
};

/* Number of terms of each matrix, without the x_i * 0 = 0 rows. */
static void count_terms(const struct cs *cs, uint64_t n[3])
{
	uint64_t *per_template = calloc(cs->n_templates, 3 * sizeof(uint64_t));
	uint32_t i, r;
	int k;

	n[0] = n[1] = n[2] = 0;
	if (!per_template)
		return;
	for (i = 0; i < cs->n_templates; i++) {
		const struct cs_template *t = &cs->templates[i];
		uint64_t at = t->first_term;

		for (r = 0; r < 3 * t->n_rows; r++) {
			per_template[3 * i + r % 3] += cs->lc_end[t->first_lc + r] - at;
			at = cs->lc_end[t->first_lc + r];
		}
	}
	for (i = 0; i < cs->n_instances; i++)
		for (k = 0; k < 3; k++)
			n[k] += per_template[3ull * cs->instances[i].tmpl + k];
	free(per_template);
}

uint64_t dense_bytes(const struct cs *cs)
{
	uint64_t n[3], rows = cs->n_rows + cs->n_inputs;

	count_terms(cs, n);
	return (n[0] + n[1] + n[2] + cs->n_inputs) * (sizeof(uint32_t) + sizeof(struct fr)) +
	       3 * rows * sizeof(uint64_t);
}

static uint32_t column_of(const struct cs *cs, const struct cs_instance *inst, uint32_t ref)
{
	uint32_t i = CS_REF_INDEX(ref), var;

	switch (CS_REF_KIND(ref)) {
	case CS_REF_AUX:
		return cs->n_inputs + inst->aux_base + i;
	case CS_REF_INPUT:
		return inst->input_base + i;
	case CS_REF_PORT:
		var = cs->ports[inst->port_base + i];
		return CS_VAR_INDEX(var) + (CS_VAR_IS_INPUT(var) ? 0 : cs->n_inputs);
	case CS_REF_ONE:
		break;
	}
	return 0;
}

static void expand(struct dense *d, const struct cs_instance *inst, uint64_t n[3])
{
	const struct cs *cs = d->cs;
	const struct cs_template *t = &cs->templates[inst->tmpl];
	uint64_t at = t->first_term;
	uint32_t r;

	for (r = 0; r < 3 * t->n_rows; r++) {
		struct matrix *m = &d->m[r % 3];

		for (; at < cs->lc_end[t->first_lc + r]; at++) {
			const struct cs_term *term = &cs->terms[at];

			m->column[n[r % 3]] = column_of(cs, inst, term->ref);
			m->coeff[n[r % 3]++] = cs->coeffs[cs_one_coeff(cs, t, term->coeff)];
		}
		m->end[inst->row_base + r / 3] = n[r % 3];
	}
}

int dense_open(struct dense **out, const struct cs *cs)
{
	struct dense *d = calloc(1, sizeof(*d));
	uint64_t n[3], rows = cs->n_rows + cs->n_inputs;
	uint32_t i;
	int k;

	if (!d)
		return -ENOMEM;
	d->cs = cs;
	count_terms(cs, n);
	for (k = 0; k < 3; k++) {
		struct matrix *m = &d->m[k];
		uint64_t terms = n[k] + (k == 0 ? cs->n_inputs : 0) + 1;

		m->end = malloc(rows * sizeof(*m->end));
		m->column = malloc(terms * sizeof(*m->column));
		m->coeff = malloc(terms * sizeof(*m->coeff));
		if (!m->end || !m->column || !m->coeff) {
			dense_close(d);
			return -ENOMEM;
		}
		n[k] = 0;
	}
	for (i = 0; i < cs->n_instances; i++)
		expand(d, &cs->instances[i], n);
	for (i = 0; i < cs->n_inputs; i++) {
		d->m[0].column[n[0]] = i;
		d->m[0].coeff[n[0]++] = fr_one;
		for (k = 0; k < 3; k++)
			d->m[k].end[cs->n_rows + i] = n[k];
	}
	*out = d;
	return 0;
}

void dense_close(struct dense *d)
{
	int k;

	if (!d)
		return;
	for (k = 0; k < 3; k++) {
		free(d->m[k].end);
		free(d->m[k].column);
		free(d->m[k].coeff);
	}
	free(d);
}

struct fr *dense_witness(const struct cs *cs, const struct cs_witness *w)
{
	struct fr *v = malloc(((size_t)cs->n_inputs + cs->n_aux) * sizeof(*v));
	uint32_t i;

	if (!v)
		return NULL;
	memcpy(v, w->inputs, cs->n_inputs * sizeof(*v));
	for (i = 0; i < cs->n_aux; i++)
		cs_witness_get(cs, w, i, &v[cs->n_inputs + i]);
	return v;
}

struct evaluation {
	const struct dense *d;
	const struct fr *witness;
	struct fr *out[3];
};

static void evaluate_chunk(void *arg, size_t chunk, unsigned int thread)
{
	struct evaluation *e = arg;
	uint64_t rows = e->d->cs->n_rows + e->d->cs->n_inputs;
	uint64_t first = (uint64_t)chunk * CHUNK, last = first + CHUNK, row, at;
	uint64_t domain = UINT64_C(1) << e->d->cs->log_domain;
	int k;

	(void)thread;
	if (last > domain)
		last = domain;
	for (k = 0; k < 3; k++) {
		const struct matrix *m = &e->d->m[k];

		for (row = first; row < last; row++) {
			struct fr sum = fr_zero, x;

			if (row < rows) {
				for (at = row ? m->end[row - 1] : 0; at < m->end[row]; at++) {
					fr_mul(&x, &m->coeff[at], &e->witness[m->column[at]]);
					fr_add(&sum, &sum, &x);
				}
			}
			e->out[k][row] = sum;
		}
	}
}

void dense_evaluate(const struct dense *d, struct tpool *pool, const struct fr *witness,
		    struct fr *a, struct fr *b, struct fr *c)
{
	struct evaluation e = { d, witness, { a, b, c } };
	uint64_t domain = UINT64_C(1) << d->cs->log_domain;

	tpool_run(pool, evaluate_chunk, &e, (domain + CHUNK - 1) / CHUNK);
}

bool dense_check(const struct cs *cs, const struct cs_witness *w, const struct fr *a,
		 const struct fr *b, const struct fr *c)
{
	static struct fr want[3][CHUNK];
	uint64_t domain = UINT64_C(1) << cs->log_domain, first, n;

	for (first = 0; first < domain; first += n) {
		n = domain - first < CHUNK ? domain - first : CHUNK;
		cs_eval_rows(cs, w, first, n, want[0], want[1], want[2]);
		if (memcmp(want[0], a + first, n * sizeof(*a)) ||
		    memcmp(want[1], b + first, n * sizeof(*b)) ||
		    memcmp(want[2], c + first, n * sizeof(*c)))
			return false;
	}
	return true;
}
