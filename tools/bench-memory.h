/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * bench-memory.h - what memory a process has, and who holds it
 */
#ifndef CUZK_TOOLS_BENCH_MEMORY_H
#define CUZK_TOOLS_BENCH_MEMORY_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct memory {			/* bytes */
	uint64_t resident, anonymous, file, locked;
};

/* /proc/PID/smaps_rollup, which walks the page tables and is exact; pid 0: this process. */
int memory_exact(pid_t pid, struct memory *m);
/* /proc/PID/status: cheap, the kernel's counters; may lag behind by some pages. */
int memory_quick(pid_t pid, struct memory *m);
/* Gives what was freed back to the system, so that only what is held is resident. */
void memory_return(void);
/* Drops the file pages of a mapping that this process will not need for a while. */
void memory_forget(const void *data, size_t size);

/*
 * The table of who holds how much.  Any thread; the copy at the peak is what
 * the report names.
 */
#define HOLDERS_MAX 48

struct holder {
	char name[48];
	uint64_t bytes;
};

struct holders {
	pthread_mutex_t lock;	/* protects the rest */
	struct holder holder[HOLDERS_MAX];
	size_t n;
	char stage[64];
};

void holders_init(struct holders *h);
/* Sets what name holds; 0 takes it out. */
__attribute__((format(printf, 3, 4)))
void holders_set(struct holders *h, uint64_t bytes, const char *fmt, ...);
__attribute__((format(printf, 2, 3)))
void holders_stage(struct holders *h, const char *fmt, ...);
void holders_copy(struct holders *to, struct holders *from);

#endif
