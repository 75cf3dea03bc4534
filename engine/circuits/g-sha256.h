/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* g-sha256.h - between g-sha256.c and the witness kernel */
#ifndef CUZK_CIRCUITS_G_SHA256_H
#define CUZK_CIRCUITS_G_SHA256_H

#include "engine/circuits/synth.h"

/* args: 512 message bits, 256 state bits, as gadget_sha256_block() binds them */
void sha256_block_values(struct synth *s, const uint32_t *args, const struct cs_instance *pos);

#endif
