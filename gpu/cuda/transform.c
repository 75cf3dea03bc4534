/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* transform.c - inverse transforms in the group G1, host side */
#include <errno.h>
#include <stdio.h>
#include <syslog.h>

#include "gpu/cuda/device.h"
#include "gpu/cuda/tiles.h"

#define THREADS 64		/* of 190 registers: five blocks on a multiprocessor */
#define PER_THREAD 16		/* TRANSFORM_PER_THREAD of transform.cuh */
#define POINT_BYTES 144		/* of its struct jacobian */
/*
 * Products that a multiprocessor does in one launch: on an H200 60 ms.  Between
 * launches progress is told and the caller may cancel.
 */
#define PER_SM (1u << 13)

/* The kernels' struct power_table. */
struct powers {
	CUdeviceptr low, high;
};

struct transform {
	struct gpu *gpu;
	unsigned int log_n;
	uint32_t n, range;	/* points, and points or pairs of one launch */
	CUdeviceptr points, affine, prefix;
	struct powers scale, roots;
	uint64_t done, total;	/* points and pairs of all stages */
};

static uint32_t low_count(const struct transform *t)
{
	return 1u << (t->log_n < NTT_LOW_BITS ? t->log_n : NTT_LOW_BITS);
}

static uint32_t high_count(const struct transform *t)
{
	return t->log_n > NTT_LOW_BITS ? 1u << (t->log_n - NTT_LOW_BITS) : 1;
}

/* factor base^i, canonical: high carries what takes it out of Montgomery form. */
static int powers_fill(struct transform *t, const struct powers *p, const struct fr *base,
		       const struct fr *factor)
{
	static const struct fr canonical = {{ 1 }};
	uint32_t low = low_count(t), high = high_count(t), one = 1, stride = 1u << NTT_LOW_BITS;
	struct fr first;
	int r;

	fr_mul(&first, factor, &canonical);
	r = CUDA_RUN(t->gpu->ctx, fr_powers, low, THREADS, (void *)&p->low, &low, (void *)base,
		     &one, (void *)&fr_one);
	return r ? r : CUDA_RUN(t->gpu->ctx, fr_powers, high, THREADS, (void *)&p->high, &high,
				(void *)base, &stride, &first);
}

static void transform_free(struct transform *t)
{
	struct cuda_ctx *ctx = t->gpu->ctx;

	cuda_free(ctx, t->points);
	cuda_free(ctx, t->affine);
	cuda_free(ctx, t->prefix);
	cuda_free(ctx, t->scale.low);
	cuda_free(ctx, t->scale.high);
	cuda_free(ctx, t->roots.low);
	cuda_free(ctx, t->roots.high);
}

static int transform_alloc(struct transform *t)
{
	uint64_t low = sizeof(struct fr) * low_count(t), high = sizeof(struct fr) * high_count(t);
	const struct {
		CUdeviceptr *p;
		uint64_t bytes;
	} parts[] = {
		{ &t->points, (uint64_t)POINT_BYTES * t->n },
		{ &t->affine, (uint64_t)sizeof(struct g1_affine) * t->range },
		{ &t->prefix, (uint64_t)sizeof(struct fp) * t->range },
		{ &t->scale.low, low }, { &t->scale.high, high },
		{ &t->roots.low, low }, { &t->roots.high, high },
	};
	struct cuda_ctx *ctx = t->gpu->ctx;
	uint64_t free_bytes = cuda_arena_largest(ctx->arena), need = 0;
	unsigned int i;
	char line[192];
	int r = 0;

	for (i = 0; i < sizeof(parts) / sizeof(parts[0]) && !r; i++)
		r = cuda_alloc(ctx, parts[i].p, parts[i].bytes);
	if (r == -ENOMEM && ctx->config.log) {
		for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
			need += parts[i].bytes;
		snprintf(line, sizeof(line), "gpu %s: to transform 2^%u points takes %llu MiB of "
			 "its memory, and %llu MiB are free", ctx->name, t->log_n,
			 (unsigned long long)(need >> 20) + 1,
			 (unsigned long long)free_bytes >> 20);
		ctx->config.log(ctx->config.arg, LOG_ERR, line);
	}
	return r;
}

