/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* bench-bulk.c - the kernels of many elements: transforms, sums and multiples of points */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "gpu/cpu/msm_impl.h"
#include "gpu/cpu/ntt.h"
#include "tools/bench-kernel.h"
#include "tools/bench.h"

#define NAME "kernels"

static uint64_t next_random(void)
{
	static uint64_t s = 1;

	s ^= s << 13;
	s ^= s >> 7;
	s ^= s << 17;
	return s;
}

static void *vector(size_t size)
{
	size_t rounded = (size + (2 << 20) - 1) & ~(size_t)((2 << 20) - 1);
	void *p = aligned_alloc(2 << 20, rounded);

	if (p) {
		madvise(p, rounded, MADV_HUGEPAGE);
		memset(p, 0, rounded);
	}
	return p;
}

/* ---- transforms ---- */

struct transform {
	unsigned int log_n;
	struct ntt *ntt;
	struct fr *in, *data, *scratch, *roots, *h;
	void (*mul)(struct fr *r, const struct fr *a, const struct fr *b);
	void (*add)(struct fr *r, const struct fr *a, const struct fr *b);
	void (*sub)(struct fr *r, const struct fr *a, const struct fr *b);
};

/* Decimation in time with a table of all roots; natural order in and out. */
static void radix2(const struct transform *t, struct fr *d)
{
	size_t n = (size_t)1 << t->log_n, i, j, m;

	for (i = 1, j = 0; i < n; i++) {
		for (m = n / 2; j & m; m /= 2)
			j ^= m;
		j ^= m;
		if (i < j) {
			struct fr x = d[i];

			d[i] = d[j];
			d[j] = x;
		}
	}
	for (m = 1; m < n; m *= 2) {
		for (i = 0; i < n; i += 2 * m) {
			for (j = 0; j < m; j++) {
				struct fr x;

				t->mul(&x, &d[i + j + m], &t->roots[j * (n / 2 / m)]);
				t->sub(&d[i + j + m], &d[i + j], &x);
				t->add(&d[i + j], &d[i + j], &x);
			}
		}
	}
}

static void run_ntt(void *arg, bool ref, int n)
{
	struct transform *t = arg;

	while (n--) {
		memcpy(t->data, t->in, sizeof(struct fr) << t->log_n);
		if (ref)
			radix2(t, t->data);
		else if (ntt_run(t->ntt, t->data, t->scratch, t->log_n, false, &FR_ROOT_7, NULL))
			abort();
	}
}

/* Against the plain transform, by blst's field or by ours. */
static enum check check_ntt(void *arg)
{
	struct transform *t = arg;
	size_t size = sizeof(struct fr) << t->log_n;
	struct fr *want = vector(size);
	bool equal;

	if (!want)
		return CHECK_NONE;
	memcpy(want, t->in, size);
	radix2(t, want);
	run_ntt(t, false, 1);
	equal = !memcmp(t->data, want, size);
	free(want);
	return equal ? CHECK_EQUAL : CHECK_DIFFERS;
}

static void run_quotient(void *arg, bool ref, int n)
{
	struct transform *t = arg;
	size_t size = sizeof(struct fr) << t->log_n;

	(void)ref;
	while (n--) {
		memcpy(t->data, t->in, size);
		memcpy(t->scratch, t->in, size);
		if (ntt_quotient(t->ntt, t->data, t->scratch, t->log_n, GPU_H_POWERS,
				 (struct scalar *)t->h))
			abort();
	}
}

static void horner(const struct fr *c, size_t n, const struct fr *x, struct fr *r)
{
	*r = fr_zero;
	while (n--) {
		fr_mul(r, r, x);
		fr_add(r, r, &c[n]);
	}
}

/*
 * With a = b: a^2 - c = h Z, where c has the values a^2 on the domain.  At a point x
 * that was not used before, c(x) comes from the inverse transform of a's squares.
 */
static enum check check_quotient(void *arg)
{
	struct transform *t = arg;
	size_t n = (size_t)1 << t->log_n, i;
	struct fr x, z, a, c, h, *v = t->data;
	struct fr *hm = t->scratch;

