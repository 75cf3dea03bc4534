/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * device.h - the objects behind gpu_cuda_ops()
 *
 * A proof's witness goes to the device when it starts; everything else is done
 * when it finishes, so that the host makes the next witness meanwhile.  Where
 * points are streamed, the sum over h may be asked for before (prove_work), and the
 * other sums of all proofs that have theirs are made together (joint.c).
 */
#ifndef CUZK_GPU_CUDA_DEVICE_H
#define CUZK_GPU_CUDA_DEVICE_H

#include <pthread.h>

#include "gpu/cuda/ctx.h"
#include "gpu/cuda/msm.h"
#include "gpu/cuda/ntt.h"
#include "lib/tpool.h"

/* pinned host memory to upload by: of a device, and of its side, which uploads little */
#define CUDA_UPLOAD (32ull << 20)
#define CUDA_SIDE_UPLOAD (2ull << 20)
#define CUDA_JOBS 2	/* proofs between start and finish, where points stay on the device */

/* Multiples of a point, on the device. */
struct base_table {
	CUdeviceptr table;
	union {
		struct g1_affine g1;
		struct g2_affine g2;
	} of;
};

struct gpu {
	struct cuda_ctx *ctx;
	struct cuda_ntt *ntt;
	struct tpool *pool;
	struct cuda_upload *upload;
	struct cuda_side *side;		/* NULL: a lane, which has none */
	struct base_table base[2];	/* by group */
	CUstream feed_stream;		/* points on their way, beside the work */
	CUevent feed_begin[2], feed_end[2];	/* by buffer */
	unsigned int n_feed_events;
	struct gpu_job *jobs;		/* between start and finish */
	unsigned int n_jobs;
	unsigned int must_stream;	/* bits by vector, for tests: it does not stay */
	uint64_t shared_min;		/* for tests: points of a sum that the side has a part in */
	unsigned int n_together;	/* for tests: proofs that the side had a part in */

	pthread_mutex_t stats_lock;	/* protects stats; innermost */
	struct gpu_stats stats;
};

/* ---- cuda.c ---- */

/* Progress to the owner of the device; cancelled: -ECANCELED. */
int device_progress(struct gpu *gpu, enum gpu_stage stage, uint64_t done, uint64_t total);
/* Renews the figures of device memory. */
void device_memory(struct gpu *gpu);
/* Points that came over the bus: bytes, how long that took, how long work waited. */
void device_streamed(struct gpu *gpu, uint64_t bytes, uint64_t ns, uint64_t wait_ns);
void device_log(struct gpu *gpu, int priority, const char *line);
/* Takes bytes from the host budget, or -ENOMEM; gives them back. */
int device_host_reserve(struct gpu *gpu, uint64_t bytes);
void device_host_release(struct gpu *gpu, uint64_t bytes);
uint64_t device_host_left(struct gpu *gpu);	/* UINT64_MAX: no limit */

/* ---- upload.c: from ordinary host memory, by way of pinned memory ---- */

struct cuda_upload;

/* bytes: of pinned host memory, for both buffers */
int cuda_upload_open(struct cuda_upload **upload, struct cuda_ctx *ctx, struct tpool *pool,
		     uint64_t bytes);
void cuda_upload_close(struct cuda_upload *upload);
/* When it returns, from may go; later work on the stream sees the data. */
int cuda_upload(struct cuda_upload *upload, CUdeviceptr to, const void *from, uint64_t bytes);

/* ---- side.c: a second stream, for what can be done beside ---- */

struct cuda_side;

int cuda_side_open(struct cuda_side **side, struct gpu *owner, char *err);
void cuda_side_close(struct cuda_side *side);
/*
 * Starts run() on a thread of its own, with a device that has a stream of its own and
 * so many bytes of the owner's memory: for sums and selections, it has no
 * transforms.  What was queued on the owner's stream must have been waited for
 * where run() needs it.
 */
int cuda_side_start(struct cuda_side *side, uint64_t bytes,
		    int (*run)(struct gpu *gpu, void *arg), void *arg);
/* Waits for it and takes the memory back; what run() returned. */
int cuda_side_join(struct cuda_side *side);
struct cuda_ctx *cuda_side_ctx(const struct cuda_side *side);
/* cuda_msm() by the device and its side, where there is room for both. */
int cuda_side_msm(struct gpu *gpu, enum cuda_group group, CUdeviceptr points, CUdeviceptr scalars,
		  CUdeviceptr index, uint64_t n, void *out);

/* ---- evaluate.c: constraint systems ---- */

/* The kernels' struct eval_args. */
struct eval_args {
	CUdeviceptr items, templates, instances, lc_end, terms, ports, own, coeffs, small;
	CUdeviceptr bits, full, inputs;
};

