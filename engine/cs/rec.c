/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* rec.c - records one gadget: linear combinations, variables, rows */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/cs/rec.h"

void rec_init(struct rec *r, const struct fr *port_values)
{
	memset(r, 0, sizeof(*r));
	r->ports = port_values;
}

void rec_lc_fini(struct rec_lc *lc)
{
	free(lc->terms);
	memset(lc, 0, sizeof(*lc));
}

void rec_fini(struct rec *r)
{
	free(r->aux);
	free(r->inputs);
	free(r->is_bit);
	free(r->rows);
	rec_lc_fini(&r->terms);
	rec_lc_fini(&r->a);
	rec_lc_fini(&r->b);
	rec_lc_fini(&r->c);
}

/* Makes room for one more of n elements; false (and r->err) without memory. */
static bool grow(struct rec *r, void *array, size_t *size, size_t n, size_t elem)
{
	size_t want = *size ? *size * 2 : 64;
	void *p;

	if (n < *size)
		return true;
	p = reallocarray(*(void **)array, want, elem);
	if (!p) {
		r->err = -ENOMEM;
		return false;
	}
	*(void **)array = p;
	*size = want;
	return true;
}

void rec_add(struct rec *r, struct rec_lc *lc, uint32_t ref, const struct fr *coeff)
{
	struct fr c = *coeff;	/* may be inside lc->terms */

	if (!grow(r, &lc->terms, &lc->size, lc->n, sizeof(*lc->terms)))
		return;
	lc->terms[lc->n++] = (struct rec_term){ ref, c };
}

void rec_add_int(struct rec *r, struct rec_lc *lc, uint32_t ref, int64_t coeff)
{
	struct fr c;

	fr_from_u64(&c, coeff < 0 ? -(uint64_t)coeff : coeff);
	if (coeff < 0)
		fr_neg(&c, &c);
	rec_add(r, lc, ref, &c);
}

void rec_add_pow2(struct rec *r, struct rec_lc *lc, uint32_t ref, unsigned int log, bool negative)
{
	struct scalar s = { { 0 } };
	struct fr c;

	assert(log < 255);
	s.l[log / 64] = UINT64_C(1) << (log % 64);
	fr_from_scalar(&c, &s);
	if (negative)
		fr_neg(&c, &c);
	rec_add(r, lc, ref, &c);
}

void rec_add_lc(struct rec *r, struct rec_lc *lc, const struct rec_lc *other,
		const struct fr *scale)
{
	size_t i, n = other->n;

	for (i = 0; i < n; i++) {
		struct fr c;

		fr_mul(&c, &other->terms[i].coeff, scale);
		rec_add(r, lc, other->terms[i].ref, &c);
	}
}

void rec_add_bit(struct rec *r, struct rec_lc *lc, struct rec_bit bit, const struct fr *coeff)
{
	struct fr minus;

	switch (bit.kind) {
	case REC_CONST:
		if (bit.value)
			rec_add(r, lc, CS_REF(CS_REF_ONE, 0), coeff);
		break;
	case REC_IS:
		rec_add(r, lc, bit.ref, coeff);
		break;
	case REC_NOT:
		rec_add(r, lc, CS_REF(CS_REF_ONE, 0), coeff);
		fr_neg(&minus, coeff);
		rec_add(r, lc, bit.ref, &minus);
		break;
	}
}

void rec_add_bit_int(struct rec *r, struct rec_lc *lc, struct rec_bit bit, int64_t coeff)
{
	struct fr c;

	fr_from_u64(&c, coeff < 0 ? -(uint64_t)coeff : coeff);
	if (coeff < 0)
		fr_neg(&c, &c);
	rec_add_bit(r, lc, bit, &c);
}

/* Order within a row: ONE, own inputs, ports, own aux. */
static uint32_t sort_key(uint32_t ref)
{
	return CS_REF(3 - CS_REF_KIND(ref), CS_REF_INDEX(ref));
}

static int cmp_term(const void *pa, const void *pb)
{
	uint32_t a = sort_key(((const struct rec_term *)pa)->ref);
	uint32_t b = sort_key(((const struct rec_term *)pb)->ref);

	return a < b ? -1 : a > b;
}

