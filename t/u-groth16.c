/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* u-groth16.c - verification: golden proofs, real proofs of the network, wrong ones */
#include <errno.h>

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

static struct fr *read_inputs(const uint8_t *data, size_t n, bool big_endian)
{
	struct fr *in = malloc((n + 1) * sizeof(*in));
	size_t i, bad = 0;

	for (i = 0; i < n; i++)
		bad += (big_endian ? fr_from_bytes_be(&in[i], data + 32 * i) :
			fr_from_bytes_le(&in[i], data + 32 * i)) != 0;
	if (bad)
		printf("Bail out! inputs are not canonical\n");
	return in;
}

/* key_of: the verifying key; inputs_of: partition partition's begin in that file. */
static void test_golden(const char *dir, const char *proof_of, const char *inputs_of,
			size_t partition)
{
	size_t vk_size, proof_size, inputs_size, i, caught = 0;
	struct cuzk_error err = { .text = "" };
	struct proof proof, other;
	uint8_t *vk_data, *proof_data, *inputs_data, copy[PROOF_SIZE];
	char name[128];
	struct pvk *pvk;
	struct vk vk;
	struct fr *in;
	size_t n;

	snprintf(name, sizeof(name), "%s/%s.vk", dir, proof_of);
	vk_data = slurp(name, &vk_size);
	snprintf(name, sizeof(name), "%s/%s.proof", dir, proof_of);
	proof_data = slurp(name, &proof_size);
	snprintf(name, sizeof(name), "%s/%s.inputs", dir, inputs_of);
	inputs_data = slurp(name, &inputs_size);
	if (!ok(vk_read(&vk, name, vk_data, vk_size, NULL, &err) == 0, "%s.vk is read", proof_of) ||
	    !ok(proof_read(&proof, proof_data, &err) == 0, "%s.proof is read", proof_of) ||
	    !ok(pvk_open(&pvk, &vk) == 0, "the key is prepared")) {
		diag("%s", err.text);
		exit(1);
	}
	n = vk.n_ic - 1;
	in = read_inputs(inputs_data + 32 * n * partition, n, false);
	ok(pvk_verify(pvk, &proof, in, n) == 1, "%s: the proof verifies", proof_of);
	proof_write(copy, &proof);
	ok(!memcmp(copy, proof_data, PROOF_SIZE), "and is written as it was read");
	fr_add(&in[n - 1], &in[n - 1], &fr_one);
	ok(pvk_verify(pvk, &proof, in, n) == 0, "not with another input");
	fr_sub(&in[n - 1], &in[n - 1], &fr_one);
	ok(pvk_verify(pvk, &proof, in, n - 1) == -EINVAL, "too few inputs are refused");
	for (i = 0; i < PROOF_SIZE; i += 8) {
		memcpy(copy, proof_data, PROOF_SIZE);
		copy[i + i / 8 % 8] ^= 1 << i % 7;
		if (proof_read(&other, copy, &err) || pvk_verify(pvk, &other, in, n) == 0)
			caught++;
	}
	ok(caught == PROOF_SIZE / 8, "nor with a changed bit, in %zu places", caught);
	pvk_close(pvk);
	vk_fini(&vk);
	free(vk_data);
	free(proof_data);
	free(inputs_data);
	free(in);
}

/* Ten partitions of a PoRep that is on the chain, one by one and at once. */
static void test_porep_x10(void)
{
	const size_t n = 327, stride = PROOF_SIZE + 32 * 327;
	struct cuzk_error err = { .text = "" };
	struct proof proofs[10];
	struct fr *in = malloc(10 * n * sizeof(*in)), *part;
	const uint8_t *p;
	struct pvk *pvk = NULL;
	struct vk vk;
	size_t size, used, i, good = 0;
	uint8_t *data = slurp("real/seal32_x10.prf", &size);

	if (!ok(vk_read(&vk, "seal32_x10", data + 16, size - 16, &used, &err) == 0 &&
		pvk_open(&pvk, &vk) == 0, "the network's PoRep key is read")) {
		diag("%s", err.text);
		exit(1);
	}
	p = data + 16 + used;
	for (i = 0; i < 10; i++, p += stride) {
		if (proof_read(&proofs[i], p, &err))
			diag("%s", err.text);
		part = read_inputs(p + PROOF_SIZE, n, true);
		memcpy(in + i * n, part, n * sizeof(*in));
		free(part);
		good += pvk_verify(pvk, &proofs[i], in + i * n, n) == 1;
	}
	ok(good == 10, "all ten partitions verify");
	ok(pvk_verify_batch(pvk, proofs, 10, in, n) == 1, "at once too");
	ok(pvk_verify_batch(pvk, proofs, 1, in, n) == 1, "a batch of one");
	for (good = i = 0; i < 10; i++) {
		fr_add(&in[i * n + 5 * i], &in[i * n + 5 * i], &fr_one);
		good += pvk_verify_batch(pvk, proofs, 10, in, n) == 0;
		fr_sub(&in[i * n + 5 * i], &in[i * n + 5 * i], &fr_one);
	}
	ok(good == 10, "not with one input of any partition changed");
	proofs[0] = proofs[1];
	ok(pvk_verify_batch(pvk, proofs, 10, in, n) == 0, "nor with a proof in another's place");
	ok(pvk_verify_batch(pvk, proofs, 10, in, n - 1) == -EINVAL, "too few inputs are refused");
	pvk_close(pvk);
	vk_fini(&vk);
	free(data);
	free(in);
}

