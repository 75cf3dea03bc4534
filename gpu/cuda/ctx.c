/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* ctx.c - one open CUDA device: context, kernels, stream, memory */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <syslog.h>
#include <time.h>

#include "gpu/cuda/ctx.h"

/* kept out of the arena for the driver's own needs: local memory, printf, launches */
#define DRIVER_RESERVE (768ull << 20)

/* fatbin.S */
extern const char cuda_fatbin_msm[] __attribute__((visibility("hidden")));
extern const char cuda_fatbin_fr[] __attribute__((visibility("hidden")));
extern const char cuda_fatbin_cs[] __attribute__((visibility("hidden")));
extern const char cuda_fatbin_points[] __attribute__((visibility("hidden")));

enum { MODULE_MSM, MODULE_FR, MODULE_CS, MODULE_POINTS };

static const struct {
	const char *name;
	int module;
} kernel_table[CUDA_KERNEL_COUNT] = {
#define X(k) [KERNEL_##k] = { #k, MODULE_MSM },
	CUDA_KERNELS_MSM(X)
#undef X
#define X(k) [KERNEL_##k] = { #k, MODULE_FR },
	CUDA_KERNELS_FR(X)
#undef X
#define X(k) [KERNEL_##k] = { #k, MODULE_CS },
	CUDA_KERNELS_CS(X)
#undef X
#define X(k) [KERNEL_##k] = { #k, MODULE_POINTS },
	CUDA_KERNELS_POINTS(X)
#undef X
};

static void ctx_log(struct cuda_ctx *ctx, int priority, const char *line)
{
	if (ctx->config.log)
		ctx->config.log(ctx->config.arg, priority, line);
}

/* Errors after which the context answers nothing but errors. */
static bool sticky(CUresult res)
{
	switch (res) {
	case CUDA_ERROR_ILLEGAL_ADDRESS:
	case CUDA_ERROR_LAUNCH_TIMEOUT:
	case CUDA_ERROR_LAUNCH_FAILED:
	case CUDA_ERROR_HARDWARE_STACK_ERROR:
	case CUDA_ERROR_ILLEGAL_INSTRUCTION:
	case CUDA_ERROR_MISALIGNED_ADDRESS:
	case CUDA_ERROR_INVALID_ADDRESS_SPACE:
	case CUDA_ERROR_INVALID_PC:
	case CUDA_ERROR_ECC_UNCORRECTABLE:
	case CUDA_ERROR_ASSERT:
	case CUDA_ERROR_DEVICE_UNAVAILABLE:
	case CUDA_ERROR_UNKNOWN:
		return true;
	default:
		return false;
	}
}

int cuda_check(struct cuda_ctx *ctx, CUresult res, const char *what)
{
	const char *name = "unknown error", *text = "";
	char line[256];

	if (res == CUDA_SUCCESS)
		return 0;
	ctx->drv->error_name(res, &name);
	ctx->drv->error_string(res, &text);
	if (sticky(res))
		ctx->lost = true;
	snprintf(line, sizeof(line), "gpu %s: %s failed: %s: %s%s", ctx->name, what, name, text,
		 ctx->lost ? "; the device is lost to this process" : "");
	ctx_log(ctx, LOG_ERR, line);
	return res == CUDA_ERROR_OUT_OF_MEMORY ? -ENOMEM : -EIO;
}

/* "GPU-01234567-89ab-..." as nvidia-smi prints it */
static void uuid_text(char out[41], const CUuuid *uuid)
{
	const unsigned char *b = (const unsigned char *)uuid->bytes;

	snprintf(out, 41, "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x",
		 b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12],
		 b[13], b[14], b[15]);
}

/*
 * PCI addresses come with a domain of 4 or 8 digits, or without one.
 * Compares from the right, the missing domain being 0.
 */
static bool pci_equal(const char *a, const char *b)
{
	unsigned int d1 = 0, b1, s1, f1 = 0, d2 = 0, b2, s2, f2 = 0;

	if (sscanf(a, "%x:%x:%x.%x", &d1, &b1, &s1, &f1) < 3) {
		d1 = 0;
		if (sscanf(a, "%x:%x.%x", &b1, &s1, &f1) < 2)
			return false;
	}
	if (sscanf(b, "%x:%x:%x.%x", &d2, &b2, &s2, &f2) < 3)
		return false;
	return d1 == d2 && b1 == b2 && s1 == s2 && f1 == f2;
}

