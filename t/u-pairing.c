/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* u-pairing.c - Fp12 and the pairing: identities, blst, and the network's own proofs */
#include <errno.h>

#include "lib/bls12_381/arch.h"
#include "lib/bls12_381/encoding.h"
#include "lib/bls12_381/g1_fixed.h"
#include "lib/bls12_381/pairing.h"
#include "t/blst.h"
#include "t/tap.h"

static uint64_t next_random(void)
{
	static uint64_t s = 4;
	uint64_t z = s += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static void random_scalar(struct scalar *s)
{
	int i;

	for (i = 0; i < 4; i++)
		s->l[i] = next_random();
}

static void random_g1(struct g1_affine *a)
{
	struct scalar s;
	struct g1 t;

	random_scalar(&s);
	g1_mul_vartime(&t, &G1_GENERATOR, &s);
	g1_to_affine(a, &t);
}

static void random_g2(struct g2_affine *a)
{
	struct scalar s;
	struct g2 t;

	random_scalar(&s);
	g2_mul_vartime(&t, &G2_GENERATOR, &s);
	g2_to_affine(a, &t);
}

/* Any element: the cyclotomic subgroup is only reached through final_exp. */
static void random_fp12(struct fp12 *a)
{
	struct fp *c = (struct fp *)a;
	int i;

	for (i = 0; i < 12; i++) {
		struct fp t;

		fp_from_u64(&c[i], next_random());
		fp_from_u64(&t, next_random());
		fp_inv_vartime(&t, &t);
		fp_mul(&c[i], &c[i], &t);
	}
}

static void fp12_pow(struct fp12 *r, const struct fp12 *a, const struct scalar *e)
{
	struct fp12 acc = fp12_one;
	int i;

	for (i = 255; i >= 0; i--) {
		fp12_sqr(&acc, &acc);
		if (e->l[i / 64] >> (i % 64) & 1)
			fp12_mul(&acc, &acc, a);
	}
	*r = acc;
}


static void test_fp12(void)
{
	bool ring = true, sqr = true, inv = true, frob = true, cyc = true, exp = true;
	struct scalar z = {{ 0xd201000000010000 }};
	struct fp12 a, b, c, s, t;
	int i;

	for (i = 0; i < 20; i++) {
		random_fp12(&a);
		random_fp12(&b);
		random_fp12(&c);
		fp12_mul(&s, &a, &b);
		fp12_mul(&t, &b, &a);
		ring &= fp12_equal(&s, &t);
		fp12_mul(&s, &s, &c);
		fp12_mul(&t, &b, &c);
		fp12_mul(&t, &a, &t);
		ring &= fp12_equal(&s, &t);
		fp12_mul(&s, &a, &a);
		fp12_sqr(&t, &a);
		sqr &= fp12_equal(&s, &t);
		t = a;
		fp12_mul(&t, &t, &t);
		sqr &= fp12_equal(&s, &t);
		fp12_inv_vartime(&t, &a);
		fp12_mul(&t, &t, &a);
		inv &= fp12_is_one(&t);

		/* Frobenius: multiplicative, of order 12, its square and its sixth power */
		fp12_frobenius(&s, &a);
		fp12_frobenius(&t, &b);
		fp12_mul(&s, &s, &t);
		fp12_mul(&t, &a, &b);
		fp12_frobenius(&t, &t);
		frob &= fp12_equal(&s, &t);
		fp12_frobenius(&s, &a);
		fp12_frobenius(&s, &s);
		fp12_frobenius2(&t, &a);
		frob &= fp12_equal(&s, &t) && !fp12_equal(&s, &a);
		fp12_frobenius2(&t, &t);
		fp12_frobenius2(&t, &t);
		fp12_conj(&s, &a);
		frob &= fp12_equal(&s, &t);

		final_exp(&a, &a);
		fp12_conj(&s, &a);
		fp12_mul(&s, &s, &a);
		cyc &= fp12_is_one(&s);
		fp12_cyclotomic_sqr(&s, &a);
		fp12_sqr(&t, &a);
		cyc &= fp12_equal(&s, &t);
		fp12_cyclotomic_exp_abs_z(&s, &a);
		fp12_pow(&t, &a, &z);
		exp &= fp12_equal(&s, &t) && !fp12_is_one(&t);
	}
	fp12_cyclotomic_exp_abs_z(&s, &fp12_one);
	exp &= fp12_is_one(&s);
	final_exp(&s, &fp12_one);
	exp &= fp12_is_one(&s);
	ok(ring, "%s: fp12_mul commutes and associates", bls_arch_name());
	ok(sqr, "%s: fp12_sqr", bls_arch_name());
	ok(inv, "%s: fp12_inv_vartime", bls_arch_name());
	ok(frob, "%s: Frobenius maps", bls_arch_name());
	ok(cyc, "%s: cyclotomic squares and inverses", bls_arch_name());
	ok(exp, "%s: cyclotomic powers", bls_arch_name());
}

/*
 * Elements of the cyclotomic subgroup whose 2^16th and 2^48th power have z2 = 0,
 * where decompression takes its other formula: z4 = m z5, 2 z3 = 3 z4^2 + xi z5^2
 * and 8 (m^3 + 3 xi m) = xi (3 m^2 + xi)^3 z5^3, then a root of that order.
 */
static const char *const degenerate[2][12] = {
	{
		"065fe26110b80d061a01b8188255e2e47ce69541f6fc18c2"
		"e689630c9c78b9cdb6ce0ff63e7408375d6bd8d6713d7860",
		"0a85c5cc8e46b06b845b7af58171bf48915f3e40752ce851"
		"f1d2a3a6476ab03310c201959d5c23d278d1cde44805b649",
		"0b7f1ed17c325fc14d3ede220ca95c3b75d5388659b18920"
		"0a49337b7fe64e313052a507d3dac34ae05af712343dab9f",
		"116f2a80b28175a636af050d5af494530e61de71e4ddec63"
		"17cfcbaa8d5a615ce67ba29e74aa9cecf06bbb6f07946346",
		"19d1e1977406fb5763712f0cc0fd7c2b75d53589ee1f6793"
		"a1d37e3d6ff51ca13f2131d5a8927376d16c9dbae2d87059",
		"0b5ddbdbf5cc72311ee131906149a88bfd2584a8a7004ea1"
		"acfd0210c9c30c4a7c06037cb140d7ddc3e68c20a8f02313",
		"102f8bdd8d7d13f762886f87e59e7c5993b656a800b67bb0"
		"d37d8a8ca142ef09d1800ad9e90863ff2f8e64c604d6f79e",
		"02f60278513b2c7d8363ded19b6a2f06db0fbb054feeba48"
		"783769ede4c1b43eb42ec3c4577677840228eb36fc102f15",
		"01a3415c1de3f8ee4cb0b2585f76e20bd5b76bd33b4b368c"
		"cf1c1749cecff7ea65d2006d7022223f9b6a7b66b865fd75",
		"05b11a51b8285b650444e6a34fc0e36b95d1ce3194b8d856"
		"f16458df524969e733f869e86c4ffb6084e4fc23a2091a50",
		"07246e8cae2e111a452ea80c8f3d8ae5280b1254ac950db8"
		"e1d2cf87509722cbba344ced4e8bf040b129b008a4f8da07",
		"156cbe371ef1488ab4515eaf447a15c495c905434399df1a"
		"e64585bb65c1b1af0bea15be48ef8302c03ff189e9ca74e4"
	}, {
		"0dbc1a65297a5d6d4d3fff08199b15efa569ebecc6c39ae0"
		"0cb830cd6bdb8876d2084ec79c8c3e47b388f0fba03f79fd",
		"0dbf7cec19c390a43de7e86a6fa2c96776adbb13278f1a68"
		"d52269e18cce8cacdd0bddf49e4a97e58ceaa9d6dea9b4e7",
		"0acf9198142fca0ba9bf3240b6975fd1012d4eeee2dd6587"
		"9109a8f84e635aa7dbd49ca479364f87448ffd768f05e139",
		"09d21a29c7c093cc58b3aa2eb06babd15d601d67d71a9497"
		"ab98e5289aba7015dc85f12c11ff08f8d8055c7f080f7dfd",
		"15f1c2c6f16a1406837e061b6a65516891a6b6b40014b5d8"
		"d1c01a8f114dc313645f735c1db727db33fbe807a9a22d63",
		"05ffd7b35799185d2031847a2760eb875e6400b2912f161b"
		"8074add4a29c89a04dc0c190caab52eda7dc5bec882af523",
		"070d89a4354531125c8ad8f00ac7a6a32c84d45ff244f8db"
		"2332cb307acd0a83c41ab1f64775b054e2a4fba856a3b08d",
		"0501f727902ca8e8513325273e93647259fb4ad2e46893d7"
		"fcb34fcab2cd81a4776084253d6f1e6517f33837225d0b06",
		"00721cb1354a0d730714cc1d5f4a72213096e019707dd7a1"
		"70cebd5ecb9f29c2047782c210f650ac3911295538871385",
		"039ff1435b203837230c6dec97913198da08aee13c683c4d"
		"46f24cf44a23c88db3af65d2199c661bc68f841fcb323f83",
		"1760ca96f1c8161a330d8915b06f9e3d6df9e23b7c2ba30c"
		"a084cbc7c2c71b7683aefd933efa10bb82459622eb8bb032",
		"1662c653e0c06fa592d44fa72567d94a51340555b10ef6ae"
		"b97089bad68dbecb040ee1ac102fb06f49b19a47c4cc11bc"
	}
};

static void fp_from_hex(struct fp *r, const char *hex)
{
	uint8_t bytes[48];
	unsigned int v;
	int i;

	for (i = 0; i < 48; i++) {
		sscanf(hex + 2 * i, "%2x", &v);
		bytes[i] = v;
	}
	if (fp_from_bytes_be(r, bytes))
		abort();
}

static void test_degenerate(void)
{
	struct scalar z = {{ 0xd201000000010000 }};
	struct fp12 a, s, t;
	int i, j;

	for (i = 0; i < 2; i++) {
		for (j = 0; j < 12; j++)
			fp_from_hex((struct fp *)&a + j, degenerate[i][j]);
		s = a;
		for (j = 0; j < (i ? 48 : 16); j++)
			fp12_sqr(&s, &s);
		fp12_pow(&t, &a, &z);
		ok(fp2_is_zero(&s.c1.c0) && !fp12_is_one(&s), "%s: a power with z2 = 0",
		   bls_arch_name());
		fp12_cyclotomic_exp_abs_z(&s, &a);
		ok(fp12_equal(&s, &t), "%s: its cyclotomic power", bls_arch_name());
	}
}

static void test_pairing(void)
{
	static struct g2_prepared prep[40];
	struct g1_affine p[40], none1 = { fp_zero, fp_zero }, t1;
	struct g2_affine q[40], none2 = { fp2_zero, fp2_zero }, t2;
	struct miller_pair pairs[40];
	struct fp12 e, f, g, product;
	bool bilinear = true, order = true, prepared = true, many = true, infinity = true;
	struct scalar a, b, r = {{
		0xffffffff00000001, 0x53bda402fffe5bfe, 0x3339d80809a1d805, 0x73eda753299d7d48
	}};
	struct g1 j1;
	struct g2 j2;
	int i, n;

	pairing(&e, &G1_GENERATOR, &G2_GENERATOR);
	fp12_pow(&f, &e, &r);
	ok(!fp12_is_one(&e) && fp12_is_one(&f), "%s: e(G1, G2) has order r", bls_arch_name());
	for (i = 0; i < 8; i++) {
		random_scalar(&a);
		random_scalar(&b);
		g1_mul_vartime(&j1, &G1_GENERATOR, &a);
		g1_to_affine(&t1, &j1);
		g2_mul_vartime(&j2, &G2_GENERATOR, &b);
		g2_to_affine(&t2, &j2);
		pairing(&f, &t1, &t2);
		fp12_pow(&g, &e, &a);
		fp12_pow(&g, &g, &b);
		bilinear &= fp12_equal(&f, &g);
		g2_prepare(&prep[0], &t2);
		pairs[0] = (struct miller_pair){ .p = &t1, .prepared = &prep[0] };
		miller_loop_n(&g, pairs, 1);
		final_exp(&g, &g);
		prepared &= fp12_equal(&f, &g);
		fp12_pow(&g, &f, &r);
		order &= fp12_is_one(&g);
	}
	ok(bilinear, "%s: e(aP, bQ) = e(P, Q)^ab", bls_arch_name());
	ok(prepared, "%s: prepared points give the same", bls_arch_name());
	ok(order, "%s: pairings have order r", bls_arch_name());

	/* every mix of prepared and not, sizes around the group of 16 */
	for (n = 0; n <= 40; n += n < 6 ? 1 : 17) {
		product = fp12_one;
		for (i = 0; i < n; i++) {
			random_g1(&p[i]);
			random_g2(&q[i]);
			g2_prepare(&prep[i], &q[i]);
			pairs[i] = (struct miller_pair){ .p = &p[i] };
			if (next_random() & 1)
				pairs[i].q = &q[i];
			else
				pairs[i].prepared = &prep[i];
			pairing(&f, &p[i], &q[i]);
			fp12_mul(&product, &product, &f);
		}
		miller_loop_n(&f, pairs, n);
		final_exp(&f, &f);
		many &= fp12_equal(&f, &product);
	}
	ok(many, "%s: products of 0 to 40 pairs", bls_arch_name());

	g2_prepare(&prep[0], &none2);
	for (i = 0; i < 3; i++) {
		pairs[0] = (struct miller_pair){ .p = i == 0 ? &none1 : &p[0] };
		if (i == 2)
			pairs[0].prepared = &prep[0];
		else
			pairs[0].q = i == 1 ? &none2 : &q[0];
		miller_loop_n(&f, pairs, 1);
		infinity &= fp12_is_one(&f);
	}
	ok(infinity, "%s: infinity pairs to 1", bls_arch_name());

	g1_affine_neg(&p[1], &p[0]);
	pairs[0] = (struct miller_pair){ .p = &p[0], .q = &q[0] };
	pairs[1] = (struct miller_pair){ .p = &p[1], .q = &q[0] };
	ok(pairing_product_is_one(pairs, 2) && !pairing_product_is_one(pairs, 1),
	   "%s: e(P, Q) e(-P, Q) = 1", bls_arch_name());
}

static void test_blst(void)
{
	bool e = true, fe = true, mul = true, sqr = true, inv = true;
	struct g1_affine p;
	struct g2_affine q;
	struct fp12 a, b, f, g;
	int i;

	if (!blst_open()) {
		skip("blst", blst_why_not);
		return;
	}
	BLST(void, blst_miller_loop, (struct fp12 *, const struct g2_affine *,
				      const struct g1_affine *));
	BLST(void, blst_final_exp, (struct fp12 *, const struct fp12 *));
	BLST(void, blst_fp12_mul, (struct fp12 *, const struct fp12 *, const struct fp12 *));
	BLST(void, blst_fp12_sqr, (struct fp12 *, const struct fp12 *));
	BLST(void, blst_fp12_inverse, (struct fp12 *, const struct fp12 *));
	for (i = 0; i < 50; i++) {
		random_g1(&p);
		random_g2(&q);
		blst_miller_loop(&f, &q, &p);
		blst_final_exp(&f, &f);
		pairing(&g, &p, &q);
		e &= fp12_equal(&f, &g);
		random_fp12(&a);
		random_fp12(&b);
		blst_final_exp(&f, &a);
		final_exp(&g, &a);
		fe &= fp12_equal(&f, &g);
		blst_fp12_mul(&f, &a, &b);
		fp12_mul(&g, &a, &b);
		mul &= fp12_equal(&f, &g);
		blst_fp12_sqr(&f, &a);
		fp12_sqr(&g, &a);
		sqr &= fp12_equal(&f, &g);
		blst_fp12_inverse(&f, &a);
		fp12_inv_vartime(&g, &a);
		inv &= fp12_equal(&f, &g);
	}
	ok(e, "%s: pairings are blst's", bls_arch_name());
	ok(fe, "%s: final_exp is blst's", bls_arch_name());
	ok(mul, "%s: fp12_mul is blst's", bls_arch_name());
	ok(sqr, "%s: fp12_sqr is blst's", bls_arch_name());
	ok(inv, "%s: fp12_inv_vartime is blst's", bls_arch_name());
}

/* Groth16 verification as its equation says, from the bytes of a .vk and a proof. */
struct key {
	struct g1_affine alpha, *ic;
	struct g2_affine beta, gamma, delta;
	struct g1_fixed *sums;
	size_t n;
};

static int read_key(struct key *k, const uint8_t *vk, size_t n_inputs)
{
	size_t i, n = (size_t)vk[864] << 24 | vk[865] << 16 | vk[866] << 8 | vk[867];

	if (n != n_inputs + 1)
		return -EINVAL;
	k->n = n;
	k->ic = calloc(n, sizeof(*k->ic));
	if (g1_from_uncompressed(&k->alpha, vk, 0) || g2_from_uncompressed(&k->beta, vk + 192, 0) ||
	    g2_from_uncompressed(&k->gamma, vk + 384, 0) ||
	    g2_from_uncompressed(&k->delta, vk + 672, 0))
		return -EINVAL;
	for (i = 0; i < n; i++)
		if (g1_from_uncompressed(&k->ic[i], vk + 868 + 96 * i, POINT_ALLOW_INFINITY))
			return -EINVAL;
	return g1_fixed_open(&k->sums, k->ic, n);
}

/* The sum over the inputs, negated; false for an input that is not below r. */
static bool input_sum(struct g1_affine *l, const struct key *k, const uint8_t *inputs)
{
	struct scalar *s = calloc(k->n, sizeof(*s));
	struct g1 sum;
	bool good = true;
	size_t i;

	s[0].l[0] = 1;
	for (i = 1; i < k->n; i++) {
		struct fr x = fr_zero;

		good &= !fr_from_bytes_be(&x, inputs + 32 * (i - 1));
		fr_to_scalar(&s[i], &x);
	}
	good &= !g1_fixed_sum(&sum, k->sums, s, k->n);
	g1_neg(&sum, &sum);
	g1_to_affine(l, &sum);
	free(s);
	return good;
}

static bool verify_sum(const struct key *k, const uint8_t *proof, const struct g1_affine *l)
{
	struct g1_affine a, c, alpha;
	struct g2_affine b;
	struct miller_pair pairs[4] = {
		{ .p = &a, .q = &b }, { .p = l, .q = &k->gamma }, { .p = &c, .q = &k->delta },
		{ .p = &alpha, .q = &k->beta },
	};

	if (g1_from_compressed(&a, proof, 0) || g2_from_compressed(&b, proof + 48, 0) ||
	    g1_from_compressed(&c, proof + 144, 0))
		return false;
	g1_affine_neg(&c, &c);
	g1_affine_neg(&alpha, &k->alpha);
	return pairing_product_is_one(pairs, 4);
}

static bool verify(const struct key *k, const uint8_t *proof, const uint8_t *inputs)
{
	struct g1_affine l;

	return input_sum(&l, k, inputs) && verify_sum(k, proof, &l);
}

static uint8_t *read_file(const char *name, size_t *size)
{
	FILE *f = fopen(data_path(name), "rb");
	uint8_t *buf;
	long n;

	if (!f || fseek(f, 0, SEEK_END) || (n = ftell(f)) < 0 || fseek(f, 0, SEEK_SET)) {
		ok(false, "cannot read %s", name);
		exit(1);
	}
	buf = malloc(n + 1);
	*size = fread(buf, 1, n, f);
	fclose(f);
	return buf;
}

static void test_one(const char *what, const struct key *k, uint8_t *proof, uint8_t *inputs)
{
	bool refused = true;
	struct g1_affine l;
	size_t at;
	int i;

	ok(verify(k, proof, inputs), "%s: %s verifies", bls_arch_name(), what);
	input_sum(&l, k, inputs);
	for (at = 0; at < 192; at++) {
		uint8_t bit = 1 << next_random() % 8;

		proof[at] ^= bit;
		refused &= !verify_sum(k, proof, &l);
		proof[at] ^= bit;
	}
	ok(refused, "%s: %s with any byte changed does not", bls_arch_name(), what);
	refused = true;
	for (i = 0; i < 20; i++) {
		uint8_t bit = 1 << next_random() % 8;

		at = next_random() % (32 * (k->n - 1));
		inputs[at] ^= bit;
		refused &= !verify(k, proof, inputs);
		inputs[at] ^= bit;
	}
	ok(refused, "%s: %s with changed inputs does not", bls_arch_name(), what);
}

static void test_real(void)
{
	uint8_t *buf;
	struct key k;
	size_t size;
	int i;

	buf = read_file("real/winning32.prf", &size);
	memset(&k, 0, sizeof(k));
	if (ok(size == 4424 + 868 + 96 * 133 && !read_key(&k, buf + 4424, 132), "winning32: key"))
		test_one("winning32", &k, buf, buf + 200);
	free(k.ic);
	g1_fixed_close(k.sums);
	free(buf);

	buf = read_file("real/seal32_x10.prf", &size);
	memset(&k, 0, sizeof(k));
	if (ok(size == 16 + 868 + 96 * 328 + 10 * (192 + 327 * 32) && !read_key(&k, buf + 16, 327),
	       "seal32: key")) {
		for (i = 0; i < 10; i++) {
			uint8_t *proof = buf + 16 + 868 + 96 * 328 + i * (192 + 327 * 32);
			char name[32];

			snprintf(name, sizeof(name), "seal32 partition %d", i);
			test_one(name, &k, proof, proof + 192);
		}
	}
	free(k.ic);
	g1_fixed_close(k.sums);
	free(buf);
}

int main(void)
{
	int portable;

	for (portable = 0; portable < 2; portable++) {
		bls_set_portable(portable);
		test_fp12();
		test_degenerate();
		test_pairing();
	}
	bls_set_portable(false);
	test_blst();
	test_real();
	return tap_done();
}
