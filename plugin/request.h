/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * request.h - a request as one flat, sealed memory file
 *
 * Layout: struct request_header, n_vanilla_proofs struct request_range, then
 * the bytes of all blobs, each at a multiple of 64.  Offsets count from the
 * start of the file.  The file is sealed against writing, growing and
 * shrinking before it leaves the service, so that whoever maps it may check it
 * once and then trust it.
 */
#ifndef CUZK_PLUGIN_REQUEST_H
#define CUZK_PLUGIN_REQUEST_H

#include <stddef.h>
#include <stdint.h>

#include "plugin/api/cuzk_engine.h"

#define REQUEST_MAGIC 0x31717265757a6b63ull	/* "ckzuerq1" */
#define REQUEST_PROOFS_MAX (1u << 20)		/* vanilla proofs of one request */
#define REQUEST_BYTES_MAX (1ull << 32)		/* of the whole file */

struct request_range {
	uint64_t offset, len;
};

struct request_header {
	uint64_t magic, total;
	uint32_t kind, partition_index;
	uint64_t registered_proof, sector_size, sector_number, miner_id;
	struct request_range vanilla_proof, randomness, comm_r_old, comm_r_new, comm_d_new;
	uint64_t n_vanilla_proofs;
};

/*
 * Copies a request into a new memory file.  *fd is the caller's (close-on-exec,
 * sealed).  -EMSGSIZE: too many vanilla proofs or bytes; -errno of memfd.
 */
int request_pack(const struct cuzk_request *request, int *fd);

/* A request mapped read-only. */
struct request_map {
	struct cuzk_request request;	/* points into the mapping */
	struct cuzk_blob *vanilla_proofs;
	void *base;
	size_t len;
};

/*
 * Maps and checks fd, which stays the caller's.  -EPERM: not sealed;
 * -EBADMSG: not a request, or ranges outside the file; -ENOMEM.
 */
int request_map(struct request_map *map, int fd);
void request_unmap(struct request_map *map);

#endif
