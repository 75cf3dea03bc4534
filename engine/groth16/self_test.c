/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * self_test.c - a known answer proved on the device
 *
 * The circuit tiny-3 with x = 5, parameters from fixed toxic waste made on the
 * device itself, fixed r and s: the proof's bytes are those that bellperson gives.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/cs/system.h"
#include "engine/groth16/instance.h"
#include "engine/groth16/make.h"

static const uint8_t expected[PROOF_SIZE] = {
	0x8e, 0xdf, 0xb6, 0x0e, 0x0e, 0xa6, 0x29, 0x19, 0x55, 0xab, 0x71, 0xfe,
	0xe5, 0x3c, 0xa2, 0x20, 0x0e, 0xa8, 0x09, 0xa2, 0xca, 0xaf, 0x4c, 0x0a,
	0x94, 0xd5, 0xa1, 0x4d, 0x69, 0xb8, 0xa8, 0xa1, 0x23, 0x76, 0x89, 0xfc,
	0xac, 0xab, 0x52, 0xaa, 0x84, 0xd2, 0xae, 0x6f, 0x0a, 0xb4, 0x17, 0x0d,
	0xb1, 0x74, 0x05, 0xfb, 0xe8, 0x9e, 0x95, 0x42, 0xd0, 0xf9, 0xbe, 0xe4,
	0x35, 0xf2, 0x08, 0x12, 0x5d, 0x0c, 0xec, 0x66, 0xc2, 0x84, 0x2a, 0xe4,
	0xab, 0xf9, 0x8c, 0x17, 0x0a, 0xbb, 0xe3, 0xfc, 0x66, 0xf7, 0xad, 0x3c,
	0x3c, 0xab, 0x13, 0xd1, 0x58, 0x6e, 0x60, 0x88, 0x7f, 0x30, 0xf4, 0x33,
	0x18, 0x92, 0x51, 0xd2, 0x0e, 0x8d, 0xef, 0x21, 0x25, 0x47, 0x68, 0x4e,
	0x15, 0x05, 0x39, 0x80, 0xe5, 0x22, 0x09, 0xc7, 0xe8, 0x9e, 0x03, 0x41,
	0x55, 0x4d, 0x41, 0xa6, 0x5d, 0xcb, 0xe7, 0x0f, 0x2a, 0x2d, 0x19, 0x9d,
	0xd1, 0xcc, 0xcd, 0xf6, 0x10, 0x1f, 0x5a, 0x81, 0x79, 0x88, 0xf9, 0xc8,
	0x89, 0x89, 0x07, 0x56, 0xba, 0x04, 0x6b, 0xb8, 0xff, 0x69, 0x3e, 0x8c,
	0x84, 0x12, 0x54, 0x2f, 0x16, 0x03, 0xfa, 0x45, 0x62, 0xcc, 0x09, 0x62,
	0x67, 0xef, 0x00, 0x3c, 0xde, 0xad, 0x56, 0x7f, 0x49, 0x2e, 0x3c, 0x2a,
	0xfe, 0x13, 0xb0, 0x3e, 0x0d, 0x5b, 0x26, 0xde, 0xed, 0xed, 0xee, 0x2a
};

static int make_key(struct cuzk_instance *inst, struct key *key, uint8_t **memory,
		    struct cuzk_error *err)
{
	struct make_result result;
	struct toxic_waste toxic;
	size_t size = 0;
	FILE *f;
	int ret;

	ret = circuit_find("tiny-3", &key->circuit);
	if (ret)
		return error_set(err, CUZK_ERROR_INTERNAL, ret, "self-test: no circuit tiny-3");
	ret = circuit_build(&key->circuit, &key->cs);
	if (ret)
		return error_nomem(err, "the self-test");
	ret = toxic_parse(&toxic, "48577,22580,53332,5481,3673", err);
	if (ret)
		return ret;
	f = open_memstream((char **)memory, &size);
	if (!f)
		return error_nomem(err, "the self-test");
	ret = params_make(key->cs, &toxic, GPU_H_POWERS, inst->ops, inst->gpu, inst->pool, f, NULL,
			  NULL, &result, err);
	/* it is the device that makes them */
	if (ret == -EIO && err->cls == CUZK_ERROR_DEVICE)
		atomic_store(&inst->lost, true);
	if (fclose(f) && !ret)
		ret = error_nomem(err, "the self-test");
	if (!ret)
		ret = params_parse(&key->params, "self-test", *memory, size, err);
	if (!ret)
		ret = params_match(&key->params, "self-test", key->cs, err);
	if (!ret)
		ret = key_make(inst, key, err);
	return ret;
}

static int prove(struct cuzk_instance *inst, const struct key *key, struct gpu_sums *sums,
		 struct fr inputs[2], struct cuzk_error *err)
{
	struct tiny_input tiny;
	struct gpu_job *job;
	struct cs_witness w;
	char text[256] = "";
	uint64_t bad_row;
	int ret;

	fr_from_u64(&tiny.x, 5);
	ret = circuit_witness(&key->circuit, key->cs, (union circuit_input){ .tiny = &tiny },
			      inst->pool, &w, text);
	if (ret)
		return error_set(err, CUZK_ERROR_INTERNAL, ret, "self-test: witness: %s", text);
	inputs[0] = w.inputs[1];
	inputs[1] = w.inputs[2];
	ret = inst->ops->prove_start(inst->gpu, key->gpu_cs, key->gpu_srs, &w, true, &job,
				     &bad_row);
	cs_witness_fini(&w);
	if (!ret)
		ret = inst->ops->prove_finish(inst->gpu, job, sums);
	if (ret == -EDOM)
		return error_set(err, CUZK_ERROR_DEVICE, ret,
				 "self-test: the device finds row %llu not satisfied",
				 (unsigned long long)bad_row);
	return ret ? job_gpu_error(inst, "self-test", ret, err) : 0;
}

int instance_self_test(struct cuzk_instance *inst, struct cuzk_error *err)
{
	struct blinding blinding = { .r = { { 27134 } }, .s = { { 17146 } } };
	uint8_t bytes[PROOF_SIZE], *memory = NULL;
	struct gpu_sums sums;
	struct fr inputs[2];
	struct proof proof;
	struct key *key;
	int ret;

	key = calloc(1, sizeof(*key));
	if (!key)
		return error_nomem(err, "the self-test");
	pthread_mutex_lock(&inst->gpu_lock);
	inst->gpu_tag = 0;
	inst->gpu_job = NULL;
	ret = make_key(inst, key, &memory, err);
	if (!ret)
		ret = prove(inst, key, &sums, inputs, err);
	if (ret)
		goto out;
	prover_assemble(&proof, &key->params.vk, &sums, &blinding);
	proof_write(bytes, &proof);
	if (memcmp(bytes, expected, sizeof(bytes)))
		ret = error_set(err, CUZK_ERROR_DEVICE, -EBADMSG,
				"self-test: the device's proof is not the known one");
	else if (proof_read(&proof, bytes, err) || pvk_verify(key->pvk, &proof, inputs, 2) != 1)
		ret = error_set(err, CUZK_ERROR_INTERNAL, -EBADMSG,
				"self-test: the known proof does not verify");
out:
	key_free(inst, key);
	pthread_mutex_unlock(&inst->gpu_lock);
	free(memory);
	return ret;
}
