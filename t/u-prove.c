/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * u-prove.c - the toy circuits' golden proofs from their golden parameters
 *
 * On each path of the host's backend, and with parameters made here.
 */
#include <errno.h>

#include "engine/circuits/circuit.h"
#include "engine/cs/system.h"
#include "engine/groth16/make.h"
#include "engine/groth16/params.h"
#include "engine/groth16/prover.h"
#include "engine/groth16/verify.h"
#include "t/tap.h"

static uint8_t *slurp(const char *name, size_t *size)
{
	FILE *f = fopen(data_path(name), "rb");
	uint8_t *buf = malloc(1 << 20);

	if (!f || !buf) {
		printf("Bail out! cannot read %s\n", data_path(name));
		exit(1);
	}
	*size = fread(buf, 1, 1 << 20, f);
	fclose(f);
	return buf;
}

struct toy {
	struct gpu *gpu;
	struct circuit circuit;
	struct cs *cs;
	struct gpu_cs *gpu_cs;
	struct params params;
	struct gpu_srs *srs;
};

/* The proof of x with r = 27134, s = 17146. 0 or what the device says. */
static int prove(struct toy *t, uint64_t x, bool spoil, uint8_t out[PROOF_SIZE], struct fr in[2],
		 uint64_t *bad_row)
{
	struct blinding b = { .r = { { 27134 } }, .s = { { 17146 } } };
	struct tiny_input tiny;
	struct gpu_sums sums;
	struct cs_witness w;
	struct gpu_job *job;
	struct proof proof;
	char err[256];
	int ret;

	fr_from_u64(&tiny.x, x);
	ret = circuit_witness(&t->circuit, t->cs, (union circuit_input){ .tiny = &tiny }, NULL, &w,
			      err);
	if (ret)
		return ret;
	in[0] = w.inputs[1];
	in[1] = w.inputs[2];
	if (spoil)
		fr_add(&w.full[0], &w.full[0], &fr_one);
	ret = gpu_cpu_ops.prove_start(t->gpu, t->gpu_cs, t->srs, &w, true, &job, bad_row);
	cs_witness_fini(&w);
	if (!ret)
		ret = gpu_cpu_ops.prove_finish(t->gpu, job, &sums);
	if (ret)
		return ret;
	prover_assemble(&proof, &t->params.vk, &sums, &b);
	proof_write(out, &proof);
	return 0;
}

