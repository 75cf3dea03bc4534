/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* engine.c - the Groth16 engine's table of operations and its entry */
#include <errno.h>
#include <string.h>

#include "engine/groth16/command.h"
#include "engine/groth16/instance.h"
#include "engine/groth16/urgent.h"

#define PARAMS_DIR "/var/tmp/filecoin-proof-parameters"

CUZK_MODINFO_ABI();
CUZK_MODINFO("name", "groth16");
CUZK_MODINFO("version", PACKAGE_VERSION);
CUZK_MODINFO("licence", "MIT OR Apache-2.0");
CUZK_MODINFO("description",
	     "Groth16 over BLS12-381 for Filecoin: PoRep, SnapDeals, WindowPoSt, WinningPoSt");
CUZK_MODINFO("param", "params_dir:path:" PARAMS_DIR ":folder of the .params files");
CUZK_MODINFO("param", "cache_dir:path::folder of the constraint systems, else the service's own");
CUZK_MODINFO("param", "manifest:path::parameters.json with the digest of each file");
CUZK_MODINFO("param", "verdicts:path::file that remembers digests, else verdicts in the folder of cache_dir");
CUZK_MODINFO(
	"param",
	"check:string:fast:points are tested to be on the curve (fast) or of the right order too (full)");
CUZK_MODINFO("param",
	     "scrub:int:86400:seconds between two readings of idle parameter files; 0: none");
CUZK_MODINFO("param",
	     "keep:bool:yes:loaded parameters are in memory that the host keeps over a restart");
CUZK_MODINFO(
	"param",
	"urgent_memory:size::device memory for proofs that cannot wait, else a twentieth and at most 1G; 0: they wait");

static const struct cuzk_param params[] = {
	{ .name = "params_dir", .type = CUZK_PARAM_PATH, .def = PARAMS_DIR,
	  .help = "folder of the .params files" },
	{ .name = "cache_dir", .type = CUZK_PARAM_PATH,
	  .help = "folder of the constraint systems, else the service's own" },
	{ .name = "manifest", .type = CUZK_PARAM_PATH,
	  .help = "parameters.json with the digest of each file" },
	{ .name = "verdicts", .type = CUZK_PARAM_PATH,
	  .help = "file that remembers digests, else verdicts in the folder of cache_dir" },
	{ .name = "check", .type = CUZK_PARAM_STRING, .def = "fast",
	  .help = "points are tested to be on the curve (fast) or of the right order too (full)" },
	{ .name = "scrub", .type = CUZK_PARAM_INT, .min = 0, .max = 31536000, .def = "86400",
	  .help = "seconds between two readings of idle parameter files; 0: none" },
	{ .name = "keep", .type = CUZK_PARAM_BOOL, .def = "yes",
	  .help = "loaded parameters are in memory that the host keeps over a restart" },
	{ .name = "urgent_memory", .type = CUZK_PARAM_SIZE, .max = INT64_MAX,
	  .help = "device memory for proofs that cannot wait, else a twentieth and at most 1G; 0: they wait" },
	{ .name = NULL },
};

static int engine_preload(struct cuzk_instance *inst, const char *circuit, bool *was,
			  uint64_t *bytes, struct cuzk_error *err)
{
	struct circuit_state *line = instance_find(inst, circuit);
	struct key *key;
	bool loaded;
	int ret;

	if (!line)
		return error_set(err, CUZK_ERROR_INPUT, -ENOENT, "no circuit has the name %s",
				 circuit);
	inst = urgent_home(inst, line);
	ret = key_get(inst, line, 0, &key, &loaded, err);
	if (ret)
		return ret;
	*was = loaded;
	*bytes = key->reserved;
	key_put(inst, key);
	return 0;
}

static int engine_evict(struct cuzk_instance *inst, const char *circuit, bool *was,
			uint64_t *bytes, struct cuzk_error *err)
{
	struct circuit_state *line = instance_find(inst, circuit);
	int ret;

	if (!line)
		return error_set(err, CUZK_ERROR_INPUT, -ENOENT, "no circuit has the name %s",
				 circuit);
	ret = key_evict(urgent_home(inst, line), line, was, bytes);
	if (ret)
		return error_set(err, CUZK_ERROR_RESOURCE, ret, "%s is in use", circuit);
	return 0;
}

static struct cuzk_engine_ops ops = {
	.size = sizeof(ops),
	.abi_major = CUZK_ENGINE_ABI_MAJOR,
	.abi_minor = CUZK_ENGINE_ABI_MINOR,
	.caps = CUZK_CAP_CPU | CUZK_CAP_GPU | CUZK_CAP_PRELOAD | CUZK_CAP_CANCEL |
		CUZK_CAP_COMMAND | CUZK_CAP_OVERLAP,
	.name = "groth16",
	.version = PACKAGE_VERSION,
	.params = params,
	.probe = instance_probe,
	.remove = instance_remove,
	.self_test = urgent_self_test,
	.circuits = instance_circuits,
	.admit = job_admit,
	.task_free = job_task_free,
	.prove = urgent_prove,
	.cancel = urgent_cancel,
	.preload = engine_preload,
	.evict = engine_evict,
	.command = command_run,
	.refresh = scrub_refresh,
	.prove_urgent = urgent_prove_now,
};

int cuzk_engine_entry(const struct cuzk_host *host, const struct cuzk_engine_ops **out);

__attribute__((visibility("default")))
int cuzk_engine_entry(const struct cuzk_host *host, const struct cuzk_engine_ops **out)
{
	if (host->size < offsetof(struct cuzk_host, version) ||
	    host->abi_major != CUZK_ENGINE_ABI_MAJOR)
		return -EPROTO;
	if (gpu_cuda_ops())
		ops.caps |= CUZK_CAP_GPU;
	/* a host of 1.0 knows nothing of it, and refuses what it does not know */
	if (host->abi_minor >= 1)
		ops.caps |= CUZK_CAP_MEMORY;
	if (host->abi_minor >= 2)
		ops.caps |= CUZK_CAP_URGENT;
	*out = &ops;
	return 0;
}
