/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * tpool.h - a fixed pool of threads that runs loops
 *
 * tpool_run calls fn(arg, i, thread) for i in 0..n-1 on the pool's threads and
 * on the caller's, which takes part as thread 0, and returns when all are
 * done.  thread is below tpool_threads().  Loops of several callers run one
 * after another; fn must not call tpool_run on the same pool.
 * pool may be NULL everywhere: then the caller does all the work.
 */
#ifndef CUZK_LIB_TPOOL_H
#define CUZK_LIB_TPOOL_H

#include <stddef.h>

struct gate;
struct tpool;

/* threads = 0: as many as this process may run on. 0 or -errno. */
int tpool_open(struct tpool **pool, unsigned int threads);
void tpool_close(struct tpool *pool);
/*
 * Each call of fn passes the gate first (lib/gate.h), which lives as long as the
 * pool; a call that takes long passes it inside as well, by tpool_pass() with its
 * thread.  To be set before the first loop.
 */
void tpool_set_gate(struct tpool *pool, struct gate *gate);
void tpool_pass(struct tpool *pool, unsigned int thread);
unsigned int tpool_threads(const struct tpool *pool);
void tpool_run(struct tpool *pool, void (*fn)(void *arg, size_t i, unsigned int thread),
	       void *arg, size_t n);

#endif
