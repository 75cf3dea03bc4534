/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* make.c - development parameters from known toxic waste (filecoin-spec 1.8) */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/evp.h>

#include "engine/cs/system.h"
#include "engine/groth16/binfile.h"
#include "engine/groth16/make.h"
#include "engine/groth16/random.h"
#include "engine/groth16/vk.h"
#include "lib/bls12_381/encoding.h"

#define CHUNK (1u << 16)	/* points multiplied at once */
#define LAGRANGE_CHUNK 4096u

int toxic_parse(struct toxic_waste *toxic, const char *text, struct cuzk_error *err)
{
	static const char *const names[] = { "alpha", "beta", "gamma", "delta", "tau" };
	struct toxic_waste t;
	struct fr *values[] = { &t.alpha, &t.beta, &t.gamma, &t.delta, &t.tau };
	char number[80];
	unsigned int i;

	for (i = 0; i < 5; i++) {
		size_t len = strcspn(text, ",");

		if (len >= sizeof(number) || text[len] != (i < 4 ? ',' : '\0'))
			goto err_inval;
		memcpy(number, text, len);
		number[len] = '\0';
		if (fr_from_dec(values[i], number))
			goto err_inval;
		text += len + 1;
	}
	*toxic = t;
	return 0;

err_inval:
	return error_set(
		err, CUZK_ERROR_INPUT, -EINVAL,
		"toxic waste: %s: expected five decimal numbers below the modulus, with commas",
		names[i]);
}

int toxic_random(struct toxic_waste *toxic, struct cuzk_error *err)
{
	struct fr *values[] = { &toxic->alpha, &toxic->beta, &toxic->gamma, &toxic->delta,
				&toxic->tau };
	struct scalar s;
	unsigned int i;
	int ret;

	for (i = 0; i < 5; i++) {
		ret = random_scalar(&s);
		if (ret)
			return error_set(err, CUZK_ERROR_INTERNAL, ret, "getrandom: %s",
					 strerror(-ret));
		fr_from_scalar(values[i], &s);
	}
	return 0;
}

/* A stream with the size and SHA-256 of what went through it. */
struct sink {
	FILE *f;
	EVP_MD_CTX *md;
	uint64_t size;
};

static int sink_open(struct sink *s, FILE *f)
{
	s->f = f;
	s->size = 0;
	s->md = EVP_MD_CTX_new();
	return s->md && EVP_DigestInit_ex(s->md, EVP_sha256(), NULL) ? 0 : -ENOMEM;
}

static int sink_write(struct sink *s, const void *data, size_t n)
{
	s->size += n;
	if (fwrite(data, 1, n, s->f) != n || !EVP_DigestUpdate(s->md, data, n))
		return -EIO;
	return 0;
}

static int sink_u32_be(struct sink *s, uint32_t v)
{
	uint8_t buf[4];

	store_be32(buf, v);
	return sink_write(s, buf, sizeof(buf));
}

static void sink_result(struct sink *s, struct make_file *out)
{
	unsigned char md[32];
	unsigned int i;

	out->size = s->size;
	EVP_DigestFinal_ex(s->md, md, NULL);
	for (i = 0; i < sizeof(md); i++)
		sprintf(out->sha256 + 2 * i, "%02x", md[i]);
}

struct make {
	const struct cs *cs;
	const struct toxic_waste *toxic;
	const struct gpu_ops *ops;
	struct gpu *gpu;
	struct tpool *pool;
	const struct progress *progress;
	struct cuzk_error *err;
	struct sink sink;
	uint64_t done, total;		/* points */

	uint64_t n_vars;
	struct fr *at, *bt, *ct;	/* A_i, B_i, C_i at tau by variable */
	struct fr *lagrange;
	struct fr root, t_over_m, t;	/* of the domain; t(tau)/m, t(tau) */
	struct fr inv_gamma, inv_delta;

	struct scalar *scalars;		/* CHUNK */
	uint8_t *points;		/* CHUNK * 192 */
};

/* Lagrange values k at tau: t(tau)/m * w^k / (tau - w^k). */
static void lagrange_chunk(void *arg, size_t chunk, unsigned int thread)
{
	struct make *m = arg;
	struct fr *l = m->lagrange + chunk * LAGRANGE_CHUNK, tmp[256], w[256], power;
	uint64_t domain = 1ull << m->cs->log_domain, n, i, k;

	n = domain < LAGRANGE_CHUNK ? domain : LAGRANGE_CHUNK;
	fr_pow_u64(&power, &m->root, chunk * LAGRANGE_CHUNK);
	for (i = 0; i < n; i += 256) {
		uint64_t end = n - i < 256 ? n - i : 256;

		for (k = 0; k < end; k++) {
			w[k] = power;
			fr_sub(&l[i + k], &m->toxic->tau, &power);
			fr_mul(&power, &power, &m->root);
		}
		fr_batch_inv_vartime(&l[i], end, tmp);
		for (k = 0; k < end; k++) {
			fr_mul(&l[i + k], &l[i + k], &w[k]);
			fr_mul(&l[i + k], &l[i + k], &m->t_over_m);
		}
	}
}

