/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * coset_make.c - parameters rearranged for four transforms a proof
 *
 * In the words of gpu/cpu/quotient.c: U from bellman's H by a transform, summed
 * for each variable by C and added to l; V from H by another one.  H has m - 1
 * points; for the m-th infinity does, since its scalar in h is 0.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "engine/groth16/coset_make.h"
#include "engine/groth16/coset_write.h"
#include "engine/groth16/fold.h"
#include "engine/groth16/make_values.h"
#include "lib/bls12_381/encoding.h"

#define PIECE 1024u	/* points that a thread takes at once */

static int write_failed(int ret, struct cuzk_error *err)
{
	return error_set(err, CUZK_ERROR_RESOURCE, ret, "cannot write the rearranged parameters: %s",
			 strerror(-ret));
}

/* ---- from the parameters ---- */

struct decode {
	const uint8_t *in;
	struct g1_affine *out;		/* NULL: added to sums */
	struct g1 *sums;
	size_t n;
	_Atomic uint64_t bad;		/* one of the bad ones + 1 */
};

static void decode_piece(void *arg, size_t piece, unsigned int thread)
{
	struct decode *d = arg;
	size_t i = piece * PIECE, end = i + PIECE < d->n ? i + PIECE : d->n;
	struct g1_affine p;

	for (; i < end; i++) {
		if (g1_from_uncompressed(&p, d->in + i * G1_UNCOMPRESSED_SIZE, POINT_ANY_ORDER))
			d->bad = i + 1;
		else if (d->out)
			d->out[i] = p;
		else
			g1_add_affine(&d->sums[i], &d->sums[i], &p);
	}
}

static int decode(const struct coset_source *from, enum params_section section, struct decode *d,
		  struct cuzk_error *err)
{
	d->in = from->params->data + from->params->section[section].offset;
	d->n = from->params->section[section].count;
	progress_tell(from->progress, "decode", 0, d->n);
	tpool_run(from->pool, decode_piece, d, (d->n + PIECE - 1) / PIECE);
	if (d->bad)
		return params_bad_point(from->params, from->name, 1,
					(uint64_t)section << 56 | (d->bad - 1), err);
	return 0;
}

/* points[k] = factor sum over i of (base w^k)^-i H_i, for the m-th H_i infinity */
static int transform(const struct coset_source *from, struct g1_affine *points,
		     const struct fr *factor, const struct fr *base_inv, struct cuzk_error *err)
{
	unsigned int log_n = from->cs->log_domain;
	struct decode d = { .out = points };
	int ret;

	ret = decode(from, PARAMS_H, &d, err);
	if (ret)
		return ret;
	memset(&points[d.n], 0, sizeof(*points));
	ret = from->ops->transform_g1(from->gpu, points, log_n, &FR_ROOT_7, factor, base_inv);
	if (ret)
		return error_set(err, ret == -ENOMEM ? CUZK_ERROR_RESOURCE : CUZK_ERROR_DEVICE, ret,
				 "%s: transforming 2^%u points: %s", from->ops->name, log_n,
				 ret == -ENOMEM ? "they do not fit in its memory" : strerror(-ret));
	return 0;
}

static void half_by_n(struct fr *out, const struct cs *cs)
{
	fr_from_u64(out, UINT64_C(2) << cs->log_domain);
	fr_inv_vartime(out, out);
}

/* The variables' sums by C, those of the aux variables added to l's points. */
static int fold(const struct coset_source *from, struct g1_affine *points, struct g1 *sums,
		struct cuzk_error *err)
{
	struct decode d = { .sums = sums + from->cs->n_inputs };
	struct fr factor;
	int ret;

	half_by_n(&factor, from->cs);
	ret = transform(from, points, &factor, &fr_one, err);
	if (ret)
		return ret;
	if (fold_points(from->cs, from->pool, points, sums, from->progress))
		return error_nomem(err, "the sums of points");
	return decode(from, PARAMS_L, &d, err);
}

struct normalize {
	struct g1_affine *out;
	const struct g1 *in;
	size_t n;
};

static void normalize_piece(void *arg, size_t piece, unsigned int thread)
{
	const struct normalize *m = arg;
	size_t i = piece * PIECE;

	g1_batch_to_affine(m->out + i, m->in + i, m->n - i < PIECE ? m->n - i : PIECE);
}

