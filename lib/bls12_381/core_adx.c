/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* core_adx.c - the core over BMI2 and ADX, x86-64 */
#define BLS_SUFFIX adx
#define BLS_SUFFIX_STR "adx"

#include "lib/bls12_381/names.h"
#include "lib/bls12_381/ops.h"
#include "lib/bls12_381/limbs.h"
#include "lib/bls12_381/fp_adx.h"
#include "lib/bls12_381/core_impl.h"
