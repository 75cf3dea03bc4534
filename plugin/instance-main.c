/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * instance-main.c - cuzk-instance, the process of one instance
 *
 * Started by the service with the socket on descriptor 3; or by cuzkctl as
 * `cuzk-instance --command LIBRARY ARG...` for an operator's command that the
 * engine in LIBRARY knows.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <syslog.h>

#include "plugin/child.h"
#include "plugin/loader.h"

static void command_log(void *ctx, int priority, const char *line)
{
	if (priority <= LOG_NOTICE)
		fprintf(stderr, "%s\n", line);
}

static void command_heartbeat(void *ctx, uint64_t tag, uint32_t stage, uint64_t done,
			      uint64_t total)
{
}

static int command_reserve(void *ctx, const char *name, uint64_t bytes)
{
	return 0;
}

static void command_release(void *ctx, const char *name, uint64_t bytes)
{
}

static void command_complete(void *ctx, uint64_t tag, const struct cuzk_result *result)
{
}

static int run_command(int argc, char **argv)
{
	static const struct cuzk_host host = {
		.size = sizeof(host),
		.abi_major = CUZK_ENGINE_ABI_MAJOR,
		.abi_minor = CUZK_ENGINE_ABI_MINOR,
		.version = PACKAGE_VERSION,
		.log = command_log,
		.heartbeat = command_heartbeat,
		.reserve = command_reserve,
		.release = command_release,
		.complete = command_complete,
	};
	struct cuzk_engine_ops ops;
	char why[LOADER_WHY];
	int r;

	if (loader_open(argv[0], &host, &ops, why) < 0) {
		fprintf(stderr, "cuzk-instance: %s\n", why);
		return 1;
	}
	r = ops.command(&host, argc - 1, argv + 1);
	if (r >= 0)
		return r;
	fprintf(stderr, "cuzk-instance: engine %s: %s: %s\n", ops.name,
		argc > 1 ? argv[1] : "command", r == -ENOSYS ? "no such command" : strerror(-r));
	return 1;
}

int main(int argc, char **argv)
{
	int type;
	socklen_t len = sizeof(type);

	if (argc >= 3 && !strcmp(argv[1], "--command"))
		return run_command(argc - 2, argv + 2);
	if (getsockopt(WIRE_FD, SOL_SOCKET, SO_TYPE, &type, &len) < 0 || type != SOCK_SEQPACKET) {
		fprintf(stderr, "cuzk-instance: is started by cuzkd (or with --command LIBRARY "
			"ARG...)\n");
		return 2;
	}
	return child_main(WIRE_FD);
}