/* points is room for the chunks. */
static int put_sums(const struct coset_source *from, struct coset_writer *w, const struct g1 *sums,
		    size_t n, struct g1_affine *points)
{
	struct normalize m = { .out = points, .in = sums };
	int ret = 0;

	for (; n && !ret; n -= m.n, m.in += m.n) {
		m.n = n < COSET_CHUNK ? n : COSET_CHUNK;
		tpool_run(from->pool, normalize_piece, &m, (m.n + PIECE - 1) / PIECE);
		ret = coset_write_points(w, from->pool, points, m.n);
	}
	return ret;
}

static int make_file(const struct coset_source *from, struct coset_writer *w,
		     struct g1_affine *points, struct cuzk_error *err)
{
	const struct cs *cs = from->cs;
	size_t n_vars = cs->n_inputs + (size_t)cs->n_aux;
	struct g1 *sums = malloc((n_vars + 1) * sizeof(*sums));
	struct fr factor, g_inv;
	unsigned int i;
	int ret;

	if (!sums)
		return error_nomem(err, "the sums of points");
	ret = fold(from, points, sums, err);
	if (!ret && (ret = put_sums(from, w, sums, n_vars, points)))
		write_failed(ret, err);
	free(sums);
	if (ret)
		return ret;

	half_by_n(&factor, cs);
	fr_neg(&factor, &factor);
	g_inv = FR_ROOT_7;
	for (i = cs->log_domain + 1; i < 32; i++)
		fr_sqr(&g_inv, &g_inv);
	fr_inv_vartime(&g_inv, &g_inv);
	ret = transform(from, points, &factor, &g_inv, err);
	if (ret)
		return ret;
	ret = coset_write_points(w, from->pool, points, (size_t)1 << cs->log_domain);
	if (!ret)
		ret = coset_write_end(w);
	return ret ? write_failed(ret, err) : 0;
}

int coset_make(const struct coset_source *from, FILE *f, struct cuzk_error *err)
{
	size_t n = (size_t)1 << from->cs->log_domain;
	struct g1_affine *points;
	struct coset_writer w;
	int ret;

	if (params_h_basis(from->params) != GPU_H_POWERS)
		return error_set(err, CUZK_ERROR_INPUT, -EINVAL,
				 "%s: its h is not in powers of tau: it cannot be rearranged",
				 from->name);
	/* also room for what is written */
	points = malloc((n < COSET_CHUNK ? COSET_CHUNK : n) * sizeof(*points));
	if (!points)
		return error_nomem(err, "the points of h");
	ret = coset_write_open(&w, f, from->params, n);
	if (ret)
		write_failed(ret, err);
	else
		ret = make_file(from, &w, points, err);
	coset_write_close(&w);
	free(points);
	return ret;
}

/* ---- from toxic waste ---- */

/*
 * -L_k(tau) t / (2 delta), L_k the Lagrange polynomials of the coset by g,
 * g^m = -1: L_k(tau) = -(tau^m + 1)/m * x/(tau - x) at x = g w^k, and tau^m + 1 =
 * t + 2.  The denominators are not 0: tau is in no domain of 2^32 or fewer.
 */
void coset_h_scalars(const struct cs *cs, const struct make_values *v,
		     const struct toxic_waste *toxic, uint64_t first, size_t n, struct scalar *out)
{
	struct fr g = FR_ROOT_7, w, x, f, two, at[256], l[256], tmp[256];
	size_t i, k, j;

	for (i = cs->log_domain + 1; i < 32; i++)
		fr_sqr(&g, &g);
	fr_sqr(&w, &g);
	fr_pow_u64(&x, &w, first);
	fr_mul(&x, &x, &g);
	fr_from_u64(&two, 2);
	half_by_n(&f, cs);
	fr_mul(&f, &f, &v->t);
	fr_add(&two, &two, &v->t);
	fr_mul(&f, &f, &two);
	fr_mul(&f, &f, &v->inv_delta);
	for (i = 0; i < n; i += k) {
		k = n - i < 256 ? n - i : 256;
		for (j = 0; j < k; j++) {
			at[j] = x;
			fr_sub(&l[j], &toxic->tau, &x);
			fr_mul(&x, &x, &w);
		}
		fr_batch_inv_vartime(l, k, tmp);
		for (j = 0; j < k; j++) {
			fr_mul(&l[j], &l[j], &at[j]);
			fr_mul(&l[j], &l[j], &f);
			fr_to_scalar(&out[i + j], &l[j]);
		}
	}
}

