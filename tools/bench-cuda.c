/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * bench-cuda.c - sums and transforms on a CUDA device: time, share of the peak, and a
 * check of each
 *
 * The peak is what products in registers reach on the device, measured first.
 * Points are 2^14 distinct ones, repeated; the expected sum follows from the
 * scalars added up by point.  Kernel times come from a second, profiled run.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "gpu/cuda/device.h"
#include "tools/bench-device.h"
#include "tools/bench.h"

#define LOG_DISTINCT 14
#define DISTINCT (1u << LOG_DISTINCT)

#define PEAK_ROUNDS 256u

static struct gpu *gpu;
static struct cuda_ctx *ctx;	/* gpu's */
static struct {
	double fr, fp;		/* products a second */
} peak;

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + 1e-9 * ts.tv_nsec;
}

static void die(const char *what)
{
	fprintf(stderr, "cuzk-bench: kernels: %s\n", what);
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

/* Of products a second, in words. */
static const char *share(double products, double seconds, double best)
{
	static char text[32];

	snprintf(text, sizeof(text), "%.0f %% of the peak", 100 * products / seconds / best);
	return text;
}

static void random_limbs(uint64_t *l, int n, uint64_t top)
{
	for (int j = 0; j < n; j++)
		l[j] = rng();
	l[n - 1] %= top;
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

/* One field's products, all threads alike but in their operands; the last thread's is checked. */
static double bench_peak(bool fp)
{
	uint64_t size = fp ? sizeof(struct fp) : sizeof(struct fr);
	uint64_t n = (uint64_t)ctx->sm_count * 2048;
	uint32_t n32 = (uint32_t)n, rounds = PEAK_ROUNDS;
	char *data = calloc(2 * n, size);
	enum cuda_kernel kernel = fp ? KERNEL_peak_fp : KERNEL_peak_fr;
	struct fp p[3];
	struct fr r[3];
	CUdeviceptr d = alloc(2 * n * size);
	double best = 1e9, t;
	bool good;

	if (!data)
		die("out of memory");
	for (uint64_t i = 0; i < 2 * n; i++) {
		if (fp)
			random_limbs((uint64_t *)(data + i * size), 6, 0x1a0111ea397fe69aull);
		else
			random_limbs((uint64_t *)(data + i * size), 4, 0x73eda753299d7d48ull);
	}
	for (int i = 0; i < 3; i++) {
		if (cuda_copy_up(ctx, d, data, 2 * n * size) || cuda_wait(ctx))
			die("copy failed");
		t = now();
		if (cuda_launch(ctx, kernel, (n + 255) / 256, 256, 0,
				(void *[]){ &d, &n32, &rounds }) || cuda_wait(ctx))
			die("the peak failed");
		t = now() - t;
		if (i && t < best)
			best = t;
	}
	if (fp) {
		memcpy(p, data + (2 * n - 2) * size, 2 * size);
		p[2] = p[0];
		for (uint32_t i = 0; i < rounds; i++) {
			fp_mul(&p[0], &p[0], &p[2]);
			fp_mul(&p[1], &p[1], &p[2]);
		}
	} else {
		memcpy(r, data + (2 * n - 2) * size, 2 * size);
		r[2] = r[0];
		for (uint32_t i = 0; i < rounds; i++) {
			fr_mul(&r[0], &r[0], &r[2]);
			fr_mul(&r[1], &r[1], &r[2]);
		}
	}
	if (cuda_copy_down(ctx, data, d + (2 * n - 2) * size, 2 * size))
		die("copy failed");
	good = !memcmp(data, fp ? (void *)p : (void *)r, 2 * size);
	printf("peak: products in %s: %.1f G/s, result %s\n", fp ? "Fp" : "Fr",
	       2e-9 * n * rounds / best, good ? "right" : "WRONG");
	if (!good)
		exit(1);
	cuda_free(ctx, d);
	free(data);
	return 2.0 * n * rounds / best;
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

/*
 * Products that Pippenger's method with signed digits and affine additions in
 * batches cannot do without, whatever the window: as tools/bench-bulk.c.
 */
static double sum_products(enum cuda_group group, double n)
{
	double best = 0, adds;

	for (unsigned int c = 4; c < 24; c++) {
		adds = (255 + c) / c * (n + (double)(1ull << c));
		if (c == 4 || adds < best)
			best = adds;
	}
	return best * (group == CUDA_G1 ? 6 : 17);
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
		if (cuda_side_msm(gpu, group, p, s, 0, n, out))
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
	printf("msm %s 2^%u random: %.2f ms, %.1f M points/s, %s, result %s\n",
	       group == CUDA_G1 ? "g1" : "g2", log_n, best * 1e3, n / best * 1e-6,
	       share(sum_products(group, n), best, peak.fp), good ? "right" : "WRONG");
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

/* From a and b on the device; with points in powers six transforms, rearranged four. */
static void bench_quotient(struct cuda_ntt *ntt, const CUdeviceptr d[3], unsigned int log_n,
			   int repeat, enum gpu_h_basis basis)
{
	double best = 1e9, products = (double)(1ull << log_n) / 2 * log_n, t;
	bool four = basis == GPU_H_COSET;

	for (int i = 0; i <= repeat; i++) {
		t = now();
		if (cuda_quotient(ntt, d[0], d[1], d[2], log_n, basis))
			die("quotient failed");
		cuda_wait(ctx);
		t = now() - t;
		if (i && t < best)
			best = t;
	}
	printf("quotient 2^%u, %s: %.2f ms, %s\n", log_n, four ? "four transforms" : "six transforms",
	       best * 1e3, share((four ? 4 : 6) * products, best, peak.fr));
	profile_start();
	cuda_quotient(ntt, d[0], d[1], d[2], log_n, basis);
	profile_print();
}

static void bench_ntt(unsigned int log_n, int repeat)
{
	uint64_t n = 1ull << log_n;
	struct cuda_ntt *ntt;
	CUdeviceptr d[3];
	double best[2] = { 1e9, 1e9 }, t;
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
	printf("ntt 2^%u: dif %.3f ms, %s", log_n, best[0] * 1e3,
	       share(n / 2 * log_n, best[0], peak.fr));
	printf("; dit %.3f ms, %s; round trip right\n", best[1] * 1e3,
	       share(n / 2 * log_n, best[1], peak.fr));
	bench_quotient(ntt, d, log_n, repeat, GPU_H_POWERS);
	bench_quotient(ntt, d, log_n, repeat, GPU_H_COSET);
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
static bool transform_good(const struct g1_affine *in, const struct g1_affine *out,
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

static void bench_transform(unsigned int log_n)
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
	good = transform_good(in, out, log_n, &FR_GENERATOR, &FR_ROOT_5);
	printf("transform g1 2^%u: %.2f ms, %.2f M products/s, result %s\n", log_n, t * 1e3,
	       n / 2 * log_n / t * 1e-6, good ? "right" : "WRONG");
	if (!good)
		exit(1);
	profile_print();
	free(in);
	free(out);
	fflush(stdout);
}

static void bench_transforms(unsigned int log_most)
{
	for (unsigned int l = log_most < 16 ? log_most : 16; l <= log_most; l += 2)
		bench_transform(l);
}

/* The host's quotient of the same vectors, of a size at which that takes no time. */
static void check_quotient(unsigned int log_n)
{
	struct gpu_config host_config = { .size = sizeof(host_config) };
	uint64_t n = 1ull << log_n;
	struct fr *v = malloc(6 * n * sizeof(*v));
	struct gpu *host;
	char err[256];

	if (!v)
		die("out of memory");
	if (gpu_cpu_ops.open(&host, &host_config, err))
		die(err);
	for (uint64_t i = 0; i < 2 * n; i++)
		random_limbs(v[i].l, 4, 0x73eda753299d7d48ull);
	memcpy(v + 2 * n, v, 2 * n * sizeof(*v));
	if (gpu_cuda_ops()->quotient(gpu, v, v + n, log_n, GPU_H_POWERS,
				     (struct scalar *)(v + 4 * n)) ||
	    gpu_cpu_ops.quotient(host, v + 2 * n, v + 3 * n, log_n, GPU_H_POWERS,
				 (struct scalar *)(v + 5 * n)) ||
	    memcmp(v + 4 * n, v + 5 * n, (n - 1) * sizeof(*v)))
		die("the quotient is WRONG");
	printf("quotient 2^%u: result right\n", log_n);
	gpu_cpu_ops.close(host);
	free(v);
}

int device_kernels_cuda(const struct device_sizes *sizes, const struct gpu_config *config)
{
	char err[256];

	if (gpu_cuda_ops()->open(&gpu, config, err))
		return ctl_fail("kernels", "%s", err);
	ctx = gpu->ctx;
	peak.fr = bench_peak(false);
	peak.fp = bench_peak(true);
	make_points();
	for (unsigned int l = sizes->ntt < 20 ? sizes->ntt : 20; l <= sizes->ntt;
	     l += l < 24 ? 4 : 3)
		bench_ntt(l, 3);
	for (unsigned int l = sizes->g1 < 16 ? sizes->g1 : 16; l <= sizes->g1;
	     l += l < 24 ? 4 : l < 26 ? 2 : 1)
		bench_msm(CUDA_G1, l, 2);
	for (unsigned int l = sizes->g2 < 16 ? sizes->g2 : 16; l <= sizes->g2; l += 3)
		bench_msm(CUDA_G2, l, 2);
	check_quotient(sizes->ntt < 16 ? sizes->ntt : 16);
	if (sizes->transform)
		bench_transforms(sizes->transform);
	gpu_cuda_ops()->close(gpu);
	return 0;
}
