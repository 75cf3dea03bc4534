/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * u-msm.c - multi-scalar multiplication on the host, on every path
 *
 * Points are known multiples of the generator, so the expected sum is one
 * product by a scalar that fr gives: it shares no code with what is tested.  blst is a
 * second reference.
 */
#include <errno.h>

#include "gpu/cpu/msm_impl.h"
#include "lib/bls12_381/encoding.h"
#include "t/blst.h"
#include "t/tap.h"

#define N 2500		/* points in a set: more than MSM_LISTS */

union affine {
	struct g1_affine g1;
	struct g2_affine g2;
};

union point {
	struct g1 g1;
	struct g2 g2;
};

static uint64_t seed = 0x9e3779b97f4a7c15;

static uint64_t rnd(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static void rnd_scalar(struct scalar *s)
{
	do {
		int k;

		for (k = 0; k < 4; k++)
			s->l[k] = rnd();
		s->l[3] >>= 1;
	} while (!scalar_is_canonical(s));
}

static const struct scalar r_minus_1 = { {
	0xffffffff00000000, 0x53bda402fffe5bfe, 0x3339d80809a1d805, 0x73eda753299d7d48
} };

/* One group on one path. */
struct setup {
	enum msm_group group;
	enum msm_path path;
	const struct msm_curve *curve;
	struct tpool *pool;
	struct msm_points *set;
	uint8_t *points;	/* affine */
	struct fr *log;		/* to the generator */
	char name[64];
};

static void mul_generator(const struct setup *t, void *affine, const struct fr *k)
{
	struct scalar s;
	union point p;

	fr_to_scalar(&s, k);
	if (t->group == MSM_G1)
		g1_mul_vartime(&p.g1, &G1_GENERATOR, &s);
	else
		g2_mul_vartime(&p.g2, &G2_GENERATOR, &s);
	t->curve->to_affine(affine, &p);
}

/* points[i] = log[i] generator, for small multiples that grow */
static void make_points(struct setup *t)
{
	const void *g = t->group == MSM_G1 ? (const void *)&G1_GENERATOR : &G2_GENERATOR;
	struct fr log = fr_zero;
	union point p;
	size_t i;

	t->curve->set_infinity(&p);
	for (i = 0; i < N; i++) {
		t->curve->add_affine(&p, &p, g);
		fr_add(&log, &log, &fr_one);
		if (i % 7 == 3) {
			t->curve->double_(&p, &p);
			fr_double(&log, &log);
		}
		t->curve->to_affine(t->points + i * t->curve->affine_size, &p);
		t->log[i] = log;
	}
}

static void set_point(struct setup *t, size_t i, const void *affine, const struct fr *log)
{
	memcpy(t->points + i * t->curve->affine_size, affine, t->curve->affine_size);
	t->log[i] = *log;
}

static void neg_point(const struct setup *t, void *affine)
{
	if (t->group == MSM_G1)
		g1_affine_neg(affine, affine);
	else
		g2_affine_neg(affine, affine);
}

static bool fill(struct setup *t)
{
	return msm_points_fill(t->pool, t->set, 0, t->points, N, MSM_AFFINE,
			       MSM_CHECK_CURVE, NULL) == 0;
}

/* Runs the sum and compares it with what the logarithms say. */
static bool check_windows(struct setup *t, const struct msm_scalars *what, unsigned int n_windows)
{
	struct fr sum = fr_zero, k;
	union affine want, got;
	size_t i, at;

	for (i = 0; i < what->n; i++) {
		at = what->index ? what->index[i] : what->first + i;
		fr_from_scalar(&k, &what->scalar[i]);
		fr_mul(&k, &k, &t->log[at]);
		fr_add(&sum, &sum, &k);
	}
	for (i = 0; what->ones && i < what->n_ones; i++)
		if (what->ones[i / 64] >> i % 64 & 1)
			fr_add(&sum, &sum, &t->log[what->ones_first + i]);
	mul_generator(t, &want, &sum);
	memset(&got, 0x55, sizeof(got));
	return msm_run(t->pool, t->set, what, n_windows, &got) == 0 &&
	       !memcmp(&got, &want, t->curve->affine_size);
}

static bool check(struct setup *t, const struct msm_scalars *what)
{
	return check_windows(t, what, 0);
}

static void test_sizes(struct setup *t, struct scalar *s)
{
	static const size_t sizes[] = { 0, 1, 2, 3, 7, 8, 9, 31, 64, 100, 1000, 2049, N };
	struct msm_scalars what = { .scalar = s };
	bool good = true;
	size_t i, at = 0;

	for (i = 0; i < N; i++)
		rnd_scalar(&s[i]);
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		what.n = sizes[i];
		what.first = i % 2 ? N - sizes[i] : 0;
		if (!check(t, &what)) {
			good = false;
			at = sizes[i];
		}
	}
	ok(good, "%s: random scalars of every size%s", t->name, good ? "" : " fail");
	if (!good)
		diag("size %zu", at);
}

