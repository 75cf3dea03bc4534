/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * u-cuda-side.c - sums by a device and its side: together, each alone, and without room
 *
 * Runs on the device there is, or on the emulated one.
 */
#include <errno.h>

#include "gpu/cuda/device.h"
#include "gpu/gpu.h"
#include "t/random-srs.h"
#include "t/tap.h"

#define ROOM (64ull << 20)

static struct gpu *dev;
static CUdeviceptr points, scalars;
static uint32_t n;
static struct g1_affine want;

static void log_line(void *arg, int priority, const char *line)
{
	diag("%s", line);
}

static CUdeviceptr up(const void *data, uint64_t bytes)
{
	CUdeviceptr p;

	if (cuda_alloc(dev->ctx, &p, bytes) || cuda_copy_up(dev->ctx, p, data, bytes) ||
	    cuda_wait(dev->ctx))
		abort();
	return p;
}

/* n different points with scalars, and their sum by one stream. */
static void make(void)
{
	struct g1_affine *p = xalloc(n, sizeof(*p));
	struct scalar *s = xalloc(n, sizeof(*s));
	struct fr v;
	struct g1 acc, t;
	uint32_t i;

	g1_from_affine(&acc, &G1_GENERATOR);
	for (i = 0; i < n; i++) {
		g1_to_affine(&p[i], &acc);
		g1_add_affine(&acc, &acc, &G1_GENERATOR);
		rnd_fr(&v);
		fr_to_scalar(&s[i], &v);
	}
	points = up(p, n * sizeof(*p));
	scalars = up(s, n * sizeof(*s));
	g1_set_infinity(&acc);
	for (i = 0; i < n; i++) {
		g1_mul_vartime(&t, &p[i], &s[i]);
		g1_add(&acc, &acc, &t);
	}
	g1_to_affine(&want, &acc);
	free(p);
	free(s);
}

static int work(struct gpu *side, void *arg)
{
	return cuda_windows_work(arg, side->ctx);
}

static int idle(struct gpu *side, void *arg)
{
	return side->ctx->lost ? -EIO : 0;
}

struct outcome {
	int side, own, sum;
	bool right;
};

/* bytes: of the side; own: whether this thread works as well. */
static struct outcome sum_with(uint64_t bytes, int (*run)(struct gpu *, void *), bool own)
{
	uint64_t used = cuda_arena_used(dev->ctx->arena);
	struct outcome o = { 0 };
	struct cuda_windows w;
	struct g1_affine got;

	if (cuda_windows_open(&w, dev->ctx, CUDA_G1, points, scalars, 0, n, 2) ||
	    cuda_side_start(dev->side, bytes, run, &w))
		abort();
	if (own)
		o.own = cuda_windows_work(&w, dev->ctx);
	o.side = cuda_side_join(dev->side);
	o.sum = cuda_windows_sum(&w, &got);
	o.right = !o.sum && g1_affine_equal(&got, &want);
	cuda_windows_close(&w, dev->ctx);
	ok(cuda_arena_used(dev->ctx->arena) == used, "memory is given back");
	return o;
}

static void test_who_works(void)
{
	struct outcome o = sum_with(ROOM, work, true);

	ok(!o.side && !o.own && o.right, "both work at %u points", n);
	o = sum_with(ROOM, work, false);
	ok(!o.side && o.right, "only the side does");
	o = sum_with(ROOM, idle, true);
	ok(!o.own && o.right, "the side does not");
	o = sum_with(ROOM, idle, false);
	ok(o.sum == -ENOMEM, "nobody does: %d", o.sum);
	o = sum_with(4096, work, true);
	ok(o.side == -ENOMEM && !o.own && o.right, "the side has no room: %d", o.side);
	o = sum_with(4096, work, false);
	ok(o.side == -ENOMEM && o.sum == -ENOMEM, "and there is no other: %d", o.sum);
}

static void test_msm(void)
{
	struct cuda_ctx *ctx = dev->ctx;
	uint64_t bytes = cuda_windows_bytes(ctx, CUDA_G1, n), left;
	struct g1_affine got;
	CUdeviceptr hog;
	int r;

	dev->shared_min = 1;
	r = cuda_side_msm(dev, CUDA_G1, points, scalars, 0, n, &got);
	ok(!r && g1_affine_equal(&got, &want), "a sum by both");
	r = cuda_side_msm(dev, CUDA_G1, points, scalars, 0, 0, &got);
	ok(!r && g1_affine_is_infinity(&got), "of nothing");
	left = cuda_arena_largest(ctx->arena);
	if (left < 2 * bytes || cuda_alloc(ctx, &hog, left - bytes))
		abort();
	r = cuda_side_msm(dev, CUDA_G1, points, scalars, 0, n, &got);
	ok(!r && g1_affine_equal(&got, &want), "and where there is room for one");
	cuda_free(ctx, hog);
}

int main(void)
{
	struct gpu_config config = { .size = sizeof(config), .threads = 2, .log = log_line };
	char err[256] = "";

	if (!gpu_cuda_ops() || gpu_cuda_ops()->open(&dev, &config, err)) {
		skip("gpu", gpu_cuda_ops() ? err : "built without CUDA");
		return tap_done();
	}
	for (n = 1; n <= 600; n += 599) {
		make();
		test_who_works();
		test_msm();
		cuda_free(dev->ctx, points);
		cuda_free(dev->ctx, scalars);
	}
	gpu_cuda_ops()->close(dev);
	return tap_done();
}
