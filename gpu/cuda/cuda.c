/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* cuda.c - gpu.h on a CUDA device */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/cuda/device.h"

int device_progress(struct gpu *gpu, enum gpu_stage stage, uint64_t done, uint64_t total)
{
	const struct gpu_config *c = &gpu->ctx->config;

	if (c->progress)
		c->progress(c->arg, stage, done, total);
	return c->cancelled && c->cancelled(c->arg) ? -ECANCELED : 0;
}

int device_host_reserve(struct gpu *gpu, uint64_t bytes)
{
	uint64_t budget = gpu->ctx->config.host_budget;
	int r = 0;

	pthread_mutex_lock(&gpu->stats_lock);
	if (budget && (bytes > budget || gpu->stats.host_bytes > budget - bytes)) {
		r = -ENOMEM;
	} else {
		gpu->stats.host_bytes += bytes;
		if (gpu->stats.host_bytes > gpu->stats.host_peak)
			gpu->stats.host_peak = gpu->stats.host_bytes;
	}
	pthread_mutex_unlock(&gpu->stats_lock);
	return r;
}

void device_host_release(struct gpu *gpu, uint64_t bytes)
{
	pthread_mutex_lock(&gpu->stats_lock);
	gpu->stats.host_bytes -= bytes;
	pthread_mutex_unlock(&gpu->stats_lock);
}

uint64_t device_host_left(struct gpu *gpu)
{
	uint64_t budget = gpu->ctx->config.host_budget, used;

	if (!budget)
		return UINT64_MAX;
	pthread_mutex_lock(&gpu->stats_lock);
	used = gpu->stats.host_bytes;
	pthread_mutex_unlock(&gpu->stats_lock);
	return budget > used ? budget - used : 0;
}

void device_log(struct gpu *gpu, int priority, const char *line)
{
	const struct gpu_config *c = &gpu->ctx->config;

	if (c->log)
		c->log(c->arg, priority, line);
}

void device_streamed(struct gpu *gpu, uint64_t bytes, uint64_t ns, uint64_t wait_ns)
{
	pthread_mutex_lock(&gpu->stats_lock);
	gpu->stats.stream_bytes += bytes;
	gpu->stats.stream_ns += ns;
	gpu->stats.stream_wait_ns += wait_ns;
	pthread_mutex_unlock(&gpu->stats_lock);
}

struct device_traffic device_traffic(struct gpu *gpu)
{
	struct device_traffic t = { gpu->ctx->bytes_up, gpu->ctx->bytes_down, 0 };

	pthread_mutex_lock(&gpu->stats_lock);
	t.up_ns = gpu->stats.stream_ns + gpu->ctx->copy_up_ns;
	pthread_mutex_unlock(&gpu->stats_lock);
	return t;
}

void device_traffic_add(struct gpu *gpu, struct device_traffic *t,
			const struct device_traffic *since, unsigned int sharers)
{
	struct device_traffic now = device_traffic(gpu);

	t->bytes_up += (now.bytes_up - since->bytes_up) / sharers;
	t->bytes_down += (now.bytes_down - since->bytes_down) / sharers;
	t->up_ns += (now.up_ns - since->up_ns) / sharers;
}

void device_memory(struct gpu *gpu)
{
	pthread_mutex_lock(&gpu->stats_lock);
	gpu->stats.device_bytes = cuda_arena_used(gpu->ctx->arena);
	gpu->stats.device_peak = cuda_arena_peak(gpu->ctx->arena);
	pthread_mutex_unlock(&gpu->stats_lock);
}

static CUevent *feed_event(struct gpu *gpu, unsigned int i)
{
	return i < 2 ? &gpu->feed_begin[i] : &gpu->feed_end[i - 2];
}

static void device_close(struct gpu *gpu)
{
	unsigned int i;

	if (!gpu)
		return;
	if (gpu->ctx) {
		cuda_ctx_enter(gpu->ctx);
		for (i = 0; i < 2; i++)
			cuda_free(gpu->ctx, gpu->base[i].table);
		for (i = 0; i < gpu->n_feed_events; i++)
			gpu->ctx->drv->event_destroy(*feed_event(gpu, i));
		if (gpu->feed_stream)
			gpu->ctx->drv->stream_destroy(gpu->feed_stream);
		cuda_side_close(gpu->side);
		cuda_ntt_close(gpu->ntt);
		cuda_upload_close(gpu->upload);
		cuda_ctx_close(gpu->ctx);
	}
	tpool_close(gpu->pool);
	pthread_mutex_destroy(&gpu->stats_lock);
	free(gpu);
}

static int open_feed(struct gpu *gpu)
{
	struct cuda_ctx *ctx = gpu->ctx;
	unsigned int i;
	int r;

	r = cuda_check(ctx, ctx->drv->stream_create(&gpu->feed_stream, CU_STREAM_NON_BLOCKING),
		       "making a stream");
	for (i = 0; i < 4 && !r; i++) {
		r = cuda_check(ctx, ctx->drv->event_create(feed_event(gpu, i), CU_EVENT_DEFAULT),
			       "making an event");
		if (!r)
			gpu->n_feed_events++;
	}
	return r;
}

