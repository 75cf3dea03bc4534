/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* tpool.c - a fixed pool of threads that runs loops */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "lib/gate.h"
#include "lib/tpool.h"

struct tpool {
	unsigned int n;			/* threads, the caller's included */
	struct gate *gate;		/* NULL: none */
	pthread_mutex_t run_lock;	/* one loop at a time; taken before state_lock */

	pthread_mutex_t state_lock;	/* protects the rest but next */
	pthread_cond_t wake, done;
	unsigned long generation;	/* counts loops; a worker that sees a new one joins it */
	unsigned int busy;
	bool stop;
	void (*fn)(void *arg, size_t i, unsigned int thread);
	void *arg;
	size_t count;

	atomic_size_t next;
	struct gate_place place;	/* of thread 0 */
	struct worker {
		struct tpool *pool;
		unsigned int index;
		pthread_t thread;
		struct gate_place place;
	} workers[];
};

static struct gate_place *place(struct tpool *pool, unsigned int thread)
{
	return thread ? &pool->workers[thread - 1].place : &pool->place;
}

static void drain(struct tpool *pool, unsigned int thread)
{
	size_t i;

	gate_begin(place(pool, thread));
	while ((i = atomic_fetch_add_explicit(&pool->next, 1, memory_order_relaxed)) <
	       pool->count) {
		gate_pass(pool->gate, place(pool, thread));
		pool->fn(pool->arg, i, thread);
	}
}

static void *worker_main(void *arg)
{
	struct worker *w = arg;
	struct tpool *pool = w->pool;
	unsigned long seen = 0;

	pthread_mutex_lock(&pool->state_lock);
	for (;;) {
		while (!pool->stop && pool->generation == seen)
			pthread_cond_wait(&pool->wake, &pool->state_lock);
		if (pool->stop)
			break;
		seen = pool->generation;
		pthread_mutex_unlock(&pool->state_lock);
		drain(pool, w->index);
		pthread_mutex_lock(&pool->state_lock);
		if (--pool->busy == 0)
			pthread_cond_signal(&pool->done);
	}
	pthread_mutex_unlock(&pool->state_lock);
	return NULL;
}

static unsigned int online(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_COUNT(&set) > 0)
		return CPU_COUNT(&set);
	return 1;
}

int tpool_open(struct tpool **out, unsigned int threads)
{
	struct tpool *pool;
	unsigned int i;
	int err;

	if (threads == 0)
		threads = online();
	pool = calloc(1, sizeof(*pool) + (threads - 1) * sizeof(pool->workers[0]));
	if (!pool)
		return -ENOMEM;
	pthread_mutex_init(&pool->run_lock, NULL);
	pthread_mutex_init(&pool->state_lock, NULL);
	pthread_cond_init(&pool->wake, NULL);
	pthread_cond_init(&pool->done, NULL);
	pool->n = 1;
	for (i = 1; i < threads; i++) {
		struct worker *w = &pool->workers[i - 1];

		w->pool = pool;
		w->index = i;
		err = pthread_create(&w->thread, NULL, worker_main, w);
		if (err) {
			tpool_close(pool);
			return -err;
		}
		pool->n++;
	}
	*out = pool;
	return 0;
}

void tpool_close(struct tpool *pool)
{
	unsigned int i;

	if (!pool)
		return;
	pthread_mutex_lock(&pool->state_lock);
	pool->stop = true;
	pthread_cond_broadcast(&pool->wake);
	pthread_mutex_unlock(&pool->state_lock);
	for (i = 1; i < pool->n; i++)
		pthread_join(pool->workers[i - 1].thread, NULL);
	pthread_cond_destroy(&pool->done);
	pthread_cond_destroy(&pool->wake);
	pthread_mutex_destroy(&pool->state_lock);
	pthread_mutex_destroy(&pool->run_lock);
	free(pool);
}

void tpool_set_gate(struct tpool *pool, struct gate *gate)
{
	pool->gate = gate;
}

void tpool_pass(struct tpool *pool, unsigned int thread)
{
	if (pool)
		gate_pass(pool->gate, place(pool, thread));
}

unsigned int tpool_threads(const struct tpool *pool)
{
	return pool ? pool->n : 1;
}

void tpool_run(struct tpool *pool, void (*fn)(void *arg, size_t i, unsigned int thread),
	       void *arg, size_t n)
{
	size_t i;

	if (!pool || pool->n == 1 || n <= 1) {
		if (pool)
			gate_begin(&pool->place);
		for (i = 0; i < n; i++) {
			tpool_pass(pool, 0);
			fn(arg, i, 0);
		}
		return;
	}
	pthread_mutex_lock(&pool->run_lock);
	pthread_mutex_lock(&pool->state_lock);
	pool->fn = fn;
	pool->arg = arg;
	pool->count = n;
	atomic_store_explicit(&pool->next, 0, memory_order_relaxed);
	pool->busy = pool->n - 1;
	pool->generation++;
	pthread_cond_broadcast(&pool->wake);
	pthread_mutex_unlock(&pool->state_lock);

	drain(pool, 0);

	pthread_mutex_lock(&pool->state_lock);
	while (pool->busy)
		pthread_cond_wait(&pool->done, &pool->state_lock);
	pthread_mutex_unlock(&pool->state_lock);
	pthread_mutex_unlock(&pool->run_lock);
}
