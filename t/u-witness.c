/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* u-witness.c - witnesses of the small golden proofs equal the reference's, value by value */
#include "engine/vanilla/vanilla.h"
#include "t/cs-data.h"

static void check(const char *name, union circuit_input in, const char *golden,
		  struct tpool *pool)
{
	struct cs_shape_digest d;
	struct cs_witness_digest wd;
	struct cs_witness w;
	struct circuit c;
	struct cs *cs;
	char err[256] = "", path[256];
	double start;
	int ret;

	if (!ok(circuit_find(name, &c) == 0 && circuit_build(&c, &cs) == 0, "%s is built", name))
		return;
	start = thread_seconds();
	ret = circuit_witness(&c, cs, in, pool, &w, err);
	diag("%s: %.3f s of this thread", name, thread_seconds() - start);
	if (!ok(ret == 0, "%s has a witness%s%s", name, *err ? ": " : "", err)) {
		cs_free(cs);
		return;
	}
	ok(cs_first_bad_row(cs, &w, pool) == UINT64_MAX, "%s is satisfied", name);
	if (!ok(cs_digest_shape(cs, &d) == 0 && cs_digest_witness(cs, &w, &wd) == 0,
		"%s has digests", name))
		exit(1);
	ok(digest_equal(golden, &d, &wd), "%s equals %s", name, golden);
	if (wd.first_bad != UINT64_MAX) {
		cs_row_path(cs, wd.first_bad, path, sizeof(path));
		diag("first bad row: %s", path);
	}
	cs_shape_digest_fini(&d);
	cs_witness_digest_fini(&wd);

	/* a changed value is found, and at its first row */
	if (cs->n_full) {
		uint64_t bad;

		fr_add(&w.full[cs->n_full - 1], &w.full[cs->n_full - 1], &fr_one);
		bad = cs_first_bad_row(cs, &w, pool);
		ok(bad < cs->n_rows, "%s: a changed aux breaks row %llu", name,
		   (unsigned long long)bad);
		cs_row_path(cs, bad, path, sizeof(path));
		diag("%s", path);
	}
	cs_witness_fini(&w);
	cs_free(cs);
}

static void tiny(const char *n, struct tpool *pool)
{
	char name[32], file[64], golden[64];
	struct tiny_input in;
	uint8_t *bytes;
	size_t len;

	snprintf(name, sizeof(name), "tiny-%s", n);
	snprintf(file, sizeof(file), "toy/tiny-%s.inputs", n);
	snprintf(golden, sizeof(golden), "toy/witness-tiny-%s.json", n);
	bytes = (uint8_t *)read_data(file, &len);
	if (ok(bytes && len == 64 && fr_from_bytes_le(&in.x, bytes) == 0, "%s is readable", file))
		check(name, (union circuit_input){ .tiny = &in }, golden, pool);
	free(bytes);
}

static void golden(const char *request, const char *witness, struct tpool *pool)
{
	struct cuzk_error err = { .size = sizeof(err) };
	struct vanilla *v;
	struct golden g;

	golden_open(&g, request);
	if (ok(vanilla_admit(&g.req, pool, &v, NULL, &err) == 0, "%s is admitted", request)) {
		check(vanilla_circuit(v), vanilla_circuit_input(v, 0), witness, pool);
		vanilla_free(v);
	}
	golden_close(&g);
}

static void test_refusals(void)
{
	struct post_sector_input sector = { .n_challenges = 1 };
	struct post_input post = { 1, &sector };
	struct cs_witness w;
	struct circuit c, other;
	struct cs *cs;
	char err[256] = "";

	if (!ok(!circuit_find("winning-2k", &c) && !circuit_find("tiny-3", &other) &&
		!circuit_build(&other, &cs), "circuits are found"))
		return;
	ok(circuit_witness(&c, cs, (union circuit_input){ .post = &post }, NULL, &w, err) < 0 && *err,
	   "one sector for 66 is refused: %s", err);
	post.n_sectors = 66;
	post.sectors = calloc(66, sizeof(sector));
	ok(circuit_witness(&c, cs, (union circuit_input){ .post = &post }, NULL, &w, err) < 0,
	   "no challenges are refused: %s", err);
	free((void *)post.sectors);
	cs_free(cs);
	ok(circuit_find("winning-3k", &c) < 0 && circuit_find("tiny-0", &c) < 0 &&
	   circuit_find("tiny-1x", &c) < 0 && circuit_find("tiny-99999999999999999999", &c) < 0 &&
	   circuit_find("", &c) < 0 && circuit_find("-", &c) < 0 && circuit_find("win-2k", &c) < 0,
	   "unknown names are refused");
}

int main(void)
{
	struct tpool *pool;

	if (!ok(tpool_open(&pool, 2) == 0, "a pool of two threads"))
		return tap_done();
	tiny("1", pool);
	tiny("3", NULL);
	tiny("100", pool);
	golden("requests/winning-2k.json", "winning-2k/witness-winning-2k.json", pool);
	golden("requests/window-2k.json", "window-2k/witness-window-2k.json", pool);
	golden("requests/winning-32g.json", "winning-32g/witness-winning-32g.json", NULL);
	golden("requests/porep-2k.json", "porep-2k/witness-porep-2k.json", pool);
	golden("requests/update-2k.json", "update-2k/witness-update-2k.json", pool);
	test_refusals();
	tpool_close(pool);
	return tap_done();
}