/* parent NULL: a device; else a lane with so many bytes of its memory. */
static int open_on(struct gpu **out, const struct gpu_config *config, struct gpu *parent,
		   uint64_t bytes, char *err)
{
	struct gpu_config c = { .size = sizeof(c) };
	uint64_t pinned = CUDA_UPLOAD + (parent ? 0 : CUDA_SIDE_UPLOAD);
	struct gpu *gpu;
	int r;

	memcpy(&c, config, config->size < sizeof(c) ? config->size : sizeof(c));
	if (c.device && !*c.device)
		c.device = NULL;
	if (c.host_budget && c.host_budget < pinned) {
		snprintf(err, 256, "host_budget: a CUDA device needs %llu MiB of it",
			 (unsigned long long)pinned >> 20);
		return -ENOMEM;
	}
	gpu = calloc(1, sizeof(*gpu));
	if (!gpu) {
		snprintf(err, 256, "out of memory");
		return -ENOMEM;
	}
	pthread_mutex_init(&gpu->stats_lock, NULL);
	r = tpool_open(&gpu->pool, c.threads);
	if (r) {
		snprintf(err, 256, "starting threads: %s", strerror(-r));
		goto err_close;
	}
	r = parent ? cuda_ctx_open_beside(&gpu->ctx, parent->ctx, &c, CUDA_URGENT, bytes, err) :
		     cuda_ctx_open(&gpu->ctx, &c, err);
	if (r)
		goto err_close;
	gpu->ctx->config.device = NULL;	/* the caller's */
	snprintf(err, 256, "gpu %s: no memory for its buffers", gpu->ctx->name);
	r = cuda_ntt_open(&gpu->ntt, gpu->ctx);
	if (!r)
		r = cuda_upload_open(&gpu->upload, gpu->ctx, gpu->pool, CUDA_UPLOAD);
	if (!r)
		r = open_feed(gpu);
	if (!r && !parent)
		r = cuda_side_open(&gpu->side, gpu, err);
	if (r)
		goto err_close;
	gpu->stats.host_bytes = gpu->stats.host_peak = pinned;
	gpu->stats.device_total = cuda_arena_largest(gpu->ctx->arena);
	*out = gpu;
	return 0;

err_close:
	device_close(gpu);
	return r;
}

static int device_open(struct gpu **out, const struct gpu_config *config, char *err)
{
	return open_on(out, config, NULL, 0, err);
}

static int device_lane_open(struct gpu *gpu, const struct gpu_config *config, uint64_t bytes,
			    struct gpu **lane, char *err)
{
	return open_on(lane, config, gpu, bytes, err);
}

static void device_stats(struct gpu *gpu, struct gpu_stats *stats)
{
	uint64_t step = atomic_load(&gpu->ctx->longest_step_ns), beside = 0;

	if (gpu->side)
		beside = atomic_load(&cuda_side_ctx(gpu->side)->longest_step_ns);
	pthread_mutex_lock(&gpu->stats_lock);
	*stats = gpu->stats;
	stats->longest_step_ns = step > beside ? step : beside;
	pthread_mutex_unlock(&gpu->stats_lock);
}

/* A vector of the caller's on the device. */
static int take(struct gpu *gpu, CUdeviceptr *p, const void *data, uint64_t bytes)
{
	int r = cuda_alloc(gpu->ctx, p, bytes);

	return r ? r : cuda_upload(gpu->upload, *p, data, bytes);
}

/* data[i] *= factor * base^i, in natural order */
static int scale(struct gpu *gpu, CUdeviceptr data, unsigned int log_n, const struct fr *base,
		 const struct fr *factor)
{
	int r = cuda_ntt_reverse(gpu->ntt, data, log_n);

	if (!r)
		r = cuda_ntt_scale_reversed(gpu->ntt, data, log_n, base, factor);
	return r ? r : cuda_ntt_reverse(gpu->ntt, data, log_n);
}

static int ntt_device(struct gpu *gpu, CUdeviceptr p, unsigned int log_n, bool inverse,
		      const struct fr *root, const struct fr *shift)
{
	struct fr base = shift ? *shift : fr_one, factor = fr_one;
	int r = 0;

	if (inverse) {
		fr_inv_vartime(&base, &base);
		fr_from_u64(&factor, UINT64_C(1) << log_n);
		fr_inv_vartime(&factor, &factor);
	} else if (shift) {
		r = scale(gpu, p, log_n, &base, &factor);
	}
	if (!r)
		r = cuda_ntt_run(gpu->ntt, p, log_n, root, inverse, CUDA_NTT_DIF);
	if (!r && inverse)
		r = cuda_ntt_scale_reversed(gpu->ntt, p, log_n, &base, &factor);
	return r ? r : cuda_ntt_reverse(gpu->ntt, p, log_n);
}

