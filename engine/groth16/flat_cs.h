/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * flat_cs.h - a struct cs from plain rows: one template, one instance
 *
 * For systems that come from a file and have no gadgets.  Wires are numbered
 * as circom does: 0 is ONE, then the public ones, then the private ones; wire
 * w is input w or aux variable w - n_inputs.  Every aux value is kept in full.
 */
#ifndef CUZK_GROTH16_FLAT_CS_H
#define CUZK_GROTH16_FLAT_CS_H

#include "lib/cs.h"

struct flat_cs;

#define FLAT_WIRES_MAX (1u << 30)
#define FLAT_ROWS_MAX (1u << 30)

/* n_inputs counts ONE. n_terms is an upper bound. -EINVAL over the limits, -ENOMEM. */
int flat_cs_open(struct flat_cs **out, uint32_t n_inputs, uint32_t n_aux, uint32_t n_rows,
		 uint64_t n_terms);
/*
 * The next linear combination: A, B, C of row 0, then of row 1 ...  Terms in
 * any order; equal wires are added up, zeros dropped.  Reorders its arguments.
 * -ENOMEM.
 */
struct flat_term {
	uint32_t wire;
	struct fr coeff;
};
int flat_cs_add(struct flat_cs *f, struct flat_term *terms, size_t n);
/* All 3 * n_rows combinations were added: densities and domain. -EINVAL, -ENOMEM. */
int flat_cs_finish(struct flat_cs *f);
/* Valid after finish, until close. */
const struct cs *flat_cs_get(const struct flat_cs *f);
void flat_cs_close(struct flat_cs *f);


#endif
