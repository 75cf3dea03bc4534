/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * kept.h - prepared parameters in memory that the host keeps over a restart
 *
 * One sealed memfd a circuit: a page with a header that says exactly what it was
 * made of (the file's identity and digest, the counts, the form of the points),
 * then the device layer's memory, then a CRC-32C of each KEPT_BLOCK of that.  It is
 * taken only when the header is, byte for byte, the one that would be written
 * now, and its own checksum and that of the table are right.
 *
 * The points themselves are not read then: 50 GiB take seconds, and a service
 * shall be ready within one.  They are verified afterwards in the background,
 * block by block, and before their first use: a job that comes first waits for
 * its own circuit, which goes first.  A CRC and no digest, since the memory is
 * sealed and the danger is a bit that flips, not somebody who forges; a block of
 * 1 MiB with any three wrong bits, or any burst of 32, is found for certain, other
 * damage but for one in 2^32, and a wrong point that slips through makes a
 * proof that does not verify.  It costs one pass at the memory's speed, where a
 * digest would cost minutes.
 */
#ifndef CUZK_GROTH16_KEPT_H
#define CUZK_GROTH16_KEPT_H

#include <stdbool.h>
#include <stddef.h>

#include "gpu/gpu.h"

struct cuzk_error;
struct cuzk_instance;
struct circuit_state;
struct key;

struct kept {
	void *map;	/* NULL: none */
	size_t size;
	void *points;	/* for gpu_srs_desc.memory */
	uint64_t bytes;	/* of the points */
	bool filling;	/* between kept_new() and kept_seal(): */
	int fd;
};

/* Has the host such memory, and the device layer a use for it? */
bool kept_offered(const struct cuzk_instance *inst);
/* Does the host keep something for the circuit?  If so it is this instance's too. */
bool kept_exists(struct cuzk_instance *inst, const struct circuit_state *line);

/* Maps what the host keeps for the key's parameters.  -ENOENT: nothing, or not of these. */
int kept_take(struct cuzk_instance *inst, const struct key *key, const struct gpu_srs_desc *desc,
	      struct kept *kept);
/* New memory to load into. -ENOMEM. */
int kept_new(struct cuzk_instance *inst, const struct key *key, const struct gpu_srs_desc *desc,
	     struct kept *kept);
/* It is filled and nothing points into it: sealed, handed to the host, mapped for reading. */
int kept_seal(struct cuzk_instance *inst, const struct key *key, struct kept *kept);
void kept_close(struct kept *kept);

#define KEPT_BLOCK (1u << 20)

uint64_t kept_blocks(const struct kept *kept);
/* Has the block still the content that was sealed? */
bool kept_block_good(const struct kept *kept, uint64_t block);

/* The thread that verifies what was taken: kept_verify.c. */
int kept_verify_start(struct cuzk_instance *inst, struct cuzk_error *err);
void kept_verify_stop(struct cuzk_instance *inst);

/* The instance needs the circuit's no more. */
void kept_drop(struct cuzk_instance *inst, const struct circuit_state *line);

#endif
