/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* gate.c - where long work stands aside for what cannot wait */
#include <time.h>

#include "lib/gate.h"

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

void gate_init(struct gate *gate)
{
	atomic_init(&gate->closed, 0);
	atomic_init(&gate->closings, 1);
	pthread_mutex_init(&gate->lock, NULL);
	pthread_cond_init(&gate->opened, NULL);
	gate->closed_ns = gate->longest_ns = 0;
}

void gate_fini(struct gate *gate)
{
	pthread_cond_destroy(&gate->opened);
	pthread_mutex_destroy(&gate->lock);
}

void gate_close(struct gate *gate)
{
	if (!gate)
		return;
	pthread_mutex_lock(&gate->lock);
	if (!atomic_load(&gate->closed)) {
		gate->closed_ns = now_ns();
		atomic_fetch_add(&gate->closings, 1);
	}
	atomic_fetch_add(&gate->closed, 1);
	pthread_mutex_unlock(&gate->lock);
}

void gate_open(struct gate *gate)
{
	if (!gate)
		return;
	pthread_mutex_lock(&gate->lock);
	if (atomic_fetch_sub(&gate->closed, 1) == 1)
		pthread_cond_broadcast(&gate->opened);
	pthread_mutex_unlock(&gate->lock);
}

void gate_wait(struct gate *gate, struct gate_place *place)
{
	unsigned int passed = atomic_load(&place->passed);
	uint64_t took;

	pthread_mutex_lock(&gate->lock);
	if (atomic_load(&gate->closed) && passed && passed != atomic_load(&gate->closings)) {
		took = now_ns() - gate->closed_ns;
		if (took > gate->longest_ns)
			gate->longest_ns = took;
	}
	while (atomic_load(&gate->closed))
		pthread_cond_wait(&gate->opened, &gate->lock);
	atomic_store(&place->passed, atomic_load(&gate->closings));
	pthread_mutex_unlock(&gate->lock);
}

uint64_t gate_longest_ns(struct gate *gate)
{
	uint64_t longest;

	pthread_mutex_lock(&gate->lock);
	longest = gate->longest_ns;
	gate->longest_ns = 0;
	pthread_mutex_unlock(&gate->lock);
	return longest;
}
