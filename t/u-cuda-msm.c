/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * u-cuda-msm.c - sums on the device, or on the emulated one, against the plain
 * double-and-add of lib/bls12_381
 */
#include <errno.h>

#include "gpu/cuda/msm_work.h"
#include "lib/bls12_381/g1.h"
#include "lib/bls12_381/g2.h"
#include "t/tap.h"

static struct cuda_ctx *ctx;
static uint64_t rng_state = 88172645463325252ull;

static uint64_t rng(void)
{
	rng_state ^= rng_state << 13;
	rng_state ^= rng_state >> 7;
	rng_state ^= rng_state << 17;
	return rng_state;
}

static void random_scalar(struct scalar *s)
{
	do {
		for (int i = 0; i < 4; i++)
			s->l[i] = rng();
		s->l[3] >>= 1;
	} while (!scalar_is_canonical(s));
}

enum mix { RANDOM, SMALL, EQUAL, EXTREME, MIDDLE, MIX_COUNT };
static const char *const mix_names[] = {
	"random", "0, 1 and 2", "all equal", "near 0 and r", "near r/2",
};

static void make_scalars(struct scalar *s, size_t n, enum mix mix)
{
	struct scalar one;
	struct fr minus;
	size_t i;

	random_scalar(&one);
	for (i = 0; i < n; i++) {
		memset(&s[i], 0, sizeof(s[i]));
		switch (mix) {
		case RANDOM:
			random_scalar(&s[i]);
			break;
		case SMALL:
			s[i].l[0] = rng() % 3;
			break;
		case EQUAL:
			s[i] = one;
			break;
		default:
			fr_from_u64(&minus, rng() % 4);
			if (rng() & 1)
				fr_neg(&minus, &minus);
			/* near r/2, where no negation makes them smaller */
			if (mix == MIDDLE) {
				struct fr half;

				fr_from_u64(&half, 2);
				fr_inv_vartime(&half, &half);
				fr_add(&minus, &minus, &half);
			}
			fr_to_scalar(&s[i], &minus);
		}
	}
}

static CUdeviceptr up(const void *data, size_t bytes)
{
	CUdeviceptr p;

	if (cuda_alloc(ctx, &p, bytes) || cuda_copy_up(ctx, p, data, bytes))
		return 0;
	return p;
}

/* The same sum with its points in pieces, of which the last may be short. */
static bool sum_in_pieces(CUdeviceptr points, CUdeviceptr scalars, size_t n, size_t piece,
			  const struct g1 *want)
{
	struct cuda_pieces p;
	struct g1_affine got;
	struct g1 t;
	size_t i;
	int r;

	r = cuda_pieces_open(&p, ctx, n, piece);
	if (r)
		return false;
	for (i = 0; i < n && !r; i += piece)
		r = cuda_pieces_add(&p, ctx, points + i * sizeof(got),
				    scalars + i * sizeof(struct scalar),
				    n - i < piece ? n - i : piece);
	if (!r)
		r = cuda_pieces_sum(&p, ctx, &got);
	cuda_pieces_close(&p, ctx);
	if (r)
		return false;
	g1_from_affine(&t, &got);
	return g1_equal(&t, want);
}

/* Points with repeats, negatives and infinity among them. */
static void test_g1(size_t n, enum mix mix)
{
	struct g1_affine *points = calloc(n + 1, sizeof(*points)), got;
	struct scalar *scalars = calloc(n + 1, sizeof(*scalars));
	struct g1 want, t;
	CUdeviceptr p, s;
	size_t i;
	int r;

	g1_set_infinity(&want);
	make_scalars(scalars, n, mix);
	for (i = 0; i < n; i++) {
		struct scalar k = { { rng() % 1000 } };

		if (i >= 4 && i % 7 == 0) {
			points[i] = points[i - 3];
			if (i & 1)
				g1_affine_neg(&points[i], &points[i]);
		} else if (i % 31 != 30) {
			g1_mul_vartime(&t, &G1_GENERATOR, &k);
			g1_to_affine(&points[i], &t);
		}
		g1_mul_vartime(&t, &points[i], &scalars[i]);
		g1_add(&want, &want, &t);
	}
	p = up(points, (n + 1) * sizeof(*points));
	s = up(scalars, (n + 1) * sizeof(*scalars));
	r = cuda_msm(ctx, CUDA_G1, p, s, 0, n, &got);
	g1_from_affine(&t, &got);
	ok(r == 0 && g1_equal(&t, &want), "g1 msm of %zu, scalars %s", n, mix_names[mix]);
	ok(sum_in_pieces(p, s, n, n / 3 + 1, &want) && sum_in_pieces(p, s, n, n + 1, &want),
	   "and in pieces");
	cuda_free(ctx, p);
	cuda_free(ctx, s);
	free(points);
	free(scalars);
}

