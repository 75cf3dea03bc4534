/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * circuit.h - the circuits by name: systems and witnesses
 *
 * A circuit's constraint system is built once from its name alone and shared
 * by all proofs of it; a witness is made for each proof from the inputs of
 * input.h.  Both follow the reference's order of allocations and constraints
 * (filecoin-spec section 4), so variables and rows have the same numbers.
 */
#ifndef CUZK_CIRCUITS_CIRCUIT_H
#define CUZK_CIRCUITS_CIRCUIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/circuits/input.h"
#include "lib/cs.h"
#include "lib/tpool.h"

enum circuit_kind {
	CIRCUIT_TINY,
	CIRCUIT_WINNING,
	CIRCUIT_WINDOW,
	CIRCUIT_POREP,
	CIRCUIT_UPDATE,
	CIRCUIT_UPDATE_POSEIDON,
};

/* A tree's shape: levels of arity base, then at most one each of sub and top (0: none). */
struct circuit_tree {
	unsigned int base_levels, base, sub, top;
};

struct circuit {
	char name[32];
	enum circuit_kind kind;
	unsigned int log_nodes;		/* of the sector, 32-byte nodes */
	struct circuit_tree tree;	/* TreeR and TreeC */
	unsigned int layers;		/* PoRep */
	unsigned int partitions;	/* of one proof (Update: selects the partition's bits) */
	unsigned int sectors;		/* PoSt, each partition */
	unsigned int challenges;	/* each partition (PoSt: each sector) */
	unsigned int apex_leafs;	/* Update */
	unsigned int steps;		/* tiny-N */
};

/*
 * KIND-SIZE, KIND one of winning, window, porep, update, update-poseidon, SIZE
 * one of 2k, 8m, 512m, 32g, 64g; or tiny-N, 1 <= N <= 1000000.
 * 0, or -ENOENT for a name that is none of these.
 */
int circuit_find(const char *name, struct circuit *c);
/* The i-th name of the list (tiny-1, 3, 100 stand for all tiny-N), NULL behind the last. */
const char *circuit_name(size_t i);

/* -ENOMEM.  The system is freed by cs_free() (engine/cs/system.h). */
int circuit_build(const struct circuit *c, struct cs **cs);

/*
 * Makes the witness of input for cs, which circuit_build() or the cache file
 * gave for the same circuit.  Challenges run on pool's threads.  -EINVAL when
 * a count does not fit the circuit (err, 256 bytes, says which), -ENOMEM.
 * w is freed by cs_witness_fini() (engine/cs/system.h).
 */
int circuit_witness(const struct circuit *c, const struct cs *cs, union circuit_input input,
		    struct tpool *pool, struct cs_witness *w, char *err);

#endif
