/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* evaluate.c - A w, B w and C w from templates, instances and a witness */
/*
 * Nine values of ten are bits, and most coefficients are a power of two or
 * its negative.  Such terms are added up as integers: 2^k goes to the k / 32-th
 * of eight signed 64-bit sums, which only carry at the end.  Full values with
 * coefficient 1 or -1 are added in the field; all other products are
 * collected and summed with one reduction for many (dot.h).
 */
#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "gpu/cpu/dot.h"
#include "gpu/cpu/evaluate.h"
#include "gpu/gpu.h"

#define CHUNK 8192	/* rows */
#define N_SMALL 64	/* integers of this size have their field elements in a table */
#define N_WORDS 8	/* 32-bit words of a sum of bits times powers of two */

struct eval {
	const struct cs *cs;
	const struct cs_witness *w;
	struct ctl *ctl;
	void (*dot)(struct fr *sum, struct fr *x, struct fr *y, size_t n);
	struct fr *out[3];
	bool check;
	uint64_t n_all;			/* 2^log_domain */
	atomic_ullong bad_row;
	struct fr small[2 * N_SMALL + 1];	/* of -N_SMALL ... N_SMALL */
	struct fr two_128;
};

/* One linear combination in the making. */
struct sum {
	int64_t low;			/* the terms below 2^32 */
	int64_t words[N_WORDS];		/* the others; valid with wide */
	bool wide;
	bool has_full;			/* full is not zero */
	unsigned int n_products;
	struct fr full;
	struct fr x[DOT_MAX], y[DOT_MAX];
};

static inline bool bit_at(const uint64_t *map, uint32_t i)
{
	return map[i / 64] >> (i % 64) & 1;
}

/* Full aux variables before var, which is one. */
static inline uint32_t full_rank(const struct cs *cs, uint32_t var)
{
	uint32_t word = var / 64, i, rank = cs->full_rank[var / 512];

	for (i = word & ~7u; i < word; i++)
		rank += __builtin_popcountll(cs->full_map[i]);
	return rank + __builtin_popcountll(cs->full_map[word] & ((UINT64_C(1) << var % 64) - 1));
}

static void sum_flush(struct eval *ev, struct sum *s)
{
	struct fr t;

	ev->dot(&t, s->x, s->y, s->n_products);
	s->n_products = 0;
	if (s->has_full) {
		fr_add(&s->full, &s->full, &t);
	} else {
		s->full = t;
		s->has_full = true;
	}
}

static inline void sum_add_full(struct eval *ev, struct sum *s, uint32_t coeff, const struct fr *v)
{
	if (coeff == CS_COEFF_ONE) {
		if (s->has_full)
			fr_add(&s->full, &s->full, v);
		else
			s->full = *v;
		s->has_full = true;
	} else if (coeff == CS_COEFF_MINUS_ONE) {
		if (s->has_full)
			fr_sub(&s->full, &s->full, v);
		else
			fr_neg(&s->full, v);
		s->has_full = true;
	} else {
		s->x[s->n_products] = *v;
		s->y[s->n_products] = ev->cs->coeffs[coeff];
		if (++s->n_products == DOT_MAX)
			sum_flush(ev, s);
	}
}

/* bit * 2^k, bit 0 or 1 (or -1 for -2^k) */
static inline void sum_add_shifted(struct sum *s, unsigned int k, int64_t bit)
{
	if (k < 32) {
		s->low += bit * (INT64_C(1) << k);
		return;
	}
	if (!s->wide) {
		memset(s->words, 0, sizeof(s->words));
		s->wide = true;
	}
	s->words[k / 32] += bit * (INT64_C(1) << k % 32);
}

static inline void sum_add_bit(struct eval *ev, struct sum *s, uint32_t coeff, bool bit)
{
	if (coeff - CS_COEFF_ONE < CS_COEFF_MINUS_ONE - CS_COEFF_ONE)
		sum_add_shifted(s, coeff - CS_COEFF_ONE, bit);
	else if (coeff - CS_COEFF_MINUS_ONE < CS_COEFF_OTHER - CS_COEFF_MINUS_ONE)
		sum_add_shifted(s, coeff - CS_COEFF_MINUS_ONE, -(int64_t)bit);
	else if (bit)
		sum_add_full(ev, s, CS_COEFF_ONE, &ev->cs->coeffs[coeff]);
}

