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

#include <stdbool.h>
#include <stdint.h>

#include "gpu/cuda/arena.h"
#include "gpu/cuda/driver.h"
#include "gpu/cuda/kernels.h"
#include "gpu/gpu.h"

#define CUDA_MODULES 4

struct cuda_ctx {
	const struct cuda_driver *drv;
	struct gpu_config config;
	CUdevice device;
	CUcontext ctx;
	CUmodule modules[CUDA_MODULES];
	CUfunction kernels[CUDA_KERNEL_COUNT];
	CUstream stream;
	CUdeviceptr memory;		/* what the arena hands out */
	struct arena *arena;
	int sm_count;
	bool lost;
	uint64_t bytes_up, bytes_down;
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

const char *cuda_kernel_name(enum cuda_kernel kernel);

/* args: one pointer per kernel parameter */
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
