/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * progress.h - long work tells its caller how far it is
 */
#ifndef CUZK_GROTH16_PROGRESS_H
#define CUZK_GROTH16_PROGRESS_H

#include <stdint.h>

/* Called several times a second, from the thread that works.  fn may be NULL. */
struct progress {
	void (*fn)(void *arg, const char *what, uint64_t done, uint64_t total);
	void *arg;
};

static inline void progress_tell(const struct progress *p, const char *what, uint64_t done,
				 uint64_t total)
{
	if (p && p->fn)
		p->fn(p->arg, what, done, total);
}

#endif