static void test_windows(struct setup *t, struct scalar *s)
{
	struct msm_scalars what = { .scalar = s, .n = 300 };
	unsigned int w;
	bool good = true;

	for (w = 16; w <= MSM_MAX_WINDOWS; w += w < 20 ? 2 : w < 50 ? 11 : 1)
		if (!check_windows(t, &what, w)) {
			diag("%u windows", w);
			good = false;
		}
	ok(good, "%s: any number of windows", t->name);
	what.n = N;
	ok(check_windows(t, &what, 17) && check_windows(t, &what, 19),
	   "%s: windows of several blocks", t->name);
}

static void test_skew(struct setup *t, struct scalar *s)
{
	struct msm_scalars what = { .scalar = s, .n = N };
	size_t i;
	int k;

	for (i = 0; i < N; i++)
		s[i] = s[0];
	ok(check(t, &what), "%s: all scalars equal", t->name);
	for (i = 0; i < N; i++)
		s[i] = r_minus_1;
	ok(check(t, &what), "%s: all scalars r - 1", t->name);
	memset(s, 0, N * sizeof(*s));
	ok(check(t, &what), "%s: all scalars 0", t->name);
	for (i = 0; i < N; i++)
		s[i].l[0] = 1;
	ok(check(t, &what), "%s: all scalars 1", t->name);
	for (i = 0; i < N; i++)
		s[i].l[0] = rnd() % 3;
	ok(check(t, &what), "%s: scalars 0, 1, 2", t->name);
	for (i = 0; i < N; i++)
		s[i].l[0] = rnd();
	ok(check(t, &what), "%s: scalars of 64 bits", t->name);
	/* around half of r and the borders of windows */
	for (i = 0; i < N; i++) {
		rnd_scalar(&s[i]);
		for (k = 0; k < 4; k++)
			if (rnd() & 1)
				s[i].l[k] = rnd() & 1 ? 0 : ~0ull;
		if (i % 5 == 0)
			s[i] = (struct scalar){ { 0x7fffffff80000000 + i % 3, 0xa9ded2017fff2dff,
						  0x199cec0404d0ec02, 0x39f6d3a994cebea4 } };
		if (!scalar_is_canonical(&s[i]))
			s[i] = r_minus_1;
	}
	ok(check(t, &what), "%s: scalars of long runs of equal bits", t->name);
}

