/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * eval.c - the values of A, B and C at given rows, term by term
 *
 * Most terms are a bit times a small number, so a linear combination is summed
 * as a 64-bit integer until a term does not fit, then in the field.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "engine/cs/eval.h"
#include "engine/cs/system.h"

/* 2^k or -2^k with k small enough that any row's sum of them fits */
#define SMALL_LOG 40

static inline bool small_coeff(uint32_t c, int64_t *v)
{
	if (c - CS_COEFF_ONE < SMALL_LOG)
		*v = INT64_C(1) << (c - CS_COEFF_ONE);
	else if (c - CS_COEFF_MINUS_ONE < SMALL_LOG)
		*v = -(INT64_C(1) << (c - CS_COEFF_MINUS_ONE));
	else
		return false;
	return true;
}

struct value {
	bool is_bit, bit;
	struct fr full;
};

static void get(const struct cs *cs, const struct cs_witness *w, const struct cs_instance *inst,
		const struct cs_template *t, uint32_t ref, struct value *v)
{
	uint32_t i = CS_REF_INDEX(ref), slot, var;

	switch (CS_REF_KIND(ref)) {
	case CS_REF_ONE:
		v->is_bit = v->bit = true;
		return;
	case CS_REF_AUX:
		slot = cs->slots[t->first_slot + i];
		if (slot & CS_SLOT_FULL) {
			v->is_bit = false;
			v->full = w->full[inst->full_base + (slot & ~CS_SLOT_FULL)];
			return;
		}
		i += inst->aux_base;
		break;
	case CS_REF_INPUT:
		v->is_bit = false;
		v->full = w->inputs[inst->input_base + i];
		return;
	case CS_REF_PORT:
		var = cs->ports[inst->port_base + i];
		if (CS_VAR_IS_INPUT(var) || cs->full_map[var / 64] >> (var % 64) & 1) {
			v->is_bit = false;
			cs_witness_get(cs, w, var, &v->full);
			return;
		}
		i = var;
		break;
	}
	v->is_bit = true;
	v->bit = w->bits[i / 64] >> (i % 64) & 1;
}

static void eval_lc(const struct cs *cs, const struct cs_witness *w,
		    const struct cs_instance *inst, const struct cs_template *t,
		    const struct cs_term *term, const struct cs_term *end, struct cs_sum *s)
{
	struct value v;
	uint32_t coeff;
	struct fr x;
	int64_t c;

	s->small = 0;
	s->is_small = true;
	s->full = fr_zero;
	for (; term < end; term++) {
		get(cs, w, inst, t, term->ref, &v);
		coeff = cs_one_coeff(cs, t, term->coeff);
		if (v.is_bit) {
			if (!v.bit)
				continue;
			if (small_coeff(coeff, &c)) {
				s->small += c;
				continue;
			}
			x = cs->coeffs[coeff];
		} else if (coeff == CS_COEFF_ONE) {
			x = v.full;
		} else if (coeff == CS_COEFF_MINUS_ONE) {
			fr_neg(&x, &v.full);
		} else {
			fr_mul(&x, &v.full, &cs->coeffs[coeff]);
		}
		fr_add(&s->full, &s->full, &x);
		s->is_small = false;
	}
}

void cs_sum_fr(const struct cs_sum *s, struct fr *v)
{
	struct fr x = s->full;

	if (s->small) {
		fr_from_u64(&x, s->small < 0 ? -(uint64_t)s->small : s->small);
		if (s->small < 0)
			fr_neg(&x, &x);
		fr_add(&x, &x, &s->full);
	}
	*v = x;
}

void cs_sum_bytes(const struct cs_sum *s, uint8_t out[32])
{
	struct fr v;

	if (s->is_small && s->small >= 0) {
		memset(out, 0, 32);
		memcpy(out, &s->small, 8);
		return;
	}
	cs_sum_fr(s, &v);
	fr_to_bytes_le(out, &v);
}

