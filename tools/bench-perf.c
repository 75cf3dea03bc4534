/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* bench-perf.c - hardware counters, where the kernel gives them */
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tools/bench-perf.h"

static const struct {
	const char *name;
	uint32_t type;
	uint64_t config;
} counters[PERF_N] = {
	[PERF_CYCLES] = { "cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
	[PERF_INSTRUCTIONS] = { "instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS },
	[PERF_CACHE_MISSES] = { "cache misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES },
	[PERF_BRANCH_MISSES] = { "branch misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES },
	[PERF_PAGE_FAULTS] = { "page faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS },
	[PERF_SWITCHES] = { "context switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES },
};

void perf_open(struct perf *p)
{
	struct perf_event_attr attr;
	int i;

	for (i = 0; i < PERF_N; i++) {
		memset(&attr, 0, sizeof(attr));
		attr.size = sizeof(attr);
		attr.type = counters[i].type;
		attr.config = counters[i].config;
		attr.inherit = 1;
		attr.exclude_kernel = counters[i].type == PERF_TYPE_HARDWARE;
		attr.exclude_hv = 1;
		attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
		p->fd[i] = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
		if (p->fd[i] < 0)
			p->fd[i] = -errno;
	}
}

void perf_close(struct perf *p)
{
	int i;

	for (i = 0; i < PERF_N; i++)
		if (p->fd[i] >= 0)
			close(p->fd[i]);
}

void perf_read(const struct perf *p, uint64_t count[PERF_N])
{
	uint64_t v[3];		/* value, time enabled, time running */
	int i;

	for (i = 0; i < PERF_N; i++) {
		count[i] = UINT64_MAX;
		if (p->fd[i] < 0 || read(p->fd[i], v, sizeof(v)) != sizeof(v) || !v[2])
			continue;
		count[i] = v[1] == v[2] ? v[0] : (double)v[0] * v[1] / v[2];
	}
}

const char *perf_name(enum perf_counter counter)
{
	return counters[counter].name;
}
