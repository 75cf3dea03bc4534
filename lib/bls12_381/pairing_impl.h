/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * pairing_impl.h - the optimal ate Miller loop and the final exponentiation
 *
 * A line through points of the twist, evaluated at P and scaled by a factor
 * in Fp2, which the final exponentiation removes, is
 *	c0 + c1 x_P v + c4 y_P v w
 */

struct line {
	struct fp2 c0, c1, c4;
};

/*
 * T = 2T and the tangent at T: with E = 3 X^2, Z3 = 2 Y Z the line times 2 Z3 Z^2
 * is 2 (E X - 2 Y^2) - 2 E Z^2 x_P v + 2 Z3 Z^2 y_P v w.
 */
static void line_double(struct line *l, struct g2 *t)
{
	struct fp2 a, b, c, d, e, f, zz;

	fp2_sqr(&a, &t->x);
	fp2_sqr(&b, &t->y);
	fp2_sqr(&zz, &t->z);
	fp2_sqr(&c, &b);
	fp2_add(&d, &t->x, &b);		/* D = 2((X + B)^2 - A - C) */
	fp2_sqr(&d, &d);
	fp2_sub(&d, &d, &a);
	fp2_sub(&d, &d, &c);
	fp2_double(&d, &d);
	fp2_double(&e, &a);
	fp2_add(&e, &e, &a);
	fp2_sqr(&f, &e);

	fp2_add(&l->c0, &t->x, &e);	/* 2 E X = (X + E)^2 - A - F */
	fp2_sqr(&l->c0, &l->c0);
	fp2_sub(&l->c0, &l->c0, &a);
	fp2_sub(&l->c0, &l->c0, &f);
	fp2_double(&a, &b);
	fp2_double(&a, &a);
	fp2_sub(&l->c0, &l->c0, &a);
	fp2_mul(&l->c1, &e, &zz);
	fp2_double(&l->c1, &l->c1);
	fp2_neg(&l->c1, &l->c1);

	fp2_add(&t->z, &t->y, &t->z);	/* Z3 = (Y + Z)^2 - B - Z^2 */
	fp2_sqr(&t->z, &t->z);
	fp2_sub(&t->z, &t->z, &b);
	fp2_sub(&t->z, &t->z, &zz);
	fp2_mul(&l->c4, &t->z, &zz);
	fp2_double(&l->c4, &l->c4);

	fp2_sub(&f, &f, &d);
	fp2_sub(&t->x, &f, &d);
	fp2_double(&c, &c);
	fp2_double(&c, &c);
	fp2_double(&c, &c);
	fp2_sub(&d, &d, &t->x);
	fp2_mul(&d, &d, &e);
	fp2_sub(&t->y, &d, &c);
}

/*
 * T = T + Q and the line through both: with H = x_Q Z^2 - X, R = 2 (y_Q Z^3 - Y),
 * Z3 = 2 Z H the line times Z3 is (R x_Q - Z3 y_Q) - R x_P v + Z3 y_P v w.
 */
static void line_add(struct line *l, struct g2 *t, const struct g2_affine *q)
{
	struct fp2 zz, h, r, u1 = t->x, s1 = t->y, z = t->z;

	fp2_sqr(&zz, &z);
	fp2_mul(&h, &q->x, &zz);
	fp2_sub(&h, &h, &u1);
	fp2_mul(&r, &q->y, &z);
	fp2_mul(&r, &r, &zz);
	fp2_sub(&r, &r, &s1);
	fp2_double(&r, &r);
	g2_add_tail(t, &u1, &s1, &h, &r, &z);

	fp2_mul(&l->c0, &r, &q->x);
	fp2_mul(&zz, &t->z, &q->y);
	fp2_sub(&l->c0, &l->c0, &zz);
	fp2_neg(&l->c1, &r);
	l->c4 = t->z;
}

