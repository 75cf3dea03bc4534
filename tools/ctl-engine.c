/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* ctl-engine.c - commands that the engine does, in this process and without the service */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <syslog.h>

#include "plugin/api/cuzk_engine.h"
#include "tools/ctl.h"

static void on_log(void *ctx, int priority, const char *line)
{
	if (priority <= LOG_NOTICE)
		fprintf(stderr, "%s\n", line);
}

static void on_heartbeat(void *ctx, uint64_t tag, uint32_t stage, uint64_t done, uint64_t total)
{
	/* a command shows its own progress */
}

/* An operator at a terminal has the memory that the machine has. */
static int on_reserve(void *ctx, const char *name, uint64_t bytes)
{
	return 0;
}

static void on_release(void *ctx, const char *name, uint64_t bytes)
{
}

static void on_complete(void *ctx, uint64_t tag, const struct cuzk_result *result)
{
}

static const struct cuzk_host host = {
	.size = sizeof(host),
	.abi_major = CUZK_ENGINE_ABI_MAJOR,
	.abi_minor = CUZK_ENGINE_ABI_MINOR,
	.version = PACKAGE_VERSION,
	.log = on_log,
	.heartbeat = on_heartbeat,
	.reserve = on_reserve,
	.release = on_release,
	.complete = on_complete,
};

/* The table as far as this version knows it, whatever the size of the engine's. */
static int load(const char *path, struct cuzk_engine_ops *ops)
{
	const struct cuzk_engine_ops *theirs = NULL;
	cuzk_engine_entry_fn entry;
	void *lib;
	int err;

	lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!lib)
		return ctl_fail("engine", "%s", dlerror());
	*(void **)&entry = dlsym(lib, CUZK_ENGINE_ENTRY);
	if (!entry)
		return ctl_fail("engine", "%s: no engine: it does not export " CUZK_ENGINE_ENTRY,
				path);
	err = entry(&host, &theirs);
	if (err || !theirs)
		return ctl_fail("engine", "%s: refuses to work: %s", path, strerror(-err));
	memset(ops, 0, sizeof(*ops));
	memcpy(ops, theirs, theirs->size < sizeof(*ops) ? theirs->size : sizeof(*ops));
	if (ops->abi_major != CUZK_ENGINE_ABI_MAJOR)
		return ctl_fail("engine", "%s: made for ABI %u.%u, this is %d.%d", path,
				ops->abi_major, ops->abi_minor, CUZK_ENGINE_ABI_MAJOR,
				CUZK_ENGINE_ABI_MINOR);
	return 0;
}

int ctl_engine(const char *library, const char *dir, int argc, char **argv)
{
	struct cuzk_engine_ops ops;
	char path[4096];
	int ret;

	if (!library) {
		if (snprintf(path, sizeof(path), "%s/groth16.so", dir ? dir : CUZK_ENGINEDIR) >=
		    (int)sizeof(path))
			return ctl_usage("engine", "%s: name too long", dir);
		library = path;
	}
	ret = load(library, &ops);
	if (ret)
		return ret;
	if (!(ops.caps & CUZK_CAP_COMMAND) || !ops.command)
		return ctl_fail(argv[0], "the engine %s has no commands", ops.name);
	ret = ops.command(&host, argc, argv);
	if (ret == -ENOSYS)
		return ctl_usage(argv[0], "not a command of the engine %s: see cuzkctl --help",
				 ops.name);
	/* the library stays: a driver that it opened may still have threads */
	return ret < 0 ? CTL_FAILURE : ret;
}
