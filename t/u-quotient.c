/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* u-quotient.c - h against bellman's order of operations and against the definition */
#include <errno.h>

#include "gpu/cpu/ntt.h"
#include "lib/tpool.h"
#include "t/tap.h"

static uint64_t seed = 88172645463325252;

static uint64_t rnd(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static void rnd_fr(struct fr *r)
{
	int i;

	for (i = 0; i < 4; i++)
		r->l[i] = rnd();
	r->l[3] >>= 2;
}

/* Recursive radix 2, out of place, from the definition of even and odd parts. */
static void simple_ntt(struct fr *x, size_t n, const struct fr *w)
{
	struct fr *part, w2, f = fr_one, t;
	size_t i;

	if (n == 1)
		return;
	part = malloc(n * sizeof(*part));
	for (i = 0; i < n / 2; i++) {
		part[i] = x[2 * i];
		part[n / 2 + i] = x[2 * i + 1];
	}
	fr_sqr(&w2, w);
	simple_ntt(part, n / 2, &w2);
	simple_ntt(part + n / 2, n / 2, &w2);
	for (i = 0; i < n / 2; i++) {
		fr_mul(&t, &part[n / 2 + i], &f);
		fr_add(&x[i], &part[i], &t);
		fr_sub(&x[n / 2 + i], &part[i], &t);
		fr_mul(&f, &f, w);
	}
	free(part);
}

static void simple_intt(struct fr *x, size_t n, const struct fr *w)
{
	struct fr inv, n_inv;
	size_t i;

	fr_inv_vartime(&inv, w);
	simple_ntt(x, n, &inv);
	fr_from_u64(&n_inv, n);
	fr_inv_vartime(&n_inv, &n_inv);
	for (i = 0; i < n; i++)
		fr_mul(&x[i], &x[i], &n_inv);
}

static void distribute(struct fr *x, size_t n, const struct fr *g)
{
	struct fr f = fr_one;
	size_t i;

	for (i = 0; i < n; i++) {
		fr_mul(&x[i], &x[i], &f);
		fr_mul(&f, &f, g);
	}
}

/* bellman's seven transforms, with c as a vector of its own (filecoin-spec 2.2) */
static void bellman(struct scalar *h, struct fr *a, struct fr *b, struct fr *c, unsigned int log_n)
{
	size_t n = (size_t)1 << log_n, i;
	struct fr *v[3] = { a, b, c }, w, z, g_inv;
	int k;

	fr_pow_u64(&w, &FR_ROOT_7, 1ull << (32 - log_n));
	for (k = 0; k < 3; k++) {
		simple_intt(v[k], n, &w);
		distribute(v[k], n, &FR_GENERATOR);
		simple_ntt(v[k], n, &w);
	}
	fr_pow_u64(&z, &FR_GENERATOR, n);
	fr_sub(&z, &z, &fr_one);
	fr_inv_vartime(&z, &z);
	for (i = 0; i < n; i++) {
		fr_mul(&a[i], &a[i], &b[i]);
		fr_sub(&a[i], &a[i], &c[i]);
		fr_mul(&a[i], &a[i], &z);
	}
	simple_intt(a, n, &w);
	fr_inv_vartime(&g_inv, &FR_GENERATOR);
	distribute(a, n, &g_inv);
	for (i = 0; i + 1 < n; i++)
		fr_to_scalar(&h[i], &a[i]);
}

/* Value at x of the polynomial with values v on the domain, by Lagrange's formula. */
static void lagrange(struct fr *out, const struct fr *v, size_t n, const struct fr *w,
		     const struct fr *x)
{
	struct fr *d = malloc(2 * n * sizeof(*d)), wi = fr_one, acc = fr_zero, t;
	size_t i;

	for (i = 0; i < n; i++) {
		fr_sub(&d[i], x, &wi);
		fr_mul(&wi, &wi, w);
	}
	fr_batch_inv_vartime(d, n, d + n);
	wi = fr_one;
	for (i = 0; i < n; i++) {
		fr_mul(&t, &v[i], &wi);
		fr_mul(&t, &t, &d[i]);
		fr_add(&acc, &acc, &t);
		fr_mul(&wi, &wi, w);
	}
	fr_pow_u64(&t, x, n);
	fr_sub(&t, &t, &fr_one);
	fr_mul(&acc, &acc, &t);
	fr_from_u64(&t, n);
	fr_inv_vartime(&t, &t);
	fr_mul(out, &acc, &t);
	free(d);
}

struct vectors {
	size_t n;
	struct fr *a, *b, *c, *a2, *b2;
	struct scalar *h, *want;
};

static void vectors_open(struct vectors *v, unsigned int log_n)
{
	size_t i;

	v->n = (size_t)1 << log_n;
	v->a = malloc(v->n * sizeof(*v->a));
	v->b = malloc(v->n * sizeof(*v->a));
	v->c = malloc(v->n * sizeof(*v->a));
	v->a2 = malloc(v->n * sizeof(*v->a));
	v->b2 = malloc(v->n * sizeof(*v->a));
	v->h = malloc(v->n * sizeof(*v->h));
	v->want = malloc(v->n * sizeof(*v->h));
	for (i = 0; i < v->n; i++) {
		rnd_fr(&v->a[i]);
		rnd_fr(&v->b[i]);
		/* as in a circuit: bits, zeros behind the last row */
		if (rnd() % 4 == 0)
			v->a[i] = fr_one;
		if (rnd() % 4 == 0 || i > v->n - v->n / 4)
			v->b[i] = fr_zero;
		fr_mul(&v->c[i], &v->a[i], &v->b[i]);
	}
	memcpy(v->a2, v->a, v->n * sizeof(*v->a));
	memcpy(v->b2, v->b, v->n * sizeof(*v->a));
}

static void vectors_close(struct vectors *v)
{
	free(v->a);
	free(v->b);
	free(v->c);
	free(v->a2);
	free(v->b2);
	free(v->h);
	free(v->want);
}

static void test_powers(struct ntt *ntt, const char *name, unsigned int log_n)
{
	struct vectors v;

	vectors_open(&v, log_n);
	bellman(v.want, v.a2, v.b2, v.c, log_n);
	ok(ntt_quotient(ntt, v.a, v.b, log_n, GPU_H_POWERS, v.h) == 0 &&
	   memcmp(v.h, v.want, (v.n - 1) * sizeof(*v.h)) == 0,
	   "%s: 2^%u, powers, bellman's seven transforms", name, log_n);
	vectors_close(&v);
}

/* A(x) B(x) - C(x) = h(x) (x^n - 1) at a random x, for lengths that bellman() is slow for */
static void test_identity(struct ntt *ntt, const char *name, unsigned int log_n)
{
	struct fr w, x, a, b, c, h = fr_zero, t;
	struct vectors v;
	size_t i;

	vectors_open(&v, log_n);
	rnd_fr(&x);
	fr_pow_u64(&w, &FR_ROOT_7, 1ull << (32 - log_n));
	lagrange(&a, v.a, v.n, &w, &x);
	lagrange(&b, v.b, v.n, &w, &x);
	lagrange(&c, v.c, v.n, &w, &x);
	if (ok(ntt_quotient(ntt, v.a, v.b, log_n, GPU_H_POWERS, v.h) == 0, "%s: 2^%u", name, log_n)) {
		bool canonical = true;

		for (i = v.n - 1; i-- > 0;) {
			canonical &= scalar_is_canonical(&v.h[i]);
			fr_from_scalar(&t, &v.h[i]);
			fr_mul(&h, &h, &x);
			fr_add(&h, &h, &t);
		}
		fr_mul(&a, &a, &b);
		fr_sub(&a, &a, &c);
		fr_pow_u64(&t, &x, v.n);
		fr_sub(&t, &t, &fr_one);
		fr_mul(&h, &h, &t);
		ok(canonical && fr_equal(&a, &h), "%s: 2^%u, h Z = A B - C at a random point", name,
		   log_n);
	}
	vectors_close(&v);
}

/* Both bases of values on the coset: A B - C, or for GPU_H_COSET, in place, A B. */
static void test_coset(struct ntt *ntt, const char *name, unsigned int log_n, size_t step,
		       enum gpu_h_basis basis)
{
	const struct fr *root = basis == GPU_H_COSET ? &FR_ROOT_7 : &FR_ROOT_5;
	const char *what = basis == GPU_H_COSET ? "coset" : "odd coset";
	struct fr w, x, w2n, a, b, c;
	struct vectors v;
	struct scalar s;
	bool good = true;
	size_t i;

	vectors_open(&v, log_n);
	fr_pow_u64(&w, root, 1ull << (32 - log_n));
	fr_pow_u64(&w2n, root, 1ull << (31 - log_n));
	if (basis == GPU_H_COSET) {
		good = ntt_quotient(ntt, v.a, v.b, log_n, basis, (struct scalar *)v.a) == 0;
		memcpy(v.h, v.a, v.n * sizeof(*v.h));
	} else {
		good = ntt_quotient(ntt, v.a, v.b, log_n, basis, v.h) == 0;
	}
	for (i = 0; i < v.n; i += step) {
		fr_pow_u64(&x, &w, i);
		fr_mul(&x, &x, &w2n);
		lagrange(&a, v.a2, v.n, &w, &x);
		lagrange(&b, v.b2, v.n, &w, &x);
		lagrange(&c, v.c, v.n, &w, &x);
		fr_mul(&a, &a, &b);
		if (basis == GPU_H_ODD_COSET)
			fr_sub(&a, &a, &c);
		fr_to_scalar(&s, &a);
		good &= memcmp(&s, &v.h[i], sizeof(s)) == 0;
	}
	ok(good, "%s: 2^%u, %s, by Lagrange's formula", name, log_n, what);
	vectors_close(&v);
}

static void test_path(struct tpool *pool, enum cpu_isa isa, const char *name)
{
	struct ntt *ntt;
	unsigned int log_n;

	if (!ok(ntt_open(&ntt, pool, isa, NULL) == 0, "%s: open", name))
		return;
	for (log_n = 0; log_n <= 12; log_n++)
		test_powers(ntt, name, log_n);
	for (log_n = 0; log_n <= 8; log_n++) {
		test_coset(ntt, name, log_n, 1, GPU_H_ODD_COSET);
		test_coset(ntt, name, log_n, 1, GPU_H_COSET);
	}
	test_coset(ntt, name, 12, 509, GPU_H_ODD_COSET);
	test_coset(ntt, name, 12, 509, GPU_H_COSET);
	if (isa == CPU_ISA_IFMA) {
		test_identity(ntt, name, 17);
		/* three passes */
		test_identity(ntt, name, 21);
	}
	ok(ntt_quotient(ntt, NULL, NULL, 32, GPU_H_POWERS, NULL) == -EINVAL,
	   "%s: 2^32 has no root of twice the order", name);
	ntt_close(ntt);
}

int main(void)
{
	struct tpool *pool = NULL;

	if (tpool_open(&pool, 3)) {
		diag("no threads");
		return 1;
	}
	test_path(NULL, CPU_ISA_PORTABLE, "portable");
	if (cpu_isa_has_ifma())
		test_path(pool, CPU_ISA_IFMA, "ifma");
	else
		skip("ifma", "this build or processor has no AVX-512 IFMA");
	tpool_close(pool);
	return tap_done();
}
