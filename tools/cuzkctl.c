/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* cuzkctl.c - the operator's client */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/ctl.h"

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
} commands[] = {
	{ "await", ctl_await },
	{ "cancel", ctl_cancel },
	{ "evict", ctl_evict },
	{ "metrics", ctl_metrics },
	{ "modinfo", ctl_modinfo },
	{ "preload", ctl_preload },
	{ "prove", ctl_prove },
	{ "status", ctl_status },
	{ "submit", ctl_submit },
	{ "top", ctl_top },
};

static void usage(FILE *f)
{
	fprintf(f,
		"Usage: cuzkctl COMMAND [OPTION]...\n"
		"       cuzkctl COMMAND --help\n"
		"\n"
		"Commands to a running service, at --address unix:PATH or HOST:PORT\n"
		"(" CLIENT_DEFAULT_ADDRESS "):\n"
		"  prove --request FILE --out FILE    prove, wait, write the proof\n"
		"  submit --request FILE              submit, print the job's id\n"
		"  await JOB [--out FILE]             wait for a job\n"
		"  cancel JOB                         end a job\n"
		"  status                             instances, queues, parameters\n"
		"  top [--interval TIME] [--once]     the same and more, renewed each second\n"
		"  metrics                            counters, as Prometheus takes them\n"
		"  preload CIRCUIT, evict CIRCUIT     load parameters, give their memory back\n"
		"each with --json (not top, metrics), --timeout TIME, --tls-ca FILE, --tls-cert FILE, --tls-key FILE\n"
		"\n"
		"Commands that need no service:\n"
		"  modinfo FILE [--json]              what an engine says of itself\n"
		"  params make|check|convert|rearrange ...\n"
		"                                     parameters\n"
		"  circuit digest|list|cache ...      constraint systems\n"
		"  witness --request FILE ...         the witness of a request\n"
		"  check --request FILE               the checks of admission\n"
		"  prove --offline --request FILE --params DIR --out FILE\n"
		"  prove --r1cs FILE ...              any circuit of circom\n"
		"  verify --vk FILE --proof FILE --inputs FILE\n"
		"which the engine does: --engine FILE, or groth16.so of --engine-dir DIR\n"
		"(" CUZK_ENGINEDIR ")\n"
		"\n"
		"Exit status: 0 only after success, 1 after a failure, 2 for wrong usage.\n"
		"See cuzkctl(1).\n");
}

static bool has_flag(int argc, char **argv, const char *name)
{
	size_t len = strlen(name);
	int i;

	for (i = 2; i < argc; i++)
		if (!strncmp(argv[i], name, len) && (!argv[i][len] || argv[i][len] == '='))
			return true;
	return false;
}

static int run(int argc, char **argv)
{
	const char *engine = NULL, *dir = NULL;
	size_t i;

	if (ctl_take_option(&argc, argv, "--engine", &engine) ||
	    ctl_take_option(&argc, argv, "--engine-dir", &dir))
		return CTL_USAGE;
	if (argc < 2) {
		usage(stderr);
		return CTL_USAGE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
		usage(stdout);
		return 0;
	}
	if (!strcmp(argv[1], "--version")) {
		printf("cuzkctl %s\n", PACKAGE_VERSION);
		return 0;
	}
	if ((has_flag(argc, argv, "--help") || has_flag(argc, argv, "-h")) && ctl_help(argv[1]))
		return 0;
	if (argv[1][0] == '-')
		return ctl_usage(argv[1], "a command comes first: see cuzkctl --help");
	if (!strcmp(argv[1], "prove") &&
	    (has_flag(argc, argv, "--offline") || has_flag(argc, argv, "--r1cs") ||
	     has_flag(argc, argv, "--zkey")))
		return ctl_engine(engine, dir, argc - 1, argv + 1);
	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (!strcmp(argv[1], commands[i].name))
			return commands[i].run(argc - 2, argv + 2);
	return ctl_engine(engine, dir, argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
	int status = run(argc, argv);

	/* what failed has said so */
	if (!status && (fflush(stdout) || ferror(stdout))) {
		fprintf(stderr, "cuzkctl: stdout: %s\n", strerror(errno));
		return CTL_FAILURE;
	}
	return status;
}
