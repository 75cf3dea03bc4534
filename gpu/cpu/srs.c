/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* srs.c - proving parameters as prepared sets of points */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "gpu/cpu/cpu.h"

#define PIECE ((uint64_t)1 << 17)	/* points decoded between two looks at the clock */

struct source {
	const char *data;
	uint64_t n;
	enum msm_group group;
};

static size_t point_size(enum msm_group group)
{
	return group == MSM_G1 ? 96 : 192;
}

/* Multiples of the generators, by their encoding. */
static int load_scalars(struct gpu *gpu, const struct source *src, struct msm_points *points)
{
	const struct scalar *s = (const struct scalar *)src->data;
	uint8_t *bytes = malloc(PIECE * 192);
	uint64_t first;
	int err = bytes ? 0 : -ENOMEM;

	for (first = 0; first < src->n && !err; first += PIECE) {
		uint64_t n = src->n - first < PIECE ? src->n - first : PIECE;

		if (ctl_stop(&gpu->ctl, 0))
			err = -ECANCELED;
		else if (src->group == MSM_G1)
			err = msm_base_g1(gpu->pool, gpu->path, &G1_GENERATOR, s + first, n,
					  (uint8_t (*)[96])bytes);
		else
			err = msm_base_g2(gpu->pool, gpu->path, &G2_GENERATOR, s + first, n,
					  (uint8_t (*)[192])bytes);
		if (!err)
			err = msm_points_fill(gpu->pool, points, first, bytes, n, MSM_ZCASH, 0, NULL);
		ctl_done(&gpu->ctl, 0, n);
	}
	free(bytes);
	return err;
}

static int load_vector(struct gpu *gpu, const struct source *src, const struct gpu_srs_desc *desc,
		       int check, void *memory, struct msm_points **points, uint64_t *bad)
{
	enum msm_encoding encoding = desc->encoding == GPU_POINTS_ZCASH ? MSM_ZCASH : MSM_AFFINE;
	unsigned int checks = 0;
	uint64_t first;
	int err;

	if (src->n > MSM_MAX_POINTS)
		return -EINVAL;
	if (check)
		checks = MSM_CHECK_CURVE | (desc->dense ? 0 : MSM_CHECK_FINITE);
	if (check > 1)
		checks |= MSM_CHECK_SUBGROUP;
	err = msm_points_open(points, src->group, gpu->path, src->n, memory);
	if (err || desc->prepared)
		return err;
	if (desc->encoding == GPU_POINTS_SCALARS)
		return load_scalars(gpu, src, *points);
	for (first = 0; first < src->n; first += PIECE) {
		uint64_t n = src->n - first < PIECE ? src->n - first : PIECE;

		if (ctl_stop(&gpu->ctl, 0))
			return -ECANCELED;
		err = msm_points_fill(gpu->pool, *points, first,
				      src->data + first * point_size(src->group), n, encoding,
				      checks, bad);
		if (err)
			return err;
		ctl_done(&gpu->ctl, 0, n);
	}
	return 0;
}

static void get_sources(const struct gpu_srs_desc *desc, struct source sources[CPU_VECTOR_N])
{
	sources[CPU_VECTOR_H] = (struct source){ desc->h, desc->n_h, MSM_G1 };
	sources[CPU_VECTOR_L] = (struct source){ desc->l, desc->n_l, MSM_G1 };
	sources[CPU_VECTOR_A] = (struct source){ desc->a, desc->n_a, MSM_G1 };
	sources[CPU_VECTOR_B1] = (struct source){ desc->bg1, desc->n_bg1, MSM_G1 };
	sources[CPU_VECTOR_B2] = (struct source){ desc->bg2, desc->n_bg2, MSM_G2 };
}

/* Place of a set in the caller's memory: one behind the other, each aligned. */
static uint64_t place_bytes(const struct source *src)
{
	return (msm_points_bytes(src->group, src->n) + 63) & ~63ull;
}

uint64_t cpu_srs_memory(struct gpu *gpu, const struct gpu_srs_desc *desc, char layout[32])
{
	bool ifma = gpu->path == MSM_PATH_IFMA ||
		    (gpu->path == MSM_PATH_AUTO && msm_path_available(MSM_PATH_IFMA));
	struct source sources[CPU_VECTOR_N];
	uint64_t bytes = 0;
	int i;

	get_sources(desc, sources);
	for (i = 0; i < CPU_VECTOR_N; i++)
		bytes += place_bytes(&sources[i]);
	/* the number changes with the form of a path */
	snprintf(layout, 32, "cpu %s 1", ifma ? "ifma" : "portable");
	return bytes;
}

int cpu_srs_load(struct gpu *gpu, const struct gpu_srs_desc *desc, int check, struct gpu_srs **out,
		 uint64_t *bad)
{
	struct source sources[CPU_VECTOR_N];
	uint64_t bytes = sizeof(struct gpu_srs), total = 0, where = 0;
	char *memory = desc->memory;
	struct gpu_srs *srs;
	int i, err;

	if ((desc->dense && desc->encoding != GPU_POINTS_MONT) || (desc->prepared && !memory))
		return -EINVAL;
	get_sources(desc, sources);
	for (i = 0; i < CPU_VECTOR_N; i++) {
		bytes += msm_points_bytes(sources[i].group, sources[i].n);
		total += sources[i].n;
	}
	err = cpu_reserve(gpu, bytes);
	if (err)
		return err;
	srs = calloc(1, sizeof(*srs));
	if (!srs) {
		cpu_release(gpu, bytes);
		return -ENOMEM;
	}
	srs->h_basis = desc->h_basis;
	srs->dense = desc->dense;
	srs->bytes = bytes;
	cpu_begin(gpu);
	ctl_begin(&gpu->ctl, GPU_STAGE_UPLOAD, total);
	for (i = 0; i < CPU_VECTOR_N; i++) {
		err = load_vector(gpu, &sources[i], desc, check, memory, &srs->points[i], &where);
		if (memory)
			memory += place_bytes(&sources[i]);
		if (err) {
			if (err == -EBADMSG && bad)
				*bad = (uint64_t)i << 56 | where;
			cpu_srs_unload(gpu, srs);
			return err;
		}
	}
	*out = srs;
	return 0;
}

void cpu_srs_unload(struct gpu *gpu, struct gpu_srs *srs)
{
	int i;

	if (!srs)
		return;
	for (i = 0; i < CPU_VECTOR_N; i++)
		msm_points_close(srs->points[i]);
	cpu_release(gpu, srs->bytes);
	free(srs);
}
