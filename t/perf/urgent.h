/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* urgent.h - urgent proofs one after another while others are made, and how long each took */
#ifndef CUZK_T_PERF_URGENT_H
#define CUZK_T_PERF_URGENT_H

#include "engine/groth16/urgent.h"

#define URGENT_TAG (1ull << 32)		/* completions of this tag go to urgent_load_complete() */

struct urgent_load {
	struct cuzk_instance *inst;
	const struct cuzk_request *request;
	unsigned int count, pause_ms;

	double *seconds;		/* count of them, from admission to completion */
	struct cuzk_result *results;
	atomic_bool done;
	char circuit[64];
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	unsigned int n;			/* lock: completed */
};

/* Starts the thread; the parameters of the request's circuit are in the lane. */
void urgent_load_start(struct urgent_load *load);
void urgent_load_complete(struct urgent_load *load, const struct cuzk_result *result);
/* Ends it and prints the figures; golden: 192 bytes that each proof has to be, or NULL. 0 or 1. */
int urgent_load_report(struct urgent_load *load, const uint8_t *golden);

#endif
