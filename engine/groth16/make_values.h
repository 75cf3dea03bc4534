/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* make_values.h - the polynomials of a system at tau, for making parameters */
#ifndef CUZK_GROTH16_MAKE_VALUES_H
#define CUZK_GROTH16_MAKE_VALUES_H

#include "engine/groth16/make.h"

struct make_values {
	uint64_t n_vars;		/* inputs, then aux */
	struct fr *at, *bt, *ct;	/* A_i, B_i, C_i at tau by variable */
	struct fr t;			/* the domain's polynomial at tau */
	struct fr inv_gamma, inv_delta;
};

/*
 * Needs 32 bytes for every row of the domain while it works, and 96 for every
 * variable.  The basis decides the roots of unity.  -EINVAL: waste that gives no
 * valid parameters; also fini after an error.
 */
int make_values_init(struct make_values *v, const struct cs *cs, const struct toxic_waste *toxic,
		     enum gpu_h_basis basis, struct tpool *pool, struct cuzk_error *err);
void make_values_fini(struct make_values *v);

/* out = beta A_i + alpha B_i + C_i */
static inline void make_combined(struct fr *out, const struct make_values *v,
				 const struct toxic_waste *toxic, uint64_t i)
{
	struct fr w;

	fr_mul(out, &toxic->beta, &v->at[i]);
	fr_mul(&w, &toxic->alpha, &v->bt[i]);
	fr_add(out, out, &w);
	fr_add(out, out, &v->ct[i]);
}

#endif
