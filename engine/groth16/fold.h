/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* fold.h - points of rows, summed for each variable by a system's C */
#ifndef CUZK_GROTH16_FOLD_H
#define CUZK_GROTH16_FOLD_H

#include "engine/groth16/progress.h"
#include "lib/bls12_381/g1.h"
#include "lib/cs.h"
#include "lib/tpool.h"

/*
 * out[i] = sum over the rows j of C_ji rows[j], for all variables i, inputs
 * first; rows has a point for every row of the instances.  So a sum over the
 * values of C w is one over w.  -ENOMEM.
 */
int fold_points(const struct cs *cs, struct tpool *pool, const struct g1_affine *rows,
		struct g1 *out, const struct progress *progress);

#endif
