/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* srs.c - proving parameters to the device, checked on the way */
#include <errno.h>
#include <stdlib.h>

#include "gpu/cuda/device.h"

#define THREADS 128
#define CHUNK (1u << 19)	/* points decoded at once */

/* points.cuh */
#define CHECK_CURVE 1
#define CHECK_FINITE 2
#define CHECK_ORDER 4

struct source {
	const char *data;
	uint64_t n;
	enum cuda_group group;
	const void *generator;
};

struct loading {
	struct gpu *gpu;
	const struct gpu_srs_desc *desc;
	int checks;
	CUdeviceptr raw, out, bad;	/* a chunk before and after; the least bad index */
	uint64_t done, total;
};

static unsigned int log2_of(uint64_t n)
{
	unsigned int k = 0;

	while (UINT64_C(1) << k < n)
		k++;
	return k;
}

/* n points from index first on, to the device at out + (first .. first + n - 1) * size. */
static int load_chunk(struct loading *l, const struct source *src, uint64_t first, uint32_t n,
		      int reverse_bits, CUdeviceptr out)
{
	enum cuda_kernel kernel = src->group == CUDA_G1 ? KERNEL_points_load_g1 :
							  KERNEL_points_load_g2;
	uint64_t size = cuda_point_size(src->group);
	int zcash = l->desc->encoding == GPU_POINTS_ZCASH, r;
	struct gpu *gpu = l->gpu;

	r = cuda_upload(gpu->upload, l->raw, src->data + first * size, n * size);
	if (r)
		return r;
	return cuda_launch(gpu->ctx, kernel, (n + THREADS - 1) / THREADS, THREADS, 0,
			   (void *[]){ &l->raw, &n, &first, &zcash, &l->checks, &reverse_bits, &out,
				       &l->bad });
}

/* The same, and on to pinned memory. */
static int load_to_host(struct loading *l, const struct source *src, uint64_t first, uint32_t n,
			uint8_t *host)
{
	uint64_t size = cuda_point_size(src->group);
	int r;

	if (l->desc->encoding == GPU_POINTS_SCALARS)
		r = cuda_base_mul(l->gpu, src->group, src->generator,
				  (const struct scalar *)src->data + first, n, 0, l->out,
				  GPU_STAGE_UPLOAD);
	else
		r = load_chunk(l, src, first, n, 0, l->out - first * size);
	return r ? r : cuda_copy_down(l->gpu->ctx, host + first * size, l->out, n * size);
}

/* One vector to its place.  -EBADMSG and *where: the first bad point. */
static int load_vector(struct loading *l, const struct source *src, int reverse_bits,
		       CUdeviceptr points, uint8_t *host, uint64_t *where)
{
	uint64_t first, bad = UINT64_MAX;
	struct gpu *gpu = l->gpu;
	int r;

	if (points && l->desc->encoding == GPU_POINTS_SCALARS)
		return cuda_base_mul(gpu, src->group, src->generator,
				     (const struct scalar *)src->data, src->n, reverse_bits, points,
				     GPU_STAGE_UPLOAD);
	r = cuda_copy_up(gpu->ctx, l->bad, &bad, sizeof(bad));
	for (first = 0; first < src->n && !r; first += CHUNK) {
		uint32_t n = src->n - first < CHUNK ? src->n - first : CHUNK;

		r = points ? load_chunk(l, src, first, n, reverse_bits, points) :
			     load_to_host(l, src, first, n, host);
		l->done += n;
		if (!r)
			r = device_progress(gpu, GPU_STAGE_UPLOAD, l->done, l->total);
	}
	if (!r)
		r = cuda_copy_down(gpu->ctx, &bad, l->bad, sizeof(bad));
	if (r || bad == UINT64_MAX)
		return r;
	*where = bad;
	return -EBADMSG;
}

/* Room for every vector, where the plan wants it. */
static int find_room(struct gpu *gpu, struct gpu_srs *srs, bool made)
{
	struct cuda_ctx *ctx = gpu->ctx;
	int i, r;

	r = cuda_plan(gpu, srs, made);
	for (i = 0; i < CUDA_VECTOR_N && !r; i++) {
		uint64_t bytes = srs->n[i] * cuda_point_size(cuda_vector_group(i));

		if (srs->resident[i])
			r = cuda_alloc(ctx, &srs->points[i], bytes);
		else
			r = cuda_check(ctx, ctx->drv->host_alloc((void **)&srs->host[i],
								 bytes ? bytes : 1, 0),
				       "pinning memory for points");
	}
	return r;
}

