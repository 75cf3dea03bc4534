/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* bench-perf.h - hardware counters of this process and of the threads that it starts */
#ifndef CUZK_TOOLS_BENCH_PERF_H
#define CUZK_TOOLS_BENCH_PERF_H

#include <stdint.h>

enum perf_counter {
	PERF_CYCLES,
	PERF_INSTRUCTIONS,
	PERF_CACHE_MISSES,
	PERF_BRANCH_MISSES,
	PERF_PAGE_FAULTS,
	PERF_SWITCHES,
	PERF_N
};

struct perf {
	int fd[PERF_N];		/* negative: -errno */
};

/* Before the threads that are to be counted are started. */
void perf_open(struct perf *p);
void perf_close(struct perf *p);
/* Counts since it was opened, scaled if the processor shared a counter; UINT64_MAX: not given. */
void perf_read(const struct perf *p, uint64_t count[PERF_N]);
const char *perf_name(enum perf_counter counter);

#endif
