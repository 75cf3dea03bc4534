/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* fp12_impl.h - Fp6 and Fp12 over Fp2 */

static void fp6_add(struct fp6 *r, const struct fp6 *a, const struct fp6 *b)
{
	fp2_add(&r->c0, &a->c0, &b->c0);
	fp2_add(&r->c1, &a->c1, &b->c1);
	fp2_add(&r->c2, &a->c2, &b->c2);
}

static void fp6_sub(struct fp6 *r, const struct fp6 *a, const struct fp6 *b)
{
	fp2_sub(&r->c0, &a->c0, &b->c0);
	fp2_sub(&r->c1, &a->c1, &b->c1);
	fp2_sub(&r->c2, &a->c2, &b->c2);
}

static void fp6_neg(struct fp6 *r, const struct fp6 *a)
{
	fp2_neg(&r->c0, &a->c0);
	fp2_neg(&r->c1, &a->c1);
	fp2_neg(&r->c2, &a->c2);
}

static void fp6_mul_v(struct fp6 *r, const struct fp6 *a)
{
	struct fp2 t;

	fp2_mul_xi(&t, &a->c2);
	r->c2 = a->c1;
	r->c1 = a->c0;
	r->c0 = t;
}

static void fp2w_add(struct fp2w *r, const struct fp2w *a, const struct fp2w *b)
{
	fpw_add(&r->c0, &a->c0, &b->c0);
	fpw_add(&r->c1, &a->c1, &b->c1);
}

static void fp2w_sub(struct fp2w *r, const struct fp2w *a, const struct fp2w *b)
{
	fpw_sub(&r->c0, &a->c0, &b->c0);
	fpw_sub(&r->c1, &a->c1, &b->c1);
}

/* a + xi b */
static void fp2w_add_xi(struct fp2w *r, const struct fp2w *a, const struct fp2w *b)
{
	struct fpw d, s;

	fpw_sub(&d, &b->c0, &b->c1);
	fpw_add(&s, &b->c0, &b->c1);
	fpw_add(&r->c0, &a->c0, &d);
	fpw_add(&r->c1, &a->c1, &s);
}

/*
 * Karatsuba on each pair of coefficients, 6 products in Fp2, and one
 * reduction of each sum of products.
 */
static void fp6_mul(struct fp6 *r, const struct fp6 *a, const struct fp6 *b)
{
	struct fp2w v0, v1, v2, c0, c1, c2;
	struct fp2 s, t;

	fp2w_mul(&v0, &a->c0, &b->c0);
	fp2w_mul(&v1, &a->c1, &b->c1);
	fp2w_mul(&v2, &a->c2, &b->c2);

	fp2_add(&s, &a->c1, &a->c2);
	fp2_add(&t, &b->c1, &b->c2);
	fp2w_mul(&c0, &s, &t);
	fp2w_sub(&c0, &c0, &v1);
	fp2w_sub(&c0, &c0, &v2);
	fp2w_add_xi(&c0, &v0, &c0);

	fp2_add(&s, &a->c0, &a->c1);
	fp2_add(&t, &b->c0, &b->c1);
	fp2w_mul(&c1, &s, &t);
	fp2w_sub(&c1, &c1, &v0);
	fp2w_sub(&c1, &c1, &v1);
	fp2w_add_xi(&c1, &c1, &v2);

	fp2_add(&s, &a->c0, &a->c2);
	fp2_add(&t, &b->c0, &b->c2);
	fp2w_mul(&c2, &s, &t);
	fp2w_sub(&c2, &c2, &v0);
	fp2w_sub(&c2, &c2, &v2);
	fp2w_add(&c2, &c2, &v1);

	fp2w_redc(&r->c0, &c0);
	fp2w_redc(&r->c1, &c1);
	fp2w_redc(&r->c2, &c2);
}

