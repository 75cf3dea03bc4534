/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * poseidon.h - the Poseidon hash of Filecoin's trees (filecoin-spec section 5)
 *
 * Width t = arity + 1, x^5, 8 full rounds, constants from the Grain LFSR, in
 * the optimised form: one key per partial round, sparse matrices.
 *
 * The constants are computed on first use, about 10 ms an arity, and kept
 * for the life of the process: a generated table would be 300 KB of digits
 * that nobody reads, and the hash vectors check the computation anyway.
 * pthread_once makes that safe from any thread; nothing changes afterwards.
 */
#ifndef CUZK_POSEIDON_H
#define CUZK_POSEIDON_H

#include <stddef.h>
#include <stdint.h>

#include "lib/bls12_381/fr.h"

#define POSEIDON_MAX_ARITY 11
#define POSEIDON_MAX_WIDTH (POSEIDON_MAX_ARITY + 1)
#define POSEIDON_FULL_ROUNDS 8

enum poseidon_tag {
	POSEIDON_MERKLE,	/* 2^arity - 1 */
	POSEIDON_CUSTOM,	/* 2^40: HashType::Custom(Arbitrary(1)), SnapDeals */
};

/* Everything of one arity; elements in Montgomery form. */
struct poseidon_constants {
	unsigned int width;		/* t */
	unsigned int partial_rounds;
	/*
	 * Keys in the order they are used: t before round 0; then behind the
	 * S-boxes t for each of the 4 first full rounds, one for each partial
	 * round, t for each of 3 full rounds.  The last round has none.
	 */
	const struct fr *keys;
	const struct fr *mds;		/* t*t, row-major; new[j] = sum s[i] * mds[i*t+j] */
	const struct fr *pre_sparse;	/* t*t, instead of mds behind round 3 */
	/*
	 * A partial round's matrix: t of column 0 (w_hat), then t-1 of row 0
	 * behind the corner (v_rest); partial_rounds times 2t-1.
	 * new[0] = sum s[i] * w_hat[i], new[j] = s[j] + v_rest[j-1] * s[0].
	 */
	const struct fr *sparse;
};

/* arity 2, 4, 8 or 11; NULL otherwise */
const struct poseidon_constants *poseidon_constants(unsigned int arity);
void poseidon_tag(enum poseidon_tag tag, unsigned int arity, struct fr *out);

/* out = hash of in[0..arity); arity 2, 4, 8 or 11 (assert). out may be in in. */
void poseidon_hash(unsigned int arity, const struct fr *in, struct fr *out);
void poseidon_hash_tag(enum poseidon_tag tag, unsigned int arity, const struct fr *in,
		       struct fr *out);

#endif
