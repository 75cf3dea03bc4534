/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * trace.h - the values inside a Poseidon hash that its circuit makes variables
 *
 * In the circuit's order (filecoin-spec section 5): for each S-box its argument
 * x, x^2, x^4 and x^5 plus the key behind it, without x in the first round and
 * nothing of the tag's S-box there; then the hash.
 */
#ifndef CUZK_POSEIDON_TRACE_H
#define CUZK_POSEIDON_TRACE_H

#include "lib/poseidon/poseidon.h"

#define POSEIDON_MAX_TRACE 598	/* arity 11 */

/* How many values: 4 an S-box less those of the first round. */
size_t poseidon_trace_size(unsigned int arity);
/* Writes them to full and returns how many. */
size_t poseidon_trace(enum poseidon_tag tag, unsigned int arity, const struct fr *in,
		      struct fr *full);
/* n hashes with the Merkle tag: in[i * arity ...] to full[i], eight at once where it pays. */
void poseidon_trace_many(unsigned int arity, const struct fr *in, struct fr *const *full, size_t n);

#endif