void rec_merge(struct rec_lc *lc)
{
	size_t i, n = 0;

	if (lc->n < 2)
		return;
	qsort(lc->terms, lc->n, sizeof(*lc->terms), cmp_term);
	for (i = 1; i < lc->n; i++) {
		if (lc->terms[i].ref == lc->terms[n].ref)
			fr_add(&lc->terms[n].coeff, &lc->terms[n].coeff, &lc->terms[i].coeff);
		else
			lc->terms[++n] = lc->terms[i];
	}
	lc->n = n + 1;
}

void rec_value(const struct rec *r, uint32_t ref, struct fr *v)
{
	switch (CS_REF_KIND(ref)) {
	case CS_REF_AUX:
		*v = r->aux[CS_REF_INDEX(ref)];
		break;
	case CS_REF_PORT:
		*v = r->ports ? r->ports[CS_REF_INDEX(ref)] : fr_zero;
		break;
	case CS_REF_INPUT:
		*v = r->inputs[CS_REF_INDEX(ref)];
		break;
	case CS_REF_ONE:
		*v = fr_one;
		break;
	}
}

void rec_lc_value(const struct rec *r, const struct rec_lc *lc, struct fr *v)
{
	struct fr sum = fr_zero, x;
	size_t i;

	for (i = 0; i < lc->n; i++) {
		rec_value(r, lc->terms[i].ref, &x);
		fr_mul(&x, &x, &lc->terms[i].coeff);
		fr_add(&sum, &sum, &x);
	}
	*v = sum;
}

void rec_row(struct rec *r)
{
	struct rec_lc *lc[3] = { &r->a, &r->b, &r->c };
	size_t i, k;

	if (!grow(r, &r->rows, &r->rows_size, r->n_rows, sizeof(*r->rows)))
		return;
	for (k = 0; k < 3; k++) {
		rec_merge(lc[k]);
		for (i = 0; i < lc[k]->n; i++)
			rec_add(r, &r->terms, lc[k]->terms[i].ref, &lc[k]->terms[i].coeff);
		lc[k]->n = 0;
		r->rows[r->n_rows].end[k] = r->terms.n;
	}
	r->n_rows++;
}

static uint32_t add_aux(struct rec *r, const struct fr *value, bool is_bit)
{
	size_t size = r->aux_size;

	if (!grow(r, &r->is_bit, &size, r->n_aux, sizeof(*r->is_bit)) ||
	    !grow(r, &r->aux, &r->aux_size, r->n_aux, sizeof(*r->aux)))
		return CS_REF(CS_REF_ONE, 0);
	r->is_bit[r->n_aux] = is_bit;
	r->aux[r->n_aux] = *value;
	if (!is_bit)
		r->n_full++;
	return CS_REF(CS_REF_AUX, r->n_aux++);
}

uint32_t rec_aux(struct rec *r, const struct fr *value)
{
	return add_aux(r, value, false);
}

/* an aux that is a bit by its row */
static struct rec_bit aux_bit(struct rec *r, bool value)
{
	return (struct rec_bit){ REC_IS, false, add_aux(r, value ? &fr_one : &fr_zero, true) };
}

uint32_t rec_input(struct rec *r, const struct fr *value)
{
	if (!grow(r, &r->inputs, &r->inputs_size, r->n_inputs, sizeof(*r->inputs)))
		return CS_REF(CS_REF_ONE, 0);
	r->inputs[r->n_inputs] = *value;
	return CS_REF(CS_REF_INPUT, r->n_inputs++);
}

bool rec_bit_value(const struct rec *r, struct rec_bit bit)
{
	struct fr v;

	if (bit.kind == REC_CONST)
		return bit.value;
	rec_value(r, bit.ref, &v);
	return fr_is_zero(&v) == (bit.kind == REC_NOT);
}

struct rec_bit rec_alloc_bit(struct rec *r, bool value)
{
	struct rec_bit v = aux_bit(r, value);

	rec_add_bit_int(r, &r->a, rec_not(v), 1);
	rec_add_bit_int(r, &r->b, v, 1);
	rec_row(r);
	return v;
}

