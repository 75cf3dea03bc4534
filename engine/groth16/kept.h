/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * kept.h - prepared parameters in memory that the host keeps over a restart
 *
 * One sealed memfd a circuit: a page with a header that says exactly what it was
 * made of (the file's identity and digest, the counts, the form of the points),
 * then the device layer's memory.  It is taken only when the header is, byte
 * for byte, the one that would be written now.
 */
#ifndef CUZK_GROTH16_KEPT_H
#define CUZK_GROTH16_KEPT_H

#include <stdbool.h>
#include <stddef.h>

#include "gpu/gpu.h"

struct cuzk_instance;
struct circuit_state;
struct key;

struct kept {
	void *map;	/* NULL: none */
	size_t size;
	void *points;	/* for gpu_srs_desc.memory */
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

/* The instance needs the circuit's no more. */
void kept_drop(struct cuzk_instance *inst, const struct circuit_state *line);

#endif
