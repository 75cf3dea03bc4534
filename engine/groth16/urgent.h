/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * urgent.h - proofs that cannot wait for those of the instance
 *
 * They are made in a lane of the device (gpu.h) by an instance of its own, which
 * shares the circuits of the one that it belongs to (struct cuzk_instance,
 * urgent and parent).  All proofs of a circuit that is small enough are made
 * there, so that its parameters are loaded once; while an urgent one is made, the
 * parent stands aside at its gate.
 */
#ifndef CUZK_GROTH16_URGENT_H
#define CUZK_GROTH16_URGENT_H

#include "engine/groth16/instance.h"

/* After the device is open and before circuits are looked at.  Without room: there is no lane. */
int urgent_open(struct cuzk_instance *inst, const struct cuzk_device *dev, struct cuzk_error *err);
/* Cancels what it has, and ends it. */
void urgent_close(struct cuzk_instance *inst);
/* Whether proofs of a circuit that was looked at are made in the lane. */
bool urgent_fits(const struct cuzk_instance *inst, const struct circuit_state *line);
/* The instance whose device the circuit's proofs are made on: inst or its lane. */
struct cuzk_instance *urgent_home(struct cuzk_instance *inst, const struct circuit_state *line);

/* The ABI's operations, each for the right one of the two or for both. */
int urgent_self_test(struct cuzk_instance *inst, struct cuzk_error *err);
int urgent_prove(struct cuzk_instance *inst, struct cuzk_task *task, uint32_t partition,
		 uint64_t tag, struct cuzk_error *err);
int urgent_prove_now(struct cuzk_instance *inst, struct cuzk_task *task, uint32_t partition,
		     uint64_t tag, struct cuzk_error *err);
void urgent_cancel(struct cuzk_instance *inst, uint64_t tag);

#endif
