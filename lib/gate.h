/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * gate.h - where long work stands aside for what cannot wait
 *
 * Long work is cut into steps and calls gate_pass() before each.  Urgent work
 * closes the gate and opens it when it is done: steps that have begun go on,
 * no other begins meanwhile.  Nothing that urgent work needs may be held across
 * gate_pass().  gate may be NULL everywhere: it is open then.
 *
 * Each thread has a place of its own in its work (struct gate_place), which it
 * clears where it begins: what arrives first when the gate is closed long since
 * was in nobody's way.
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
	atomic_uint closings;		/* so far, from 1 on; changed under lock */
	uint64_t closed_ns;		/* since when, while it is closed */
	uint64_t longest_ns;
};

/* closings when its thread passed last; 0: not yet. */
struct gate_place {
	atomic_uint passed;
};

void gate_init(struct gate *gate);
void gate_fini(struct gate *gate);
void gate_close(struct gate *gate);
void gate_open(struct gate *gate);
/*
 * From closing until the last of those at work stood aside, at most so far: the
 * longest step.  Starts anew.
 */
uint64_t gate_longest_ns(struct gate *gate);

void gate_wait(struct gate *gate, struct gate_place *place);	/* gate_pass()'s */

static inline void gate_begin(struct gate_place *place)
{
	atomic_store_explicit(&place->passed, 0, memory_order_relaxed);
}

static inline void gate_pass(struct gate *gate, struct gate_place *place)
{
	unsigned int closings;

	if (!gate)
		return;
	/* before closed: a closing between the two is later than this pass */
	closings = atomic_load_explicit(&gate->closings, memory_order_acquire);
	if (atomic_load_explicit(&gate->closed, memory_order_acquire))
		gate_wait(gate, place);
	else
		atomic_store_explicit(&place->passed, closings, memory_order_relaxed);
}

#endif
