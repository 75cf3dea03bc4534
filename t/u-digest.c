/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * u-digest.c - constraint systems equal the reference's, row by row
 *
 * With LARGE (u-digest-32g) the 32 and 64 GiB circuits, which hash 20 to 40 GB
 * each; otherwise the small ones.
 */
#include "t/cs-data.h"

#ifdef LARGE
static const char *const names[] = {
	"porep-32g", "porep-64g", "window-32g", "window-64g", "update-32g", "update-64g",
};
#else
static const char *const names[] = {
	"tiny-1", "tiny-3", "tiny-100",
	"winning-2k", "winning-8m", "winning-32g", "winning-64g", "window-2k",
	"porep-2k", "porep-8m", "update-2k", "update-8m",
};
#endif

static void check(const char *name)
{
	struct cs_shape_digest d;
	struct circuit c;
	struct cs *cs;
	char golden[64];
	double start = thread_seconds(), built, wall;

	if (!ok(circuit_find(name, &c) == 0 && circuit_build(&c, &cs) == 0, "%s is built", name))
		return;
	built = thread_seconds() - start;
	wall = wall_seconds();
	snprintf(golden, sizeof(golden), "%s/shape-%s.json", c.kind == CIRCUIT_TINY ? "toy" : "shapes",
		 name);
	if (ok(cs_digest_shape(cs, &d) == 0, "its digests are made")) {
		ok(digest_equal(golden, &d, NULL), "%s equals the reference", name);
		cs_shape_digest_fini(&d);
	}
	diag("%s: built in %.2f s, %.1f MiB, %u templates, %u instances; digests %.1f s on the clock",
	     name, built, cs_size(cs) / 1048576., cs->n_templates, cs->n_instances,
	     wall_seconds() - wall);
	cs_free(cs);
}

#ifndef LARGE
/* Sizes without golden digests: the counts that filecoin-spec section 4 derives. */
static void check_counts(const char *name, uint64_t rows, uint32_t inputs)
{
	struct circuit c;
	struct cs *cs;

	if (!ok(circuit_find(name, &c) == 0 && circuit_build(&c, &cs) == 0, "%s is built", name))
		return;
	ok(cs->n_rows == rows && cs->n_inputs == inputs, "%s: %llu rows, %u inputs", name,
	   (unsigned long long)cs->n_rows, cs->n_inputs);
	cs_free(cs);
}

static void check_list(void)
{
	const char *name;
	struct circuit c;
	size_t i;
	bool found = true;

	for (i = 0; (name = circuit_name(i)); i++)
		if (circuit_find(name, &c) || strcmp(c.name, name))
			found = false;
	ok(found && i == 28, "the %zu names of the list are found", i);
}
#endif

int main(void)
{
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		check(names[i]);
#ifndef LARGE
	check_counts("porep-512m", 4423433, 40);
	check_counts("winning-512m", 66 * (313 + 4242), 133);
	check_counts("window-512m", 2 * (313 + 10 * 4242), 23);
	check_counts("update-poseidon-32g", 22305906, 5);
	check_list();
#endif
	return tap_done();
}
