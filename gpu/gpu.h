/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * gpu/gpu.h - the device layer
 *
 * What the Groth16 prover asks of a device.  gpu/cpu implements it on the
 * host and is the oracle: every other backend gives the same bytes.  The
 * engine sees only this header.
 *
 * Conventions.  Functions return 0 or -errno:
 *   -ENOMEM	the budget or the device has no room; nothing was changed
 *   -EAGAIN	the device is busy; call again after prove_finish
 *   -EIO	the device failed; the handle is good only for close
 *   -ECANCELED	cancel was asked for
 *   -EINVAL	the caller's mistake
 * Outputs are written only on success.  A struct gpu belongs to one thread at
 * a time, except for cancel() and stats().
 * Field elements are in Montgomery form (fr.h, fp.h) unless a comment says
 * canonical.  Points are affine, (0, 0) is infinity.
 */
#ifndef CUZK_GPU_GPU_H
#define CUZK_GPU_GPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/bls12_381/fr.h"
#include "lib/bls12_381/g1.h"
#include "lib/bls12_381/g2.h"
#include "lib/cs.h"

struct gate;
struct gpu;		/* one open device */
struct gpu_cs;		/* a constraint system on it */
struct gpu_srs;		/* proving parameters on it */
struct gpu_job;		/* one proof between start and finish */

/* Stages, for progress, limits and timelines; in the order they run. */
enum gpu_stage {
	GPU_STAGE_IDLE,
	GPU_STAGE_UPLOAD,
	GPU_STAGE_EVALUATE,
	GPU_STAGE_NTT,
	GPU_STAGE_MSM_H,
	GPU_STAGE_MSM_L,
	GPU_STAGE_MSM_A,
	GPU_STAGE_MSM_B1,
	GPU_STAGE_MSM_B2,
	GPU_STAGE_N
};

struct gpu_config {
	size_t size;		/* sizeof(struct gpu_config) */
	const char *device;	/* UUID or PCI address; NULL: the only one */
	unsigned int threads;	/* host threads it may use; 0: all online */
	uint64_t vram_budget;	/* bytes, 0: all that is free */
	uint64_t host_budget;	/* bytes, 0: no limit of its own */
	/* called often from long work, may be NULL; a stage's unit counts up */
	void (*progress)(void *arg, enum gpu_stage stage, uint64_t done, uint64_t total);
	void (*log)(void *arg, int priority, const char *line);	/* syslog priority */
	/* for work that only another's patience limits: true ends it with -ECANCELED */
	bool (*cancelled)(void *arg);
	void *arg;
	/*
	 * NULL, or the gate (lib/gate.h) that work passes before each of its steps,
	 * and at which it waits while a lane has something that cannot wait.
	 */
	struct gate *gate;
};

struct gpu_stats {
	uint64_t ns[GPU_STAGE_N];	/* wall time by stage of the proof that ended last */
	uint64_t device_bytes, device_peak;
	uint64_t device_total;		/* that it may use; 0: it uses the host's */
	uint64_t host_bytes, host_peak;
	uint64_t bytes_up, bytes_down;	/* moved by that proof */
	uint64_t up_ns;		/* in which bytes_up were on their way; 0: nothing crosses a bus */
	uint64_t longest_step_ns;	/* of the device, as far as it tells; since open */
	/*
	 * Since the device was opened: points that came from the host for proofs,
	 * the time that the bus took for them, and how long work stood still for it.
	 */
	uint64_t stream_bytes, stream_ns, stream_wait_ns;
};

/* Which polynomial basis the h points are in (filecoin-spec 2.2; snarkjs zkey). */
enum gpu_h_basis {
	GPU_H_POWERS,	/* bellman: tau^i t(tau)/delta, m-1 points; root from 7 */
	GPU_H_ODD_COSET,	/* snarkjs: L_(2i+1)^(2m)(tau)/delta, m points; root from 5 */
	/*
	 * bellman's h and l rearranged, for four transforms a proof instead of six
	 * (gpu/cpu/quotient.c): -L_i(tau) t(tau)/(2 delta), m points, L_i the
	 * Lagrange polynomials of the coset by g, g^m = -1; root from 7.  What C
	 * adds is in the points of l, and for the inputs with the caller.
	 */
	GPU_H_COSET,
};