static inline void small_fr(const struct eval *ev, struct fr *v, int64_t x)
{
	if (x >= -N_SMALL && x <= N_SMALL) {
		*v = ev->small[x + N_SMALL];
	} else {
		fr_from_u64(v, x < 0 ? -(uint64_t)x : x);
		if (x < 0)
			fr_neg(v, v);
	}
}

/* The signed 32-bit places of a wide sum to a field element. */
static void wide_fr(const struct eval *ev, struct fr *v, const struct sum *s)
{
	struct scalar half[2] = { 0 };
	int64_t carry = s->low;
	struct fr t;
	int i;

	for (i = 0; i < N_WORDS; i++) {
		carry += s->words[i];
		half[i / 4].l[i / 2 % 2] |= (uint64_t)(uint32_t)carry << 32 * (i % 2);
		carry >>= 32;
	}
	fr_from_scalar(v, &half[1]);
	fr_mul(v, v, &ev->two_128);
	fr_from_scalar(&t, &half[0]);
	fr_add(v, v, &t);
	if (carry) {
		small_fr(ev, &t, carry);
		fr_mul(&t, &t, &ev->two_128);
		fr_mul(&t, &t, &ev->two_128);
		fr_add(v, v, &t);
	}
}

static void sum_value(struct eval *ev, struct sum *s, struct fr *v)
{
	struct fr t;

	if (s->n_products)
		sum_flush(ev, s);
	if (!s->has_full) {
		if (s->wide)
			wide_fr(ev, v, s);
		else
			small_fr(ev, v, s->low);
		return;
	}
	if (s->wide)
		wide_fr(ev, &t, s);
	else if (s->low)
		small_fr(ev, &t, s->low);
	else {
		*v = s->full;
		return;
	}
	fr_add(v, &s->full, &t);
}

static inline void add_aux(struct eval *ev, struct sum *s, uint32_t coeff, uint32_t var)
{
	if (bit_at(ev->cs->full_map, var))
		sum_add_full(ev, s, coeff, &ev->w->full[full_rank(ev->cs, var)]);
	else
		sum_add_bit(ev, s, coeff, bit_at(ev->w->bits, var));
}

static void eval_lc(struct eval *ev, const struct cs_instance *inst, const struct cs_template *t,
		    const struct cs_term *term, const struct cs_term *end, struct sum *s,
		    struct fr *out)
{
	const struct cs *cs = ev->cs;
	const uint32_t *slots = cs->slots + t->first_slot;
	uint32_t i, slot, var;

	s->low = 0;
	s->wide = s->has_full = false;
	s->n_products = 0;
	for (; term < end; term++) {
		i = CS_REF_INDEX(term->ref);
		if (term->coeff == CS_COEFF_ZERO)
			continue;
		switch (CS_REF_KIND(term->ref)) {
		case CS_REF_ONE:
			sum_add_bit(ev, s, cs_one_coeff(cs, t, term->coeff), true);
			break;
		case CS_REF_AUX:
			slot = slots[i];
			if (slot & CS_SLOT_FULL)
				sum_add_full(ev, s, term->coeff,
					     &ev->w->full[inst->full_base + (slot & ~CS_SLOT_FULL)]);
			else
				sum_add_bit(ev, s, term->coeff,
					    bit_at(ev->w->bits, inst->aux_base + i));
			break;
		case CS_REF_INPUT:
			sum_add_full(ev, s, term->coeff, &ev->w->inputs[inst->input_base + i]);
			break;
		case CS_REF_PORT:
			var = cs->ports[inst->port_base + i];
			if (CS_VAR_IS_INPUT(var))
				sum_add_full(ev, s, term->coeff, &ev->w->inputs[CS_VAR_INDEX(var)]);
			else
				add_aux(ev, s, term->coeff, var);
			break;
		}
	}
	sum_value(ev, s, out);
}

static void bad_row(struct eval *ev, uint64_t row)
{
	unsigned long long seen = atomic_load(&ev->bad_row);

	while (row < seen && !atomic_compare_exchange_weak(&ev->bad_row, &seen, row))
		;
}

/* Whether a * b = c, without a product for the many rows of bits. */
static bool satisfied(const struct fr *a, const struct fr *b, const struct fr *c)
{
	struct fr t;

	if (fr_is_zero(a) || fr_is_zero(b))
		return fr_is_zero(c);
	if (fr_is_one(a))
		return fr_equal(b, c);
	if (fr_is_one(b))
		return fr_equal(a, c);
	fr_mul(&t, a, b);
	return fr_equal(&t, c);
}

