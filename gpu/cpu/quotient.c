/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* quotient.c - the h scalars from the values of A and B on the domain */
/*
 * Let n be the length, Z = x^n - 1, and C the polynomial of degree below n with
 * C = A B on the domain, so that A B = C + h Z with h of degree at most n - 2.
 *
 * Powers (bellman).  Take a coset g with g^n = -1, where Z = -2.  The
 * polynomial D of degree below n with D = A B there is A B mod x^n + 1, which
 * is C + h Z mod x^n + 1 = C - 2 h.  Hence h = (C - D) / 2: two transforms
 * each to bring A and B to the coset, one each for C and D, six in all, and
 * no division.  bellman takes seven, on the coset of 7; h is the same.
 *
 * Odd coset (snarkjs).  The scalars are A B - C at the points g w^i, g of order
 * 2n; also six.
 *
 * Coset.  Both terms of h = (C - D) / 2 are linear in the values of A B, C in
 * those on the domain, D in those on the coset by g.  So the sum over H_i, the
 * points of bellman's h, is one over points that belong to these values,
 *
 *	sum h_i H_i = sum_j (A B)(w^j) U_j + sum_j (A B)(g w^j) V_j,
 *	U_j = 1/(2n) sum_i w^(-ij) H_i,  V_j = -1/(2n) sum_i (g w^j)^-i H_i,
 *
 * and h is never formed.  A B = C on the domain where the system is satisfied,
 * and C is linear in the witness: the first sum is one over the variables, with
 * points that are added to those of l once and for all.  What is left of the
 * quotient is (A B)(g w^j): four transforms.
 *
 * Three vectors take part: a, b and h.  Elements are brought to the coset in
 * place, through the order "digits" (ntt.h), so nothing is ever permuted.
 */
#include <errno.h>

#include "gpu/cpu/ntt_plan.h"

struct quotient {
	struct ntt_plan forward, inverse;
	struct fr g, g_inv;	/* of order 2n */
	struct fr n_inv;
	struct fr product;	/* what a product of two data is short by */
};

static int quotient_init(struct quotient *q, struct ntt *ntt, unsigned int log_n,
			 const struct fr *root32)
{
	int err;

	ntt_root(&q->g, root32, log_n + 1);
	fr_inv_vartime(&q->g_inv, &q->g);
	fr_from_u64(&q->n_inv, 1ull << log_n);
	fr_inv_vartime(&q->n_inv, &q->n_inv);
	fr_from_u64(&q->product, ntt_impl(ntt)->product_factor);
	err = ntt_plan_init(&q->inverse, ntt, log_n, root32, true);
	if (err)
		return err;
	return ntt_plan_init(&q->forward, ntt, log_n, root32, false);
}

/* Values on the domain to values on the coset, in place. */
static int to_coset(const struct quotient *q, struct fr *data)
{
	struct ntt_around around = { .scale = &q->n_inv, .post = &q->g };
	int err;

	err = ntt_chain_first(&q->inverse, data, data, &around);
	if (err)
		return err;
	return ntt_chain_around(&q->inverse, &q->forward, data, &around);
}

static int quotient_powers(const struct quotient *q, struct fr *a, struct fr *b, struct fr *h)
{
	struct ntt_around c_around = { .src2 = b }, d_around = { .src2 = b };
	struct fr c_scale, d_scale, two_inv, canonical = {{ 1 }};	/* 2^-256 */
	int err;

	/* of C and D: 1/2n, what the product lacks, and out of Montgomery form */
	fr_from_u64(&two_inv, 2);
	fr_inv_vartime(&two_inv, &two_inv);
	fr_mul(&c_scale, &q->n_inv, &two_inv);
	fr_mul(&c_scale, &c_scale, &q->product);
	fr_mul(&c_scale, &c_scale, &canonical);
	fr_neg(&d_scale, &c_scale);
	c_around.scale = &c_scale;
	d_around.scale = &d_scale;
	d_around.post = &q->g_inv;

	err = ntt_chain_first(&q->inverse, a, h, &c_around);
	if (err)
		return err;
	err = to_coset(q, a);
	if (err)
		return err;
	err = to_coset(q, b);
	if (err)
		return err;
	err = ntt_chain_first(&q->inverse, a, b, &d_around);
	if (err)
		return err;
	err = ntt_chain_last(&q->inverse, h, a, &c_around);
	if (err)
		return err;
	d_around.add = a;
	return ntt_chain_last(&q->inverse, b, h, &d_around);
}

struct minus {
	const struct ntt_impl *impl;
	struct scalar *h;
	const struct fr *a, *b, *c;
};

static void minus_piece(void *arg, size_t begin, size_t end, void *buffer)
{
	const struct minus *m = arg;

	m->impl->product_minus(m->h + begin, m->a + begin, m->b + begin,
			       m->c ? m->c + begin : NULL, end - begin);
}

