/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* u-curve.c - G1 and G2: group laws, scalars, subgroups; on both builds of the arithmetic */
#include "lib/bls12_381/arch.h"
#include "lib/bls12_381/g1.h"
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

int main(void)
{
	int portable;

	make_scalars();
	for (portable = 0; portable < 2; portable++) {
		bls_set_portable(portable);
		g1_test();
		g2_test();
	}
	return tap_done();
}