static int device_ntt(struct gpu *gpu, struct fr *data, unsigned int log_n, bool inverse,
		      const struct fr *root, const struct fr *shift)
{
	CUdeviceptr p;
	int r;

	if (log_n > CUDA_NTT_MAX_LOG)
		return -EINVAL;
	r = cuda_ctx_enter(gpu->ctx);
	if (r)
		return r;
	r = take(gpu, &p, data, sizeof(*data) << log_n);
	if (!r)
		r = ntt_device(gpu, p, log_n, inverse, root, shift);
	if (!r)
		r = cuda_copy_down(gpu->ctx, data, p, sizeof(*data) << log_n);
	cuda_free(gpu->ctx, p);
	return r;
}

static int device_quotient(struct gpu *gpu, struct fr *a, struct fr *b, unsigned int log_n,
			   enum gpu_h_basis basis, struct scalar *h)
{
	CUdeviceptr da = 0, db = 0, dh = 0;
	uint64_t bytes = sizeof(*a) << log_n;
	int r;

	if (log_n >= CUDA_NTT_MAX_LOG)
		return -EINVAL;
	r = cuda_ctx_enter(gpu->ctx);
	if (!r)
		r = take(gpu, &da, a, bytes);
	if (!r)
		r = take(gpu, &db, b, bytes);
	if (!r)
		r = cuda_alloc(gpu->ctx, &dh, bytes);
	if (!r)
		r = cuda_quotient(gpu->ntt, da, db, dh, log_n, basis);
	if (!r && basis == GPU_H_POWERS)
		r = cuda_ntt_reverse(gpu->ntt, dh, log_n);
	if (!r)
		r = cuda_copy_down(gpu->ctx, h, dh, bytes);
	cuda_free(gpu->ctx, da);
	cuda_free(gpu->ctx, db);
	cuda_free(gpu->ctx, dh);
	return r;
}

static int device_msm(struct gpu *gpu, enum cuda_group group, const void *points,
		      const struct scalar *scalars, size_t n, void *out)
{
	CUdeviceptr dp = 0, ds = 0;
	int r;

	r = cuda_ctx_enter(gpu->ctx);
	if (!r)
		r = take(gpu, &dp, points, n * cuda_point_size(group));
	if (!r)
		r = take(gpu, &ds, scalars, n * sizeof(*scalars));
	if (!r)
		r = cuda_side_msm(gpu, group, dp, ds, 0, n, out);
	cuda_free(gpu->ctx, dp);
	cuda_free(gpu->ctx, ds);
	return r;
}

static int device_msm_g1(struct gpu *gpu, const struct g1_affine *points,
			 const struct scalar *scalars, size_t n, struct g1_affine *out)
{
	return device_msm(gpu, CUDA_G1, points, scalars, n, out);
}

static int device_msm_g2(struct gpu *gpu, const struct g2_affine *points,
			 const struct scalar *scalars, size_t n, struct g2_affine *out)
{
	return device_msm(gpu, CUDA_G2, points, scalars, n, out);
}

static int device_evaluate(struct gpu *gpu, struct gpu_cs *cs, const struct cs_witness *w,
			   struct fr *a, struct fr *b, struct fr *c, uint64_t *bad_row)
{
	uint64_t bytes = sizeof(*a) << cs->cs->log_domain;
	CUdeviceptr v[3] = { 0, 0, 0 };
	struct device_witness dw = { 0 };
	struct fr *to[3] = { a, b, c };
	int i, r;

	r = cuda_ctx_enter(gpu->ctx);
	if (!r)
		r = cuda_witness_load(gpu, cs, w, &dw);
	for (i = 0; i < 3 && !r; i++)
		if (to[i])
			r = cuda_alloc(gpu->ctx, &v[i], bytes);
	if (!r)
		r = cuda_evaluate(gpu, cs, &dw, v[0], v[1], v[2], c ? bad_row : NULL);
	for (i = 0; i < 3 && !r; i++)
		if (to[i])
			r = cuda_copy_down(gpu->ctx, to[i], v[i], bytes);
	for (i = 0; i < 3; i++)
		cuda_free(gpu->ctx, v[i]);
	cuda_witness_free(gpu, &dw);
	return r;
}

static const struct gpu_ops ops = {
	.name = "cuda",
	.open = device_open,
	.close = device_close,
	.stats = device_stats,
	.lane_open = device_lane_open,
	.cs_load = cuda_cs_load,
	.cs_unload = cuda_cs_unload,
	.srs_load = cuda_srs_load,
	.srs_unload = cuda_srs_unload,
	.prove_start = cuda_prove_start,
	.prove_finish = cuda_prove_finish,
	.prove_bytes = cuda_prove_bytes,
	.prove_batch = cuda_prove_batch,
	.prove_work = cuda_prove_work,
	.ntt = device_ntt,
	.quotient = device_quotient,
	.msm_g1 = device_msm_g1,
	.msm_g2 = device_msm_g2,
	.mul_base_g1 = cuda_mul_base_g1,
	.mul_base_g2 = cuda_mul_base_g2,
	.transform_g1 = cuda_transform_g1,
	.evaluate = device_evaluate,
};

const struct gpu_ops *gpu_cuda_ops(void)
{
	return &ops;
}
