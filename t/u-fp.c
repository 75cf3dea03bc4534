/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* u-fp.c - Fp and Fp2 against GMP, on both builds of the arithmetic */
#include <errno.h>
#include <gmp.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/bls12_381/arch.h"
#include "lib/bls12_381/fp.h"
#include "t/tap.h"

static const char P_HEX[] =
	"1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffff"
			    "b9feffffffffaaab";
static mpz_t p, t_, u_;
static gmp_randstate_t rnd;

/* The edges: 0, 1, 2, p-1, p-2, (p+-1)/2, and 2^(64 k) with neighbours. */
enum { N_EDGES = 7 + 3 * 5 + 6, N_RANDOM = 60, N_VALUES = N_EDGES + N_RANDOM };
static mpz_t values[N_VALUES];

static void fp_from_mpz(struct fp *r, const mpz_t v)
{
	uint8_t bytes[48] = { 0 };
	size_t n = (mpz_sizeinbase(v, 2) + 7) / 8;

	if (mpz_sgn(v))
		mpz_export(bytes + 48 - n, NULL, 1, 1, 1, 0, v);
	if (fp_from_bytes_be(r, bytes))
		abort();
}

static void fp_get_mpz(mpz_t v, const struct fp *a)
{
	uint8_t bytes[48];

	fp_to_bytes_be(bytes, a);
	mpz_import(v, 48, 1, 1, 1, 0, bytes);
}

static bool fp_is_mpz(const struct fp *a, const mpz_t v)
{
	struct fp w;

	fp_from_mpz(&w, v);
	fp_get_mpz(t_, a);
	return fp_equal(&w, a) && !mpz_cmp(t_, v);
}

static void make_values(void)
{
	int i, k, n = 0;

	for (i = 0; i < N_VALUES; i++)
		mpz_init(values[i]);
	mpz_set_ui(values[n++], 0);
	mpz_set_ui(values[n++], 1);
	mpz_set_ui(values[n++], 2);
	mpz_sub_ui(values[n++], p, 1);
	mpz_sub_ui(values[n++], p, 2);
	mpz_fdiv_q_2exp(values[n++], p, 1);
	mpz_add_ui(values[n], values[n - 1], 1);
	n++;
	for (k = 64; k < 384; k += 64) {
		mpz_setbit(values[n], k);
		mpz_sub_ui(values[n + 1], values[n], 1);
		mpz_add_ui(values[n + 2], values[n], 1);
		n += 3;
	}
	/* those whose Montgomery form is small or all ones: v = x / 2^384 */
	for (i = 0; i < 6; i++) {
		mpz_set_ui(t_, 1);
		mpz_mul_2exp(t_, t_, 64 * i + 63);
		mpz_sub_ui(t_, t_, i & 1);
		mpz_setbit(u_, 384);
		mpz_invert(u_, u_, p);
		mpz_mul(t_, t_, u_);
		mpz_mod(values[n++], t_, p);
		mpz_set_ui(u_, 0);
	}
	while (n < N_VALUES)
		mpz_urandomm(values[n++], rnd, p);
}

static void test_pairs(void)
{
	bool add = true, sub = true, mul = true, alias = true;
	struct fp a, b, r;
	int i, j;

	for (i = 0; i < N_VALUES; i++) {
		for (j = 0; j < N_VALUES; j++) {
			fp_from_mpz(&a, values[i]);
			fp_from_mpz(&b, values[j]);
			mpz_add(u_, values[i], values[j]);
			mpz_mod(u_, u_, p);
			fp_add(&r, &a, &b);
			add &= fp_is_mpz(&r, u_);
			mpz_sub(u_, values[i], values[j]);
			mpz_mod(u_, u_, p);
			fp_sub(&r, &a, &b);
			sub &= fp_is_mpz(&r, u_);
			mpz_mul(u_, values[i], values[j]);
			mpz_mod(u_, u_, p);
			fp_mul(&r, &a, &b);
			mul &= fp_is_mpz(&r, u_);
			fp_mul(&a, &a, &b);
			alias &= fp_equal(&r, &a);
			fp_from_mpz(&a, values[i]);
			fp_mul(&b, &a, &b);
			alias &= fp_equal(&r, &b);
		}
	}
	ok(add, "%s: fp_add of all pairs of %d values", bls_arch_name(), N_VALUES);
	ok(sub, "%s: fp_sub", bls_arch_name());
	ok(mul, "%s: fp_mul", bls_arch_name());
	ok(alias, "%s: fp_mul onto its operands", bls_arch_name());
}

