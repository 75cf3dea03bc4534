/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * vk.h - verifying keys and proofs, bellperson's encodings
 */
#ifndef CUZK_GROTH16_VK_H
#define CUZK_GROTH16_VK_H

#include "engine/groth16/error.h"
#include "lib/bls12_381/g1.h"
#include "lib/bls12_381/g2.h"

struct vk {
	struct g1_affine alpha_g1, beta_g1, delta_g1;
	struct g2_affine beta_g2, gamma_g2, delta_g2;
	uint32_t n_ic;			/* public inputs, ONE included */
	struct g1_affine *ic;
};

#define VK_FIXED_SIZE 868u	/* up to the ic points, their count included */
#define VK_SIZE(n_ic) (VK_FIXED_SIZE + 96ull * (n_ic))
#define VK_IC_MAX (1u << 24)

/*
 * Reads a key at the front of data[0..size).  Every point is checked to be on
 * the curve, of the right order and not infinity.  With used NULL the key must
 * be all of it, else *used gets its size.  name is for messages.  CUZK_ERROR_PARAMS.
 */
int vk_read(struct vk *vk, const char *name, const uint8_t *data, size_t size, size_t *used,
	    struct cuzk_error *err);
void vk_fini(struct vk *vk);
/* VK_SIZE(n_ic) bytes. */
void vk_write(uint8_t *out, const struct vk *vk);

#define PROOF_SIZE 192

struct proof {
	struct g1_affine a, c;
	struct g2_affine b;
};

/* Points are checked as those of a key. CUZK_ERROR_INPUT. */
int proof_read(struct proof *proof, const uint8_t in[PROOF_SIZE], struct cuzk_error *err);
void proof_write(uint8_t out[PROOF_SIZE], const struct proof *proof);

#endif
