/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * r1cs.h - circom's .r1cs and .wtns over BLS12-381
 *
 * Values are 32-byte little-endian canonical integers.  A system becomes a
 * struct cs of one template and one instance (flat_cs.h).
 */
#ifndef CUZK_GROTH16_R1CS_H
#define CUZK_GROTH16_R1CS_H

#include "engine/groth16/error.h"
#include "engine/groth16/flat_cs.h"

struct r1cs {
	uint32_t n_wires, n_outputs, n_public, n_private, n_rows;
	uint64_t n_terms;
	const uint8_t *rows;	/* the caller's bytes: checked */
	size_t rows_size;
};

/* Checks all of it: every count, wire and coefficient. name is for messages. */
int r1cs_parse(struct r1cs *r, const char *name, const void *data, size_t size,
	       struct cuzk_error *err);
/* -ENOMEM and -EINVAL (too large) only. */
int r1cs_to_cs(const struct r1cs *r, struct flat_cs **out, struct cuzk_error *err);

/*
 * A witness file: *wires gets n_wires values in Montgomery form (malloc), wire
 * 0 is 1.  n_wires is what the circuit has.
 */
int wtns_parse(struct fr **wires, const char *name, const void *data, size_t size,
	       uint32_t n_wires, struct cuzk_error *err);

#endif
