/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * fp2_impl.h - Fp2 = Fp[u] / (u^2 + 1)
 *
 * Products are summed before their Montgomery reduction (Aranha et al.,
 * "Faster explicit formulas for computing pairings over ordinary curves",
 * 2011): 3 products and 2 reductions for a multiplication.
 */

#ifndef BLS_OWN_FP2
/* a + b without reduction: below 2p if a and b are below p */
static force_inline void fp_add_unreduced(struct fp *r, const struct fp *a, const struct fp *b)
{
	uint64_t carry = 0;
	int i;

	UNROLL
	for (i = 0; i < 6; i++)
		carry = limb_addc(&r->l[i], a->l[i], b->l[i], carry);
}

/* a - b, which is not negative */
static force_inline void fpw_sub_exact(struct fpw *r, const struct fpw *a, const struct fpw *b)
{
	uint64_t borrow = 0;
	int i;

	UNROLL
	for (i = 0; i < 12; i++)
		borrow = limb_subb(&r->l[i], a->l[i], b->l[i], borrow);
}

/* a - b mod p 2^384 */
static force_inline void fpw_sub(struct fpw *r, const struct fpw *a, const struct fpw *b)
{
	uint64_t borrow = 0, carry = 0, mask;
	int i;

	UNROLL
	for (i = 0; i < 12; i++)
		borrow = limb_subb(&r->l[i], a->l[i], b->l[i], borrow);
	mask = -borrow;
	UNROLL
	for (i = 0; i < 6; i++)
		carry = limb_addc(&r->l[6 + i], r->l[6 + i], P_LIMBS[i] & mask, carry);
}

/* a + b mod p 2^384 */
static force_inline void fpw_add(struct fpw *r, const struct fpw *a, const struct fpw *b)
{
	uint64_t carry = 0;
	int i;

	UNROLL
	for (i = 0; i < 12; i++)
		carry = limb_addc(&r->l[i], a->l[i], b->l[i], carry);
	limbs_reduce_once(r->l + 6, r->l + 6, carry, P_LIMBS, 6);
}

void fp2_add(struct fp2 *r, const struct fp2 *a, const struct fp2 *b)
{
	fp_add(&r->c0, &a->c0, &b->c0);
	fp_add(&r->c1, &a->c1, &b->c1);
}

void fp2_sub(struct fp2 *r, const struct fp2 *a, const struct fp2 *b)
{
	fp_sub(&r->c0, &a->c0, &b->c0);
	fp_sub(&r->c1, &a->c1, &b->c1);
}
#endif

void fp2_neg(struct fp2 *r, const struct fp2 *a)
{
	fp_neg(&r->c0, &a->c0);
	fp_neg(&r->c1, &a->c1);
}

void fp2_double(struct fp2 *r, const struct fp2 *a)
{
	fp_double(&r->c0, &a->c0);
	fp_double(&r->c1, &a->c1);
}

void fp2_conj(struct fp2 *r, const struct fp2 *a)
{
	r->c0 = a->c0;
	fp_neg(&r->c1, &a->c1);
}

void fp2_mul_xi(struct fp2 *r, const struct fp2 *a)
{
	struct fp t;

	fp_add(&t, &a->c0, &a->c1);
	fp_sub(&r->c0, &a->c0, &a->c1);
	r->c1 = t;
}

void fp2_mul_fp(struct fp2 *r, const struct fp2 *a, const struct fp *b)
{
	struct fp t = *b;

	fp_mul(&r->c0, &a->c0, &t);
	fp_mul(&r->c1, &a->c1, &t);
}

#ifndef BLS_OWN_FP2
static void fp2w_mul(struct fp2w *r, const struct fp2 *a, const struct fp2 *b)
{
	struct fp sa, sb;
	struct fpw t;

	fp_add_unreduced(&sa, &a->c0, &a->c1);
	fp_add_unreduced(&sb, &b->c0, &b->c1);
	fpw_mul(&r->c0, &a->c0, &b->c0);
	fpw_mul(&t, &a->c1, &b->c1);
	fpw_mul(&r->c1, &sa, &sb);		/* 4 p^2 < p 2^384 */
	fpw_sub_exact(&r->c1, &r->c1, &r->c0);
	fpw_sub_exact(&r->c1, &r->c1, &t);
	fpw_sub(&r->c0, &r->c0, &t);
}

