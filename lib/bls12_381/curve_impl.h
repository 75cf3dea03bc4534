/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * curve_impl.h - y^2 = x^3 + b over a field, in affine and Jacobian coordinates
 *
 * Included once per group with
 *   G(name)   g1_name or g2_name
 *   F(name)   fp_name or fp2_name
 *   POINT, AFFINE, FE   struct g1, struct g1_affine, struct fp; or those of G2
 *   CURVE_B   pointer to b
 * Formulas: hyperelliptic.org/EFD/g1p/auto-shortw-jacobian-0.html
 * (dbl-2009-l, add-2007-bl, madd-2007-bl).
 */

static bool G(curve_holds)(const FE *x, const FE *y, const FE *b)
{
	FE l, r;

	F(sqr)(&l, y);
	F(sqr)(&r, x);
	F(mul)(&r, &r, x);
	F(add)(&r, &r, b);
	return F(equal)(&l, &r);
}

bool G(affine_is_on_curve)(const AFFINE *a)
{
	return G(affine_is_infinity)(a) || G(curve_holds)(&a->x, &a->y, CURVE_B);
}

/* Y^2 = X^3 + b Z^6 */
bool G(is_on_curve)(const POINT *a)
{
	FE b;

	if (G(is_infinity)(a))
		return true;
	F(sqr)(&b, &a->z);
	F(mul)(&b, &b, &a->z);
	F(sqr)(&b, &b);
	F(mul)(&b, &b, CURVE_B);
	return G(curve_holds)(&a->x, &a->y, &b);
}

bool G(affine_equal)(const AFFINE *a, const AFFINE *b)
{
	return F(equal)(&a->x, &b->x) && F(equal)(&a->y, &b->y);
}

bool G(equal)(const POINT *a, const POINT *b)
{
	FE za, zb, l, r;

	if (G(is_infinity)(a) || G(is_infinity)(b))
		return G(is_infinity)(a) && G(is_infinity)(b);
	F(sqr)(&za, &a->z);
	F(sqr)(&zb, &b->z);
	F(mul)(&l, &a->x, &zb);
	F(mul)(&r, &b->x, &za);
	if (!F(equal)(&l, &r))
		return false;
	F(mul)(&zb, &zb, &b->z);
	F(mul)(&za, &za, &a->z);
	F(mul)(&l, &a->y, &zb);
	F(mul)(&r, &b->y, &za);
	return F(equal)(&l, &r);
}

void G(affine_neg)(AFFINE *r, const AFFINE *a)
{
	r->x = a->x;
	F(neg)(&r->y, &a->y);
}

void G(neg)(POINT *r, const POINT *a)
{
	r->x = a->x;
	F(neg)(&r->y, &a->y);
	r->z = a->z;
}

void G(set_infinity)(POINT *r)
{
	r->x = F(one);
	r->y = F(one);
	r->z = F(zero);
}

void G(from_affine)(POINT *r, const AFFINE *a)
{
	if (G(affine_is_infinity)(a)) {
		G(set_infinity)(r);
		return;
	}
	r->x = a->x;
	r->y = a->y;
	r->z = F(one);
}

/* r = (x/z^2, y/z^3) for zi = 1/z */
static void G(scale)(AFFINE *r, const POINT *a, const FE *zi)
{
	FE z2, z3;

	F(sqr)(&z2, zi);
	F(mul)(&z3, &z2, zi);
	F(mul)(&r->x, &a->x, &z2);
	F(mul)(&r->y, &a->y, &z3);
}

void G(to_affine)(AFFINE *r, const POINT *a)
{
	FE zi;

	F(inv_vartime)(&zi, &a->z);	/* 0 for infinity, which gives (0, 0) */
	G(scale)(r, a, &zi);
}

void G(batch_to_affine)(AFFINE *r, const POINT *a, size_t n)
{
	FE acc = F(one), zi;
	size_t i;

	for (i = 0; i < n; i++) {	/* r[i].x: product of the z before i */
		r[i].x = acc;
		if (!G(is_infinity)(&a[i]))
			F(mul)(&acc, &acc, &a[i].z);
	}
	F(inv_vartime)(&acc, &acc);
	for (i = n; i-- > 0;) {
		if (G(is_infinity)(&a[i])) {
			r[i].x = F(zero);
			r[i].y = F(zero);
			continue;
		}
		F(mul)(&zi, &acc, &r[i].x);
		F(mul)(&acc, &acc, &a[i].z);
		G(scale)(&r[i], &a[i], &zi);
	}
}

