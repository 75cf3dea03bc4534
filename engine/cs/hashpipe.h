/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* hashpipe.h - SHA-256 of up to three streams on a thread of its own */
#ifndef CUZK_CS_HASHPIPE_H
#define CUZK_CS_HASHPIPE_H

#include <stddef.h>
#include <stdint.h>

#define HASHPIPE_STREAMS 3

struct hashpipe;

struct hashpipe_slot {
	uint8_t *buf[HASHPIPE_STREAMS];
	size_t len[HASHPIPE_STREAMS];
};

/* slot_size bytes for each of n streams.  -ENOMEM, -EAGAIN, -EIO (libcrypto) */
int hashpipe_open(struct hashpipe **p, unsigned int n_streams, size_t slot_size);
/* An empty slot to fill; waits for one. */
struct hashpipe_slot *hashpipe_get(struct hashpipe *p);
/* Queues the slot got last. */
void hashpipe_put(struct hashpipe *p);
/* Waits, gives the n digests (out may be NULL) and frees p.  -EIO. */
int hashpipe_close(struct hashpipe *p, uint8_t (*out)[32]);

#endif
