/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * gadgets.h - the gadgets that the circuits are made of (filecoin-spec 4.0)
 *
 * Variables are global ones (lib/cs.h); arguments that are Booleans may be
 * CS_ARG_FALSE or CS_ARG_TRUE.  Value pointers are read in witness passes
 * only.  A bit result is the first of consecutive aux variables.
 */
#ifndef CUZK_CIRCUITS_GADGETS_H
#define CUZK_CIRCUITS_GADGETS_H

#include "engine/circuits/synth.h"
#include "lib/poseidon/trace.h"

enum gadget_kind {
	GADGET_TINY_HEAD = 1,
	GADGET_TINY_STEP,
	GADGET_TINY_TAIL,
	GADGET_ALLOC,
	GADGET_ALLOC_INPUT,
	GADGET_EQUAL,
	GADGET_ADD,
	GADGET_MUL,
	GADGET_TO_BITS,
	GADGET_PACK,
	GADGET_PATH_END,
	GADGET_UINT64,
	GADGET_POSEIDON,
	GADGET_SECTOR,
	GADGET_LEVEL,
	GADGET_LEVEL_GIVEN,
	GADGET_INSERT,
	GADGET_INSERT_GIVEN,
	GADGET_SHA256_BLOCK,
	GADGET_UPDATE_SELECT,
	GADGET_UPDATE_DIGEST,
	GADGET_UPDATE_HIGH_BITS,
	GADGET_UPDATE_ENCODE,
	GADGET_UPDATE_CHOOSE,
};

/* n aux without rows; values v[0..n) */
uint32_t gadget_alloc(struct synth *s, unsigned int n, const struct fr *v);
/* aux v, inputize(v) */
uint32_t gadget_alloc_input(struct synth *s, const struct fr *v);
void gadget_equal(struct synth *s, uint32_t a, uint32_t b);		/* a * one = b */
uint32_t gadget_add(struct synth *s, uint32_t a, uint32_t b);		/* (a + b) * one = s */
uint32_t gadget_mul(struct synth *s, uint32_t a, uint32_t b);		/* a * b = c */
/* 255 bits, least significant first; 0 * 0 = sum 2^i b_i - v */
uint32_t gadget_to_bits(struct synth *s, uint32_t v);
/* aux p of n <= 254 bits; (sum 2^i b_i) * one = p */
uint32_t gadget_pack(struct synth *s, const uint32_t *bits, unsigned int n);
/*
 * The end of a PoR: the path's bits packed into an input, then
 * computed * one = root.
 */
void gadget_path_end(struct synth *s, const uint32_t *bits, unsigned int n, uint32_t computed,
		     uint32_t root);
/* UInt64::alloc, then packed into an input: 64 bits */
uint32_t gadget_uint64(struct synth *s, uint64_t v);

/* circuit::poseidon_hash */
uint32_t gadget_poseidon(struct synth *s, enum poseidon_tag tag, unsigned int arity,
			 const uint32_t *in);
/*
 * FallbackPoSt's head of a sector: aux comm_r_last, comm_c, comm_r,
 * inputize(comm_r), poseidon2(comm_c, comm_r_last), comm_r * one = hash.
 * Returns comm_r_last.
 */
uint32_t gadget_sector(struct synth *s, const struct fr *comm_r_last, const struct fr *comm_c,
		       const struct fr *comm_r);

/*
 * One Poseidon level of a Merkle path of cur: log2(arity) index bits, arity-1
 * sibling aux, insert, hash.  Appends the bits to bits[*n_bits].
 */
uint32_t gadget_level(struct synth *s, unsigned int arity, uint32_t cur, unsigned int index,
		      const struct fr *siblings, uint32_t *bits, unsigned int *n_bits);
/*
 * A level of n <= GADGET_LANES paths at once, witness passes only: s, cur,
 * index, siblings and bits of each; cur becomes the hashes.
 */
#define GADGET_LANES 16
void gadget_level_many(struct synth *s, unsigned int n, unsigned int arity, uint32_t *cur,
		       const unsigned int *index, const struct fr *const *siblings,
		       uint32_t (*bits)[64], unsigned int *n_bits);
/* The same with bits and siblings that exist: insert, hash. */
uint32_t gadget_level_given(struct synth *s, unsigned int arity, uint32_t cur,
			    const uint32_t *bits, const uint32_t *siblings);
/* One index bit, one sibling, insert_2: out[2], bit appended */
void gadget_insert(struct synth *s, uint32_t cur, unsigned int index, const struct fr *sibling,
		   uint32_t out[2], uint32_t *bits, unsigned int *n_bits);
void gadget_insert_given(struct synth *s, uint32_t cur, uint32_t bit, uint32_t sibling,
			 uint32_t out[2]);

/* Booleans in SHA-256's order: the bits of a byte most significant first. */
#define SHA_STATE_BITS 256
#define SHA_BLOCK_BITS 512
void sha256_initial_state(uint32_t state[SHA_STATE_BITS]);	/* constants */
/* state[32*i + j]: bit j, least significant first, of word i */
void gadget_sha256_block(struct synth *s, const uint32_t msg[SHA_BLOCK_BITS],
			 uint32_t state[SHA_STATE_BITS]);
/* sha256 of n bits (a multiple of 8) with padding: 256 result bits in SHA-256's order */
void gadget_sha256(struct synth *s, const uint32_t *msg, size_t n, uint32_t out[SHA_STATE_BITS]);
/* to_bits_le(v), one 0 on top, reversed byte-wise */
void gadget_sha256_field(struct synth *s, uint32_t v, uint32_t out[256]);
/* First 254 bits of the byte-wise reversed hash, packed */
uint32_t gadget_sha256_pack(struct synth *s, const uint32_t hash[SHA_STATE_BITS]);
/* Merkle node of TreeD */
uint32_t gadget_sha256_node(struct synth *s, uint32_t left, uint32_t right);

/* The rows of a hash, for gadgets that contain one. */
uint32_t record_poseidon(struct rec *r, enum poseidon_tag tag, unsigned int arity,
			 const uint32_t *in);

#endif