/* Rows first to end - 1 of one instance, counted from its own first. */
static void eval_rows(struct eval *ev, const struct cs_instance *inst, uint32_t first, uint32_t end)
{
	const struct cs_template *t = &ev->cs->templates[inst->tmpl];
	const uint32_t *lc_end = ev->cs->lc_end + t->first_lc;
	const struct cs_term *terms = ev->cs->terms;
	uint64_t begin = first ? lc_end[3 * (uint64_t)first - 1] : t->first_term;
	bool want_c = ev->out[2] || ev->check;
	struct sum sum;
	uint32_t r;
	int k;

	for (r = first; r < end; r++) {
		uint64_t row = (uint64_t)inst->row_base + r;
		struct fr v[3];

		for (k = 0; k < 3; k++) {
			uint64_t stop = lc_end[3 * (uint64_t)r + k];

			if (k < 2 || want_c)
				eval_lc(ev, inst, t, terms + begin, terms + stop, &sum, &v[k]);
			if (ev->out[k])
				ev->out[k][row] = v[k];
			begin = stop;
		}
		if (ev->check && !satisfied(&v[0], &v[1], &v[2]))
			bad_row(ev, row);
	}
}

/* The last instance that begins at or before row; ones without rows are passed over. */
static uint32_t find_instance(const struct cs *cs, uint64_t row)
{
	uint32_t lo = 0, hi = cs->n_instances;

	while (hi - lo > 1) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (cs->instances[mid].row_base <= row)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

/* Behind the instances' rows: a is the input, then zero; b and c are zero. */
static void eval_tail(struct eval *ev, uint64_t row, uint64_t end)
{
	const struct cs *cs = ev->cs;

	for (; row < end; row++) {
		uint64_t i = row - cs->n_rows;

		ev->out[0][row] = i < cs->n_inputs ? ev->w->inputs[i] : fr_zero;
		ev->out[1][row] = fr_zero;
		if (ev->out[2])
			ev->out[2][row] = fr_zero;
	}
}

static void eval_chunk(void *arg, size_t chunk, unsigned int thread)
{
	struct eval *ev = arg;
	const struct cs *cs = ev->cs;
	uint64_t first = (uint64_t)chunk * CHUNK, row = first, end = first + CHUNK;
	uint32_t i;

	if (ctl_stop(ev->ctl, thread))
		return;
	if (end > ev->n_all)
		end = ev->n_all;
	for (i = row < cs->n_rows ? find_instance(cs, row) : cs->n_instances;
	     i < cs->n_instances && row < end; i++) {
		const struct cs_instance *inst = &cs->instances[i];
		uint32_t at = row - inst->row_base, n_rows = cs->templates[inst->tmpl].n_rows;

		if (at >= n_rows)
			continue;
		if (n_rows - at > end - row)
			n_rows = at + (end - row);
		eval_rows(ev, inst, at, n_rows);
		row += n_rows - at;
	}
	eval_tail(ev, row, end);
	ctl_done(ev->ctl, thread, end - first);
}

int cpu_evaluate(const struct cs *cs, const struct cs_witness *w, enum cpu_isa isa,
		 struct tpool *pool, struct ctl *ctl, struct fr *a, struct fr *b, struct fr *c,
		 uint64_t *bad)
{
	struct eval ev = {
		.cs = cs,
		.w = w,
		.ctl = ctl,
		.dot = dot_port,
		.out = { a, b, c },
		.check = bad,
		.n_all = 1ull << cs->log_domain,
		.bad_row = UINT64_MAX,
	};
	int i;

#ifdef CUZK_X86
	if (isa == CPU_ISA_IFMA)
		ev.dot = dot_ifma;
#endif
	ev.small[N_SMALL] = fr_zero;
	for (i = 1; i <= N_SMALL; i++) {
		fr_add(&ev.small[N_SMALL + i], &ev.small[N_SMALL + i - 1], &fr_one);
		fr_neg(&ev.small[N_SMALL - i], &ev.small[N_SMALL + i]);
	}
	fr_from_u64(&ev.two_128, 2);
	fr_pow_u64(&ev.two_128, &ev.two_128, 128);
	ctl_begin(ctl, GPU_STAGE_EVALUATE, ev.n_all);
	tpool_run(pool, eval_chunk, &ev, (ev.n_all + CHUNK - 1) / CHUNK);
	if (ctl_stop(ctl, 0))
		return -ECANCELED;
	if (bad)
		*bad = atomic_load(&ev.bad_row);
	return 0;
}
