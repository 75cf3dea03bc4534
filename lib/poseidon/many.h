/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * many.h - many Poseidon hashes of one arity
 *
 * Eight at once with AVX-512 IFMA where the machine has it, one by one
 * elsewhere; both give the same bytes.
 */
#ifndef CUZK_POSEIDON_MANY_H
#define CUZK_POSEIDON_MANY_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/bls12_381/fr.h"

/* out[i] = poseidon_hash(arity, in + i * arity), i < n. out may be in. */
void poseidon_hash_many(unsigned int arity, const struct fr *in, struct fr *out, size_t n);
/* The same without vectors, for tests. */
void poseidon_hash_many_portable(unsigned int arity, const struct fr *in, struct fr *out, size_t n);

/* many_ifma.c: exactly eight, on a machine with AVX-512 F, DQ, VL and IFMA */
bool poseidon_has_ifma(void);
void poseidon_hash_8_ifma(unsigned int arity, const struct fr *in, struct fr *out);
/* The values of lane i (trace.h) to full + i * stride. */
void poseidon_trace_8_ifma(unsigned int arity, const struct fr *in, struct fr *full, size_t stride);

#endif
