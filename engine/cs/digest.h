/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * digest.h - canonical SHA-256 digests of systems and witnesses
 *
 * The format is t/data/README's ("Digests"): comparing them with another
 * implementation's finds the first differing 65,536 rows.
 */
#ifndef CUZK_CS_DIGEST_H
#define CUZK_CS_DIGEST_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "lib/cs.h"

#define CS_DIGEST_BLOCK 65536

struct cs_shape_digest {
	uint64_t n_constraints;		/* without the input rows */
	uint64_t n_constraints_inputs;	/* with them */
	uint64_t domain, n_inputs, n_aux;
	uint64_t nnz[3];		/* A, B, C; zero coefficients not counted */
	uint64_t a_aux, b_input, b_aux;	/* popcounts */
	uint8_t matrix[32], a_aux_density[32], b_input_density[32], b_aux_density[32];
	size_t n_blocks;
	uint8_t (*block)[32];
};

struct cs_witness_digest {
	uint8_t inputs[32], aux[32], a[32], b[32], c[32];
	size_t n_aux_blocks;
	uint8_t (*aux_block)[32];
	uint64_t first_bad;		/* row, UINT64_MAX: satisfied */
};

/* Two threads of their own, whatever the size; a few MiB.  -ENOMEM, -EIO (libcrypto). */
int cs_digest_shape(const struct cs *cs, struct cs_shape_digest *d);
int cs_digest_witness(const struct cs *cs, const struct cs_witness *w,
		      struct cs_witness_digest *d);
void cs_shape_digest_fini(struct cs_shape_digest *d);
void cs_witness_digest_fini(struct cs_witness_digest *d);

/*
 * The JSON of shape-*.json (w NULL) or witness-*.json, keys in order, no
 * newline behind the last brace.  -EIO when f fails.
 */
int cs_digest_print(FILE *f, const struct cs_shape_digest *d, const struct cs_witness_digest *w);

#endif
