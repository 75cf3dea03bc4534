/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* u-curve.c - G1 and G2: group laws, scalars, subgroups; on both builds of the arithmetic */
#include "lib/bls12_381/arch.h"
#include "lib/bls12_381/g1.h"
#include "lib/bls12_381/g1_fixed.h"
#include "lib/bls12_381/g2.h"
#include "t/tap.h"

static const struct scalar R_SCALAR = {{
	0xffffffff00000001, 0x53bda402fffe5bfe, 0x3339d80809a1d805, 0x73eda753299d7d48
}};

/* splitmix64: the same scalars each run */
static uint64_t next_random(void)
{
	static uint64_t s = 12381;
	uint64_t z = s += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

enum { N_SCALARS = 48 };
static struct scalar scalars[N_SCALARS];

static void make_scalars(void)
{
	int i, n = 0, k;

	for (i = 0; i < 18; i++)
		scalars[n++].l[0] = i;
	for (k = 0; k < 4; k++) {
		scalars[n].l[k] = 1ull << 63;
		n++;
		memset(&scalars[n++], 0xff, 8 * (k + 1));
	}
	scalars[n] = R_SCALAR;
	scalars[n++].l[0] -= 1;
	scalars[n++] = R_SCALAR;
	scalars[n] = R_SCALAR;
	scalars[n++].l[0] += 1;
	scalars[n++].l[0] = 0xd201000000010000;			/* |z| */
	scalars[n++] = (struct scalar){{ 0xffffffff, 0xac45a4010001a402 }};	/* z^2 - 1 */
	scalars[n++] = (struct scalar){{ 0x100000000, 0xac45a4010001a402 }};	/* z^2 */
	while (n < N_SCALARS) {
		for (k = 0; k < 4; k++)
			scalars[n].l[k] = next_random();
		n++;
	}
}

#define G(name) g1_##name
#define GS "G1"
#define POINT struct g1
#define AFFINE struct g1_affine
#define GENERATOR G1_GENERATOR
#define FIELD(name) fp_##name
#define FE struct fp
/* x small until x^3 + b has a root: of large order almost surely outside the subgroup */
static bool lift_g1(struct g1_affine *a, uint64_t x)
{
	struct fp four;

	fp_from_u64(&a->x, x);
	fp_from_u64(&four, 4);
	fp_sqr(&a->y, &a->x);
	fp_mul(&a->y, &a->y, &a->x);
	fp_add(&a->y, &a->y, &four);
	return fp_sqrt(&a->y, &a->y);
}
#define LIFT lift_g1
#include "t/u-curve-group.h"
#undef G
#undef GS
#undef POINT
#undef AFFINE
#undef GENERATOR
#undef FIELD
#undef FE
#undef LIFT

#define G(name) g2_##name
#define GS "G2"
#define POINT struct g2
#define AFFINE struct g2_affine
#define GENERATOR G2_GENERATOR
#define FIELD(name) fp2_##name
#define FE struct fp2
static bool lift_g2(struct g2_affine *a, uint64_t x)
{
	struct fp2 b;

	fp_from_u64(&a->x.c0, x);
	fp_from_u64(&a->x.c1, x + 1);
	fp_from_u64(&b.c0, 4);
	b.c1 = b.c0;
	fp2_sqr(&a->y, &a->x);
	fp2_mul(&a->y, &a->y, &a->x);
	fp2_add(&a->y, &a->y, &b);
	return fp2_sqrt(&a->y, &a->y);
}
#define LIFT lift_g2
#include "t/u-curve-group.h"

/* g1_fixed_sum and g1_sum_runs against one product after the other */
static void test_fixed(void)
{
	static const size_t sizes[] = { 0, 1, 2, 17, 127, 128, 129, 330, 600 };
	static struct g1_affine bases[600];
	static struct scalar k[600];
	static struct g1 jac[600];
	struct g1_fixed *fixed;
	struct g1 sum, t, term;
	size_t s, i;

	for (i = 0; i < 600; i++) {
		g1_mul_vartime(&jac[i], &G1_GENERATOR, &scalars[18 + i % (N_SCALARS - 18)]);
		if (i % 9 == 5)
			g1_neg(&jac[i], &jac[i - 1]);	/* opposite bases */
		if (i % 50 == 7)
			g1_set_infinity(&jac[i]);
		k[i] = scalars[(i * 11) % N_SCALARS];
		if (i % 9 == 5)
			k[i] = k[i - 1];
		if (i % 3 == 0)
			k[i].l[3] = next_random();
	}
	g1_batch_to_affine(bases, jac, 600);
	for (s = 0; s < sizeof(sizes) / sizeof(*sizes); s++) {
		bool pass = !g1_fixed_open(&fixed, bases, sizes[s]) && g1_fixed_n(fixed) ==
			sizes[s];

		g1_set_infinity(&sum);
		for (i = 0; i < sizes[s]; i++) {
			g1_mul_any_vartime(&term, &bases[i], k[i].l, 4);
			g1_add(&sum, &sum, &term);
		}
		pass &= !g1_fixed_sum(&t, fixed, k, sizes[s]) && g1_equal(&t, &sum);
		g1_fixed_close(fixed);
		ok(pass, "%s: g1_fixed_sum over %zu bases", bls_arch_name(), sizes[s]);
	}
}

static void test_runs(void)
{
	static struct g1_affine pts[64];
	struct fp tmp[64];
	uint32_t at[32], len[8] = { 0, 1, 2, 3, 20, 0, 31, 7 };
	struct g1 want[8], t;
	bool pass = true;
	size_t n = 0, i;
	uint32_t k;

	for (i = 0; i < 8; i++) {
		g1_set_infinity(&want[i]);
		for (k = 0; k < len[i]; k++, n++) {
			/* equal and opposite neighbours, and infinity */
			g1_mul_vartime(&t, &G1_GENERATOR, &scalars[k / 2 % 7]);
			if (k % 8 == 3)
				g1_neg(&t, &t);
			g1_to_affine(&pts[n], &t);
			g1_add(&want[i], &want[i], &t);
		}
	}
	g1_sum_runs(pts, len, 8, tmp, at);
	for (i = n = 0; i < 8; i++) {
		if (!len[i])
			continue;
		g1_from_affine(&t, &pts[n++]);
		pass &= len[i] == 1 && g1_equal(&t, &want[i]);
	}
	ok(pass && n == 6, "%s: g1_sum_runs", bls_arch_name());
}

int main(void)
{
	int portable;

	make_scalars();
	for (portable = 0; portable < 2; portable++) {
		bls_set_portable(portable);
		g1_test();
		g2_test();
		test_runs();
		test_fixed();
	}
	return tap_done();
}