enum gpu_point_encoding {
	GPU_POINTS_ZCASH,	/* uncompressed big-endian, as in .params */
	GPU_POINTS_MONT,	/* struct g1_affine / g2_affine, as in .zkey and memory */
	/*
	 * struct scalar, canonical: the points are these multiples of the
	 * generators.  For development parameters; nothing is checked.
	 */
	GPU_POINTS_SCALARS,
};

/*
 * Proving parameters as the file has them; the arrays stay the caller's and
 * need to live only until srs_load returns unless the backend streams
 * (GPU_SRS_STREAM), then until srs_unload.  They need not be aligned.
 */
struct gpu_srs_desc {
	enum gpu_point_encoding encoding;
	enum gpu_h_basis h_basis;
	uint64_t n_h, n_l, n_a, n_bg1, n_bg2;	/* infinity left out, file order */
	const void *h, *l, *a, *bg1;		/* G1 */
	const void *bg2;			/* G2 */
	/*
	 * GPU_POINTS_MONT files keep points at infinity: then a, bg1 and bg2
	 * have one point for every variable, inputs first.
	 */
	bool dense;
	/*
	 * NULL, or srs_memory() bytes of the caller's, 64-byte aligned, that live
	 * until srs_unload.  They get the points as the device wants them or,
	 * with prepared, hold them already: written by srs_load from a file of
	 * the same counts, under the same name of srs_memory().  Then they are
	 * only read and the arrays above may be NULL.
	 */
	void *memory;
	bool prepared;
};

/* The five sums of filecoin-spec 2.3; inputs and aux together. */
struct gpu_sums {
	struct g1_affine h, l, a, b1;
	struct g2_affine b2;
};

struct gpu_ops {
	const char *name;	/* "cpu", "cuda" */

	/* Opens one device. *err (256 bytes) gets one line when it fails. */
	int (*open)(struct gpu **gpu, const struct gpu_config *config, char *err);
	void (*close)(struct gpu *gpu);
	void (*stats)(struct gpu *gpu, struct gpu_stats *stats);
	/*
	 * A lane: a second handle on gpu's device, for another thread and for proofs
	 * that cannot wait for gpu's.  It has device_bytes of gpu's memory for its own
	 * systems, parameters and proofs, and the device prefers its work.  It is
	 * to be opened before anything is loaded on gpu and closed before gpu is;
	 * config may name another owner of its callbacks, and has no gate.
	 */
	int (*lane_open)(struct gpu *gpu, const struct gpu_config *config, uint64_t device_bytes,
			 struct gpu **lane, char *err);

	/* cs must outlive the handle. */
	int (*cs_load)(struct gpu *gpu, const struct cs *cs, struct gpu_cs **out);
	void (*cs_unload)(struct gpu *gpu, struct gpu_cs *cs);

	/*
	 * Decodes and, with check, tests every point to be on the curve (not
	 * infinity; subgroup too when check is 2).  -EBADMSG and *bad = vector
	 * 0 h, 1 l, 2 a, 3 bg1, 4 bg2 in the top byte | index when one is not.
	 */
	int (*srs_load)(struct gpu *gpu, const struct gpu_srs_desc *desc, int check,
			struct gpu_srs **out, uint64_t *bad);
	void (*srs_unload)(struct gpu *gpu, struct gpu_srs *srs);
	/*
	 * Bytes for desc->memory; layout names the form in which the points are
	 * there, equal wherever it is equal.  NULL: desc->memory is not for this
	 * backend.
	 */
	uint64_t (*srs_memory)(struct gpu *gpu, const struct gpu_srs_desc *desc, char layout[32]);