/*
 * Devices are found by what is written on them, never by the order in which
 * the driver lists them.
 */
static int find_device(struct cuda_ctx *ctx, char *err)
{
	const struct cuda_driver *drv = ctx->drv;
	const char *want = ctx->config.device;
	int n = 0, i, r;

	r = cuda_check(ctx, drv->device_count(&n), "counting devices");
	if (r) {
		snprintf(err, 256, "the CUDA driver cannot count its devices");
		return r;
	}
	/* the host shows a process one device: one that is not there is none seen */
	if (n == 0 && !want) {
		snprintf(err, 256, "the CUDA driver sees no device");
		return -ENODEV;
	}
	if (!want && n > 1) {
		snprintf(err, 256, "there are %d CUDA devices; name one by UUID or PCI address", n);
		return -ENODEV;
	}
	for (i = 0; i < n; i++) {
		char pci[32] = "", uuid_name[41] = "";
		CUdevice device;
		CUuuid uuid;

		if (drv->device_get(&device, i) != CUDA_SUCCESS)
			continue;
		if (drv->device_uuid(&uuid, device) == CUDA_SUCCESS)
			uuid_text(uuid_name, &uuid);
		drv->device_pci(pci, sizeof(pci), device);
		if (!want || strcasecmp(want, uuid_name) == 0 || pci_equal(want, pci)) {
			ctx->device = device;
			snprintf(ctx->name, sizeof(ctx->name), "%s", pci);
			return 0;
		}
	}
	snprintf(err, 256, "no CUDA device is %s (%d seen; nvidia-smi -L lists UUIDs)", want, n);
	return -ENODEV;
}

static int load_kernels(struct cuda_ctx *ctx, char *err)
{
	const void *images[CUDA_MODULES] = {
		[MODULE_MSM] = cuda_fatbin_msm,
		[MODULE_FR] = cuda_fatbin_fr,
		[MODULE_CS] = cuda_fatbin_cs,
		[MODULE_POINTS] = cuda_fatbin_points,
	};
	int i, r;

	for (i = 0; i < CUDA_MODULES; i++) {
		r = cuda_check(ctx, ctx->drv->module_load(&ctx->modules[i], images[i]),
			       "loading kernels");
		if (r) {
			snprintf(err, 256, "gpu %s: no kernels for this device in this build", ctx->name);
			return r;
		}
	}
	for (i = 0; i < CUDA_KERNEL_COUNT; i++) {
		r = cuda_check(ctx, ctx->drv->module_function(&ctx->kernels[i],
				       ctx->modules[kernel_table[i].module], kernel_table[i].name),
			       kernel_table[i].name);
		if (r) {
			snprintf(err, 256, "gpu %s: kernel %s is missing", ctx->name,
				 kernel_table[i].name);
			return r;
		}
	}
	return 0;
}

static int reserve_memory(struct cuda_ctx *ctx, char *err)
{
	size_t free_bytes = 0, total = 0;
	uint64_t want = ctx->config.vram_budget;
	int r;

	r = cuda_check(ctx, ctx->drv->mem_info(&free_bytes, &total), "asking for free memory");
	if (r) {
		snprintf(err, 256, "gpu %s: cannot tell its free memory", ctx->name);
		return r;
	}
	if (!want)
		want = free_bytes > DRIVER_RESERVE ? free_bytes - DRIVER_RESERVE : 0;
	if (!want || want > free_bytes) {
		snprintf(err, 256, "gpu %s: %zu MiB of %zu MiB are free, fewer than the %llu MiB wanted",
			 ctx->name, free_bytes >> 20, total >> 20, (unsigned long long)want >> 20);
		return -ENOMEM;
	}
	r = cuda_check(ctx, ctx->drv->mem_alloc(&ctx->memory, want), "reserving memory");
	if (r) {
		snprintf(err, 256, "gpu %s: cannot reserve %llu MiB", ctx->name,
			 (unsigned long long)want >> 20);
		return r;
	}
	return cuda_arena_open(&ctx->arena, ctx->memory, want);
}

