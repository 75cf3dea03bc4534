/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* wire.h - rows in the canonical byte form that the digests hash */
#ifndef CUZK_CS_WIRE_H
#define CUZK_CS_WIRE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/cs.h"

#define WIRE_TERM 37	/* u8 kind, u32 index, 32 bytes of coefficient */

/*
 * A template's rows with everything but the indices in place.  Writing a row
 * of an instance is a copy and one store a term, except for rows whose order
 * of terms depends on what the ports are bound to ("sorted" ones).
 */
struct wire {
	uint8_t *bytes;
	uint32_t *row;		/* n_rows + 1 offsets into bytes */
	uint32_t *patch_end;	/* of each row's, into patches */
	struct wire_patch {
		uint32_t at;	/* offset into bytes of the term */
		uint32_t ref;
	} *patches;
	uint64_t *sorted;	/* bitmap of rows */
	uint64_t nnz[3];
	uint32_t max_lc;	/* most terms of a combination */
};

struct wire_term {
	uint64_t key;		/* kind, index */
	uint32_t coeff;
};

/* -ENOMEM; coeff_bytes: 32 little-endian bytes for each of cs->coeffs */
int wire_init(struct wire *w, const struct cs *cs, const struct cs_template *t,
	      const uint8_t (*coeff_bytes)[32]);
void wire_fini(struct wire *w);
/* Writes row of inst to out, w->row[row+1] - w->row[row] bytes; tmp: 2 * max_lc. */
void wire_row(const struct wire *w, const struct cs *cs, const struct cs_instance *inst,
	      uint32_t row, const uint8_t (*coeff_bytes)[32], struct wire_term *tmp, uint8_t *out);

#endif
