/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* u-pairing.c - Fp12 and the pairing: identities, blst, and the network's own proofs */
#include <errno.h>

#include "lib/bls12_381/arch.h"
#include "lib/bls12_381/encoding.h"
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
	BLST(void, blst_miller_loop, (struct fp12 *, const struct g2_affine *, const struct g1_affine *));
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
	return 0;
}

static bool verify(const struct key *k, const uint8_t *proof, const uint8_t *inputs)
{
	struct g1_affine a, c, l, alpha;
	struct g2_affine b;
	struct g1 sum, t;
	struct miller_pair pairs[4] = {
		{ .p = &a, .q = &b }, { .p = &l, .q = &k->gamma }, { .p = &c, .q = &k->delta },
		{ .p = &alpha, .q = &k->beta },
	};
	size_t i;

	if (g1_from_compressed(&a, proof, 0) || g2_from_compressed(&b, proof + 48, 0) ||
	    g1_from_compressed(&c, proof + 144, 0))
		return false;
	g1_from_affine(&sum, &k->ic[0]);
	for (i = 1; i < k->n; i++) {
		struct scalar s;
		struct fr x;

		if (fr_from_bytes_be(&x, inputs + 32 * (i - 1)))
			return false;
		fr_to_scalar(&s, &x);
		g1_mul_vartime(&t, &k->ic[i], &s);
		g1_add(&sum, &sum, &t);
	}
	g1_neg(&sum, &sum);
	g1_to_affine(&l, &sum);
	g1_affine_neg(&c, &c);
	g1_affine_neg(&alpha, &k->alpha);
	return pairing_product_is_one(pairs, 4);
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

static void test_one(const char *what, const struct key *k, uint8_t *proof, uint8_t *inputs, int flips)
{
	bool refused = true;
	int i;

	ok(verify(k, proof, inputs), "%s: %s verifies", bls_arch_name(), what);
	for (i = 0; i < flips; i++) {
		size_t at = (i * 67 + next_random() % 67) % 192;
		uint8_t bit = 1 << next_random() % 8;

		proof[at] ^= bit;
		refused &= !verify(k, proof, inputs);
		proof[at] ^= bit;
		at = next_random() % (32 * (k->n - 1));
		inputs[at] ^= bit;
		refused &= !verify(k, proof, inputs);
		inputs[at] ^= bit;
	}
	ok(refused, "%s: %s with a changed bit does not", bls_arch_name(), what);
}

static void test_real(void)
{
	uint8_t *buf;
	struct key k;
	size_t size;
	int i;

	buf = read_file("real/winning32.prf", &size);
	if (ok(size == 4424 + 868 + 96 * 133 && !read_key(&k, buf + 4424, 132), "winning32: key"))
		test_one("winning32", &k, buf, buf + 200, 3);
	free(k.ic);
	free(buf);

	buf = read_file("real/seal32_x10.prf", &size);
	if (ok(size == 16 + 868 + 96 * 328 + 10 * (192 + 327 * 32) && !read_key(&k, buf + 16, 327),
	       "seal32: key")) {
		for (i = 0; i < 10; i++) {
			uint8_t *proof = buf + 16 + 868 + 96 * 328 + i * (192 + 327 * 32);
			char name[32];

			snprintf(name, sizeof(name), "seal32 partition %d", i);
			test_one(name, &k, proof, proof + 192, 1);
		}
	}
	free(k.ic);
	free(buf);
}

int main(void)
{
	int portable;

	for (portable = 0; portable < 2; portable++) {
		bls_set_portable(portable);
		test_fp12();
		test_pairing();
	}
	bls_set_portable(false);
	test_blst();
	test_real();
	return tap_done();
}