void G(double)(POINT *r, const POINT *a)
{
	FE aa, b, c, d, e, f;

	F(sqr)(&aa, &a->x);
	F(sqr)(&b, &a->y);
	F(sqr)(&c, &b);
	F(add)(&d, &a->x, &b);		/* D = 2((X + B)^2 - A - C) */
	F(sqr)(&d, &d);
	F(sub)(&d, &d, &aa);
	F(sub)(&d, &d, &c);
	F(double)(&d, &d);
	F(double)(&e, &aa);		/* E = 3A */
	F(add)(&e, &e, &aa);
	F(sqr)(&f, &e);
	F(mul)(&r->z, &a->y, &a->z);
	F(double)(&r->z, &r->z);
	F(sub)(&f, &f, &d);
	F(sub)(&r->x, &f, &d);
	F(double)(&c, &c);
	F(double)(&c, &c);
	F(double)(&c, &c);
	F(sub)(&d, &d, &r->x);
	F(mul)(&d, &d, &e);
	F(sub)(&r->y, &d, &c);
}

/*
 * The common end of both additions: u1, s1 are a's coordinates on the common
 * denominator, h = u2 - u1 != 0, rr = 2 (s2 - s1); z gets 2 h times zz.
 */
static force_inline void G(add_tail)(POINT *r, const FE *u1, const FE *s1, const FE *h,
				      const FE *rr, const FE *z)
{
	FE i, j, v, t;

	F(double)(&i, h);
	F(mul)(&r->z, z, &i);		/* 2 h z */
	F(sqr)(&i, &i);			/* I = (2H)^2 */
	F(mul)(&j, h, &i);		/* J = H I */
	F(mul)(&v, u1, &i);		/* V = U1 I */
	F(mul)(&t, s1, &j);
	F(sqr)(&i, rr);
	F(sub)(&i, &i, &j);
	F(sub)(&i, &i, &v);
	F(sub)(&r->x, &i, &v);		/* X = rr^2 - J - 2V */
	F(sub)(&v, &v, &r->x);
	F(mul)(&v, &v, rr);
	F(double)(&t, &t);
	F(sub)(&r->y, &v, &t);		/* Y = rr (V - X) - 2 S1 J */
}

void G(add)(POINT *r, const POINT *a, const POINT *b)
{
	FE z1z1, z2z2, u1, s1, h, rr, z;

	if (G(is_infinity)(b)) {
		*r = *a;
		return;
	}
	if (G(is_infinity)(a)) {
		*r = *b;
		return;
	}
	F(sqr)(&z1z1, &a->z);
	F(sqr)(&z2z2, &b->z);
	F(mul)(&u1, &a->x, &z2z2);
	F(mul)(&h, &b->x, &z1z1);
	F(sub)(&h, &h, &u1);
	F(mul)(&z, &a->z, &b->z);
	F(mul)(&s1, &a->y, &b->z);
	F(mul)(&s1, &s1, &z2z2);
	F(mul)(&rr, &b->y, &a->z);
	F(mul)(&rr, &rr, &z1z1);
	F(sub)(&rr, &rr, &s1);
	if (F(is_zero)(&h)) {
		if (F(is_zero)(&rr))
			G(double)(r, a);
		else
			G(set_infinity)(r);
		return;
	}
	F(double)(&rr, &rr);
	G(add_tail)(r, &u1, &s1, &h, &rr, &z);
}

