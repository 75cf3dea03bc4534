/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * g2.h - E': y^2 = x^3 + 4(1 + u) over Fp2
 *
 * Affine: (0, 0) is infinity.  Jacobian: (X/Z^2, Y/Z^3), Z = 0 is infinity.
 */
#ifndef CUZK_BLS12_381_G2_H
#define CUZK_BLS12_381_G2_H

#include "lib/bls12_381/fp.h"
#include "lib/bls12_381/fr.h"

struct g2_affine {
	struct fp2 x, y;
};

struct g2 {
	struct fp2 x, y, z;
};

#endif