/* Waits for what was launched, n points or pairs. */
static int finish_range(struct transform *t, uint32_t n)
{
	int r = cuda_wait(t->gpu->ctx);

	t->done += n;
	return r ? r : device_progress(t->gpu, GPU_STAGE_NTT, t->done, t->total);
}

static int load(struct transform *t, const struct g1_affine *in)
{
	uint32_t first, now;
	int r = 0;

	for (first = 0; first < t->n && !r; first += now) {
		CUdeviceptr to = t->points + (uint64_t)POINT_BYTES * first;

		now = t->n - first < t->range ? t->n - first : t->range;
		r = cuda_upload(t->gpu->upload, t->affine, in + first, sizeof(*in) * now);
		if (!r)
			r = CUDA_RUN(t->gpu->ctx, transform_load_g1, now, THREADS, &t->affine, &now,
				     &first, &t->scale, &to);
		if (!r)
			r = finish_range(t, now);
	}
	return r;
}

static int stage(struct transform *t, int level)
{
	int log_n = (int)t->log_n, r = 0;
	uint32_t pairs = t->n / 2, first, now;

	for (first = 0; first < pairs && !r; first += now) {
		now = pairs - first < t->range ? pairs - first : t->range;
		r = CUDA_RUN(t->gpu->ctx, transform_stage_g1, now, THREADS, &t->points, &first,
			     &now, &log_n, &level, &t->roots);
		if (!r)
			r = finish_range(t, now);
	}
	return r;
}

/* Past cancelling: out is either left alone or complete. */
static int store(struct transform *t, struct g1_affine *out)
{
	int log_n = (int)t->log_n, r = 0;
	uint32_t first, now;

	for (first = 0; first < t->n && !r; first += now) {
		uint32_t threads;

		now = t->n - first < t->range ? t->n - first : t->range;
		threads = (now + PER_THREAD - 1) / PER_THREAD;
		r = CUDA_RUN(t->gpu->ctx, transform_store_g1, threads, THREADS, &t->points, &first,
			     &now, &log_n, &threads, &t->prefix, &t->affine);
		if (!r)
			r = cuda_copy_down(t->gpu->ctx, out + first, t->affine, sizeof(*out) * now);
	}
	return r;
}

int cuda_transform_ranges(struct gpu *gpu, struct g1_affine *points, unsigned int log_n,
			  const struct fr *root, const struct fr *factor, const struct fr *base,
			  uint32_t range)
{
	struct transform t = { .gpu = gpu, .log_n = log_n, .range = range };
	struct fr w;
	unsigned int i;
	int level, r;

	if (log_n > CUDA_NTT_MAX_LOG || !range)
		return -EINVAL;
	t.n = 1u << log_n;
	t.total = t.n + (uint64_t)(t.n / 2) * log_n;
	if (t.range > t.n)
		t.range = t.n;
	fr_inv_vartime(&w, root);
	for (i = log_n; i < 32; i++)
		fr_sqr(&w, &w);
	r = cuda_ctx_enter(gpu->ctx);
	if (!r)
		r = transform_alloc(&t);
	if (!r)
		r = powers_fill(&t, &t.scale, base, factor);
	if (!r)
		r = powers_fill(&t, &t.roots, &w, &fr_one);
	if (!r)
		r = device_progress(gpu, GPU_STAGE_NTT, 0, t.total);
	if (!r)
		r = load(&t, points);
	for (level = 0; level < (int)log_n && !r; level++)
		r = stage(&t, level);
	if (!r)
		r = store(&t, points);
	transform_free(&t);
	return r;
}

int cuda_transform_g1(struct gpu *gpu, struct g1_affine *points, unsigned int log_n,
		      const struct fr *root, const struct fr *factor, const struct fr *base)
{
	uint32_t sms = gpu->ctx->sm_count > 0 ? (uint32_t)gpu->ctx->sm_count : 1;

	return cuda_transform_ranges(gpu, points, log_n, root, factor, base, sms * PER_SM);
}
