/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * prover.h - from the five sums to a proof (filecoin-spec 2.4)
 */
#ifndef CUZK_GROTH16_PROVER_H
#define CUZK_GROTH16_PROVER_H

#include "engine/groth16/vk.h"
#include "gpu/gpu.h"

/* The blinding of one proof, canonical. */
struct blinding {
	struct scalar r, s;
};

/* -errno of getrandom(2). */
int blinding_random(struct blinding *b);
/* "R,S", decimal. -EINVAL. */
int blinding_parse(struct blinding *b, const char *text);
/* r + i and s + i mod the order, for partition i of a proof with a given start. */
void blinding_offset(struct blinding *out, const struct blinding *b, uint32_t i);

void prover_assemble(struct proof *proof, const struct vk *vk, const struct gpu_sums *sums,
		     const struct blinding *b);

#endif