void g2_prepare(struct g2_prepared *r, const struct g2_affine *q)
{
	struct fp2 c4[BLS_MILLER_LINES], tmp[BLS_MILLER_LINES];
	struct line l;
	struct g2 t;
	int i, n = 0;

	memset(r, 0, sizeof(*r));
	r->infinity = g2_affine_is_infinity(q);
	if (r->infinity)
		return;
	g2_from_affine(&t, q);
	for (i = 62; i >= 0; i--) {
		line_double(&l, &t);
		r->line[n][0] = l.c0;
		r->line[n][1] = l.c1;
		c4[n++] = l.c4;
		if (!(BLS_ABS_Z >> i & 1))
			continue;
		line_add(&l, &t, q);
		r->line[n][0] = l.c0;
		r->line[n][1] = l.c1;
		c4[n++] = l.c4;
	}
	fp2_batch_inv_vartime(c4, n, tmp);
	for (i = 0; i < n; i++) {
		fp2_mul(&r->line[i][0], &r->line[i][0], &c4[i]);
		fp2_mul(&r->line[i][1], &r->line[i][1], &c4[i]);
	}
}

/* The product of two lines: x + y w with y.c0 = 0. */
struct line_pair {
	struct fp6 x;
	struct fp2 y1, y2;
};

static void line_mul_line(struct line_pair *r, const struct line *a, const struct line *b)
{
	struct fp2 v0, v1, v4, s, t;

	fp2_mul(&v0, &a->c0, &b->c0);
	fp2_mul(&v1, &a->c1, &b->c1);
	fp2_mul(&v4, &a->c4, &b->c4);
	fp2_add(&s, &a->c0, &a->c1);
	fp2_add(&t, &b->c0, &b->c1);
	fp2_mul(&s, &s, &t);
	fp2_sub(&s, &s, &v0);
	fp2_sub(&r->x.c1, &s, &v1);
	fp2_add(&s, &a->c0, &a->c4);
	fp2_add(&t, &b->c0, &b->c4);
	fp2_mul(&s, &s, &t);
	fp2_sub(&s, &s, &v0);
	fp2_sub(&r->y1, &s, &v4);
	fp2_add(&s, &a->c1, &a->c4);
	fp2_add(&t, &b->c1, &b->c4);
	fp2_mul(&s, &s, &t);
	fp2_sub(&s, &s, &v1);
	fp2_sub(&r->y2, &s, &v4);
	fp2_mul_xi(&v4, &v4);
	fp2_add(&r->x.c0, &v0, &v4);
	r->x.c2 = v1;
}

/* The same where both c4 are 1: three multiplications instead of six. */
static void monic_mul_monic(struct line_pair *r, const struct line *a, const struct line *b)
{
	static const struct fp2 *const one = &fp2_one;
	struct fp2 v0, v1, s, t;

	fp2_mul(&v0, &a->c0, &b->c0);
	fp2_mul(&v1, &a->c1, &b->c1);
	fp2_add(&s, &a->c0, &a->c1);
	fp2_add(&t, &b->c0, &b->c1);
	fp2_mul(&s, &s, &t);
	fp2_sub(&s, &s, &v0);
	fp2_sub(&r->x.c1, &s, &v1);
	fp2_mul_xi(&t, one);
	fp2_add(&r->x.c0, &v0, &t);
	r->x.c2 = v1;
	fp2_add(&r->y1, &a->c0, &b->c0);
	fp2_add(&r->y2, &a->c1, &b->c1);
}

/* f times the product of two lines: 17 multiplications */
static void fp12_mul_line_pair(struct fp12 *f, const struct line_pair *l)
{
	struct fp6 v0, v1, s, t;

	fp6_mul(&v0, &f->c0, &l->x);
	fp6_mul_01(&v1, &f->c1, &l->y1, &l->y2);
	fp6_mul_v(&v1, &v1);
	fp6_add(&s, &f->c0, &f->c1);
	t.c0 = l->x.c0;
	fp2_add(&t.c1, &l->x.c1, &l->y1);
	fp2_add(&t.c2, &l->x.c2, &l->y2);
	fp6_mul(&s, &s, &t);
	fp6_sub(&s, &s, &v0);
	fp6_sub(&f->c1, &s, &v1);
	fp6_mul_v(&v1, &v1);
	fp6_add(&f->c0, &v0, &v1);
}

