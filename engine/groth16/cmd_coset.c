/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* cmd_coset.c - the command params rearrange */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "engine/circuits/circuit.h"
#include "engine/cs/system.h"
#include "engine/groth16/command.h"
#include "engine/groth16/coset_make.h"
#include "engine/groth16/params_name.h"

struct rearrange {
	const char *dir;
	char path[4096], out[4096 + sizeof(COSET_SUFFIX)];
	struct cs *cs;
	struct params params;
	const struct toxic_waste *toxic;	/* NULL: from the parameters alone */
};

static int open_source(struct rearrange *r, const char *name, struct cuzk_error *err)
{
	char file[PARAMS_NAME_MAX];
	struct circuit circuit;
	int ret;

	if (circuit_find(name, &circuit) || params_name(name, "params", file) < 0)
		return error_set(err, CUZK_ERROR_INPUT, -ENOENT, "no circuit has the name %s",
				 name);
	if (snprintf(r->path, sizeof(r->path), "%s/%s", r->dir, file) >= (int)sizeof(r->path))
		return error_set(err, CUZK_ERROR_INPUT, -ENAMETOOLONG, "%s: the path is too long",
				 r->dir);
	sprintf(r->out, "%s" COSET_SUFFIX, r->path);
	ret = params_open(&r->params, r->path, err);
	if (ret)
		return ret;
	if (circuit_build(&circuit, &r->cs))
		return error_nomem(err, "the constraint system");
	return params_match(&r->params, r->path, r->cs, err);
}

static int write_file(struct command *cmd, const struct rearrange *r, struct cuzk_error *err)
{
	struct coset_source from = {
		.cs = r->cs, .params = &r->params, .name = r->path, .progress = &cmd->progress,
	};
	struct command_device dev;
	struct file_new out;
	int ret;

	ret = command_open_device(cmd, &dev, err);
	if (ret)
		return ret;
	from.ops = dev.ops;
	from.gpu = dev.gpu;
	from.pool = dev.pool;
	ret = file_create(&out, r->out, err);
	if (!ret) {
		ret = r->toxic ? coset_make_toxic(&from, r->toxic, out.f, err) :
				 coset_make(&from, out.f, err);
		if (!ret)
			ret = file_commit(&out, err);
		file_discard(&out);
	}
	command_close_device(&dev);
	return ret;
}

int command_params_rearrange(struct command *cmd, int argc, char **argv)
{
	struct rearrange r = { .dir = "/var/tmp/filecoin-proof-parameters" };
	const char *toxic_text = NULL, *name = NULL;
	const struct command_option options[] = {
		{ "--params", &r.dir }, { "--toxic", &toxic_text }, { NULL },
	};
	struct cuzk_error err = { .size = sizeof(err) };
	struct toxic_waste toxic;
	int n, ret = 0;

	n = command_parse(cmd, argc, argv, options, &name, 1);
	if (n < 0)
		return 2;
	if (n != 1)
		return command_usage(cmd, "NAME, [--params DIR], [--toxic ALPHA,BETA,GAMMA,DELTA,TAU]");
	if (toxic_text) {
		ret = toxic_parse(&toxic, toxic_text, &err);
		r.toxic = &toxic;
	}
	if (!ret)
		ret = open_source(&r, name, &err);
	if (!ret)
		ret = write_file(cmd, &r, &err);
	if (!ret) {
		command_clear(cmd);
		printf("{\n  \"circuit\": ");
		command_put_string(name);
		printf(",\n  \"file\": ");
		command_put_string(r.out);
		printf(",\n  \"inputs\": %" PRIu32 ",\n  \"n_h\": %" PRIu64 ",\n  \"n_l\": %" PRIu32 "\n}\n",
		       r.cs->n_inputs, UINT64_C(1) << r.cs->log_domain, r.cs->n_aux);
	}
	cs_free(r.cs);
	if (r.params.data)
		params_close(&r.params);
	return ret ? command_fail(cmd, &err) : 0;
}
