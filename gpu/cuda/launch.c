/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * launch.c - kernels onto the device, so that two streams share it
 *
 * A device gives a multiprocessor's room to the blocks of one kernel after the
 * other: while a kernel has blocks that have not begun, no later one of the same
 * priority gets in.  Where another context works beside this one (beside), what
 * multiplies for long gives way: it runs on a stream of the least priority, in the
 * order of its own, and the many kernels between, which would fill the
 * device for a moment or not at all, need not wait for its last block.
 */
#include <errno.h>

#include "gpu/cuda/ctx.h"

static const bool gives_way[CUDA_KERNEL_COUNT] = {
	[KERNEL_msm_add_backward_g1] = true,
	[KERNEL_msm_add_backward_g2] = true,
	[KERNEL_msm_buckets_g1] = true,
	[KERNEL_msm_buckets_g2] = true,
	[KERNEL_ntt_dif_columns] = true,
	[KERNEL_ntt_dif_rows] = true,
	[KERNEL_ntt_dit_columns] = true,
	[KERNEL_ntt_dit_rows] = true,
};

static int launch_on(struct cuda_ctx *ctx, CUstream stream, enum cuda_kernel kernel,
		     uint64_t blocks, unsigned int threads, unsigned int shared, void **args)
{
	return cuda_check(ctx, ctx->drv->launch(ctx->kernels[kernel], (unsigned int)blocks, 1, 1,
						threads, 1, 1, shared, stream, args, NULL),
			  cuda_kernel_name(kernel));
}

/* to goes on when what is in from by now is done. */
static int order(struct cuda_ctx *ctx, CUstream from, CUstream to, CUevent event)
{
	int r = cuda_check(ctx, ctx->drv->event_record(event, from), "recording an event");

	return r ? r : cuda_check(ctx, ctx->drv->stream_wait_event(to, event, 0),
				  "ordering streams");
}

static int launch(struct cuda_ctx *ctx, enum cuda_kernel kernel, uint64_t blocks,
		  unsigned int threads, unsigned int shared, void **args)
{
	int r;

	/* a few blocks are in no one's way */
	if (!ctx->beside || !gives_way[kernel] || blocks <= (uint64_t)ctx->sm_count)
		return launch_on(ctx, ctx->stream, kernel, blocks, threads, shared, args);
	r = order(ctx, ctx->stream, ctx->yielding, ctx->fork);
	if (!r)
		r = launch_on(ctx, ctx->yielding, kernel, blocks, threads, shared, args);
	return r ? r : order(ctx, ctx->yielding, ctx->stream, ctx->join);
}

int cuda_launch(struct cuda_ctx *ctx, enum cuda_kernel kernel, uint64_t blocks,
		unsigned int threads, unsigned int shared, void **args)
{
	struct cuda_step *step;
	uint64_t start = 0;
	int r;

	if (ctx->lost)
		return -EIO;
	if (!blocks)
		return 0;
	if (blocks > INT32_MAX)
		return -EINVAL;
	r = cuda_step_begin(ctx, blocks * threads, &step);
	if (r)
		return r;
	if (ctx->profile) {
		r = cuda_wait(ctx);
		if (r)
			return r;
		start = cuda_now_ns();
	}
	r = launch(ctx, kernel, blocks, threads, shared, args);
	if (!r)
		r = cuda_step_end(ctx, step);
	if (!r && ctx->profile) {
		r = cuda_wait(ctx);
		ctx->kernel_ns[kernel] += cuda_now_ns() - start;
	}
	return r;
}
