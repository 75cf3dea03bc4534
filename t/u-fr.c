/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* u-fr.c - Fr against GMP, on both builds of the arithmetic */
#include <errno.h>
#include <gmp.h>

#include "lib/bls12_381/arch.h"
#include "lib/bls12_381/fr.h"
#include "t/tap.h"

static const char R_HEX[] = "73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001";
#define TWO_256 \
	"115792089237316195423570985008687907853269984665640564039457584007913129639936"
static mpz_t r_, t_, u_;
static gmp_randstate_t rnd;

enum { N_EDGES = 7 + 3 * 3 + 8, N_VALUES = N_EDGES + 80 };
static mpz_t values[N_VALUES];

static void fr_from_mpz(struct fr *r, const mpz_t v)
{
	struct scalar s = { { 0 } };

	mpz_export(s.l, NULL, -1, 8, 0, 0, v);
	fr_from_scalar(r, &s);
}

static bool fr_is_mpz(const struct fr *a, const mpz_t v)
{
	struct scalar s;
	struct fr w;

	fr_from_mpz(&w, v);
	fr_to_scalar(&s, a);
	mpz_import(t_, 4, -1, 8, 0, 0, s.l);
	return fr_equal(&w, a) && !mpz_cmp(t_, v);
}

static void make_values(void)
{
	int i, k, n = 0;

	for (i = 0; i < N_VALUES; i++)
		mpz_init(values[i]);
	mpz_set_ui(values[n++], 0);
	mpz_set_ui(values[n++], 1);
	mpz_set_ui(values[n++], 2);
	mpz_sub_ui(values[n++], r_, 1);
	mpz_sub_ui(values[n++], r_, 2);
	mpz_fdiv_q_2exp(values[n++], r_, 1);
	mpz_add_ui(values[n], values[n - 1], 1);
	n++;
	for (k = 64; k < 256; k += 64) {
		mpz_setbit(values[n], k);
		mpz_sub_ui(values[n + 1], values[n], 1);
		mpz_add_ui(values[n + 2], values[n], 1);
		n += 3;
	}
	/* those whose Montgomery form sits at a limb boundary: x / 2^256 */
	for (i = 0; i < 8; i++) {
		mpz_set_ui(t_, 0);
		mpz_setbit(t_, 64 * (i / 2) + 62);
		if (i & 1)
			mpz_sub_ui(t_, t_, 1);
		mpz_set_ui(u_, 0);
		mpz_setbit(u_, 256);
		mpz_invert(u_, u_, r_);
		mpz_mul(t_, t_, u_);
		mpz_mod(values[n++], t_, r_);
	}
	while (n < N_VALUES)
		mpz_urandomm(values[n++], rnd, r_);
}

static void test_pairs(void)
{
	bool add = true, sub = true, mul = true, alias = true;
	struct fr a, b, r;
	int i, j;

	for (i = 0; i < N_VALUES; i++) {
		for (j = 0; j < N_VALUES; j++) {
			fr_from_mpz(&a, values[i]);
			fr_from_mpz(&b, values[j]);
			mpz_add(u_, values[i], values[j]);
			mpz_mod(u_, u_, r_);
			fr_add(&r, &a, &b);
			add &= fr_is_mpz(&r, u_);
			mpz_sub(u_, values[i], values[j]);
			mpz_mod(u_, u_, r_);
			fr_sub(&r, &a, &b);
			sub &= fr_is_mpz(&r, u_);
			mpz_mul(u_, values[i], values[j]);
			mpz_mod(u_, u_, r_);
			fr_mul(&r, &a, &b);
			mul &= fr_is_mpz(&r, u_);
			fr_mul(&a, &a, &b);
			alias &= fr_equal(&r, &a);
			fr_from_mpz(&a, values[i]);
			fr_mul(&b, &a, &b);
			alias &= fr_equal(&r, &b);
		}
	}
	ok(add, "%s: fr_add of all pairs of %d values", bls_arch_name(), N_VALUES);
	ok(sub, "%s: fr_sub", bls_arch_name());
	ok(mul, "%s: fr_mul", bls_arch_name());
	ok(alias, "%s: fr_mul onto its operands", bls_arch_name());
}

