/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * feed.c - the points of a sum, piece by piece
 *
 * Points that stay on the device are one piece.  Others come from pinned host
 * memory into two buffers in turn: while one is worked at, the next piece is on
 * its way in the other.  Sums return when they are done, so a buffer is free
 * when its turn comes.
 */
#include <errno.h>
#include <string.h>

#include "gpu/cuda/device.h"

/* A piece's share of the memory that is free: two of them, the rest is the sum's to work in. */
#define SHARE 8
#define PIECE_MAX (1ull << 24)	/* points of G1 */
#define PIECE_MIN (1ull << 10)

static uint64_t piece_points(const struct gpu *gpu, const struct gpu_srs *srs,
			     enum cuda_vector vector, uint64_t size)
{
	uint64_t n = cuda_arena_largest(gpu->ctx->arena) / SHARE / size;
	uint64_t most = PIECE_MAX * cuda_point_size(CUDA_G1) / size;

	if (n > most)
		n = most;
	if (n < PIECE_MIN)
		n = PIECE_MIN;
	if (srs->piece)
		n = srs->piece;
	return n < srs->n[vector] ? n : srs->n[vector];
}

static uint64_t piece_at(const struct cuda_feed *f, uint64_t first)
{
	return f->n - first < f->piece ? f->n - first : f->piece;
}

/* Sends the piece that begins at first to its buffer. */
static int send(struct cuda_feed *f, uint64_t first)
{
	struct cuda_ctx *ctx = f->gpu->ctx;
	uint64_t bytes = piece_at(f, first) * f->size;
	int r;

	if (first >= f->n)
		return 0;
	if (ctx->lost)
		return -EIO;
	r = cuda_check(ctx, ctx->drv->copy_up(f->buffer[f->next], f->host + first * f->size, bytes,
					      f->gpu->feed_stream), "sending points");
	if (!r)
		r = cuda_check(ctx, ctx->drv->event_record(f->gpu->feed_event[f->next],
							   f->gpu->feed_stream),
			       "recording an event");
	ctx->bytes_up += bytes;
	return r;
}

int cuda_feed_open(struct cuda_feed *f, struct gpu *gpu, const struct gpu_srs *srs,
		   enum cuda_vector vector)
{
	int i, r = 0;

	memset(f, 0, sizeof(*f));
	f->gpu = gpu;
	f->n = srs->n[vector];
	f->size = cuda_point_size(cuda_vector_group(vector));
	f->resident = srs->points[vector];
	f->host = srs->host[vector];
	if (f->resident) {
		f->piece = f->n;
		return 0;
	}
	f->piece = piece_points(gpu, srs, vector, f->size);
	for (i = 0; i < 2 && !r; i++)
		r = cuda_alloc(gpu->ctx, &f->buffer[i], f->piece * f->size);
	if (!r)
		r = send(f, 0);
	if (r)
		cuda_feed_close(f);
	return r;
}

int cuda_feed_next(struct cuda_feed *f, uint64_t *first, uint64_t *n, CUdeviceptr *base)
{
	struct cuda_ctx *ctx = f->gpu->ctx;
	unsigned int k = f->next;
	int r;

	*first = f->at;
	*n = f->at < f->n ? piece_at(f, f->at) : 0;
	if (!*n)
		return 0;
	f->at += *n;
	if (f->resident) {
		*base = f->resident;
		return 0;
	}
	r = cuda_check(ctx, ctx->drv->event_wait(f->gpu->feed_event[k]), "waiting for points");
	if (r)
		return r;
	f->next ^= 1;
	*base = f->buffer[k] - *first * f->size;
	return send(f, f->at);
}

void cuda_feed_close(struct cuda_feed *f)
{
	struct cuda_ctx *ctx = f->gpu->ctx;

	if (f->buffer[0] && !ctx->lost)
		cuda_check(ctx, ctx->drv->stream_wait(f->gpu->feed_stream), "waiting for points");
	cuda_free(ctx, f->buffer[0]);
	cuda_free(ctx, f->buffer[1]);
}
