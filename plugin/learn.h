/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * learn.h - how long stages take, and from when on one is too slow
 *
 * For each instance, circuit and stage the last LEARN_STAYS stays in the stage
 * are kept, of partitions that were proved.  After learn_history of them the
 * stage has a limit: learn_factor times the slowest, but not less than
 * learn_floor.  The slowest and no lower quantile: where one stay in thirty is
 * long for a good reason (cold pages, a neighbour's load) the limit must let it
 * pass, and what was long once is forgotten with the stays that follow.
 *
 * An instance that was ended under such a limit may have been slow and not
 * stuck: each time the limit of that stage doubles, until as many good stays as
 * make a history have followed.
 *
 * Nothing of it outlives the service.  What a stage takes changes with what a
 * restart is for (drivers, engines, configuration), a history is made again by a
 * few proofs, and until then the configured limits hold.
 */
#ifndef CUZK_PLUGIN_LEARN_H
#define CUZK_PLUGIN_LEARN_H

#include <stdint.h>

#include "plugin/config.h"
#include "plugin/hash.h"

#define LEARN_STAYS 64
#define LEARN_LINES 1024	/* instances times circuits; beyond it nothing is learnt */

struct learn {
	struct hash lines;
};

/* 0 or -ENOMEM. */
int learn_init(struct learn *learn);
void learn_fini(struct learn *learn);

/* A stay of ms in the stage. Without memory nothing is learnt. */
void learn_add(struct learn *learn, uint32_t instance, uint64_t circuit, enum cuzk_stage stage,
	       uint64_t ms);
/* An instance was ended in the stage. */
void learn_ended(struct learn *learn, const struct config_global *global, uint32_t instance,
		 uint64_t circuit, enum cuzk_stage stage);
/* ms; 0: not known. */
uint64_t learn_limit(const struct learn *learn, const struct config_global *global,
		     uint32_t instance, uint64_t circuit, enum cuzk_stage stage);

#endif