static void test_single(void)
{
	bool neg = true, sqr = true, inv = true, dbl = true, pow = true, u64 = true;
	struct fr a, r, all[N_VALUES], tmp[N_VALUES];
	int i;

	for (i = 0; i < N_VALUES; i++) {
		uint64_t e[4] = { 0 };

		fr_from_mpz(&a, values[i]);
		all[i] = a;
		mpz_neg(u_, values[i]);
		mpz_mod(u_, u_, r_);
		fr_neg(&r, &a);
		neg &= fr_is_mpz(&r, u_);
		mpz_mul_2exp(u_, values[i], 1);
		mpz_mod(u_, u_, r_);
		fr_double(&r, &a);
		dbl &= fr_is_mpz(&r, u_);
		mpz_mul(u_, values[i], values[i]);
		mpz_mod(u_, u_, r_);
		fr_sqr(&r, &a);
		sqr &= fr_is_mpz(&r, u_);
		if (!mpz_invert(u_, values[i], r_))
			mpz_set_ui(u_, 0);
		r = a;
		fr_inv_vartime(&r, &r);
		inv &= fr_is_mpz(&r, u_);
		mpz_export(e, NULL, -1, 8, 0, 0, values[(i * 7 + 3) % N_VALUES]);
		mpz_powm(u_, values[i], values[(i * 7 + 3) % N_VALUES], r_);
		fr_pow_vartime(&r, &a, e, 4);
		pow &= fr_is_mpz(&r, u_);
		fr_pow_u64(&r, &a, e[0]);
		mpz_set_ui(u_, e[0]);
		mpz_powm(u_, values[i], u_, r_);
		pow &= fr_is_mpz(&r, u_);
		fr_from_u64(&r, e[0]);
		mpz_set_ui(u_, e[0]);
		u64 &= fr_is_mpz(&r, u_);
	}
	ok(neg, "%s: fr_neg", bls_arch_name());
	ok(dbl, "%s: fr_double", bls_arch_name());
	ok(sqr, "%s: fr_sqr", bls_arch_name());
	ok(inv, "%s: fr_inv_vartime", bls_arch_name());
	ok(pow, "%s: fr_pow_vartime and fr_pow_u64", bls_arch_name());
	ok(u64, "%s: fr_from_u64", bls_arch_name());
	inv = true;
	fr_batch_inv_vartime(all, N_VALUES, tmp);
	for (i = 0; i < N_VALUES; i++) {
		if (!mpz_invert(u_, values[i], r_))
			mpz_set_ui(u_, 0);
		inv &= fr_is_mpz(&all[i], u_);
	}
	ok(inv, "%s: fr_batch_inv_vartime, zeros among them", bls_arch_name());
}

static void test_inv_many(void)
{
	bool pass = true;
	struct fr a, r;
	mpz_t v;
	int i;

	mpz_init(v);
	for (i = 0; i < 3000; i++) {
		mpz_rrandomb(v, rnd, 1 + i % 255);
		if (mpz_cmp(v, r_) >= 0)
			mpz_sub(v, v, r_);
		/* the number itself and the one whose Montgomery form it is */
		fr_from_mpz(&a, v);
		if (i & 1) {
			memset(&a, 0, sizeof(a));
			mpz_export(a.l, NULL, -1, 8, 0, 0, v);
		}
		fr_inv_vartime(&r, &a);
		fr_mul(&r, &r, &a);
		pass &= fr_is_zero(&a) ? fr_is_zero(&r) : fr_is_one(&r);
	}
	ok(pass, "%s: fr_inv_vartime of 3000 numbers of all sizes", bls_arch_name());
	mpz_clear(v);
}

