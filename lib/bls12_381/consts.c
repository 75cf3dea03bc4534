/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* consts.c - the constants that the headers declare */
#include "lib/bls12_381/consts.h"
#include "lib/bls12_381/fp12.h"

const struct fp fp_zero;
const struct fp fp_one = FP_ONE_INIT;
const struct fp2 fp2_zero;
const struct fp2 fp2_one = { FP_ONE_INIT };
const struct fp12 fp12_one = { { { FP_ONE_INIT } } };
const struct g1_affine G1_GENERATOR = G1_GENERATOR_INIT;
const struct g2_affine G2_GENERATOR = G2_GENERATOR_INIT;