static int open_stream(struct cuda_ctx *ctx, CUstream *stream, int priority)
{
	return cuda_check(ctx, ctx->drv->stream_create_priority(stream, CU_STREAM_NON_BLOCKING, priority),
			  "making a stream");
}

static int open_event(struct cuda_ctx *ctx, CUevent *event)
{
	return cuda_check(ctx, ctx->drv->event_create(event, CU_EVENT_DISABLE_TIMING),
			  "making an event");
}

/*
 * The greatest priorities are the least numbers: urgent work's, that of most
 * kernels, that of those which give way (launch.c).
 */
static int open_streams(struct cuda_ctx *ctx, enum cuda_urgency urgency)
{
	int least = 0, greatest = 0, r;

	r = cuda_check(ctx, ctx->drv->stream_priorities(&least, &greatest), "asking for priorities");
	if (r)
		return r;
	if (urgency == CUDA_URGENT)
		return open_stream(ctx, &ctx->stream, greatest);
	r = open_stream(ctx, &ctx->stream, least - greatest > 1 ? least - 1 : least);
	if (!r)
		r = open_stream(ctx, &ctx->yielding, least);
	if (!r)
		r = open_event(ctx, &ctx->fork);
	return r ? r : open_event(ctx, &ctx->join);
}

static void close_streams(struct cuda_ctx *ctx)
{
	if (ctx->fork)
		ctx->drv->event_destroy(ctx->fork);
	if (ctx->join)
		ctx->drv->event_destroy(ctx->join);
	if (ctx->yielding)
		ctx->drv->stream_destroy(ctx->yielding);
	if (ctx->stream)
		ctx->drv->stream_destroy(ctx->stream);
}

int cuda_ctx_open(struct cuda_ctx **out, const struct gpu_config *config, char *err)
{
	struct cuda_ctx *ctx;
	int r;

	ctx = calloc(1, sizeof(*ctx));
	if (!ctx) {
		snprintf(err, 256, "out of memory");
		return -ENOMEM;
	}
	ctx->config = *config;
	ctx->device = -1;
	snprintf(ctx->name, sizeof(ctx->name), "%s", config->device ? config->device : "?");
	ctx->drv = cuda_driver_get(err);
	if (!ctx->drv) {
		free(ctx);
		return -ENOSYS;
	}
	r = find_device(ctx, err);
	if (r)
		goto err_close;
	snprintf(err, 256, "gpu %s: cannot open the device", ctx->name);
	r = cuda_check(ctx, ctx->drv->ctx_retain(&ctx->ctx, ctx->device), "opening the device");
	if (r)
		goto err_close;
	r = cuda_check(ctx, ctx->drv->ctx_set_current(ctx->ctx), "selecting the device");
	if (r)
		goto err_close;
	ctx->halve_least = CUDA_HALVE_LEAST;
	r = cuda_check(ctx, ctx->drv->device_attribute(&ctx->sm_count,
			CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, ctx->device), "asking for its size");
	if (r)
		goto err_close;
	r = open_streams(ctx, CUDA_BULK);
	if (r)
		goto err_close;
	r = load_kernels(ctx, err);
	if (r)
		goto err_close;
	r = cuda_steps_open(ctx);
	if (r)
		goto err_close;
	r = reserve_memory(ctx, err);
	if (r)
		goto err_close;
	*out = ctx;
	return 0;

err_close:
	cuda_ctx_close(ctx);
	return r;
}

int cuda_ctx_lend(struct cuda_ctx *ctx, uint64_t bytes)
{
	int r = cuda_alloc(ctx->parent, &ctx->memory, bytes);

	if (!r)
		r = cuda_arena_open(&ctx->arena, ctx->memory, bytes);
	if (r)
		cuda_ctx_take_back(ctx);
	return r;
}

void cuda_ctx_take_back(struct cuda_ctx *ctx)
{
	cuda_arena_close(ctx->arena);
	ctx->arena = NULL;
	cuda_free(ctx->parent, ctx->memory);
	ctx->memory = 0;
}

