/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * sample.h - requests with consistent made-up sectors, for tests and benchmarks
 *
 * A sector is made up so that every check of vanilla_admit() passes and every
 * constraint is satisfied, without sealing one: its trees have few different
 * leaves, and for PoRep only the labels that are opened obey the graph.  All
 * sizes work; of PoRep, the synthetic and non-interactive kinds need the whole
 * sector labelled, which is done up to 8 MiB.
 */
#ifndef CUZK_VANILLA_SAMPLE_H
#define CUZK_VANILLA_SAMPLE_H

#include "plugin/api/cuzk_engine.h"

struct vanilla_sample {
	struct cuzk_request req;	/* all its memory belongs to the sample */
	struct cuzk_blob *blobs;
	void *owned[4];
};

/*
 * n_sectors: WindowPoSt only (0: a full partition).  The same seed gives the
 * same bytes.  -EINVAL: no such registered proof; -ENOTSUP: see above; -ENOMEM.
 */
int vanilla_sample_make(enum cuzk_proof_kind kind, unsigned int registered, unsigned int n_sectors,
			uint64_t seed, struct vanilla_sample **out);
void vanilla_sample_free(struct vanilla_sample *s);	/* NULL is accepted */

#endif