/* f times one line: 13 multiplications */
static void fp12_mul_line(struct fp12 *f, const struct line *l)
{
	struct fp6 v0, v1, s;
	struct fp2 t;

	fp6_mul_01(&v0, &f->c0, &l->c0, &l->c1);
	fp6_mul_fp2(&v1, &f->c1, &l->c4);
	fp6_mul_v(&v1, &v1);
	fp6_add(&s, &f->c0, &f->c1);
	fp2_add(&t, &l->c1, &l->c4);
	fp6_mul_01(&s, &s, &l->c0, &t);
	fp6_sub(&s, &s, &v0);
	fp6_sub(&f->c1, &s, &v1);
	fp6_mul_v(&v1, &v1);
	fp6_add(&f->c0, &v0, &v1);
}

/* f times one line with c4 = 1: 10 multiplications */
static void fp12_mul_monic(struct fp12 *f, const struct line *l)
{
	struct fp6 v0, v1, f1v;

	fp6_mul_v(&f1v, &f->c1);
	fp6_mul_01(&v0, &f->c0, &l->c0, &l->c1);
	fp6_mul_01(&v1, &f->c1, &l->c0, &l->c1);
	fp6_mul_v(&f->c0, &f->c0);
	fp6_add(&f->c1, &v1, &f->c0);
	fp6_mul_v(&f1v, &f1v);
	fp6_add(&f->c0, &v0, &f1v);
}

/* At most this many pairs share their squarings; more go in groups. */
#define MILLER_GROUP 16

struct miller_state {
	struct g2 t[MILLER_GROUP];		/* of pairs with q */
	const struct g2_affine *q[MILLER_GROUP];
	struct fp px[MILLER_GROUP], py[MILLER_GROUP];
	const struct g2_prepared *prepared[MILLER_GROUP];
	struct fp sx[MILLER_GROUP], sy[MILLER_GROUP];	/* x_P / y_P, 1 / y_P */
	size_t n_q, n_prepared;
};

/* f times the lines of one step of all pairs */
static void miller_step(struct fp12 *f, struct miller_state *m, int line, bool add)
{
	struct line_pair pair;
	struct line l[2];
	int have = 0;
	size_t i;

	for (i = 0; i < m->n_prepared; i++) {
		const struct fp2 *c = m->prepared[i]->line[line];

		fp2_mul_fp(&l[have].c0, &c[0], &m->sy[i]);
		fp2_mul_fp(&l[have].c1, &c[1], &m->sx[i]);
		if (++have == 2) {
			monic_mul_monic(&pair, &l[0], &l[1]);
			fp12_mul_line_pair(f, &pair);
			have = 0;
		}
	}
	if (have)
		fp12_mul_monic(f, &l[0]);
	have = 0;
	for (i = 0; i < m->n_q; i++) {
		if (add)
			line_add(&l[have], &m->t[i], m->q[i]);
		else
			line_double(&l[have], &m->t[i]);
		fp2_mul_fp(&l[have].c1, &l[have].c1, &m->px[i]);
		fp2_mul_fp(&l[have].c4, &l[have].c4, &m->py[i]);
		if (++have == 2) {
			line_mul_line(&pair, &l[0], &l[1]);
			fp12_mul_line_pair(f, &pair);
			have = 0;
		}
	}
	if (have)
		fp12_mul_line(f, &l[0]);
}

static void miller_loop_group(struct fp12 *f, struct miller_state *m)
{
	struct fp tmp[MILLER_GROUP];
	int i, line = 0;
	size_t k;

	fp_batch_inv_vartime(m->sy, m->n_prepared, tmp);
	for (k = 0; k < m->n_prepared; k++)
		fp_mul(&m->sx[k], &m->sx[k], &m->sy[k]);
	*f = fp12_one;
	for (i = 62; i >= 0; i--) {
		if (i < 62)
			fp12_sqr(f, f);
		miller_step(f, m, line++, false);
		if (BLS_ABS_Z >> i & 1)
			miller_step(f, m, line++, true);
	}
	fp12_conj(f, f);	/* z < 0 */
}

