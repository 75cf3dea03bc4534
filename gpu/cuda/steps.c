/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * steps.c - bulk work in steps, for the sake of proofs that cannot wait
 *
 * A launch waits at the gate.  What was launched before goes on, so of large
 * launches no more than two are ever queued: while one runs the next is there,
 * and the device does not idle.  Small ones are not worth an event; sums wait for
 * the device in every round anyhow.  On an H200 the longest kernel of a 32 GiB proof
 * takes 45 ms beside others, and work was seen to go on for 56 ms behind a closed
 * gate (doc/gpu-tuning.md).
 */
#include "gpu/cuda/ctx.h"

#define LARGE (1u << 21)	/* threads */

static int make_event(struct cuda_ctx *ctx, CUevent *event)
{
	return cuda_check(ctx, ctx->drv->event_create(event, CU_EVENT_DEFAULT), "making an event");
}

int cuda_steps_open(struct cuda_ctx *ctx)
{
	struct cuda_step *s;
	int i, r = 0;

	for (i = 0; i < CUDA_STEPS && !r && ctx->config.gate; i++) {
		s = &ctx->steps[i];
		r = make_event(ctx, &s->begin);
		if (r)
			break;
		s->n_events++;
		r = make_event(ctx, &s->end);
		s->n_events += !r;
	}
	return r;
}

void cuda_steps_close(struct cuda_ctx *ctx)
{
	int i;

	for (i = 0; i < CUDA_STEPS; i++) {
		if (ctx->steps[i].n_events > 0)
			ctx->drv->event_destroy(ctx->steps[i].begin);
		if (ctx->steps[i].n_events > 1)
			ctx->drv->event_destroy(ctx->steps[i].end);
		ctx->steps[i].n_events = 0;
	}
}

/* The one before the last is over, and what it took. */
static int wait_step(struct cuda_ctx *ctx, struct cuda_step *s)
{
	uint64_t ns;
	float ms = 0;
	int r;

	r = cuda_check(ctx, ctx->drv->event_wait(s->end), "waiting for kernels");
	if (!r)
		r = cuda_check(ctx, ctx->drv->event_elapsed(&ms, s->begin, s->end),
			       "timing kernels");
	if (r)
		return r;
	s->queued = false;
	ns = (uint64_t)(ms * 1e6f);
	if (ns > atomic_load_explicit(&ctx->longest_step_ns, memory_order_relaxed))
		atomic_store_explicit(&ctx->longest_step_ns, ns, memory_order_relaxed);
	return 0;
}

int cuda_step_begin(struct cuda_ctx *ctx, uint64_t threads, struct cuda_step **step)
{
	struct cuda_step *s = &ctx->steps[ctx->next_step];
	int r;

	*step = NULL;
	if (!ctx->config.gate)
		return 0;
	gate_pass(ctx->config.gate, &ctx->place);
	if (threads < LARGE)
		return 0;
	if (s->queued) {
		r = wait_step(ctx, s);
		if (r)
			return r;
		/* it may have been closed meanwhile */
		gate_pass(ctx->config.gate, &ctx->place);
	}
	*step = s;
	return cuda_check(ctx, ctx->drv->event_record(s->begin, ctx->stream), "recording an event");
}

int cuda_step_end(struct cuda_ctx *ctx, struct cuda_step *s)
{
	int r;

	if (!s)
		return 0;
	r = cuda_check(ctx, ctx->drv->event_record(s->end, ctx->stream), "recording an event");
	s->queued = !r;
	ctx->next_step = (ctx->next_step + 1) % CUDA_STEPS;
	return r;
}