static void test_g2(size_t n, enum mix mix)
{
	struct g2_affine *points = calloc(n + 1, sizeof(*points)), got;
	struct scalar *scalars = calloc(n + 1, sizeof(*scalars));
	struct g2 want, t;
	CUdeviceptr p, s;
	size_t i;
	int r;

	g2_set_infinity(&want);
	make_scalars(scalars, n, mix);
	for (i = 0; i < n; i++) {
		struct scalar k = { { rng() % 1000 } };

		if (i >= 4 && i % 7 == 0) {
			points[i] = points[i - 3];
			if (i & 1)
				g2_affine_neg(&points[i], &points[i]);
		} else if (i % 31 != 30) {
			g2_mul_vartime(&t, &G2_GENERATOR, &k);
			g2_to_affine(&points[i], &t);
		}
		g2_mul_vartime(&t, &points[i], &scalars[i]);
		g2_add(&want, &want, &t);
	}
	p = up(points, (n + 1) * sizeof(*points));
	s = up(scalars, (n + 1) * sizeof(*scalars));
	r = cuda_msm(ctx, CUDA_G2, p, s, 0, n, &got);
	g2_from_affine(&t, &got);
	ok(r == 0 && g2_equal(&t, &want), "g2 msm of %zu, scalars %s", n, mix_names[mix]);
	cuda_free(ctx, p);
	cuda_free(ctx, s);
	free(points);
	free(scalars);
}

/* n points of G1 with scalars cut so: what is largest in the windows, and anything. */
static void test_cut(size_t n, const struct msm_cut *cut)
{
	struct g1_affine *points = calloc(n, sizeof(*points)), got;
	struct scalar *scalars = calloc(n, sizeof(*scalars));
	struct cuda_windows w;
	struct g1 want, t;
	CUdeviceptr p, s;
	size_t i;
	int r;

	g1_set_infinity(&want);
	make_scalars(scalars, n, MIDDLE);
	make_scalars(scalars, n / 2, RANDOM);
	make_scalars(scalars, n / 4, EXTREME);
	for (i = 0; i < n; i++) {
		struct scalar k = { { i + 1 } };

		g1_mul_vartime(&t, &G1_GENERATOR, &k);
		g1_to_affine(&points[i], &t);
		g1_mul_vartime(&t, &points[i], &scalars[i]);
		g1_add(&want, &want, &t);
	}
	p = up(points, n * sizeof(*points));
	s = up(scalars, n * sizeof(*scalars));
	r = msm_windows_open(&w, ctx, CUDA_G1, p, s, 0, (uint32_t)n, 1, cut);
	if (!r) {
		r = cuda_windows_work(&w, ctx);
		if (!r)
			r = cuda_windows_sum(&w, &got);
		cuda_windows_close(&w, ctx);
	}
	g1_from_affine(&t, &got);
	ok(r == 0 && g1_equal(&t, &want), "g1 msm of %zu in %d windows, %d of %d bits and the rest of %d", n,
	   cut->windows, cut->wide, cut->c, cut->c - 1);
	cuda_free(ctx, p);
	cuda_free(ctx, s);
	free(points);
	free(scalars);
}