/* at, bt, ct for all variables; 32 bytes a row are needed only here. */
static int evaluate_at_tau(struct make *m)
{
	const struct cs *cs = m->cs;
	uint64_t domain = 1ull << cs->log_domain;
	struct fr size;
	unsigned int i;
	int ret;

	m->root = FR_ROOT_7;
	for (i = cs->log_domain; i < 32; i++)
		fr_sqr(&m->root, &m->root);
	fr_pow_u64(&m->t, &m->toxic->tau, domain);
	fr_sub(&m->t, &m->t, &fr_one);
	if (fr_is_zero(&m->t) || fr_is_zero(&m->toxic->gamma) || fr_is_zero(&m->toxic->delta) ||
	    fr_is_zero(&m->toxic->tau))
		return error_set(
			m->err, CUZK_ERROR_INPUT, -EINVAL,
			"toxic waste: gamma, delta and tau must not be 0 and tau not in the domain");
	fr_from_u64(&size, domain);
	fr_inv_vartime(&size, &size);
	fr_mul(&m->t_over_m, &m->t, &size);
	fr_inv_vartime(&m->inv_gamma, &m->toxic->gamma);
	fr_inv_vartime(&m->inv_delta, &m->toxic->delta);

	m->lagrange = malloc(domain * sizeof(*m->lagrange));
	m->at = malloc(m->n_vars * sizeof(*m->at));
	m->bt = malloc(m->n_vars * sizeof(*m->bt));
	m->ct = malloc(m->n_vars * sizeof(*m->ct));
	if (!m->lagrange || !m->at || !m->bt || !m->ct)
		return error_nomem(m->err, "the polynomials' values");
	tpool_run(m->pool, lagrange_chunk, m, (domain + LAGRANGE_CHUNK - 1) / LAGRANGE_CHUNK);
	ret = cs_transpose_eval(cs, m->pool, m->lagrange, m->at, m->bt, m->ct);
	if (ret)
		return error_nomem(m->err, "the polynomials' values");
	free(m->lagrange);
	m->lagrange = NULL;
	return 0;
}

/* The first n of m->scalars times the generator, written. */
static int put_points(struct make *m, size_t n, bool g2)
{
	int ret;

	if (g2)
		ret = m->ops->mul_base_g2(m->gpu, &G2_GENERATOR, m->scalars, n,
					  (uint8_t (*)[192])m->points);
	else
		ret = m->ops->mul_base_g1(m->gpu, &G1_GENERATOR, m->scalars, n,
					  (uint8_t (*)[96])m->points);
	if (ret)
		return error_set(m->err, CUZK_ERROR_DEVICE, ret, "multiplying a generator: %s",
				 strerror(-ret));
	if (sink_write(&m->sink, m->points, n * (g2 ? 192 : 96)))
		return error_set(m->err, CUZK_ERROR_RESOURCE, -EIO,
				 "cannot write the parameters: %s", strerror(errno ? errno : EIO));
	m->done += n;
	progress_tell(m->progress, "points", m->done, m->total);
	return 0;
}

/* h: tau^i t(tau) / delta. */
static int put_h(struct make *m)
{
	uint64_t n = (1ull << m->cs->log_domain) - 1, i;
	struct fr v;
	size_t k = 0;
	int ret;

	if (sink_u32_be(&m->sink, n))
		return -EIO;
	fr_mul(&v, &m->t, &m->inv_delta);
	for (i = 0; i < n; i++) {
		fr_to_scalar(&m->scalars[k++], &v);
		fr_mul(&v, &v, &m->toxic->tau);
		if (k < CHUNK && i + 1 < n)
			continue;
		ret = put_points(m, k, false);
		if (ret)
			return ret;
		k = 0;
	}
	return 0;
}

/* (beta A_i + alpha B_i + C_i) * factor for variables first..end. */
static int put_combined(struct make *m, uint64_t first, uint64_t end, const struct fr *factor)
{
	struct fr v, w;
	size_t k = 0;
	uint64_t i;
	int ret;

	if (sink_u32_be(&m->sink, end - first))
		return -EIO;
	for (i = first; i < end; i++) {
		fr_mul(&v, &m->toxic->beta, &m->at[i]);
		fr_mul(&w, &m->toxic->alpha, &m->bt[i]);
		fr_add(&v, &v, &w);
		fr_add(&v, &v, &m->ct[i]);
		if (fr_is_zero(&v))
			return error_set(m->err, CUZK_ERROR_INPUT, -EINVAL,
					 "%s variable %" PRIu64
					 " is in no constraint, or the toxic waste makes it so",
					 first ? "aux" : "input", i - first);
		fr_mul(&v, &v, factor);
		fr_to_scalar(&m->scalars[k++], &v);
		if (k < CHUNK && i + 1 < end)
			continue;
		ret = put_points(m, k, false);
		if (ret)
			return ret;
		k = 0;
	}
	return 0;
}

