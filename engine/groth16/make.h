/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * make.h - development parameters from known toxic waste (filecoin-spec 1.8)
 *
 * Whoever knows the five numbers can forge proofs: such parameters are for
 * tests, never for a network.
 */
#ifndef CUZK_GROTH16_MAKE_H
#define CUZK_GROTH16_MAKE_H

#include <stdio.h>

#include "engine/groth16/error.h"
#include "engine/groth16/progress.h"
#include "engine/groth16/vk.h"
#include "gpu/gpu.h"
#include "lib/bls12_381/g1_fixed.h"
#include "lib/cs.h"
#include "lib/tpool.h"

struct toxic_waste {
	struct fr alpha, beta, gamma, delta, tau;
};

struct make_file {
	uint64_t size;
	char sha256[65];
};

struct make_result {
	struct make_file params, vk;
	uint64_t n_ic, n_h, n_l, n_a, n_b;
};

/* "ALPHA,BETA,GAMMA,DELTA,TAU", decimal. -EINVAL. */
int toxic_parse(struct toxic_waste *toxic, const char *text, struct cuzk_error *err);
/* From the kernel's random numbers; forgotten when the process ends. */
int toxic_random(struct toxic_waste *toxic, struct cuzk_error *err);

/*
 * Writes .params and, if vk is not NULL, .vk to the streams, in bellperson's
 * order over the standard generators.  The basis decides roots of unity and h
 * (gpu.h): GPU_H_ODD_COSET makes what convert.h can turn into a .zkey, and
 * GPU_H_COSET is not for such files.  Needs 32 bytes for every row of the domain and 96 for every variable, and some 100 MiB.  The caller checks the
 * streams for errors when it closes them; a failed write ends it early.
 * -EINVAL: waste that gives no valid parameters, an aux variable in no constraint.
 */
int params_make(const struct cs *cs, const struct toxic_waste *toxic, enum gpu_h_basis basis,
		const struct gpu_ops *ops, struct gpu *gpu, struct tpool *pool, FILE *params, FILE *vk,
		const struct progress *progress, struct make_result *result,
		struct cuzk_error *err);

/*
 * The same parameters on the device, in no file, and their verifying key
 * (vk_fini()).  With GPU_H_COSET also the points for coset_add_inputs(), which
 * are the caller's to close; *inputs is NULL with another basis.  Needs 96 bytes of host memory for every variable and 32 for
 * every row and point while it works.  The backend must take GPU_POINTS_SCALARS.
 */
int params_make_srs(const struct cs *cs, const struct toxic_waste *toxic, enum gpu_h_basis basis,
		    const struct gpu_ops *ops, struct gpu *gpu, struct tpool *pool,
		    struct gpu_srs **srs, struct vk *vk, struct g1_fixed **inputs,
		    struct cuzk_error *err);

#endif