	/*
	 * Evaluation, quotient and the five sums.  start returns when the
	 * device could take the next start; finish blocks until the sums are
	 * there and frees the job, success or not.  The witness must live until
	 * start returns.  With check_satisfied, a row with A*B != C ends start
	 * with -EDOM and *bad_row = the first such row.
	 */
	int (*prove_start)(struct gpu *gpu, struct gpu_cs *cs, struct gpu_srs *srs,
			   const struct cs_witness *w, bool check_satisfied,
			   struct gpu_job **job, uint64_t *bad_row);
	int (*prove_finish)(struct gpu *gpu, struct gpu_job *job, struct gpu_sums *sums);
	/*
	 * How many proofs gain from being finished together: 1 where none does.
	 * Then that many and one more may be between start and finish.  work does
	 * what is a proof's alone; the first finish behind it does what all that
	 * have been worked at have in common, those that follow return at once.
	 * finish does the work where work was not called; it returns (and frees)
	 * what failed in work.  Both may be NULL: 1.
	 */
	unsigned int (*prove_batch)(struct gpu *gpu, const struct gpu_cs *cs,
				    const struct gpu_srs *srs);
	int (*prove_work)(struct gpu *gpu, struct gpu_job *job);
	/*
	 * The most that one proof of cs takes beyond the loaded system and
	 * parameters, so that it can be reserved; any thread.  May be NULL.
	 */
	void (*prove_bytes)(struct gpu *gpu, const struct cs *cs, uint64_t *host, uint64_t *device);

	/* The pieces, for parameter generation, tests and benchmarks. */

	/*
	 * In place, natural order in and out, length 2^log_n <= 2^32.
	 * root is a primitive 2^32-th root of unity (FR_ROOT_7 or FR_ROOT_5).
	 * Inverse divides by the length.  With shift: forward multiplies
	 * coefficient i by shift^i first, inverse by shift^-i last.
	 */
	int (*ntt)(struct gpu *gpu, struct fr *data, unsigned int log_n, bool inverse,
		   const struct fr *root, const struct fr *shift);
	/*
	 * h scalars (canonical) from the values a, b on the domain; c = a*b
	 * pointwise (COSET leaves c out: it is in l).  n_h = 2^log_n - 1 (POWERS) or 2^log_n (others); h has
	 * room for 2^log_n.  a and b are destroyed.
	 */
	int (*quotient)(struct gpu *gpu, struct fr *a, struct fr *b, unsigned int log_n,
			enum gpu_h_basis basis, struct scalar *h);
	/* out = sum scalars[i] * points[i]; scalars canonical. */
	int (*msm_g1)(struct gpu *gpu, const struct g1_affine *points,
		      const struct scalar *scalars, size_t n, struct g1_affine *out);
	int (*msm_g2)(struct gpu *gpu, const struct g2_affine *points,
		      const struct scalar *scalars, size_t n, struct g2_affine *out);
	/* out[i] = scalars[i] * base, zcash uncompressed encoding; scalars canonical */
	int (*mul_base_g1)(struct gpu *gpu, const struct g1_affine *base,
			   const struct scalar *scalars, size_t n, uint8_t (*out)[96]);
	int (*mul_base_g2)(struct gpu *gpu, const struct g2_affine *base,
			   const struct scalar *scalars, size_t n, uint8_t (*out)[192]);
	/*
	 * points[k] = sum over i of w^(-ik) factor base^i points[i], in place and
	 * in natural order: an inverse transform in the group.  n = 2^log_n points,
	 * w = root^(2^(32 - log_n)); points are of order r, or infinity.  It takes
	 * n full products by a scalar and n/2 for each of the log_n stages: minutes
	 * on a device for 2^27, and only for making parameters.  -ENOMEM: the points
	 * do not fit.  After -EIO some of points may be results already.
	 */
	int (*transform_g1)(struct gpu *gpu, struct g1_affine *points, unsigned int log_n,
			    const struct fr *root, const struct fr *factor, const struct fr *base);
	/*
	 * a, b, c[row] for all 2^log_domain rows (zero behind the last); c may be
	 * NULL.  *bad_row as in prove_start, ~0 when satisfied; it needs c.
	 */
	int (*evaluate)(struct gpu *gpu, struct gpu_cs *cs, const struct cs_witness *w,
			struct fr *a, struct fr *b, struct fr *c, uint64_t *bad_row);
};

extern const struct gpu_ops gpu_cpu_ops;
/* NULL when built without CUDA. */
const struct gpu_ops *gpu_cuda_ops(void);

#endif
