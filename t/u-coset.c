/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* u-coset.c - parameters rearranged for four transforms: made, read, damaged, proved with */
#include <errno.h>
#include <unistd.h>

#include "engine/circuits/circuit.h"
#include "engine/cs/system.h"
#include "engine/groth16/coset_make.h"
#include "engine/groth16/fold.h"
#include "engine/groth16/prover.h"
#include "engine/groth16/vk.h"
#include "lib/bls12_381/encoding.h"
#include "t/random-cs.h"
#include "t/tap.h"

static struct gpu *gpu;
static struct tpool *pool;
static char path[4096];

/* ---- the sums over rows, against those of numbers ---- */

static void test_fold(uint32_t n_templates, uint32_t n_instances, uint32_t n_rows)
{
	struct sys s;
	size_t n_vars, i;
	struct fr *l, *at, *bt, *ct;
	struct g1_affine *rows, a;
	struct g1 *out, p;
	struct scalar k;
	bool good = true;

	sys_open(&s, n_templates, n_instances, n_rows);
	n_vars = s.cs.n_inputs + (size_t)s.cs.n_aux;
	l = xalloc(s.cs.n_rows + s.cs.n_inputs, sizeof(*l));
	rows = xalloc(s.cs.n_rows, sizeof(*rows));
	at = xalloc(n_vars, sizeof(*at));
	bt = xalloc(n_vars, sizeof(*bt));
	ct = xalloc(n_vars, sizeof(*ct));
	out = xalloc(n_vars, sizeof(*out));
	for (i = 0; i < s.cs.n_rows; i++) {
		/* some rows' points are infinity, some equal */
		fr_from_u64(&l[i], rnd() % 5);
		if (i % 3)
			rnd_fr(&l[i]);
		fr_to_scalar(&k, &l[i]);
		g1_mul_vartime(&p, &G1_GENERATOR, &k);
		g1_to_affine(&rows[i], &p);
	}
	good = !cs_transpose_eval(&s.cs, pool, l, at, bt, ct) &&
	       !fold_points(&s.cs, pool, rows, out, NULL);
	for (i = 0; i < n_vars; i++) {
		fr_to_scalar(&k, &ct[i]);
		g1_mul_vartime(&p, &G1_GENERATOR, &k);
		good &= g1_equal(&p, &out[i]);
		g1_to_affine(&a, &out[i]);
	}
	ok(good, "%u instances, %zu variables: the points' sums by C are the numbers'",
	   n_instances, n_vars);
	sys_close(&s);
	free(l);
	free(rows);
	free(at);
	free(bt);
	free(ct);
	free(out);
}

/* ---- a toy circuit's file ---- */

struct toy {
	struct circuit circuit;
	struct cs *cs;
	struct params params;
	uint8_t *data;
	size_t size;
	char name[32];
};

static uint8_t *slurp(const char *from, size_t *size)
{
	FILE *f = fopen(from, "rb");
	uint8_t *buf = xalloc(1, 1 << 20);

	if (!f) {
		printf("Bail out! cannot read %s\n", from);
		exit(1);
	}
	*size = fread(buf, 1, 1 << 20, f);
	fclose(f);
	return buf;
}

static void toy_open(struct toy *t, unsigned int steps)
{
	struct cuzk_error err;
	char file[64];

	snprintf(t->name, sizeof(t->name), "tiny-%u", steps);
	snprintf(file, sizeof(file), "toy/%s.params", t->name);
	t->data = slurp(data_path(file), &t->size);
	if (circuit_find(t->name, &t->circuit) || circuit_build(&t->circuit, &t->cs) ||
	    params_parse(&t->params, t->name, t->data, t->size, &err) ||
	    params_match(&t->params, t->name, t->cs, &err)) {
		printf("Bail out! %s\n", t->name);
		exit(1);
	}
}

static void toy_close(struct toy *t)
{
	params_close(&t->params);
	cs_free(t->cs);
	free(t->data);
}