void coset_c_part(struct fr *out, const struct make_values *v, uint64_t variable)
{
	struct fr half;

	fr_from_u64(&half, 2);
	fr_inv_vartime(&half, &half);
	fr_mul(out, &v->ct[variable], &v->t);
	fr_mul(out, out, &half);
	fr_mul(out, out, &v->inv_delta);
}

struct from_toxic {
	const struct coset_source *from;
	const struct toxic_waste *toxic;
	struct make_values v;
	struct coset_writer w;
	struct scalar *scalars;		/* COSET_CHUNK, and the points of as many */
	uint8_t (*points)[G1_UNCOMPRESSED_SIZE];
	uint64_t done, total;
};

static int put_chunk(struct from_toxic *t, size_t n, struct cuzk_error *err)
{
	const struct coset_source *from = t->from;
	int ret;

	ret = from->ops->mul_base_g1(from->gpu, &G1_GENERATOR, t->scalars, n, t->points);
	if (ret)
		return error_set(err, ret == -ENOMEM ? CUZK_ERROR_RESOURCE : CUZK_ERROR_DEVICE, ret,
				 "multiplying a generator: %s", strerror(-ret));
	ret = coset_write_bytes(&t->w, t->points, n * G1_UNCOMPRESSED_SIZE);
	if (ret)
		return write_failed(ret, err);
	t->done += n;
	progress_tell(from->progress, "points", t->done, t->total);
	return 0;
}

/* The points of inputs and of l. */
static int put_variables(struct from_toxic *t, struct cuzk_error *err)
{
	uint64_t n_inputs = t->from->cs->n_inputs, i;
	struct fr value, l;
	size_t k = 0;
	int ret = 0;

	for (i = 0; i < t->v.n_vars && !ret; i++) {
		coset_c_part(&value, &t->v, i);
		if (i >= n_inputs) {
			make_combined(&l, &t->v, t->toxic, i);
			fr_mul(&l, &l, &t->v.inv_delta);
			fr_add(&value, &value, &l);
		}
		fr_to_scalar(&t->scalars[k++], &value);
		if (k == COSET_CHUNK || i + 1 == t->v.n_vars) {
			ret = put_chunk(t, k, err);
			k = 0;
		}
	}
	return ret;
}

static int put_h(struct from_toxic *t, struct cuzk_error *err)
{
	uint64_t m = UINT64_C(1) << t->from->cs->log_domain, i;
	size_t n;
	int ret = 0;

	for (i = 0; i < m && !ret; i += n) {
		n = m - i < COSET_CHUNK ? m - i : COSET_CHUNK;
		coset_h_scalars(t->from->cs, &t->v, t->toxic, i, n, t->scalars);
		ret = put_chunk(t, n, err);
	}
	return ret;
}

int coset_make_toxic(const struct coset_source *from, const struct toxic_waste *toxic, FILE *f,
		     struct cuzk_error *err)
{
	struct from_toxic t = { .from = from, .toxic = toxic };
	uint64_t m = UINT64_C(1) << from->cs->log_domain;
	int ret;

	ret = make_values_init(&t.v, from->cs, toxic, GPU_H_COSET, from->pool, err);
	if (ret)
		goto out;
	t.total = t.v.n_vars + m;
	t.scalars = malloc(COSET_CHUNK * sizeof(*t.scalars));
	t.points = malloc(COSET_CHUNK * sizeof(*t.points));
	if (!t.scalars || !t.points) {
		ret = error_nomem(err, "points");
		goto out;
	}
	ret = coset_write_open(&t.w, f, from->params, m);
	if (ret) {
		write_failed(ret, err);
		goto out;
	}
	ret = put_variables(&t, err);
	if (!ret)
		ret = put_h(&t, err);
	if (!ret && (ret = coset_write_end(&t.w)))
		write_failed(ret, err);
out:
	coset_write_close(&t.w);
	make_values_fini(&t.v);
	free(t.scalars);
	free(t.points);
	return ret;
}