void miller_loop_n(struct fp12 *r, const struct miller_pair *pairs, size_t n)
{
	struct fp12 acc = fp12_one, f;
	struct miller_state m;
	bool any = false;
	size_t i;

	m.n_q = m.n_prepared = 0;
	for (i = 0; i < n; i++) {
		const struct miller_pair *pair = &pairs[i];

		if (g1_affine_is_infinity(pair->p))
			continue;
		if (pair->prepared) {
			if (pair->prepared->infinity)
				continue;
			m.prepared[m.n_prepared] = pair->prepared;
			m.sx[m.n_prepared] = pair->p->x;
			m.sy[m.n_prepared++] = pair->p->y;
		} else {
			if (g2_affine_is_infinity(pair->q))
				continue;
			g2_from_affine(&m.t[m.n_q], pair->q);
			m.q[m.n_q] = pair->q;
			m.px[m.n_q] = pair->p->x;
			m.py[m.n_q++] = pair->p->y;
		}
		if (m.n_q < MILLER_GROUP && m.n_prepared < MILLER_GROUP)
			continue;
		miller_loop_group(&f, &m);
		fp12_mul(&acc, &acc, &f);
		any = true;
		m.n_q = m.n_prepared = 0;
	}
	if (m.n_q || m.n_prepared) {
		miller_loop_group(&f, &m);
		if (any)
			fp12_mul(&acc, &acc, &f);
		else
			acc = f;
	}
	*r = acc;
}

/* a^(z - 1) = 1 / (a^|z| a) */
static void cyclotomic_exp_z_minus_1(struct fp12 *r, const struct fp12 *a)
{
	struct fp12 t;

	fp12_cyclotomic_exp_abs_z(&t, a);
	fp12_mul(&t, &t, a);
	fp12_conj(r, &t);
}

/*
 * 3 (p^12 - 1) / r = (p^6 - 1) (p^2 + 1) ((z - 1)^2 (z + p) (z^2 + p^2 - 1) + 3)
 */
void final_exp(struct fp12 *r, const struct fp12 *f)
{
	struct fp12 m, t, u, v;

	fp12_inv_vartime(&t, f);
	fp12_conj(&m, f);
	fp12_mul(&t, &t, &m);
	fp12_frobenius2(&m, &t);
	fp12_mul(&m, &m, &t);

	cyclotomic_exp_z_minus_1(&t, &m);
	cyclotomic_exp_z_minus_1(&t, &t);
	fp12_cyclotomic_exp_abs_z(&u, &t);	/* z + p */
	fp12_conj(&u, &u);
	fp12_frobenius(&t, &t);
	fp12_mul(&t, &t, &u);
	fp12_cyclotomic_exp_abs_z(&u, &t);	/* z^2 + p^2 - 1 */
	fp12_cyclotomic_exp_abs_z(&u, &u);
	fp12_frobenius2(&v, &t);
	fp12_mul(&u, &u, &v);
	fp12_conj(&t, &t);
	fp12_mul(&u, &u, &t);
	fp12_cyclotomic_sqr(&t, &m);		/* 3 */
	fp12_mul(&t, &t, &m);
	fp12_mul(r, &u, &t);
}

void pairing(struct fp12 *r, const struct g1_affine *p, const struct g2_affine *q)
{
	struct miller_pair pair = { .p = p, .q = q };
	struct fp12 f;

	miller_loop_n(&f, &pair, 1);
	final_exp(r, &f);
}

bool pairing_product_is_one(const struct miller_pair *pairs, size_t n)
{
	struct fp12 f;

	miller_loop_n(&f, pairs, n);
	final_exp(&f, &f);
	return fp12_is_one(&f);
}
