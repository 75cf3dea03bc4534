/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * g1.h - E: y^2 = x^3 + 4 over Fp
 *
 * Affine: (0, 0) is infinity.  Jacobian: (X/Z^2, Y/Z^3), Z = 0 is infinity.
 */
#ifndef CUZK_BLS12_381_G1_H
#define CUZK_BLS12_381_G1_H

#include "lib/bls12_381/fp.h"
#include "lib/bls12_381/fr.h"

struct g1_affine {
	struct fp x, y;
};

struct g1 {
	struct fp x, y, z;
};

#endif