static void test_toy(struct gpu *gpu, const char *path, unsigned int steps)
{
	struct toy t = { .gpu = gpu };
	uint8_t *params, *golden, proof[PROOF_SIZE];
	uint64_t bad = 0, bad_row = UINT64_MAX;
	struct cuzk_error err = { .text = "" };
	struct make_result made;
	struct toxic_waste toxic;
	struct gpu_srs_desc desc;
	size_t size, golden_size, out_size = 0;
	struct proof read;
	struct pvk *pvk;
	struct fr in[2];
	char name[64], *out = NULL;
	FILE *f;

	snprintf(name, sizeof(name), "toy/tiny-%u.params", steps);
	params = slurp(name, &size);
	snprintf(name, sizeof(name), "toy/tiny-%u.proof", steps);
	golden = slurp(name, &golden_size);
	snprintf(name, sizeof(name), "tiny-%u", steps);
	if (circuit_find(name, &t.circuit) || circuit_build(&t.circuit, &t.cs) ||
	    params_parse(&t.params, name, params, size, &err) ||
	    params_match(&t.params, name, t.cs, &err) ||
	    gpu_cpu_ops.cs_load(gpu, t.cs, &t.gpu_cs)) {
		printf("Bail out! %s: %s\n", name, err.text);
		exit(1);
	}
	params_srs_desc(&t.params, &desc);
	ok(gpu_cpu_ops.srs_load(gpu, &desc, 2, &t.srs, &bad) == 0, "%s, %s: parameters are loaded",
	   name, path);
	ok(prove(&t, 5, false, proof, in, &bad_row) == 0 && !memcmp(proof, golden, PROOF_SIZE),
	   "its proof is the golden one");
	if (pvk_open(&pvk, &t.params.vk))
		exit(1);
	ok(proof_read(&read, proof, &err) == 0 && pvk_verify(pvk, &read, in, 2) == 1,
	   "it verifies");
	ok(prove(&t, 7, false, proof, in, &bad_row) == 0 && proof_read(&read, proof, &err) == 0 &&
	   pvk_verify(pvk, &read, in, 2) == 1, "another input's proof verifies too");
	/* the first aux variable is wrong: row 0 says that it is the input */
	ok(prove(&t, 5, true, proof, in, &bad_row) == -EDOM && bad_row == 0,
	   "a witness that does not satisfy is seen, and where");
	pvk_close(pvk);

	toxic_parse(&toxic, "48577,22580,53332,5481,3673", &err);
	f = open_memstream(&out, &out_size);
	ok(f &&
		   params_make(t.cs, &toxic, GPU_H_POWERS, &gpu_cpu_ops, gpu, NULL, f, NULL,
			       NULL, &made, &err) ==
			   0 &&
		   fclose(f) == 0 && out_size == size && !memcmp(out, params, size) &&
		   made.params.size == size,
	   "its parameters are made as the golden ones");
	/* 1 is in every domain */
	toxic.tau = fr_one;
	f = fopen("/dev/null", "w");
	ok(params_make(t.cs, &toxic, GPU_H_POWERS, &gpu_cpu_ops, gpu, NULL, f, NULL,
			       NULL, &made, &err) ==
		   -EINVAL,
	   "bad toxic waste: %s", err.text);
	fclose(f);
	f = fopen("/dev/full", "w");
	fr_from_u64(&toxic.tau, 3673);
	setvbuf(f, NULL, _IONBF, 0);
	ok(params_make(t.cs, &toxic, GPU_H_POWERS, &gpu_cpu_ops, gpu, NULL, f, NULL,
			       NULL, &made, &err) == -EIO &&
	   err.cls == CUZK_ERROR_RESOURCE, "a full disk: %s", err.text);
	fclose(f);

	free(out);
	gpu_cpu_ops.srs_unload(gpu, t.srs);
	gpu_cpu_ops.cs_unload(gpu, t.gpu_cs);
	params_close(&t.params);
	cs_free(t.cs);
	free(params);
	free(golden);
}

static void test_waste_text(void)
{
	static const char *const bad[] = {
		"",
		"1,2,3,4",
		"1,2,3,4,5,6",
		"1,2,3,4,",
		"a,2,3,4,5",
		"1,2,3,4,0x5",
		"1 ,2,3,4,5",
		"1,2,3,4,52435875175126190479447740508185965837690552500527637822603658699938581184513",
	};
	struct cuzk_error err;
	struct toxic_waste t;
	struct blinding b;
	size_t i, n = 0;

	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		n += toxic_parse(&t, bad[i], &err) == -EINVAL;
	ok(n == i, "toxic waste that is none is refused");
	ok(blinding_parse(&b, "1,2") == 0 && b.r.l[0] == 1 && b.s.l[0] == 2 &&
	   blinding_parse(&b, "1") == -EINVAL && blinding_parse(&b, "1,2,3") == -EINVAL &&
	   blinding_parse(&b, ",") == -EINVAL, "so is a blinding");
	blinding_parse(&b, "27134,17146");
	blinding_offset(&b, &b, 9);
	ok(b.r.l[0] == 27143 && b.s.l[0] == 17155 && !b.r.l[1] && !b.s.l[3],
	   "partition 9 adds 9 to both");
}

int main(void)
{
	static const char *const paths[] = { "portable", "ifma" };
	static const unsigned int steps[] = { 1, 3, 100 };
	struct gpu_config config = { .size = sizeof(config), .threads = 2 };
	char err[256] = "";
	struct gpu *gpu;
	size_t i, k;

	for (i = 0; i < 2; i++) {
		config.device = paths[i];
		if (gpu_cpu_ops.open(&gpu, &config, err)) {
			skip(paths[i], err);
			continue;
		}
		for (k = 0; k < 3; k++)
			test_toy(gpu, paths[i], steps[k]);
		gpu_cpu_ops.close(gpu);
	}
	test_waste_text();
	return tap_done();
}
