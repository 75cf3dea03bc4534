/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * coset.h - parameters rearranged for four transforms a proof (gpu.h, GPU_H_COSET)
 *
 * The points of h and l of a .params file in another basis, next to it in a
 * file of their own, FILE.params.coset; the proofs are the same.  Made once,
 * by coset_make.h; the derivation is in gpu/cpu/quotient.c.  All numbers
 * big-endian, all points as in .params:
 *
 *	0	"cuzkcst1"
 *	8	u32 number of inputs (ONE's too), of h, of l; u32 0
 *	24	u64 size of the .params file
 *	32	BLAKE2b-256 of its verifying key, as it stands there
 *	64	BLAKE2b-512 of all that follows
 *	128	the inputs' points, l, h; of the inputs some may be infinity
 *
 * What C adds to h is linear in the witness: for the aux variables it is in l,
 * for the inputs it is the caller's to add, coset_add_inputs().
 */
#ifndef CUZK_GROTH16_COSET_H
#define CUZK_GROTH16_COSET_H

#include "engine/groth16/error.h"
#include "engine/groth16/file.h"
#include "engine/groth16/params.h"
#include "engine/groth16/progress.h"
#include "gpu/gpu.h"
#include "lib/bls12_381/g1_fixed.h"

#define COSET_MAGIC "cuzkcst1"
#define COSET_HEADER 128
#define COSET_SUFFIX ".coset"

struct coset {
	const uint8_t *data;	/* the caller's, or map's */
	size_t size;
	struct file_map map;
	uint32_t n_inputs, n_h, n_l;
	struct g1_fixed *inputs;	/* NULL: none is open */
};

/*
 * Opens path for parameters that match a system.  -ENOENT: there is none.
 * CUZK_ERROR_PARAMS, -EBADMSG: it is damaged, -ESTALE: of other parameters.
 * The points of h and l are checked when they are loaded.
 */
int coset_open(struct coset *c, const char *path, const struct params *params,
	       struct cuzk_error *err);
int coset_parse(struct coset *c, const char *name, const void *data, size_t size,
		const struct params *params, struct cuzk_error *err);
/* Also after coset_parse(); nothing for one that is all zeros. */
void coset_close(struct coset *c);
/* Its h and l in place of those of desc; they live as long as c. */
void coset_srs_desc(const struct coset *c, struct gpu_srs_desc *desc);
/*
 * As params_bad_point(), for a point of h or l that is this file's; params is
 * the path of the one beside it.
 */
int coset_bad_point(const struct coset *c, const char *params, int level, uint64_t bad,
		    struct cuzk_error *err);
/* The digest in the header against the file. -EBADMSG. */
int coset_check(const struct coset *c, const char *path, const struct progress *progress,
		struct cuzk_error *err);
/* BLAKE2b-256 of the verifying key of params, as it stands in the file. */
void coset_vk_digest(const struct params *params, uint8_t digest[32]);

/* sums->l gains what the public inputs (without ONE) add.  0 or -ENOMEM. */
int coset_add_inputs(struct gpu_sums *sums, const struct g1_fixed *points, const struct fr *inputs,
		     size_t n);

#endif
