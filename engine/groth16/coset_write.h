/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* coset_write.h - writes the file that coset.h describes, from front to back */
#ifndef CUZK_GROTH16_COSET_WRITE_H
#define CUZK_GROTH16_COSET_WRITE_H

#include <stdio.h>

#include "engine/groth16/coset.h"
#include "lib/blake2b.h"
#include "lib/tpool.h"

struct coset_writer {
	FILE *f;
	struct blake2b digest;
	uint8_t header[COSET_HEADER];
	uint8_t *bytes;		/* of points being encoded */
};

/* Points at once. */
#define COSET_CHUNK ((size_t)1 << 16)

/*
 * For parameters of a system, with n_h points of h.  All return 0 or -errno of
 * the stream; close in any case.
 */
int coset_write_open(struct coset_writer *w, FILE *f, const struct params *params, uint32_t n_h);
void coset_write_close(struct coset_writer *w);
/* Points as they stand in the file, then at the end the header. */
int coset_write_bytes(struct coset_writer *w, const void *data, size_t size);
int coset_write_points(struct coset_writer *w, struct tpool *pool, const struct g1_affine *points,
		       size_t n);
int coset_write_end(struct coset_writer *w);

#endif
