/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * u-cuda-transform.c - transforms in G1 on the device
 *
 * Runs on the device there is, or on the emulated one.
 */
#include <errno.h>
#include <syslog.h>

#include "gpu/cuda/device.h"
#include "t/transform.h"

static const struct gpu_ops *cuda;
static struct gpu *dev, *host;

static struct {
	long patience;		/* questions left; -1: endless */
	uint64_t calls, last, total;
	bool good;		/* progress went up, in one stage */
	char line[256];		/* logged last */
} seen = { .patience = -1 };

static bool cancelled(void *arg)
{
	return seen.patience >= 0 && seen.patience-- == 0;
}

static void progress(void *arg, enum gpu_stage stage, uint64_t done, uint64_t total)
{
	seen.good &= stage == GPU_STAGE_NTT && done <= total && (!done || done > seen.last);
	seen.calls++;
	seen.last = done;
	seen.total = total;
}

static void log_line(void *arg, int priority, const char *line)
{
	snprintf(seen.line, sizeof(seen.line), "%s", line);
	diag("%s", line);
}

static struct g1_affine *some_points(size_t n)
{
	struct g1_affine *points = malloc(n * sizeof(*points));
	struct fr x;
	size_t i;

	for (i = 0; i < n; i++) {
		rnd_fr(&x);
		transform_point(&points[i], &x);
	}
	return points;
}

/* Ranges that divide nothing: every launch begins somewhere else in a stage. */
static void test_ranges(unsigned int log_n)
{
	static const uint32_t ranges[] = { 1, 3, 17, 1u << 20 };
	size_t n = (size_t)1 << log_n, size = n * sizeof(struct g1_affine), i;
	struct g1_affine *in = some_points(n), *want = malloc(size), *out = malloc(size);
	struct fr factor, base;

	rnd_fr(&factor);
	rnd_fr(&base);
	memcpy(want, in, size);
	if (gpu_cpu_ops.transform_g1(host, want, log_n, &FR_ROOT_5, &factor, &base))
		abort();
	for (i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
		const uint32_t range = ranges[i];
		uint64_t launches = (n + range - 1) / range + (n / 2 + range - 1) / range * log_n;

		memcpy(out, in, size);
		seen.calls = seen.last = 0;
		seen.good = true;
		ok(cuda_transform_ranges(dev, out, log_n, &FR_ROOT_5, &factor, &base, range) == 0 &&
		   !memcmp(out, want, size), "2^%u points, %u to a launch: the host's", log_n,
		   range);
		ok(seen.good && seen.last == seen.total && seen.total == n + n / 2 * log_n &&
		   seen.calls == launches + 1, "progress told %llu times",
		   (unsigned long long)seen.calls);
	}
	free(in);
	free(want);
	free(out);
}

/* Short scalars, and those around r and lambda. */
static void test_scalars(void)
{
	static const uint64_t small[] = { 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 16, 63, 64, 65 };
	/* lambda, lambda + 1 */
	static const struct scalar lambda[] = {
		{ { 0x00000000ffffffff, 0xac45a4010001a402 } },
		{ { 0x0000000100000000, 0xac45a4010001a402 } },
	};
	size_t n_small = sizeof(small) / sizeof(small[0]), i, j;
	int good = 0, all = 0;
	struct fr k[2], f;

	for (i = 0; i < n_small + 2; i++) {
		if (i < n_small)
			fr_from_u64(&k[0], small[i]);
		else
			fr_from_scalar(&k[0], &lambda[i - n_small]);
		fr_neg(&k[1], &k[0]);
		for (j = 0; j < 2; j++, all++)
			good += transform_right(cuda, dev, host, 1, TRANSFORM_MIXED, &FR_ROOT_7,
						&k[j], &fr_one);
		/* and times lambda */
		fr_from_scalar(&f, &lambda[0]);
		fr_mul(&k[0], &k[0], &f);
		good += transform_right(cuda, dev, host, 1, TRANSFORM_MIXED, &FR_ROOT_7, &k[0],
					&k[1]);
		all++;
	}
	ok(good == all, "%d products by short scalars and neighbours of r and lambda", all);
}

static void test_refusals(unsigned int log_n)
{
	struct gpu_config config = {
		.size = sizeof(config), .threads = 1, .vram_budget = 2 << 20, .log = log_line,
	};
	size_t n = (size_t)1 << log_n, size = n * sizeof(struct g1_affine), i;
	struct g1_affine *in = some_points(n), *out = malloc(size);
	uint64_t used = cuda_arena_used(dev->ctx->arena);
	struct gpu *small;
	bool same = true;
	char err[256];
	int r = 0;

	memcpy(out, in, size);
	ok(cuda->transform_g1(dev, out, 32, &FR_ROOT_7, &fr_one, &fr_one) == -EINVAL,
	   "2^32 points are refused");
	for (i = 0; i < 100; i++) {
		seen.patience = (long)i;
		r = cuda->transform_g1(dev, out, log_n, &FR_ROOT_7, &fr_one, &fr_one);
		if (r != -ECANCELED)
			break;
		same &= !memcmp(out, in, size);
	}
	seen.patience = -1;
	ok(r == 0 && i == log_n + 2, "cancelled %zu times, then done", i);
	ok(same, "what was cancelled changed nothing");
	ok(cuda_arena_used(dev->ctx->arena) == used, "device memory is given back");
	if (cuda->open(&small, &config, err))
		abort();
	in = realloc(in, sizeof(*in) << 14);
	memset(in, 0, sizeof(*in) << 14);
	used = cuda_arena_used(small->ctx->arena);
	ok(cuda->transform_g1(small, in, 14, &FR_ROOT_7, &fr_one, &fr_one) == -ENOMEM &&
	   strstr(seen.line, "2^14 points takes ") && strstr(seen.line, "2 MiB are free"),
	   "without room it is refused, with a line in the log");
	ok(cuda_arena_used(small->ctx->arena) == used, "and leaves nothing behind");
	cuda->close(small);
	free(in);
	free(out);
}

int main(void)
{
	struct gpu_config config = {
		.size = sizeof(config), .threads = 2, .progress = progress, .log = log_line,
		.cancelled = cancelled,
	};
	struct gpu_config host_config = { .size = sizeof(host_config), .threads = 2 };
	struct fr factor, base;
	char err[256];
	unsigned int i;

	cuda = gpu_cuda_ops();
	if (!cuda || cuda->open(&dev, &config, err)) {
		skip("gpu", cuda ? err : "built without CUDA");
		return tap_done();
	}
	if (gpu_cpu_ops.open(&host, &host_config, err))
		return 1;
	for (i = 0; i < 5; i++)
		transform_test(cuda, dev, host, i, "device");
	for (; i < 9; i++) {
		rnd_fr(&factor);
		rnd_fr(&base);
		ok(transform_right(cuda, dev, host, i, TRANSFORM_MIXED,
				   i % 2 ? &FR_ROOT_7 : &FR_ROOT_5, &factor, &base),
		   "device: 2^%u points", i);
	}
	test_scalars();
	test_ranges(4);
	test_refusals(3);
	cuda->close(dev);
	gpu_cpu_ops.close(host);
	return tap_done();
}
