/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* msm_points.c - sets of points in the form of a path, and the choice of the path */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "gpu/cpu/msm_impl.h"

#define FILL_CHUNK 1024

bool msm_path_available(enum msm_path path)
{
	switch (path) {
	case MSM_PATH_AUTO:
	case MSM_PATH_PORTABLE:
		return true;
	case MSM_PATH_IFMA:
#ifdef CUZK_X86
		__builtin_cpu_init();
		return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
		       __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
		       __builtin_cpu_supports("avx512ifma") &&
		       __builtin_cpu_supports("avx512vbmi") &&
		       __builtin_cpu_supports("avx512vbmi2") && __builtin_cpu_supports("bmi2");
#endif
		break;
	}
	return false;
}

enum msm_path msm_path_choose(enum msm_path path)
{
	if (path != MSM_PATH_AUTO)
		return path;
	return msm_path_available(MSM_PATH_IFMA) ? MSM_PATH_IFMA : MSM_PATH_PORTABLE;
}

const struct msm_kernel *msm_kernel_of(enum msm_group group, enum msm_path path)
{
	if (!msm_path_available(path))
		return NULL;
#ifdef CUZK_X86
	if (path == MSM_PATH_IFMA)
		return group == MSM_G1 ? msm_ifma_g1() : msm_ifma_g2();
#endif
	return group == MSM_G1 ? &msm_port_g1 : &msm_port_g2;
}

void *msm_alloc(size_t size)
{
	void *mem = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (mem == MAP_FAILED)
		return NULL;
	/* only speed depends on it: bucket additions take a quarter less time */
	if (size >= (size_t)1 << 21)
		(void)madvise(mem, size, MADV_HUGEPAGE);
	return mem;
}

void msm_free(void *mem, size_t size)
{
	if (mem)
		munmap(mem, size);
}

uint64_t msm_points_bytes(enum msm_group group, size_t n)
{
	return (uint64_t)n * (group == MSM_G1 ? sizeof(struct g1_affine) : sizeof(struct g2_affine));
}

int msm_points_open(struct msm_points **out, enum msm_group group, enum msm_path path,
		    size_t n, void *mem)
{
	struct msm_points *points;

	path = msm_path_choose(path);
	if (n > MSM_MAX_POINTS || !msm_path_available(path) || (uintptr_t)mem % 64)
		return -EINVAL;
	points = calloc(1, sizeof(*points));
	if (!points)
		return -ENOMEM;
	points->kernel = msm_kernel_of(group, path);
	points->group = group;
	points->path = path;
	points->n = n;
	points->data = mem;
	if (!mem) {
		points->data = msm_alloc(msm_points_bytes(group, n ? n : 1));
		if (!points->data) {
			free(points);
			return -ENOMEM;
		}
		points->own = true;
		/* in the portable form zeros are infinity, and pages stay untouched */
		if (path != MSM_PATH_PORTABLE)
			points->kernel->points_clear(points->data, n);
	}
	*out = points;
	return 0;
}

void msm_points_close(struct msm_points *points)
{
	if (!points)
		return;
	if (points->own)
		msm_free(points->data, msm_points_bytes(points->group, points->n ? points->n : 1));
	free(points);
}

struct fill {
	struct msm_points *points;
	size_t first, count;
	const uint8_t *src;
	enum msm_encoding encoding;
	unsigned int check;
	_Atomic uint64_t bad;	/* the lowest so far */
};

static void fill_bad(struct fill *f, uint64_t i)
{
	uint64_t old = atomic_load(&f->bad);

	while (i < old && !atomic_compare_exchange_weak(&f->bad, &old, i))
		;
}

static void fill_task(void *arg, size_t chunk, unsigned int thread)
{
	struct fill *f = arg;
	const struct msm_kernel *k = f->points->kernel;
	const struct msm_curve *curve = f->points->group == MSM_G1 ? &msm_curve_g1 : &msm_curve_g2;
	size_t at = chunk * FILL_CHUNK, n = f->count - at, done, i;
	uint8_t *to = f->points->data + (f->first + at) * k->point_size;
	union {
		struct g1_affine g1;
		struct g2_affine g2;
	} a;

	if (n > FILL_CHUNK)
		n = FILL_CHUNK;
	if (f->first + at > atomic_load(&f->bad))
		return;
	done = k->points_decode(to, f->src + at * k->point_size, n, f->encoding);
	if (f->check & (MSM_CHECK_CURVE | MSM_CHECK_SUBGROUP))
		done = k->points_on_curve(to, done);
	if (f->check & (MSM_CHECK_FINITE | MSM_CHECK_SUBGROUP)) {
		for (i = 0; i < done; i++) {
			bool finite = k->point_get(to + i * k->point_size, &a);

			if (finite ? (f->check & MSM_CHECK_SUBGROUP) && !curve->in_subgroup(&a) :
				     f->check & MSM_CHECK_FINITE)
				break;
		}
		done = i;
	}
	if (done < n)
		fill_bad(f, f->first + at + done);
}

int msm_points_fill(struct tpool *pool, struct msm_points *points, size_t first,
		    const void *src, size_t count, enum msm_encoding encoding,
		    unsigned int check, uint64_t *bad)
{
	struct fill f = {
		.points = points, .first = first, .count = count, .src = src,
		.encoding = encoding, .check = check, .bad = UINT64_MAX,
	};

	if (first > points->n || count > points->n - first)
		return -EINVAL;
	tpool_run(pool, fill_task, &f, (count + FILL_CHUNK - 1) / FILL_CHUNK);
	if (f.bad == UINT64_MAX)
		return 0;
	if (bad)
		*bad = f.bad;
	return -EBADMSG;
}

size_t msm_points_count(const struct msm_points *points)
{
	return points->n;
}

enum msm_group msm_points_group(const struct msm_points *points)
{
	return points->group;
}

enum msm_path msm_points_path(const struct msm_points *points)
{
	return points->path;
}

const void *msm_points_data(const struct msm_points *points)
{
	return points->data;
}

void msm_points_get_g1(const struct msm_points *points, size_t i, struct g1_affine *out)
{
	points->kernel->point_get(points->data + i * points->kernel->point_size, out);
}

void msm_points_get_g2(const struct msm_points *points, size_t i, struct g2_affine *out)
{
	points->kernel->point_get(points->data + i * points->kernel->point_size, out);
}

int msm_g1(struct tpool *pool, const struct msm_points *points, const struct msm_scalars *what,
	   struct g1_affine *out)
{
	return points->group == MSM_G1 ? msm_run(pool, points, what, 0, out) : -EINVAL;
}

int msm_g2(struct tpool *pool, const struct msm_points *points, const struct msm_scalars *what,
	   struct g2_affine *out)
{
	return points->group == MSM_G2 ? msm_run(pool, points, what, 0, out) : -EINVAL;
}
