/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * bench-model.h - the memory of a proof, computed
 */
#ifndef CUZK_TOOLS_BENCH_MODEL_H
#define CUZK_TOOLS_BENCH_MODEL_H

#include "gpu/gpu.h"
#include "lib/cs.h"

struct model {			/* bytes */
	uint64_t params;	/* points, prepared */
	uint64_t cs;		/* templates and instances */
	uint64_t witness;
	uint64_t quotient;	/* a, b and h, each as long as the domain */
	uint64_t sum_h;		/* h and the scratch of its sum */
	uint64_t sum_b2;	/* selection of the witness and the scratch of the largest other sum */
	uint64_t prover;	/* the largest of the three: what prove_bytes() says */
	uint64_t peak;		/* of all, without the program itself */
	/* the classic way: explicit matrices, a, b, c and a full witness */
	uint64_t dense_cs, dense_witness, dense_abc;
};

void model_make(struct model *m, const struct gpu_ops *ops, struct gpu *gpu, const struct cs *cs,
		unsigned int threads);

#endif