static void test_winning(void)
{
	struct cuzk_error err = { .text = "" };
	struct proof proof;
	struct pvk *pvk = NULL;
	struct vk vk = { .n_ic = 0 };
	size_t size;
	uint8_t *data = slurp("real/winning32.prf", &size);
	struct fr *in = read_inputs(data + 200, 132, true);

	ok(vk_read(&vk, "winning32", data + 4424, size - 4424, NULL, &err) == 0 &&
	   pvk_open(&pvk, &vk) == 0 && proof_read(&proof, data, &err) == 0 &&
	   pvk_verify(pvk, &proof, in, 132) == 1, "the network's WinningPoSt verifies");
	pvk_close(pvk);
	vk_fini(&vk);
	free(data);
	free(in);
}

/* More inputs than a table is kept for: the same sum by rounds. */
static void test_many_inputs(void)
{
	const uint32_t n = 1500;
	struct vk vk, small;
	struct pvk *pvk = NULL, *pvk_small = NULL;
	struct cuzk_error err;
	struct proof proof;
	struct fr *in = calloc(n, sizeof(*in)), k;
	size_t size;
	uint8_t *data = slurp("toy/tiny-3.vk", &size), *proof_data, *inputs_data;
	uint32_t i;

	/* tiny-3's key with its second ic point split over n - 1 inputs that add up to it */
	vk_read(&small, "tiny-3", data, size, NULL, &err);
	free(data);
	proof_data = slurp("toy/tiny-3.proof", &size);
	inputs_data = slurp("toy/tiny-3.inputs", &size);
	proof_read(&proof, proof_data, &err);
	vk = small;
	vk.n_ic = n + 1;
	vk.ic = calloc(vk.n_ic, sizeof(*vk.ic));
	vk.ic[0] = small.ic[0];
	vk.ic[1] = small.ic[1];
	fr_from_bytes_le(&in[0], inputs_data);
	fr_from_bytes_le(&in[1], inputs_data + 32);
	for (i = 2; i <= n; i++)
		vk.ic[i] = small.ic[2];
	for (i = 2; i < n; i++) {
		/* pairs k, -k in full width, and small ones */
		fr_from_u64(&k, i);
		if (i % 4 < 2)
			fr_inv_vartime(&k, &k);
		in[i] = k;
		fr_sub(&in[1], &in[1], &k);
	}
	ok(pvk_open(&pvk, &vk) == 0 && pvk_verify(pvk, &proof, in, n) == 1, "a key of %u inputs",
	   n);
	fr_add(&in[n / 2], &in[n / 2], &fr_one);
	ok(pvk_verify(pvk, &proof, in, n) == 0, "and one of them changed");
	ok(pvk_open(&pvk_small, &small) == 0 && pvk_inputs(pvk_small) == 2, "the small key");
	pvk_close(pvk);
	pvk_close(pvk_small);
	vk_fini(&vk);
	vk_fini(&small);
	free(proof_data);
	free(inputs_data);
	free(in);
}

int main(void)
{
	test_golden("toy", "tiny-1", "tiny-1", 0);
	test_golden("toy", "tiny-100", "tiny-100", 0);
	test_golden("winning-2k", "winning-2k", "winning-2k", 0);
	test_golden("window-2k", "window-2k", "window-2k", 0);
	test_golden("porep-2k", "porep-2k", "porep-2k", 0);
	test_golden("update-2k", "update-2k", "update-2k", 0);
	test_golden("porep-32g", "porep-32g-9", "porep-32g", 9);
	test_golden("update-32g", "update-32g-15", "update-32g", 15);
	test_golden("winning-32g", "winning-32g", "winning-32g", 0);
	test_porep_x10();
	test_winning();
	test_many_inputs();
	return tap_done();
}