struct rec_bit rec_const(bool value)
{
	return (struct rec_bit){ REC_CONST, value, CS_REF(CS_REF_ONE, 0) };
}

struct rec_bit rec_not(struct rec_bit a)
{
	switch (a.kind) {
	case REC_CONST:
		a.value = !a.value;
		break;
	case REC_IS:
		a.kind = REC_NOT;
		break;
	case REC_NOT:
		a.kind = REC_IS;
		break;
	}
	return a;
}

struct rec_bit rec_and(struct rec *r, struct rec_bit a, struct rec_bit b)
{
	struct rec_bit c;

	if (a.kind == REC_CONST)
		return a.value ? b : a;
	if (b.kind == REC_CONST)
		return b.value ? a : b;
	if (a.kind == REC_NOT && b.kind == REC_IS) {
		c = a;
		a = b;
		b = c;
	}
	c = aux_bit(r, rec_bit_value(r, a) && rec_bit_value(r, b));
	rec_add_bit_int(r, &r->a, a, 1);
	rec_add_bit_int(r, &r->b, b, 1);
	rec_add_bit_int(r, &r->c, c, 1);
	rec_row(r);
	return c;
}

struct rec_bit rec_xor(struct rec *r, struct rec_bit a, struct rec_bit b)
{
	struct rec_bit c;
	bool negate;

	if (a.kind == REC_CONST)
		return a.value ? rec_not(b) : b;
	if (b.kind == REC_CONST)
		return b.value ? rec_not(a) : a;
	negate = a.kind != b.kind;
	if (a.kind == REC_NOT && b.kind == REC_IS) {
		c = a;
		a = b;
		b = c;
	}
	a.kind = b.kind = REC_IS;
	c = aux_bit(r, rec_bit_value(r, a) != rec_bit_value(r, b));
	rec_add_bit_int(r, &r->a, a, 2);
	rec_add_bit_int(r, &r->b, b, 1);
	rec_add_bit_int(r, &r->c, a, 1);
	rec_add_bit_int(r, &r->c, b, 1);
	rec_add_bit_int(r, &r->c, c, -1);
	rec_row(r);
	return negate ? rec_not(c) : c;
}

static bool is_const(struct rec_bit a, bool value)
{
	return a.kind == REC_CONST && a.value == value;
}

struct rec_bit rec_ch(struct rec *r, struct rec_bit a, struct rec_bit b, struct rec_bit c)
{
	bool value = rec_bit_value(r, rec_bit_value(r, a) ? b : c);
	struct rec_bit ch;

	if (a.kind == REC_CONST && b.kind == REC_CONST && c.kind == REC_CONST)
		return rec_const(value);
	if (is_const(a, false))
		return c;
	if (is_const(b, false))
		return rec_and(r, rec_not(a), c);
	if (is_const(c, false))
		return rec_and(r, a, b);
	if (is_const(c, true))
		return rec_not(rec_and(r, a, rec_not(b)));
	if (is_const(b, true))
		return rec_not(rec_and(r, rec_not(a), rec_not(c)));
	ch = aux_bit(r, value);
	rec_add_bit_int(r, &r->a, b, 1);
	rec_add_bit_int(r, &r->a, c, -1);
	rec_add_bit_int(r, &r->b, a, 1);
	rec_add_bit_int(r, &r->c, ch, 1);
	rec_add_bit_int(r, &r->c, c, -1);
	rec_row(r);
	return ch;
}

struct rec_bit rec_maj(struct rec *r, struct rec_bit a, struct rec_bit b, struct rec_bit c)
{
	bool va = rec_bit_value(r, a), vb = rec_bit_value(r, b), vc = rec_bit_value(r, c);
	bool value = va + vb + vc >= 2;
	struct rec_bit maj, bc;