static void test_single(void)
{
	bool neg = true, sqr = true, inv = true, sqrt = true, half = true, pow = true, dbl = true;
	struct fp a, r, all[N_VALUES], tmp[N_VALUES];
	int i;

	for (i = 0; i < N_VALUES; i++) {
		uint64_t e[6] = { 0 };

		fp_from_mpz(&a, values[i]);
		all[i] = a;
		mpz_neg(u_, values[i]);
		mpz_mod(u_, u_, p);
		fp_neg(&r, &a);
		neg &= fp_is_mpz(&r, u_);
		mpz_mul_2exp(u_, values[i], 1);
		mpz_mod(u_, u_, p);
		fp_double(&r, &a);
		dbl &= fp_is_mpz(&r, u_);
		mpz_mul(u_, values[i], values[i]);
		mpz_mod(u_, u_, p);
		fp_sqr(&r, &a);
		sqr &= fp_is_mpz(&r, u_);
		if (!mpz_invert(u_, values[i], p))
			mpz_set_ui(u_, 0);
		fp_inv_vartime(&r, &a);
		inv &= fp_is_mpz(&r, u_);
		r = a;
		fp_inv_vartime(&r, &r);
		inv &= fp_is_mpz(&r, u_);
		if (mpz_legendre(values[i], p) >= 0) {
			sqrt &= fp_sqrt(&r, &a);
			fp_sqr(&r, &r);
			sqrt &= fp_equal(&r, &a);
		} else {
			r = a;
			sqrt &= !fp_sqrt(&r, &a) && fp_equal(&r, &a);
		}
		mpz_fdiv_q_2exp(u_, p, 1);
		half &= fp_is_larger_half(&a) == (mpz_cmp(values[i], u_) > 0);
		mpz_export(e, NULL, -1, 8, 0, 0, values[(i * 7 + 3) % N_VALUES]);
		mpz_powm(u_, values[i], values[(i * 7 + 3) % N_VALUES], p);
		fp_pow_vartime(&r, &a, e, 6);
		pow &= fp_is_mpz(&r, u_);
	}
	ok(neg, "%s: fp_neg", bls_arch_name());
	ok(dbl, "%s: fp_double", bls_arch_name());
	ok(sqr, "%s: fp_sqr", bls_arch_name());
	ok(inv, "%s: fp_inv_vartime", bls_arch_name());
	ok(sqrt, "%s: fp_sqrt finds roots of squares only", bls_arch_name());
	ok(half, "%s: fp_is_larger_half", bls_arch_name());
	ok(pow, "%s: fp_pow_vartime", bls_arch_name());

	inv = true;
	fp_batch_inv_vartime(all, N_VALUES, tmp);
	for (i = 0; i < N_VALUES; i++) {
		if (!mpz_invert(u_, values[i], p))
			mpz_set_ui(u_, 0);
		inv &= fp_is_mpz(&all[i], u_);
	}
	ok(inv, "%s: fp_batch_inv_vartime, zeros among them", bls_arch_name());
}

static void test_inv_many(void)
{
	bool pass = true;
	struct fp a, r;
	mpz_t v;
	int i;

	mpz_init(v);
	for (i = 0; i < 3000; i++) {
		/* random sizes: short and sparse numbers take other paths */
		mpz_rrandomb(v, rnd, 1 + i % 381);
		if (mpz_cmp(v, p) >= 0)
			mpz_sub(v, v, p);
		fp_from_mpz(&a, v);
		fp_inv_vartime(&r, &a);
		if (!mpz_invert(v, v, p))
			mpz_set_ui(v, 0);
		pass &= fp_is_mpz(&r, v);
	}
	ok(pass, "%s: fp_inv_vartime of 3000 numbers of all sizes", bls_arch_name());
	mpz_clear(v);
}

static void test_bytes(void)
{
	uint8_t bytes[48], out[48];
	struct fp a = fp_one, r;
	bool pass = true;
	int i;

	mpz_export(bytes, NULL, 1, 1, 1, 0, p);
	r = a;
	ok(fp_from_bytes_be(&r, bytes) == -EINVAL && fp_equal(&r, &a), "%s: p is refused",
	   bls_arch_name());
	memset(bytes, 0xff, sizeof(bytes));
	ok(fp_from_bytes_be(&r, bytes) == -EINVAL, "%s: 2^384 - 1 is refused", bls_arch_name());
	for (i = 0; i < N_VALUES; i++) {
		fp_from_mpz(&a, values[i]);
		fp_to_bytes_be(out, &a);
		pass &= !fp_from_bytes_be(&r, out) && fp_equal(&r, &a);
	}
	ok(pass, "%s: bytes round trip", bls_arch_name());
	fp_from_u64(&a, 0xfedcba9876543210);
	mpz_set_ui(u_, 0xfedcba9876543210);
	ok(fp_is_mpz(&a, u_), "%s: fp_from_u64", bls_arch_name());
}

static bool fp2_is_mpz(const struct fp2 *a, const mpz_t c0, const mpz_t c1)
{
	return fp_is_mpz(&a->c0, c0) && fp_is_mpz(&a->c1, c1);
}

