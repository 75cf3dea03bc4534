/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * inv_impl.h - inverses modulo p and r by division steps
 *
 * Bernstein, Yang, "Fast constant-time gcd computation and modular inversion",
 * 2019, in variable time: 62 division steps at a time are made on the low
 * words only and collected in a matrix, which is then applied to the long
 * numbers.  Runs of zeros, and up to six bits of g at once, count as several
 * steps.  Long numbers are n signed limbs of 62 bits, the top one with the
 * sign.
 */
#define INV_LIMBS_MAX 7
#define M62 (UINT64_MAX >> 2)

struct inv_num {
	int64_t l[INV_LIMBS_MAX];
};

/* 2^62 (f', g') = ((u, v), (q, r)) (f, g) */
struct inv_matrix {
	int64_t u, v, q, r;
};

/*
 * 62 division steps from the low words of f (odd) and g.  delta is that of
 * the paper, which starts at 1.
 */
static force_inline int64_t inv_divsteps(struct inv_matrix *m, int64_t delta, uint64_t f,
					 uint64_t g)
{
	uint64_t u = 1, v = 0, q = 0, r = 1;
	int left = 62;

	for (;;) {
		int zeros = __builtin_ctzll(g | UINT64_MAX << left), bits;
		uint64_t t, w;

		g >>= zeros;
		u <<= zeros;
		v <<= zeros;
		delta += zeros;
		left -= zeros;
		if (!left)
			break;
		if (delta > 0) {	/* (f, g) = (g, -f) */
			delta = -delta;
			t = f;
			f = g;
			g = -t;
			t = u;
			u = q;
			q = -t;
			t = v;
			v = r;
			r = -t;
		}
		/*
		 * The next 1 - delta steps do not swap: add the multiple of f
		 * that clears so many bits of g, at most six.  f (f^2 - 2) is
		 * -1/f modulo 64, as f^2 = 1 modulo 8.
		 */
		bits = 1 - delta < left ? 1 - delta : left;
		w = g * f * (f * f - 2) & (UINT64_MAX >> (64 - bits)) & 63;
		g += f * w;
		q += u * w;
		r += v * w;
	}
	*m = (struct inv_matrix){ u, v, q, r };
	return delta;
}

/* (f, g) = matrix (f, g) / 2^62, which is exact */
static force_inline void inv_apply(struct inv_num *f, struct inv_num *g, const struct inv_matrix *m,
				   int n)
{
	__int128 x, y;
	int i;

	x = (__int128)m->u * f->l[0] + (__int128)m->v * g->l[0];
	y = (__int128)m->q * f->l[0] + (__int128)m->r * g->l[0];
	for (i = 1; i < n; i++) {
		int64_t fi = f->l[i], gi = g->l[i];

		x = (x >> 62) + (__int128)m->u * fi + (__int128)m->v * gi;
		y = (y >> 62) + (__int128)m->q * fi + (__int128)m->r * gi;
		f->l[i - 1] = x & M62;
		g->l[i - 1] = y & M62;
	}
	f->l[n - 1] = x >> 62;
	g->l[n - 1] = y >> 62;
}

/*
 * (d, e) = matrix (d, e) / 2^62 modulo the modulus; both stay between -2
 * moduli and 1.  mod_inv is 1 / modulus modulo 2^62.
 */
static force_inline void inv_apply_mod(struct inv_num *d, struct inv_num *e,
				       const struct inv_matrix *m, const struct inv_num *mod,
				       uint64_t mod_inv, int n)
{
	int64_t d_neg = d->l[n - 1] >> 63, e_neg = e->l[n - 1] >> 63;
	/* a modulus for each negative one, then the multiple that clears the low limb */
	int64_t k = (m->u & d_neg) + (m->v & e_neg), l = (m->q & d_neg) + (m->r & e_neg);
	__int128 x, y;
	int i;

	x = (__int128)m->u * d->l[0] + (__int128)m->v * e->l[0];
	y = (__int128)m->q * d->l[0] + (__int128)m->r * e->l[0];
	k -= (mod_inv * (uint64_t)x + k) & M62;
	l -= (mod_inv * (uint64_t)y + l) & M62;
	x += (__int128)mod->l[0] * k;
	y += (__int128)mod->l[0] * l;
	UNROLL
	for (i = 1; i < n; i++) {
		int64_t di = d->l[i], ei = e->l[i];

		x = (x >> 62) + (__int128)m->u * di + (__int128)m->v * ei + (__int128)mod->l[i] * k;
		y = (y >> 62) + (__int128)m->q * di + (__int128)m->r * ei + (__int128)mod->l[i] * l;
		d->l[i - 1] = x & M62;
		e->l[i - 1] = y & M62;
	}
	d->l[n - 1] = x >> 62;
	e->l[n - 1] = y >> 62;
}

