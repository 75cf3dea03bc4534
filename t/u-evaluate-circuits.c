/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * u-evaluate-circuits.c - the host backend's evaluation of real circuits against
 * the term by term one of engine/cs, whose digests are checked with golden data
 */
#include "engine/circuits/circuit.h"
#include "engine/cs/system.h"
#include "gpu/cpu/evaluate.h"
#include "t/tap.h"

static uint64_t seed = 0x2545f4914f6cdd1d;

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

/* Any values: the rows need not be satisfied to be compared. */
static void fill(const struct cs *cs, struct cs_witness *w)
{
	uint32_t i;

	for (i = 0; i < cs->n_aux; i++)
		if (!(cs->full_map[i / 64] >> i % 64 & 1) && rnd() % 2)
			w->bits[i / 64] |= UINT64_C(1) << i % 64;
	for (i = 0; i < cs->n_full; i++)
		rnd_fr(&w->full[i]);
	for (i = 1; i < cs->n_inputs; i++)
		rnd_fr(&w->inputs[i]);
}

static void test_circuit(const char *name, struct tpool *pool)
{
	struct fr *got[3] = { NULL }, *want[3] = { NULL };
	struct cs_witness w;
	struct circuit c;
	struct cs *cs;
	uint64_t bad, want_bad;
	size_t size;
	int k;

	if (!ok(circuit_find(name, &c) == 0 && circuit_build(&c, &cs) == 0 &&
		cs_witness_init(&w, cs) == 0, "%s: build", name))
		return;
	fill(cs, &w);
	size = sizeof(struct fr) << cs->log_domain;
	for (k = 0; k < 3; k++) {
		got[k] = malloc(size);
		want[k] = malloc(size);
		if (!got[k] || !want[k])
			abort();
		memset(got[k], 0xff, size);
	}
	cs_eval_rows(cs, &w, 0, UINT64_C(1) << cs->log_domain, want[0], want[1], want[2]);
	want_bad = cs_first_bad_row(cs, &w, pool);
	ok(cpu_evaluate(cs, &w, cpu_isa_best(), pool, NULL, got[0], got[1], got[2], &bad) == 0 &&
	   !memcmp(got[0], want[0], size) && !memcmp(got[1], want[1], size) &&
	   !memcmp(got[2], want[2], size), "%s: %llu rows as term by term", name,
	   (unsigned long long)cs->n_rows);
	ok(bad == want_bad, "%s: first bad row %llu", name, (unsigned long long)bad);
	for (k = 0; k < 3; k++) {
		free(got[k]);
		free(want[k]);
	}
	cs_witness_fini(&w);
	cs_free(cs);
}

int main(void)
{
	struct tpool *pool;

	if (tpool_open(&pool, 2)) {
		diag("no threads");
		return 1;
	}
	test_circuit("tiny-3", pool);
	test_circuit("winning-2k", pool);
	test_circuit("window-2k", pool);
	test_circuit("update-2k", pool);
	test_circuit("porep-2k", pool);
	tpool_close(pool);
	return tap_done();
}
