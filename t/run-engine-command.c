/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* run-engine-command.c - loads an engine through its one symbol and runs one of its commands */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "plugin/api/cuzk_engine.h"

static void log_line(void *ctx, int priority, const char *line)
{
	fprintf(stderr, "<%d>%s\n", priority, line);
}

/* usage: run-engine-command ENGINE.so COMMAND... */
int main(int argc, char **argv)
{
	struct cuzk_host host = {
		.size = sizeof(host), .abi_major = CUZK_ENGINE_ABI_MAJOR,
		.abi_minor = CUZK_ENGINE_ABI_MINOR, .version = "test", .log = log_line,
	};
	const struct cuzk_engine_ops *ops;
	cuzk_engine_entry_fn entry;
	void *so;
	int ret;

	if (argc < 3) {
		fprintf(stderr, "usage: %s ENGINE.so COMMAND...\n", argv[0]);
		return 2;
	}
	so = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
	if (!so) {
		fprintf(stderr, "%s\n", dlerror());
		return 2;
	}
	*(void **)&entry = dlsym(so, CUZK_ENGINE_ENTRY);
	if (!entry || entry(&host, &ops)) {
		fprintf(stderr, "%s: no usable %s\n", argv[1], CUZK_ENGINE_ENTRY);
		return 2;
	}
	ret = ops->command(&host, argc - 2, argv + 2);
	if (ret == -ENOSYS) {
		fprintf(stderr, "%s: not a command of this engine\n", argv[2]);
		return 2;
	}
	return ret;
}