	run_quotient(t, false, 1);
	fr_from_u64(&x, 0x1234567890abcdef);
	for (i = 0; i < n; i++)
		fr_from_scalar(&hm[i], (struct scalar *)&t->h[i]);
	horner(hm, n, &x, &h);
	memcpy(v, t->in, n * sizeof(*v));
	if (ntt_run(t->ntt, v, t->scratch, t->log_n, true, &FR_ROOT_7, NULL))
		return CHECK_NONE;
	horner(v, n, &x, &a);
	for (i = 0; i < n; i++)
		fr_sqr(&v[i], &t->in[i]);
	if (ntt_run(t->ntt, v, t->scratch, t->log_n, true, &FR_ROOT_7, NULL))
		return CHECK_NONE;
	horner(v, n, &x, &c);
	fr_pow_u64(&z, &x, n);
	fr_sub(&z, &z, &fr_one);
	fr_mul(&z, &z, &h);
	fr_sqr(&a, &a);
	fr_sub(&a, &a, &c);
	return memcmp(&a, &z, sizeof(a)) ? CHECK_DIFFERS : CHECK_EQUAL;
}

static int transforms(struct kernels *set, struct tpool *pool)
{
	struct transform t = { .log_n = set->log_n, .mul = fr_mul, .add = fr_add, .sub = fr_sub };
	size_t n = (size_t)1 << t.log_n, i;
	enum cpu_isa isa = set->portable ? CPU_ISA_PORTABLE : cpu_isa_best();
	char ntt_name[32], quotient_name[32];
	struct kernel k = {
		.arg = &t, .n = t.log_n < 12 ? 1 << (12 - t.log_n) : 1, .wall = set->threads > 1,
	};
	struct fr x, w;
	int ret = 0;

	snprintf(ntt_name, sizeof(ntt_name), "ntt, 2^%u", t.log_n);
	snprintf(quotient_name, sizeof(quotient_name), "quotient, 2^%u", t.log_n);
	if (!kernel_chosen(set, ntt_name) && !kernel_chosen(set, quotient_name))
		return 0;
	if (blst_loaded()) {
		*(void **)&t.mul = blst_find("blst_fr_mul");
		*(void **)&t.add = blst_find("blst_fr_add");
		*(void **)&t.sub = blst_find("blst_fr_sub");
	}
	t.in = vector(n * sizeof(struct fr));
	t.data = vector(n * sizeof(struct fr));
	t.scratch = vector(n * sizeof(struct fr));
	t.h = vector(n * sizeof(struct fr));
	t.roots = vector(n / 2 * sizeof(struct fr));
	if (!t.in || !t.data || !t.scratch || !t.h || !t.roots ||
	    ntt_open(&t.ntt, pool, isa, NULL)) {
		ret = ctl_fail(NAME, "no memory for 2^%u elements", t.log_n);
		goto out;
	}
	fr_from_u64(&x, 12345);
	for (i = 0, w = x; i < n; i++, fr_mul(&w, &w, &x))
		t.in[i] = w;
	fr_pow_u64(&x, &FR_ROOT_7, 1ull << (32 - t.log_n));
	for (i = 0, w = fr_one; i < n / 2; i++, fr_mul(&w, &w, &x))
		t.roots[i] = w;
	k.name = ntt_name;
	k.run = run_ntt;
	k.check = check_ntt;
	k.has_ref = blst_loaded();
	k.fr = n / 2. * t.log_n / set->threads;
	if (kernel_chosen(set, ntt_name))
		kernel_measure(set, &k);
	k.name = quotient_name;
	k.run = run_quotient;
	k.check = check_quotient;
	k.has_ref = false;
	k.fr = 6 * n / 2. * t.log_n / set->threads;
	if (kernel_chosen(set, quotient_name))
		kernel_measure(set, &k);
	ntt_close(t.ntt);
out:
	free(t.in);
	free(t.data);
	free(t.scratch);
	free(t.h);
	free(t.roots);
	return ret;
}

/* ---- sums and multiples of points ---- */

union affine {
	struct g1_affine g1;
	struct g2_affine g2;
};

struct points {
	enum msm_group group;
	enum msm_path path;
	struct tpool *pool;
	size_t n, size;
	uint8_t *encoded, *affine;	/* zcash; struct g1_affine or g2_affine */
	struct scalar *scalar;
	struct msm_points *set;
	union affine out[2];		/* ours, the reference's */
	/* blst's; NULL without it */
	void (*sum)(void *, const void *const *, size_t, const void *const *, size_t, void *);
	void (*to_affine)(void *, const void *);
	void (*mult)(void *, const void *, const uint8_t *, size_t);
	void *scratch;
};

