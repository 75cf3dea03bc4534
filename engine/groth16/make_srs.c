/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* make_srs.c - development parameters straight onto the device, no file between */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/groth16/coset_make.h"
#include "engine/groth16/make.h"
#include "engine/groth16/make_values.h"

#define CHUNK 65536u	/* scalars that a thread makes at once */

struct scalars {
	const struct cs *cs;
	const struct toxic_waste *toxic;
	enum gpu_h_basis basis;
	struct make_values v;
	struct scalar *h, *l, *a, *b;
	uint64_t n_h, n_a, n_b;
	bool zero;		/* a variable of l is in no constraint */
};

static uint64_t chunk_end(uint64_t n, size_t chunk)
{
	uint64_t end = (chunk + 1) * (uint64_t)CHUNK;

	return end < n ? end : n;
}

/* tau^i t(tau) / delta, or what GPU_H_COSET has instead */
static void make_h(void *arg, size_t chunk, unsigned int thread)
{
	struct scalars *s = arg;
	uint64_t i = chunk * (uint64_t)CHUNK, end = chunk_end(s->n_h, chunk);
	struct fr v;

	if (s->basis == GPU_H_COSET) {
		coset_h_scalars(s->cs, &s->v, s->toxic, i, end - i, &s->h[i]);
		return;
	}
	fr_pow_u64(&v, &s->toxic->tau, i);
	fr_mul(&v, &v, &s->v.t);
	fr_mul(&v, &v, &s->v.inv_delta);
	for (; i < end; i++) {
		fr_to_scalar(&s->h[i], &v);
		fr_mul(&v, &v, &s->toxic->tau);
	}
}

/* (beta A_i + alpha B_i + C_i) / delta, and what GPU_H_COSET adds */
static void make_l(void *arg, size_t chunk, unsigned int thread)
{
	struct scalars *s = arg;
	uint64_t i = chunk * (uint64_t)CHUNK, end = chunk_end(s->cs->n_aux, chunk);
	struct fr v, c;

	for (; i < end; i++) {
		make_combined(&v, &s->v, s->toxic, s->cs->n_inputs + i);
		if (fr_is_zero(&v))
			s->zero = true;
		fr_mul(&v, &v, &s->v.inv_delta);
		if (s->basis == GPU_H_COSET) {
			coset_c_part(&c, &s->v, s->cs->n_inputs + i);
			fr_add(&v, &v, &c);
		}
		fr_to_scalar(&s->l[i], &v);
	}
}

/* Those of v that are not zero; their number, no more than room. */
static uint64_t take_nonzero(struct scalar *out, uint64_t room, const struct fr *v, uint64_t n)
{
	uint64_t i, k = 0;

	for (i = 0; i < n; i++) {
		if (fr_is_zero(&v[i]))
			continue;
		if (k < room)
			fr_to_scalar(&out[k], &v[i]);
		k++;
	}
	return k;
}

static int make_scalars(struct scalars *s, struct tpool *pool, struct cuzk_error *err)
{
	const struct cs *cs = s->cs;
	int ret;

	ret = make_values_init(&s->v, cs, s->toxic, s->basis, pool, err);
	if (ret)
		return ret;
	s->n_h = (1ull << cs->log_domain) - (s->basis == GPU_H_POWERS);
	s->n_a = (uint64_t)cs->n_inputs + cs->n_a_aux;
	s->n_b = (uint64_t)cs->n_b_input + cs->n_b_aux;
	s->h = malloc((s->n_h + 1) * sizeof(*s->h));
	s->l = malloc((cs->n_aux + 1ull) * sizeof(*s->l));
	s->a = malloc((s->n_a + 1) * sizeof(*s->a));
	s->b = malloc((s->n_b + 1) * sizeof(*s->b));
	if (!s->h || !s->l || !s->a || !s->b)
		return error_nomem(err, "the parameters' scalars");
	tpool_run(pool, make_h, s, (s->n_h + CHUNK - 1) / CHUNK);
	tpool_run(pool, make_l, s, (cs->n_aux + (size_t)CHUNK - 1) / CHUNK);
	if (s->zero || take_nonzero(s->a, s->n_a, s->v.at, s->v.n_vars) != s->n_a ||
	    take_nonzero(s->b, s->n_b, s->v.bt, s->v.n_vars) != s->n_b)
		return error_set(err, CUZK_ERROR_INPUT, -EINVAL,
				 "the toxic waste makes a polynomial of the system vanish: "
				 "take another");
	return 0;
}