static void test_points(struct setup *t, struct scalar *s)
{
	struct msm_scalars what = { .scalar = s, .n = N };
	union affine p, nothing;
	struct fr log;
	size_t i, size = t->curve->affine_size;

	memset(&nothing, 0, sizeof(nothing));
	for (i = 0; i < N; i++)
		s[i] = (struct scalar){ { 12345 } };
	memcpy(&p, t->points + 100 * size, size);
	log = t->log[100];
	for (i = 0; i < N; i++)
		set_point(t, i, &p, &log);
	ok(fill(t) && check(t, &what), "%s: one point and scalar again and again", t->name);

	for (i = 0; i < N; i++) {
		set_point(t, i, &p, &log);
		neg_point(t, &p);
		fr_neg(&log, &log);
	}
	ok(fill(t) && check(t, &what), "%s: P and -P alternate", t->name);
	for (i = 0; i < N; i++)
		rnd_scalar(&s[i]);
	ok(fill(t) && check(t, &what), "%s: P and -P by random scalars", t->name);
	for (i = 0; i < N; i++)
		s[i] = (struct scalar){ { 1 + rnd() % 20 } };
	for (i = 0; i < N; i++)
		if (rnd() % 3 == 0)
			set_point(t, i, &nothing, &fr_zero);
	ok(fill(t) && check(t, &what), "%s: infinity among a few equal points", t->name);
	make_points(t);
	for (i = 0; i < N; i += 1 + rnd() % 4)
		set_point(t, i, &nothing, &fr_zero);
	ok(fill(t) && check(t, &what), "%s: infinity among the points", t->name);
	for (i = 0; i < N; i++)
		set_point(t, i, &nothing, &fr_zero);
	ok(fill(t) && check(t, &what), "%s: nothing but infinity", t->name);
	make_points(t);
	ok(fill(t), "%s: points are on the curve", t->name);
}

static void test_selection(struct setup *t, struct scalar *s)
{
	static uint32_t index[2 * N];
	static struct scalar twice[2 * N];
	static uint64_t ones[N / 64 + 1];
	struct msm_scalars what = { .scalar = s, .n = N, .index = index };
	union affine before, out;
	size_t i;

	for (i = 0; i < 2 * N; i++) {
		index[i] = rnd() % N;
		rnd_scalar(&twice[i]);
	}
	memcpy(s, twice, N * sizeof(*s));
	ok(check(t, &what), "%s: a list of points, some more than once", t->name);
	what.scalar = twice;
	what.n = 2 * N;
	ok(check(t, &what), "%s: a list longer than the set", t->name);
	for (i = 0; i < sizeof(ones) / 8; i++)
		ones[i] = rnd() | rnd();
	what = (struct msm_scalars){ .ones = ones, .n_ones = N };
	ok(check(t, &what), "%s: a bitmap alone", t->name);
	what.n_ones = N - 77;
	what.ones_first = 77;
	ok(check(t, &what), "%s: a bitmap of the later points", t->name);
	for (i = 1; i < 130; i++) {
		what.n_ones = i;
		if (!check(t, &what))
			break;
	}
	ok(i == 130, "%s: bitmaps of 1 to 129 bits", t->name);
	what = (struct msm_scalars){ .scalar = s, .n = 500, .index = index, .ones = ones,
				     .n_ones = 1000, .ones_first = 3 };
	ok(check(t, &what), "%s: a list and a bitmap", t->name);

	memset(&out, 0x77, sizeof(out));
	before = out;
	index[499] = N;
	ok(msm_run(t->pool, t->set, &what, 0, &out) == -EINVAL, "%s: no such point", t->name);
	index[499] = 0;
	s[499] = r_minus_1;
	s[499].l[0]++;
	ok(msm_run(t->pool, t->set, &what, 0, &out) == -EINVAL, "%s: the scalar r", t->name);
	s[499] = r_minus_1;
	what.ones_first = N - 999;
	ok(msm_run(t->pool, t->set, &what, 0, &out) == -EINVAL, "%s: the bitmap is too long", t->name);
	what = (struct msm_scalars){ .scalar = s, .n = 500, .first = N - 499 };
	ok(msm_run(t->pool, t->set, &what, 0, &out) == -EINVAL, "%s: too many scalars", t->name);
	ok(!memcmp(&out, &before, sizeof(out)), "%s: errors write nothing", t->name);
}

