/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * side.c - a second stream of a device, for what can be done beside
 *
 * One stream leaves a device idle in turns: multipliers while it sorts and gathers,
 * memory while it multiplies, nearly all of it in the last rounds of a sum.
 * What does not depend on each other runs on two, and from two threads, for the
 * host waits for the device in every round.  launch.c sees to it that neither
 * keeps the other out.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/cuda/device.h"

/* Points: shorter sums are mostly waiting, and each half waits as long as the whole. */
#define SHARED_MIN (1u << 23)

struct cuda_side {
	struct gpu gpu;			/* context, upload, and what it borrows of owner */
	struct gpu *owner;
	pthread_t thread;
	int (*run)(struct gpu *gpu, void *arg);
	void *arg;
	int status;
};

int cuda_side_open(struct cuda_side **out, struct gpu *owner, char *err)
{
	struct gpu_config config = owner->ctx->config;
	struct cuda_side *side = calloc(1, sizeof(*side));
	int r;

	if (!side)
		return -ENOMEM;
	/* the owner tells how far it is; both stop when they are asked to */
	config.progress = NULL;
	side->owner = owner;
	side->gpu.pool = owner->pool;
	pthread_mutex_init(&side->gpu.stats_lock, NULL);
	r = cuda_ctx_open_beside(&side->gpu.ctx, owner->ctx, &config, CUDA_BULK, 0, err);
	if (!r)
		r = cuda_upload_open(&side->gpu.upload, side->gpu.ctx, side->gpu.pool,
				     CUDA_SIDE_UPLOAD);
	if (r) {
		cuda_side_close(side);
		return r;
	}
	*out = side;
	return 0;
}

void cuda_side_close(struct cuda_side *side)
{
	if (!side)
		return;
	if (side->gpu.ctx) {
		cuda_upload_close(side->gpu.upload);
		cuda_ctx_close(side->gpu.ctx);
	}
	pthread_mutex_destroy(&side->gpu.stats_lock);
	free(side);
}

struct cuda_ctx *cuda_side_ctx(const struct cuda_side *side)
{
	return side->gpu.ctx;
}

static void *side_main(void *arg)
{
	struct cuda_side *side = arg;
	int r = cuda_ctx_enter(side->gpu.ctx);

	side->status = r ? r : side->run(&side->gpu, side->arg);
	return NULL;
}

int cuda_side_start(struct cuda_side *side, uint64_t bytes,
		    int (*run)(struct gpu *gpu, void *arg), void *arg)
{
	int r = cuda_ctx_lend(side->gpu.ctx, bytes);

	if (r)
		return r;
	side->run = run;
	side->arg = arg;
	side->gpu.ctx->beside = side->owner->ctx->beside = true;
	r = pthread_create(&side->thread, NULL, side_main, side);
	if (r) {
		side->owner->ctx->beside = false;
		cuda_ctx_take_back(side->gpu.ctx);
		return -r;
	}
	return 0;
}

/* What it has moved counts as its owner's. */
static void add_traffic(struct cuda_ctx *to, struct cuda_ctx *from)
{
	to->bytes_up += from->bytes_up;
	to->bytes_down += from->bytes_down;
	to->copy_up_ns += from->copy_up_ns;
	from->bytes_up = from->bytes_down = from->copy_up_ns = 0;
}

int cuda_side_join(struct cuda_side *side)
{
	struct cuda_ctx *ctx = side->gpu.ctx, *owner = side->owner->ctx;

	pthread_join(side->thread, NULL);
	owner->beside = false;
	owner->lost |= ctx->lost;
	cuda_ctx_take_back(ctx);
	add_traffic(owner, ctx);
	return side->status;
}

static int work_at(struct gpu *gpu, void *arg)
{
	return cuda_windows_work(arg, gpu->ctx);
}

int cuda_side_msm(struct gpu *gpu, enum cuda_group group, CUdeviceptr points, CUdeviceptr scalars,
		  CUdeviceptr index, uint64_t n, void *out)
{
	struct cuda_ctx *ctx = gpu->ctx;
	uint64_t bytes = n < 1ull << 31 ? cuda_windows_bytes(ctx, group, n) : 0;
	uint64_t least = gpu->shared_min ? gpu->shared_min : SHARED_MIN;
	struct cuda_windows w;
	int r;

	if (!gpu->side || n < least || !bytes || cuda_arena_largest(ctx->arena) < 2 * bytes)
		return cuda_msm(ctx, group, points, scalars, index, n, out);
	r = cuda_windows_open(&w, ctx, group, points, scalars, index, (uint32_t)n, 2);
	if (r)
		return r;
	r = cuda_side_start(gpu->side, bytes, work_at, &w);
	cuda_windows_work(&w, ctx);
	if (!r)
		cuda_side_join(gpu->side);
	/* what either failed in, and windows that nobody had room for */
	r = cuda_windows_sum(&w, out);
	cuda_windows_close(&w, ctx);
	return r;
}
