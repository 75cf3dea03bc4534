/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * upload.c - host memory to the device by way of two pinned buffers
 *
 * The driver copies pageable memory at an eighth of the bus's speed.  The
 * threads of the pool fill one buffer while the other is on its way.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/cuda/device.h"

#define PIECE (1ull << 20)	/* of a buffer, for one thread */

struct cuda_upload {
	struct cuda_ctx *ctx;
	struct tpool *pool;
	uint8_t *buffer[2];
	CUevent sent[2];
	bool has_event[2];
	uint64_t half;			/* bytes of one of them */
	unsigned int next;
};

int cuda_upload_open(struct cuda_upload **out, struct cuda_ctx *ctx, struct tpool *pool,
		     uint64_t bytes)
{
	struct cuda_upload *u = calloc(1, sizeof(*u));
	int i, r = 0;

	if (!u)
		return -ENOMEM;
	u->ctx = ctx;
	u->pool = pool;
	u->half = bytes / 2;
	for (i = 0; i < 2 && !r; i++) {
		r = cuda_check(ctx, ctx->drv->host_alloc((void **)&u->buffer[i], u->half, 0),
			       "pinning host memory");
		if (r)
			break;
		r = cuda_check(ctx, ctx->drv->event_create(&u->sent[i], CU_EVENT_DISABLE_TIMING),
			       "making an event");
		u->has_event[i] = !r;
	}
	if (r) {
		cuda_upload_close(u);
		return r;
	}
	*out = u;
	return 0;
}

void cuda_upload_close(struct cuda_upload *u)
{
	int i;

	if (!u)
		return;
	for (i = 0; i < 2; i++) {
		if (u->has_event[i])
			u->ctx->drv->event_destroy(u->sent[i]);
		if (u->buffer[i])
			u->ctx->drv->host_free(u->buffer[i]);
	}
	free(u);
}

struct copy {
	uint8_t *to;
	const uint8_t *from;
	uint64_t bytes;
};

static void copy_piece(void *arg, size_t i, unsigned int thread)
{
	const struct copy *c = arg;
	uint64_t at = i * PIECE;

	memcpy(c->to + at, c->from + at, c->bytes - at < PIECE ? c->bytes - at : PIECE);
}

int cuda_upload(struct cuda_upload *u, CUdeviceptr to, const void *from, uint64_t bytes)
{
	struct cuda_ctx *ctx = u->ctx;
	uint64_t done, n;
	int r;

	for (done = 0; done < bytes; done += n) {
		unsigned int k = u->next++ % 2;
		struct copy copy = { u->buffer[k], (const uint8_t *)from + done, 0 };

		n = copy.bytes = bytes - done < u->half ? bytes - done : u->half;
		if (ctx->lost)
			return -EIO;
		/* of an event never recorded, nothing is awaited */
		r = cuda_check(ctx, ctx->drv->event_wait(u->sent[k]), "waiting for a copy");
		if (r)
			return r;
		tpool_run(u->pool, copy_piece, &copy, (n + PIECE - 1) / PIECE);
		r = cuda_copy_up(ctx, to + done, u->buffer[k], n);
		if (!r)
			r = cuda_check(ctx, ctx->drv->event_record(u->sent[k], ctx->stream),
				       "recording an event");
		if (r)
			return r;
	}
	return 0;
}
