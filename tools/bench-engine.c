/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* bench-engine.c - what the commands that measure the engine's inside share */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/cs/system.h"
#include "engine/groth16/params_name.h"
#include "engine/groth16/request.h"
#include "tools/bench-engine.h"
#include "tools/bench.h"

/* What a circuit proves and the registered proof of its newest variant. */
static int registered(const char *kind, enum cuzk_proof_kind *proof_kind, unsigned int *number)
{
	static const char *const sizes[] = { "2k", "8m", "512m", "32g", "64g" };
	const char *size = strrchr(kind, '-');
	struct circuit c;
	unsigned int i;

	if (!size || circuit_find(kind, &c))
		return -ENOENT;
	for (i = 0; i < 5 && strcmp(size + 1, sizes[i]); i++)
		;
	switch (c.kind) {
	case CIRCUIT_WINNING:
		*proof_kind = CUZK_KIND_WINNING_POST;
		*number = i;
		return 0;
	case CIRCUIT_WINDOW:
		*proof_kind = CUZK_KIND_WINDOW_POST;
		*number = 10 + i;
		return 0;
	case CIRCUIT_POREP:
		*proof_kind = CUZK_KIND_POREP;
		*number = 5 + i;
		return 0;
	case CIRCUIT_UPDATE:
		*proof_kind = CUZK_KIND_UPDATE;
		*number = i;
		return 0;
	default:
		return -ENOENT;
	}
}

int bench_sample(const char *command, const char *kind, uint64_t seed, struct vanilla_sample **out)
{
	enum cuzk_proof_kind proof_kind;
	unsigned int number;
	int ret;

	if (registered(kind, &proof_kind, &number))
		return ctl_usage(command,
				 "%s: a kind is winning, window, porep or update with a size, "
				 "2k, 8m, 512m, 32g or 64g: porep-32g", kind);
	ret = vanilla_sample_make(proof_kind, number, 0, seed, out);
	return ret ? ctl_fail(command, "%s: a request: %s", kind, strerror(-ret)) : 0;
}

int bench_admit(const char *command, const char *kind, const char *file, uint64_t seed,
		struct tpool *pool, struct vanilla **out)
{
	struct cuzk_error err = { .size = sizeof(err) };
	struct vanilla_sample *sample = NULL;
	struct cuzk_request *req = NULL;
	int ret;

	if (file && request_read(file, &req, &err))
		return ctl_fail(command, "%s", err.text);
	if (!file) {
		ret = bench_sample(command, kind, seed, &sample);
		if (ret)
			return ret;
	}
	ret = vanilla_admit(file ? req : &sample->req, pool, out, NULL, &err);
	vanilla_sample_free(sample);
	request_free(req);
	if (ret)
		return ctl_fail(command, "%s", err.text);
	if (!kind || !strcmp(vanilla_circuit(*out), kind))
		return 0;
	ret = ctl_fail(command, "%s is a request for %s, not for %s", file, vanilla_circuit(*out),
		       kind);
	vanilla_free(*out);
	return ret;
}

int bench_circuit(const char *command, const char *kind, struct circuit *circuit, struct cs **cs)
{
	if (circuit_find(kind, circuit))
		return ctl_usage(command, "no circuit has the name %s", kind);
	if (circuit_build(circuit, cs))
		return ctl_fail(command, "%s: no memory for the constraint system", kind);
	return 0;
}

int bench_params_path(const char *command, const char *dir, const char *kind, char path[4096])
{
	char name[PARAMS_NAME_MAX];

	if (params_name(kind, "params", name) < 0)
		return ctl_usage(command, "no circuit has the name %s", kind);
	if (snprintf(path, 4096, "%s/%s", dir, name) >= 4096)
		return ctl_fail(command, "%s: the path is too long", dir);
	return 0;
}

int bench_pool(const char *command, const char *threads, struct tpool **pool)
{
	uint64_t n = 0;
	int ret;

	if (bench_number(command, "--threads", threads, 1, 4096, &n))
		return CTL_USAGE;
	ret = tpool_open(pool, n);
	return ret ? ctl_fail(command, "threads: %s", strerror(-ret)) : 0;
}

uint64_t bench_witness_bytes(const struct cs *cs)
{
	return sizeof(struct fr) * ((uint64_t)cs->n_inputs + cs->n_full) +
	       ((uint64_t)cs->n_aux + 63) / 64 * 8;
}

uint64_t bench_dense_witness_bytes(const struct cs *cs)
{
	return sizeof(struct fr) * ((uint64_t)cs->n_inputs + cs->n_aux);
}
