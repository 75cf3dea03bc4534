/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * fp.h - the base field of BLS12-381, p of 381 bits, and its quadratic extension
 *
 * struct fp is in Montgomery form, x * 2^384 mod p, always fully reduced:
 * equal elements are equal bytes.
 */
#ifndef CUZK_BLS12_381_FP_H
#define CUZK_BLS12_381_FP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fp {
	uint64_t l[6];
};

/* c0 + c1 u, u^2 = -1 */
struct fp2 {
	struct fp c0, c1;
};

#endif