static void test_cuts(void)
{
	int c, good = 0;

	for (c = 4; c <= 10; c++) {
		struct msm_cut cut = { .c = c, .windows = (MSM_SCALAR_BITS + c - 1) / c };

		cut.wide = cut.windows;
		test_cut(40, &cut);
		/* as many narrow ones as leave no bit over, if that many windows are needed */
		cut.wide = MSM_SCALAR_BITS - cut.windows * (c - 1);
		if (cut.wide > 0 && cut.wide < cut.windows && c > 4)
			test_cut(40, &cut);
	}
	for (c = 0; c < 31; c++) {
		struct msm_cut cut = msm_choose_cut(UINT64_C(1) << c);

		good += cut.windows <= MSM_MAX_WINDOWS && cut.c <= MSM_MAX_WINDOW && cut.wide > 0 &&
			cut.wide <= cut.windows &&
			cut.windows * (cut.c - 1) + cut.wide >= MSM_SCALAR_BITS;
	}
	ok(good == 31, "sums of any length are cut into windows that hold a scalar");
	test_cut(100, &(struct msm_cut){ .c = 15, .windows = 17, .wide = 17 });
}

/* Indexed points, and the plain sum with signs. */
static void test_index(size_t n)
{
	struct g1_affine *points = calloc(n, sizeof(*points)), got;
	struct scalar *scalars = calloc(n, sizeof(*scalars));
	uint32_t *index = calloc(n, sizeof(*index));
	CUdeviceptr p, s, x;
	struct g1 want, t;
	size_t i;
	int r;

	make_scalars(scalars, n, RANDOM);
	for (i = 0; i < n; i++) {
		struct scalar k = { { i + 1 } };

		g1_mul_vartime(&t, &G1_GENERATOR, &k);
		g1_to_affine(&points[i], &t);
		index[i] = rng() % n;
	}
	g1_set_infinity(&want);
	for (i = 0; i < n; i++) {
		g1_mul_vartime(&t, &points[index[i]], &scalars[i]);
		g1_add(&want, &want, &t);
	}
	p = up(points, n * sizeof(*points));
	s = up(scalars, n * sizeof(*scalars));
	x = up(index, n * sizeof(*index));
	r = cuda_msm(ctx, CUDA_G1, p, s, x, n, &got);
	g1_from_affine(&t, &got);
	ok(r == 0 && g1_equal(&t, &want), "g1 msm of %zu by index", n);

	g1_set_infinity(&want);
	for (i = 0; i < n; i++) {
		struct g1_affine a = points[index[i]];

		if (i % 3 == 0) {
			g1_affine_neg(&a, &a);
			index[i] |= 0x80000000u;
		}
		g1_add_affine(&want, &want, &a);
	}
	cuda_free(ctx, x);
	x = up(index, n * sizeof(*index));
	r = cuda_sum(ctx, CUDA_G1, p, x, n, &got);
	g1_from_affine(&t, &got);
	ok(r == 0 && g1_equal(&t, &want), "g1 sum of %zu with signs", n);
	cuda_free(ctx, p);
	cuda_free(ctx, s);
	cuda_free(ctx, x);
	free(points);
	free(scalars);
	free(index);
}

/* Lists of several lengths, empty ones and ones with signs among them, at once. */
enum lengths { SHRINKING, EACH };	/* parts of n, some empty; each up to n */

static void test_lists(size_t n, unsigned int k, enum lengths lengths)
{
	struct g1_affine *points = calloc(n, sizeof(*points)), got[CUDA_LISTS];
	uint32_t *index = calloc(n, sizeof(*index));
	CUdeviceptr p, x[CUDA_LISTS];
	struct g1 want[CUDA_LISTS], t;
	uint64_t len[CUDA_LISTS];
	unsigned int j, good = 0;
	size_t i;
	int r;

	for (i = 0; i < n; i++) {
		struct scalar s = { { i + 1 } };

		g1_mul_vartime(&t, &G1_GENERATOR, &s);
		g1_to_affine(&points[i], &t);
	}
	p = up(points, n * sizeof(*points));
	for (j = 0; j < k; j++) {
		len[j] = lengths == EACH ? n - k + 1 + j : j % 4 == 1 ? 0 : n / (j + 1);
		g1_set_infinity(&want[j]);
		for (i = 0; i < len[j]; i++) {
			struct g1_affine a;

			index[i] = rng() % n;
			a = points[index[i]];
			if (rng() % 2) {
				g1_affine_neg(&a, &a);
				index[i] |= 0x80000000u;
			}
			g1_add_affine(&want[j], &want[j], &a);
		}
		x[j] = up(index, n * sizeof(*index));
	}
	r = cuda_sum_lists(ctx, CUDA_G1, p, k, x, len, got);
	for (j = 0; j < k && !r; j++) {
		g1_from_affine(&t, &got[j]);
		good += g1_equal(&t, &want[j]);
		cuda_free(ctx, x[j]);
	}
	ok(r == 0 && good == k, "%u sums over %s %zu points at once", k,
	   lengths == EACH ? "up to" : "parts of", n);
	cuda_free(ctx, p);
	free(points);
	free(index);
}

