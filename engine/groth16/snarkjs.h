/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * snarkjs.h - proofs, public signals and verifying keys as snarkjs' JSON
 *
 * Numbers are decimal strings, points projective with a last coordinate of
 * "1" (G2: "1", "0"), elements of Fp2 are [c0, c1].
 */
#ifndef CUZK_GROTH16_SNARKJS_H
#define CUZK_GROTH16_SNARKJS_H

#include <stdio.h>

#include "engine/groth16/vk.h"

/* Errors are the stream's: ferror(). */
void snarkjs_put_proof(FILE *f, const struct proof *proof);
/* inputs[0..n) behind ONE, Montgomery form. */
void snarkjs_put_public(FILE *f, const struct fr *inputs, size_t n);
/* Without vk_alphabeta_12, which snarkjs does not read. */
void snarkjs_put_vkey(FILE *f, const struct vk *vk);

/* Readers, for verifying; CUZK_ERROR_INPUT (proof, public) or CUZK_ERROR_PARAMS. */
int snarkjs_get_proof(struct proof *proof, const char *name, const char *text, size_t len,
		      struct cuzk_error *err);
/* *inputs is malloced. */
int snarkjs_get_public(struct fr **inputs, size_t *n, const char *name, const char *text,
		       size_t len, struct cuzk_error *err);
/* Ends with vk_fini(). */
int snarkjs_get_vkey(struct vk *vk, const char *name, const char *text, size_t len,
		     struct cuzk_error *err);

#endif
