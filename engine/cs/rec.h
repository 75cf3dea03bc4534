/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * rec.h - records one gadget as a template
 *
 * A gadget's record function allocates variables and writes rows in exactly
 * the reference's order; that order is the whole contract.  It runs once per
 * template, so it is written for reading: bit by bit, field element by field
 * element, with the value of each variable computed on the way.  Those values
 * make it a second, independent implementation of the witness kernels: tests
 * bind real port values and compare.
 *
 * Errors (memory) are sticky: functions go on harmlessly, the end reports.
 */
#ifndef CUZK_CS_REC_H
#define CUZK_CS_REC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/cs.h"

/* A linear combination under way; terms in any order, merged when a row is written. */
struct rec_lc {
	struct rec_term {
		uint32_t ref;
		struct fr coeff;
	} *terms;
	size_t n, size;
};

struct rec_row_end {
	size_t end[3];			/* into terms */
};

struct rec {
	int err;
	unsigned int n_aux, n_inputs, n_rows, n_ports, n_full;
	struct fr *aux, *inputs;	/* values */
	bool *is_bit;			/* of the aux */
	size_t aux_size, inputs_size, rows_size;
	const struct fr *ports;		/* values, NULL: all zero */
	struct rec_row_end *rows;
	struct rec_lc terms;		/* of all rows */
	struct rec_lc a, b, c;		/* the row being written */
};

/* A Boolean: constant, variable or negated variable. Field arguments use REC_IS. */
struct rec_bit {
	enum rec_bit_kind {
		REC_CONST,
		REC_IS,
		REC_NOT,
	} kind;
	bool value;			/* of a constant */
	uint32_t ref;
};

void rec_init(struct rec *r, const struct fr *port_values);
void rec_fini(struct rec *r);

/* Linear combinations. */
void rec_add(struct rec *r, struct rec_lc *lc, uint32_t ref, const struct fr *coeff);
void rec_add_int(struct rec *r, struct rec_lc *lc, uint32_t ref, int64_t coeff);
void rec_add_pow2(struct rec *r, struct rec_lc *lc, uint32_t ref, unsigned int log, bool negative);
void rec_add_lc(struct rec *r, struct rec_lc *lc, const struct rec_lc *other,
		const struct fr *scale);
/* lc += coeff * bit, as bellpepper's Boolean::lc */
void rec_add_bit(struct rec *r, struct rec_lc *lc, struct rec_bit bit, const struct fr *coeff);
void rec_add_bit_int(struct rec *r, struct rec_lc *lc, struct rec_bit bit, int64_t coeff);
/* sorts, merges equal variables (a sum of zero stays) */
void rec_merge(struct rec_lc *lc);
void rec_lc_value(const struct rec *r, const struct rec_lc *lc, struct fr *v);
void rec_lc_fini(struct rec_lc *lc);

/* Writes the row r->a * r->b = r->c and empties the three. */
void rec_row(struct rec *r);

/* Variables. */
uint32_t rec_aux(struct rec *r, const struct fr *value);
uint32_t rec_input(struct rec *r, const struct fr *value);
void rec_value(const struct rec *r, uint32_t ref, struct fr *v);
bool rec_bit_value(const struct rec *r, struct rec_bit bit);
/* AllocatedBit::alloc: aux, (1 - v) * v = 0 */
struct rec_bit rec_alloc_bit(struct rec *r, bool value);

/* Boolean operations of bellpepper-core gadgets/boolean.rs, constants folded. */
struct rec_bit rec_const(bool value);
struct rec_bit rec_not(struct rec_bit a);
struct rec_bit rec_and(struct rec *r, struct rec_bit a, struct rec_bit b);
struct rec_bit rec_xor(struct rec *r, struct rec_bit a, struct rec_bit b);
struct rec_bit rec_ch(struct rec *r, struct rec_bit a, struct rec_bit b, struct rec_bit c);
struct rec_bit rec_maj(struct rec *r, struct rec_bit a, struct rec_bit b, struct rec_bit c);

/* Common rows. */
uint32_t rec_inputize(struct rec *r, uint32_t ref);		/* i * one = v */
void rec_equal(struct rec *r, uint32_t a, uint32_t b);		/* a * one = b */
uint32_t rec_mul(struct rec *r, uint32_t a, uint32_t b);		/* a * b = c */
uint32_t rec_sum(struct rec *r, uint32_t a, uint32_t b);		/* (a + b) * one = s */
/* c = cond ? a : b, (b - a) * cond = b - c */
uint32_t rec_pick(struct rec *r, uint32_t cond, uint32_t a, uint32_t b);
/* aux (input) p; (sum 2^i b_i) * one = p */
uint32_t rec_pack(struct rec *r, const struct rec_bit *bits, size_t n);
uint32_t rec_pack_input(struct rec *r, const struct rec_bit *bits, size_t n);

#endif
