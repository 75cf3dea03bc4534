/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * feed.c - the points of one sum after the other, piece by piece
 *
 * Points that stay on the device are one piece.  Others come from pinned host
 * memory into two buffers in turn: while one is worked at, the next piece is on
 * its way in the other, be it of the same sum or of the next one.  Sums return
 * when they are done, so a buffer is free when its turn comes.
 *
 *	bus	| piece 0 | piece 1    | piece 2    | ...
 *	work	| before  | on piece 0 | on piece 1 | ...
 */
#include <errno.h>
#include <string.h>

#include "gpu/cuda/device.h"

/* One copy to the driver: others' small ones wait for no more than that. */
#define COPY (32ull << 20)

static bool ends(const struct cuda_feed *f, const struct feed_place *p)
{
	return p->vector == f->n_vectors;
}

/* The piece at a place, and the place behind it. */
static void piece_at(const struct cuda_feed *f, const struct feed_place *p, struct cuda_piece *out)
{
	const struct gpu_srs *srs = f->srs;
	enum cuda_vector v = f->vectors[p->vector];
	uint64_t size = cuda_point_size(cuda_vector_group(v)), most = f->bytes / size, m;

	memset(out, 0, sizeof(*out));
	out->vector = v;
	out->size = size;
	out->n = srs->n[v];
	out->pieces = 1;
	if (srs->resident[v] || !srs->n[v])
		return;
	if (srs->piece && srs->piece < most)
		most = srs->piece;
	/* pieces of one length, but for the last */
	m = (srs->n[v] + most - 1) / most;
	out->step = (srs->n[v] + m - 1) / m;
	out->pieces = (uint32_t)((srs->n[v] + out->step - 1) / out->step);
	out->first = p->first;
	out->n = srs->n[v] - p->first < out->step ? srs->n[v] - p->first : out->step;
}

static struct feed_place behind(const struct cuda_feed *f, const struct feed_place *p,
				const struct cuda_piece *piece)
{
	struct feed_place next = { p->vector, p->first + piece->n };

	if (next.first >= f->srs->n[piece->vector])
		next = (struct feed_place){ p->vector + 1, 0 };
	return next;
}

/* The first place from p on whose points are not on the device. */
static void skip_resident(const struct cuda_feed *f, struct feed_place *p)
{
	while (!ends(f, p) && (f->srs->resident[f->vectors[p->vector]] ||
			       !f->srs->n[f->vectors[p->vector]]))
		*p = (struct feed_place){ p->vector + 1, 0 };
}

static int buffer_get(struct cuda_feed *f, unsigned int k)
{
	int r;

	if (f->buffer[k])
		return 0;
	/* what was freed last may still be in use by work that is queued */
	r = cuda_wait(f->gpu->ctx);
	return r ? r : cuda_alloc(f->gpu->ctx, &f->buffer[k], f->bytes);
}

/* Sends the next piece that has to be to the next buffer. */
static int send(struct cuda_feed *f)
{
	struct cuda_ctx *ctx = f->gpu->ctx;
	unsigned int k = f->next_sent;
	struct cuda_piece p;
	uint64_t bytes, done, n;
	const uint8_t *from;
	int r;

	skip_resident(f, &f->sent);
	if (ends(f, &f->sent))
		return 0;
	if (ctx->lost)
		return -EIO;
	r = buffer_get(f, k);
	if (r)
		return r;
	piece_at(f, &f->sent, &p);
	from = f->srs->host[p.vector] + p.first * p.size;
	bytes = p.n * p.size;
	/* from here on the buffer is not free before it has arrived, also when sending fails */
	f->on_way[k] = bytes;
	r = cuda_check(ctx, ctx->drv->event_record(f->gpu->feed_begin[k], f->gpu->feed_stream),
		       "recording an event");
	for (done = 0; done < bytes && !r; done += n) {
		n = bytes - done < COPY ? bytes - done : COPY;
		r = cuda_check(ctx, ctx->drv->copy_up(f->buffer[k] + done, from + done, n,
						      f->gpu->feed_stream), "sending points");
	}
	if (!r)
		r = cuda_check(ctx, ctx->drv->event_record(f->gpu->feed_end[k],
							   f->gpu->feed_stream),
			       "recording an event");
	if (r)
		return r;
	f->sent = behind(f, &f->sent, &p);
	f->next_sent ^= 1;
	ctx->bytes_up += bytes;
	return 0;
}

int cuda_feed_open(struct cuda_feed *f, struct gpu *gpu, const struct gpu_srs *srs,
		   const enum cuda_vector *vectors, unsigned int n_vectors, uint64_t bytes)
{
	int r;

	memset(f, 0, sizeof(*f));
	f->gpu = gpu;
	f->srs = srs;
	f->vectors = vectors;
	f->n_vectors = n_vectors;
	f->bytes = bytes;
	r = send(f);
	if (r)
		cuda_feed_close(f);
	return r;
}

/* Waits for buffer k, and notes how long the bus took and we waited. */
static int arrive(struct cuda_feed *f, unsigned int k)
{
	struct cuda_ctx *ctx = f->gpu->ctx;
	uint64_t start = cuda_now_ns();
	float ms = 0;
	int r;

	r = cuda_check(ctx, ctx->drv->event_wait(f->gpu->feed_end[k]), "waiting for points");
	if (r)
		return r;
	if (ctx->drv->event_elapsed(&ms, f->gpu->feed_begin[k], f->gpu->feed_end[k]) !=
	    CUDA_SUCCESS)
		ms = 0;
	device_streamed(f->gpu, f->on_way[k], (uint64_t)(ms * 1e6f), cuda_now_ns() - start);
	f->on_way[k] = 0;
	return 0;
}

int cuda_feed_next(struct cuda_feed *f, struct cuda_piece *piece)
{
	unsigned int k = f->next_used;
	int r;

	if (ends(f, &f->at))
		return -EINVAL;
	piece_at(f, &f->at, piece);
	f->at = behind(f, &f->at, piece);
	if (!piece->n)
		return 0;
	if (f->srs->resident[piece->vector]) {
		piece->base = f->srs->points[piece->vector];
		/* the next sum's points come while this one is made */
		return f->on_way[k] ? 0 : send(f);
	}
	r = arrive(f, k);
	if (r)
		return r;
	f->next_used ^= 1;
	piece->base = f->buffer[k] - piece->first * piece->size;
	return send(f);
}

void cuda_feed_close(struct cuda_feed *f)
{
	struct cuda_ctx *ctx = f->gpu->ctx;

	if ((f->on_way[0] || f->on_way[1]) && !ctx->lost)
		cuda_check(ctx, ctx->drv->stream_wait(f->gpu->feed_stream), "waiting for points");
	cuda_free(ctx, f->buffer[0]);
	cuda_free(ctx, f->buffer[1]);
	memset(f, 0, sizeof(*f));
}
