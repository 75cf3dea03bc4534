/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* coset_make.h - makes the file that coset.h describes */
#ifndef CUZK_GROTH16_COSET_MAKE_H
#define CUZK_GROTH16_COSET_MAKE_H

#include <stdio.h>

#include "engine/groth16/coset.h"
#include "engine/groth16/make.h"

/* Whose parameters, and with what they are rearranged. */
struct coset_source {
	const struct cs *cs;
	const struct params *params;	/* that match cs */
	const char *name;		/* of their file, for messages */
	const struct gpu_ops *ops;
	struct gpu *gpu;
	struct tpool *pool;
	const struct progress *progress;
};

/*
 * From the parameters alone, by two transforms in G1 (gpu.h); the points are
 * decoded and tested to be on the curve, their order is taken on trust (params
 * check --full tests it, and so does every proof's verification).  Needs 96 bytes
 * of host memory for every row of the domain and 144 for every variable.
 */
int coset_make(const struct coset_source *from, FILE *f, struct cuzk_error *err);
/*
 * From the waste that the parameters were made of: the points are multiples of
 * the generator.  Not the same points, for in bellman's h a power of tau is
 * missing whose scalar is always 0; the same proofs.
 */
int coset_make_toxic(const struct coset_source *from, const struct toxic_waste *toxic, FILE *f,
		     struct cuzk_error *err);

struct make_values;
/* The scalars behind such points of h, canonical: n of them from place first. */
void coset_h_scalars(const struct cs *cs, const struct make_values *v,
		     const struct toxic_waste *toxic, uint64_t first, size_t n, struct scalar *out);
/* C_i t(tau) / (2 delta): a variable's part of the sum over C. */
void coset_c_part(struct fr *out, const struct make_values *v, uint64_t variable);

#endif
