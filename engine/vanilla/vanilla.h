/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * vanilla.h - from a request to what the circuits take, with every check
 *
 * vanilla_admit() parses the vanilla proofs of a request and proves to itself
 * that the circuits will be satisfied: proof kind against registered proof,
 * sector size and counts; every field element canonical; challenges derived
 * from randomness, replica id, seed or comm_r; every Merkle path hashed to its
 * root; comm_r = H(comm_c, comm_r_last); for PoRep also the replica id, the
 * parents of each challenged node, its labels and encoding; for SnapDeals
 * also the apex leaves and the relation of old, data and new leaf
 * (filecoin-spec sections 3 and 4).  What passes here is proved; what does not
 * is refused with one line that names the place.
 */
#ifndef CUZK_VANILLA_H
#define CUZK_VANILLA_H

#include "engine/circuits/input.h"
#include "lib/tpool.h"
#include "plugin/api/cuzk_engine.h"

struct vanilla;		/* immutable; any number of threads may read it */

/*
 * Hashing runs on pool's threads (NULL: the caller's).  The request's memory
 * is not used after the return.  -EINVAL: err has CUZK_ERROR_INPUT and names
 * what is wrong; -ENOMEM: CUZK_ERROR_RESOURCE.  plan may be NULL; otherwise its
 * circuit, n_partitions and host_bytes (what *out holds) are set, the rest is
 * left to whoever knows the prover.  err->size and plan->size are not touched.
 */
int vanilla_admit(const struct cuzk_request *req, struct tpool *pool, struct vanilla **out,
		  struct cuzk_plan *plan, struct cuzk_error *err);
void vanilla_free(struct vanilla *v);	/* NULL is accepted */

uint32_t vanilla_partitions(const struct vanilla *v);
/* Name of the circuit, as circuit_find() takes it: "porep-32g". */
const char *vanilla_circuit(const struct vanilla *v);
/* Input of one partition; lives as long as v.  partition < vanilla_partitions(v). */
union circuit_input vanilla_circuit_input(const struct vanilla *v, uint32_t partition);

/*
 * The public inputs of one partition behind ONE, as a verifier derives them:
 * from ids, randomness and commitments, not from the proof's paths.  *inputs
 * (Montgomery form) is the caller's to free.  -ENOMEM.
 */
int vanilla_public_inputs(const struct vanilla *v, uint32_t partition, struct fr **inputs,
			  size_t *n);

#endif