/* Sums with scalars over the same points at once, by index and without. */
static void test_msm_lists(size_t n, unsigned int k)
{
	struct g1_affine *points = calloc(n, sizeof(*points)), got[CUDA_LISTS];
	struct scalar *scalars = calloc(n, sizeof(*scalars));
	uint32_t *index = calloc(n, sizeof(*index));
	CUdeviceptr p, x, s[CUDA_LISTS];
	unsigned int j, good = 0;
	struct g1 want[CUDA_LISTS][2], t;
	size_t i;
	int r;

	for (i = 0; i < n; i++) {
		struct scalar e = { { i + 1 } };

		g1_mul_vartime(&t, &G1_GENERATOR, &e);
		g1_to_affine(&points[i], &t);
		index[i] = rng() % n;
	}
	p = up(points, n * sizeof(*points));
	x = up(index, n * sizeof(*index));
	for (j = 0; j < k; j++) {
		make_scalars(scalars, n, j % MIX_COUNT);
		s[j] = up(scalars, n * sizeof(*scalars));
		g1_set_infinity(&want[j][0]);
		g1_set_infinity(&want[j][1]);
		for (i = 0; i < n; i++) {
			g1_mul_vartime(&t, &points[i], &scalars[i]);
			g1_add(&want[j][0], &want[j][0], &t);
			g1_mul_vartime(&t, &points[index[i]], &scalars[i]);
			g1_add(&want[j][1], &want[j][1], &t);
		}
	}
	for (i = 0; i < 2; i++) {
		r = cuda_msm_lists(ctx, CUDA_G1, p, k, s, i ? x : 0, n, got);
		for (j = 0; j < k && !r; j++) {
			g1_from_affine(&t, &got[j]);
			good += g1_equal(&t, &want[j][i]);
		}
	}
	ok(good == 2 * k, "%u msm over %zu points at once", k, n);
	for (j = 0; j < k; j++)
		cuda_free(ctx, s[j]);
	cuda_free(ctx, p);
	cuda_free(ctx, x);
	free(points);
	free(scalars);
	free(index);
}

/*
 * Buckets to sums, halved before from so many on.  Neighbours are equal, opposite or
 * infinite here and there.
 */
static bool buckets_good_g1(uint32_t n, uint32_t count, uint64_t least, bool *halved)
{
	struct g1_affine *b = calloc((size_t)n * count, sizeof(*b));
	struct g1_xyzz *sums = aligned_alloc(16, count * sizeof(*sums));
	uint64_t before = ctx->halve_least;
	uint32_t w, i, good = 0;
	struct g1 t, run, want;
	CUdeviceptr p;
	int r;

	for (i = 0; i < n * count; i++) {
		struct scalar k = { { rng() % 1000 + 1 } };

		if (i % 11 == 5)
			continue;
		g1_mul_vartime(&t, &G1_GENERATOR, &k);
		g1_to_affine(&b[i], &t);
		if (i % 5 == 3) {
			b[i] = b[i - 1];
			if (i % 2)
				g1_affine_neg(&b[i], &b[i]);
		}
	}
	p = up(b, (size_t)n * count * sizeof(*b));
	ctx->halve_least = least;
	ctx->profile = true;
	ctx->kernel_ns[KERNEL_msm_evens_g1] = 0;
	r = msm_sum_buckets(ctx, CUDA_G1, p, n, count, (uint8_t *)sums);
	ctx->halve_least = before;
	ctx->profile = false;
	*halved = ctx->kernel_ns[KERNEL_msm_evens_g1] > 0;
	for (w = 0; w < count && !r; w++) {
		g1_set_infinity(&run);
		g1_set_infinity(&want);
		for (i = n; i-- > 0;) {
			g1_add_affine(&run, &run, &b[(size_t)w * n + i]);
			g1_add(&want, &want, &run);
		}
		g1_from_xyzz(&t, &sums[w]);
		good += g1_equal(&t, &want);
	}
	cuda_free(ctx, p);
	free(b);
	free(sums);
	return r == 0 && good == count;
}

