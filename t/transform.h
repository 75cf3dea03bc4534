/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * transform.h - inverse transforms in G1 against their definition
 *
 * The points are known multiples of the generator, so that the sums of the
 * definition are taken in Fr, n^2 of them or by the host's transform; for a few
 * points also in the group.
 */
#ifndef CUZK_T_TRANSFORM_H
#define CUZK_T_TRANSFORM_H

#include "gpu/gpu.h"
#include "t/random-cs.h"
#include "t/tap.h"

#define TRANSFORM_NAIVE_LOG 8	/* longer ones by gpu_cpu_ops.ntt */

/* How the points of a transform hang together. */
enum transform_points {
	TRANSFORM_MIXED,	/* infinity, repeats and opposites among random ones */
	TRANSFORM_EQUAL,
	TRANSFORM_OPPOSITE,	/* P, -P, P, -P, ... */
	TRANSFORM_INFINITE,
	TRANSFORM_POINTS_N
};

static inline void transform_logs(struct fr *x, size_t n, enum transform_points kind)
{
	size_t i;

	rnd_fr(&x[0]);
	for (i = 0; i < n; i++) {
		if (kind == TRANSFORM_INFINITE)
			x[i] = fr_zero;
		else if (kind == TRANSFORM_EQUAL)
			x[i] = x[0];
		else if (kind == TRANSFORM_OPPOSITE && i)
			fr_neg(&x[i], &x[i - 1]);
		else if (kind == TRANSFORM_MIXED && i % 5 == 2)
			x[i] = fr_zero;
		else if (kind == TRANSFORM_MIXED && i % 5 == 3)
			x[i] = x[i - 2];
		else if (i)
			rnd_fr(&x[i]);
		/* pairs of the first stage: equal, opposite */
		if (kind == TRANSFORM_MIXED && i >= n / 2 && i % 8 == 4)
			x[i] = x[i - n / 2];
		if (kind == TRANSFORM_MIXED && i >= n / 2 && i % 8 == 5)
			fr_neg(&x[i], &x[i - n / 2]);
	}
}

static inline void transform_point(struct g1_affine *r, const struct fr *x)
{
	struct scalar k;
	struct g1 p;

	fr_to_scalar(&k, x);
	g1_mul_vartime(&p, &G1_GENERATOR, &k);
	g1_to_affine(r, &p);
}

/* w^-1 of order 2^log_n */
static inline void transform_root(struct fr *w, const struct fr *root, unsigned int log_n)
{
	unsigned int i;

	fr_inv_vartime(w, root);
	for (i = log_n; i < 32; i++)
		fr_sqr(w, w);
}

/* x[k] = sum over i of w^(-ik) factor base^i x[i] */
static inline void transform_want(struct gpu *host, struct fr *x, unsigned int log_n,
				  const struct fr *root, const struct fr *factor,
				  const struct fr *base)
{
	size_t n = (size_t)1 << log_n, i, k;
	struct fr *out = malloc(n * sizeof(*out)), power = *factor, w, t;

	for (i = 0; i < n; i++) {
		fr_mul(&x[i], &x[i], &power);
		fr_mul(&power, &power, base);
	}
	if (log_n > TRANSFORM_NAIVE_LOG) {
		if (gpu_cpu_ops.ntt(host, x, log_n, true, root, NULL))
			abort();
		fr_from_u64(&t, n);
		for (i = 0; i < n; i++)
			fr_mul(&x[i], &x[i], &t);
		free(out);
		return;
	}
	transform_root(&w, root, log_n);
	for (k = 0; k < n; k++) {
		struct fr wk;

		fr_pow_u64(&wk, &w, k);
		out[k] = fr_zero;
		power = fr_one;
		for (i = 0; i < n; i++) {
			fr_mul(&t, &x[i], &power);
			fr_add(&out[k], &out[k], &t);
			fr_mul(&power, &power, &wk);
		}
	}
	memcpy(x, out, n * sizeof(*x));
	free(out);
}

/* The definition in the group. */
static inline void transform_naive(struct g1_affine *out, const struct g1_affine *in, size_t n,
				   const struct fr *w, const struct fr *factor,
				   const struct fr *base)
{
	size_t i, k;

	for (k = 0; k < n; k++) {
		struct fr e, f;
		struct g1 sum, p;
		struct scalar s;

		g1_set_infinity(&sum);
		for (i = 0; i < n; i++) {
			fr_pow_u64(&e, w, i * k);
			fr_pow_u64(&f, base, i);
			fr_mul(&e, &e, &f);
			fr_mul(&e, &e, factor);
			fr_to_scalar(&s, &e);
			g1_mul_any_vartime(&p, &in[i], s.l, 4);
			g1_add(&sum, &sum, &p);
		}
		g1_to_affine(&out[k], &sum);
	}
}

/* Transforms points with ops; whether all of them come out right. */
static inline bool transform_right(const struct gpu_ops *ops, struct gpu *gpu, struct gpu *host,
				   unsigned int log_n, enum transform_points kind,
				   const struct fr *root, const struct fr *factor,
				   const struct fr *base)
{
	size_t n = (size_t)1 << log_n, i;
	struct g1_affine *points = malloc(n * sizeof(*points)), naive[8], want;
	struct fr *x = malloc(n * sizeof(*x)), w;
	bool good;

	transform_logs(x, n, kind);
	for (i = 0; i < n; i++)
		transform_point(&points[i], &x[i]);
	transform_root(&w, root, log_n);
	if (n <= 8)
		transform_naive(naive, points, n, &w, factor, base);
	transform_want(host, x, log_n, root, factor, base);
	good = ops->transform_g1(gpu, points, log_n, root, factor, base) == 0;
	for (i = 0; i < n && good; i++) {
		transform_point(&want, &x[i]);
		good = g1_affine_equal(&points[i], &want) &&
		       (n > 8 || g1_affine_equal(&points[i], &naive[i]));
		if (!good)
			diag("2^%u points of kind %d: point %zu is wrong", log_n, kind, i);
	}
	free(points);
	free(x);
	return good;
}

/* Every kind of points, factors 0, 1 and random, bases 1 and random, both roots. */
static inline void transform_test(const struct gpu_ops *ops, struct gpu *gpu, struct gpu *host,
				  unsigned int log_n, const char *name)
{
	const struct fr *factors[3] = { &fr_one, &fr_zero }, *bases[2] = { &fr_one };
	const struct fr *const roots[2] = { &FR_ROOT_7, &FR_ROOT_5 };
	int f, b, r, kind, good = 0, all = 0;
	struct fr factor, base;

	rnd_fr(&factor);
	rnd_fr(&base);
	factors[2] = &factor;
	bases[1] = &base;
	for (f = 0; f < 3; f++)
		for (b = 0; b < 2; b++)
			for (r = 0; r < 2; r++, all++)
				good += transform_right(ops, gpu, host, log_n, TRANSFORM_MIXED,
							roots[r], factors[f], bases[b]);
	for (kind = 1; kind < TRANSFORM_POINTS_N; kind++)
		for (b = 0; b < 2; b++, all++)
			good += transform_right(ops, gpu, host, log_n, kind, &FR_ROOT_7, &factor,
						bases[b]);
	ok(good == all, "%s: %d transforms of 2^%u points", name, all, log_n);
}

#endif
