/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * gate.h - where long work stands aside for what cannot wait
 *
 * Long work is cut into steps and calls gate_pass() before each.  Urgent work
 * closes the gate and opens it when it is done: steps that have begun go on,
 * no other begins meanwhile.  Nothing that urgent work needs may be held across
 * gate_pass().  gate may be NULL everywhere: it is open then.
 */
#ifndef CUZK_LIB_GATE_H
#define CUZK_LIB_GATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

struct gate {
	atomic_uint closed;		/* how often; changed under lock */
	pthread_mutex_t lock;		/* innermost; protects the rest */
	pthread_cond_t opened;
	uint64_t closed_ns;		/* since when; 0: it was passed since */
	uint64_t longest_ns;
};

void gate_init(struct gate *gate);
void gate_fini(struct gate *gate);
void gate_close(struct gate *gate);
void gate_open(struct gate *gate);
/*
 * From closing until somebody first stood aside, at most so far: the longest
 * step.  Starts anew.
 */
uint64_t gate_longest_ns(struct gate *gate);

void gate_wait(struct gate *gate);	/* gate_pass()'s */

static inline void gate_pass(struct gate *gate)
{
	if (gate && atomic_load_explicit(&gate->closed, memory_order_acquire))
		gate_wait(gate);
}

#endif
