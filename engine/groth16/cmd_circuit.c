/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* cmd_circuit.c - the commands circuit digest, circuit list, witness and check */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "engine/circuits/circuit.h"
#include "engine/cs/digest.h"
#include "engine/cs/system.h"
#include "engine/groth16/command.h"
#include "engine/groth16/params_name.h"
#include "engine/groth16/request.h"
#include "engine/vanilla/vanilla.h"

static int print_digest(const struct cs *cs, const struct cs_witness *w, struct cuzk_error *err)
{
	struct cs_witness_digest wd;
	struct cs_shape_digest sd;
	int ret;

	ret = cs_digest_shape(cs, &sd);
	if (ret)
		return error_set(err, CUZK_ERROR_RESOURCE, ret, "digest: %s", strerror(-ret));
	if (w) {
		ret = cs_digest_witness(cs, w, &wd);
		if (ret) {
			cs_shape_digest_fini(&sd);
			return error_set(err, CUZK_ERROR_RESOURCE, ret, "digest: %s",
					 strerror(-ret));
		}
	}
	ret = cs_digest_print(stdout, &sd, w ? &wd : NULL);
	putchar('\n');
	if (ret)
		error_set(err, CUZK_ERROR_RESOURCE, ret, "stdout: %s", strerror(-ret));
	cs_shape_digest_fini(&sd);
	if (w)
		cs_witness_digest_fini(&wd);
	return ret;
}

int command_circuit_digest(struct command *cmd, int argc, char **argv)
{
	const struct command_option options[] = { { NULL } };
	struct cuzk_error err = { .size = sizeof(err) };
	struct circuit circuit;
	const char *name = NULL;
	struct cs *cs;
	int n, ret;

	n = command_parse(cmd, argc, argv, options, &name, 1);
	if (n < 0)
		return 2;
	if (n != 1)
		return command_usage(cmd, "NAME");
	if (circuit_find(name, &circuit)) {
		error_set(&err, CUZK_ERROR_INPUT, -ENOENT, "no circuit has the name %s", name);
		return command_fail(cmd, &err);
	}
	progress_tell(&cmd->progress, "building", 0, 0);
	if (circuit_build(&circuit, &cs)) {
		error_nomem(&err, "the constraint system");
		return command_fail(cmd, &err);
	}
	progress_tell(&cmd->progress, "digesting", 0, 0);
	ret = print_digest(cs, NULL, &err);
	cs_free(cs);
	return ret ? command_fail(cmd, &err) : 0;
}

int command_circuit_list(struct command *cmd, int argc, char **argv)
{
	static const char *const kinds[] = {
		[CIRCUIT_TINY] = "tiny", [CIRCUIT_WINNING] = "winning", [CIRCUIT_WINDOW] = "window",
		[CIRCUIT_POREP] = "porep", [CIRCUIT_UPDATE] = "update",
		[CIRCUIT_UPDATE_POSEIDON] = "update-poseidon",
	};
	const struct command_option options[] = { { NULL } };
	char file[PARAMS_NAME_MAX], identifier[PARAMS_IDENTIFIER_MAX];
	struct circuit c;
	size_t i;

	if (command_parse(cmd, argc, argv, options, NULL, 0) < 0)
		return 2;
	putchar('[');
	for (i = 0; circuit_name(i); i++) {
		if (circuit_find(circuit_name(i), &c) ||
		    params_name(circuit_name(i), "params", file) < 0)
			continue;
		printf("%s\n  {\"circuit\": \"%s\", \"kind\": \"%s\"", i ? "," : "", c.name,
		       kinds[c.kind]);
		if (c.kind != CIRCUIT_TINY)
			printf(", \"sector_size\": %llu, \"partitions\": %u", 32ull << c.log_nodes,
			       c.partitions);
		printf(", \"params\": \"%s\"", file);
		if (params_identifier(c.name, identifier) > 0) {
			printf(", \"identifier\": ");
			command_put_string(identifier);
		}
		putchar('}');
	}
	printf("\n]\n");
	return 0;
}

