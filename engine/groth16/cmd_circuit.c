/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* cmd_circuit.c - the commands circuit digest, circuit list and circuit cache */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "engine/circuits/cache.h"
#include "engine/cs/digest.h"
#include "engine/cs/system.h"
#include "engine/groth16/command.h"
#include "engine/groth16/params_name.h"

int command_print_digest(const struct cs *cs, const struct cs_witness *w, struct cuzk_error *err)
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
	ret = command_print_digest(cs, NULL, &err);
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

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

/* Has the file of name in dir written anew and read back; prints what both cost. */
static int cache_circuit(struct command *cmd, const char *dir, const char *name, bool first,
			 struct cuzk_error *err)
{
	double start, build, load;
	char path[4096], text[256] = "";
	struct circuit circuit;
	struct cs *cs, *back;
	struct stat st;
	int ret;

	if (circuit_find(name, &circuit))
		return error_set(err, CUZK_ERROR_INPUT, -ENOENT, "no circuit has the name %s", name);
	if (cache_path(dir, &circuit, path, sizeof(path)))
		return error_set(err, CUZK_ERROR_INPUT, -ENAMETOOLONG, "the folder's name is too long");
	progress_tell(&cmd->progress, name, 0, 0);
	start = seconds();
	if (circuit_build(&circuit, &cs))
		return error_nomem(err, "the constraint system");
	build = seconds() - start;
	ret = cs_file_write(cs, circuit.name, path, text);
	start = seconds();
	if (!ret)
		ret = cs_file_map(path, circuit.name, &back, text);
	load = seconds() - start;
	if (!ret && stat(path, &st)) {
		ret = -errno;
		snprintf(text, sizeof(text), "%.160s: %s", path, strerror(errno));
		cs_free(back);
	}
	if (ret) {
		cs_free(cs);
		return error_set(err, CUZK_ERROR_RESOURCE, ret, "%s", text);
	}
	command_clear(cmd);
	printf("%s\n  {\"circuit\": \"%s\", \"file\": ", first ? "[" : ",", circuit.name);
	command_put_string(path);
	printf(", \"file_bytes\": %lld, \"memory_bytes\": %zu, \"n_constraints\": %" PRIu64
	       ", \"build_seconds\": %.3f, \"load_seconds\": %.3f}", (long long)st.st_size,
	       cs_size(back), back->n_rows, build, load);
	cs_free(back);
	cs_free(cs);
	return 0;
}

int command_circuit_cache(struct command *cmd, int argc, char **argv)
{
	const char *dir = NULL, *names[64];
	const struct command_option options[] = { { "--cache", &dir }, { NULL } };
	struct cuzk_error err = { .size = sizeof(err) };
	int n, i, ret = 0;

	n = command_parse(cmd, argc, argv, options, names, 64);
	if (n < 0)
		return 2;
	dir = cache_dir(dir);
	if (!dir || !n)
		return command_usage(cmd, "--cache DIR NAME...");
	if (mkdir(dir, 0755) && errno != EEXIST) {
		error_set(&err, CUZK_ERROR_RESOURCE, -errno, "%s: %s", dir, strerror(errno));
		return command_fail(cmd, &err);
	}
	for (i = 0; i < n && !ret; i++)
		ret = cache_circuit(cmd, dir, names[i], !i, &err);
	if (i > 1 || !ret)
		printf("\n]\n");
	return ret ? command_fail(cmd, &err) : 0;
}
