/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * bench-monitor.h - a thread that writes down the memory of processes
 *
 * It watches this process and any that are added, with their descendants.  The
 * CSV has one line for each process and sample:
 *
 *	seconds,pid,process,resident,anonymous,file,locked,gpu
 *
 * in bytes; gpu is the memory in use of all of NVIDIA's devices, on the line of
 * this process, 0 where there is none.
 */
#ifndef CUZK_TOOLS_BENCH_MONITOR_H
#define CUZK_TOOLS_BENCH_MONITOR_H

#include <stdint.h>
#include <sys/types.h>

struct monitor;

/*
 * csv may be NULL.  -errno of the file and of the thread.
 */
int monitor_open(struct monitor **out, const char *csv, unsigned int interval_ms);
/* 0, or -errno of writing the file. */
int monitor_close(struct monitor *m);

/* Watches a process and its descendants as well; memory of this one is not counted in peaks. */
void monitor_add(struct monitor *m, pid_t pid);
/*
 * Calls fn in the monitor's thread at each new peak of this process' resident
 * memory since now; NULL ends it, and no call is under way when it returns.
 */
void monitor_on_peak(struct monitor *m, void (*fn)(void *arg, uint64_t resident), void *arg);

struct monitor_process {
	pid_t pid;
	char name[32];
	uint64_t peak;		/* resident */
	double cpu;		/* seconds of processor time since it is watched */
};

/* Peaks of the processes that were seen, this one not; at most max.  How many there are. */
size_t monitor_processes(struct monitor *m, struct monitor_process *out, size_t max);
/* Most memory that all added processes had at one time. */
uint64_t monitor_peak(struct monitor *m);
/* Devices' mean busy share since the last call, 0 to 1; negative: no device tells. */
double monitor_gpu_busy(struct monitor *m);

#endif
