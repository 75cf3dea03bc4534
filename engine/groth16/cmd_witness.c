/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* cmd_witness.c - the commands check and witness */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/circuits/cache.h"
#include "engine/cs/system.h"
#include "engine/groth16/command.h"
#include "engine/groth16/request.h"
#include "engine/vanilla/vanilla.h"

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

	if (command_parse(cmd, argc, argv, options, NULL, 0) < 0)
		return 2;
	command_device_desc(cmd, &desc);
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

/* What the command witness was asked for. */
struct witness_order {
	uint32_t partition;
	bool check;		/* evaluate and name a failing row; no digests */
	const char *alter;	/* "aux:N" or "input:N", or NULL */
	const char *cache;
};

/* One variable becomes another value: which constraint notices? */
static int alter(const struct cs *cs, struct cs_witness *w, const char *text,
		 struct cuzk_error *err)
{
	bool input = !strncmp(text, "input:", 6);
	const char *number = strchr(text, ':');
	unsigned long i = 0;
	char *end = NULL;

	if (number && (input || !strncmp(text, "aux:", 4)))
		i = strtoul(++number, &end, 10);
	if (!end || *number < '0' || *number > '9' || *end ||
	    i >= (input ? cs->n_inputs : cs->n_aux))
		return error_set(err, CUZK_ERROR_INPUT, -EINVAL,
				 "--alter %s: expected aux:N, N below %u, or input:N, N below %u",
				 text, cs->n_aux, cs->n_inputs);
	cs_witness_alter(cs, w, input ? CS_VAR_INPUT | i : i);
	return 0;
}

static int check_rows(struct command *cmd, const char *circuit, const struct cs *cs,
		      const struct cs_witness *w, const struct witness_order *order,
		      struct tpool *pool, struct cuzk_error *err)
{
	char path[512];
	uint64_t row;

	progress_tell(&cmd->progress, "evaluating", 0, 0);
	row = cs_first_bad_row(cs, w, pool);
	if (row != UINT64_MAX) {
		cs_row_path(cs, row, path, sizeof(path));
		return error_set(err, CUZK_ERROR_INTERNAL, -EDOM,
				 "%s, partition %u: constraint %" PRIu64 " of %" PRIu64
				 " is not satisfied: %s", circuit, order->partition, row,
				 cs->n_rows, path);
	}
	command_clear(cmd);
	printf("{\n  \"circuit\": \"%s\",\n  \"partition\": %u,\n  \"n_constraints\": %" PRIu64
	       ",\n  \"satisfied\": true\n}\n", circuit, order->partition, cs->n_rows);
	return 0;
}

static int witness(struct command *cmd, const struct vanilla *v, const struct witness_order *order,
		   struct tpool *pool, struct cuzk_error *err)
{
	char text[256] = "", note[CACHE_NOTE];
	struct circuit circuit;
	struct cs_witness w;
	struct cs *cs;
	bool mapped;
	int ret;

	ret = circuit_find(vanilla_circuit(v), &circuit);
	if (ret)
		return error_set(err, CUZK_ERROR_INTERNAL, ret, "no circuit has the name %s",
				 vanilla_circuit(v));
	if (cache_load(cache_dir(order->cache), &circuit, &cs, &mapped, note))
		return error_nomem(err, "the constraint system");
	if (*note) {
		command_clear(cmd);
		fprintf(stderr, "%s: %s\n", cmd->name, note);
	}
	progress_tell(&cmd->progress, "witness", 0, 0);
	ret = circuit_witness(&circuit, cs, vanilla_circuit_input(v, order->partition), pool, &w,
			      text);
	if (ret) {
		error_set(err, CUZK_ERROR_INTERNAL, ret, "witness: %s",
			  *text ? text : strerror(-ret));
		goto out;
	}
	if (order->alter)
		ret = alter(cs, &w, order->alter, err);
	if (!ret && order->check) {
		ret = check_rows(cmd, circuit.name, cs, &w, order, pool, err);
	} else if (!ret) {
		progress_tell(&cmd->progress, "digesting", 0, 0);
		ret = command_print_digest(cs, &w, err);
	}
	cs_witness_fini(&w);
out:
	cs_free(cs);
	return ret;
}

int command_witness(struct command *cmd, int argc, char **argv)
{
	const char *request = NULL, *partition = "0";
	struct witness_order order = { 0 };
	const struct command_option options[] = {
		{ "--request", &request }, { "--partition", &partition },
		{ "--check", NULL, &order.check }, { "--alter", &order.alter },
		{ "--cache", &order.cache }, { NULL },
	};
	struct cuzk_error err = { .size = sizeof(err) };
	struct cuzk_device desc;
	struct tpool *pool = NULL;
	struct vanilla *v;
	uint64_t k;
	int ret;

	if (command_parse(cmd, argc, argv, options, NULL, 0) < 0)
		return 2;
	command_device_desc(cmd, &desc);
	if (!request || command_number(partition, UINT32_MAX, &k))
		return command_usage(cmd,
				     "--request FILE [--partition K] [--check] [--alter VARIABLE]");
	if (tpool_open(&pool, desc.threads))
		pool = NULL;
	ret = admit(cmd, request, pool, &v, &err);
	if (!ret) {
		order.partition = k;
		if (k >= vanilla_partitions(v))
			ret = error_set(&err, CUZK_ERROR_INPUT, -EINVAL, "partition %" PRIu64 " of %u", k,
					vanilla_partitions(v));
		else
			ret = witness(cmd, v, &order, pool, &err);
		vanilla_free(v);
	}
	tpool_close(pool);
	return ret ? command_fail(cmd, &err) : 0;
}
