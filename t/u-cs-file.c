/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* u-cs-file.c - the cache file of constraint systems: back as written, or refused */
#include <errno.h>
#include <unistd.h>

#include "engine/circuits/cache.h"
#include "engine/cs/check.h"
#include "lib/sha256.h"
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

/*
 * What a system's file holds belongs to CS_FILE_VERSION: who changes a circuit,
 * a template or lib/cs.h must change the version, or old caches would serve the
 * new program.  Then these are to be written again from the diagnostics.
 */
static void test_version(void)
{
	static const struct { const char *name, *sha256; } files[] = {
		{ "winning-2k", "7056149a5d5ed5606444b1a09cc852990d9ce7e495185844e47464d21894543b" },
		{ "window-2k", "54e49d82f429f428b36b5a0d3f20d8c39448cf2e14329b15381ad9b05e4fadae" },
		{ "porep-2k", "363ede4df7e5d089594a6a679d5daae5887507cac9b12d39013fbe5e5462c027" },
		{ "update-2k", "25d5695e6a80f114d4848c4117b31a32b3862d9890494da531c36f24f41acd63" },
		{ "update-poseidon-2k", "69ae466738d6b0dfa25c1b0913e9fa56b753f764620a83c523cd812f5422b62d" },
	};
	uint8_t h[32];
	char hex[65];
	size_t i, k, len;

	ok(CS_FILE_VERSION == 1, "the digests below are of version %d", CS_FILE_VERSION);
	for (i = 0; i < sizeof(files) / sizeof(*files); i++) {
		struct cs *cs = build(files[i].name);
		char *image;
		FILE *f;

		cs_file_write(cs, files[i].name, path, err);
		f = fopen(path, "rb");
		image = f ? read_stream(f, &len) : NULL;
		if (f)
			fclose(f);
		if (image)
			sha256(h, image, len);
		for (k = 0; k < 32; k++)
			sprintf(hex + 2 * k, "%02x", h[k]);
		if (!ok(image && !strcmp(hex, files[i].sha256), "%s is as in that version",
			files[i].name))
			diag("%s", hex);
		free(image);
		cs_free(cs);
	}
	unlink(path);
}

static struct cs *load(const char *dir, const struct circuit *c, bool *mapped, char *note)
{
	struct cs *cs;

	if (cache_load(dir, c, &cs, mapped, note)) {
		printf("Bail out! cannot load %s\n", c->name);
		exit(1);
	}
	return cs;
}

/* Built when there is no file, mapped when there is, built and written again when it is bad. */
static void test_cache(void)
{
	char dir[80], file[160], note[CACHE_NOTE];
	struct cs_shape_digest a, b;
	struct cs *built, *cs;
	struct circuit c, tiny;
	bool mapped;
	FILE *f;

	circuit_find("window-2k", &c);
	circuit_find("tiny-3", &tiny);
	snprintf(dir, sizeof(dir), "%s.d", path);
	ok(cache_path(dir, &c, file, sizeof(file)) == 0 && strstr(file, ".d/window-2k.cs"), "%s", file);
	built = load(dir, &c, &mapped, note);
	ok(!mapped && !*note, "the first time it is built, without a word%s", note);
	cs = load(dir, &c, &mapped, note);
	ok(mapped && !*note, "the second time it is mapped%s", note);
	ok(!cs_digest_shape(built, &a) && !cs_digest_shape(cs, &b) && !memcmp(a.matrix, b.matrix, 32),
	   "both are the same");
	cs_shape_digest_fini(&a);
	cs_shape_digest_fini(&b);
	cs_free(cs);
	cs_free(built);

	f = fopen(file, "r+b");
	if (!ok(f && !fseek(f, 5000, SEEK_SET) && fputc(0x55, f) != EOF && !fclose(f), "damaged"))
		return;
	cs_free(load(dir, &c, &mapped, note));
	ok(!mapped && strstr(note, "damaged") && strstr(note, "written again"), "%s", note);
	cs_free(load(dir, &c, &mapped, note));
	ok(mapped && !*note, "it is whole again");
	ok(truncate(file, 100) == 0, "cut short");
	cs_free(load(dir, &c, &mapped, note));
	ok(!mapped && *note, "%s", note);
	cs_free(load(dir, &c, &mapped, note));
	ok(mapped, "it is whole again");
	unlink(file);
	rmdir(dir);

	cs_free(load(NULL, &c, &mapped, note));
	ok(!mapped && !*note, "no folder: built");
	cs_free(load("/nonexistent/folder", &c, &mapped, note));
	ok(!mapped && strstr(note, "/nonexistent/folder"), "%s", note);
	cs_free(load("/dev/null", &c, &mapped, note));
	ok(!mapped && strstr(note, "/dev/null"), "%s", note);
	cs_free(load("/nonexistent/folder", &tiny, &mapped, note));
	ok(!mapped && !*note, "toys are not kept");

	setenv("CACHE_DIRECTORY", "/a/first:/a/second", 1);
	ok(!strcmp(cache_dir(NULL), "/a/first") && !strcmp(cache_dir(""), "/a/first"),
	   "systemd's first folder");
	ok(!strcmp(cache_dir("/given"), "/given"), "the option goes before");
	setenv("CACHE_DIRECTORY", "/only", 1);
	ok(!strcmp(cache_dir(NULL), "/only"), "systemd's only folder");
	unsetenv("CACHE_DIRECTORY");
}

int main(void)
{
	snprintf(path, sizeof(path), "u-cs-file.%ld", (long)getpid());
	test_round_trip("tiny-3");
	test_round_trip("window-2k");
	test_round_trip("porep-2k");
	test_damage();
	test_check();
	test_version();
	test_cache();
	return tap_done();
}
