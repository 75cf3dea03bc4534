/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* cmd_params.c - the commands params make and params check */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/circuits/circuit.h"
#include "engine/cs/system.h"
#include "engine/groth16/command.h"
#include "engine/groth16/coset.h"
#include "engine/groth16/digest.h"
#include "engine/groth16/make.h"
#include "engine/groth16/params.h"
#include "engine/groth16/params_name.h"
#include "engine/groth16/r1cs.h"

#define PATH_SIZE 4096

/* What parameters are made for: a circuit of ours, or the system of a file. */
struct target {
	struct cs *built;
	struct flat_cs *flat;
	const struct cs *cs;
	char params[PATH_SIZE], vk[PATH_SIZE];
};

static int join(char out[PATH_SIZE], const char *dir, const char *name, const char *suffix,
		struct cuzk_error *err)
{
	int n = snprintf(out, PATH_SIZE, "%s/%s%s", dir, name, suffix);

	return n < PATH_SIZE ? 0 : error_set(err, CUZK_ERROR_INPUT, -ENAMETOOLONG,
					     "%s: the path is too long", dir);
}

static int target_circuit(struct target *t, const char *name, const char *dir,
			  struct cuzk_error *err)
{
	char file[PARAMS_NAME_MAX];
	struct circuit circuit;
	int ret;

	if (circuit_find(name, &circuit) || params_name(name, "params", file) < 0)
		return error_set(err, CUZK_ERROR_INPUT, -ENOENT, "no circuit has the name %s",
				 name);
	ret = join(t->params, dir, file, "", err);
	if (ret)
		return ret;
	params_name(name, "vk", file);
	ret = join(t->vk, dir, file, "", err);
	if (ret)
		return ret;
	if (circuit_build(&circuit, &t->built))
		return error_nomem(err, "the constraint system");
	t->cs = t->built;
	return 0;
}

static int target_r1cs(struct target *t, const char *path, const char *dir, struct cuzk_error *err)
{
	const char *slash = strrchr(path, '/'), *dot;
	char name[256];
	struct file_map map;
	struct r1cs r;
	int ret;

	slash = slash ? slash + 1 : path;
	dot = strrchr(slash, '.');
	snprintf(name, sizeof(name), "%.*s", dot ? (int)(dot - slash) : (int)strlen(slash), slash);
	ret = join(t->params, dir, name, ".params", err);
	if (!ret)
		ret = join(t->vk, dir, name, ".vk", err);
	if (!ret)
		ret = file_map(&map, path, CUZK_ERROR_INPUT, err);
	if (ret)
		return ret;
	ret = r1cs_parse(&r, path, map.data, map.size, err);
	if (!ret)
		ret = r1cs_to_cs(&r, &t->flat, err);
	file_unmap(&map);
	if (!ret)
		t->cs = flat_cs_get(t->flat);
	return ret;
}

static void target_fini(struct target *t)
{
	cs_free(t->built);
	flat_cs_close(t->flat);
}

static int make_files(struct command_device *dev, const struct target *t,
		      const struct toxic_waste *toxic, enum gpu_h_basis basis,
		      struct make_result *result,
		      struct cuzk_error *err)
{
	struct file_new params, vk;
	int ret;

	ret = file_create(&params, t->params, err);
	if (ret)
		return ret;
	ret = file_create(&vk, t->vk, err);
	if (ret)
		goto err_discard;
	ret = params_make(t->cs, toxic, basis, dev->ops, dev->gpu, dev->pool, params.f, vk.f,
			  &dev->cmd->progress, result, err);
	if (!ret)
		ret = file_commit(&params, err);
	if (!ret)
		ret = file_commit(&vk, err);
	file_discard(&vk);
err_discard:
	file_discard(&params);
	return ret;
}

