/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * instance-limits.c - when a child is stuck
 *
 * A partition is stuck when its stage is over its limit and has not moved for
 * heartbeat_limit.  A stage that is slow and moves may go on (the scheduler has
 * deadlines for the whole); one that stands still within its limit may, too.
 * Partitions that wait behind others have no limit, unless none is worked on.
 *
 * A limit that was learnt is much shorter than the configured one.  It is
 * measured by proofs that may have had the device for themselves, so it counts
 * only while nothing at all moves in the instance.
 */
#include "plugin/instance-private.h"

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t flight_deadline(const struct instance *inst, const struct instance_flight *f)
{
	if (!f->started)
		return INSTANCE_NEVER;
	return later(f->since_ms + inst->limits.stage_limit[f->stage],
		     f->moved_ms + inst->limits.heartbeat_limit);
}

static uint64_t learnt_deadline(const struct instance *inst, const struct instance_flight *f)
{
	if (!f->started || !f->stage_limit[f->stage])
		return INSTANCE_NEVER;
	return later(f->since_ms + f->stage_limit[f->stage],
		     inst->moved_ms + inst->limits.heartbeat_limit);
}

static uint64_t aux_deadline(const struct instance *inst)
{
	const struct instance_aux *a = &inst->aux;

	if (!a->active)
		return INSTANCE_NEVER;
	if (inst->state == INSTANCE_STARTING || inst->state == INSTANCE_TESTING)
		return a->moved_ms + inst->limits.start_limit;
	return later(a->since_ms + inst->limits.stage_limit[CUZK_STAGE_PARAMS],
		     a->moved_ms + inst->limits.heartbeat_limit);
}

static uint64_t admit_deadline(const struct instance *inst)
{
	return inst->n_admitting ? inst->admit_since_ms + inst->limits.admit_limit
				 : INSTANCE_NEVER;
}

/* It has partitions and works on none. */
static uint64_t idle_deadline(const struct instance *inst)
{
	unsigned int i;

	for (i = 0; i < inst->n_flights; i++) {
		if (inst->flights[i].started)
			return INSTANCE_NEVER;
	}
	if (!inst->n_flights || inst->aux.active)
		return INSTANCE_NEVER;
	return inst->idle_since_ms + later(inst->limits.stage_limit[CUZK_STAGE_IDLE],
					   inst->limits.heartbeat_limit);
}

/* The first moment at which there is something to do. */
uint64_t instance_deadline(const struct instance *inst)
{
	uint64_t next = earlier(earlier(inst->kill_ms, inst->give_up_ms),
				earlier(inst->stop_ms, inst->restart_ms));
	unsigned int i;

	if (!inst->pid || inst->death_known)
		return next;
	next = earlier(next, earlier(aux_deadline(inst), admit_deadline(inst)));
	next = earlier(next, idle_deadline(inst));
	for (i = 0; i < inst->n_flights; i++)
		next = earlier(next, earlier(flight_deadline(inst, &inst->flights[i]),
					     learnt_deadline(inst, &inst->flights[i])));
	return next;
}

static void check_flights(struct instance *inst, uint64_t now)
{
	unsigned int i;
	uint64_t limit;

	for (i = 0; i < inst->n_flights; i++) {
		const struct instance_flight *f = &inst->flights[i];

		if (now >= flight_deadline(inst, f))
			limit = inst->limits.stage_limit[f->stage];
		else if (now >= learnt_deadline(inst, f))
			limit = f->stage_limit[f->stage];
		else
			continue;
		instance_kill(inst, INSTANCE_DEATH_STUCK, false,
			      "partition %u stuck in stage %s: %llu ms, the last %llu without "
			      "progress; the %s limit is %llu ms", f->partition,
			      config_stage_name(f->stage), (unsigned long long)(now - f->since_ms),
			      (unsigned long long)(now - f->moved_ms),
			      limit == f->stage_limit[f->stage] ? "learnt" : "configured",
			      (unsigned long long)limit);
		return;
	}
}

static void check_work(struct instance *inst, uint64_t now)
{
	const char *what = "loading or evicting parameters";

	if (inst->state == INSTANCE_STARTING)
		what = "starting";
	else if (inst->state == INSTANCE_TESTING)
		what = "self-test";
	if (now >= aux_deadline(inst))
		instance_kill(inst, INSTANCE_DEATH_STUCK, false,
			      "%s stuck: no progress for %llu ms", what, (unsigned long long)(now - inst->aux.moved_ms));
	else if (now >= admit_deadline(inst))
		instance_kill(inst, INSTANCE_DEATH_STUCK, false,
			      "admission stuck: %llu ms for one request",
			      (unsigned long long)(now - inst->admit_since_ms));
	else if (now >= idle_deadline(inst))
		instance_kill(inst, INSTANCE_DEATH_STUCK, false,
			      "has %u partitions and began none for %llu ms", inst->n_flights,
			      (unsigned long long)(now - inst->idle_since_ms));
	else
		check_flights(inst, now);
}

void instance_check_limits(struct instance *inst)
{
	uint64_t now = instance_now_ms();

	if (inst->pid && now >= inst->give_up_ms)
		instance_give_up(inst);
	else if (inst->pid && now >= inst->kill_ms)
		instance_kill(inst, INSTANCE_DEATH_CRASHED, true,
			      "closed its connection and did not end");
	else if (inst->pid && !inst->death_known && now >= inst->stop_ms)
		instance_kill(inst, INSTANCE_DEATH_STUCK, true, "did not end in %d ms",
			      INSTANCE_STOP_MS);
	else if (inst->pid && !inst->death_known)
		check_work(inst, now);
	else if (!inst->pid && now >= inst->restart_ms)
		instance_spawn(inst);
}
