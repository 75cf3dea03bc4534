/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* u-ntt.c - transforms against the definition, on every path */
#include <errno.h>

#include "gpu/cpu/ntt.h"
#include "lib/tpool.h"
#include "t/tap.h"

#define SHIFT_NONE 0
#define SHIFT_7 1

static uint64_t seed = 0x9e3779b97f4a7c15;

static uint64_t rnd(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

/* Mostly any element, sometimes one at an edge. */
static void rnd_fr(struct fr *r)
{
	switch (rnd() % 16) {
	case 0:
		*r = fr_zero;
		return;
	case 1:
		fr_sub(r, &fr_zero, &fr_one);
		return;
	case 2:	/* the largest words: r - 1 as Montgomery residue */
		*r = fr_zero;
		r->l[0] = 1;
		fr_sub(r, &fr_zero, r);
		return;
	}
	for (int i = 0; i < 4; i++)
		r->l[i] = rnd();
	r->l[3] >>= 2;
}

/* out[k] = sum_j in[j] * shift^j * w^(jk); the inverse by the same sum over 1/w */
static void definition(struct fr *out, const struct fr *in, unsigned int log_n, bool inverse,
		       const struct fr *root32, const struct fr *shift)
{
	size_t n = (size_t)1 << log_n, j, k;
	struct fr w, x, acc, scale = fr_one, unshift = fr_one;

	fr_pow_u64(&w, root32, 1ull << (32 - log_n));
	if (inverse) {
		fr_inv_vartime(&w, &w);
		fr_from_u64(&scale, n);
		fr_inv_vartime(&scale, &scale);
		fr_inv_vartime(&unshift, shift);
	}
	for (k = 0; k < n; k++) {
		/* Horner at w^k (times shift) */
		fr_pow_u64(&x, &w, k);
		if (!inverse)
			fr_mul(&x, &x, shift);
		acc = fr_zero;
		for (j = n; j-- > 0;) {
			fr_mul(&acc, &acc, &x);
			fr_add(&acc, &acc, &in[j]);
		}
		if (inverse) {
			fr_mul(&acc, &acc, &scale);
			fr_mul(&scale, &scale, &unshift);
		}
		out[k] = acc;
	}
}

static bool equal(const struct fr *a, const struct fr *b, size_t n)
{
	return memcmp(a, b, n * sizeof(*a)) == 0;
}

static void test_definition(struct ntt *ntt, const char *name, unsigned int max_log)
{
	struct fr *in = malloc(sizeof(*in) << max_log), *want = malloc(sizeof(*in) << max_log);
	struct fr *got = malloc(sizeof(*in) << max_log), *scratch = malloc(sizeof(*in) << max_log);
	const struct fr *roots[] = { &FR_ROOT_7, &FR_ROOT_5 };
	unsigned int log_n, mode;

	for (log_n = 0; log_n <= max_log; log_n++) {
		size_t n = (size_t)1 << log_n, i;
		bool good = true;

		for (mode = 0; mode < 8; mode++) {
			const struct fr *root = roots[mode & 1];
			const struct fr *shift = mode & 2 ? &FR_GENERATOR : NULL;
			bool inverse = mode & 4;

			for (i = 0; i < n; i++)
				rnd_fr(&in[i]);
			memcpy(got, in, n * sizeof(*in));
			definition(want, in, log_n, inverse, root, shift ? shift : &fr_one);
			if (ntt_run(ntt, got, scratch, log_n, inverse, root, shift) ||
			    !equal(got, want, n)) {
				diag("%s: 2^%u root %u inverse %d shift %d", name, log_n,
				     mode & 1, inverse, !!shift);
				good = false;
			}
		}
		ok(good, "%s: 2^%u by definition, both roots, directions, shifts", name, log_n);
	}
	free(in);
	free(want);
	free(got);
	free(scratch);
}

/* A larger one: a few outputs by Horner, and back again. */
static void test_large(struct ntt *ntt, const char *name, unsigned int log_n)
{
	size_t n = (size_t)1 << log_n, i, j;
	struct fr *in = malloc(n * sizeof(*in)), *got = malloc(n * sizeof(*in));
	struct fr *scratch = malloc(n * sizeof(*in));
	bool good = true;

	for (i = 0; i < n; i++)
		rnd_fr(&in[i]);
	memcpy(got, in, n * sizeof(*in));
	ntt_run(ntt, got, scratch, log_n, false, &FR_ROOT_7, &FR_GENERATOR);
	for (i = 0; i < 4; i++) {
		size_t k = rnd() % n;
		struct fr x, acc = fr_zero;

		fr_pow_u64(&x, &FR_ROOT_7, (uint64_t)k << (32 - log_n));
		fr_mul(&x, &x, &FR_GENERATOR);
		for (j = n; j-- > 0;) {
			fr_mul(&acc, &acc, &x);
			fr_add(&acc, &acc, &in[j]);
		}
		good &= fr_equal(&acc, &got[k]);
	}
	ok(good, "%s: 2^%u, four values of a coset by Horner", name, log_n);
	ntt_run(ntt, got, scratch, log_n, true, &FR_ROOT_7, &FR_GENERATOR);
	ok(equal(got, in, n), "%s: 2^%u there and back on a coset", name, log_n);
	ntt_run(ntt, got, scratch, log_n, true, &FR_ROOT_5, NULL);
	ok(!equal(got, in, n), "%s: 2^%u inverse alone changes the data", name, log_n);
	ntt_run(ntt, got, scratch, log_n, false, &FR_ROOT_5, NULL);
	ok(equal(got, in, n), "%s: 2^%u back and there", name, log_n);
	free(in);
	free(got);
	free(scratch);
}

static bool always(void *arg)
{
	return true;
}

static void test_errors(void)
{
	struct ctl ctl = { .cancelled = always };
	struct fr data[64] = { { { 0 } } }, scratch[64];
	struct ntt *ntt = NULL;

	ok(ntt_open(&ntt, NULL, CPU_ISA_PORTABLE, &ctl) == 0, "open");
	ok(ntt_run(ntt, data, scratch, 33, false, &FR_ROOT_7, NULL) == -EINVAL, "2^33 is too long");
	ok(ntt_run(ntt, data, scratch, 6, false, &FR_ROOT_7, NULL) == -ECANCELED, "cancelled");
	ntt_close(ntt);
	ntt_close(NULL);
}

/* More roots than there are tables. */
static void test_many_roots(struct ntt *ntt, const char *name)
{
	struct fr in[64], got[64], scratch[64], want[64], root = FR_ROOT_7;
	bool good = true;
	int i, j;

	for (i = 0; i < 7; i++) {
		for (j = 0; j < 64; j++)
			rnd_fr(&in[j]);
		memcpy(got, in, sizeof(in));
		definition(want, in, 6, false, &root, &fr_one);
		good &= ntt_run(ntt, got, scratch, 6, false, &root, NULL) == 0;
		good &= equal(got, want, 64);
		fr_pow_u64(&root, &root, 3);
	}
	ok(good, "%s: seven different roots", name);
}

int main(void)
{
	static const struct {
		enum cpu_isa isa;
		const char *name;
	} paths[] = {
		{ CPU_ISA_PORTABLE, "portable" },
		{ CPU_ISA_IFMA, "ifma" },
	};
	struct tpool *pool = NULL;
	unsigned int i;

	if (tpool_open(&pool, 3)) {
		diag("no threads");
		return 1;
	}
	for (i = 0; i < 2; i++) {
		struct ntt *ntt;

		if (paths[i].isa == CPU_ISA_IFMA && !cpu_isa_has_ifma()) {
			skip("ifma", "this build or processor has no AVX-512 IFMA");
			continue;
		}
		if (!ok(ntt_open(&ntt, i ? pool : NULL, paths[i].isa, NULL) == 0,
			"%s: open", paths[i].name))
			continue;
		test_definition(ntt, paths[i].name, 10);
		test_large(ntt, paths[i].name, 15);
		test_many_roots(ntt, paths[i].name);
		/* the longest of two passes, then three */
		if (paths[i].isa == CPU_ISA_IFMA) {
			test_large(ntt, paths[i].name, 20);
			test_large(ntt, paths[i].name, 21);
		}
		ntt_close(ntt);
	}
	test_errors();
	tpool_close(pool);
	return tap_done();
}