static void test_buckets_g1(uint32_t n, uint32_t count, uint64_t least, bool want)
{
	bool halved;

	ok(buckets_good_g1(n, count, least, &halved) && halved == want,
	   "g1: %u buckets of %u windows, %shalved", n, count, want ? "" : "not ");
}

static void test_buckets_g2(uint32_t n, uint32_t count, uint64_t least)
{
	struct g2_affine *b = calloc((size_t)n * count, sizeof(*b));
	struct g2_xyzz *sums = aligned_alloc(16, count * sizeof(*sums));
	uint64_t before = ctx->halve_least;
	uint32_t w, i, good = 0;
	struct g2 t, run, want;
	CUdeviceptr p;
	int r;

	for (i = 0; i < n * count; i++) {
		struct scalar k = { { rng() % 1000 + 1 } };

		if (i % 11 == 5)
			continue;
		g2_mul_vartime(&t, &G2_GENERATOR, &k);
		g2_to_affine(&b[i], &t);
		if (i % 5 == 3) {
			b[i] = b[i - 1];
			if (i % 2)
				g2_affine_neg(&b[i], &b[i]);
		}
	}
	p = up(b, (size_t)n * count * sizeof(*b));
	ctx->halve_least = least;
	r = msm_sum_buckets(ctx, CUDA_G2, p, n, count, (uint8_t *)sums);
	ctx->halve_least = before;
	for (w = 0; w < count && !r; w++) {
		g2_set_infinity(&run);
		g2_set_infinity(&want);
		for (i = n; i-- > 0;) {
			g2_add_affine(&run, &run, &b[(size_t)w * n + i]);
			g2_add(&want, &want, &run);
		}
		g2_from_xyzz(&t, &sums[w]);
		good += g2_equal(&t, &want);
	}
	ok(r == 0 && good == count, "g2: %u buckets of %u windows, halved from %llu on", n, count,
	   (unsigned long long)least);
	cuda_free(ctx, p);
	free(b);
	free(sums);
}

/* Without memory to halve in, running sums alone: the same sums. */
static void test_buckets_tight(void)
{
	uint64_t room = cuda_arena_largest(ctx->arena), kib;
	bool halved = true, good = true;

	/* 2^12 buckets: 384 KiB of points, 970 to halve them, 720 for their sums */
	for (kib = 1500; kib > 1000 && halved && good; kib -= 50) {
		CUdeviceptr held = 0;

		good = cuda_alloc(ctx, &held, (room - (kib << 10)) & ~(uint64_t)4095) == 0 &&
		       buckets_good_g1(1u << 12, 1, 64, &halved);
		cuda_free(ctx, held);
	}
	ok(good && !halved, "g1: buckets without memory to halve them");
}

