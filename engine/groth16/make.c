/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* make.c - development parameters from known toxic waste (filecoin-spec 1.8) */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/evp.h>

#include "engine/groth16/binfile.h"
#include "engine/groth16/make.h"
#include "engine/groth16/make_values.h"
#include "engine/groth16/random.h"
#include "engine/groth16/vk.h"
#include "lib/bls12_381/encoding.h"

#define CHUNK (1u << 16)	/* points multiplied at once */

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
	enum gpu_h_basis basis;
	const struct gpu_ops *ops;
	struct gpu *gpu;
	struct tpool *pool;
	const struct progress *progress;
	struct cuzk_error *err;
	struct sink sink;
	uint64_t done, total;		/* points */

	struct make_values v;

	struct scalar *scalars;		/* CHUNK */
	uint8_t *points;		/* CHUNK * 192 */
};

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
		return error_set(m->err, ret == -ENOMEM ? CUZK_ERROR_RESOURCE : CUZK_ERROR_DEVICE, ret,
				 "multiplying a generator: %s",
				 strerror(-ret));
	if (sink_write(&m->sink, m->points, n * (g2 ? 192 : 96)))
		return error_set(m->err, CUZK_ERROR_RESOURCE, -EIO,
				 "cannot write the parameters: %s", strerror(errno ? errno : EIO));
	m->done += n;
	progress_tell(m->progress, "points", m->done, m->total);
	return 0;
}

/*
 * h on the odd coset: the Lagrange values of the domain of twice the size at its
 * odd places, over delta: (tau^2m - 1)/2m * w^(2i+1) / (tau - w^(2i+1)).
 */
static int put_h_odd(struct make *m)
{
	uint64_t n = 1ull << m->cs->log_domain, i;
	struct fr w, step, factor, power, l[256], tmp[256], at[256];
	size_t k, j, done;
	unsigned int b;
	int ret;

	w = FR_ROOT_5;
	for (b = m->cs->log_domain + 1; b < 32; b++)
		fr_sqr(&w, &w);
	fr_sqr(&step, &w);
	/* tau^2m - 1 = t (t + 2) */
	fr_from_u64(&factor, 2);
	fr_add(&factor, &factor, &m->v.t);
	fr_mul(&factor, &factor, &m->v.t);
	fr_from_u64(&power, 2 * n);
	fr_inv_vartime(&power, &power);
	fr_mul(&factor, &factor, &power);
	fr_mul(&factor, &factor, &m->v.inv_delta);
	if (sink_u32_be(&m->sink, n))
		return -EIO;
	power = w;
	for (i = 0, done = 0; i < n; i += k) {
		k = n - i < 256 ? n - i : 256;
		for (j = 0; j < k; j++) {
			at[j] = power;
			fr_sub(&l[j], &m->toxic->tau, &power);
			fr_mul(&power, &power, &step);
		}
		fr_batch_inv_vartime(l, k, tmp);
		for (j = 0; j < k; j++) {
			fr_mul(&l[j], &l[j], &at[j]);
			fr_mul(&l[j], &l[j], &factor);
			fr_to_scalar(&m->scalars[done++], &l[j]);
		}
		if (done < CHUNK && i + k < n)
			continue;
		ret = put_points(m, done, false);
		if (ret)
			return ret;
		done = 0;
	}
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
	fr_mul(&v, &m->v.t, &m->v.inv_delta);
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
	struct fr v;
	size_t k = 0;
	uint64_t i;
	int ret;

	if (sink_u32_be(&m->sink, end - first))
		return -EIO;
	for (i = first; i < end; i++) {
		make_combined(&v, &m->v, m->toxic, i);
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
	for (i = 0; i < m->v.n_vars; i++) {
		if (!fr_is_zero(&v[i]))
			fr_to_scalar(&m->scalars[k++], &v[i]);
		if (!k || (k < CHUNK && i + 1 < m->v.n_vars))
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
	return put_combined(m, 0, m->cs->n_inputs, &m->v.inv_gamma);
}

static int make_all(struct make *m, FILE *params, FILE *vk, struct make_result *result)
{
	const struct cs *cs = m->cs;
	struct make_result r = { 0 };
	int ret;

	ret = make_values_init(&m->v, cs, m->toxic, m->basis, m->pool, m->err);
	if (ret)
		return ret;
	r.n_ic = cs->n_inputs;
	r.n_h = (1ull << cs->log_domain) - (m->basis == GPU_H_POWERS);
	r.n_l = cs->n_aux;
	r.n_a = count_nonzero(m->v.at, m->v.n_vars);
	r.n_b = count_nonzero(m->v.bt, m->v.n_vars);
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
		ret = m->basis == GPU_H_POWERS ? put_h(m) : put_h_odd(m);
	if (!ret)
		ret = put_combined(m, cs->n_inputs, m->v.n_vars, &m->v.inv_delta);
	if (!ret)
		ret = put_sparse(m, m->v.at, r.n_a, false);
	if (!ret)
		ret = put_sparse(m, m->v.bt, r.n_b, false);
	if (!ret)
		ret = put_sparse(m, m->v.bt, r.n_b, true);
	if (ret)
		return ret;
	sink_result(&m->sink, &r.params);
	*result = r;
	return 0;
}

int params_make(const struct cs *cs, const struct toxic_waste *toxic, enum gpu_h_basis basis,
		const struct gpu_ops *ops, struct gpu *gpu, struct tpool *pool, FILE *params, FILE *vk,
		const struct progress *progress, struct make_result *result,
		struct cuzk_error *err)
{
	struct make m = {
		.cs = cs, .toxic = toxic, .basis = basis, .ops = ops, .gpu = gpu, .pool = pool,
		.progress = progress, .err = err,
	};
	int ret;

	err->cls = CUZK_ERROR_NONE;
	ret = make_all(&m, params, vk, result);
	if (ret && err->cls == CUZK_ERROR_NONE)
		error_set(err, CUZK_ERROR_RESOURCE, ret, "cannot write the parameters: %s",
			  strerror(-ret));
	EVP_MD_CTX_free(m.sink.md);
	make_values_fini(&m.v);
	free(m.scalars);
	free(m.points);
	return ret;
}
