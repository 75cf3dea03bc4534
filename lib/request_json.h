/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * request_json.h - a SubmitProofRequest in protobuf's JSON mapping
 *
 * As grpcurl and protojson write it: lowerCamelCase names or those of the
 * .proto, integers as numbers or strings, enums as names or numbers, bytes in
 * standard or URL-safe base64, null for "not set".  A name that is unknown or
 * occurs twice is refused.
 */
#ifndef CUZK_LIB_REQUEST_JSON_H
#define CUZK_LIB_REQUEST_JSON_H

#include <stddef.h>
#include <stdint.h>

struct request_bytes {
	const uint8_t *data;
	size_t len;
};

/* Numbers of cuzk.v1.ProofKind and cuzk.v1.Priority; fields not set are zero. */
struct request_json {
	const char *request_id;		/* NUL-terminated, never NULL */
	uint32_t proof_kind;
	uint32_t priority;
	uint32_t partition_index;
	uint64_t sector_size;
	uint64_t registered_proof;
	uint64_t sector_number;
	uint64_t miner_id;
	struct request_bytes vanilla_proof;
	const struct request_bytes *vanilla_proofs;
	size_t n_vanilla_proofs;
	struct request_bytes randomness;
	struct request_bytes comm_r_old, comm_r_new, comm_d_new;
};

#define REQUEST_JSON_MAX (1ull << 30)	/* bytes of text */
#define REQUEST_JSON_MAX_PROOFS 4096	/* a WindowPoSt partition has up to 2349 */

/*
 * Reads text, which is not needed afterwards.  *out is one allocation, freed
 * by free().  -EINVAL: err has one line; -ENOMEM: likewise.
 */
int request_json_parse(const char *text, size_t len, struct request_json **out, char *err,
		       size_t err_size);

#endif