/* A point of the curve that is not of order r. */
static void odd_point(const struct setup *t, union affine *p)
{
	struct fp four;
	struct fp2 y, b;
	uint64_t x;

	fp_from_u64(&four, 4);
	b.c0 = b.c1 = four;
	for (x = 1;; x++) {
		memset(p, 0, sizeof(*p));
		if (t->group == MSM_G1) {
			fp_from_u64(&p->g1.x, x);
			fp_sqr(&y.c0, &p->g1.x);
			fp_mul(&y.c0, &y.c0, &p->g1.x);
			fp_add(&y.c0, &y.c0, &four);
			if (fp_sqrt(&p->g1.y, &y.c0) && !g1_in_subgroup(&p->g1))
				return;
		} else {
			fp_from_u64(&p->g2.x.c0, x);
			fp2_sqr(&y, &p->g2.x);
			fp2_mul(&y, &y, &p->g2.x);
			fp2_add(&y, &y, &b);
			if (fp2_sqrt(&p->g2.y, &y) && !g2_in_subgroup(&p->g2))
				return;
		}
	}
}

static void encode(const struct setup *t, uint8_t *out, const void *affine)
{
	if (t->group == MSM_G1)
		g1_to_uncompressed(out, affine);
	else
		g2_to_uncompressed(out, affine);
}

static void test_fill(struct setup *t)
{
	static uint8_t bytes[N * 192], good[192];
	size_t size = t->curve->affine_size, i;
	union affine p, nothing;
	uint64_t bad = 0;
	bool equal = true;

#define FILL(check) msm_points_fill(t->pool, t->set, 0, bytes, N, MSM_ZCASH, check, &bad)
	for (i = 0; i < N; i++)
		encode(t, bytes + i * size, t->points + i * size);
	ok(!FILL(MSM_CHECK_CURVE | MSM_CHECK_FINITE), "%s: decodes", t->name);
	for (i = 0; i < N; i++) {
		if (t->group == MSM_G1)
			msm_points_get_g1(t->set, i, &p.g1);
		else
			msm_points_get_g2(t->set, i, &p.g2);
		equal &= !memcmp(&p, t->points + i * size, size);
	}
	ok(equal, "%s: points come back as they were", t->name);
	ok(!msm_points_fill(t->pool, t->set, 5, bytes + 5 * size, 77, MSM_ZCASH, 0, NULL) &&
	   !msm_points_fill(t->pool, t->set, N, bytes, 0, MSM_ZCASH, 0, NULL) &&
	   msm_points_fill(t->pool, t->set, N - 1, bytes, 2, MSM_ZCASH, 0, NULL) == -EINVAL,
	   "%s: pieces of a file", t->name);

	for (i = 0; i < 3; i++) {
		uint8_t *at = bytes + (1321 + i) * size;

		memcpy(good, at, size);
		at[0] |= 0x20 << i;
		ok(FILL(0) == -EBADMSG && bad == 1321 + i, "%s: the flag %#x", t->name, 0x20 << i);
		memcpy(at, good, size);
	}
	for (i = 0; i < size / 48; i++) {
		uint8_t *at = bytes + 1222 * size;

		memcpy(good, at, size);
		memcpy(at + 48 * i, "\x1a\x01\x11\xea\x39\x7f\xe6\x9a\x4b\x1b\xa7\xb6\x43\x4b\xac\xd7"
		       "\x64\x77\x4b\x84\xf3\x85\x12\xbf\x67\x30\xd2\xa0\xf6\xb0\xf6\x24"
		       "\x1e\xab\xff\xfe\xb1\x53\xff\xff\xb9\xfe\xff\xff\xff\xff\xaa\xab", 48);
		ok(FILL(0) == -EBADMSG && bad == 1222, "%s: coordinate %zu is p", t->name, i);
		memcpy(at, good, size);
	}
	memcpy(good, bytes + 611 * size, size);
	bytes[611 * size + size - 1] ^= 1;
	bytes[1555 * size + size - 1] ^= 1;
	ok(!FILL(0), "%s: without the check a point may be off the curve", t->name);
	ok(FILL(MSM_CHECK_CURVE) == -EBADMSG && bad == 611, "%s: the first point off the curve",
	   t->name);
	memcpy(bytes + 611 * size, good, size);
	bytes[1555 * size + size - 1] ^= 1;
	odd_point(t, &p);
	encode(t, bytes + 3 * size, &p);
	ok(!FILL(MSM_CHECK_CURVE), "%s: a point outside the subgroup is on the curve", t->name);
	ok(FILL(MSM_CHECK_SUBGROUP) == -EBADMSG && bad == 3, "%s: and found when asked for", t->name);
	memset(&nothing, 0, sizeof(nothing));
	encode(t, bytes + 3 * size, &nothing);
	ok(!FILL(MSM_CHECK_CURVE | MSM_CHECK_SUBGROUP), "%s: infinity is a point", t->name);
	ok(FILL(MSM_CHECK_FINITE) == -EBADMSG && bad == 3, "%s: and refused when asked for", t->name);
	bytes[3 * size + 50] = 1;
	ok(FILL(0) == -EBADMSG && bad == 3, "%s: infinity with other bits", t->name);
	memset(bytes, 0xff, 48);
	ok(msm_points_fill(t->pool, t->set, 0, bytes, 1, MSM_AFFINE, 0, &bad) == -EBADMSG && bad == 0,
	   "%s: memory that is not reduced", t->name);
	fill(t);
}

