/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* u-cs-file.c - the cache file of constraint systems: back as written, or refused */
#include <errno.h>
#include <unistd.h>

#include "engine/cs/check.h"
#include "t/cs-data.h"

static char path[64], err[256];

static struct cs *build(const char *name)
{
	struct circuit c;
	struct cs *cs;

	if (circuit_find(name, &c) || circuit_build(&c, &cs)) {
		printf("Bail out! cannot build %s\n", name);
		exit(1);
	}
	return cs;
}

static void test_round_trip(const char *name)
{
	struct cs *cs = build(name), *back;
	struct cs_shape_digest a, b;
	double start;

	ok(cs_check(cs) == NULL, "%s is consistent", name);
	ok(cs_file_write(cs, name, path, err) == 0, "%s is written", name);
	start = wall_seconds();
	if (ok(cs_file_map(path, name, &back, err) == 0, "and mapped")) {
		diag("%.1f ms, %.1f MiB", (wall_seconds() - start) * 1e3, cs_size(back) / 1048576.);
		ok(cs_digest_shape(cs, &a) == 0 && cs_digest_shape(back, &b) == 0 &&
		   !memcmp(a.matrix, b.matrix, 32) &&
		   !memcmp(a.a_aux_density, b.a_aux_density, 32) &&
		   !memcmp(a.b_aux_density, b.b_aux_density, 32) && a.nnz[0] == b.nnz[0],
		   "it is the same");
		cs_shape_digest_fini(&a);
		cs_shape_digest_fini(&b);
		cs_free(back);
	}
	ok(cs_file_map(path, "tiny-2", &back, err) == -EBADMSG, "another name: %s", err);
	cs_free(cs);
}

static void write_file(const void *p, size_t n)
{
	FILE *f = fopen(path, "wb");

	if (!f || fwrite(p, 1, n, f) != n || fclose(f)) {
		printf("Bail out! cannot write %s\n", path);
		exit(1);
	}
}

/* Every byte flipped, every length cut: each is refused with a line. */
static void test_damage(void)
{
	struct cs *cs = build("tiny-3"), *back;
	size_t len, i, taken = 0, quiet = 0, tried = 0;
	char *image;
	FILE *f;

	cs_file_write(cs, "tiny-3", path, err);
	f = fopen(path, "rb");
	image = read_stream(f, &len);
	fclose(f);
	/* the header and the end byte by byte, the coefficients between more widely */
	for (i = 0; i < len; i += i < 1024 || i > len - 2048 ? 1 : 97, tried++) {
		image[i] ^= 1 << i % 8;
		write_file(image, len);
		image[i] ^= 1 << i % 8;
		*err = '\0';
		taken += cs_file_map(path, "tiny-3", &back, err) == 0;
		quiet += !*err;
	}
	ok(taken == 0 && quiet == 0, "%zu flipped bits: %zu taken, %zu without a line", tried, taken,
	   quiet);
	for (i = tried = 0; i < len; i += i < 1024 ? 1 : 211, tried++) {
		write_file(image, i);
		*err = '\0';
		taken += cs_file_map(path, "tiny-3", &back, err) == 0;
		quiet += !*err;
	}
	ok(taken == 0 && quiet == 0, "%zu cuts: %zu taken, %zu without a line", tried, taken, quiet);
	unlink(path);
	ok(cs_file_map(path, "tiny-3", &back, err) == -ENOENT && *err, "no file: %s", err);
	ok(cs_file_write(cs, "tiny-3", "/nonexistent/x", err) < 0 && *err, "no folder: %s", err);
	free(image);
	cs_free(cs);
}

static uint64_t seed = 0x9216d5d98979fb1b;

static uint64_t next(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

/*
 * One number of the arrays changed as no hash would tell: refused by
 * cs_check(), or harmless to whoever reads the system.
 */
static void test_check(void)
{
	struct cs *cs = build("window-2k");
	struct { const void *p; size_t n; } array[] = {
		{ cs->templates, cs->n_templates * sizeof(*cs->templates) },
		{ cs->instances, cs->n_instances * sizeof(*cs->instances) },
		{ cs->lc_end, cs->n_lcs * 4 }, { cs->terms, cs->n_terms * 8 },
		{ cs->slots, cs->n_slots * 4 }, { cs->ports, cs->n_ports * 4 },
	};
	struct fr *out[3], *l = calloc(1ul << cs->log_domain, sizeof(*l));
	unsigned int refused = 0, harmless = 0, i;
	struct cs_witness w;

	for (i = 0; i < 3; i++)
		out[i] = calloc(cs->n_aux + cs->n_inputs, sizeof(struct fr));
	cs_witness_init(&w, cs);
	for (i = 0; i < 4000; i++) {
		unsigned int k = next() % 6;
		uint32_t *v = (uint32_t *)array[k].p + next() % (array[k].n / 4), keep = *v;
		uint32_t random = next();

		*v = i % 3 == 0 ? random : i % 3 == 1 ? keep ^ 1u << random % 32 : keep + 1;
		if (cs_check(cs)) {
			refused++;
		} else {
			harmless++;
			if (i % 16 == 0) {
				cs_transpose_eval(cs, NULL, l, out[0], out[1], out[2]);
				cs_first_bad_row(cs, &w, NULL);
			}
		}
		*v = keep;
	}
	ok(refused > 1000, "%u changed numbers refused, %u harmless", refused, harmless);
	ok(cs_check(cs) == NULL, "put back it is consistent");
	cs_witness_fini(&w);
	for (i = 0; i < 3; i++)
		free(out[i]);
	free(l);
	cs_free(cs);
}

int main(void)
{
	snprintf(path, sizeof(path), "u-cs-file.%ld", (long)getpid());
	test_round_trip("tiny-3");
	test_round_trip("window-2k");
	test_round_trip("porep-2k");
	test_damage();
	test_check();
	return tap_done();
}
