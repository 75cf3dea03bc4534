/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * transform_g1.c - the inverse transform in the group G1
 *
 * Decimation in frequency: a stage turns a pair (P, Q) at distance half into
 * P + Q and w^-j (P - Q), natural order in, bit-reversed out.  Points stay affine
 * between stages, with shared inversions over the pairs of a chunk.
 */
#include <errno.h>

#include "gpu/cpu/cpu.h"
#include "gpu/cpu/ntt_plan.h"

#define CHUNK 64	/* pairs or points: some milliseconds of products */

struct transform {
	struct gpu *gpu;
	const struct g1_affine *in;
	struct g1_affine *work;
	unsigned int log_n;
	size_t half;
	struct fr step;			/* of the powers: base, or the stage's root */
	const struct fr *factor;
};

/* k a, in Jacobian coordinates */
static void multiple(struct g1 *r, const struct g1_affine *a, const struct fr *k)
{
	struct scalar s;

	if (fr_is_one(k)) {
		g1_from_affine(r, a);
		return;
	}
	fr_to_scalar(&s, k);
	g1_mul_vartime(r, a, &s);
}

static void scale_task(void *arg, size_t chunk, unsigned int thread)
{
	const struct transform *t = arg;
	size_t n = (size_t)1 << t->log_n, first = chunk * CHUNK, i;
	struct g1 out[CHUNK];
	struct fr k;

	if (ctl_stop(&t->gpu->ctl, thread))
		return;
	if (n > CHUNK)
		n = CHUNK;
	fr_pow_u64(&k, &t->step, first);
	fr_mul(&k, &k, t->factor);
	for (i = 0; i < n; i++) {
		multiple(&out[i], &t->in[first + i], &k);
		fr_mul(&k, &k, &t->step);
	}
	g1_batch_to_affine(&t->work[first], out, n);
	ctl_done(&t->gpu->ctl, thread, n);
}

static struct g1_affine *pair(const struct transform *t, size_t i)
{
	return &t->work[2 * i - (i & (t->half - 1))];
}

static void stage_task(void *arg, size_t chunk, unsigned int thread)
{
	const struct transform *t = arg;
	size_t n = ((size_t)1 << t->log_n) / 2, first = chunk * CHUNK, i, j;
	struct g1_affine sum[CHUNK], difference[CHUNK], minus;
	struct g1 p[CHUNK], q[CHUNK];
	struct fr k;

	if (ctl_stop(&t->gpu->ctl, thread))
		return;
	if (n > CHUNK)
		n = CHUNK;
	for (i = 0; i < n; i++) {
		const struct g1_affine *a = pair(t, first + i);

		g1_from_affine(&p[i], a);
		g1_affine_neg(&minus, &a[t->half]);
		g1_add_affine(&q[i], &p[i], &minus);
		g1_add_affine(&p[i], &p[i], &a[t->half]);
	}
	g1_batch_to_affine(sum, p, n);
	g1_batch_to_affine(difference, q, n);
	j = first & (t->half - 1);
	fr_pow_u64(&k, &t->step, j);
	for (i = 0; i < n; i++) {
		multiple(&q[i], &difference[i], &k);
		fr_mul(&k, &k, &t->step);
		if (++j == t->half) {
			j = 0;
			k = fr_one;
		}
	}
	g1_batch_to_affine(difference, q, n);
	for (i = 0; i < n; i++) {
		struct g1_affine *a = pair(t, first + i);

		a[0] = sum[i];
		a[t->half] = difference[i];
	}
	ctl_done(&t->gpu->ctl, thread, n);
}

static int run(struct transform *t, const struct fr *root, const struct fr *base)
{
	struct ctl *ctl = &t->gpu->ctl;
	size_t n = (size_t)1 << t->log_n;
	struct fr w;

	ctl_begin(ctl, GPU_STAGE_NTT, n + n / 2 * t->log_n);
	t->step = *base;
	tpool_run(t->gpu->pool, scale_task, t, (n + CHUNK - 1) / CHUNK);
	ntt_root(&w, root, t->log_n);
	fr_inv_vartime(&t->step, &w);
	for (t->half = n / 2; t->half && !ctl_stop(ctl, 0); t->half /= 2) {
		tpool_run(t->gpu->pool, stage_task, t, (n / 2 + CHUNK - 1) / CHUNK);
		fr_sqr(&t->step, &t->step);
	}
	return ctl_stop(ctl, 0) ? -ECANCELED : 0;
}

int cpu_transform_g1(struct gpu *gpu, struct g1_affine *points, unsigned int log_n,
		     const struct fr *root, const struct fr *factor, const struct fr *base)
{
	struct transform t = { .gpu = gpu, .in = points, .log_n = log_n, .factor = factor };
	uint64_t bytes = sizeof(*points) << log_n;
	size_t i, j, bit;
	int err;

	if (log_n > NTT_MAX_LOG_N)
		return -EINVAL;
	t.work = cpu_alloc(gpu, bytes);
	if (!t.work)
		return -ENOMEM;
	cpu_begin(gpu);
	err = run(&t, root, base);
	/* j: i with its bits reversed */
	for (i = j = 0; !err && i < (size_t)1 << log_n; i++) {
		points[i] = t.work[j];
		for (bit = ((size_t)1 << log_n) / 2; bit && j & bit; bit /= 2)
			j ^= bit;
		j |= bit;
	}
	cpu_free(gpu, t.work, bytes);
	return err;
}