/* a (b0 + b1 v) */
static void fp6_mul_01(struct fp6 *r, const struct fp6 *a, const struct fp2 *b0,
		       const struct fp2 *b1)
{
	struct fp2 v0, v1, s, t, c0, c2;

	fp2_mul(&v0, &a->c0, b0);
	fp2_mul(&v1, &a->c1, b1);
	fp2_mul(&c0, &a->c2, b1);
	fp2_mul_xi(&c0, &c0);
	fp2_mul(&c2, &a->c2, b0);
	fp2_add(&s, &a->c0, &a->c1);
	fp2_add(&t, b0, b1);
	fp2_mul(&s, &s, &t);
	fp2_sub(&s, &s, &v0);
	fp2_sub(&r->c1, &s, &v1);
	fp2_add(&r->c0, &c0, &v0);
	fp2_add(&r->c2, &c2, &v1);
}

static void fp6_mul_fp2(struct fp6 *r, const struct fp6 *a, const struct fp2 *b)
{
	fp2_mul(&r->c0, &a->c0, b);
	fp2_mul(&r->c1, &a->c1, b);
	fp2_mul(&r->c2, &a->c2, b);
}

/* Through the norm to Fp2 (Guide to Pairing-Based Cryptography, algorithm 5.23). */
static void fp6_inv_vartime(struct fp6 *r, const struct fp6 *a)
{
	struct fp2 c0, c1, c2, t, n;

	fp2_sqr(&c0, &a->c0);			/* a0^2 - xi a1 a2 */
	fp2_mul(&t, &a->c1, &a->c2);
	fp2_mul_xi(&t, &t);
	fp2_sub(&c0, &c0, &t);
	fp2_sqr(&c1, &a->c2);			/* xi a2^2 - a0 a1 */
	fp2_mul_xi(&c1, &c1);
	fp2_mul(&t, &a->c0, &a->c1);
	fp2_sub(&c1, &c1, &t);
	fp2_sqr(&c2, &a->c1);			/* a1^2 - a0 a2 */
	fp2_mul(&t, &a->c0, &a->c2);
	fp2_sub(&c2, &c2, &t);

	fp2_mul(&n, &a->c1, &c2);		/* a0 c0 + xi (a1 c2 + a2 c1) */
	fp2_mul(&t, &a->c2, &c1);
	fp2_add(&n, &n, &t);
	fp2_mul_xi(&n, &n);
	fp2_mul(&t, &a->c0, &c0);
	fp2_add(&n, &n, &t);
	fp2_inv_vartime(&n, &n);
	fp2_mul(&r->c0, &c0, &n);
	fp2_mul(&r->c1, &c1, &n);
	fp2_mul(&r->c2, &c2, &n);
}

void fp12_mul(struct fp12 *r, const struct fp12 *a, const struct fp12 *b)
{
	struct fp6 v0, v1, s, t;

	fp6_mul(&v0, &a->c0, &b->c0);
	fp6_mul(&v1, &a->c1, &b->c1);
	fp6_add(&s, &a->c0, &a->c1);
	fp6_add(&t, &b->c0, &b->c1);
	fp6_mul(&s, &s, &t);
	fp6_sub(&s, &s, &v0);
	fp6_sub(&r->c1, &s, &v1);
	fp6_mul_v(&v1, &v1);
	fp6_add(&r->c0, &v0, &v1);
}

/* c0 = (a0 + a1)(a0 + v a1) - (1 + v) a0 a1, c1 = 2 a0 a1 */
void fp12_sqr(struct fp12 *r, const struct fp12 *a)
{
	struct fp6 m, s, t;

	fp6_mul(&m, &a->c0, &a->c1);
	fp6_add(&s, &a->c0, &a->c1);
	fp6_mul_v(&t, &a->c1);
	fp6_add(&t, &t, &a->c0);
	fp6_mul(&s, &s, &t);
	fp6_sub(&s, &s, &m);
	fp6_add(&r->c1, &m, &m);
	fp6_mul_v(&m, &m);
	fp6_sub(&r->c0, &s, &m);
}

void fp12_conj(struct fp12 *r, const struct fp12 *a)
{
	r->c0 = a->c0;
	fp6_neg(&r->c1, &a->c1);
}