struct gpu_cs {
	const struct cs *cs;
	struct eval_args args;		/* without a witness */
	uint32_t n_items;
	CUdeviceptr full_map, full_rank;
	CUdeviceptr a_density, b_density;	/* over the aux variables */
};

/* What has gone over the bus, and how long bytes to the device were on their way. */
struct device_traffic {
	uint64_t bytes_up, bytes_down, up_ns;
};

/* Since the device was opened; up_ns: of points, and in cuda_copy_up(). */
struct device_traffic device_traffic(struct gpu *gpu);
/* To t, one of so many that share it: all that has gone since. */
void device_traffic_add(struct gpu *gpu, struct device_traffic *t,
			const struct device_traffic *since, unsigned int sharers);

/* A witness on the device. */
struct device_witness {
	CUdeviceptr bits, full, inputs;
	struct fr *host_inputs;		/* n_inputs */
};

int cuda_cs_load(struct gpu *gpu, const struct cs *cs, struct gpu_cs **out);
void cuda_cs_unload(struct gpu *gpu, struct gpu_cs *cs);
int cuda_witness_load(struct gpu *gpu, const struct gpu_cs *cs, const struct cs_witness *w,
		      struct device_witness *out);
void cuda_witness_free(struct gpu *gpu, struct device_witness *w);
/* Device bytes of a witness. */
uint64_t cuda_witness_bytes(const struct gpu_cs *cs);
/*
 * Values of all rows of the domain to a, b and c (0: not wanted), vectors of
 * 2^log_domain.  With bad_row, rows are checked, c or no c: the first with
 * a b != c, or UINT64_MAX.
 */
int cuda_evaluate(struct gpu *gpu, const struct gpu_cs *cs, const struct device_witness *w,
		  CUdeviceptr a, CUdeviceptr b, CUdeviceptr c, uint64_t *bad_row);

/* ---- srs.c: parameters ---- */

enum cuda_vector {
	CUDA_VECTOR_H,
	CUDA_VECTOR_L,
	CUDA_VECTOR_A,
	CUDA_VECTOR_B1,
	CUDA_VECTOR_B2,
	CUDA_VECTOR_N
};

struct gpu_srs {
	enum gpu_h_basis h_basis;
	bool dense;
	uint64_t n[CUDA_VECTOR_N];
	bool resident[CUDA_VECTOR_N], streamed;	/* streamed: not all are resident */
	/*
	 * Montgomery affine, on the device or in pinned host memory.  On the
	 * device h of POWERS is in bit-reversed order, as cuda_quotient leaves h.
	 */
	CUdeviceptr points[CUDA_VECTOR_N];
	uint8_t *host[CUDA_VECTOR_N];
	uint64_t host_bytes;
	uint64_t h_piece;		/* points of h sent at once */
	uint64_t piece;			/* for tests: points sent at once at most */
	unsigned int batch;		/* for tests: proofs finished together */
};

static inline enum cuda_group cuda_vector_group(enum cuda_vector v)
{
	return v == CUDA_VECTOR_B2 ? CUDA_G2 : CUDA_G1;
}

int cuda_srs_load(struct gpu *gpu, const struct gpu_srs_desc *desc, int check, struct gpu_srs **out,
		  uint64_t *bad);
void cuda_srs_unload(struct gpu *gpu, struct gpu_srs *srs);

/* ---- plan.c: what stays on the device ---- */

/*
 * Decides for every vector, takes what is to be pinned from the host budget and
 * logs it.  made: the points are made of scalars, which takes more than loading
 * them.  -ENOMEM, with a line in the log: the budgets are too small.
 */
int cuda_plan(struct gpu *gpu, struct gpu_srs *srs, bool made);
unsigned int cuda_prove_batch(struct gpu *gpu, const struct gpu_cs *cs, const struct gpu_srs *srs);

/* ---- feed.c: the points of sums, piece by piece ---- */

/* Points first to first + n - 1 of a vector: point i at base + i * size. */
struct cuda_piece {
	enum cuda_vector vector;
	uint64_t first, n, size;
	uint64_t step;			/* of the vector's pieces */
	uint32_t pieces;
	CUdeviceptr base;
};

struct feed_place {
	unsigned int vector;		/* of the feed's list */
	uint64_t first;
};

struct cuda_feed {
	struct gpu *gpu;
	const struct gpu_srs *srs;
	const enum cuda_vector *vectors;
	unsigned int n_vectors;
	uint64_t bytes;			/* of a buffer */
	CUdeviceptr buffer[2];
	uint64_t on_way[2];
	struct feed_place at, sent;	/* next to be used, and to be sent */
	unsigned int next_used, next_sent;	/* buffers */
};

