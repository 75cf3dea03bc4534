/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * zkey.h - snarkjs' .zkey of Groth16 over BLS12-381
 *
 * The key holds the system's A and B (not C, whose values are A * B), and for
 * every wire a point of each kind in memory form, infinity included.  Its h
 * points are of the odd coset and its roots of unity come from 5
 * (GPU_H_ODD_COSET).
 */
#ifndef CUZK_GROTH16_ZKEY_H
#define CUZK_GROTH16_ZKEY_H

#include "engine/groth16/error.h"
#include "engine/groth16/flat_cs.h"
#include "engine/groth16/vk.h"
#include "gpu/gpu.h"

struct zkey {
	uint32_t n_wires, n_public, log_domain;
	uint32_t n_coeffs;
	uint32_t n_rows;		/* constraints, without the public ones */
	const uint8_t *coeffs;		/* records of 44 bytes, the caller's memory as all below */
	const uint8_t *ic, *a, *b1, *b2, *l, *h;
	struct vk vk;			/* checked, ic included */
};

/*
 * Checks all counts and coefficients, the points of the header and IC; the
 * other points are checked when they are loaded (gpu_ops.srs_load).  name is for messages.
 * Ends with zkey_fini().
 */
int zkey_parse(struct zkey *z, const char *name, const void *data, size_t size,
	       struct cuzk_error *err);
void zkey_fini(struct zkey *z);
/* The system of the key, C empty. */
int zkey_to_cs(const struct zkey *z, struct flat_cs **out, struct cuzk_error *err);
/* The points in place. */
void zkey_srs_desc(const struct zkey *z, struct gpu_srs_desc *desc);

#endif
