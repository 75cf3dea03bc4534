/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * lib/cs.h - a rank-1 constraint system stored as templates and instances
 *
 * A Filecoin circuit is a handful of gadgets repeated tens of thousands of
 * times.  Each gadget is stored once, as a template: rows A * B = C whose
 * terms name the gadget's own variables and its ports.  The circuit is then a
 * list of instances; each adds its template's variables and rows behind those
 * of the instance before it and binds the ports to earlier variables.
 *
 * This header is plain data: the engine builds it, every gpu backend reads
 * it, and it can be mapped from a file.  A struct cs is immutable once built
 * and may be shared by any number of threads.
 *
 * Numbering: inputs and aux variables are numbered apart, in allocation
 * order; input 0 is the constant ONE.  Rows are numbered in the order of the
 * instances; behind them come the n_inputs rows  x_i * 0 = 0  that bellperson's
 * prover adds, which are not stored.
 */
#ifndef CUZK_LIB_CS_H
#define CUZK_LIB_CS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/bls12_381/fr.h"

/* A term's variable: kind in the two top bits, index below. */
enum cs_ref_kind {
	CS_REF_AUX   = 0,	/* index-th aux variable of this instance */
	CS_REF_PORT  = 1,	/* index-th port of this instance */
	CS_REF_INPUT = 2,	/* index-th input variable of this instance */
	CS_REF_ONE   = 3,	/* input 0; index is 0 */
};
#define CS_REF_SHIFT 30
#define CS_REF(kind, index) ((uint32_t)(kind) << CS_REF_SHIFT | (uint32_t)(index))
#define CS_REF_KIND(ref) ((enum cs_ref_kind)((ref) >> CS_REF_SHIFT))
#define CS_REF_INDEX(ref) ((ref) & ((1u << CS_REF_SHIFT) - 1))

/* A global variable, as ports hold it: top bit set for an input. */
#define CS_VAR_INPUT 0x80000000u
#define CS_VAR_IS_INPUT(var) (((var) & CS_VAR_INPUT) != 0)
#define CS_VAR_INDEX(var) ((var) & ~CS_VAR_INPUT)

/*
 * Coefficients are indices into cs->coeffs.  The first ones are fixed, so
 * that an evaluator can add, subtract and shift instead of multiplying:
 *   0              zero (kept only where the reference keeps it; no density)
 *   1 + k          2^k,  k = 0..254
 *   256 + k       -2^k,  k = 0..254
 *   511...         all others, in order of first use
 */
enum {
	CS_COEFF_ZERO = 0,
	CS_COEFF_ONE = 1,		/* CS_COEFF_POW2 + k is 2^k */
	CS_COEFF_MINUS_ONE = 256,	/* CS_COEFF_MINUS_ONE + k is -2^k */
	CS_COEFF_OTHER = 511,
};

struct cs_term {
	uint32_t ref;		/* CS_REF() */
	uint32_t coeff;		/* index into cs->coeffs; see CS_COEFF_OWN */
};

/*
 * Only in terms of CS_REF_ONE: the other bits are an index into the
 * template's own coefficients, own[first_own + i], which are indices into
 * cs->coeffs.  So templates that differ in nothing but added constants (the
 * label hashes of PoRep's layers) share rows and terms.
 */
#define CS_COEFF_OWN 0x80000000u

/*
 * One gadget.  Row r of the template has three linear combinations; lc
 * 3r, 3r+1, 3r+2 (A, B, C) is terms[lc_end[first_lc+i-1] .. lc_end[first_lc+i])
 * with lc_end of the template's lc -1 taken as first_term.  All offsets are
 * into the arrays of struct cs.
 */
struct cs_template {
	uint32_t n_rows;
	uint32_t n_aux;		/* aux variables that an instance allocates */
	uint32_t n_inputs;	/* input variables that an instance allocates */
	uint32_t n_ports;
	uint32_t n_full;	/* of the aux: how many are not bits */
	uint32_t kind;		/* engine's gadget kind, for witness kernels; enum in engine/ */
	uint64_t param;		/* the gadget's parameter (arity, pattern id ...), by kind */
	uint64_t first_lc;	/* into lc_end: 3 * n_rows entries */
	uint64_t first_term;	/* into terms */
	uint64_t first_slot;	/* into slots: n_aux entries */
	uint32_t name;		/* offset into names: NUL-terminated path element */
	uint32_t first_own;	/* into own */
};

/*
 * Where a template's aux variable has its value in a struct cs_witness:
 * a bit variable in .bits at its aux index, a full one in .full at
 * instance.full_base + (slot & ~CS_SLOT_FULL).
 */
#define CS_SLOT_FULL 0x80000000u
#define CS_SLOT_BIT 0u

struct cs_instance {
	uint32_t tmpl;
	uint32_t row_base;	/* first row */
	uint32_t aux_base;	/* first aux variable */
	uint32_t full_base;	/* first element of witness.full */
	uint32_t input_base;	/* first input variable */
	uint32_t scope;		/* offset into names: where in the circuit, "sector 3/challenge 1" */
	uint64_t port_base;	/* into ports: n_ports global variables */
};

struct cs {
	uint64_t n_rows;	/* of the instances; + n_inputs for the whole system */
	uint32_t n_inputs;	/* ONE included */
	uint32_t n_aux;
	uint32_t n_full;	/* aux variables that are not bits */
	uint32_t log_domain;	/* 2^log_domain >= n_rows + n_inputs, smallest */

	uint32_t n_templates, n_instances, n_coeffs;
	uint64_t n_lcs, n_terms, n_slots, n_ports, n_own, names_size;

	const struct cs_template *templates;
	const struct cs_instance *instances;
	const struct fr *coeffs;	/* Montgomery form */
	const uint32_t *lc_end;
	const struct cs_term *terms;
	const uint32_t *slots;
	const uint32_t *ports;		/* global variables */
	const uint32_t *own;		/* indices into coeffs, by CS_COEFF_OWN */
	const char *names;
	/*
	 * Densities, bit i of word i/64: which variables have a point in the
	 * parameters.  a: aux only (every input counts); b: inputs and aux.
	 */
	const uint64_t *a_aux_density, *b_input_density, *b_aux_density;
	uint32_t n_a_aux, n_b_input, n_b_aux;	/* their popcounts */
	/* bit i set: aux variable i is full; full_rank[j] = popcount of words 0..8j-1 */
	const uint64_t *full_map;
	const uint32_t *full_rank;
};

/* Index into coeffs of a term of CS_REF_ONE. */
static inline uint32_t cs_one_coeff(const struct cs *cs, const struct cs_template *t,
				    uint32_t coeff)
{
	return coeff & CS_COEFF_OWN ? cs->own[t->first_own + (coeff & ~CS_COEFF_OWN)] : coeff;
}

/*
 * The witness of one circuit, each value by its kind: 1 bit or 32 bytes.
 * Owned by whoever made it.
 */
struct cs_witness {
	struct fr *inputs;	/* n_inputs, Montgomery, [0] = 1 */
	uint64_t *bits;		/* bitmap over aux; 0 where full */
	struct fr *full;	/* n_full, Montgomery, in aux order */
};

#endif