/* From the parameters (toxic NULL) or from what they were made of. */
static int make(const struct toy *t, const struct toxic_waste *toxic, struct cuzk_error *err)
{
	const struct coset_source from = {
		.cs = t->cs, .params = &t->params, .name = t->name,
		.ops = &gpu_cpu_ops, .gpu = gpu, .pool = pool,
	};
	FILE *f = fopen(path, "wb");
	int ret;

	if (!f)
		abort();
	ret = toxic ? coset_make_toxic(&from, toxic, f, err) : coset_make(&from, f, err);
	return fclose(f) && !ret ? -EIO : ret;
}

/* With the golden r and s; 0, or what the backend says. */
static int prove(const struct toy *t, const struct coset *c, uint8_t out[PROOF_SIZE])
{
	struct blinding b = { .r = { { 27134 } }, .s = { { 17146 } } };
	struct gpu_cs *gcs = NULL;
	struct gpu_srs *srs = NULL;
	struct gpu_srs_desc desc;
	struct tiny_input tiny;
	struct gpu_sums sums;
	struct cs_witness w;
	struct gpu_job *job;
	struct proof proof;
	uint64_t bad;
	char err[256];
	int ret;

	fr_from_u64(&tiny.x, 5);
	if (circuit_witness(&t->circuit, t->cs, (union circuit_input){ .tiny = &tiny }, NULL, &w,
			    err))
		abort();
	params_srs_desc(&t->params, &desc);
	coset_srs_desc(c, &desc);
	ret = gpu_cpu_ops.cs_load(gpu, t->cs, &gcs);
	if (!ret)
		ret = gpu_cpu_ops.srs_load(gpu, &desc, 2, &srs, &bad);
	if (!ret)
		ret = gpu_cpu_ops.prove_start(gpu, gcs, srs, &w, true, &job, &bad);
	if (!ret)
		ret = gpu_cpu_ops.prove_finish(gpu, job, &sums);
	if (!ret)
		ret = coset_add_inputs(&sums, c->inputs, w.inputs + 1, t->cs->n_inputs - 1);
	if (!ret) {
		prover_assemble(&proof, &t->params.vk, &sums, &b);
		proof_write(out, &proof);
	}
	gpu_cpu_ops.srs_unload(gpu, srs);
	gpu_cpu_ops.cs_unload(gpu, gcs);
	cs_witness_fini(&w);
	return ret;
}

static void test_proof(const struct toy *t, const char *how)
{
	uint8_t proof[PROOF_SIZE], *golden;
	struct cuzk_error err;
	struct coset c;
	size_t size;
	char file[64];

	snprintf(file, sizeof(file), "toy/%s.proof", t->name);
	golden = slurp(data_path(file), &size);
	if (ok(!coset_open(&c, path, &t->params, &err), "%s, made from %s: opens", t->name, how)) {
		ok(!coset_check(&c, path, NULL, &err), "its digest is right");
		ok(!prove(t, &c, proof) && !memcmp(proof, golden, PROOF_SIZE),
		   "the proof made with it is the golden one");
		coset_close(&c);
	} else {
		diag("%s", err.text);
	}
	free(golden);
}

/* ---- bad files ---- */

static void write_back(const uint8_t *data, size_t size)
{
	FILE *f = fopen(path, "wb");

	if (!f || fwrite(data, 1, size, f) != size || fclose(f))
		abort();
}

static void refuse(const struct toy *t, const uint8_t *data, size_t size, int want,
		   const char *what)
{
	struct cuzk_error err = { .text = "" };
	struct coset c;
	int ret;

	write_back(data, size);
	ret = coset_open(&c, path, &t->params, &err);
	if (!ok(ret == want && strstr(err.text, path), "%s: %s", what, err.text + strlen(path) + 2))
		diag("%d: %s", ret, err.text);
	if (!ret)
		coset_close(&c);
}