static void test_base(struct setup *t)
{
	enum { MANY = 2100 };
	static struct scalar s[MANY];
	static uint8_t out[MANY * 192];
	size_t size = t->curve->affine_size, i, n;
	uint8_t want[192];
	union affine p;
	bool good = true;
	int err;

	for (i = 0; i < MANY; i++)
		rnd_scalar(&s[i]);
	for (i = 0; i < 6; i++)
		s[i] = (struct scalar){ { i } };
	s[7] = r_minus_1;
	for (n = 0; n <= MANY; n = n < 20 ? n + 9 : n == 27 ? MANY : n + 1) {
		if (t->group == MSM_G1)
			err = msm_base_g1(t->pool, t->path, &G1_GENERATOR, s, n, (uint8_t (*)[96])out);
		else
			err = msm_base_g2(t->pool, t->path, &G2_GENERATOR, s, n, (uint8_t (*)[192])out);
		good &= !err;
		for (i = 0; i < n; i += i < 30 ? 1 : 211) {
			struct fr k;

			fr_from_scalar(&k, &s[i]);
			mul_generator(t, &p, &k);
			encode(t, want, &p);
			good &= !memcmp(want, out + i * size, size);
		}
		if (n == MANY)
			break;
	}
	ok(good, "%s: multiples of one point", t->name);
	s[9] = r_minus_1;
	s[9].l[0]++;
	err = t->group == MSM_G1 ?
	      msm_base_g1(t->pool, t->path, &G1_GENERATOR, s, 10, (uint8_t (*)[96])out) :
	      msm_base_g2(t->pool, t->path, &G2_GENERATOR, s, 10, (uint8_t (*)[192])out);
	ok(err == -EINVAL, "%s: multiples by r are refused", t->name);
}

static void test_blst(struct setup *t, struct scalar *s, bool have)
{
	const char *g = t->group == MSM_G1 ? "p1" : "p2";
	const void *points[2] = { t->points, NULL }, *scalars[2] = { s, NULL };
	size_t (*scratch)(size_t);
	void (*sum)(void *, const void *const *, size_t, const void *const *, size_t, void *);
	void (*to_affine)(void *, const void *);
	struct msm_scalars what = { .scalar = s, .n = N };
	union affine want, got;
	union point p;
	char name[64];
	void *mem;
	size_t i;

	if (!have) {
		skip("blst", blst_why_not);
		return;
	}
	snprintf(name, sizeof(name), "blst_%ss_mult_pippenger", g);
	*(void **)&sum = blst_symbol(name);
	snprintf(name, sizeof(name), "blst_%ss_mult_pippenger_scratch_sizeof", g);
	*(void **)&scratch = blst_symbol(name);
	snprintf(name, sizeof(name), "blst_%s_to_affine", g);
	*(void **)&to_affine = blst_symbol(name);
	for (i = 0; i < N; i++)
		rnd_scalar(&s[i]);
	mem = malloc(scratch(N));
	sum(&p, points, N, scalars, 255, mem);
	free(mem);
	to_affine(&want, &p);
	ok(!msm_run(t->pool, t->set, &what, 0, &got) && !memcmp(&want, &got, t->curve->affine_size),
	   "%s: equal to blst", t->name);
}

