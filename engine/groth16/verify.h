/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * verify.h - Groth16 verification (filecoin-spec 1.6)
 *
 * e(A, B) = e(alpha, beta) e(sum in_i ic_i, gamma) e(C, delta), in_0 = 1
 */
#ifndef CUZK_GROTH16_VERIFY_H
#define CUZK_GROTH16_VERIFY_H

#include "engine/groth16/vk.h"

struct pvk;	/* a prepared verifying key; immutable, for any number of threads */

/* Does what depends on the key alone; vk is not used afterwards. -ENOMEM. */
int pvk_open(struct pvk **pvk, const struct vk *vk);
void pvk_close(struct pvk *pvk);
uint32_t pvk_inputs(const struct pvk *pvk);	/* without ONE */

/*
 * inputs[0..n) behind ONE, Montgomery form.  1: valid, 0: not.  -EINVAL: n is
 * not what the key has.  proof's points must be of the right order, as
 * proof_read() makes sure.
 */
int pvk_verify(const struct pvk *pvk, const struct proof *proof, const struct fr *inputs, size_t n);
/*
 * All of n_proofs at once, with random weights: 1 when all are valid, 0 when
 * one is not (a wrong one passes with a chance of 2^-128).  inputs of proof i
 * begin at inputs[i * n].  -EINVAL as above, -ENOMEM, -errno of getrandom(2).
 */
int pvk_verify_batch(const struct pvk *pvk, const struct proof *proofs, size_t n_proofs,
		     const struct fr *inputs, size_t n);

#endif
