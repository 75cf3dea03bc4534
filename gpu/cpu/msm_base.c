/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * msm_base.c - many multiples of one point
 *
 * A table holds j 2^(window's offset) base for every window and j up to half its
 * size; a multiple is then a sum of one entry, or its negative, per window.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/cpu/msm_impl.h"

#define MAX_TABLE ((size_t)100000)	/* points: stays in the last level cache */

struct base {
	const struct msm_kernel *kernel;
	const struct msm_curve *curve;
	struct msm_recode rc;
	msm_digits_fn *digits;
	const struct scalar *scalar;
	size_t n;
	uint8_t *table;		/* points: half of them per window, infinity last */
	size_t half;
	uint8_t *out;
	uint8_t *work;
	size_t work_size;
};

/* Scratch of a thread: the kernel's, sums, the table's places and the lists' constants. */
static size_t work_size(const struct base *b)
{
	return b->kernel->scratch_size + MSM_LISTS * b->kernel->sum_size +
	       MSM_LISTS * sizeof(uint32_t) * (b->rc.n_windows + 2);
}

static void base_task(void *arg, size_t chunk, unsigned int thread)
{
	struct base *b = arg;
	const struct msm_kernel *k = b->kernel;
	uint8_t *sums = b->work + thread * b->work_size + k->scratch_size;
	uint32_t *digit = (uint32_t *)(sums + MSM_LISTS * k->sum_size);
	uint32_t *order = digit + MSM_LISTS * b->rc.n_windows, *count = order + MSM_LISTS;
	size_t first = chunk * MSM_LISTS, n = b->n - first, i;
	uint32_t infinity = b->half * b->rc.n_windows;
	unsigned int w;

	if (n > MSM_LISTS)
		n = MSM_LISTS;
	/* they are canonical: base_run looked */
	b->digits(&b->rc, b->scalar + first, n, 0, b->rc.n_windows, digit, MSM_LISTS);
	for (i = 0; i < n; i++) {
		order[i] = i;
		count[i] = b->rc.n_windows;
	}
	for (w = 0; w < b->rc.n_windows; w++) {
		uint32_t *d = digit + w * MSM_LISTS;

		for (i = 0; i < n; i++) {
			uint32_t j = d[i] & ~MSM_NEGATIVE;

			d[i] = j ? (d[i] & MSM_NEGATIVE) | (w * b->half + j - 1) : infinity;
		}
	}
	for (i = 0; i < n; i += k->best_lists) {
		struct msm_lists lists = {
			.entry = digit, .pos = order + i, .count = count + i, .dest = order + i,
			.n = n - i < k->best_lists ? n - i : k->best_lists, .step = MSM_LISTS,
		};

		k->sum_lists(b->work + thread * b->work_size, b->table, &lists, sums);
	}
	k->sums_to_zcash(b->out + first * b->curve->affine_size, sums, n);
}

/*
 * The table, in sums: from j up to m come those up to 2m by adding m, in all
 * windows at once.  Column j of window w is at w + (j - 1) * n_windows.
 */
static int make_table(struct base *b, const void *affine, void *scratch)
{
	const struct msm_kernel *k = b->kernel;
	const size_t windows = b->rc.n_windows, n = windows * b->half, size = k->sum_size;
	union {
		struct g1 g1;
		struct g2 g2;
	} p;
	union {
		struct g1_affine g1;
		struct g2_affine g2;
	} a;
	const size_t bytes = ((n + 1) * size + 63) & ~(size_t)63;
	uint8_t *sums = aligned_alloc(64, bytes), *moved = aligned_alloc(64, bytes);
	uint32_t *first = malloc(2 * n * sizeof(*first)), *second = first + n;
	size_t i, j, m;
	int err = 0;

	if (!sums || !moved || !first) {
		err = -ENOMEM;
		goto out;
	}
	b->curve->set_infinity(&p);
	b->curve->add_affine(&p, &p, affine);
	for (i = 0; i < windows; i++) {
		b->curve->to_affine(&a, &p);
		k->sum_set(sums + i * size, &a);
		for (j = 0; j < b->rc.width[i]; j++)
			b->curve->double_(&p, &p);
	}
	for (m = 1; m < b->half; m *= 2) {
		for (i = 0; i < m * windows; i++) {
			first[i] = (m - 1) * windows + i % windows;
			second[i] = i;
		}
		/* behind its sources, so that they do not overlap */
		k->add_pairs(scratch, sums + m * windows * size, sums, first, second, m * windows);
	}
	for (i = 0; i < windows; i++)
		for (j = 0; j < b->half; j++)
			memcpy(moved + (i * b->half + j) * size, sums + (j * windows + i) * size, size);
	k->clear(moved + n * size, 1);
	k->points_from_sums(b->table, moved, n + 1);
out:
	free(first);
	free(sums);
	free(moved);
	return err;
}

/* The number of windows that needs the fewest additions for n multiples and the table. */
static unsigned int base_windows(size_t n)
{
	unsigned int w, best = 0;
	size_t cost, lowest = 0;

	for (w = 1; w <= MSM_MAX_WINDOWS; w++) {
		unsigned int width = (MSM_SCALAR_BITS + w - 1) / w;

		if (width > 20 || ((size_t)w << (width - 1)) > MAX_TABLE)
			continue;
		cost = w * n + ((size_t)w << (width - 1));
		if (!best || cost < lowest) {
			best = w;
			lowest = cost;
		}
	}
	return best;
}

static int base_run(struct tpool *pool, enum msm_group group, enum msm_path path,
		    const void *affine, const struct scalar *scalar, size_t n, void *out)
{
	struct base b = { .scalar = scalar, .n = n, .out = out };
	unsigned int threads = tpool_threads(pool);
	size_t table_size, i;
	int err;

	for (i = 0; i < n; i++)
		if (!scalar_is_canonical(&scalar[i]))
			return -EINVAL;
	path = msm_path_choose(path);
	b.kernel = msm_kernel_of(group, path);
	if (!b.kernel)
		return -EINVAL;
	b.curve = group == MSM_G1 ? &msm_curve_g1 : &msm_curve_g2;
	b.digits = msm_digits_port;
#ifdef CUZK_X86
	if (path == MSM_PATH_IFMA)
		b.digits = msm_digits_ifma;
#endif
	msm_recode_init(&b.rc, base_windows(n));
	b.half = (size_t)1 << (b.rc.width[0] - 1);
	b.work_size = (work_size(&b) + 4095) & ~(size_t)4095;
	table_size = (b.half * b.rc.n_windows + 1) * b.kernel->point_size;
	b.table = msm_alloc(table_size);
	b.work = msm_alloc(threads * b.work_size);
	err = -ENOMEM;
	if (!b.table || !b.work)
		goto out;
	err = make_table(&b, affine, b.work);
	if (err)
		goto out;
	tpool_run(pool, base_task, &b, (n + MSM_LISTS - 1) / MSM_LISTS);
out:
	msm_free(b.table, table_size);
	msm_free(b.work, threads * b.work_size);
	return err;
}

int msm_base_g1(struct tpool *pool, enum msm_path path, const struct g1_affine *base,
		const struct scalar *scalar, size_t n, uint8_t (*out)[96])
{
	return base_run(pool, MSM_G1, path, base, scalar, n, out);
}

int msm_base_g2(struct tpool *pool, enum msm_path path, const struct g2_affine *base,
		const struct scalar *scalar, size_t n, uint8_t (*out)[192])
{
	return base_run(pool, MSM_G2, path, base, scalar, n, out);
}