static void test_bytes(void)
{
	bool le = true, be = true, dec = true;
	uint8_t bytes[32], rev[32];
	char str[128];
	struct fr a, r;
	int i, j;

	for (i = 0; i < N_VALUES; i++) {
		fr_from_mpz(&a, values[i]);
		fr_to_bytes_le(bytes, &a);
		mpz_import(t_, 32, -1, 1, 0, 0, bytes);
		le &= !mpz_cmp(t_, values[i]) && !fr_from_bytes_le(&r, bytes) && fr_equal(&r, &a);
		for (j = 0; j < 32; j++)
			rev[j] = bytes[31 - j];
		be &= !fr_from_bytes_be(&r, rev) && fr_equal(&r, &a);
		mpz_get_str(str, 10, values[i]);
		dec &= !fr_from_dec(&r, str) && fr_equal(&r, &a);
	}
	ok(le, "%s: bytes, little-endian", bls_arch_name());
	ok(be, "%s: bytes, big-endian", bls_arch_name());
	ok(dec, "%s: decimal digits", bls_arch_name());

	memset(bytes, 0, 32);
	mpz_export(bytes, NULL, -1, 1, 0, 0, r_);
	r = fr_one;
	ok(fr_from_bytes_le(&r, bytes) == -EINVAL && fr_is_one(&r), "%s: r is refused",
	   bls_arch_name());
	memset(bytes, 0xff, 32);
	ok(fr_from_bytes_le(&r, bytes) == -EINVAL && fr_from_bytes_be(&r, bytes) == -EINVAL,
	   "%s: 2^256 - 1 is refused", bls_arch_name());
	mpz_get_str(str, 10, r_);
	ok(fr_from_dec(&r, str) == -EINVAL && fr_from_dec(&r, "") == -EINVAL &&
	   fr_from_dec(&r, "12a") == -EINVAL && fr_from_dec(&r, "-1") == -EINVAL &&
	   fr_from_dec(&r,
		   TWO_256) ==
	   -EINVAL && fr_is_one(&r), "%s: digits that are no element are refused", bls_arch_name());
}

static void test_roots(void)
{
	struct fr a, g;
	int i;

	/* r - 1 = 2^32 odd; a primitive root's 2^31st power is -1 */
	fr_neg(&g, &fr_one);
	a = FR_ROOT_7;
	for (i = 0; i < 31; i++)
		fr_sqr(&a, &a);
	ok(fr_equal(&a, &g), "FR_ROOT_7 has order 2^32");
	a = FR_ROOT_5;
	for (i = 0; i < 31; i++)
		fr_sqr(&a, &a);
	ok(fr_equal(&a, &g), "FR_ROOT_5 has order 2^32");
	mpz_sub_ui(u_, r_, 1);
	mpz_fdiv_q_2exp(u_, u_, 32);
	mpz_set_ui(t_, 7);
	mpz_powm(t_, t_, u_, r_);
	fr_from_mpz(&a, t_);
	ok(fr_equal(&a, &FR_ROOT_7), "FR_ROOT_7 = 7^((r-1)/2^32)");
	mpz_set_ui(t_, 5);
	mpz_powm(t_, t_, u_, r_);
	fr_from_mpz(&a, t_);
	ok(fr_equal(&a, &FR_ROOT_5), "FR_ROOT_5 = 5^((r-1)/2^32)");
	fr_from_u64(&a, 7);
	ok(fr_equal(&a, &FR_GENERATOR), "FR_GENERATOR = 7");
}

int main(void)
{
	int portable;

	mpz_inits(r_, t_, u_, NULL);
	mpz_set_str(r_, R_HEX, 16);
	gmp_randinit_mt(rnd);
	gmp_randseed_ui(rnd, 255);
	make_values();
	for (portable = 0; portable < 2; portable++) {
		bls_set_portable(portable);
		test_pairs();
		test_single();
		test_inv_many();
		test_bytes();
	}
	test_roots();
	return tap_done();
}