int command_params_make(struct command *cmd, int argc, char **argv)
{
	const char *toxic_text = NULL, *out = NULL, *r1cs = NULL, *name = NULL;
	bool snarkjs = false, on_device = false;
	const struct command_option options[] = {
		{ "--toxic", &toxic_text }, { "--out", &out }, { "--r1cs", &r1cs },
		{ "--snarkjs", NULL, &snarkjs }, { "--on-device", NULL, &on_device }, { NULL },
	};
	struct cuzk_error err = { .size = sizeof(err) };
	struct target t = { NULL };
	struct command_device dev;
	struct make_result result;
	struct toxic_waste toxic;
	int n, ret;

	n = command_parse(cmd, argc, argv, options, &name, 1);
	if (n < 0)
		return 2;
	if (!out || (n == 1) == (r1cs != NULL))
		return command_usage(
			cmd,
			"NAME or --r1cs FILE, [--toxic ALPHA,BETA,GAMMA,DELTA,TAU], [--snarkjs], "
			"[--on-device], --out DIR");
	if (on_device && cmd->backend && strcmp(cmd->backend, "gpu"))
		return command_usage(cmd, "--on-device and --backend %s exclude each other",
				     cmd->backend);
	if (on_device)
		cmd->backend = "gpu";
	ret = toxic_text ? toxic_parse(&toxic, toxic_text, &err) : toxic_random(&toxic, &err);
	if (ret)
		return command_fail(cmd, &err);
	if (mkdir(out, 0755) && errno != EEXIST) {
		error_errno(&err, CUZK_ERROR_RESOURCE, -errno, "create", out);
		return command_fail(cmd, &err);
	}
	ret = r1cs ? target_r1cs(&t, r1cs, out, &err) : target_circuit(&t, name, out, &err);
	if (ret)
		goto out;
	ret = command_open_device(cmd, &dev, &err);
	if (ret)
		goto out;
	ret = make_files(&dev, &t, &toxic, snarkjs ? GPU_H_ODD_COSET : GPU_H_POWERS, &result,
			 &err);
	command_close_device(&dev);
	if (ret)
		goto out;
	command_clear(cmd);
	printf("{\n  \"circuit\": ");
	command_put_string(name ? name : r1cs);
	printf(",\n  \"params_file\": ");
	command_put_string(t.params);
	printf(",\n  \"params_size\": %" PRIu64 ",\n  \"params_sha256\": \"%s\",\n  \"vk_file\": ",
	       result.params.size, result.params.sha256);
	command_put_string(t.vk);
	printf(",\n  \"vk_size\": %" PRIu64 ",\n  \"vk_sha256\": \"%s\",\n", result.vk.size,
	       result.vk.sha256);
	printf("  \"ic\": %" PRIu64 ",\n  \"n_h\": %" PRIu64 ",\n  \"n_l\": %" PRIu64
	       ",\n  \"n_a\": %" PRIu64 ",\n  \"n_b\": %" PRIu64 "\n}\n",
	       result.n_ic, result.n_h, result.n_l, result.n_a, result.n_b);
out:
	target_fini(&t);
	return ret ? command_fail(cmd, &err) : 0;
}

struct check_options {
	const char *dir, *manifest, *verdicts;
	int level;
};

/* What was rearranged of it, where it was. */
static int check_coset(struct command *cmd, const char *params_path, const struct params *params,
		       struct cuzk_error *err)
{
	char path[PATH_SIZE + sizeof(COSET_SUFFIX)];
	struct coset c;
	int ret;

	snprintf(path, sizeof(path), "%s" COSET_SUFFIX, params_path);
	ret = coset_open(&c, path, params, err);
	if (ret)
		return ret == -ENOENT ? 0 : ret;
	ret = coset_check(&c, path, &cmd->progress, err);
	coset_close(&c);
	return ret;
}

/* One circuit's file; digest is set when it could be read. */
static int check_file(struct command *cmd, const struct check_options *o, const char *circuit_name_,
		      const char *path, struct tpool *pool, uint64_t *size, char digest[DIGEST_HEX],
		      struct cuzk_error *err)
{
	const char *name = strrchr(path, '/') + 1;
	char want[DIGEST_HEX];
	struct circuit circuit;
	struct params params;
	struct cs *cs;
	int ret;

