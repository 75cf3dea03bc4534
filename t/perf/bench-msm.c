/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * bench-msm.c - sums of multiples of points, beside blst in the same run
 *
 *	bench-msm [LOG_N_G1 [LOG_N_G2 [THREADS]]]
 *
 * Prints for each path the processor time of one thread (wall time of more), the
 * best of three runs, and the ratio to blst; every result is compared.
 */
#include <time.h>

#include "gpu/cpu/msm_impl.h"
#include "t/blst.h"

union affine {
	struct g1_affine g1;
	struct g2_affine g2;
};

union point {
	struct g1 g1;
	struct g2 g2;
};

static uint64_t seed = 1;

static uint64_t rnd(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static double now_ms(unsigned int threads)
{
	struct timespec t;

	clock_gettime(threads > 1 ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1e3 + t.tv_nsec * 1e-6;
}

struct bench {
	enum msm_group group;
	struct tpool *pool;
	size_t n, size;
	uint8_t *encoded;	/* the points, zcash */
	uint8_t *affine;
	struct scalar *scalar;
	double blst_ms;
	union affine want;
};

/* n random multiples of the generator, made by msm_base */
static void make_points(struct bench *b)
{
	struct msm_points *set;
	size_t i;
	double ms = now_ms(2);
	int k, err;

	for (i = 0; i < b->n; i++) {
		for (k = 0; k < 4; k++)
			b->scalar[i].l[k] = rnd();
		b->scalar[i].l[3] %= 0x73eda753299d7d48;
	}
	err = b->group == MSM_G1 ?
	      msm_base_g1(b->pool, MSM_PATH_AUTO, &G1_GENERATOR, b->scalar, b->n,
			  (uint8_t (*)[96])b->encoded) :
	      msm_base_g2(b->pool, MSM_PATH_AUTO, &G2_GENERATOR, b->scalar, b->n,
			  (uint8_t (*)[192])b->encoded);
	if (err)
		exit(1);
	ms = now_ms(2) - ms;
	printf("  %zu multiples of the generator, %u threads, wall: %.1f ms, %.2f us each\n", b->n,
	       tpool_threads(b->pool), ms, ms * 1e3 / b->n);
	if (msm_points_open(&set, b->group, MSM_PATH_PORTABLE, b->n, b->affine) ||
	    msm_points_fill(b->pool, set, 0, b->encoded, b->n, MSM_ZCASH, MSM_CHECK_CURVE, NULL))
		exit(1);
	msm_points_close(set);
}

static void run_blst(struct bench *b)
{
	const void *points[2] = { b->affine, NULL }, *scalars[2] = { b->scalar, NULL };
	const char *g = b->group == MSM_G1 ? "p1" : "p2";
	size_t (*scratch)(size_t);
	void (*sum)(void *, const void *const *, size_t, const void *const *, size_t, void *);
	void (*to_affine)(void *, const void *);
	char name[64];
	union point p;
	void *mem;
	int i;

	snprintf(name, sizeof(name), "blst_%ss_mult_pippenger", g);
	*(void **)&sum = blst_symbol(name);
	snprintf(name, sizeof(name), "blst_%ss_mult_pippenger_scratch_sizeof", g);
	*(void **)&scratch = blst_symbol(name);
	snprintf(name, sizeof(name), "blst_%s_to_affine", g);
	*(void **)&to_affine = blst_symbol(name);
	mem = malloc(scratch(b->n));
	for (i = 0; i < 3; i++) {
		double ms = now_ms(1);

		sum(&p, points, b->n, scalars, 255, mem);
		ms = now_ms(1) - ms;
		if (!i || ms < b->blst_ms)
			b->blst_ms = ms;
	}
	free(mem);
	to_affine(&b->want, &p);
	printf("  blst, 1 thread: %.1f ms\n", b->blst_ms);
}

static int run_path(struct bench *b, enum msm_path path, struct tpool *pool)
{
	unsigned int threads = tpool_threads(pool);
	struct msm_scalars what = { .scalar = b->scalar, .n = b->n };
	struct msm_points *set;
	union affine out;
	double best = 0, ms;
	bool equal = true;
	int i;

	if (!msm_path_available(path))
		return 0;
	ms = now_ms(threads);
	if (msm_points_open(&set, b->group, path, b->n, NULL) ||
	    msm_points_fill(pool, set, 0, b->encoded, b->n, MSM_ZCASH, MSM_CHECK_CURVE, NULL))
		exit(1);
	ms = now_ms(threads) - ms;
	printf("  %s, %u thread%s: decode and check %.3f us a point; ",
	       path == MSM_PATH_IFMA ? "ifma" : "portable", threads, threads == 1 ? "" : "s",
	       ms * 1e3 / b->n);
	for (i = 0; i < 3; i++) {
		ms = now_ms(threads);
		if (msm_run(pool, set, &what, 0, &out))
			exit(1);
		ms = now_ms(threads) - ms;
		if (!i || ms < best)
			best = ms;
		if (b->blst_ms)
			equal &= !memcmp(&out, &b->want, b->size);
	}
	printf("sum %.1f ms, %.0f k points/s", best, b->n / best);
	if (b->blst_ms)
		printf(", %.2f x blst's thread, %s", b->blst_ms / best, equal ? "equal" : "WRONG");
	printf("\n");
	msm_points_close(set);
	return equal ? 0 : 1;
}

static int bench(enum msm_group group, unsigned int log_n, struct tpool *pool, bool blst)
{
	struct bench b = { .group = group, .pool = pool, .n = (size_t)1 << log_n };
	int failed = 0;

	b.size = group == MSM_G1 ? sizeof(struct g1_affine) : sizeof(struct g2_affine);
	b.encoded = aligned_alloc(64, b.n * b.size);
	b.affine = aligned_alloc(64, b.n * b.size);
	b.scalar = malloc(b.n * sizeof(*b.scalar));
	if (!b.encoded || !b.affine || !b.scalar)
		exit(1);
	printf("%s, 2^%u points\n", group == MSM_G1 ? "G1" : "G2", log_n);
	make_points(&b);
	if (blst)
		run_blst(&b);
	failed |= run_path(&b, MSM_PATH_PORTABLE, NULL);
	failed |= run_path(&b, MSM_PATH_IFMA, NULL);
	if (tpool_threads(pool) > 1)
		failed |= run_path(&b, MSM_PATH_IFMA, pool);
	free(b.encoded);
	free(b.affine);
	free(b.scalar);
	return failed;
}

int main(int argc, char **argv)
{
	unsigned int log_g1 = argc > 1 ? atoi(argv[1]) : 16, log_g2 = argc > 2 ? atoi(argv[2]) : 14;
	struct tpool *pool = NULL;
	bool blst = blst_open();
	int failed = 0;

	if (log_g1 > 26 || log_g2 > 26) {
		fprintf(stderr, "bench-msm: at most 2^26 points\n");
		return 2;
	}
	if (!blst)
		printf("no blst to compare with: %s\n", blst_why_not);
	if (tpool_open(&pool, argc > 3 ? atoi(argv[3]) : 0))
		return 1;
	if (log_g1)
		failed |= bench(MSM_G1, log_g1, pool, blst);
	if (log_g2)
		failed |= bench(MSM_G2, log_g2, pool, blst);
	tpool_close(pool);
	return failed;
}
