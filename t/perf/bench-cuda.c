/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * bench-cuda.c - sums and transforms on the device: time, and a check of each
 *
 *   bench-cuda [LOG_MSM [LOG_NTT [LOG_TRANSFORM]]]
 *
 * Points are 2^14 distinct ones, repeated; the expected sum follows from the
 * scalars added up by point.  Kernel times come from a second, profiled run.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "gpu/cuda/device.h"

#define LOG_DISTINCT 14
#define DISTINCT (1u << LOG_DISTINCT)

static struct cuda_ctx *ctx;

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + 1e-9 * ts.tv_nsec;
}

static void die(const char *what)
{
	fprintf(stderr, "bench-cuda: %s\n", what);
	exit(1);
}

static uint64_t rng_state = 88172645463325252ull;

static uint64_t rng(void)
{
	rng_state ^= rng_state << 13;
	rng_state ^= rng_state >> 7;
	rng_state ^= rng_state << 17;
	return rng_state;
}

static void profile_start(void)
{
	memset(ctx->kernel_ns, 0, sizeof(ctx->kernel_ns));
	ctx->profile = true;
}

static void profile_print(void)
{
	ctx->profile = false;
	for (int i = 0; i < CUDA_KERNEL_COUNT; i++)
		if (ctx->kernel_ns[i] > 100000)
			printf("    %-24s %9.3f ms\n", cuda_kernel_name(i), ctx->kernel_ns[i] * 1e-6);
}

static CUdeviceptr alloc(uint64_t bytes)
{
	CUdeviceptr p;

	if (cuda_alloc(ctx, &p, bytes))
		die("out of device memory");
	return p;
}

static struct g1_affine g1_points[DISTINCT];
static struct g2_affine g2_points[DISTINCT];

static void make_points(void)
{
	static struct g1 j1[DISTINCT];
	struct g2 acc;

	/* (i + 1) G, spread by doubling thrice so that neighbours are unlike */
	g1_from_affine(&j1[0], &G1_GENERATOR);
	for (unsigned int i = 1; i < DISTINCT; i++)
		g1_add_affine(&j1[i], &j1[i - 1], &G1_GENERATOR);
	g1_batch_to_affine(g1_points, j1, DISTINCT);
	g2_from_affine(&acc, &G2_GENERATOR);
	for (unsigned int i = 0; i < DISTINCT; i++) {
		g2_to_affine(&g2_points[i], &acc);
		g2_add_affine(&acc, &acc, &G2_GENERATOR);
	}
}

static CUdeviceptr spread(const void *points, uint64_t size, unsigned int log_n)
{
	uint64_t have = DISTINCT * size, all = size << log_n;
	CUdeviceptr p = alloc(all);

	if (have > all)
		have = all;
	if (cuda_copy_up(ctx, p, points, have))
		die("copy failed");
	for (; have < all; have *= 2)
		if (cuda_check(ctx, ctx->drv->copy(p + have, p, have, ctx->stream), "copy"))
			die("copy failed");
	return p;
}