/*
 * The points of each of the vectors in turn, in buffers of so many bytes.  The
 * first piece is on its way when open returns; the second buffer is taken when
 * the first piece is.
 */
int cuda_feed_open(struct cuda_feed *feed, struct gpu *gpu, const struct gpu_srs *srs,
		   const enum cuda_vector *vectors, unsigned int n_vectors, uint64_t bytes);
/* The next piece, which is there; the one before is given up. */
int cuda_feed_next(struct cuda_feed *feed, struct cuda_piece *piece);
void cuda_feed_close(struct cuda_feed *feed);

/* ---- base.c: multiples of one point ---- */

/*
 * Points scalars[i] * base to device memory, Montgomery affine; reverse_bits:
 * point i goes to the place of its reversed index of so many bits.  scalars are
 * the host's, canonical.
 */
int cuda_base_mul(struct gpu *gpu, enum cuda_group group, const void *base,
		  const struct scalar *scalars, uint64_t n, int reverse_bits, CUdeviceptr out,
		  enum gpu_stage stage);
int cuda_mul_base_g1(struct gpu *gpu, const struct g1_affine *base, const struct scalar *scalars,
		     size_t n, uint8_t (*out)[96]);
int cuda_mul_base_g2(struct gpu *gpu, const struct g2_affine *base, const struct scalar *scalars,
		     size_t n, uint8_t (*out)[192]);

/* ---- transform.c: transforms in G1 ---- */

/* gpu.h's.  range: points or pairs of one launch, for tests. */
int cuda_transform_ranges(struct gpu *gpu, struct g1_affine *points, unsigned int log_n,
			  const struct fr *root, const struct fr *factor, const struct fr *base,
			  uint32_t range);
int cuda_transform_g1(struct gpu *gpu, struct g1_affine *points, unsigned int log_n,
		      const struct fr *root, const struct fr *factor, const struct fr *base);

/* ---- select.c: the witness of one sum ---- */

struct selection {
	CUdeviceptr ones;	/* point indices */
	uint64_t n_ones;
	CUdeviceptr scalars, index;
	uint64_t n;
};

/* Points that the sum takes. */
uint64_t cuda_selection_points(const struct gpu_cs *cs, const struct gpu_srs *srs,
			       enum cuda_vector vector);
/* For every vector but H. */
int cuda_select(struct gpu *gpu, const struct gpu_cs *cs, const struct gpu_srs *srs,
		const struct device_witness *w, enum cuda_vector vector, struct selection *out);
void cuda_selection_free(struct gpu *gpu, struct selection *s);
/* Device bytes of the largest selection while it is made. */
uint64_t cuda_selection_bytes(const struct gpu_cs *cs);
/*
 * Where in n ascending indices those from step, 2 step, ... on begin: out[k] is
 * the number of them below (k + 1) step, k < count.
 */
int cuda_selection_bounds(struct gpu *gpu, CUdeviceptr index, uint64_t n, uint64_t step,
			  uint32_t count, uint32_t *out);

/* ---- prove.c ---- */

struct gpu_job {
	struct gpu_job *next;		/* in gpu->jobs, oldest first */
	struct gpu_cs *cs;
	struct gpu_srs *srs;
	struct device_witness w;
	uint64_t ns[GPU_STAGE_N];
	struct device_traffic traffic;
	struct gpu_sums sums;
	bool has_h, has_others;		/* of the sums */
	int status;			/* why it cannot be finished */
};

int cuda_prove_start(struct gpu *gpu, struct gpu_cs *cs, struct gpu_srs *srs,
		     const struct cs_witness *w, bool check_satisfied, struct gpu_job **job,
		     uint64_t *bad_row);
int cuda_prove_work(struct gpu *gpu, struct gpu_job *job);
int cuda_prove_finish(struct gpu *gpu, struct gpu_job *job, struct gpu_sums *sums);
void cuda_prove_bytes(struct gpu *gpu, const struct cs *cs, uint64_t *host, uint64_t *device);

/* ---- stream.c: the sum over h, whose points come from the host ---- */

/* The first points are sent: before the quotient is made, where there is room. */
int cuda_stream_begin(struct gpu *gpu, const struct gpu_srs *srs, struct cuda_feed *feed);
/* h: the quotient on the device, in the order of the points. */
int cuda_stream_h(struct gpu *gpu, const struct gpu_srs *srs, struct cuda_feed *feed,
		  CUdeviceptr h, struct g1_affine *out);

/* ---- joint.c: the sums over the witness, of several proofs in one pass ---- */

/* Of job, and of all proofs with its parameters that have h and not the others. */
int cuda_joint_sums(struct gpu *gpu, struct gpu_job *job);

#endif
