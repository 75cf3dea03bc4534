/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * encoding.h - points of G1 and G2 as bytes, the Zcash format
 *
 * Coordinates are big-endian; of Fp2 the coefficient of u comes first.  The
 * three top bits of the first byte: 0x80 compressed, 0x40 infinity (all else
 * zero), 0x20 of compressed points: y is the larger of y and -y.
 */
#ifndef CUZK_BLS12_381_ENCODING_H
#define CUZK_BLS12_381_ENCODING_H

#include "lib/bls12_381/g1.h"
#include "lib/bls12_381/g2.h"

enum point_status {
	POINT_OK = 0,
	POINT_BAD_FLAGS,	/* the three top bits do not fit the format */
	POINT_NOT_CANONICAL,	/* a coordinate not below p; infinity with other bits set */
	POINT_INFINITY,		/* infinity, which the caller does not allow */
	POINT_NOT_ON_CURVE,
	POINT_NOT_IN_SUBGROUP,
};

/* What a decoder lets pass; 0 for points that must be of order r. */
enum point_flags {
	POINT_ALLOW_INFINITY = 1 << 0,
	POINT_ANY_ORDER = 1 << 1,	/* skip the subgroup check: trusted or checked elsewhere */
};

#define G1_UNCOMPRESSED_SIZE 96
#define G1_COMPRESSED_SIZE 48
#define G2_UNCOMPRESSED_SIZE 192
#define G2_COMPRESSED_SIZE 96

/* r is written on POINT_OK only. */
enum point_status g1_from_uncompressed(struct g1_affine *r, const uint8_t in[96],
				       unsigned int flags);
enum point_status g1_from_compressed(struct g1_affine *r, const uint8_t in[48], unsigned int flags);
enum point_status g2_from_uncompressed(struct g2_affine *r, const uint8_t in[192],
				       unsigned int flags);
enum point_status g2_from_compressed(struct g2_affine *r, const uint8_t in[96], unsigned int flags);

void g1_to_uncompressed(uint8_t out[96], const struct g1_affine *a);
void g1_to_compressed(uint8_t out[48], const struct g1_affine *a);
void g2_to_uncompressed(uint8_t out[192], const struct g2_affine *a);
void g2_to_compressed(uint8_t out[96], const struct g2_affine *a);

/* A few words for an error message: "is not on the curve". */
const char *point_status_str(enum point_status status);

#endif