static void bench_msm(enum cuda_group group, unsigned int log_n, int repeat)
{
	uint64_t n = 1ull << log_n;
	struct scalar *scalars = malloc(n * sizeof(*scalars));
	static struct fr folded[DISTINCT];
	CUdeviceptr p, s;
	struct g1_affine got1;
	struct g2_affine got2;
	struct g1 want1, t1;
	struct g2 want2, t2;
	double best = 1e9, t;
	void *out = group == CUDA_G1 ? (void *)&got1 : (void *)&got2;
	bool good;

	if (!scalars)
		die("out of memory");
	memset(folded, 0, sizeof(folded));
	for (uint64_t i = 0; i < n; i++) {
		struct fr f;

		for (int j = 0; j < 4; j++)
			scalars[i].l[j] = rng();
		scalars[i].l[3] %= 0x73eda753299d7d48ull;
		/* sums of Montgomery readings of the same words: linear, so the same */
		memcpy(&f, &scalars[i], sizeof(f));
		fr_add(&folded[i & (DISTINCT - 1)], &folded[i & (DISTINCT - 1)], &f);
	}
	p = group == CUDA_G1 ? spread(g1_points, sizeof(*g1_points), log_n)
			     : spread(g2_points, sizeof(*g2_points), log_n);
	s = alloc(n * sizeof(*scalars));
	if (cuda_copy_up(ctx, s, scalars, n * sizeof(*scalars)) || cuda_wait(ctx))
		die("copy failed");
	for (int i = 0; i <= repeat; i++) {
		t = now();
		if (cuda_msm(ctx, group, p, s, 0, n, out))
			die("msm failed");
		t = now() - t;
		if (i && t < best)
			best = t;
	}
	g1_set_infinity(&want1);
	g2_set_infinity(&want2);
	for (unsigned int i = 0; i < DISTINCT && i < n; i++) {
		struct scalar k;

		memcpy(&k, &folded[i], sizeof(k));
		if (group == CUDA_G1) {
			g1_mul_vartime(&t1, &g1_points[i], &k);
			g1_add(&want1, &want1, &t1);
		} else {
			g2_mul_vartime(&t2, &g2_points[i], &k);
			g2_add(&want2, &want2, &t2);
		}
	}
	if (group == CUDA_G1) {
		g1_from_affine(&t1, &got1);
		good = g1_equal(&t1, &want1);
	} else {
		g2_from_affine(&t2, &got2);
		good = g2_equal(&t2, &want2);
	}
	printf("msm %s 2^%u random: %.2f ms, %.1f M points/s, result %s\n",
	       group == CUDA_G1 ? "g1" : "g2", log_n, best * 1e3, n / best * 1e-6,
	       good ? "right" : "WRONG");
	if (!good)
		exit(1);
	profile_start();
	if (cuda_msm(ctx, group, p, s, 0, n, out))
		die("msm failed");
	profile_print();
	cuda_free(ctx, p);
	cuda_free(ctx, s);
	free(scalars);
	fflush(stdout);
}

static void bench_ntt(unsigned int log_n, int repeat)
{
	uint64_t n = 1ull << log_n;
	struct cuda_ntt *ntt;
	CUdeviceptr d[3];
	double best[3] = { 1e9, 1e9, 1e9 }, t;
	struct fr *block = malloc(sizeof(*block) << 16), first, after;

	if (cuda_ntt_open(&ntt, ctx) || !block)
		die("out of memory");
	for (unsigned int i = 0; i < 1u << 16; i++) {
		for (int j = 0; j < 4; j++)
			block[i].l[j] = rng();
		block[i].l[3] %= 0x73eda753299d7d48ull;
	}
	for (int i = 0; i < 3; i++) {
		d[i] = alloc(n * sizeof(struct fr));
		for (uint64_t at = 0; at < n; at += 1u << 16)
			cuda_copy_up(ctx, d[i] + at * sizeof(struct fr), block + (at >> 8) % 7,
				     (n < 1u << 16 ? n : (1u << 16) - 8) * sizeof(struct fr));
	}
	cuda_wait(ctx);
	for (int i = 0; i <= repeat; i++) {
		cuda_copy_down(ctx, &first, d[0] + 32 * 5, 32);
		t = now();
		cuda_ntt_run(ntt, d[0], log_n, &FR_ROOT_7, true, CUDA_NTT_DIF);
		cuda_wait(ctx);
		t = now() - t;
		if (i && t < best[0])
			best[0] = t;
		t = now();
		cuda_ntt_run(ntt, d[0], log_n, &FR_ROOT_7, false, CUDA_NTT_DIT);
		cuda_wait(ctx);
		t = now() - t;
		if (i && t < best[1])
			best[1] = t;
		cuda_copy_down(ctx, &after, d[0] + 32 * 5, 32);
		{
			struct fr f;

			fr_from_u64(&f, n);
			fr_mul(&first, &first, &f);
			if (!fr_equal(&first, &after))
				die("round trip differs");
		}
	}
	for (int i = 0; i <= repeat; i++) {
		t = now();
		if (cuda_quotient(ntt, d[0], d[1], d[2], log_n, GPU_H_POWERS))
			die("quotient failed");
		cuda_wait(ctx);
		t = now() - t;
		if (i && t < best[2])
			best[2] = t;
	}
	printf("ntt 2^%u: dif %.3f ms, dit %.3f ms (round trip right); quotient %.2f ms\n", log_n,
	       best[0] * 1e3, best[1] * 1e3, best[2] * 1e3);
	profile_start();
	cuda_quotient(ntt, d[0], d[1], d[2], log_n, GPU_H_POWERS);
	profile_print();
	for (int i = 0; i < 3; i++)
		cuda_free(ctx, d[i]);
	cuda_ntt_close(ntt);
	free(block);
	fflush(stdout);
}