/* The request of a file, admitted. */
static int admit(struct command *cmd, const char *path, struct tpool *pool, struct vanilla **v,
		 struct cuzk_error *err)
{
	struct cuzk_request *req;
	int ret;

	ret = request_read(path, &req, err);
	if (ret)
		return ret;
	progress_tell(&cmd->progress, "checking", 0, 0);
	ret = vanilla_admit(req, pool, v, NULL, err);
	request_free(req);
	return ret;
}

int command_check(struct command *cmd, int argc, char **argv)
{
	const char *request = NULL;
	const struct command_option options[] = { { "--request", &request }, { NULL } };
	struct cuzk_error err = { .size = sizeof(err) };
	struct cuzk_device desc;
	struct tpool *pool = NULL;
	struct vanilla *v;
	int ret;

	if (command_parse(cmd, argc, argv, options, NULL, 0) < 0 || command_device_desc(cmd, &desc))
		return 2;
	if (!request)
		return command_usage(cmd, "--request FILE");
	if (tpool_open(&pool, desc.threads))
		pool = NULL;
	ret = admit(cmd, request, pool, &v, &err);
	tpool_close(pool);
	if (ret)
		return command_fail(cmd, &err);
	command_clear(cmd);
	printf("{\n  \"circuit\": \"%s\",\n  \"partitions\": %u\n}\n", vanilla_circuit(v),
	       vanilla_partitions(v));
	vanilla_free(v);
	return 0;
}

static int witness(struct command *cmd, const struct vanilla *v, uint32_t partition,
		   struct tpool *pool, struct cuzk_error *err)
{
	struct circuit circuit;
	struct cs_witness w;
	char text[256] = "";
	struct cs *cs;
	int ret;

	ret = circuit_find(vanilla_circuit(v), &circuit);
	if (ret)
		return error_set(err, CUZK_ERROR_INTERNAL, ret, "no circuit has the name %s",
				 vanilla_circuit(v));
	if (circuit_build(&circuit, &cs))
		return error_nomem(err, "the constraint system");
	progress_tell(&cmd->progress, "witness", 0, 0);
	ret = circuit_witness(&circuit, cs, vanilla_circuit_input(v, partition), pool, &w, text);
	if (ret) {
		error_set(err, CUZK_ERROR_INTERNAL, ret, "witness: %s",
			  *text ? text : strerror(-ret));
	} else {
		progress_tell(&cmd->progress, "digesting", 0, 0);
		ret = print_digest(cs, &w, err);
		cs_witness_fini(&w);
	}
	cs_free(cs);
	return ret;
}

int command_witness(struct command *cmd, int argc, char **argv)
{
	const char *request = NULL, *partition = "0";
	const struct command_option options[] = {
		{ "--request", &request }, { "--partition", &partition }, { NULL },
	};
	struct cuzk_error err = { .size = sizeof(err) };
	struct cuzk_device desc;
	struct tpool *pool = NULL;
	struct vanilla *v;
	unsigned long k;
	char *end;
	int ret;

	if (command_parse(cmd, argc, argv, options, NULL, 0) < 0 || command_device_desc(cmd, &desc))
		return 2;
	k = strtoul(partition, &end, 10);
	if (!request || !*partition || *end)
		return command_usage(cmd, "--request FILE [--partition K]");
	if (tpool_open(&pool, desc.threads))
		pool = NULL;
	ret = admit(cmd, request, pool, &v, &err);
	if (!ret) {
		if (k >= vanilla_partitions(v))
			ret = error_set(&err, CUZK_ERROR_INPUT, -EINVAL, "partition %lu of %u", k,
					vanilla_partitions(v));
		else
			ret = witness(cmd, v, k, pool, &err);
		vanilla_free(v);
	}
	tpool_close(pool);
	return ret ? command_fail(cmd, &err) : 0;
}
