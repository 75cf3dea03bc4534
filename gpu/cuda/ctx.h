/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * ctx.h - one open CUDA device: context, kernels, stream, memory
 *
 * The only place that makes a context current and that turns the driver's
 * errors into errno.  After an error that the driver says is sticky, lost is
 * set and every call answers -EIO: the process has to end.
 */
#ifndef CUZK_GPU_CUDA_CTX_H
#define CUZK_GPU_CUDA_CTX_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "gpu/cuda/arena.h"
#include "gpu/cuda/driver.h"
#include "gpu/cuda/kernels.h"
#include "gpu/gpu.h"
#include "lib/gate.h"

#define CUDA_MODULES 4
#define CUDA_STEPS 2
/* Buckets worth halving before their running sums: it takes 0.15 ms beside its additions. */
#define CUDA_HALVE_LEAST (1u << 20)

/* A large launch that is queued, see steps.c. */
struct cuda_step {
	CUevent begin, end;
	int n_events;			/* of these that are made */
	bool queued;
};

struct cuda_ctx {
	const struct cuda_driver *drv;
	struct gpu_config config;
	struct cuda_ctx *parent;	/* NULL, or whose memory and kernels this one shares */
	CUdevice device;
	CUcontext ctx;
	CUmodule modules[CUDA_MODULES];
	CUfunction kernels[CUDA_KERNEL_COUNT];
	CUstream stream;
	/* of what gives way, and what brings it into the order of stream: launch.c; not of lanes */
	CUstream yielding;
	CUevent fork, join;
	bool beside;			/* another context works, and is not to be kept out */
	CUdeviceptr memory;		/* what the arena hands out */
	struct arena *arena;
	int sm_count;
	uint64_t halve_least;		/* CUDA_HALVE_LEAST, or fewer for a test */
	bool lost;
	uint64_t bytes_up, bytes_down;
	uint64_t copy_up_ns;		/* in cuda_copy_up(): small things, not points */
	struct gate_place place;	/* of the thread that works with it */
	struct cuda_step steps[CUDA_STEPS];
	unsigned int next_step;
	_Atomic uint64_t longest_step_ns;	/* of the large launches */
	/*
	 * For benchmarks: with profile set, each launch is waited for and its
	 * time added up by kernel.
	 */
	bool profile;
	uint64_t kernel_ns[CUDA_KERNEL_COUNT];
	char name[64];
};

/* Chooses the device by UUID or PCI address, opens it. One line in err (256 bytes). */
int cuda_ctx_open(struct cuda_ctx **ctx, const struct gpu_config *config, char *err);
void cuda_ctx_close(struct cuda_ctx *ctx);
/* Whether the device prefers a context's kernels to those of all others. */
enum cuda_urgency { CUDA_BULK, CUDA_URGENT };

/*
 * Another stream on the device of parent, and bytes of its memory (0: none until
 * it is lent some).  May be used beside parent by another thread; is closed first.
 */
int cuda_ctx_open_beside(struct cuda_ctx **ctx, struct cuda_ctx *parent,
			 const struct gpu_config *config, enum cuda_urgency urgency,
			 uint64_t bytes, char *err);
/* Lends it bytes of parent's memory, and takes them back; by parent's thread. */
int cuda_ctx_lend(struct cuda_ctx *ctx, uint64_t bytes);
void cuda_ctx_take_back(struct cuda_ctx *ctx);

/* Makes the device the calling thread's: before its first use on a thread. */
int cuda_ctx_enter(struct cuda_ctx *ctx);

/* 0 or -errno; logs "gpu NAME: WHAT failed: ..." and sets lost where it is so. */
int cuda_check(struct cuda_ctx *ctx, CUresult res, const char *what);

/* Device memory from the arena. *p is 0 on failure; free takes 0. */
int cuda_alloc(struct cuda_ctx *ctx, CUdeviceptr *p, uint64_t bytes);
void cuda_free(struct cuda_ctx *ctx, CUdeviceptr p);

/* All on ctx->stream, in order. copy_down waits for the bytes. */
int cuda_copy_up(struct cuda_ctx *ctx, CUdeviceptr to, const void *from, uint64_t bytes);
int cuda_copy_down(struct cuda_ctx *ctx, void *to, CUdeviceptr from, uint64_t bytes);
int cuda_clear(struct cuda_ctx *ctx, CUdeviceptr p, uint64_t bytes);
int cuda_wait(struct cuda_ctx *ctx);
/* Of a clock that only goes forward. */
uint64_t cuda_now_ns(void);

/* steps.c, of cuda_launch: before a launch of so many threads, and behind it. */
int cuda_steps_open(struct cuda_ctx *ctx);
void cuda_steps_close(struct cuda_ctx *ctx);
int cuda_step_begin(struct cuda_ctx *ctx, uint64_t threads, struct cuda_step **step);
int cuda_step_end(struct cuda_ctx *ctx, struct cuda_step *step);

const char *cuda_kernel_name(enum cuda_kernel kernel);

/* launch.c; args: one pointer per kernel parameter */
int cuda_launch(struct cuda_ctx *ctx, enum cuda_kernel kernel, uint64_t blocks,
		unsigned int threads, unsigned int shared, void **args);

/*
 * cuda_launch for n threads in all, in blocks of `threads`.  The arguments'
 * types must be the kernel's: they are passed by address.
 */
#define CUDA_RUN(ctx, kernel, n, threads, ...)						\
	cuda_launch(ctx, KERNEL_##kernel, ((uint64_t)(n) + (threads) - 1) / (threads),	\
		    threads, 0, (void *[]){ __VA_ARGS__ })

#endif