void cs_eval_instance(const struct cs *cs, const struct cs_witness *w, uint32_t index,
		      uint32_t first, uint32_t n, struct cs_sum *out)
{
	const struct cs_instance *inst = &cs->instances[index];
	const struct cs_template *t = &cs->templates[inst->tmpl];
	const uint32_t *end = &cs->lc_end[t->first_lc + 3 * (uint64_t)first];
	uint64_t i, term = first ? end[-1] : t->first_term;

	for (i = 0; i < 3 * (uint64_t)n; i++) {
		eval_lc(cs, w, inst, t, &cs->terms[term], &cs->terms[end[i]], &out[i]);
		term = end[i];
	}
}

uint32_t cs_find_instance(const struct cs *cs, uint64_t row)
{
	uint32_t lo = 0, hi = cs->n_instances, mid;

	/* the last that begins at or before row: ones without rows are passed over */
	while (hi - lo > 1) {
		mid = lo + (hi - lo) / 2;
		if (cs->instances[mid].row_base <= row)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

#define CHUNK 512

void cs_eval_rows(const struct cs *cs, const struct cs_witness *w, uint64_t first, uint64_t n,
		  struct fr *a, struct fr *b, struct fr *c)
{
	struct fr *out[3] = { a, b, c };
	struct cs_sum sums[3 * CHUNK];
	uint64_t row = first, end = first + n, i, k;
	uint32_t inst = cs_find_instance(cs, row);

	while (row < end && row < cs->n_rows) {
		uint32_t rows = cs->templates[cs->instances[inst].tmpl].n_rows;
		uint64_t at = row - cs->instances[inst].row_base, m;

		if (at >= rows) {
			inst++;
			continue;
		}
		m = rows - at < end - row ? rows - at : end - row;
		if (m > CHUNK)
			m = CHUNK;
		cs_eval_instance(cs, w, inst, at, m, sums);
		for (i = 0; i < m; i++)
			for (k = 0; k < 3; k++)
				if (out[k])
					cs_sum_fr(&sums[3 * i + k], &out[k][row - first + i]);
		row += m;
	}
	for (; row < end; row++) {
		i = row - cs->n_rows;
		if (a)
			a[row - first] = i < cs->n_inputs ? w->inputs[i] : fr_zero;
		if (b)
			b[row - first] = fr_zero;
		if (c)
			c[row - first] = fr_zero;
	}
}

bool cs_sum_satisfied(const struct cs_sum *s)
{
	struct fr a, b, c;

	if (s[0].is_small && s[1].is_small && s[2].is_small) {
		if (!s[0].small || !s[1].small)
			return !s[2].small;
		if (s[0].small == 1 || s[1].small == 1)
			return s[0].small * s[1].small == s[2].small;
	}
	cs_sum_fr(&s[0], &a);
	cs_sum_fr(&s[1], &b);
	cs_sum_fr(&s[2], &c);
	fr_mul(&a, &a, &b);
	return fr_equal(&a, &c);
}

struct bad_job {
	const struct cs *cs;
	const struct cs_witness *w;
	_Atomic uint64_t bad;
};

static void check_instance(void *arg, size_t i, unsigned int thread)
{
	struct bad_job *job = arg;
	const struct cs_instance *inst = &job->cs->instances[i];
	uint32_t rows = job->cs->templates[inst->tmpl].n_rows, at, n, k;
	struct cs_sum sums[3 * CHUNK];
	uint64_t bad;

	for (at = 0; at < rows; at += n) {
		if (inst->row_base + (uint64_t)at >= atomic_load(&job->bad))
			return;
		n = rows - at < CHUNK ? rows - at : CHUNK;
		cs_eval_instance(job->cs, job->w, i, at, n, sums);
		for (k = 0; k < n && cs_sum_satisfied(&sums[3 * k]); k++)
			;
		if (k == n)
			continue;
		bad = atomic_load(&job->bad);
		while (inst->row_base + (uint64_t)at + k < bad &&
		       !atomic_compare_exchange_weak(&job->bad, &bad,
						     inst->row_base + (uint64_t)at + k))
			;
		return;
	}
}

uint64_t cs_first_bad_row(const struct cs *cs, const struct cs_witness *w, struct tpool *pool)
{
	struct bad_job job = { cs, w, UINT64_MAX };

	tpool_run(pool, check_instance, &job, cs->n_instances);
	return job.bad;
}
