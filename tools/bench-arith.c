/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* bench-arith.c - the kernels of one operation: fields, points, pairings, a verification */
#include <stdlib.h>
#include <string.h>

#include "lib/bls12_381/arch.h"
#include "lib/bls12_381/encoding.h"
#include "lib/bls12_381/g1_fixed.h"
#include "lib/bls12_381/pairing.h"
#include "tools/bench-kernel.h"

enum { N = 64 };	/* operands, so that nothing is predicted or hoisted */

static struct fp fp_a[N], fp_square[N], fp_r[N];
static struct fp2 fp2_a[N], fp2_r[N];
static struct fr fr_a[N], fr_r[N];
static struct g1_affine p[N];
static struct g2_affine q[N];
static struct g1 jp[N], jr[N];
static struct g2 jq[N], jr2[N];
static struct fp12 f12[N], f12_r[N];
static struct scalar k[N];
static uint8_t c1[N][48], c2[N][96];
static struct g2_prepared prepared[2];
static unsigned int sink;

static uint64_t next_random(void)
{
	static uint64_t s = 99;
	uint64_t z = s += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static void setup(void)
{
	int i, j;

	for (i = 0; i < N; i++) {
		for (j = 0; j < 4; j++)
			k[i].l[j] = next_random();
		k[i].l[3] >>= 2;
		g1_mul_vartime(&jp[i], &G1_GENERATOR, &k[i]);
		g2_mul_vartime(&jq[i], &G2_GENERATOR, &k[i]);
		g1_to_affine(&p[i], &jp[i]);
		g2_to_affine(&q[i], &jq[i]);
		fp_a[i] = p[i].x;
		fp_sqr(&fp_square[i], &fp_a[i]);
		fp2_a[i] = q[i].x;
		fr_from_scalar(&fr_a[i], &k[i]);
		pairing(&f12[i], &p[i], &q[i]);
		g1_to_compressed(c1[i], &p[i]);
		g2_to_compressed(c2[i], &q[i]);
	}
	g2_prepare(&prepared[0], &q[1]);
	g2_prepare(&prepared[1], &q[2]);
}

/* blst's side; NULL where blst cannot be had */
#define REF(type, name, params) static type (*name) params
REF(void, blst_fp_mul, (struct fp *, const struct fp *, const struct fp *));
REF(void, blst_fp_sqr, (struct fp *, const struct fp *));
REF(void, blst_fp_add, (struct fp *, const struct fp *, const struct fp *));
REF(void, blst_fp_sub, (struct fp *, const struct fp *, const struct fp *));
REF(void, blst_fp_eucl_inverse, (struct fp *, const struct fp *));
REF(bool, blst_fp_sqrt, (struct fp *, const struct fp *));
REF(void, blst_fp2_mul, (struct fp2 *, const struct fp2 *, const struct fp2 *));
REF(void, blst_fp2_sqr, (struct fp2 *, const struct fp2 *));
REF(void, blst_fp2_add, (struct fp2 *, const struct fp2 *, const struct fp2 *));
REF(void, blst_fr_mul, (struct fr *, const struct fr *, const struct fr *));
REF(void, blst_fr_add, (struct fr *, const struct fr *, const struct fr *));
REF(void, blst_fr_eucl_inverse, (struct fr *, const struct fr *));
REF(void, blst_p1_add_or_double, (struct g1 *, const struct g1 *, const struct g1 *));
REF(void, blst_p1_add_or_double_affine, (struct g1 *, const struct g1 *, const struct g1_affine *));
REF(void, blst_p1_double, (struct g1 *, const struct g1 *));
REF(void, blst_p2_add_or_double_affine, (struct g2 *, const struct g2 *, const struct g2_affine *));
REF(void, blst_p2_double, (struct g2 *, const struct g2 *));
REF(void, blst_p1_mult, (struct g1 *, const struct g1 *, const uint8_t *, size_t));
REF(void, blst_p2_mult, (struct g2 *, const struct g2 *, const uint8_t *, size_t));
REF(int, blst_p1_uncompress, (struct g1_affine *, const uint8_t *));
REF(int, blst_p2_uncompress, (struct g2_affine *, const uint8_t *));
REF(bool, blst_p1_affine_in_g1, (const struct g1_affine *));
REF(bool, blst_p2_affine_in_g2, (const struct g2_affine *));
REF(void, blst_fp12_mul, (struct fp12 *, const struct fp12 *, const struct fp12 *));
REF(void, blst_fp12_sqr, (struct fp12 *, const struct fp12 *));
REF(void, blst_fp12_cyclotomic_sqr, (struct fp12 *, const struct fp12 *));
REF(void, blst_miller_loop, (struct fp12 *, const struct g2_affine *, const struct g1_affine *));
REF(void, blst_miller_loop_n, (struct fp12 *, const struct g2_affine *const *,
			       const struct g1_affine *const *, size_t));
REF(void, blst_final_exp, (struct fp12 *, const struct fp12 *));
REF(void, blst_p1_to_affine, (struct g1_affine *, const struct g1 *));

static void find_blst(void)
{
#define GET(name) name = blst_find(#name)
	GET(blst_fp_mul); GET(blst_fp_sqr); GET(blst_fp_add); GET(blst_fp_sub);
	GET(blst_fp_eucl_inverse); GET(blst_fp_sqrt); GET(blst_fp2_mul); GET(blst_fp2_sqr);
	GET(blst_fp2_add); GET(blst_fr_mul); GET(blst_fr_add); GET(blst_fr_eucl_inverse);
	GET(blst_p1_add_or_double); GET(blst_p1_add_or_double_affine); GET(blst_p1_double);
	GET(blst_p2_add_or_double_affine); GET(blst_p2_double); GET(blst_p1_mult);
	GET(blst_p2_mult); GET(blst_p1_uncompress); GET(blst_p2_uncompress);
	GET(blst_p1_affine_in_g1); GET(blst_p2_affine_in_g2); GET(blst_fp12_mul);
	GET(blst_fp12_sqr); GET(blst_fp12_cyclotomic_sqr); GET(blst_miller_loop);
	GET(blst_miller_loop_n); GET(blst_final_exp); GET(blst_p1_to_affine);
}

/* n operations of ours or of blst's */
#define OP(name, ours, theirs) \
	static void name(void *arg, bool ref, int n) \
	{ \
		int i; \
		(void)arg; \
		if (ref) \
			for (i = 0; i < n; i++) { int x = i % N, y = (i + 7) % N; (void)x, \
						 (void)y; theirs; } \
		else \
			for (i = 0; i < n; i++) { int x = i % N, y = (i + 7) % N; (void)x, \
						 (void)y; ours; } \
	}

OP(b_fp_mul, fp_mul(&fp_r[x], &fp_a[x], &fp_a[y]), blst_fp_mul(&fp_r[x], &fp_a[x], &fp_a[y]))
OP(b_fp_mul_lat, fp_mul(&fp_r[0], &fp_r[0], &fp_a[y]), blst_fp_mul(&fp_r[0], &fp_r[0], &fp_a[y]))
OP(b_fp_sqr, fp_sqr(&fp_r[x], &fp_a[x]), blst_fp_sqr(&fp_r[x], &fp_a[x]))
OP(b_fp_sqr_lat, fp_sqr(&fp_r[0], &fp_r[0]), blst_fp_sqr(&fp_r[0], &fp_r[0]))
OP(b_fp_add, fp_add(&fp_r[x], &fp_a[x], &fp_a[y]), blst_fp_add(&fp_r[x], &fp_a[x], &fp_a[y]))
OP(b_fp_sub, fp_sub(&fp_r[x], &fp_a[x], &fp_a[y]), blst_fp_sub(&fp_r[x], &fp_a[x], &fp_a[y]))
OP(b_fp_inv, fp_inv_vartime(&fp_r[x], &fp_a[x]), blst_fp_eucl_inverse(&fp_r[x], &fp_a[x]))
OP(b_fp_sqrt, fp_sqrt(&fp_r[x], &fp_square[x]), blst_fp_sqrt(&fp_r[x], &fp_square[x]))
OP(b_fp2_mul, fp2_mul(&fp2_r[x], &fp2_a[x], &fp2_a[y]), blst_fp2_mul(&fp2_r[x], &fp2_a[x],
								     &fp2_a[y]))
OP(b_fp2_sqr, fp2_sqr(&fp2_r[x], &fp2_a[x]), blst_fp2_sqr(&fp2_r[x], &fp2_a[x]))
OP(b_fp2_add, fp2_add(&fp2_r[x], &fp2_a[x], &fp2_a[y]), blst_fp2_add(&fp2_r[x], &fp2_a[x],
								     &fp2_a[y]))
OP(b_fr_mul, fr_mul(&fr_r[x], &fr_a[x], &fr_a[y]), blst_fr_mul(&fr_r[x], &fr_a[x], &fr_a[y]))
OP(b_fr_mul_lat, fr_mul(&fr_r[0], &fr_r[0], &fr_a[y]), blst_fr_mul(&fr_r[0], &fr_r[0], &fr_a[y]))
OP(b_fr_add, fr_add(&fr_r[x], &fr_a[x], &fr_a[y]), blst_fr_add(&fr_r[x], &fr_a[x], &fr_a[y]))
OP(b_fr_inv, fr_inv_vartime(&fr_r[x], &fr_a[x]), blst_fr_eucl_inverse(&fr_r[x], &fr_a[x]))
OP(b_g1_add, g1_add(&jr[x], &jp[x], &jp[y]), blst_p1_add_or_double(&jr[x], &jp[x], &jp[y]))
OP(b_g1_add_affine, g1_add_affine(&jr[x], &jp[x], &p[y]),
   blst_p1_add_or_double_affine(&jr[x], &jp[x], &p[y]))
OP(b_g1_double, g1_double(&jr[x], &jp[x]), blst_p1_double(&jr[x], &jp[x]))
OP(b_g2_add_affine, g2_add_affine(&jr2[x], &jq[x], &q[y]),
   blst_p2_add_or_double_affine(&jr2[x], &jq[x], &q[y]))
OP(b_g2_double, g2_double(&jr2[x], &jq[x]), blst_p2_double(&jr2[x], &jq[x]))
OP(b_g1_mul, g1_mul_vartime(&jr[x], &p[x], &k[y]),
   blst_p1_mult(&jr[x], &jp[x], (const uint8_t *)&k[y], 255))
OP(b_g2_mul, g2_mul_vartime(&jr2[x], &q[x], &k[y]),
   blst_p2_mult(&jr2[x], &jq[x], (const uint8_t *)&k[y], 255))
OP(b_g1_in, sink += g1_in_subgroup(&p[x]), sink += blst_p1_affine_in_g1(&p[x]))
OP(b_g2_in, sink += g2_in_subgroup(&q[x]), sink += blst_p2_affine_in_g2(&q[x]))
OP(b_g1_dec, g1_from_compressed(&p[x], c1[x], POINT_ANY_ORDER), blst_p1_uncompress(&p[x], c1[x]))
OP(b_g2_dec, g2_from_compressed(&q[x], c2[x], POINT_ANY_ORDER), blst_p2_uncompress(&q[x], c2[x]))
OP(b_fp12_mul, fp12_mul(&f12_r[x], &f12[x], &f12[y]), blst_fp12_mul(&f12_r[x], &f12[x], &f12[y]))
OP(b_fp12_sqr, fp12_sqr(&f12_r[x], &f12[x]), blst_fp12_sqr(&f12_r[x], &f12[x]))
OP(b_cyc_sqr, fp12_cyclotomic_sqr(&f12_r[x], &f12[x]), blst_fp12_cyclotomic_sqr(&f12_r[x], &f12[x]))
OP(b_miller, miller_loop_n(&f12_r[x], &((struct miller_pair){ &p[x], &q[x], NULL }), 1),
   blst_miller_loop(&f12_r[x], &q[x], &p[x]))
OP(b_final_exp, final_exp(&f12_r[x], &f12[x]), blst_final_exp(&f12_r[x], &f12[x]))

static void b_product3(void *arg, bool ref, int n)
{
	const struct g1_affine *ps[3] = { &p[0], &p[1], &p[2] };
	const struct g2_affine *qs[3] = { &q[0], &q[1], &q[2] };
	struct miller_pair pairs[3] = {
		{ &p[0], &q[0], NULL }, { &p[1], NULL, &prepared[0] }, { &p[2], NULL,
									&prepared[1] },
	};

	(void)arg;
	while (n--) {
		if (ref) {
			blst_miller_loop_n(&f12_r[0], qs, ps, 3);
			blst_final_exp(&f12_r[1], &f12_r[0]);
		} else {
			miller_loop_n(&f12_r[0], pairs, 3);
			final_exp(&f12_r[1], &f12_r[0]);
		}
	}
}

/* The sum over the inputs of a key: blst's best for each size, tables made before for both */
enum { N_BASES = 330 };
static struct g1_affine bases[N_BASES];
static struct scalar inputs[N_BASES];
static struct g1_fixed *fixed;
static void *blst_table, *blst_scratch;
REF(size_t, blst_p1s_mult_wbits_precompute_sizeof, (size_t, size_t));
REF(void, blst_p1s_mult_wbits_precompute, (void *, size_t, const struct g1_affine *const *,
					   size_t));
REF(size_t, blst_p1s_mult_wbits_scratch_sizeof, (size_t));
REF(void, blst_p1s_mult_wbits, (struct g1 *, const void *, size_t, size_t, const uint8_t *const *,
				size_t, void *));

static void setup_sum(bool ref)
{
	static struct g1 t[N_BASES];
	int i, j;

	for (i = 0; i < N_BASES; i++) {
		for (j = 0; j < 4; j++)
			inputs[i].l[j] = next_random();
		inputs[i].l[3] >>= 2;
		g1_mul_vartime(&t[i], &G1_GENERATOR, &inputs[i]);
	}
	g1_batch_to_affine(bases, t, N_BASES);
	if (g1_fixed_open(&fixed, bases, N_BASES))
		abort();
	if (!ref)
		return;
	const struct g1_affine *const points[2] = { bases, NULL };

	GET(blst_p1s_mult_wbits_precompute_sizeof); GET(blst_p1s_mult_wbits_precompute);
	GET(blst_p1s_mult_wbits_scratch_sizeof); GET(blst_p1s_mult_wbits);
	blst_table = malloc(blst_p1s_mult_wbits_precompute_sizeof(8, N_BASES));
	blst_scratch = malloc(blst_p1s_mult_wbits_scratch_sizeof(N_BASES));
	blst_p1s_mult_wbits_precompute(blst_table, 8, points, N_BASES);
}

static void input_sum(bool ref, struct g1 *r, size_t n)
{
	const uint8_t *const scalars[2] = { (const uint8_t *)inputs, NULL };

	if (ref)
		blst_p1s_mult_wbits(r, blst_table, 8, n, scalars, 255, blst_scratch);
	else if (g1_fixed_sum(r, fixed, inputs, n))
		abort();
}

static void b_sum16(void *arg, bool ref, int n)
{
	(void)arg;
	while (n--)
		input_sum(ref, &jr[0], 16);
}

static void b_sum330(void *arg, bool ref, int n)
{
	(void)arg;
	while (n--)
		input_sum(ref, &jr[0], N_BASES);
}

/*
 * A Groth16 verification from 192 bytes, all but the key's own work: decode,
 * three subgroup checks, the sum over the inputs, three pairs, final_exp.
 */
static void verify(bool ref, size_t n_inputs)
{
	const struct g1_affine *ps[3];
	const struct g2_affine *qs[3];
	struct g1_affine a, c, l;
	struct g2_affine b;
	struct g1 sum;

	if (ref) {
		sink += blst_p1_uncompress(&a, c1[1]) + blst_p2_uncompress(&b, c2[2]) +
			blst_p1_uncompress(&c, c1[3]);
		sink += blst_p1_affine_in_g1(&a) + blst_p2_affine_in_g2(&b) +
			blst_p1_affine_in_g1(&c);
		input_sum(ref, &sum, n_inputs);
		blst_p1_to_affine(&l, &sum);
		ps[0] = &a, ps[1] = &l, ps[2] = &c;
		qs[0] = &b, qs[1] = &q[1], qs[2] = &q[2];
		blst_miller_loop_n(&f12_r[0], qs, ps, 3);
		blst_final_exp(&f12_r[1], &f12_r[0]);
	} else {
		struct miller_pair pairs[3] = {
			{ &a, &b, NULL }, { &l, NULL, &prepared[0] }, { &c, NULL, &prepared[1] },
		};

		sink += g1_from_compressed(&a, c1[1], 0) + g2_from_compressed(&b, c2[2], 0) +
			g1_from_compressed(&c, c1[3], 0);
		input_sum(ref, &sum, n_inputs);
		g1_to_affine(&l, &sum);
		miller_loop_n(&f12_r[0], pairs, 3);
		final_exp(&f12_r[1], &f12_r[0]);
	}
}

static void b_verify16(void *arg, bool ref, int n)
{
	(void)arg;
	while (n--)
		verify(ref, 16);
}

static void b_verify327(void *arg, bool ref, int n)
{
	(void)arg;
	while (n--)
		verify(ref, 327);
}

/*
 * What an operation leaves behind, to be compared: bytes; points in any
 * coordinates; a root of either sign; a Miller loop's value, up to what the final
 * exponentiation takes away.
 */
enum result { BYTES, POINTS_G1, POINTS_G2, ROOTS, LOOPS };

struct operation {
	const char *name;
	void (*run)(void *arg, bool ref, int n);
	int n;
	void *result;
	size_t size;
	enum result kind;
	double fp, fr;		/* products, where the formulas are known */
};

#define RESULT(r) &r, sizeof(r)

static const struct operation operations[] = {
	{ "fp_add", b_fp_add, 20000, RESULT(fp_r), BYTES },
	{ "fp_sub", b_fp_sub, 20000, RESULT(fp_r), BYTES },
	{ "fp_mul", b_fp_mul, 10000, RESULT(fp_r), BYTES, 1, 0 },
	{ "fp_mul, latency", b_fp_mul_lat, 10000, RESULT(fp_r), BYTES },
	{ "fp_sqr", b_fp_sqr, 10000, RESULT(fp_r), BYTES, 1, 0 },
	{ "fp_sqr, latency", b_fp_sqr_lat, 10000, RESULT(fp_r), BYTES },
	{ "fp_inv_vartime", b_fp_inv, 200, RESULT(fp_r), BYTES },
	{ "fp_sqrt", b_fp_sqrt, 50, RESULT(fp_r), ROOTS },
	{ "fp2_add", b_fp2_add, 10000, RESULT(fp2_r), BYTES },
	{ "fp2_mul", b_fp2_mul, 5000, RESULT(fp2_r), BYTES, 3, 0 },
	{ "fp2_sqr", b_fp2_sqr, 5000, RESULT(fp2_r), BYTES, 2, 0 },
	{ "fr_add", b_fr_add, 20000, RESULT(fr_r), BYTES },
	{ "fr_mul", b_fr_mul, 20000, RESULT(fr_r), BYTES, 0, 1 },
	{ "fr_mul, latency", b_fr_mul_lat, 20000, RESULT(fr_r), BYTES },
	{ "fr_inv_vartime", b_fr_inv, 200, RESULT(fr_r), BYTES },
	{ "g1_add", b_g1_add, 1000, RESULT(jr), POINTS_G1, 16, 0 },
	{ "g1_add_affine", b_g1_add_affine, 1000, RESULT(jr), POINTS_G1, 11, 0 },
	{ "g1_double", b_g1_double, 2000, RESULT(jr), POINTS_G1, 7, 0 },
	{ "g2_add_affine", b_g2_add_affine, 500, RESULT(jr2), POINTS_G2, 31, 0 },
	{ "g2_double", b_g2_double, 500, RESULT(jr2), POINTS_G2, 16, 0 },
	{ "g1_mul_vartime", b_g1_mul, 10, RESULT(jr), POINTS_G1 },
	{ "g2_mul_vartime", b_g2_mul, 5, RESULT(jr2), POINTS_G2 },
	{ "g1 decompress", b_g1_dec, 40, RESULT(p), BYTES },
	{ "g2 decompress", b_g2_dec, 20, RESULT(q), BYTES },
	{ "g1_in_subgroup", b_g1_in, 20, RESULT(sink), BYTES },
	{ "g2_in_subgroup", b_g2_in, 20, RESULT(sink), BYTES },
	{ "fp12_mul", b_fp12_mul, 500, RESULT(f12_r), BYTES },
	{ "fp12_sqr", b_fp12_sqr, 500, RESULT(f12_r), BYTES },
	{ "fp12_cyclotomic_sqr", b_cyc_sqr, 500, RESULT(f12_r), BYTES },
	{ "miller loop, 1 pair", b_miller, 4, RESULT(f12_r), LOOPS },
	{ "final_exp", b_final_exp, 4, RESULT(f12_r), BYTES },
	{ "3 pairs, 2 fixed", b_product3, 2, RESULT(f12_r[1]), BYTES },
	{ "sum of 16 inputs", b_sum16, 2, RESULT(jr), POINTS_G1 },
	{ "sum of 330 inputs", b_sum330, 1, RESULT(jr), POINTS_G1 },
	{ "verify, 16 inputs", b_verify16, 1, RESULT(f12_r[1]), BYTES },
	{ "verify, 327 inputs", b_verify327, 1, RESULT(f12_r[1]), BYTES },
};

static size_t normal(void *out, const struct operation *o)
{
	size_t n, i;

	switch (o->kind) {
	case POINTS_G1:
		n = o->size / sizeof(struct g1);
		for (i = 0; i < n; i++)
			g1_to_affine((struct g1_affine *)out + i, (struct g1 *)o->result + i);
		return n * sizeof(struct g1_affine);
	case POINTS_G2:
		n = o->size / sizeof(struct g2);
		for (i = 0; i < n; i++)
			g2_to_affine((struct g2_affine *)out + i, (struct g2 *)o->result + i);
		return n * sizeof(struct g2_affine);
	case ROOTS:
		for (i = 0; i < o->size / sizeof(struct fp); i++)
			fp_sqr((struct fp *)out + i, (struct fp *)o->result + i);
		return o->size;
	case LOOPS:
		for (i = 0; i < o->size / sizeof(struct fp12); i++)
			final_exp((struct fp12 *)out + i, (struct fp12 *)o->result + i);
		return o->size;
	case BYTES:
		break;
	}
	memcpy(out, o->result, o->size);
	return o->size;
}

/* N operations from the same state by one side. */
static size_t result(const struct operation *o, bool ref, void *out)
{
	if (o->result == (void *)p || o->result == (void *)q)
		memset(o->result, 0, o->size);
	else if (o->result == (void *)&sink)
		sink = 0;
	else if (o->result == (void *)fp_r)
		memcpy(fp_r, fp_a, sizeof(fp_r));
	else if (o->result == (void *)fr_r)
		memcpy(fr_r, fr_a, sizeof(fr_r));
	else
		memset(o->result, 0, o->size);
	o->run(NULL, ref, o->n < N && o->kind == BYTES && o->size == sizeof(struct fp12) ? 1 : N);
	return normal(out, o);
}

/* Against blst, or without it against the portable code where that is another. */
static enum check check(void *arg)
{
	const struct operation *o = arg;
	static uint8_t got[N * sizeof(struct fp12)], want[N * sizeof(struct fp12)];
	bool portable = !strcmp(bls_arch_name(), "portable");
	size_t size = result(o, false, got);

	if (blst_loaded()) {
		result(o, true, want);
	} else if (!portable) {
		bls_set_portable(true);
		result(o, false, want);
		bls_set_portable(false);
	} else {
		return CHECK_NONE;
	}
	return memcmp(got, want, size) ? CHECK_DIFFERS : CHECK_EQUAL;
}

int kernels_arith(struct kernels *set)
{
	bool ref = blst_loaded();
	size_t i;

	setup();
	if (ref)
		find_blst();
	setup_sum(ref);
	for (i = 0; i < sizeof(operations) / sizeof(*operations); i++) {
		const struct operation *o = &operations[i];
		const struct kernel k = {
			.name = o->name, .run = o->run, .check = check, .arg = (void *)o,
			.n = o->n, .has_ref = ref, .fp = o->fp, .fr = o->fr,
		};

		if (kernel_chosen(set, o->name))
			kernel_measure(set, &k);
	}
	g1_fixed_close(fixed);
	free(blst_table);
	free(blst_scratch);
	return 0;
}