int cuda_ctx_open_beside(struct cuda_ctx **out, struct cuda_ctx *parent,
			 const struct gpu_config *config, enum cuda_urgency urgency,
			 uint64_t bytes, char *err)
{
	struct cuda_ctx *ctx = calloc(1, sizeof(*ctx));
	int r;

	if (!ctx) {
		snprintf(err, 256, "out of memory");
		return -ENOMEM;
	}
	ctx->parent = parent;
	ctx->config = *config;
	ctx->drv = parent->drv;
	ctx->device = parent->device;
	ctx->ctx = parent->ctx;
	ctx->sm_count = parent->sm_count;
	ctx->halve_least = parent->halve_least;
	memcpy(ctx->kernels, parent->kernels, sizeof(ctx->kernels));
	memcpy(ctx->name, parent->name, sizeof(ctx->name));
	snprintf(err, 256, "gpu %s: no stream beside its own", ctx->name);
	r = cuda_ctx_enter(ctx);
	if (!r)
		r = open_streams(ctx, urgency);
	if (!r)
		r = cuda_steps_open(ctx);
	if (!r && bytes) {
		r = cuda_ctx_lend(ctx, bytes);
		if (r)
			snprintf(err, 256, "gpu %s: no room for %llu MiB of urgent proofs",
				 ctx->name, (unsigned long long)bytes >> 20);
	}
	if (r) {
		cuda_ctx_close(ctx);
		return r;
	}
	*out = ctx;
	return 0;
}

void cuda_ctx_close(struct cuda_ctx *ctx)
{
	int i;

	if (!ctx)
		return;
	if (ctx->ctx) {
		ctx->drv->ctx_set_current(ctx->ctx);
		cuda_steps_close(ctx);
		if (ctx->parent)
			cuda_ctx_take_back(ctx);
		else if (ctx->memory)
			ctx->drv->mem_free(ctx->memory);
		for (i = 0; i < CUDA_MODULES; i++)
			if (ctx->modules[i])
				ctx->drv->module_unload(ctx->modules[i]);
		close_streams(ctx);
		if (!ctx->parent)
			ctx->drv->ctx_release(ctx->device);
	}
	cuda_arena_close(ctx->arena);
	free(ctx);
}

int cuda_ctx_enter(struct cuda_ctx *ctx)
{
	if (ctx->lost)
		return -EIO;
	gate_begin(&ctx->place);
	return cuda_check(ctx, ctx->drv->ctx_set_current(ctx->ctx), "selecting the device");
}

int cuda_alloc(struct cuda_ctx *ctx, CUdeviceptr *p, uint64_t bytes)
{
	uint64_t at;
	int r = cuda_arena_alloc(ctx->arena, bytes, &at);

	*p = r ? 0 : at;
	return r;
}

void cuda_free(struct cuda_ctx *ctx, CUdeviceptr p)
{
	cuda_arena_free(ctx->arena, p);
}

uint64_t cuda_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

int cuda_copy_up(struct cuda_ctx *ctx, CUdeviceptr to, const void *from, uint64_t bytes)
{
	uint64_t start;
	int r;

	if (ctx->lost)
		return -EIO;
	if (!bytes)
		return 0;
	ctx->bytes_up += bytes;
	start = cuda_now_ns();
	r = cuda_check(ctx, ctx->drv->copy_up(to, from, bytes, ctx->stream), "copying to the device");
	ctx->copy_up_ns += cuda_now_ns() - start;
	return r;
}

int cuda_copy_down(struct cuda_ctx *ctx, void *to, CUdeviceptr from, uint64_t bytes)
{
	int r;

	if (ctx->lost)
		return -EIO;
	if (!bytes)
		return 0;
	ctx->bytes_down += bytes;
	r = cuda_check(ctx, ctx->drv->copy_down(to, from, bytes, ctx->stream),
		       "copying from the device");
	return r ? r : cuda_wait(ctx);
}

int cuda_clear(struct cuda_ctx *ctx, CUdeviceptr p, uint64_t bytes)
{
	if (ctx->lost)
		return -EIO;
	if (!bytes)
		return 0;
	return cuda_check(ctx, ctx->drv->fill_u8(p, 0, bytes, ctx->stream), "clearing memory");
}

int cuda_wait(struct cuda_ctx *ctx)
{
	if (ctx->lost)
		return -EIO;
	return cuda_check(ctx, ctx->drv->stream_wait(ctx->stream), "waiting for kernels");
}

const char *cuda_kernel_name(enum cuda_kernel kernel)
{
	return kernel_table[kernel].name;
}
