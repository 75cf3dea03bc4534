/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * msm_impl.h - what the files of the multi-scalar multiplication share
 *
 * A scalar, or r minus it when that is smaller, is written with signed digits
 * in windows of at most MSM_MAX_WIDTH bits.  A point with the digit d != 0 in a
 * window is an entry of that window: it goes, negated when d < 0, to bucket |d|.
 * Buckets come in blocks of MSM_SLOTS; narrow windows share a block.  A job is
 * the entries of one block from a range of chunks of the scalars.
 */
#ifndef CUZK_GPU_CPU_MSM_IMPL_H
#define CUZK_GPU_CPU_MSM_IMPL_H

#include "gpu/cpu/msm.h"
#include "gpu/cpu/msm_kernel.h"

struct msm_points {
	const struct msm_kernel *kernel;
	enum msm_group group;
	enum msm_path path;
	size_t n;
	uint8_t *data;
	bool own;
};

/* What AUTO means here; other paths stay. */
enum msm_path msm_path_choose(enum msm_path path);
/* NULL: the path is not available */
const struct msm_kernel *msm_kernel_of(enum msm_group group, enum msm_path path);

/* Zeroed memory in huge pages where there are any; NULL when there is none. */
void *msm_alloc(size_t size);
void msm_free(void *mem, size_t size);

/* ---- digits ---- */

/* of 4 bits or more: the sum of halves and half of r has to fit MSM_SCALAR_BITS */
#define MSM_MAX_WINDOWS 63
#define MSM_MAX_WIDTH 23
#define MSM_SCALAR_BITS 255

struct msm_recode {
	unsigned int n_windows;
	uint8_t width[MSM_MAX_WINDOWS];
	uint8_t offset[MSM_MAX_WINDOWS];
	/* half of every window: adding it makes each signed digit a plain one */
	struct scalar halves;
};

/* n_windows windows over MSM_SCALAR_BITS, as equal as can be, the wider ones below */
void msm_recode_init(struct msm_recode *rc, unsigned int n_windows);

/*
 * digit[(w - first) * stride + i] = digit of scalar i in the windows w of
 * first..first+n_windows-1: the magnitude, with MSM_NEGATIVE when it is below 0
 * (or perhaps when it is 0).
 * False: a scalar is not canonical, and the digits are undefined.
 */
typedef bool msm_digits_fn(const struct msm_recode *rc, const struct scalar *s, size_t n,
			   unsigned int first, unsigned int n_windows, uint32_t *digit,
			   size_t stride);
msm_digits_fn msm_digits_port;
msm_digits_fn msm_digits_ifma;	/* only where the path is built */

/* ---- jobs ---- */

/* Entries of a job, but for a chunk that is longer. */
#define MSM_JOB_ENTRIES ((size_t)1 << 18)
#define MSM_JOB_LIST 16		/* the shortest length at which a list is cut in pieces */

/* A piece of a window's entries that belong to one block. */
struct msm_segment {
	const uint32_t *entry;
	const uint16_t *key;	/* bucket in the block */
	size_t n;
};

/* Scratch of one thread. */
struct msm_work {
	void *kernel;
	uint32_t *entry;	/* sorted by bucket */
	uint32_t *start;	/* of each bucket in entry */
	uint32_t *count, *pos, *dest;	/* lists */
	uint32_t *a, *b;	/* pairs */
	uint8_t *sums[2];	/* buckets, then pieces */
	size_t max_entries, max_lists;
	struct tpool *pool;	/* that it runs in */
	unsigned int thread;	/* of pool */
};

uint64_t msm_work_size(const struct msm_kernel *k, size_t max_entries);
void msm_work_init(struct msm_work *w, const struct msm_kernel *k, size_t max_entries, void *mem);

/*
 * From the segments' entries, bucket j of window i of the block at the key
 * i << log_buckets | j: total[i] = sum of all, plain[i][k] = sum of the buckets whose j has
 * bit k, as struct g1_affine or g2_affine, i < n_windows, k < log_buckets.
 */
void msm_job_buckets(struct msm_work *w, const struct msm_kernel *k, const void *points,
		     const struct msm_segment *segment, size_t n_segments,
		     unsigned int log_buckets, unsigned int n_windows);
/* Sum i of the last job's result: totals first, then bit 0 of every window, ... */
void msm_job_result(const struct msm_work *w, const struct msm_kernel *k, size_t i, void *affine);

/* Sum of the first n of w->entry to result 0. */
void msm_job_plain(struct msm_work *w, const struct msm_kernel *k, const void *points, size_t n);

/* ---- one group's points, for the few operations that are not in batches ---- */

struct msm_curve {
	size_t affine_size;
	void (*set_infinity)(void *r);
	void (*double_)(void *r, const void *a);
	void (*add)(void *r, const void *a, const void *b);
	void (*add_affine)(void *r, const void *a, const void *b);
	void (*to_affine)(void *r, const void *a);
	bool (*in_subgroup)(const void *affine);
};

extern const struct msm_curve msm_curve_g1, msm_curve_g2;

#define MSM_AFFINE_MAX sizeof(struct g2_affine)

/*
 * msm_g1 and msm_g2.  n_windows is 0, or for tests the number of windows:
 * 12 (MSM_SCALAR_BITS / MSM_MAX_WIDTH, rounded up) to MSM_MAX_WINDOWS.
 */
int msm_run(struct tpool *pool, const struct msm_points *points, const struct msm_scalars *what,
	    unsigned int n_windows, void *affine);

#endif
