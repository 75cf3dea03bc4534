/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * transpose.c - sums over rows for each variable, for parameter generation
 *
 * A thread sums an instance's rows by the template's own names in memory of
 * its own, then adds the sums to the variables under striped locks: one
 * variable may be a port of instances on other threads.
 */
#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "engine/cs/system.h"

#define STRIPE 32	/* consecutive variables of a lock */
#define N_LOCKS 4096

struct transpose {
	const struct cs *cs;
	const struct fr *l;
	struct fr *out[3];
	struct fr *local;		/* threads * n_local * 3 */
	size_t n_local;
	atomic_flag locks[N_LOCKS];
};

static void lock(atomic_flag *f)
{
	while (atomic_flag_test_and_set_explicit(f, memory_order_acquire))
		sched_yield();
}

static void unlock(atomic_flag *f)
{
	atomic_flag_clear_explicit(f, memory_order_release);
}

static void add_coeff(struct fr *sum, const struct cs *cs, uint32_t coeff, const struct fr *l)
{
	struct fr x;

	switch (coeff) {
	case CS_COEFF_ZERO:
		return;
	case CS_COEFF_ONE:
		fr_add(sum, sum, l);
		return;
	case CS_COEFF_ONE + 1:
		fr_double(&x, l);
		break;
	case CS_COEFF_MINUS_ONE:
		fr_sub(sum, sum, l);
		return;
	default:
		fr_mul(&x, l, &cs->coeffs[coeff]);
	}
	fr_add(sum, sum, &x);
}

/* Adds n sums (3 each, at local) to consecutive variables from index at. */
static void add_sums(struct transpose *t, size_t at, const struct fr *local, size_t n)
{
	size_t i, end;
	unsigned int k;

	for (i = 0; i < n; i = end) {
		atomic_flag *f = &t->locks[(at + i) / STRIPE % N_LOCKS];

		end = i + STRIPE - (at + i) % STRIPE;
		if (end > n)
			end = n;
		lock(f);
		for (; i < end; i++)
			for (k = 0; k < 3; k++)
				fr_add(&t->out[k][at + i], &t->out[k][at + i], &local[3 * i + k]);
		unlock(f);
	}
}

static void transpose_instance(void *arg, size_t index, unsigned int thread)
{
	struct transpose *t = arg;
	const struct cs *cs = t->cs;
	const struct cs_instance *inst = &cs->instances[index];
	const struct cs_template *tmpl = &cs->templates[inst->tmpl];
	/* ONE, inputs, ports, aux */
	const size_t input = 1, port = input + tmpl->n_inputs, aux = port + tmpl->n_ports;
	const size_t at[] = {
		[CS_REF_AUX] = aux, [CS_REF_PORT] = port, [CS_REF_INPUT] = input, [CS_REF_ONE] = 0,
	};
	struct fr *local = t->local + 3 * t->n_local * thread;
	const uint32_t *end = &cs->lc_end[tmpl->first_lc];
	uint64_t term = tmpl->first_term;
	uint32_t row, i;
	unsigned int k;

	memset(local, 0, 3 * (aux + tmpl->n_aux) * sizeof(*local));
	for (row = 0; row < tmpl->n_rows; row++) {
		const struct fr *l = &t->l[inst->row_base + (uint64_t)row];

		for (k = 0; k < 3; k++, end++) {
			for (; term < *end; term++) {
				uint32_t ref = cs->terms[term].ref;
				size_t v = at[CS_REF_KIND(ref)] + CS_REF_INDEX(ref);

				add_coeff(&local[3 * v + k], cs,
					  cs_one_coeff(cs, tmpl, cs->terms[term].coeff), l);
			}
		}
	}
	add_sums(t, 0, local, 1);
	add_sums(t, inst->input_base, local + 3 * input, tmpl->n_inputs);
	for (i = 0; i < tmpl->n_ports; i++) {
		uint32_t var = cs->ports[inst->port_base + i];

		add_sums(t, (CS_VAR_IS_INPUT(var) ? 0 : cs->n_inputs) + (size_t)CS_VAR_INDEX(var),
			 local + 3 * (port + i), 1);
	}
	add_sums(t, cs->n_inputs + (size_t)inst->aux_base, local + 3 * aux, tmpl->n_aux);
}

int cs_transpose_eval(const struct cs *cs, struct tpool *pool, const struct fr *l,
		      struct fr *at, struct fr *bt, struct fr *ct)
{
	struct transpose *t = calloc(1, sizeof(*t));
	size_t n = cs->n_inputs + (size_t)cs->n_aux, i;

	if (!t)
		return -ENOMEM;
	t->cs = cs;
	t->l = l;
	t->out[0] = at;
	t->out[1] = bt;
	t->out[2] = ct;
	for (i = 0; i < cs->n_templates; i++) {
		const struct cs_template *tmpl = &cs->templates[i];
		size_t vars = 1 + (size_t)tmpl->n_inputs + tmpl->n_ports + tmpl->n_aux;

		if (vars > t->n_local)
			t->n_local = vars;
	}
	t->local = calloc(3 * t->n_local * tpool_threads(pool) + 1, sizeof(*t->local));
	if (!t->local) {
		free(t);
		return -ENOMEM;
	}
	for (i = 0; i < 3; i++)
		memset(t->out[i], 0, n * sizeof(*t->out[i]));
	tpool_run(pool, transpose_instance, t, cs->n_instances);
	/* x_i * 0 = 0 */
	for (i = 0; i < cs->n_inputs; i++)
		fr_add(&at[i], &at[i], &l[cs->n_rows + i]);
	free(t->local);
	free(t);
	return 0;
}