static void run_sum(void *arg, bool ref, int n)
{
	struct points *s = arg;
	const void *points[2] = { s->affine, NULL }, *scalars[2] = { s->scalar, NULL };
	struct msm_scalars what = { .scalar = s->scalar, .n = s->n };
	struct g2 sum;		/* room for either */

	while (n--) {
		if (ref) {
			s->sum(&sum, points, s->n, scalars, 255, s->scratch);
			s->to_affine(&s->out[1], &sum);
		} else if (msm_run(s->pool, s->set, &what, 0, &s->out[0])) {
			abort();
		}
	}
}

/* Against blst, or without it against the portable path where that is another. */
static enum check check_sum(void *arg)
{
	struct points *s = arg;
	struct msm_scalars what = { .scalar = s->scalar, .n = s->n };
	struct msm_points *set;
	int ret;

	run_sum(s, false, 1);
	if (s->sum) {
		run_sum(s, true, 1);
	} else if (s->path != MSM_PATH_PORTABLE) {
		if (msm_points_open(&set, s->group, MSM_PATH_PORTABLE, s->n, NULL))
			return CHECK_NONE;
		ret = msm_points_fill(s->pool, set, 0, s->encoded, s->n, MSM_ZCASH, 0, NULL) ||
		      msm_run(s->pool, set, &what, 0, &s->out[1]);
		msm_points_close(set);
		if (ret)
			return CHECK_NONE;
	} else {
		return CHECK_NONE;
	}
	return memcmp(&s->out[0], &s->out[1], s->size) ? CHECK_DIFFERS : CHECK_EQUAL;
}

static int make_base(struct points *s)
{
	return s->group == MSM_G1 ?
	       msm_base_g1(s->pool, s->path, &G1_GENERATOR, s->scalar, s->n,
			   (uint8_t (*)[96])s->encoded) :
	       msm_base_g2(s->pool, s->path, &G2_GENERATOR, s->scalar, s->n,
			   (uint8_t (*)[192])s->encoded);
}

static void run_base(void *arg, bool ref, int n)
{
	struct points *s = arg;
	struct g1 base1, r1;
	struct g2 base2, r2;
	size_t i;

	g1_from_affine(&base1, &G1_GENERATOR);
	g2_from_affine(&base2, &G2_GENERATOR);
	while (n--) {
		if (!ref && make_base(s))
			abort();
		for (i = 0; ref && i < s->n; i++) {
			if (s->group == MSM_G1)
				s->mult(&r1, &base1, (const uint8_t *)&s->scalar[i], 255);
			else
				s->mult(&r2, &base2, (const uint8_t *)&s->scalar[i], 255);
		}
	}
}

/* Every 37th multiple against one made by itself. */
static enum check check_base(void *arg)
{
	struct points *s = arg;
	union affine want;
	struct g1 r1;
	struct g2 r2;
	size_t i;

	for (i = 0; i < s->n; i += 37) {
		if (s->group == MSM_G1) {
			g1_mul_vartime(&r1, &G1_GENERATOR, &s->scalar[i]);
			g1_to_affine(&want.g1, &r1);
		} else {
			g2_mul_vartime(&r2, &G2_GENERATOR, &s->scalar[i]);
			g2_to_affine(&want.g2, &r2);
		}
		if (memcmp(&want, s->affine + i * s->size, s->size))
			return CHECK_DIFFERS;
	}
	return CHECK_EQUAL;
}

static void find_blst(struct points *s)
{
	bool g1 = s->group == MSM_G1;
	size_t (*scratch)(size_t);

	if (!blst_loaded())
		return;
	*(void **)&s->sum = blst_find(g1 ? "blst_p1s_mult_pippenger" : "blst_p2s_mult_pippenger");
	*(void **)&s->to_affine = blst_find(g1 ? "blst_p1_to_affine" : "blst_p2_to_affine");
	*(void **)&s->mult = blst_find(g1 ? "blst_p1_mult" : "blst_p2_mult");
	*(void **)&scratch = blst_find(g1 ? "blst_p1s_mult_pippenger_scratch_sizeof" :
				       "blst_p2s_mult_pippenger_scratch_sizeof");
	s->scratch = malloc(scratch(s->n));
}

