/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* learn.c - how long stages take, and from when on one is too slow */
#include <stdlib.h>

#include "plugin/learn.h"
#include "plugin/list.h"

#define DOUBLINGS_MAX 16

struct stays {
	uint32_t ms[LEARN_STAYS];	/* a ring */
	uint32_t n;			/* that there were, ever */
	uint32_t good;			/* since an instance was ended here */
	uint32_t doublings;
};

/* What is known of a circuit on an instance. */
struct line {
	struct hash_node node;
	uint32_t instance;
	uint64_t circuit;
	struct stays stage[CUZK_STAGE_COUNT];
};

int learn_init(struct learn *learn)
{
	return hash_init(&learn->lines);
}

void learn_fini(struct learn *learn)
{
	size_t i;

	for (i = 0; i < learn->lines.n_slots; i++) {
		struct hash_node *node = learn->lines.slots[i], *next;

		for (; node; node = next) {
			next = node->next;
			free(list_entry(node, struct line, node));
		}
	}
	hash_fini(&learn->lines);
}

static uint64_t hash_of(uint32_t instance, uint64_t circuit)
{
	return hash_number(circuit + instance);
}

static struct line *find(const struct learn *learn, uint32_t instance, uint64_t circuit)
{
	struct hash_node *node = hash_first(&learn->lines, hash_of(instance, circuit));

	for (; node; node = hash_next(node)) {
		struct line *line = list_entry(node, struct line, node);

		if (line->instance == instance && line->circuit == circuit)
			return line;
	}
	return NULL;
}

void learn_add(struct learn *learn, uint32_t instance, uint64_t circuit, enum cuzk_stage stage,
	       uint64_t ms)
{
	struct line *line = find(learn, instance, circuit);
	struct stays *s;

	if ((unsigned int)stage >= CUZK_STAGE_COUNT)
		return;
	if (!line) {
		if (learn->lines.count >= LEARN_LINES)
			return;
		line = calloc(1, sizeof(*line));
		if (!line)
			return;
		line->instance = instance;
		line->circuit = circuit;
		hash_add(&learn->lines, &line->node, hash_of(instance, circuit));
	}
	s = &line->stage[stage];
	s->ms[s->n++ % LEARN_STAYS] = ms < UINT32_MAX ? ms : UINT32_MAX;
	s->good++;
}

void learn_ended(struct learn *learn, const struct config_global *global, uint32_t instance,
		 uint64_t circuit, enum cuzk_stage stage)
{
	struct line *line = find(learn, instance, circuit);
	struct stays *s;

	if (!line || (unsigned int)stage >= CUZK_STAGE_COUNT)
		return;
	s = &line->stage[stage];
	if (s->good >= global->learn_history)
		s->doublings = 0;
	s->good = 0;
	if (s->doublings < DOUBLINGS_MAX)
		s->doublings++;
}

uint64_t learn_limit(const struct learn *learn, const struct config_global *global,
		     uint32_t instance, uint64_t circuit, enum cuzk_stage stage)
{
	uint64_t floor = stage == CUZK_STAGE_PARAMS ? global->learn_floor_params :
			 global->learn_floor;
	const struct line *line;
	const struct stays *s;
	uint64_t limit = 0;
	uint32_t i;

	if (!global->learn_history || (unsigned int)stage >= CUZK_STAGE_COUNT)
		return 0;
	line = find(learn, instance, circuit);
	if (!line || line->stage[stage].n < global->learn_history)
		return 0;
	s = &line->stage[stage];
	for (i = 0; i < s->n && i < LEARN_STAYS; i++)
		if (s->ms[i] > limit)
			limit = s->ms[i];
	limit *= global->learn_factor;
	if (limit < floor)
		limit = floor;
	return s->good < global->learn_history ? limit << s->doublings : limit;
}
