/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * convert.h - snarkjs' .zkey to .params and back, as far as nothing is lost
 *
 * A key belongs to its roots of unity: they decide which value of the
 * polynomials stands for which constraint.  snarkjs takes them from 5,
 * bellperson from 7, and no key can be turned into one for the other's.
 * What a .zkey becomes is therefore a .params with its own h points, as many
 * as the domain has (params.h), which only provers that know of them use; a
 * .params of bellperson's kind is refused on the way to a .zkey.
 *
 * Lost on the way to .params: the coefficients, which the .r1cs has, and the
 * contributions' record (section 10), which no prover needs.  A key with a
 * wire in no constraint is refused, its l point would be infinity.
 * On the way back the record says that there were no contributions.
 */
#ifndef CUZK_GROTH16_CONVERT_H
#define CUZK_GROTH16_CONVERT_H

#include <stdio.h>

#include "engine/groth16/params.h"
#include "engine/groth16/zkey.h"

/* name is for messages. Every point is checked to be on the curve. */
int convert_zkey_to_params(const struct zkey *z, const char *name, FILE *out,
			   struct cuzk_error *err);
/* cs is of the .r1cs that the key was made for. */
int convert_params_to_zkey(const struct params *p, const char *name, const struct cs *cs,
			   FILE *out, struct cuzk_error *err);

#endif
