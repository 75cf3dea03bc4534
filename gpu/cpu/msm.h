/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * msm.h - sums of multiples of many points on the host
 *
 * A set of points is brought once into the form that the fast path wants
 * (msm_points_*), then any number of sums are taken over it (msm_g1, msm_g2).
 *
 * Two paths give the same results: AVX-512 IFMA, eight points at a time, and
 * portable C.  MSM_PATH_AUTO takes the first where the processor has it.
 *
 * Functions return 0 or -errno; outputs are written only on success.  A set is
 * read by any number of threads at once, filled by one.  pool may be NULL.
 */
#ifndef CUZK_GPU_CPU_MSM_H
#define CUZK_GPU_CPU_MSM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/bls12_381/fr.h"
#include "lib/bls12_381/g1.h"
#include "lib/bls12_381/g2.h"
#include "lib/tpool.h"

/* Indices carry a sign in their top bit, and some room is kept above. */
#define MSM_MAX_POINTS ((size_t)1 << 30)

enum msm_group {
	MSM_G1,
	MSM_G2,
};

enum msm_path {
	MSM_PATH_AUTO,
	MSM_PATH_PORTABLE,
	MSM_PATH_IFMA,
};

/* Whether this build on this processor has the path. */
bool msm_path_available(enum msm_path path);

enum msm_encoding {
	MSM_ZCASH,	/* 96 or 192 bytes, uncompressed big-endian, as in .params */
	MSM_AFFINE,	/* struct g1_affine or g2_affine, infinity is (0, 0) */
};

/* Bits of msm_points_fill's check. */
enum {
	MSM_CHECK_CURVE = 1,	/* every point is on the curve */
	MSM_CHECK_SUBGROUP = 2,	/* and in the subgroup of order r; implies CURVE */
	MSM_CHECK_FINITE = 4,	/* no point is infinity */
};

struct msm_points;

/* Memory that a set of n points takes: 96 or 192 bytes each. */
uint64_t msm_points_bytes(enum msm_group group, size_t n);

/*
 * Makes a set of n points, all infinity until filled.  mem is NULL, or
 * msm_points_bytes() bytes of the caller's, 64-byte aligned, that live as long
 * as the set; the caller's memory is taken as it is, so that a set can come
 * from a file written from another set's memory (msm_points_data) of the same
 * path.  -EINVAL: n too large or the path is not available.  -ENOMEM.
 */
int msm_points_open(struct msm_points **out, enum msm_group group, enum msm_path path,
		    size_t n, void *mem);
void msm_points_close(struct msm_points *points);

/*
 * Decodes count points from src into places first, first + 1, ...  Large
 * files can be given in pieces.  Whatever check says, coordinates have to be
 * below p and the encoding's flags right.  -EBADMSG: a point is bad; *bad
 * (may be NULL) is the index in the set of the first one, and the places
 * first..first+count-1 are undefined.  -EINVAL: the range is not in the set.
 */
int msm_points_fill(struct tpool *pool, struct msm_points *points, size_t first,
		    const void *src, size_t count, enum msm_encoding encoding,
		    unsigned int check, uint64_t *bad);

size_t msm_points_count(const struct msm_points *points);
enum msm_group msm_points_group(const struct msm_points *points);
enum msm_path msm_points_path(const struct msm_points *points);	/* never AUTO */
const void *msm_points_data(const struct msm_points *points);
/* Point i of the set; i is below its count. */
void msm_points_get_g1(const struct msm_points *points, size_t i, struct g1_affine *out);
void msm_points_get_g2(const struct msm_points *points, size_t i, struct g2_affine *out);

/*
 * What to sum.  Both parts may be there or not; a point may be in both, and in
 * the list more than once: everything is added up.
 */
struct msm_scalars {
	/*
	 * n scalars, canonical (below r), scalar[i] for the point index[i], or
	 * for the point first + i when index is NULL.  Zeros cost almost
	 * nothing and small ones little.
	 */
	size_t n;
	const struct scalar *scalar;
	const uint32_t *index;
	size_t first;
	/*
	 * A bitmap of points to add once: bit i % 64 of ones[i / 64] is point
	 * ones_first + i, for i below n_ones.  NULL: none.
	 */
	const uint64_t *ones;
	size_t n_ones;		/* bits in the map */
	size_t ones_first;
};

/*
 * out = the sum.  -EINVAL: a point that is not in the set or a scalar that is
 * not canonical, or a set of the other group.  -ENOMEM: no room for scratch.
 * Pippenger's method with signed digits and affine additions in batches that
 * share an inversion (Pippenger 1976; Montgomery's trick).  Points have to be
 * in the subgroup: r times any other is not nothing, and may be added to the sum.
 */
int msm_g1(struct tpool *pool, const struct msm_points *points, const struct msm_scalars *what,
	   struct g1_affine *out);
int msm_g2(struct tpool *pool, const struct msm_points *points, const struct msm_scalars *what,
	   struct g2_affine *out);

/* The most that msm_g1/msm_g2 allocate for n listed scalars and n_ones bits. */
uint64_t msm_scratch_bytes(enum msm_group group, size_t n, size_t n_ones, unsigned int threads);

/*
 * out[i] = scalar[i] * base, zcash uncompressed; scalars canonical (-EINVAL), base
 * in the subgroup.  Meant for many scalars: a table of the base is made first.
 */
int msm_base_g1(struct tpool *pool, enum msm_path path, const struct g1_affine *base,
		const struct scalar *scalar, size_t n, uint8_t (*out)[96]);
int msm_base_g2(struct tpool *pool, enum msm_path path, const struct g2_affine *base,
		const struct scalar *scalar, size_t n, uint8_t (*out)[192]);

#endif
