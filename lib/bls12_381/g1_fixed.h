/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * g1_fixed.h - sums k_0 B_0 + k_1 B_1 + ... over bases known in advance
 *
 * Made for the public inputs of a verifying key.  Each base gets a table of
 * odd multiples, 12 KiB up to 512 bases, 1.5 KiB up to 4096, 768 bytes above;
 * the points that the digits of the scalars select are summed with shared
 * inversions.  A struct g1_fixed may be used by any number of threads.
 */
#ifndef CUZK_BLS12_381_G1_FIXED_H
#define CUZK_BLS12_381_G1_FIXED_H

#include "lib/bls12_381/g1.h"

struct g1_fixed;

/* The bases are of order r, or infinity; they are copied.  0 or -ENOMEM. */
int g1_fixed_open(struct g1_fixed **fixed, const struct g1_affine *bases, size_t n);
void g1_fixed_close(struct g1_fixed *fixed);
size_t g1_fixed_n(const struct g1_fixed *fixed);
/* r = sum of k[i] times base i, for the first n bases; 0 or -ENOMEM */
int g1_fixed_sum(struct g1 *r, const struct g1_fixed *fixed, const struct scalar *k, size_t n);

#endif