/* (a0 - a1 w) / (a0^2 - v a1^2) */
void fp12_inv_vartime(struct fp12 *r, const struct fp12 *a)
{
	struct fp6 n, t;

	fp6_mul(&n, &a->c0, &a->c0);
	fp6_mul(&t, &a->c1, &a->c1);
	fp6_mul_v(&t, &t);
	fp6_sub(&n, &n, &t);
	fp6_inv_vartime(&n, &n);
	fp6_mul(&r->c0, &a->c0, &n);
	fp6_neg(&n, &n);
	fp6_mul(&r->c1, &a->c1, &n);
}

/* The coefficients of w^0, w^2, w^4 are in c0, those of w^1, w^3, w^5 in c1. */
void fp12_frobenius(struct fp12 *r, const struct fp12 *a)
{
	fp2_conj(&r->c0.c0, &a->c0.c0);
	fp2_conj(&r->c0.c1, &a->c0.c1);
	fp2_conj(&r->c0.c2, &a->c0.c2);
	fp2_conj(&r->c1.c0, &a->c1.c0);
	fp2_conj(&r->c1.c1, &a->c1.c1);
	fp2_conj(&r->c1.c2, &a->c1.c2);
	fp2_mul(&r->c1.c0, &r->c1.c0, &FROB_1);
	fp2_mul(&r->c0.c1, &r->c0.c1, &FROB_2);
	fp2_mul(&r->c1.c1, &r->c1.c1, &FROB_3);
	fp2_mul(&r->c0.c2, &r->c0.c2, &FROB_4);
	fp2_mul(&r->c1.c2, &r->c1.c2, &FROB_5);
}

void fp12_frobenius2(struct fp12 *r, const struct fp12 *a)
{
	r->c0.c0 = a->c0.c0;
	fp2_mul_fp(&r->c1.c0, &a->c1.c0, &FROB2_1);
	fp2_mul_fp(&r->c0.c1, &a->c0.c1, &FROB2_2);
	fp2_mul_fp(&r->c1.c1, &a->c1.c1, &FROB2_3);
	fp2_mul_fp(&r->c0.c2, &a->c0.c2, &FROB2_4);
	fp2_mul_fp(&r->c1.c2, &a->c1.c2, &FROB2_5);
}

/* (a + b s)^2 for s^2 = xi: a^2 + xi b^2 and 2 a b */
static void fp4_sqr(struct fp2 *c0, struct fp2 *c1, const struct fp2 *a, const struct fp2 *b)
{
	struct fp2 aa, bb, s;

	fp2_add(&s, a, b);
	fp2_sqr(&aa, a);
	fp2_sqr(&bb, b);
	fp2_sqr(&s, &s);
	fp2_sub(&s, &s, &aa);
	fp2_sub(c1, &s, &bb);
	fp2_mul_xi(&bb, &bb);
	fp2_add(c0, &aa, &bb);
}

/* 3 t - 2 z and 3 t + 2 z */
static void fp2_3t_minus_2z(struct fp2 *z, const struct fp2 *t)
{
	struct fp2 d;

	fp2_sub(&d, t, z);
	fp2_double(&d, &d);
	fp2_add(z, &d, t);
}

static void fp2_3t_plus_2z(struct fp2 *z, const struct fp2 *t)
{
	struct fp2 d;

	fp2_add(&d, t, z);
	fp2_double(&d, &d);
	fp2_add(z, &d, t);
}

/*
 * Granger, Scott, "Faster squaring in the cyclotomic subgroup of sixth degree
 * extensions", 2010.  z0..z5 as there: c0 = (z0, z4, z3), c1 = (z2, z1, z5).
 */
static void cyclotomic_sqr_2345(struct fp12 *a)
{
	struct fp2 t0, t1, t2, t3;

	fp4_sqr(&t0, &t1, &a->c1.c0, &a->c0.c2);	/* z2, z3 */
	fp4_sqr(&t2, &t3, &a->c0.c1, &a->c1.c2);	/* z4, z5 */
	fp2_3t_minus_2z(&a->c0.c1, &t0);
	fp2_3t_plus_2z(&a->c1.c2, &t1);
	fp2_mul_xi(&t3, &t3);
	fp2_3t_plus_2z(&a->c1.c0, &t3);
	fp2_3t_minus_2z(&a->c0.c2, &t2);
}