static void mul_g1(struct g1_affine *out, const struct fr *v)
{
	struct scalar s;
	struct g1 p;

	fr_to_scalar(&s, v);
	g1_mul_vartime(&p, &G1_GENERATOR, &s);
	g1_to_affine(out, &p);
}

static void mul_g2(struct g2_affine *out, const struct fr *v)
{
	struct scalar s;
	struct g2 p;

	fr_to_scalar(&s, v);
	g2_mul_vartime(&p, &G2_GENERATOR, &s);
	g2_to_affine(out, &p);
}

static int make_vk(const struct scalars *s, struct vk *vk, struct cuzk_error *err)
{
	const struct toxic_waste *t = s->toxic;
	uint32_t i;

	vk->n_ic = s->cs->n_inputs;
	vk->ic = malloc(vk->n_ic * sizeof(*vk->ic));
	if (!vk->ic)
		return error_nomem(err, "the verifying key");
	mul_g1(&vk->alpha_g1, &t->alpha);
	mul_g1(&vk->beta_g1, &t->beta);
	mul_g1(&vk->delta_g1, &t->delta);
	mul_g2(&vk->beta_g2, &t->beta);
	mul_g2(&vk->gamma_g2, &t->gamma);
	mul_g2(&vk->delta_g2, &t->delta);
	for (i = 0; i < vk->n_ic; i++) {
		struct fr v;

		make_combined(&v, &s->v, t, i);
		fr_mul(&v, &v, &s->v.inv_gamma);
		mul_g1(&vk->ic[i], &v);
	}
	return 0;
}

/* Of the part of C that is linear in the inputs. */
static int make_inputs(const struct scalars *s, struct g1_fixed **inputs, struct cuzk_error *err)
{
	struct g1_affine *points = malloc(s->cs->n_inputs * sizeof(*points));
	struct fr v;
	uint32_t i;
	int ret = points ? 0 : -ENOMEM;

	for (i = 0; i < s->cs->n_inputs && !ret; i++) {
		coset_c_part(&v, &s->v, i);
		mul_g1(&points[i], &v);
	}
	if (!ret)
		ret = g1_fixed_open(inputs, points, s->cs->n_inputs);
	free(points);
	return ret ? error_nomem(err, "the inputs' points") : 0;
}

int params_make_srs(const struct cs *cs, const struct toxic_waste *toxic, enum gpu_h_basis basis,
		    const struct gpu_ops *ops, struct gpu *gpu, struct tpool *pool,
		    struct gpu_srs **srs, struct vk *vk, struct g1_fixed **inputs,
		    struct cuzk_error *err)
{
	struct scalars s = { .cs = cs, .toxic = toxic, .basis = basis };
	struct gpu_srs_desc desc;
	uint64_t bad;
	int ret;

	ret = make_scalars(&s, pool, err);
	*inputs = NULL;
	if (!ret && basis == GPU_H_COSET)
		ret = make_inputs(&s, inputs, err);
	if (!ret)
		ret = make_vk(&s, vk, err);
	make_values_fini(&s.v);
	if (!ret) {
		desc = (struct gpu_srs_desc){
			.encoding = GPU_POINTS_SCALARS, .h_basis = basis,
			.n_h = s.n_h, .n_l = cs->n_aux, .n_a = s.n_a,
			.n_bg1 = s.n_b, .n_bg2 = s.n_b,
			.h = s.h, .l = s.l, .a = s.a, .bg1 = s.b, .bg2 = s.b,
		};
		ret = ops->srs_load(gpu, &desc, 0, srs, &bad);
		if (ret) {
			vk_fini(vk);
			error_set(err, ret == -ENOMEM ? CUZK_ERROR_RESOURCE : CUZK_ERROR_DEVICE, ret,
				  "making parameters on the device: %s", strerror(-ret));
		}
	}
	if (ret) {
		g1_fixed_close(*inputs);
		*inputs = NULL;
	}
	free(s.h);
	free(s.l);
	free(s.a);
	free(s.b);
	return ret;
}
