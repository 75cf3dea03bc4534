/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* u-poseidon-many.c - many Poseidon hashes equal those made one by one */
#include <time.h>

#include "lib/poseidon/many.h"
#include "lib/poseidon/poseidon.h"
#include "t/tap.h"

#define MANY 100

static uint64_t state = 99;

static uint64_t next(void)
{
	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return state ^ state >> 29;
}

static void random_fr(struct fr *x)
{
	struct fr t;
	int i;

	fr_from_u64(x, next());
	for (i = 0; i < 4; i++) {
		fr_from_u64(&t, next());
		fr_mul(x, x, &t);
		fr_add(x, x, &t);
	}
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

static void test_arity(unsigned int arity)
{
	static struct fr in[MANY * POSEIDON_MAX_ARITY], a[MANY + 1], b[MANY + 1];
	size_t i, n, good = 0, all = 0;
	double many, apart;

	for (i = 0; i < MANY * arity; i++)
		random_fr(&in[i]);
	/* the ends of the range: 0, 1, -1 */
	for (i = 0; i < 8 * arity; i++) {
		in[i] = i % 3 == 0 ? fr_zero : fr_one;
		if (i % 3 == 2)
			fr_neg(&in[i], &in[i]);
	}
	for (i = 8 * arity; i < 9 * arity; i++)
		fr_neg(&in[i], &fr_one);
	for (n = 0; n <= MANY; n += n < 20 ? 1 : 40, all++) {
		memset(a, 0, sizeof(a));
		memset(b, 0, sizeof(b));
		poseidon_hash_many(arity, in, a, n);
		poseidon_hash_many_portable(arity, in, b, n);
		good += !memcmp(a, b, sizeof(a));
	}
	ok(good == all, "arity %u: all counts", arity);
	/* long chains, so that every range of the reductions is met */
	memcpy(a, in, 8 * sizeof(*a));
	for (i = good = 0; i < 60; i++) {
		struct fr next_in[8 * POSEIDON_MAX_ARITY];
		size_t k;

		for (k = 0; k < 8 * arity; k++)
			next_in[k] = k % 5 ? a[k % 8] : in[(k + i) % (MANY * arity)];
		poseidon_hash_many(arity, next_in, a, 8);
		poseidon_hash_many_portable(arity, next_in, b, 8);
		good += !memcmp(a, b, 8 * sizeof(*a));
	}
	ok(good == 60, "arity %u: a chain", arity);
	many = seconds();
	poseidon_hash_many(arity, in, a, MANY);
	apart = seconds();
	many = apart - many;
	poseidon_hash_many_portable(arity, in, b, MANY);
	apart = seconds() - apart;
	diag("arity %u: %.2f us each, one by one %.2f us", arity, many / MANY * 1e6,
	     apart / MANY * 1e6);
}

int main(void)
{
	diag("%s", poseidon_has_ifma() ? "with AVX-512 IFMA" : "portable");
	test_arity(2);
	test_arity(4);
	test_arity(8);
	test_arity(11);
	return tap_done();
}