void fp12_cyclotomic_sqr(struct fp12 *r, const struct fp12 *a)
{
	struct fp2 t0, t1;

	*r = *a;
	fp4_sqr(&t0, &t1, &r->c0.c0, &r->c1.c1);	/* z0, z1 */
	fp2_3t_minus_2z(&r->c0.c0, &t0);
	fp2_3t_plus_2z(&r->c1.c1, &t1);
	cyclotomic_sqr_2345(r);
}

/*
 * z1 and z0 of an element of the cyclotomic subgroup from its other four
 * coefficients (Karabina, "Squaring in cyclotomic subgroups", 2013):
 *	z1 = (xi z5^2 + 3 z4^2 - 2 z3) / (4 z2), or 2 z4 z5 / z3 where z2 = 0
 *	z0 = xi (2 z1^2 + z2 z5 - 3 z3 z4) + 1
 * This part gives z1's numerator and denominator, which is 1 where all four
 * are 0, the element being 1.
 */
static void karabina_fraction(struct fp2 *num, struct fp2 *den, const struct fp12 *a)
{
	const struct fp2 *z2 = &a->c1.c0, *z3 = &a->c0.c2, *z4 = &a->c0.c1, *z5 = &a->c1.c2;
	struct fp2 t;

	if (fp2_is_zero(z2)) {
		fp2_mul(num, z4, z5);
		fp2_double(num, num);
		*den = fp2_is_zero(z3) ? fp2_one : *z3;
		return;
	}
	fp2_sqr(num, z5);
	fp2_mul_xi(num, num);
	fp2_sqr(&t, z4);
	fp2_add(num, num, &t);
	fp2_sub(&t, &t, z3);
	fp2_double(&t, &t);
	fp2_add(num, num, &t);
	fp2_double(den, z2);
	fp2_double(den, den);
}

static void karabina_finish(struct fp12 *a, const struct fp2 *num, const struct fp2 *inv_den)
{
	const struct fp2 *z2 = &a->c1.c0, *z3 = &a->c0.c2, *z4 = &a->c0.c1, *z5 = &a->c1.c2;
	struct fp2 s, t;

	fp2_mul(&a->c1.c1, num, inv_den);
	fp2_sqr(&s, &a->c1.c1);
	fp2_mul(&t, z3, z4);
	fp2_sub(&s, &s, &t);
	fp2_double(&s, &s);
	fp2_sub(&s, &s, &t);
	fp2_mul(&t, z2, z5);
	fp2_add(&s, &s, &t);
	fp2_mul_xi(&s, &s);
	fp2_add(&a->c0.c0, &s, &fp2_one);
}

/*
 * |z| = 2^48 (2^15 + 2^14 + 2^12 + 2^9 + 1) + 2^16.  The 48 squarings at the
 * bottom are of compressed elements, 6 squarings in Fp2 instead of 9; two of
 * them are decompressed with one inversion.
 */
void fp12_cyclotomic_exp_abs_z(struct fp12 *r, const struct fp12 *a)
{
	struct fp2 num16, den16, num48, den48, inv, t;
	struct fp12 a16 = *a, a48, acc;
	int i;

	for (i = 0; i < 16; i++)
		cyclotomic_sqr_2345(&a16);
	a48 = a16;
	for (; i < 48; i++)
		cyclotomic_sqr_2345(&a48);
	karabina_fraction(&num16, &den16, &a16);
	karabina_fraction(&num48, &den48, &a48);
	fp2_mul(&inv, &den16, &den48);
	fp2_inv_vartime(&inv, &inv);
	fp2_mul(&t, &inv, &den48);
	karabina_finish(&a16, &num16, &t);
	fp2_mul(&t, &inv, &den16);
	karabina_finish(&a48, &num48, &t);

	acc = a48;
	for (i = 62; i >= 48; i--) {
		fp12_cyclotomic_sqr(&acc, &acc);
		if (BLS_ABS_Z >> i & 1)
			fp12_mul(&acc, &acc, &a48);
	}
	fp12_mul(r, &acc, &a16);
}