static void test_bad(const struct toy *t, const struct toy *other)
{
	static const struct {
		size_t at;
		int want;
		const char *what;
	} fields[] = {
		{ 0, -EBADMSG, "another magic" },
		{ 11, -ESTALE, "another number of inputs" },
		{ 15, -ESTALE, "another number of h" },
		{ 19, -ESTALE, "another number of l" },
		{ 23, -EBADMSG, "a number that is 0" },
		{ 31, -ESTALE, "another size of the parameters" },
		{ 32, -ESTALE, "another verifying key" },
		{ COSET_HEADER + 50, -EBADMSG, "an input's point" },
	};
	struct cuzk_error err = { .text = "" };
	struct coset c;
	uint8_t *data, proof[PROOF_SIZE];
	size_t size, i;

	data = slurp(path, &size);
	for (i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		data[fields[i].at] ^= 1;
		refuse(t, data, size, fields[i].want, fields[i].what);
		data[fields[i].at] ^= 1;
	}
	refuse(t, data, size - 1, -EBADMSG, "a byte is missing");
	refuse(t, data, 100, -EBADMSG, "half a header");
	refuse(t, data, 0, -EBADMSG, "nothing in it");
	write_back(data, size);
	ok(coset_open(&c, path, &other->params, &err) == -ESTALE, "of other parameters: %s",
	   err.text + strlen(path) + 2);

	/* a byte of h: seen when it is loaded, and by its digest */
	data[size - 10] ^= 4;
	write_back(data, size);
	if (ok(!coset_open(&c, path, &t->params, &err), "a byte of a point of h: it opens")) {
		ok(prove(t, &c, proof) == -EBADMSG, "it is not loaded");
		ok(coset_check(&c, path, NULL, &err) == -EBADMSG, "the digest shows it: %s",
		   err.text + strlen(path) + 2);
		coset_close(&c);
	}
	unlink(path);
	ok(coset_open(&c, path, &t->params, &err) == -ENOENT, "no file");
	free(data);
}

static void test_make_errors(const struct toy *t)
{
	const struct coset_source from = {
		.cs = t->cs, .params = &t->params, .name = t->name,
		.ops = &gpu_cpu_ops, .gpu = gpu, .pool = pool,
	};
	struct cuzk_error err = { .text = "" };
	FILE *f = fopen("/dev/full", "w");
	uint8_t *h = t->data + t->params.section[PARAMS_H].offset;

	setvbuf(f, NULL, _IONBF, 0);
	ok(coset_make(&from, f, &err) == -ENOSPC && err.cls == CUZK_ERROR_RESOURCE,
	   "a full disk: %s", err.text);
	fclose(f);
	h[G1_UNCOMPRESSED_SIZE + 20] ^= 1;
	ok(make(t, NULL, &err) == -EBADMSG && strstr(err.text, "point 1 "),
	   "a point of h that is none: %s", err.text);
	h[G1_UNCOMPRESSED_SIZE + 20] ^= 1;
	unlink(path);
}

int main(void)
{
	static const unsigned int steps[] = { 1, 3, 100 };
	struct gpu_config config = { .size = sizeof(config), .threads = 2 };
	struct toy toys[3];
	struct toxic_waste toxic;
	struct cuzk_error err;
	char text[256];
	unsigned int i;

	snprintf(path, sizeof(path), "%s/u-coset.%d", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp",
		 (int)getpid());
	if (gpu_cpu_ops.open(&gpu, &config, text) || tpool_open(&pool, 3) ||
	    toxic_parse(&toxic, "48577,22580,53332,5481,3673", &err))
		return 1;
	test_fold(1, 1, 1);
	test_fold(5, 60, 20);
	test_fold(3, 1100, 3);
	for (i = 0; i < 3; i++) {
		toy_open(&toys[i], steps[i]);
		if (ok(!make(&toys[i], NULL, &err), "%s is rearranged", toys[i].name))
			test_proof(&toys[i], "the parameters");
		if (ok(!make(&toys[i], &toxic, &err), "%s again", toys[i].name))
			test_proof(&toys[i], "toxic waste");
	}
	test_bad(&toys[2], &toys[1]);
	test_make_errors(&toys[1]);
	for (i = 0; i < 3; i++)
		toy_close(&toys[i]);
	tpool_close(pool);
	gpu_cpu_ops.close(gpu);
	return tap_done();
}
