/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* core_portable.c - the core in portable C, the twin that every other one is tested against */
#define BLS_SUFFIX portable
#define BLS_SUFFIX_STR "portable"

#include "lib/bls12_381/names.h"
#include "lib/bls12_381/ops.h"
#include "lib/bls12_381/limbs.h"
#include "lib/bls12_381/fp_portable.h"
#include "lib/bls12_381/core_impl.h"
