/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * u-witness-sizes.c - made-up sectors of every kind, version and size satisfy
 * their circuits
 *
 * The golden proofs are of 2 KiB and 32 GiB; this takes the sizes between and
 * beyond, a full WindowPoSt, and the versions of PoRep.  The first and the last
 * partition (of large ones the last) are evaluated, to the last row.
 */
#include "engine/vanilla/sample.h"
#include "engine/vanilla/vanilla.h"
#include "t/cs-data.h"

static struct tpool *pool;
static bool want_long;

#define BLOCK 65536u

/* As cs_first_bad_row(), for every 16th block and the last. */
static uint64_t first_bad_of_some(const struct cs *cs, const struct cs_witness *w)
{
	struct fr *v = malloc(3 * BLOCK * sizeof(*v)), ab;
	uint64_t first, n, i, bad = UINT64_MAX;
	uint64_t last = (cs->n_rows - 1) / BLOCK * BLOCK;

	if (!v)
		return 0;
	for (first = 0; first <= last && bad == UINT64_MAX;
	     first = first < last && first + 16 * BLOCK > last ? last : first + 16 * BLOCK) {
		n = cs->n_rows - first < BLOCK ? cs->n_rows - first : BLOCK;
		cs_eval_rows(cs, w, first, n, v, v + BLOCK, v + 2 * BLOCK);
		for (i = 0; i < n && bad == UINT64_MAX; i++) {
			fr_mul(&ab, &v[i], &v[BLOCK + i]);
			if (!fr_equal(&ab, &v[2 * BLOCK + i]))
				bad = first + i;
		}
	}
	free(v);
	return bad;
}

static void partition(const struct circuit *c, const struct cs *cs, const struct vanilla *v,
		      uint32_t k)
{
	char err[256] = "", path[256];
	double start = wall_seconds(), made;
	struct cs_witness w;
	struct fr *inputs = NULL;
	uint64_t bad;
	bool some;
	size_t n = 0;
	int ret;

	if (!ok(circuit_witness(c, cs, vanilla_circuit_input(v, k), pool, &w, err) == 0,
		"%s, partition %u has a witness%s%s", c->name, k, *err ? ": " : "", err))
		return;
	made = wall_seconds();
	/* the 23,000 equal challenges of a full WindowPoSt take a minute: long */
	some = c->kind == CIRCUIT_WINDOW && cs->n_rows > 1u << 24 && !want_long;
	bad = some ? first_bad_of_some(cs, &w) : cs_first_bad_row(cs, &w, pool);
	if (!ok(bad == UINT64_MAX, "it satisfies %s %llu rows", some ? "a sixteenth of its" : "all",
		(unsigned long long)cs->n_rows)) {
		cs_row_path(cs, bad, path, sizeof(path));
		diag("first bad row: %s", path);
	}
	if (cs->n_rows > 1u << 24)
		diag("%.1f s for the witness, %.1f s to evaluate it", made - start,
		     wall_seconds() - made);
	/* what the circuit computed is what a verifier derives */
	ret = vanilla_public_inputs(v, k, &inputs, &n);
	ok(ret == 0 && n == cs->n_inputs - 1 &&
	   !memcmp(inputs, w.inputs + 1, n * sizeof(*inputs)), "and has the %zu public inputs", n);
	free(inputs);
	cs_witness_fini(&w);
}

static void check(enum cuzk_proof_kind kind, unsigned int registered, unsigned int sectors,
		  const char *name)
{
	struct cuzk_error err = { .size = sizeof(err) };
	struct vanilla_sample *s;
	struct vanilla *v;
	struct circuit c;
	struct cs *cs;
	uint32_t last;
	int ret;

	if (!ok(vanilla_sample_make(kind, registered, sectors, 9, &s) == 0,
		"%s, registered proof %u", name, registered))
		return;
	ret = vanilla_admit(&s->req, pool, &v, NULL, &err);
	vanilla_sample_free(s);
	if (!ok(ret == 0 && !strcmp(vanilla_circuit(v), name), "is admitted%s",
		ret ? err.text : ""))
		return;
	if (circuit_find(name, &c) || circuit_build(&c, &cs)) {
		printf("Bail out! cannot build %s\n", name);
		exit(1);
	}
	last = vanilla_partitions(v) - 1;
	partition(&c, cs, v, last);
	if (last && cs->n_rows < 1u << 24)
		partition(&c, cs, v, 0);
	cs_free(cs);
	vanilla_free(v);
}

int main(void)
{
	static const char *const sizes[] = { "2k", "8m", "512m", "32g", "64g" };
	const char *require = getenv("CUZK_TEST_REQUIRE");
	char name[32];
	unsigned int i;

	want_long = require && strstr(require, "long");
	if (!ok(tpool_open(&pool, 2) == 0, "a pool of two threads"))
		return tap_done();
	for (i = 0; i < 5; i++) {
		snprintf(name, sizeof(name), "winning-%s", sizes[i]);
		check(CUZK_KIND_WINNING_POST, i, 0, name);
		/* at 32 GiB the others have golden witnesses, and WindowPoSt that of 64 GiB below */
		if (i == 3)
			continue;
		/* at 64 GiB a full partition, else one sector for all */
		snprintf(name, sizeof(name), "window-%s", sizes[i]);
		check(CUZK_KIND_WINDOW_POST, 10 + i, i == 4 ? 0 : 1, name);
		snprintf(name, sizeof(name), "update-%s", sizes[i]);
		check(CUZK_KIND_UPDATE, i, 0, name);
		snprintf(name, sizeof(name), "porep-%s", sizes[i]);
		check(CUZK_KIND_POREP, 5 + i, 0, name);
	}
	check(CUZK_KIND_WINDOW_POST, 5, 2, "window-2k");
	check(CUZK_KIND_POREP, 0, 0, "porep-2k");
	check(CUZK_KIND_POREP, 10, 0, "porep-2k");
	check(CUZK_KIND_POREP, 15, 0, "porep-2k");
	tpool_close(pool);
	return tap_done();
}
