/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * fold.c - points of rows, summed for each variable by a system's C
 *
 * As engine/cs/transpose.c does it for numbers: a thread sums an instance by
 * the template's own names, then adds the sums to the variables under striped
 * locks, for one variable may be a port of instances on other threads.
 */
#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "engine/groth16/fold.h"

#define N_LOCKS 4096
#define ROUND 1024u		/* instances between two signs of life */

struct fold {
	const struct cs *cs;
	const struct g1_affine *rows;
	struct g1 *out;
	struct g1 *local;		/* threads * n_local */
	size_t n_local;
	uint32_t first;			/* instance of this round */
	atomic_flag locks[N_LOCKS];
};

/* 2^log of the row's point; terms with powers of two mostly come in their order. */
struct chain {
	struct g1 point;
	unsigned int log;
};

static void chain_start(struct chain *c, const struct g1_affine *row)
{
	g1_from_affine(&c->point, row);
	c->log = 0;
}

static void chain_reach(struct chain *c, const struct g1_affine *row, unsigned int log)
{
	if (log < c->log)
		chain_start(c, row);
	for (; c->log < log; c->log++)
		g1_double(&c->point, &c->point);
}

static void add_term(struct g1 *sum, const struct cs *cs, uint32_t coeff,
		     const struct g1_affine *row, struct chain *chain)
{
	struct scalar k;
	struct g1 p;

	if (coeff == CS_COEFF_ZERO)
		return;
	if (coeff == CS_COEFF_ONE) {
		g1_add_affine(sum, sum, row);
		return;
	}
	if (coeff < CS_COEFF_MINUS_ONE) {
		chain_reach(chain, row, coeff - CS_COEFF_ONE);
		p = chain->point;
	} else if (coeff < CS_COEFF_OTHER) {
		chain_reach(chain, row, coeff - CS_COEFF_MINUS_ONE);
		g1_neg(&p, &chain->point);
	} else {
		fr_to_scalar(&k, &cs->coeffs[coeff]);
		g1_mul_vartime(&p, row, &k);
	}
	g1_add(sum, sum, &p);
}

static void add_sum(struct fold *f, size_t variable, const struct g1 *sum)
{
	atomic_flag *lock = &f->locks[variable % N_LOCKS];

	if (g1_is_infinity(sum))
		return;
	while (atomic_flag_test_and_set_explicit(lock, memory_order_acquire))
		sched_yield();
	g1_add(&f->out[variable], &f->out[variable], sum);
	atomic_flag_clear_explicit(lock, memory_order_release);
}

static void fold_instance(void *arg, size_t index, unsigned int thread)
{
	struct fold *f = arg;
	const struct cs *cs = f->cs;
	const struct cs_instance *inst = &cs->instances[f->first + index];
	const struct cs_template *tmpl = &cs->templates[inst->tmpl];
	/* ONE, inputs, ports, aux */
	const size_t input = 1, port = input + tmpl->n_inputs, aux = port + tmpl->n_ports;
	const size_t at[] = {
		[CS_REF_AUX] = aux, [CS_REF_PORT] = port, [CS_REF_INPUT] = input, [CS_REF_ONE] = 0,
	};
	struct g1 *local = f->local + f->n_local * thread;
	const uint32_t *end = &cs->lc_end[tmpl->first_lc];
	uint32_t row, term, i;

	for (i = 0; i < aux + tmpl->n_aux; i++)
		g1_set_infinity(&local[i]);
	for (row = 0; row < tmpl->n_rows; row++, end += 3) {
		const struct g1_affine *point = &f->rows[inst->row_base + (uint64_t)row];
		struct chain chain;

		chain_start(&chain, point);
		for (term = end[1]; term < end[2]; term++) {
			uint32_t ref = cs->terms[term].ref;

			add_term(&local[at[CS_REF_KIND(ref)] + CS_REF_INDEX(ref)], cs,
				 cs_one_coeff(cs, tmpl, cs->terms[term].coeff), point, &chain);
		}
	}
	add_sum(f, 0, &local[0]);
	for (i = 0; i < tmpl->n_inputs; i++)
		add_sum(f, inst->input_base + (size_t)i, &local[input + i]);
	for (i = 0; i < tmpl->n_ports; i++) {
		uint32_t var = cs->ports[inst->port_base + i];

		add_sum(f, (CS_VAR_IS_INPUT(var) ? 0 : cs->n_inputs) + (size_t)CS_VAR_INDEX(var),
			&local[port + i]);
	}
	for (i = 0; i < tmpl->n_aux; i++)
		add_sum(f, cs->n_inputs + (size_t)inst->aux_base + i, &local[aux + i]);
}

int fold_points(const struct cs *cs, struct tpool *pool, const struct g1_affine *rows,
		struct g1 *out, const struct progress *progress)
{
	size_t n = cs->n_inputs + (size_t)cs->n_aux, i;
	struct fold *f = calloc(1, sizeof(*f));
	uint32_t left, round;

	if (!f)
		return -ENOMEM;
	f->cs = cs;
	f->rows = rows;
	f->out = out;
	for (i = 0; i < cs->n_templates; i++) {
		const struct cs_template *t = &cs->templates[i];
		size_t vars = 1 + (size_t)t->n_inputs + t->n_ports + t->n_aux;

		if (vars > f->n_local)
			f->n_local = vars;
	}
	f->local = malloc((f->n_local * tpool_threads(pool) + 1) * sizeof(*f->local));
	if (!f->local) {
		free(f);
		return -ENOMEM;
	}
	for (i = 0; i < n; i++)
		g1_set_infinity(&out[i]);
	for (left = cs->n_instances; left; left -= round) {
		round = left < ROUND ? left : ROUND;
		progress_tell(progress, "fold", f->first, cs->n_instances);
		tpool_run(pool, fold_instance, f, round);
		f->first += round;
	}
	free(f->local);
	free(f);
	return 0;
}