	ret = params_open(&params, path, err);
	if (ret)
		return ret;
	*size = params.size;
	ret = circuit_find(circuit_name_, &circuit) || circuit_build(&circuit, &cs) ? -ENOMEM : 0;
	if (ret) {
		error_nomem(err, "the constraint system");
		goto out;
	}
	ret = params_match(&params, path, cs, err);
	cs_free(cs);
	if (ret)
		goto out;
	ret = digest_map_cached(&params.map, o->verdicts, &cmd->progress, digest);
	if (ret) {
		error_set(err, CUZK_ERROR_RESOURCE, ret, "%s: digest: %s", path, strerror(-ret));
		goto out;
	}
	if (o->manifest) {
		ret = manifest_find(o->manifest, name, want, err);
		if (ret == -ENOENT)
			error_set(err, CUZK_ERROR_PARAMS, ret, "%s is not in the manifest", path);
		else if (!ret && strcmp(want, digest))
			ret = error_set(err, CUZK_ERROR_PARAMS, -EBADMSG,
					"%s: its BLAKE2b digest is %s, the manifest has %s", path,
					digest, want);
		if (ret)
			goto out;
	}
	ret = params_check_points(&params, path, o->level, pool, &cmd->progress, err);
	if (!ret)
		ret = check_coset(cmd, path, &params, err);
out:
	params_close(&params);
	return ret;
}

/* A line of the report. 1 when the file is there and bad. */
static int report(struct command *cmd, const struct check_options *o, const char *circuit,
		  struct tpool *pool, bool named, bool *first)
{
	struct cuzk_error err = { .size = sizeof(err) };
	char file[PARAMS_NAME_MAX], path[PATH_SIZE], digest[DIGEST_HEX] = "";
	const char *state;
	uint64_t size = 0;
	int ret;

	if (params_name(circuit, "params", file) < 0) {
		error_set(&err, CUZK_ERROR_INPUT, -ENOENT, "no circuit has the name %s", circuit);
		return command_fail(cmd, &err);
	}
	if (join(path, o->dir, file, "", &err))
		return command_fail(cmd, &err);
	if (!named && access(path, F_OK))
		return 0;
	ret = check_file(cmd, o, circuit, path, pool, &size, digest, &err);
	command_clear(cmd);
	printf("%s\n  {\"circuit\": \"%s\", \"file\": ", *first ? "" : ",", circuit);
	*first = false;
	command_put_string(path);
	state = ret == -ENOENT ? "absent" : ret ? "bad" : "good";
	printf(", \"state\": \"%s\", \"size\": %" PRIu64, state, size);
	if (*digest)
		printf(", \"blake2b\": \"%s\"", digest);
	if (ret) {
		printf(", \"reason\": ");
		command_put_string(err.text);
	}
	putchar('}');
	return ret ? command_fail(cmd, &err) : 0;
}

int command_params_check(struct command *cmd, int argc, char **argv)
{
	struct check_options o = { .dir = "/var/tmp/filecoin-proof-parameters", .level = 1 };
	bool full = false, first = true;
	const struct command_option options[] = {
		{ "--params", &o.dir },
		{ "--manifest", &o.manifest },
		{ "--verdicts", &o.verdicts },
		{ "--full", NULL, &full },
		{ NULL },
	};
	struct cuzk_error err = { .size = sizeof(err) };
	const char *names[64];
	struct cuzk_device desc;
	struct tpool *pool;
	int n, i, bad = 0;

	n = command_parse(cmd, argc, argv, options, names, 64);
	if (n < 0)
		return 2;
	command_device_desc(cmd, &desc);
	o.level = full ? 2 : 1;
	if (tpool_open(&pool, desc.threads))
		pool = NULL;
	putchar('[');
	if (n)
		for (i = 0; i < n; i++)
			bad |= report(cmd, &o, names[i], pool, true, &first);
	else
		for (i = 0; circuit_name(i); i++)
			bad |= report(cmd, &o, circuit_name(i), pool, false, &first);
	printf("\n]\n");
	tpool_close(pool);
	if (!n && first) {
		error_set(&err, CUZK_ERROR_PARAMS, -ENOENT, "%s: no parameters of a known circuit", o.dir);
		return command_fail(cmd, &err);
	}
	return bad;
}
