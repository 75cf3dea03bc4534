/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * submit.h - a SubmitProofRequest from the wire to a request file
 *
 * The message may be 256 MiB, so it is never unpacked in memory: the reader
 * walks over the pieces that the network layer holds, notes where each blob
 * lies, and copies the blobs once, into the sealed memory file of request.h.
 */
#ifndef CUZK_PLUGIN_SUBMIT_H
#define CUZK_PLUGIN_SUBMIT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "plugin/api/cuzk_engine.h"

#define SUBMIT_ID_SIZE 256		/* bytes of a request_id that are kept, NUL included */
#define SUBMIT_DIGEST_SIZE 32

enum submit_priority {			/* numbers of cuzk.v1.Priority */
	SUBMIT_PRIORITY_UNSPECIFIED = 0,
	SUBMIT_PRIORITY_LOW = 1,
	SUBMIT_PRIORITY_NORMAL = 2,
	SUBMIT_PRIORITY_HIGH = 3,
	SUBMIT_PRIORITY_CRITICAL = 4,
};

/* What a request asks for, without its payload. */
struct submission {
	char request_id[SUBMIT_ID_SIZE];	/* printable; a name for people */
	uint32_t kind;			/* enum cuzk_proof_kind, never UNSPECIFIED */
	uint32_t priority;		/* enum submit_priority, never UNSPECIFIED */
	uint32_t partition_index;
	uint64_t registered_proof, sector_size, sector_number, miner_id;
	/*
	 * Identity of the work: SHA-256 over everything that decides the proof
	 * (kind, registered proof, miner, sector and its size, randomness,
	 * commitments, partition, payload), and over nothing else.
	 */
	uint8_t digest[SUBMIT_DIGEST_SIZE];
	int fd;				/* request file; the submission's; -1: taken */
	uint64_t bytes;			/* of the request file */
};

#define SUBMIT_ERROR_TEXT 160

/*
 * Reads a SubmitProofRequest, or, with nested set, a ProveRequest that wraps
 * one.  *sub is the caller's.  On an error text says in one line what is wrong:
 * -EINVAL: not a valid message, or a kind that does not exist; -EMSGSIZE: more
 * vanilla proofs than REQUEST_PROOFS_MAX; -ENOENT: a ProveRequest without
 * submit; -ENOMEM, -errno of memfd.
 */
int submission_read(struct submission **sub, const struct iovec *iov, int n_iov, int nested,
		    char text[SUBMIT_ERROR_TEXT]);
void submission_free(struct submission *sub);

/* The digest of a request in memory: what submission_read() found for the same one. */
int submission_digest(const struct cuzk_request *request, uint8_t digest[SUBMIT_DIGEST_SIZE]);

/* The priority that a kind has by itself. */
uint32_t submission_default_priority(uint32_t kind);

#endif