static force_inline void inv_from_limbs(struct inv_num *r, const uint64_t *a, int n_limbs, int n)
{
	int i;

	UNROLL
	for (i = 0; i < n; i++) {
		int bit = 62 * i, k = bit / 64, s = bit % 64;
		uint64_t v = k < n_limbs ? a[k] >> s : 0;

		if (s > 2 && k + 1 < n_limbs)
			v |= a[k + 1] << (64 - s);
		r->l[i] = v & M62;
	}
}

/* a, between -2 moduli and 1, negated if negate, as limbs between 0 and the modulus */
static force_inline void inv_to_limbs(uint64_t *r, struct inv_num *a, bool negate,
				      const struct inv_num *mod, int n_limbs, int n)
{
	int64_t carry;
	int i, pass;

	if (negate) {
		for (i = 0; i < n; i++)
			a->l[i] = -a->l[i];
	}
	for (pass = 0; pass < 4; pass++) {
		/* add or subtract a modulus by the sign that the carries leave on top */
		carry = 0;
		for (i = 0; i < n - 1; i++) {
			a->l[i] += carry;
			carry = a->l[i] >> 62;
			a->l[i] &= M62;
		}
		a->l[n - 1] += carry;
		if (a->l[n - 1] < 0) {
			for (i = 0; i < n; i++)
				a->l[i] += mod->l[i];
			continue;
		}
		for (i = n - 1; i > 0 && a->l[i] == mod->l[i]; i--)
			;
		if (a->l[i] < mod->l[i])
			break;
		for (i = 0; i < n; i++)
			a->l[i] -= mod->l[i];
	}
	UNROLL
	for (i = 0; i < n_limbs; i++) {
		int bit = 64 * i, k = bit / 62, s = bit % 62;
		uint64_t v = (uint64_t)a->l[k] >> s;

		if (k + 1 < n)
			v |= (uint64_t)a->l[k + 1] << (62 - s);
		if (62 - s + 62 < 64 && k + 2 < n)
			v |= (uint64_t)a->l[k + 2] << (124 - s);
		r[i] = v;
	}
}

/* r = 1/a modulo modulus, 0 for 0; n_limbs words, which are n limbs of 62 bits and a sign */
static force_inline void inv_mod(uint64_t *r, const uint64_t *a, const uint64_t *modulus,
				 uint64_t mod_inv, int n_limbs, int n)
{
	struct inv_num mod, f, g, d = { { 0 } }, e = { { 1 } };
	int64_t delta = 1;
	int i, len = n;

	inv_from_limbs(&mod, modulus, n_limbs, n);
	inv_from_limbs(&g, a, n_limbs, n);
	f = mod;
	for (;;) {
		struct inv_matrix m;
		int64_t any = 0;

		for (i = 0; i < len; i++)
			any |= g.l[i];
		if (!any)
			break;
		delta = inv_divsteps(&m, delta, f.l[0] | (uint64_t)f.l[1] << 62,
				     g.l[0] | (uint64_t)g.l[1] << 62);
		inv_apply_mod(&d, &e, &m, &mod, mod_inv, n);
		inv_apply(&f, &g, &m, len);
		/* give up a top limb that only repeats the sign; two stay for the low words */
		while (len > 2 && (f.l[len - 1] == 0 || f.l[len - 1] == -1) &&
		       (g.l[len - 1] == 0 || g.l[len - 1] == -1)) {
			f.l[len - 2] |= (uint64_t)f.l[len - 1] << 62;
			g.l[len - 2] |= (uint64_t)g.l[len - 1] << 62;
			len--;
		}
	}
	/* f = +-1, or the modulus where a is 0 and d too */
	inv_to_limbs(r, &d, f.l[len - 1] < 0, &mod, n_limbs, n);
}