static int quotient_odd_coset(const struct quotient *q, struct ntt *ntt, struct fr *a,
			      struct fr *b, struct fr *h)
{
	struct ntt_around around = { .src2 = b, .post = &q->g };
	struct minus minus = { ntt_impl(ntt), (struct scalar *)h, a, b, h };
	struct fr scale;
	int err;

	fr_mul(&scale, &q->n_inv, &q->product);
	around.scale = &scale;
	err = ntt_chain_first(&q->inverse, a, h, &around);
	if (err)
		return err;
	err = ntt_chain_around(&q->inverse, &q->forward, h, &around);
	if (err)
		return err;
	err = to_coset(q, a);
	if (err)
		return err;
	err = to_coset(q, b);
	if (err)
		return err;
	return ntt_for(ntt, (size_t)1 << q->inverse.log_n, 1 << 14, 1, minus_piece, &minus);
}

static int quotient_coset(const struct quotient *q, struct ntt *ntt, struct fr *a, struct fr *b,
			  struct scalar *h)
{
	struct minus product = { ntt_impl(ntt), h, a, b, NULL };
	int err;

	err = to_coset(q, a);
	if (!err)
		err = to_coset(q, b);
	if (err)
		return err;
	return ntt_for(ntt, (size_t)1 << q->inverse.log_n, 1 << 14, 1, minus_piece, &product);
}

/* Values on the domain to values on the coset of g, in place. */
static void small_to_coset(struct fr *data, unsigned int log_n, const struct fr *w,
			   const struct fr *g)
{
	struct fr w_inv, f;
	size_t i;

	fr_inv_vartime(&w_inv, w);
	ntt_small(data, log_n, &w_inv);
	fr_from_u64(&f, 1ull << log_n);
	fr_inv_vartime(&f, &f);
	for (i = 0; i < (size_t)1 << log_n; i++) {
		fr_mul(&data[i], &data[i], &f);
		fr_mul(&f, &f, g);
	}
	ntt_small(data, log_n, w);
}

/* The same, for lengths that have no plan. */
static void quotient_small(struct fr *a, struct fr *b, unsigned int log_n,
			   enum gpu_h_basis basis, struct scalar *h)
{
	const struct fr *root32 = basis == GPU_H_ODD_COSET ? &FR_ROOT_5 : &FR_ROOT_7;
	const size_t n = (size_t)1 << log_n;
	struct fr c[1 << NTT_PLAN_MIN_LOG_N], w, w_inv, g, f;
	size_t i;

	ntt_root(&w, root32, log_n);
	ntt_root(&g, root32, log_n + 1);
	for (i = 0; i < n; i++)
		fr_mul(&c[i], &a[i], &b[i]);
	small_to_coset(a, log_n, &w, &g);
	small_to_coset(b, log_n, &w, &g);
	small_to_coset(c, log_n, &w, &g);
	for (i = 0; i < n; i++) {
		fr_mul(&a[i], &a[i], &b[i]);
		if (basis != GPU_H_COSET)
			fr_sub(&a[i], &a[i], &c[i]);
	}
	if (basis == GPU_H_POWERS) {
		/* h Z = -2 h on the coset */
		fr_inv_vartime(&w_inv, &w);
		ntt_small(a, log_n, &w_inv);
		fr_from_u64(&f, 2ull << log_n);
		fr_inv_vartime(&f, &f);
		fr_neg(&f, &f);
		fr_inv_vartime(&g, &g);
		for (i = 0; i < n; i++) {
			fr_mul(&a[i], &a[i], &f);
			fr_mul(&f, &f, &g);
		}
	}
	for (i = 0; i < n; i++)
		fr_to_scalar(&h[i], &a[i]);
}

int ntt_quotient(struct ntt *ntt, struct fr *a, struct fr *b, unsigned int log_n,
		 enum gpu_h_basis basis, struct scalar *h)
{
	const struct fr *root32 = basis == GPU_H_ODD_COSET ? &FR_ROOT_5 : &FR_ROOT_7;
	const unsigned int transforms = basis == GPU_H_COSET ? 4 : 6;
	struct quotient q;
	int err;

	if (log_n >= NTT_MAX_LOG_N)
		return -EINVAL;
	if (log_n < NTT_PLAN_MIN_LOG_N) {
		quotient_small(a, b, log_n, basis, h);
		return 0;
	}
	err = quotient_init(&q, ntt, log_n, root32);
	if (err)
		return err;
	ctl_begin(ntt_ctl(ntt), GPU_STAGE_NTT,
		  (uint64_t)(transforms * q.forward.n_pass - 2) << log_n);
	if (basis == GPU_H_COSET)
		return quotient_coset(&q, ntt, a, b, h);
	if (basis == GPU_H_POWERS)
		return quotient_powers(&q, a, b, (struct fr *)h);
	return quotient_odd_coset(&q, ntt, a, b, (struct fr *)h);
}