/*
 * The transform's own dual: for any d, the sum of d_k out_k is that of h_i in_i,
 * where h is d transformed and scaled alike.
 */
static bool transform_good(struct gpu *gpu, const struct g1_affine *in, const struct g1_affine *out,
			   unsigned int log_n, const struct fr *factor, const struct fr *base)
{
	const struct gpu_ops *ops = gpu_cuda_ops();
	uint64_t n = 1ull << log_n;
	struct scalar *k = malloc(n * sizeof(*k));
	struct fr *d = malloc(n * sizeof(*d)), power;
	struct g1_affine left, right;

	if (!k || !d)
		die("out of memory");
	for (uint64_t i = 0; i < n; i++) {
		for (int j = 0; j < 4; j++)
			d[i].l[j] = rng();
		d[i].l[3] %= 0x73eda753299d7d48ull;
		fr_to_scalar(&k[i], &d[i]);
	}
	if (ops->msm_g1(gpu, out, k, n, &left) ||
	    ops->ntt(gpu, d, log_n, true, &FR_ROOT_7, NULL))
		die("check failed");
	/* without the division by n */
	fr_from_u64(&power, n);
	fr_mul(&power, &power, factor);
	for (uint64_t i = 0; i < n; i++) {
		fr_mul(&d[i], &d[i], &power);
		fr_to_scalar(&k[i], &d[i]);
		fr_mul(&power, &power, base);
	}
	if (ops->msm_g1(gpu, in, k, n, &right))
		die("check failed");
	free(k);
	free(d);
	return g1_affine_equal(&left, &right) && !g1_affine_is_infinity(&left);
}

static void bench_transform(struct gpu *gpu, unsigned int log_n)
{
	uint64_t n = 1ull << log_n, size = n * sizeof(struct g1_affine);
	struct g1_affine *in = malloc(size), *out = malloc(size);
	double t;
	bool good;

	if (!in || !out)
		die("out of memory");
	for (uint64_t i = 0; i < n; i++)
		in[i] = g1_points[(i ^ i >> LOG_DISTINCT) & (DISTINCT - 1)];
	memcpy(out, in, size);
	profile_start();
	t = now();
	if (gpu_cuda_ops()->transform_g1(gpu, out, log_n, &FR_ROOT_7, &FR_GENERATOR, &FR_ROOT_5))
		die("transform failed");
	t = now() - t;
	ctx->profile = false;
	good = transform_good(gpu, in, out, log_n, &FR_GENERATOR, &FR_ROOT_5);
	printf("transform g1 2^%u: %.2f ms, %.2f M products/s, result %s\n", log_n, t * 1e3,
	       n / 2 * log_n / t * 1e-6, good ? "right" : "WRONG");
	if (!good)
		exit(1);
	profile_print();
	free(in);
	free(out);
	fflush(stdout);
}

/* The transform is an operation of the whole device, so it comes with one. */
static void bench_transforms(const struct gpu_config *config, unsigned int log_most)
{
	struct gpu *gpu;
	char err[256];

	if (gpu_cuda_ops()->open(&gpu, config, err))
		die(err);
	ctx = gpu->ctx;
	for (unsigned int l = log_most < 16 ? log_most : 16; l <= log_most; l += 2)
		bench_transform(gpu, l);
	gpu_cuda_ops()->close(gpu);
}

int main(int argc, char **argv)
{
	struct gpu_config config = { .size = sizeof(config) };
	unsigned int log_msm = argc > 1 ? (unsigned int)atoi(argv[1]) : 26;
	unsigned int log_ntt = argc > 2 ? (unsigned int)atoi(argv[2]) : 27;
	unsigned int log_transform = argc > 3 ? (unsigned int)atoi(argv[3]) : 20;
	char err[256];

	if (cuda_ctx_open(&ctx, &config, err))
		die(err);
	make_points();
	for (unsigned int l = 20; l <= log_ntt; l += l < 24 ? 4 : 3)
		bench_ntt(l, 3);
	for (unsigned int l = 16; l <= log_msm; l += l < 24 ? 4 : l < 26 ? 2 : 1)
		bench_msm(CUDA_G1, l, 2);
	for (unsigned int l = 16; l <= 22 && l <= log_msm; l += 3)
		bench_msm(CUDA_G2, l, 2);
	cuda_ctx_close(ctx);
	bench_transforms(&config, log_transform);
	return 0;
}