static uint64_t count_nonzero(const struct fr *v, uint64_t n)
{
	uint64_t count = 0, i;

	for (i = 0; i < n; i++)
		count += !fr_is_zero(&v[i]);
	return count;
}

/* v[i] of all variables, those at infinity left out. */
static int put_sparse(struct make *m, const struct fr *v, uint64_t count, bool g2)
{
	size_t k = 0;
	uint64_t i;
	int ret;

	if (sink_u32_be(&m->sink, count))
		return -EIO;
	for (i = 0; i < m->n_vars; i++) {
		if (!fr_is_zero(&v[i]))
			fr_to_scalar(&m->scalars[k++], &v[i]);
		if (!k || (k < CHUNK && i + 1 < m->n_vars))
			continue;
		ret = put_points(m, k, g2);
		if (ret)
			return ret;
		k = 0;
	}
	return 0;
}

static int make_point_g1(struct make *m, const struct fr *v)
{
	fr_to_scalar(&m->scalars[0], v);
	return put_points(m, 1, false);
}

static int make_point_g2(struct make *m, const struct fr *v)
{
	fr_to_scalar(&m->scalars[0], v);
	return put_points(m, 1, true);
}

static int put_vk(struct make *m)
{
	const struct toxic_waste *t = m->toxic;
	int ret;

	if ((ret = make_point_g1(m, &t->alpha)) || (ret = make_point_g1(m, &t->beta)) ||
	    (ret = make_point_g2(m, &t->beta)) || (ret = make_point_g2(m, &t->gamma)) ||
	    (ret = make_point_g1(m, &t->delta)) || (ret = make_point_g2(m, &t->delta)))
		return ret;
	return put_combined(m, 0, m->cs->n_inputs, &m->inv_gamma);
}

static int make_all(struct make *m, FILE *params, FILE *vk, struct make_result *result)
{
	const struct cs *cs = m->cs;
	struct make_result r = { 0 };
	int ret;

	ret = evaluate_at_tau(m);
	if (ret)
		return ret;
	r.n_ic = cs->n_inputs;
	r.n_h = (1ull << cs->log_domain) - 1;
	r.n_l = cs->n_aux;
	r.n_a = count_nonzero(m->at, m->n_vars);
	r.n_b = count_nonzero(m->bt, m->n_vars);
	if (r.n_a != (uint64_t)cs->n_inputs + cs->n_a_aux || r.n_b != cs->n_b_input + cs->n_b_aux)
		return error_set(
			m->err, CUZK_ERROR_INPUT, -EINVAL,
			"the toxic waste makes a polynomial of the system vanish: take another");
	m->total = r.n_h + r.n_l + r.n_a + 2 * r.n_b + (vk ? 2 : 1) * (6 + r.n_ic);
	m->scalars = malloc(CHUNK * sizeof(*m->scalars));
	m->points = malloc(CHUNK * 192ull);
	if (!m->scalars || !m->points)
		return error_nomem(m->err, "points");

	if (vk) {
		ret = sink_open(&m->sink, vk);
		if (!ret)
			ret = put_vk(m);
		if (ret)
			return ret;
		sink_result(&m->sink, &r.vk);
		EVP_MD_CTX_free(m->sink.md);
	}
	ret = sink_open(&m->sink, params);
	if (!ret)
		ret = put_vk(m);
	if (!ret)
		ret = put_h(m);
	if (!ret)
		ret = put_combined(m, cs->n_inputs, m->n_vars, &m->inv_delta);
	if (!ret)
		ret = put_sparse(m, m->at, r.n_a, false);
	if (!ret)
		ret = put_sparse(m, m->bt, r.n_b, false);
	if (!ret)
		ret = put_sparse(m, m->bt, r.n_b, true);
	if (ret)
		return ret;
	sink_result(&m->sink, &r.params);
	*result = r;
	return 0;
}

int params_make(const struct cs *cs, const struct toxic_waste *toxic, const struct gpu_ops *ops,
		struct gpu *gpu, struct tpool *pool, FILE *params, FILE *vk,
		const struct progress *progress, struct make_result *result,
		struct cuzk_error *err)
{
	struct make m = {
		.cs = cs, .toxic = toxic, .ops = ops, .gpu = gpu, .pool = pool,
		.progress = progress, .err = err,
		.n_vars = (uint64_t)cs->n_inputs + cs->n_aux,
	};
	int ret;

	err->cls = CUZK_ERROR_NONE;
	ret = make_all(&m, params, vk, result);
	if (ret && err->cls == CUZK_ERROR_NONE)
		error_set(err, CUZK_ERROR_RESOURCE, ret, "cannot write the parameters: %s",
			  strerror(-ret));
	EVP_MD_CTX_free(m.sink.md);
	free(m.lagrange);
	free(m.at);
	free(m.bt);
	free(m.ct);
	free(m.scalars);
	free(m.points);
	return ret;
}
