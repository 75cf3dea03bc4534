/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * bench.h - what the commands of cuzk-bench share
 *
 * A command returns the exit status of ctl.h.  Figures go to standard output,
 * everything else to standard error.
 */
#ifndef CUZK_TOOLS_BENCH_H
#define CUZK_TOOLS_BENCH_H

#include <stddef.h>
#include <stdint.h>

#include "tools/ctl.h"

/* Options of every command that measures. */
struct bench {
	struct monitor *monitor;	/* bench-monitor.h; runs throughout */
	struct trace *trace;		/* bench-trace.h; NULL: not asked for */
};

int bench_pipeline(struct bench *b, int argc, char **argv);
int bench_model(struct bench *b, int argc, char **argv);
int bench_synth(struct bench *b, int argc, char **argv);
int bench_kernels(struct bench *b, int argc, char **argv);
int bench_vanilla(struct bench *b, int argc, char **argv);
int bench_batch(struct bench *b, int argc, char **argv);
int bench_stress(struct bench *b, int argc, char **argv);
int bench_chain(struct bench *b, int argc, char **argv);
int bench_plot(struct bench *b, int argc, char **argv);

/* Nanoseconds on the clock, those of processor time of this thread, of the process. */
uint64_t bench_ns(void);
uint64_t bench_thread_ns(void);
uint64_t bench_process_ns(void);
/* Of bench_ns() when the program started: zero of monitor and trace. */
extern uint64_t bench_zero;

/* A number from the command line, min to max; text NULL keeps *v. 0 or CTL_USAGE. */
int bench_number(const char *command, const char *option, const char *text, uint64_t min,
		 uint64_t max, uint64_t *v);

/* Repeated measurements of one thing, at most BENCH_SAMPLES of them. */
#define BENCH_SAMPLES 64
struct samples {
	double v[BENCH_SAMPLES];
	size_t n;
};

void samples_add(struct samples *s, double v);
/* Sorts values[0..n) and returns the q-th quantile, 0 <= q <= 1, n > 0. */
double quantile(double *values, size_t n, double q);
double samples_median(struct samples *s);
/* Half of the distance of the quartiles over the median. */
double samples_spread(struct samples *s);

#endif
