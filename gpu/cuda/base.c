/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* base.c - many multiples of one point, by a table of its multiples */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/cuda/device.h"

#define THREADS 128
#define WINDOWS 32	/* BASE_WINDOWS of points.cuh */
#define ENTRIES 255
#define PER_THREAD 16	/* BASE_PER_THREAD */
#define CHUNK (1u << 20)

/* d 2^(8w) base for d = 1..255, w = 0..31; bases of windows by doubling. */
static int table_g1(const struct g1_affine *base, struct g1_affine *out)
{
	struct g1 *row = malloc(ENTRIES * sizeof(*row)), step;
	int w, d;

	if (!row)
		return -ENOMEM;
	g1_from_affine(&step, base);
	for (w = 0; w < WINDOWS; w++) {
		row[0] = step;
		for (d = 1; d < ENTRIES; d++)
			g1_add(&row[d], &row[d - 1], &step);
		g1_add(&step, &row[ENTRIES - 1], &step);
		g1_batch_to_affine(&out[w * ENTRIES], row, ENTRIES);
	}
	free(row);
	return 0;
}

static int table_g2(const struct g2_affine *base, struct g2_affine *out)
{
	struct g2 *row = malloc(ENTRIES * sizeof(*row)), step;
	int w, d;

	if (!row)
		return -ENOMEM;
	g2_from_affine(&step, base);
	for (w = 0; w < WINDOWS; w++) {
		row[0] = step;
		for (d = 1; d < ENTRIES; d++)
			g2_add(&row[d], &row[d - 1], &step);
		g2_add(&step, &row[ENTRIES - 1], &step);
		g2_batch_to_affine(&out[w * ENTRIES], row, ENTRIES);
	}
	free(row);
	return 0;
}

/* The table of the last base stays: parameters are made of one, a chunk at a time. */
static int table_get(struct gpu *gpu, enum cuda_group group, const void *base, CUdeviceptr *out)
{
	uint64_t size = cuda_point_size(group), bytes = size * WINDOWS * ENTRIES;
	struct base_table *t = &gpu->base[group];
	void *table;
	int r;

	*out = t->table;
	if (t->table && memcmp(&t->of, base, size) == 0)
		return 0;
	if (!t->table) {
		r = cuda_alloc(gpu->ctx, out, bytes);
		if (r)
			return r;
	}
	t->table = 0;
	table = malloc(bytes);
	r = !table ? -ENOMEM : group == CUDA_G1 ? table_g1(base, table) : table_g2(base, table);
	if (!r)
		r = cuda_upload(gpu->upload, *out, table, bytes);
	free(table);
	if (r) {
		cuda_free(gpu->ctx, *out);
		return r;
	}
	t->table = *out;
	memcpy(&t->of, base, size);
	return 0;
}

struct base {
	CUdeviceptr table, scalars, sums, prefix;
};

static void base_free(struct cuda_ctx *ctx, struct base *b)
{
	cuda_free(ctx, b->scalars);
	cuda_free(ctx, b->sums);
	cuda_free(ctx, b->prefix);
}

static int base_init(struct gpu *gpu, enum cuda_group group, const void *base, uint64_t n,
		     struct base *b)
{
	uint64_t size = cuda_point_size(group);
	struct cuda_ctx *ctx = gpu->ctx;
	int r;

	if ((r = table_get(gpu, group, base, &b->table)) ||
	    (r = cuda_alloc(ctx, &b->scalars, sizeof(struct scalar) * n)) ||
	    (r = cuda_alloc(ctx, &b->sums, 2 * size * n)) ||
	    (r = cuda_alloc(ctx, &b->prefix, size / 2 * n)))
		return r;
	return 0;
}

int cuda_base_mul(struct gpu *gpu, enum cuda_group group, const void *base,
		  const struct scalar *scalars, uint64_t n, int reverse_bits, CUdeviceptr out,
		  enum gpu_stage stage)
{
	enum cuda_kernel kernel = group == CUDA_G1 ? KERNEL_base_mul_g1 : KERNEL_base_mul_g2;
	struct base b = { 0 };
	uint64_t first;
	int r;

	r = base_init(gpu, group, base, n < CHUNK ? n : CHUNK, &b);
	for (first = 0; first < n && !r; first += CHUNK) {
		uint32_t now = n - first < CHUNK ? n - first : CHUNK;
		uint32_t threads = (now + PER_THREAD - 1) / PER_THREAD;

		r = device_progress(gpu, stage, first, n);
		if (!r)
			r = cuda_upload(gpu->upload, b.scalars, scalars + first,
					sizeof(*scalars) * now);
		if (!r)
			r = cuda_launch(gpu->ctx, kernel, (threads + THREADS - 1) / THREADS,
					THREADS, 0,
					(void *[]){ &b.table, &b.scalars, &now, &first, &threads,
						    &reverse_bits, &b.sums, &b.prefix, &out });
	}
	if (!r)
		r = cuda_wait(gpu->ctx);
	base_free(gpu->ctx, &b);
	return r;
}

static int mul_base(struct gpu *gpu, enum cuda_group group, const void *base,
		    const struct scalar *scalars, size_t n, uint8_t *out)
{
	enum cuda_kernel kernel = group == CUDA_G1 ? KERNEL_points_encode_g1 :
						     KERNEL_points_encode_g2;
	uint64_t size = cuda_point_size(group), first;
	CUdeviceptr points = 0, bytes = 0;
	int r;

	r = cuda_ctx_enter(gpu->ctx);
	if (!r)
		r = cuda_alloc(gpu->ctx, &points, size * (n < CHUNK ? n : CHUNK));
	if (!r)
		r = cuda_alloc(gpu->ctx, &bytes, size * (n < CHUNK ? n : CHUNK));
	for (first = 0; first < n && !r; first += CHUNK) {
		uint32_t now = n - first < CHUNK ? n - first : CHUNK;

		r = cuda_base_mul(gpu, group, base, scalars + first, now, 0, points,
				  GPU_STAGE_IDLE);
		if (!r)
			r = cuda_launch(gpu->ctx, kernel, (now + THREADS - 1) / THREADS, THREADS, 0,
					(void *[]){ &points, &now, &bytes });
		if (!r)
			r = cuda_copy_down(gpu->ctx, out + first * size, bytes, size * now);
	}
	cuda_free(gpu->ctx, points);
	cuda_free(gpu->ctx, bytes);
	return r;
}

int cuda_mul_base_g1(struct gpu *gpu, const struct g1_affine *base, const struct scalar *scalars,
		     size_t n, uint8_t (*out)[96])
{
	return mul_base(gpu, CUDA_G1, base, scalars, n, (uint8_t *)out);
}

int cuda_mul_base_g2(struct gpu *gpu, const struct g2_affine *base, const struct scalar *scalars,
		     size_t n, uint8_t (*out)[192])
{
	return mul_base(gpu, CUDA_G2, base, scalars, n, (uint8_t *)out);
}