#ifdef CUZK_X86
static void test_digits(struct scalar *s)
{
	static uint32_t a[64 * 203], b[64 * 203];
	struct msm_recode rc;
	unsigned int w, i;
	bool good = true;

	for (i = 0; i < 203; i++)
		rnd_scalar(&s[i]);
	s[5] = r_minus_1;
	s[6] = (struct scalar){ { 0x7fffffff80000000, 0xa9ded2017fff2dff, 0x199cec0404d0ec02,
				  0x39f6d3a994cebea4 } };
	s[7] = s[6];
	s[7].l[0]++;
	memset(&s[8], 0, sizeof(s[8]));
	for (w = 12; w <= MSM_MAX_WINDOWS; w++) {
		msm_recode_init(&rc, w);
		good &= msm_digits_port(&rc, s, 203, 0, w, a, 203) &&
			msm_digits_ifma(&rc, s, 203, 0, w, b, 203) &&
			!memcmp(a, b, w * 203 * sizeof(*a));
	}
	ok(good, "digits are the same on both paths");
	for (i = 0; i < 203; i++) {
		struct scalar old = s[i];

		s[i] = r_minus_1;
		s[i].l[0]++;
		good &= !msm_digits_port(&rc, s, 203, 0, 3, a, 203) &&
			!msm_digits_ifma(&rc, s, 203, 0, 3, b, 203);
		s[i] = old;
	}
	ok(good, "a scalar that is not canonical is found anywhere");
}
#endif

static void test_path(enum msm_group group, enum msm_path path, unsigned int threads, bool blst)
{
	static struct scalar s[N];
	struct setup t = { .group = group, .path = path };

	snprintf(t.name, sizeof(t.name), "%s %s, %u thread%s", group == MSM_G1 ? "G1" : "G2",
		 path == MSM_PATH_IFMA ? "ifma" : "portable", threads, threads == 1 ? "" : "s");
	if (!msm_path_available(path)) {
		skip("ifma", "this processor or build has no AVX-512 IFMA");
		return;
	}
	t.curve = group == MSM_G1 ? &msm_curve_g1 : &msm_curve_g2;
	t.points = malloc(N * t.curve->affine_size);
	t.log = malloc(N * sizeof(*t.log));
	if (threads > 1 && tpool_open(&t.pool, threads))
		exit(1);
	if (!t.points || !t.log || msm_points_open(&t.set, group, path, N, NULL))
		exit(1);
	make_points(&t);
	fill(&t);
	test_sizes(&t, s);
	if (threads == 1 || path == MSM_PATH_IFMA) {
		test_windows(&t, s);
		test_skew(&t, s);
		test_points(&t, s);
	}
	test_selection(&t, s);
	if (threads != 3) {
		test_fill(&t);
		test_base(&t);
	}
	test_blst(&t, s, blst);
	ok(msm_scratch_bytes(group, N, N, threads) > 0, "%s: scratch is known", t.name);
	msm_points_close(t.set);
	tpool_close(t.pool);
	free(t.points);
	free(t.log);
}

int main(void)
{
	bool blst = blst_open();
	unsigned int threads;
	int group, path;

	for (group = MSM_G1; group <= MSM_G2; group++)
		for (path = MSM_PATH_PORTABLE; path <= MSM_PATH_IFMA; path++)
			for (threads = 1; threads <= 3; threads++)
				/* threads are no matter of the path */
				if (threads != 2 || path == MSM_PATH_IFMA)
					test_path(group, path, threads, blst);
#ifdef CUZK_X86
	if (msm_path_available(MSM_PATH_IFMA)) {
		static struct scalar s[256];

		test_digits(s);
	}
#endif
	return tap_done();
}