static void test_buckets(void)
{
	static const struct {
		uint32_t n, count;
		uint64_t least;
		bool halved;
	} cases[] = {
		{ 8, 1, 1, false }, { 16, 3, 1, false }, { 32, 1, 1, true }, { 32, 3, 1, true },
		{ 256, 5, 1, true }, { 256, 2, 512, true }, { 256, 2, 513, false },
		{ 1024, 1, 1000, true }, { 2048, 2, 1, true }, { 2048, 2, UINT64_MAX, false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		test_buckets_g1(cases[i].n, cases[i].count, cases[i].least, cases[i].halved);
		if (cases[i].n <= 256)
			test_buckets_g2(cases[i].n, cases[i].count, cases[i].least);
	}
	test_buckets_tight();
}

/* A pass of the sort over one digit: in order, and stable; nothing is written behind the end. */
static void test_sort(uint32_t n, uint32_t digits)
{
	uint32_t tiles = (n + SORT_TILE - 1) / SORT_TILE, i, at, d;
	uint32_t *keys = calloc(n + 1, 4), *values = calloc(n + 1, 4), *sorted = calloc(n + 1, 4);
	uint32_t *places = calloc(n + 1, 4);
	CUdeviceptr k, v, to_k, to_v, counts, scratch;
	int shift = 8, good = 1, r;

	for (i = 0; i < n; i++) {
		/* digit 255 among them: items behind the end count as such */
		keys[i] = (uint32_t)rng() & ~0xff00u;
		keys[i] |= (255 - (uint32_t)(rng() % digits)) << shift;
		values[i] = i;
	}
	sorted[n] = places[n] = 0x5a5a5a5a;
	k = up(keys, 4 * n + 4);
	v = up(values, 4 * n + 4);
	to_k = up(sorted, 4 * n + 4);
	to_v = up(places, 4 * n + 4);
	r = cuda_alloc(ctx, &counts, 4 * (256ull * tiles + 1)) ||
	    cuda_alloc(ctx, &scratch, 4 * cuda_scan_scratch(256 * tiles)) ||
	    cuda_launch(ctx, KERNEL_sort_count, tiles, SORT_THREADS, 0,
			(void *[]){ &k, &n, &shift, &counts }) ||
	    cuda_scan(ctx, counts, counts, 256 * tiles, scratch) ||
	    cuda_launch(ctx, KERNEL_sort_scatter, tiles, SORT_THREADS, 0,
			(void *[]){ &k, &v, &n, &shift, &counts, &to_k, &to_v }) ||
	    cuda_copy_down(ctx, sorted, to_k, 4 * n + 4) ||
	    cuda_copy_down(ctx, places, to_v, 4 * n + 4);
	for (at = d = 0; d < 256; d++)
		for (i = 0; i < n; i++)
			if ((keys[i] >> shift & 0xff) == d) {
				good &= sorted[at] == keys[i] && places[at] == i;
				at++;
			}
	ok(r == 0 && good && at == n, "%u pairs of %u digits are sorted", n, digits);
	ok(sorted[n] == 0x5a5a5a5a && places[n] == 0x5a5a5a5a, "and no more");
	cuda_free(ctx, k);
	cuda_free(ctx, v);
	cuda_free(ctx, to_k);
	cuda_free(ctx, to_v);
	cuda_free(ctx, counts);
	cuda_free(ctx, scratch);
	free(keys);
	free(values);
	free(sorted);
	free(places);
}

static void print_log(void *arg, int priority, const char *line)
{
	diag("%s", line);
}

int main(void)
{
	static const size_t sizes[] = { 0, 1, 2, 3, 31, 100, 700 };
	struct gpu_config config = { .size = sizeof(config), .log = print_log };
	uint64_t used;
	char err[256];
	int r;

	r = cuda_ctx_open(&ctx, &config, err);
	if (r == -ENOSYS || r == -ENODEV) {
		skip("gpu", err);
		return tap_done();
	}
	if (!ok(r == 0, "device opens%s%s", r ? ": " : "", r ? err : ""))
		return tap_done();
	used = cuda_arena_used(ctx->arena);
	test_sort(1, 256);
	test_sort(SORT_TILE - 1, 2);
	test_sort(SORT_TILE, 256);
	test_sort(3 * SORT_TILE + 17, 256);
	test_sort(2 * SORT_TILE + 1, 1);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		for (int m = 0; m < MIX_COUNT; m++)
			test_g1(sizes[i], m);
	test_cuts();
	test_g1(5000, RANDOM);
	test_buckets();
	ctx->halve_least = 1;
	test_g1(700, RANDOM);
	test_g1(700, MIDDLE);
	test_g2(100, RANDOM);
	ctx->halve_least = CUDA_HALVE_LEAST;
	test_g2(1, RANDOM);
	test_g2(100, RANDOM);
	test_g2(100, SMALL);
	test_g2(50, EQUAL);
	test_index(600);
	test_lists(1, 1, SHRINKING);
	test_lists(300, 3, SHRINKING);
	test_lists(200, CUDA_LISTS, SHRINKING);
	/* each length: what is odd is left in some round and taken in a later one */
	for (size_t n = CUDA_LISTS - 1; n < 4 * CUDA_LISTS; n += CUDA_LISTS)
		test_lists(n, CUDA_LISTS, EACH);
	test_msm_lists(1, 1);
	test_msm_lists(60, 5);
	ok(cuda_arena_used(ctx->arena) == used, "no device memory is left behind");
	cuda_ctx_close(ctx);
	return tap_done();
}
