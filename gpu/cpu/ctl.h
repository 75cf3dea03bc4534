/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * ctl.h - progress and cancellation of long loops on the host
 *
 * Work is cut into chunks of some milliseconds.  Each chunk begins with
 * ctl_stop() and ends with ctl_done(); the callbacks run on the caller's
 * thread (thread 0 of the pool) only.
 */
#ifndef CUZK_GPU_CPU_CTL_H
#define CUZK_GPU_CPU_CTL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ctl {
	bool (*cancelled)(void *arg);	/* NULL: never */
	void (*progress)(void *arg, unsigned int stage, uint64_t done, uint64_t total);
	void *arg;

	unsigned int stage;
	uint64_t total;
	atomic_ullong done;
	atomic_bool stop;
};

static inline void ctl_begin(struct ctl *ctl, unsigned int stage, uint64_t total)
{
	if (!ctl)
		return;
	ctl->stage = stage;
	ctl->total = total;
	atomic_store(&ctl->done, 0);
	if (ctl->progress)
		ctl->progress(ctl->arg, stage, 0, total);
}

/* Whether to leave the work undone. */
static inline bool ctl_stop(struct ctl *ctl, unsigned int thread)
{
	if (!ctl)
		return false;
	if (thread == 0 && ctl->cancelled && ctl->cancelled(ctl->arg))
		atomic_store_explicit(&ctl->stop, true, memory_order_relaxed);
	return atomic_load_explicit(&ctl->stop, memory_order_relaxed);
}

static inline void ctl_done(struct ctl *ctl, unsigned int thread, uint64_t units)
{
	uint64_t done;

	if (!ctl)
		return;
	done = atomic_fetch_add_explicit(&ctl->done, units, memory_order_relaxed) + units;
	if (thread == 0 && ctl->progress)
		ctl->progress(ctl->arg, ctl->stage, done, ctl->total);
}

#endif
