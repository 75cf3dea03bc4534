/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* make_values.c - the polynomials of a system at tau, for making parameters */
#include <errno.h>
#include <stdlib.h>

#include "engine/cs/system.h"
#include "engine/groth16/make_values.h"

#define LAGRANGE_CHUNK 4096u

struct lagrange {
	struct fr *out;
	unsigned int log_domain;
	struct fr root, tau, t_over_m;	/* t(tau)/m */
};

/* Lagrange values k at tau: t(tau)/m * w^k / (tau - w^k). */
static void lagrange_chunk(void *arg, size_t chunk, unsigned int thread)
{
	struct lagrange *m = arg;
	struct fr *l = m->out + chunk * LAGRANGE_CHUNK, tmp[256], w[256], power;
	uint64_t domain = 1ull << m->log_domain, n, i, k;

	n = domain < LAGRANGE_CHUNK ? domain : LAGRANGE_CHUNK;
	fr_pow_u64(&power, &m->root, chunk * LAGRANGE_CHUNK);
	for (i = 0; i < n; i += 256) {
		uint64_t end = n - i < 256 ? n - i : 256;

		for (k = 0; k < end; k++) {
			w[k] = power;
			fr_sub(&l[i + k], &m->tau, &power);
			fr_mul(&power, &power, &m->root);
		}
		fr_batch_inv_vartime(&l[i], end, tmp);
		for (k = 0; k < end; k++) {
			fr_mul(&l[i + k], &l[i + k], &w[k]);
			fr_mul(&l[i + k], &l[i + k], &m->t_over_m);
		}
	}
}

int make_values_init(struct make_values *v, const struct cs *cs, const struct toxic_waste *toxic,
		     enum gpu_h_basis basis, struct tpool *pool, struct cuzk_error *err)
{
	struct lagrange l = {
		.log_domain = cs->log_domain, .tau = toxic->tau,
		.root = basis == GPU_H_ODD_COSET ? FR_ROOT_5 : FR_ROOT_7,
	};
	uint64_t domain = 1ull << cs->log_domain;
	struct fr size, twice;
	unsigned int i;
	int ret;

	*v = (struct make_values){ .n_vars = (uint64_t)cs->n_inputs + cs->n_aux };
	for (i = cs->log_domain; i < 32; i++)
		fr_sqr(&l.root, &l.root);
	fr_pow_u64(&v->t, &toxic->tau, domain);
	fr_sub(&v->t, &v->t, &fr_one);
	fr_from_u64(&twice, 2);
	fr_add(&twice, &twice, &v->t);
	/* a verifying key with a point at infinity is none; nor may tau^m be -1 */
	if (fr_is_zero(&v->t) || fr_is_zero(&twice) || fr_is_zero(&toxic->alpha) || fr_is_zero(&toxic->beta) ||
	    fr_is_zero(&toxic->gamma) || fr_is_zero(&toxic->delta) || fr_is_zero(&toxic->tau))
		return error_set(err, CUZK_ERROR_INPUT, -EINVAL,
				 "toxic waste: no number may be 0, nor tau in the domain or its coset");
	fr_from_u64(&size, domain);
	fr_inv_vartime(&size, &size);
	fr_mul(&l.t_over_m, &v->t, &size);
	fr_inv_vartime(&v->inv_gamma, &toxic->gamma);
	fr_inv_vartime(&v->inv_delta, &toxic->delta);

	l.out = malloc(domain * sizeof(*l.out));
	v->at = malloc(v->n_vars * sizeof(*v->at));
	v->bt = malloc(v->n_vars * sizeof(*v->bt));
	v->ct = malloc(v->n_vars * sizeof(*v->ct));
	ret = l.out && v->at && v->bt && v->ct ? 0 : -ENOMEM;
	if (!ret) {
		tpool_run(pool, lagrange_chunk, &l, (domain + LAGRANGE_CHUNK - 1) / LAGRANGE_CHUNK);
		ret = cs_transpose_eval(cs, pool, l.out, v->at, v->bt, v->ct);
	}
	free(l.out);
	return ret ? error_nomem(err, "the polynomials' values") : 0;
}

void make_values_fini(struct make_values *v)
{
	free(v->at);
	free(v->bt);
	free(v->ct);
}
