/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * cpu.h - the objects behind gpu_cpu_ops
 *
 * The configuration's device selects a path: NULL, "" or "cpu" the best that the
 * processor has, "portable" or "ifma" that one.
 */
#ifndef CUZK_GPU_CPU_CPU_H
#define CUZK_GPU_CPU_CPU_H

#include <pthread.h>

#include "gpu/cpu/ctl.h"
#include "gpu/cpu/isa.h"
#include "gpu/cpu/msm.h"
#include "gpu/cpu/ntt.h"
#include "gpu/gpu.h"
#include "lib/tpool.h"

struct gpu {
	struct gpu_config config;
	enum cpu_isa isa;
	enum msm_path path;
	struct tpool *pool;
	struct ntt *ntt;
	struct ctl ctl;

	pthread_mutex_t stats_lock;	/* protects stats; innermost */
	struct gpu_stats stats;
};

/* A density over the aux variables, ready for compacting by pieces. */
struct cpu_density {
	const uint64_t *map;		/* NULL: all of them */
	uint32_t n;			/* variables in it */
	uint32_t *rank;			/* variables in it before each piece */
	uint32_t *full_rank;		/* full ones of them before each piece; one more at the end */
};

struct gpu_cs {
	const struct cs *cs;
	struct cpu_density all, a, b;
	uint64_t bytes;			/* reserved */
};

/* Which of the sums (struct gpu_sums) a set of points belongs to. */
enum cpu_vector {
	CPU_VECTOR_H,
	CPU_VECTOR_L,
	CPU_VECTOR_A,
	CPU_VECTOR_B1,
	CPU_VECTOR_B2,
	CPU_VECTOR_N
};

struct gpu_srs {
	enum gpu_h_basis h_basis;
	bool dense;
	struct msm_points *points[CPU_VECTOR_N];
	uint64_t bytes;			/* reserved */
};

struct gpu_job {
	struct gpu_sums sums;
	struct gpu_stats stats;		/* of this proof */
};

/* Takes bytes from the host budget, or -ENOMEM; gives them back. */
int cpu_reserve(struct gpu *gpu, uint64_t bytes);
void cpu_release(struct gpu *gpu, uint64_t bytes);

/* Reserved memory, 64-byte aligned, in huge pages if it is large.  NULL: none. */
void *cpu_alloc(struct gpu *gpu, uint64_t bytes);
void cpu_free(struct gpu *gpu, void *p, uint64_t bytes);

/* Starts a call of an operation: nothing is cancelled yet. */
void cpu_begin(struct gpu *gpu);

int cpu_cs_load(struct gpu *gpu, const struct cs *cs, struct gpu_cs **out);
void cpu_cs_unload(struct gpu *gpu, struct gpu_cs *cs);

int cpu_srs_load(struct gpu *gpu, const struct gpu_srs_desc *desc, int check, struct gpu_srs **out,
		 uint64_t *bad);
void cpu_srs_unload(struct gpu *gpu, struct gpu_srs *srs);
uint64_t cpu_srs_memory(struct gpu *gpu, const struct gpu_srs_desc *desc, char layout[32]);

int cpu_prove_start(struct gpu *gpu, struct gpu_cs *cs, struct gpu_srs *srs,
		    const struct cs_witness *w, bool check_satisfied, struct gpu_job **job,
		    uint64_t *bad_row);
int cpu_prove_finish(struct gpu *gpu, struct gpu_job *job, struct gpu_sums *sums);
void cpu_prove_bytes(struct gpu *gpu, const struct cs *cs, uint64_t *host, uint64_t *device);

int cpu_transform_g1(struct gpu *gpu, struct g1_affine *points, unsigned int log_n,
		     const struct fr *root, const struct fr *factor, const struct fr *base);

/*
 * What one of the sums over the witness takes: values of all inputs or those of
 * a density, and of the aux variables in another one; bits apart from full
 * values (select.c).
 */
struct cpu_selection {
	uint64_t *ones;			/* bitmap of points */
	size_t n_ones;			/* its bits */
	struct scalar *scalars;
	uint32_t *index;		/* of their points */
	size_t n;
	uint64_t bytes;			/* reserved */
};

/* Number of points that the sum takes. */
uint64_t cpu_selection_points(const struct gpu_cs *cs, const struct gpu_srs *srs,
			      enum cpu_vector vector);
/* For every vector but H.  -ENOMEM. */
int cpu_select(struct gpu *gpu, const struct gpu_cs *cs, const struct gpu_srs *srs,
	       const struct cs_witness *w, enum cpu_vector vector, struct cpu_selection *out);
void cpu_selection_fini(struct gpu *gpu, struct cpu_selection *selection);

#endif