/* Random scalars, their multiples of the generator, and a prepared set of these. */
static int points_make(struct points *s)
{
	struct msm_points *plain;
	size_t i;
	int k;

	s->encoded = vector(s->n * s->size);
	s->affine = vector(s->n * s->size);
	s->scalar = vector(s->n * sizeof(*s->scalar));
	if (!s->encoded || !s->affine || !s->scalar)
		return -ENOMEM;
	for (i = 0; i < s->n; i++) {
		for (k = 0; k < 4; k++)
			s->scalar[i].l[k] = next_random();
		s->scalar[i].l[3] %= 0x73eda753299d7d48;
	}
	if (make_base(s) || msm_points_open(&plain, s->group, MSM_PATH_PORTABLE, s->n, s->affine))
		return -ENOMEM;
	k = msm_points_fill(s->pool, plain, 0, s->encoded, s->n, MSM_ZCASH, MSM_CHECK_CURVE, NULL);
	msm_points_close(plain);
	if (k)
		return k;
	k = msm_points_open(&s->set, s->group, s->path, s->n, NULL);
	return k ? k : msm_points_fill(s->pool, s->set, 0, s->encoded, s->n, MSM_ZCASH, 0, NULL);
}

/*
 * Products that Pippenger's method with signed digits and affine additions in
 * batches cannot do without, whatever the window: 6 for an addition in G1, 3
 * products of Fp2 for each of them in G2 less what squaring saves.
 */
static double sum_products(const struct points *s)
{
	double best = 0, adds;
	unsigned int c;

	for (c = 4; c < 24; c++) {
		adds = (255 + c) / c * (s->n + (double)(1ull << c));
		if (c == 4 || adds < best)
			best = adds;
	}
	return best * (s->group == MSM_G1 ? 6 : 17);
}

static int sums(struct kernels *set, struct tpool *pool, enum msm_group group)
{
	unsigned int log_n = group == MSM_G1 ? set->log_n : set->log_g2;
	struct points s = {
		.group = group, .pool = pool, .n = (size_t)1 << log_n,
		.size = group == MSM_G1 ? sizeof(struct g1_affine) : sizeof(struct g2_affine),
		.path = msm_path_choose(set->portable ? MSM_PATH_PORTABLE : MSM_PATH_AUTO),
	};
	char sum_name[32], base_name[32];
	struct kernel k = { .arg = &s, .n = 1, .has_ref = blst_loaded(), .wall = set->threads > 1 };
	int ret = 0;

	snprintf(sum_name, sizeof(sum_name), "msm g%d, 2^%u", group == MSM_G1 ? 1 : 2, log_n);
	snprintf(base_name, sizeof(base_name), "base mul g%d, 2^%u", group == MSM_G1 ? 1 : 2,
		 log_n);
	if (!kernel_chosen(set, sum_name) && !kernel_chosen(set, base_name))
		return 0;
	find_blst(&s);
	if (points_make(&s) || (s.sum && !s.scratch)) {
		ret = ctl_fail(NAME, "no memory for 2^%u points", log_n);
		goto out;
	}
	k.name = sum_name;
	k.run = run_sum;
	k.check = check_sum;
	k.fp = sum_products(&s) / set->threads;
	if (kernel_chosen(set, sum_name))
		kernel_measure(set, &k);
	k.name = base_name;
	k.run = run_base;
	k.check = check_base;
	k.fp = 0;
	if (kernel_chosen(set, base_name))
		kernel_measure(set, &k);
out:
	msm_points_close(s.set);
	free(s.encoded);
	free(s.affine);
	free(s.scalar);
	free(s.scratch);
	return ret;
}

int kernels_bulk(struct kernels *set)
{
	struct tpool *pool = NULL;
	int ret;

	if (set->threads > 1 && tpool_open(&pool, set->threads))
		return ctl_fail(NAME, "no threads");
	ret = transforms(set, pool);
	if (!ret)
		ret = sums(set, pool, MSM_G1);
	if (!ret)
		ret = sums(set, pool, MSM_G2);
	tpool_close(pool);
	return ret;
}
