/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * run-cuda-instance.c - an instance of the engine on the backend gpu, opened and
 * tested with the known answer; one line says how it went:
 *
 *   good
 *   STEP CLASS STATUS lost|usable TEXT
 *
 * usage: run-cuda-instance [DEVICE [VRAM-BYTES]]
 */
#include <errno.h>

#include "engine/groth16/instance.h"
#include "t/tap.h"

static const char *const classes[] = {
	[CUZK_ERROR_NONE] = "none", [CUZK_ERROR_INPUT] = "input", [CUZK_ERROR_PARAMS] = "params",
	[CUZK_ERROR_RESOURCE] = "resource", [CUZK_ERROR_DEVICE] = "device",
	[CUZK_ERROR_CANCELLED] = "cancelled", [CUZK_ERROR_INTERNAL] = "internal",
};

static void on_log(void *ctx, int priority, const char *line)
{
	diag("%s", line);
}

static int report(const char *step, int ret, bool lost, const struct cuzk_error *err)
{
	printf("%s %s %s %s %s\n", step, classes[err->cls], strerrorname_np(-ret),
	       lost ? "lost" : "usable", err->text);
	return 1;
}

int main(int argc, char **argv)
{
	struct cuzk_host host = {
		.size = sizeof(host), .abi_major = CUZK_ENGINE_ABI_MAJOR,
		.abi_minor = CUZK_ENGINE_ABI_MINOR, .version = "test", .log = on_log,
	};
	struct cuzk_option options[] = { { "params_dir", "/nonexistent" }, { NULL } };
	struct cuzk_device device = { .size = sizeof(device), .backend = "gpu", .threads = 1 };
	struct cuzk_error err = { .size = sizeof(err) };
	struct cuzk_instance *inst;
	bool lost;
	int ret;

	if (argc > 1 && *argv[1])
		device.id = argv[1];
	if (argc > 2)
		device.vram_budget = strtoull(argv[2], NULL, 0);
	ret = instance_probe(&host, &device, options, &inst, &err);
	if (ret)
		return report("open", ret, false, &err);
	ret = instance_self_test(inst, &err);
	lost = atomic_load(&inst->lost);
	instance_remove(inst);
	if (ret)
		return report("self-test", ret, lost, &err);
	puts("good");
	return 0;
}
