/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* g-update.h - the gadgets that only SnapDeals has (filecoin-spec 4.3) */
#ifndef CUZK_CIRCUITS_G_UPDATE_H
#define CUZK_CIRCUITS_G_UPDATE_H

#include "engine/circuits/synth.h"

#define UPDATE_HS 6
#define UPDATE_MAX_APEX 128

/* aux v, inputize; n bits; (sum 2^i b_i) * one = v.  Returns the first bit. */
uint32_t gadget_update_select(struct synth *s, unsigned int n, uint64_t v);
/*
 * aux index; (per_partition * partition + j * one) * one = index;
 * P(comm_r_new, index); 255 bits; (sum 2^i b_i) * one = digest.
 * Returns the first bit.
 */
uint32_t gadget_update_digest(struct synth *s, uint32_t partition, uint32_t comm_r_new,
			      uint32_t per_partition, uint32_t j);
/*
 * The high bits of a challenge of n bits, as many as the selected h:
 * six times { pack(top h bits), z = packed * h_bit }, sum of z.
 * hs: the six h, lowest byte first.
 */
uint32_t gadget_update_high_bits(struct synth *s, uint64_t hs, const uint32_t *h_bits,
				 const uint32_t *c_bits, unsigned int n);
/*
 * aux leaf_r_old, leaf_d_new, t = leaf_d_new * rho, leaf_r_new;
 * (leaf_r_old + t) * one = leaf_r_new.  Returns the first of the four.
 */
uint32_t gadget_update_encode(struct synth *s, uint32_t rho, const struct fr *leaf_r_old,
			      const struct fr *leaf_d_new, const struct fr *leaf_r_new);
/* from[bits], most significant bit first; log <= 7 bits */
uint32_t gadget_update_choose(struct synth *s, const uint32_t *from, unsigned int log,
			      const uint32_t *bits);

#endif