static void test_fp2(void)
{
	bool mul = true, sqr = true, inv = true, sqrt = true, lin = true, roots = true;
	struct fp2 a, b, r, s;
	int i, j, n_roots = 0;
	mpz_t x, y;

	mpz_inits(x, y, NULL);
	for (i = 0; i < N_VALUES; i++) {
		for (j = 0; j < N_VALUES; j++) {
			int k = (i * 5 + j * 3 + 1) % N_VALUES, l = (i + j) % N_VALUES;

			fp_from_mpz(&a.c0, values[i]);
			fp_from_mpz(&a.c1, values[j]);
			fp_from_mpz(&b.c0, values[k]);
			fp_from_mpz(&b.c1, values[l]);

			mpz_mul(x, values[i], values[k]);
			mpz_submul(x, values[j], values[l]);
			mpz_mod(x, x, p);
			mpz_mul(y, values[i], values[l]);
			mpz_addmul(y, values[j], values[k]);
			mpz_mod(y, y, p);
			fp2_mul(&r, &a, &b);
			mul &= fp2_is_mpz(&r, x, y);
			r = a;
			fp2_mul(&r, &r, &b);
			mul &= fp2_is_mpz(&r, x, y);
			r = b;
			fp2_mul(&r, &a, &r);
			mul &= fp2_is_mpz(&r, x, y);

			mpz_mul(x, values[i], values[i]);
			mpz_submul(x, values[j], values[j]);
			mpz_mod(x, x, p);
			mpz_mul(y, values[i], values[j]);
			mpz_mul_2exp(y, y, 1);
			mpz_mod(y, y, p);
			fp2_sqr(&r, &a);
			sqr &= fp2_is_mpz(&r, x, y);
			s = a;
			fp2_sqr(&s, &s);
			sqr &= fp2_equal(&r, &s);

			mpz_sub(x, values[i], values[j]);
			mpz_mod(x, x, p);
			mpz_add(y, values[i], values[j]);
			mpz_mod(y, y, p);
			fp2_mul_xi(&s, &a);
			lin &= fp2_is_mpz(&s, x, y);
			fp2_add(&s, &a, &b);
			fp2_sub(&s, &s, &b);
			lin &= fp2_equal(&s, &a);
			fp2_conj(&s, &a);
			fp2_add(&s, &s, &a);
			fp_double(&b.c0, &a.c0);
			lin &= fp_is_zero(&s.c1) && fp_equal(&s.c0, &b.c0);

			if ((i + j) % 5 && i && j)
				continue;
			sqrt &= fp2_sqrt(&s, &r);
			fp2_sqr(&s, &s);
			sqrt &= fp2_equal(&s, &r);
			/* a has a root iff its norm has */
			mpz_mul(x, values[i], values[i]);
			mpz_addmul(x, values[j], values[j]);
			mpz_mod(x, x, p);
			if (fp2_sqrt(&s, &a)) {
				fp2_sqr(&s, &s);
				roots &= fp2_equal(&s, &a) && mpz_legendre(x, p) >= 0;
				n_roots++;
			} else {
				roots &= mpz_legendre(x, p) < 0;
			}
			fp2_inv_vartime(&s, &a);
			fp2_mul(&s, &s, &a);
			inv &= fp2_is_zero(&a) ? fp2_is_zero(&s) : fp2_is_one(&s);
		}
	}
	ok(mul, "%s: fp2_mul", bls_arch_name());
	ok(sqr, "%s: fp2_sqr", bls_arch_name());
	ok(lin, "%s: fp2 add, sub, conj, mul_xi", bls_arch_name());
	ok(sqrt, "%s: fp2_sqrt of squares", bls_arch_name());
	ok(roots && n_roots, "%s: fp2_sqrt finds roots of squares only (%d roots)", bls_arch_name(),
	   n_roots);
	ok(inv, "%s: fp2_inv_vartime", bls_arch_name());
	mpz_clears(x, y, NULL);
}

/* A build with --enable-verify stops at an operand that is not reduced. */
static void test_verify(void)
{
#ifdef CUZK_VERIFY
	struct fp bad, r;
	int status = 0;
	pid_t pid;

	memset(&bad, 0xff, sizeof(bad));
	pid = fork();
	if (!pid) {
		freopen("/dev/null", "w", stderr);
		fp_add(&r, &fp_one, &bad);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	ok(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT, "%s: unreduced operands abort",
	   bls_arch_name());
#endif
}

int main(void)
{
	int portable;

	mpz_inits(p, t_, u_, NULL);
	mpz_set_str(p, P_HEX, 16);
	gmp_randinit_mt(rnd);
	gmp_randseed_ui(rnd, 381);
	make_values();
	for (portable = 0; portable < 2; portable++) {
		bls_set_portable(portable);
		test_pairs();
		test_single();
		test_inv_many();
		test_bytes();
		test_fp2();
		test_verify();
	}
	return tap_done();
}