	if (a.kind == REC_CONST && b.kind == REC_CONST && c.kind == REC_CONST)
		return rec_const(value);
	if (is_const(a, false))
		return rec_and(r, b, c);
	if (is_const(b, false))
		return rec_and(r, a, c);
	if (is_const(c, false))
		return rec_and(r, a, b);
	if (is_const(c, true))
		return rec_not(rec_and(r, rec_not(a), rec_not(b)));
	if (is_const(b, true))
		return rec_not(rec_and(r, rec_not(a), rec_not(c)));
	if (is_const(a, true))
		return rec_not(rec_and(r, rec_not(b), rec_not(c)));
	maj = aux_bit(r, value);
	bc = rec_and(r, b, c);
	rec_add_bit_int(r, &r->a, bc, 2);
	rec_add_bit_int(r, &r->a, b, -1);
	rec_add_bit_int(r, &r->a, c, -1);
	rec_add_bit_int(r, &r->b, a, 1);
	rec_add_bit_int(r, &r->c, bc, 1);
	rec_add_bit_int(r, &r->c, maj, -1);
	rec_row(r);
	return maj;
}

uint32_t rec_inputize(struct rec *r, uint32_t ref)
{
	struct fr v;
	uint32_t in;

	rec_value(r, ref, &v);
	in = rec_input(r, &v);
	rec_equal(r, in, ref);
	return in;
}

void rec_equal(struct rec *r, uint32_t a, uint32_t b)
{
	rec_add_int(r, &r->a, a, 1);
	rec_add_int(r, &r->b, CS_REF(CS_REF_ONE, 0), 1);
	rec_add_int(r, &r->c, b, 1);
	rec_row(r);
}

uint32_t rec_mul(struct rec *r, uint32_t a, uint32_t b)
{
	struct fr x, y;
	uint32_t c;

	rec_value(r, a, &x);
	rec_value(r, b, &y);
	fr_mul(&x, &x, &y);
	c = rec_aux(r, &x);
	rec_add_int(r, &r->a, a, 1);
	rec_add_int(r, &r->b, b, 1);
	rec_add_int(r, &r->c, c, 1);
	rec_row(r);
	return c;
}

uint32_t rec_sum(struct rec *r, uint32_t a, uint32_t b)
{
	struct fr x, y;
	uint32_t s;

	rec_value(r, a, &x);
	rec_value(r, b, &y);
	fr_add(&x, &x, &y);
	s = rec_aux(r, &x);
	rec_add_int(r, &r->a, a, 1);
	rec_add_int(r, &r->a, b, 1);
	rec_add_int(r, &r->b, CS_REF(CS_REF_ONE, 0), 1);
	rec_add_int(r, &r->c, s, 1);
	rec_row(r);
	return s;
}

uint32_t rec_pick(struct rec *r, uint32_t cond, uint32_t a, uint32_t b)
{
	struct fr v;
	uint32_t c;

	rec_value(r, cond, &v);
	rec_value(r, fr_is_zero(&v) ? b : a, &v);
	c = rec_aux(r, &v);
	rec_add_int(r, &r->a, b, 1);
	rec_add_int(r, &r->a, a, -1);
	rec_add_int(r, &r->b, cond, 1);
	rec_add_int(r, &r->c, b, 1);
	rec_add_int(r, &r->c, c, -1);
	rec_row(r);
	return c;
}

/* r->a = sum 2^i b_i; its value */
static void pack_lc(struct rec *r, const struct rec_bit *bits, size_t n, struct fr *v)
{
	struct fr coeff = fr_one;
	size_t i;

	for (i = 0; i < n; i++) {
		rec_add_bit(r, &r->a, bits[i], &coeff);
		fr_double(&coeff, &coeff);
	}
	rec_lc_value(r, &r->a, v);
}

static void pack_row(struct rec *r, uint32_t p)
{
	rec_add_int(r, &r->b, CS_REF(CS_REF_ONE, 0), 1);
	rec_add_int(r, &r->c, p, 1);
	rec_row(r);
}

uint32_t rec_pack(struct rec *r, const struct rec_bit *bits, size_t n)
{
	struct fr v;
	uint32_t p;

	pack_lc(r, bits, n, &v);
	p = rec_aux(r, &v);
	pack_row(r, p);
	return p;
}

uint32_t rec_pack_input(struct rec *r, const struct rec_bit *bits, size_t n)
{
	struct fr v;
	uint32_t p;

	pack_lc(r, bits, n, &v);
	p = rec_input(r, &v);
	pack_row(r, p);
	return p;
}
