/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* cuzk-bench.c - measures the engine from inside and a service from outside */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tools/bench-monitor.h"
#include "tools/bench-trace.h"
#include "tools/bench.h"

static const struct {
	const char *name;
	int (*run)(struct bench *b, int argc, char **argv);
	bool measures;		/* takes --monitor, --trace, --interval */
} commands[] = {
	{ "pipeline", bench_pipeline, true },
	{ "model", bench_model, true },
	{ "synth", bench_synth, true },
	{ "kernels", bench_kernels, true },
	{ "batch", bench_batch, true },
	{ "stress", bench_stress, true },
	{ "vanilla", bench_vanilla, false },
	{ "chain", bench_chain, false },
	{ "plot", bench_plot, false },
};

static void usage(FILE *f)
{
	fprintf(f,
		"Usage: cuzk-bench COMMAND [OPTION...]\n"
		"\n"
		"The engine, in this process:\n"
		"  pipeline --kind NAME --params DIR [-n N] [-p P] [--compare-dense]\n"
		"                            proofs, and the memory of each phase\n"
		"  model --kind NAME         the memory of a proof, computed\n"
		"  synth --kind NAME         witness and evaluation alone\n"
		"  kernels [--log N] [--blst FILE] [--only NAME]\n"
		"                            arithmetic, transforms, sums, pairings\n"
		"  kernels --backend cuda [--device ID] [--log N] [--log-g2 N] [--log-ntt N]\n"
		"                            sums, transforms and the quotient on a device\n"
		"  kernels [--backend cuda] --kind NAME\n"
		"                            evaluation and proofs on a device or the host\n"
		"A service:\n"
		"  batch (--request FILE | --kind NAME) --count N --concurrency C\n"
		"                            latencies and throughput\n"
		"  stress --mix KIND:RATE[:DEADLINE],... --duration TIME\n"
		"                            mixed kinds at given rates\n"
		"  both with --address ADDRESS (unix:PATH or HOST:PORT)\n"
		"Each of these takes\n"
		"  --monitor FILE.csv        memory while it runs\n"
		"  --trace FILE.json         a timeline for Perfetto and chrome://tracing\n"
		"  --interval MS             of the monitor; 10\n"
		"Files:\n"
		"  vanilla KIND [--seed S] --out FILE    a made-up request that can be proved\n"
		"  chain --out PREFIX                    a circom circuit and its witness\n"
		"  plot FILE.csv [--trace FILE.json] --out FILE.svg\n"
		"\n"
		"Exit status: 0 only after success, 1 after a failure, 2 for wrong usage.\n"
		"See cuzk-bench(1).\n");
}

static int measure(int (*run)(struct bench *b, int argc, char **argv), int argc, char **argv)
{
	const char *csv = NULL, *trace = NULL, *interval = NULL;
	struct bench b = { NULL };
	uint64_t ms = 10;
	int ret, err;

	if (ctl_take_option(&argc, argv, "--monitor", &csv) ||
	    ctl_take_option(&argc, argv, "--trace", &trace) ||
	    ctl_take_option(&argc, argv, "--interval", &interval) ||
	    bench_number(argv[1], "--interval", interval, 1, 60000, &ms))
		return CTL_USAGE;
	err = monitor_open(&b.monitor, csv, ms);
	if (err)
		return ctl_fail(argv[1], "%s: %s", csv ? csv : "monitor", strerror(-err));
	if (trace && trace_open(&b.trace)) {
		monitor_close(b.monitor);
		return ctl_fail(argv[1], "no memory");
	}
	ret = run(&b, argc - 2, argv + 2);
	err = monitor_close(b.monitor);
	if (err)
		ret = ctl_fail(argv[1], "%s: %s", csv, strerror(-err));
	err = trace_close(b.trace, trace);
	if (err)
		ret = ctl_fail(argv[1], "%s: %s", trace, strerror(-err));
	return ret;
}

static int run(int argc, char **argv)
{
	size_t i;

	if (argc < 2) {
		usage(stderr);
		return CTL_USAGE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
		usage(stdout);
		return 0;
	}
	if (!strcmp(argv[1], "--version")) {
		printf("cuzk-bench %s\n", PACKAGE_VERSION);
		return 0;
	}
	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (strcmp(argv[1], commands[i].name))
			continue;
		if (argc > 2 && (!strcmp(argv[2], "--help") || !strcmp(argv[2], "-h"))) {
			usage(stdout);
			return 0;
		}
		return commands[i].measures ? measure(commands[i].run, argc, argv) :
					      commands[i].run(NULL, argc - 2, argv + 2);
	}
	return ctl_usage(argv[1], "no such command: see cuzk-bench --help");
}

int main(int argc, char **argv)
{
	int status;

	ctl_program = "cuzk-bench";
	bench_zero = bench_ns();
	status = run(argc, argv);
	if (fflush(stdout) || ferror(stdout)) {
		fprintf(stderr, "cuzk-bench: stdout: %s\n", strerror(errno));
		return status ? status : CTL_FAILURE;
	}
	return status;
}
