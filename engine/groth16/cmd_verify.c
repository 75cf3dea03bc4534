/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* cmd_verify.c - the command verify */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/groth16/command.h"
#include "engine/groth16/file.h"
#include "engine/groth16/snarkjs.h"
#include "engine/groth16/verify.h"

struct proofs {
	struct proof *proof;
	size_t n;
	struct fr *inputs;	/* n times n_inputs */
	size_t n_inputs;
};

static bool is_space(uint8_t c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/*
 * Text that begins like this one is snarkjs' JSON.  Points and numbers in
 * binary may begin so too, but not go on as text to the end.
 */
static bool is_json(const struct file_map *map, char first)
{
	size_t i, begin;

	for (begin = 0; begin < map->size && is_space(map->data[begin]); begin++)
		;
	if (begin == map->size || map->data[begin] != first)
		return false;
	for (i = begin; i < map->size; i++)
		if (!is_space(map->data[i]) && (map->data[i] < ' ' || map->data[i] > '~'))
			return false;
	return true;
}

static int read_vk(struct vk *vk, const char *path, struct cuzk_error *err)
{
	struct file_map map;
	int ret;

	ret = file_map(&map, path, CUZK_ERROR_PARAMS, err);
	if (ret)
		return ret;
	if (is_json(&map, '{'))
		ret = snarkjs_get_vkey(vk, path, (const char *)map.data, map.size, err);
	else
		ret = vk_read(vk, path, map.data, map.size, NULL, err);
	file_unmap(&map);
	return ret;
}

static int read_proofs(struct proofs *p, const char *path, struct cuzk_error *err)
{
	struct file_map map;
	bool json;
	size_t i;
	int ret;

	ret = file_map(&map, path, CUZK_ERROR_INPUT, err);
	if (ret)
		return ret;
	json = is_json(&map, '{');
	if (!json && (!map.size || map.size % PROOF_SIZE)) {
		ret = error_set(err, CUZK_ERROR_INPUT, -EINVAL,
				"%s: %zu bytes, not a multiple of %u", path, map.size, PROOF_SIZE);
		goto out;
	}
	p->n = json ? 1 : map.size / PROOF_SIZE;
	p->proof = calloc(p->n, sizeof(*p->proof));
	if (!p->proof) {
		ret = error_nomem(err, "the proofs");
		goto out;
	}
	if (json) {
		ret = snarkjs_get_proof(p->proof, path, (const char *)map.data, map.size, err);
		goto out;
	}
	for (i = 0; !ret && i < p->n; i++) {
		struct cuzk_error why;

		ret = proof_read(&p->proof[i], map.data + i * PROOF_SIZE, &why);
		if (ret)
			error_set(err, CUZK_ERROR_INPUT, ret, "%s: at %zu: %s", path,
				  i * PROOF_SIZE, why.text);
	}
out:
	file_unmap(&map);
	return ret;
}

static int read_inputs(struct proofs *p, const char *path, bool big_endian, struct cuzk_error *err)
{
	struct file_map map;
	size_t i, n;
	int ret;

	ret = file_map(&map, path, CUZK_ERROR_INPUT, err);
	if (ret)
		return ret;
	if (is_json(&map, '[')) {
		ret = snarkjs_get_public(&p->inputs, &n, path, (const char *)map.data, map.size,
					 err);
		if (ret)
			goto out;
	} else if (map.size % 32) {
		ret = error_set(err, CUZK_ERROR_INPUT, -EINVAL,
				"%s: %zu bytes, not a multiple of 32", path, map.size);
		goto out;
	} else {
		n = map.size / 32;
		p->inputs = calloc(n + 1, sizeof(*p->inputs));
		if (!p->inputs) {
			ret = error_nomem(err, "the inputs");
			goto out;
		}
		for (i = 0; i < n; i++) {
			ret = big_endian ? fr_from_bytes_be(&p->inputs[i], map.data + 32 * i) :
			      fr_from_bytes_le(&p->inputs[i], map.data + 32 * i);
			if (ret) {
				ret = error_set(err, CUZK_ERROR_INPUT, ret,
						"%s: input %zu is not below the modulus", path, i);
				goto out;
			}
		}
	}
	if (n != p->n * p->n_inputs)
		ret = error_set(err, CUZK_ERROR_INPUT, -EINVAL,
				"%s: %zu inputs; %zu proofs of %zu inputs each need %zu", path, n,
				p->n, p->n_inputs, p->n * p->n_inputs);
out:
	file_unmap(&map);
	return ret;
}

/* Prints the verdict; 0: all valid, 1: not, -errno. */
static int judge(struct command *cmd, const struct pvk *pvk, const struct proofs *p)
{
	bool first = true;
	int ret, valid = 0;
	size_t i;

	if (p->n > 1)
		valid = pvk_verify_batch(pvk, p->proof, p->n, p->inputs, p->n_inputs);
	else
		valid = pvk_verify(pvk, p->proof, p->inputs, p->n_inputs);
	if (valid < 0)
		return valid;
	command_clear(cmd);
	printf("{\n  \"valid\": %s,\n  \"proofs\": %zu", valid ? "true" : "false", p->n);
	if (!valid && p->n > 1) {
		printf(",\n  \"invalid\": [");
		for (i = 0; i < p->n; i++) {
			ret = pvk_verify(pvk, &p->proof[i], p->inputs + i * p->n_inputs,
					 p->n_inputs);
			if (ret == 1)
				continue;
			printf("%s%zu", first ? "" : ", ", i);
			first = false;
		}
		putchar(']');
	}
	printf("\n}\n");
	return !valid;
}

int command_verify(struct command *cmd, int argc, char **argv)
{
	const char *vk_path = NULL, *proof_path = NULL, *inputs_path = NULL;
	bool big_endian = false;
	const struct command_option options[] = {
		{ "--vk", &vk_path }, { "--proof", &proof_path }, { "--inputs", &inputs_path },
		{ "--big-endian", NULL, &big_endian }, { NULL },
	};
	struct cuzk_error err = { .size = sizeof(err) };
	struct proofs p = { NULL };
	struct pvk *pvk = NULL;
	struct vk vk;
	int ret;

	if (command_parse(cmd, argc, argv, options, NULL, 0) < 0)
		return 2;
	if (!vk_path || !proof_path || !inputs_path)
		return command_usage(cmd, "--vk FILE --proof FILE --inputs FILE [--big-endian]");
	ret = read_vk(&vk, vk_path, &err);
	if (ret)
		return command_fail(cmd, &err);
	p.n_inputs = vk.n_ic - 1;
	ret = read_proofs(&p, proof_path, &err);
	if (!ret)
		ret = read_inputs(&p, inputs_path, big_endian, &err);
	if (!ret && pvk_open(&pvk, &vk))
		ret = error_nomem(&err, "the verifying key");
	if (!ret) {
		ret = judge(cmd, pvk, &p);
		if (ret < 0)
			error_set(&err, CUZK_ERROR_INTERNAL, ret, "verifying: %s", strerror(-ret));
		else if (ret)
			error_set(&err, CUZK_ERROR_INPUT, ret, "%s: %s", proof_path,
				  p.n > 1 ? "a proof does not verify" :
					    "the proof does not verify");
	}
	pvk_close(pvk);
	vk_fini(&vk);
	free(p.proof);
	free(p.inputs);
	return ret ? command_fail(cmd, &err) : 0;
}