void G(add_affine)(POINT *r, const POINT *a, const AFFINE *b)
{
	FE z1z1, h, rr, u1, s1, z;

	if (G(affine_is_infinity)(b)) {
		*r = *a;
		return;
	}
	if (G(is_infinity)(a)) {
		G(from_affine)(r, b);
		return;
	}
	F(sqr)(&z1z1, &a->z);
	F(mul)(&h, &b->x, &z1z1);
	F(sub)(&h, &h, &a->x);
	F(mul)(&rr, &b->y, &a->z);
	F(mul)(&rr, &rr, &z1z1);
	F(sub)(&rr, &rr, &a->y);
	if (F(is_zero)(&h)) {
		if (F(is_zero)(&rr))
			G(double)(r, a);
		else
			G(set_infinity)(r);
		return;
	}
	F(double)(&rr, &rr);
	u1 = a->x;
	s1 = a->y;
	z = a->z;
	G(add_tail)(r, &u1, &s1, &h, &rr, &z);
}

/* Windows of 4 bits over a table of 1..15 times a. */
void G(mul_any_vartime)(POINT *r, const AFFINE *a, const uint64_t *k, size_t n_limbs)
{
	POINT table[16], acc;
	size_t i;

	G(set_infinity)(&acc);
	G(from_affine)(&table[1], a);
	G(double)(&table[2], &table[1]);
	for (i = 3; i < 16; i++)
		G(add_affine)(&table[i], &table[i - 1], a);
	for (i = n_limbs * 16; i-- > 0;) {
		unsigned int w = k[i / 16] >> (4 * (i % 16)) & 15;

		if (!G(is_infinity)(&acc)) {
			G(double)(&acc, &acc);
			G(double)(&acc, &acc);
			G(double)(&acc, &acc);
			G(double)(&acc, &acc);
		}
		if (w)
			G(add)(&acc, &acc, &table[w]);
	}
	*r = acc;
}

bool G(in_subgroup_slow)(const AFFINE *a)
{
	POINT t;

	G(mul_any_vartime)(&t, a, R_LIMBS, 4);
	return G(is_infinity)(&t);
}

/* |z| a: 63 doublings and 5 additions, for the set bits 63, 62, 60, 57, 48, 16. */
static void G(affine_mul_abs_z)(POINT *r, const AFFINE *a)
{
	POINT t;
	int i;

	G(from_affine)(&t, a);
	for (i = 62; i >= 0; i--) {
		G(double)(&t, &t);
		if (BLS_ABS_Z >> i & 1)
			G(add_affine)(&t, &t, a);
	}
	*r = t;
}

/* Whether a = b, both finite. */
static bool G(equal_affine)(const POINT *a, const AFFINE *b)
{
	FE z2, t;

	F(sqr)(&z2, &a->z);
	F(mul)(&t, &b->x, &z2);
	if (!F(equal)(&t, &a->x))
		return false;
	F(mul)(&z2, &z2, &a->z);
	F(mul)(&t, &b->y, &z2);
	return F(equal)(&t, &a->y);
}

/* table[i] = (2i + 1) a; a is finite and of an order above 15 */
static void G(odd_table)(AFFINE table[8], const AFFINE *a)
{
	POINT t[8], twice;
	int i;

	G(from_affine)(&t[0], a);
	G(double)(&twice, &t[0]);
	G(add_affine)(&t[1], &twice, a);
	for (i = 2; i < 8; i++)
		G(add)(&t[i], &t[i - 1], &twice);
	G(batch_to_affine)(table, t, 8);
}

/* sum over s of the n[s] digits, of wnaf() with width 5, times tables[s][0] */
static void G(strauss)(POINT *r, const AFFINE (*tables)[8], const struct wnaf_digit (*digits)[27],
		       const int *n, int n_tables)
{
	int left[4], i, s, top = 0;
	POINT acc;

	for (s = 0; s < n_tables; s++) {
		left[s] = n[s];
		if (n[s] && digits[s][n[s] - 1].pos > top)
			top = digits[s][n[s] - 1].pos;
	}
	G(set_infinity)(&acc);
	for (i = top; i >= 0; i--) {
		if (i < top)
			G(double)(&acc, &acc);
		for (s = 0; s < n_tables; s++) {
			AFFINE t;
			int d;

			if (!left[s] || digits[s][left[s] - 1].pos != i)
				continue;
			d = digits[s][--left[s]].value;
			t = tables[s][(d > 0 ? d : -d) / 2];
			if (d < 0)
				F(neg)(&t.y, &t.y);
			G(add_affine)(&acc, &acc, &t);
		}
	}
	*r = acc;
}