static uint64_t longest(const struct gpu_srs_desc *d)
{
	const uint64_t n[] = { d->n_h, d->n_l, d->n_a, d->n_bg1, d->n_bg2 };
	uint64_t most = 0;
	int i;

	for (i = 0; i < CUDA_VECTOR_N; i++)
		most = n[i] > most ? n[i] : most;
	return most;
}

/* Behind the points in the arena, so that what they leave joins the rest. */
static int buffers_alloc(struct loading *l)
{
	uint64_t chunk = longest(l->desc);
	struct cuda_ctx *ctx = l->gpu->ctx;
	int r;

	chunk = (chunk < CHUNK ? chunk : CHUNK) * cuda_point_size(CUDA_G2);
	r = cuda_alloc(ctx, &l->bad, sizeof(uint64_t));
	if (!r)
		r = cuda_alloc(ctx, &l->raw, chunk);
	if (!r)
		r = cuda_alloc(ctx, &l->out, chunk);
	return r;
}

static int load_all(struct loading *l, struct gpu_srs *srs, uint64_t *bad)
{
	const struct gpu_srs_desc *d = l->desc;
	const struct source sources[CUDA_VECTOR_N] = {
		[CUDA_VECTOR_H] = { d->h, d->n_h, CUDA_G1, &G1_GENERATOR },
		[CUDA_VECTOR_L] = { d->l, d->n_l, CUDA_G1, &G1_GENERATOR },
		[CUDA_VECTOR_A] = { d->a, d->n_a, CUDA_G1, &G1_GENERATOR },
		[CUDA_VECTOR_B1] = { d->bg1, d->n_bg1, CUDA_G1, &G1_GENERATOR },
		[CUDA_VECTOR_B2] = { d->bg2, d->n_bg2, CUDA_G2, &G2_GENERATOR },
	};
	/* 2^k - 1 of them go by the reversed bits of their index: the last is in its place */
	int reverse_bits = d->h_basis == GPU_H_POWERS ? (int)log2_of(d->n_h + 1) : 0;
	uint64_t where = 0;
	int i, r;

	if (d->h_basis == GPU_H_POWERS && UINT64_C(1) << reverse_bits != d->n_h + 1)
		return -EINVAL;
	for (i = 0; i < CUDA_VECTOR_N; i++) {
		if (sources[i].n > UINT32_MAX)
			return -EINVAL;
		srs->n[i] = sources[i].n;
		l->total += sources[i].n;
	}
	r = find_room(l->gpu, srs, d->encoding == GPU_POINTS_SCALARS);
	if (!r)
		r = buffers_alloc(l);
	for (i = 0; i < CUDA_VECTOR_N && !r; i++) {
		r = load_vector(l, &sources[i], i == CUDA_VECTOR_H ? reverse_bits : 0,
				srs->points[i], srs->host[i], &where);
		if (r == -EBADMSG && bad)
			*bad = (uint64_t)i << 56 | where;
	}
	return r;
}

int cuda_srs_load(struct gpu *gpu, const struct gpu_srs_desc *desc, int check, struct gpu_srs **out,
		  uint64_t *bad)
{
	struct loading l = { .gpu = gpu, .desc = desc };
	struct gpu_srs *srs;
	int r;

	if (desc->dense && desc->encoding != GPU_POINTS_MONT)
		return -EINVAL;
	r = cuda_ctx_enter(gpu->ctx);
	if (r)
		return r;
	if (check)
		l.checks = CHECK_CURVE | (desc->dense ? 0 : CHECK_FINITE) |
			   (check > 1 ? CHECK_ORDER : 0);
	srs = calloc(1, sizeof(*srs));
	if (!srs)
		return -ENOMEM;
	srs->h_basis = desc->h_basis;
	srs->dense = desc->dense;
	r = device_progress(gpu, GPU_STAGE_UPLOAD, 0, 0);
	if (!r)
		r = load_all(&l, srs, bad);
	cuda_free(gpu->ctx, l.raw);
	cuda_free(gpu->ctx, l.out);
	cuda_free(gpu->ctx, l.bad);
	if (r) {
		cuda_srs_unload(gpu, srs);
		return r;
	}
	device_memory(gpu);
	*out = srs;
	return 0;
}

void cuda_srs_unload(struct gpu *gpu, struct gpu_srs *srs)
{
	int i;

	if (!srs)
		return;
	for (i = 0; i < CUDA_VECTOR_N; i++) {
		cuda_free(gpu->ctx, srs->points[i]);
		if (srs->host[i] && !cuda_ctx_enter(gpu->ctx))
			gpu->ctx->drv->host_free(srs->host[i]);
	}
	device_host_release(gpu, srs->host_bytes);
	free(srs);
}
