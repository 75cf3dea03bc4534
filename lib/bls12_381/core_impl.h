/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* core_impl.h - everything that is compiled once per instruction set */
#include "lib/bls12_381/inv_impl.h"
#include "lib/bls12_381/fr_impl.h"
#include "lib/bls12_381/fp_impl.h"
#include "lib/bls12_381/fp2_impl.h"
#include "lib/bls12_381/glv_impl.h"
#include "lib/bls12_381/g1_impl.h"
#include "lib/bls12_381/g2_impl.h"
#include "lib/bls12_381/fp12_impl.h"
#include "lib/bls12_381/pairing_impl.h"

const struct bls_ops BLS_NAME(bls_ops) = {
	.name = BLS_SUFFIX_STR,
#define X(type, fn, params, args) .op_##fn = fn,
	BLS_OPS(X)
#undef X
};