static void fp2w_redc(struct fp2 *r, const struct fp2w *a)
{
	fpw_redc(&r->c0, &a->c0);
	fpw_redc(&r->c1, &a->c1);
}

void fp2_mul(struct fp2 *r, const struct fp2 *a, const struct fp2 *b)
{
	struct fp2w t;

	FP2_CHECK(a);
	FP2_CHECK(b);
	fp2w_mul(&t, a, b);
	fp2w_redc(r, &t);
}

void fp2_sqr(struct fp2 *r, const struct fp2 *a)
{
	struct fp s, d, t;

	fp_add(&s, &a->c0, &a->c1);
	fp_sub(&d, &a->c0, &a->c1);
	fp_double(&t, &a->c0);
	fp_mul(&r->c1, &t, &a->c1);
	fp_mul(&r->c0, &s, &d);
}
#endif

void fp2_inv_vartime(struct fp2 *r, const struct fp2 *a)
{
	struct fp n, t;

	fp_sqr(&n, &a->c0);
	fp_sqr(&t, &a->c1);
	fp_add(&n, &n, &t);
	fp_inv_vartime(&n, &n);
	fp_mul(&r->c0, &a->c0, &n);
	fp_neg(&n, &n);
	fp_mul(&r->c1, &a->c1, &n);
}

void fp2_batch_inv_vartime(struct fp2 *a, size_t n, struct fp2 *tmp)
{
	struct fp2 acc = fp2_one;
	size_t i;

	for (i = 0; i < n; i++) {
		tmp[i] = acc;
		if (!fp2_is_zero(&a[i]))
			fp2_mul(&acc, &acc, &a[i]);
	}
	fp2_inv_vartime(&acc, &acc);
	for (i = n; i-- > 0;) {
		struct fp2 inv;

		if (fp2_is_zero(&a[i]))
			continue;
		fp2_mul(&inv, &acc, &tmp[i]);
		fp2_mul(&acc, &acc, &a[i]);
		a[i] = inv;
	}
}

/*
 * The complex method with two exponentiations and no inversion.  With
 * n = sqrt(c0^2 + c1^2) the root is x + c1/(2x) u for x^2 = (c0 + n) / 2 or
 * (c0 - n) / 2.  Let d = (c0 + n) / 2 and w = d^((p-3)/4), so that 1/x is +-w
 * and x = d w where d is a square; where it is not, (d w)^2 = -d and, as the
 * product of the two choices is -(c1/2)^2, c1/2 w is a root of (c0 - n) / 2.
 */
bool fp2_sqrt(struct fp2 *r, const struct fp2 *a)
{
	struct fp n, d, w, x, h;
	struct fp2 s, t;

	fp_sqr(&n, &a->c0);
	fp_sqr(&x, &a->c1);
	fp_add(&n, &n, &x);
	if (!fp_sqrt(&n, &n))
		return false;
	fp_add(&d, &a->c0, &n);
	if (fp_is_zero(&d))		/* c1 = 0 and n = -c0: take the other sign of n */
		d = a->c0;
	else
		fp_mul(&d, &d, &FP_HALF);
	fp_mul(&h, &a->c1, &FP_HALF);
	fp_pow_vartime(&w, &d, P_MINUS_3_DIV_4, 6);
	fp_mul(&x, &d, &w);
	fp_mul(&h, &h, &w);
	fp_sqr(&n, &x);
	if (fp_equal(&n, &d)) {
		s.c0 = x;
		s.c1 = h;
	} else {
		s.c0 = h;
		s.c1 = x;
	}
	fp2_sqr(&t, &s);
	if (!fp2_equal(&t, a)) {
		fp_neg(&s.c1, &s.c1);
		fp2_sqr(&t, &s);
		if (!fp2_equal(&t, a))
			return false;
	}
	*r = s;
	return true;
}

bool fp2_is_larger_half(const struct fp2 *a)
{
	return fp_is_larger_half(fp_is_zero(&a->c1) ? &a->c0 : &a->c1);
}
