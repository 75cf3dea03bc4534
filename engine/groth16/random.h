/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * random.h - scalars from the kernel's random numbers
 */
#ifndef CUZK_GROTH16_RANDOM_H
#define CUZK_GROTH16_RANDOM_H

#include "lib/bls12_381/fr.h"

/* Uniform below r. -errno of getrandom(2). */
int random_scalar(struct scalar *s);

#endif
