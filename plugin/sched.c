/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * sched.c - what runs where
 *
 * The unit is the partition.  Every time that something changed, each instance
 * with room gets the best partition that it may have:
 *
 *   1. the higher priority; waiting for config aging raises it by one, but never
 *      to CRITICAL, which is for WinningPoSt and for a WindowPoSt whose deadline
 *      is near; of the same priority a WindowPoSt, since there are few of them
 *      and bulk work that has aged is as high as they are;
 *   2. the earlier deadline, in steps of DEADLINE_STEP_US, so that
 *   3. a circuit whose parameters the instance has already can go first;
 *   4. the earlier deadline, the older job.
 *
 * So that nothing starves, what has no deadline, or a distant one, is due
 * DUE_AGINGS after it came, in steps of aging: behind parameters that an instance
 * has already, or behind deadlines, a job waits no longer than that once it is at
 * the top.
 *
 * CRITICAL partitions may go one beyond the depth of an instance: bulk work
 * never takes the last place, so a WinningPoSt is in the instance's hands at
 * once.  Where the engine can, it is proved beside what the instance works at,
 * which stands aside: such urgent partitions have places of their own, and an
 * instance that is idle comes before one that would have to be interrupted.
 *
 * Before a partition can be handed over, the instance must have admitted the
 * request.  Every new job is admitted somewhere at once, so that what is wrong
 * with a request is said at once; in the order of 1, since checking a long request
 * takes a while and there may be many, as after a restart.  An instance holds only
 * so many admitted requests that it does not run, and forgets the rest.
 *
 * A job under which an instance died runs alone.  When its turn comes, one
 * instance gets nothing new until it is idle, or others would keep it busy for
 * ever.
 */
#include <errno.h>
#include <string.h>

#include "plugin/log.h"
#include "plugin/service.h"

#define DEADLINE_STEP_US (30ull * 1000000)
#define ADMITTING_MAX 8			/* requests that one instance has to check */
#define ADMITTING_BYTES (4ull << 20)	/* of them; but always one and the next */
#define ADMITTING_URGENT 4		/* beyond both */
#define IDLE_TASKS_MAX 64		/* admitted requests that it keeps beside */
#define IDLE_BYTES_MAX (256ull << 20)
#define URGENT_MAX 2			/* urgent partitions of an instance: one proved, one next */
#define WINDOW_NEAR_US (120ull * 1000000)	/* a WindowPoSt so near its deadline is urgent */
#define DUE_AGINGS 4

/* ---- order ---- */

/* When a WindowPoSt becomes urgent: in time for a few of its partitions.  UINT64_MAX: never. */
static uint64_t near_us(const struct service *svc, const struct job *job)
{
	uint64_t margin = WINDOW_NEAR_US + (uint64_t)(4 * svc->part_us[CUZK_KIND_WINDOW_POST]);

	if (job->kind != CUZK_KIND_WINDOW_POST || job->deadline_us == UINT64_MAX)
		return UINT64_MAX;
	return job->deadline_us > margin ? job->deadline_us - margin : 0;
}

/* It cannot wait for what the instances work at. */
static bool is_urgent(const struct service *svc, const struct job *job, uint64_t now)
{
	if (job->kind == CUZK_KIND_WINNING_POST)
		return job->priority == SUBMIT_PRIORITY_CRITICAL;
	return now >= near_us(svc, job);
}

static uint32_t rank(const struct service *svc, const struct job *job, uint64_t now)
{
	uint64_t aging = svc->config->global.aging * 1000;
	uint64_t steps = aging ? (now - job->accepted_us) / aging : 0;
	uint32_t top = SUBMIT_PRIORITY_HIGH;

	if (is_urgent(svc, job, now))
		return SUBMIT_PRIORITY_CRITICAL;
	if (job->priority >= top)
		return job->priority;
	return steps > top - job->priority ? top : job->priority + (uint32_t)steps;
}

/* The first thing that decides the order. */
#define LEVEL(rank, window) (2 * (rank) + (window))
#define LEVEL_MAX LEVEL(SUBMIT_PRIORITY_CRITICAL, 1)

static uint32_t level(const struct service *svc, const struct job *job, uint64_t now)
{
	return LEVEL(rank(svc, job, now), job->kind == CUZK_KIND_WINDOW_POST);
}

/* Its deadline, or when it has waited long enough behind those of others. */
static uint64_t due_us(const struct service *svc, const struct job *job)
{
	uint64_t aging = svc->config->global.aging * 1000, due;

	if (!aging)
		return job->deadline_us;
	due = (job->accepted_us / aging + DUE_AGINGS + 1) * aging;
	return due < job->deadline_us ? due : job->deadline_us;
}

struct choice {
	struct job *job;
	uint32_t partition;
	uint32_t level;
	uint64_t due_us, due_step;
	bool warm;
	bool urgent;		/* beside what the instance works at */
	bool held;		/* its turn, but the instance has to be idle first */
};

static struct choice choice_of(const struct service *svc, struct job *job, uint64_t now)
{
	uint64_t aging = svc->config->global.aging * 1000, due = due_us(svc, job);
	uint64_t step = aging && aging < DEADLINE_STEP_US ? aging : DEADLINE_STEP_US;

	return (struct choice){
		.job = job, .level = level(svc, job, now), .due_us = due, .due_step = due / step,
	};
}

/* Does a go before b? */
static bool before(const struct choice *a, const struct choice *b)
{
	if (a->level != b->level)
		return a->level > b->level;
	if (a->due_step != b->due_step)
		return a->due_step < b->due_step;
	if (a->warm != b->warm)
		return a->warm;
	if (a->due_us != b->due_us)
		return a->due_us < b->due_us;
	return a->job->seq < b->job->seq;
}

static bool is_warm(const struct worker *w, const struct job *job)
{
	int i;

	if (w->last_circuit == job->circuit_hash)
		return true;
	for (i = 0; i < w->n_circuits; i++)
		if (w->circuit_hash[i] == job->circuit_hash)
			return w->circuits[i].state == CUZK_PARAMS_HOT;
	return false;
}

/* The first partition of the job that this instance may have. */
static bool find_part(const struct service *svc, const struct worker *w, const struct job *job,
		      uint64_t now, uint32_t *partition)
{
	uint32_t i;

	if (job->n_done + job->n_running == job->plan.n_partitions)
		return false;
	for (i = 0; i < job->plan.n_partitions; i++) {
		if (job->parts[i].state == PART_WAITING &&
		    retry_allows(svc, w, job, &job->parts[i], now)) {
			*partition = i;
			return true;
		}
	}
	return false;
}

/* A job under which an instance died already runs alone. */
static bool fits_suspects(const struct worker *w, const struct job *job)
{
	if (w->suspect)
		return w->suspect == job->seq && !w->n_running;
	return !job->deaths || (!w->n_running && !w->n_admitting);
}

static bool has_room(const struct worker *w, const struct choice *c, uint64_t now)
{
	uint32_t depth = w->device->depth;

	if (c->urgent)
		return w->n_urgent < URGENT_MAX;
	if (c->level >= LEVEL(SUBMIT_PRIORITY_CRITICAL, 0))
		depth++;
	else if (w->width && w->width < depth && w->width_until_us > now)
		depth = w->width;
	return w->n_running - w->n_urgent < depth;
}

/* Another instance has nothing to do and may have it. */
static bool idle_elsewhere(const struct service *svc, const struct worker *self,
			   const struct job *job, uint64_t now)
{
	uint32_t i;

	for (i = 0; i < svc->n_workers; i++) {
		const struct worker *w = &svc->workers[i];

		if (w != self && !w->n_running && worker_usable(w) && !w->suspect &&
		    w->blocked_until_us <= now && worker_serves(w, job) &&
		    fits_suspects(w, job) && !retry_bars(svc, w, job))
			return true;
	}
	return false;
}

/* Is it this instance that makes room for a job that runs alone? The first that may. */
static bool makes_room(const struct service *svc, const struct worker *self,
		       const struct job *job, uint64_t now)
{
	uint32_t i, partition;

	if (self->suspect)
		return false;		/* it runs alone already, or another does */
	for (i = 0; i < self->ordinal; i++) {
		const struct worker *w = &svc->workers[i];

		if (worker_usable(w) && !w->suspect && worker_serves(w, job) &&
		    find_part(svc, w, job, now, &partition))
			return false;
	}
	return true;
}

static bool choose(const struct service *svc, const struct worker *w, uint64_t now,
		   struct choice *best)
{
	struct choice c;
	struct list *pos;

	*best = (struct choice){ 0 };
	list_each(pos, &svc->jobs.waiting) {
		struct job *job = list_entry(pos, struct job, entry);

		if (!job->planned || job->task[w->ordinal] == TASK_ADMITTING ||
		    !worker_serves(w, job))
			continue;
		c = choice_of(svc, job, now);
		c.warm = is_warm(w, job);
		c.held = !fits_suspects(w, job);
		c.urgent = !c.held && instance_takes_urgent(w->inst) && is_urgent(svc, job, now);
		if ((c.held && !makes_room(svc, w, job, now)) || !has_room(w, &c, now) ||
		    (best->job && !before(&c, best)))
			continue;
		if (!find_part(svc, w, c.job, now, &c.partition))
			continue;
		/* one that is retried may have been where it is idle, and failed */
		if (c.urgent && w->n_running && !c.job->parts[c.partition].failures &&
		    idle_elsewhere(svc, w, c.job, now))
			continue;
		*best = c;
	}
	return best->job;
}

/* ---- handing over ---- */

static int admit(struct worker *w, struct job *job, bool urgent)
{
	int err = instance_admit(w->inst, job->seq, job->fd, urgent);

	if (err)
		return err;
	job->task[w->ordinal] = TASK_ADMITTING;
	w->n_admitting++;
	w->admitting_bytes += job->bytes;
	if (job->deaths)
		w->suspect = job->seq;
	return 0;
}

static void note_start(struct service *svc, struct worker *w, struct job *job,
		       struct part *part, uint32_t partition, uint64_t now)
{
	struct log_fields f = LOG_FIELDS_INIT;

	f.job = job->id;
	f.request = job->request_id;
	f.kind = config_kind_name(job->kind);
	f.instance = instance_name(w->inst);
	f.gpu = w->ordinal;
	f.partition = partition;
	f.event = "dispatched";
	if (!job->started_us) {
		job->started_us = now;
		hist_add(&svc->queue_wait[job->kind], now - job->accepted_us);
		hist_add(&svc->dispatch, now - job->accepted_us);
	}
	part->started_us = now;
	log_event(LOG_DEBUG, &f, "job %s: partition %u of %u goes to %s", job->id, partition,
		  job->plan.n_partitions, instance_name(w->inst));
}

static void set_limits(struct service *svc, struct worker *w, const struct job *job, uint64_t tag)
{
	uint32_t stage;
	uint64_t ms;

	for (stage = 0; stage < CUZK_STAGE_COUNT; stage++) {
		ms = learn_limit(&svc->learn, &svc->config->global, w->ordinal, job->circuit_hash,
				 stage);
		if (ms)
			instance_set_stage_limit(w->inst, tag, stage, ms);
	}
}

static int prove(struct service *svc, struct worker *w, const struct choice *c, uint64_t now)
{
	struct job *job = c->job;
	struct part *part = &job->parts[c->partition];
	uint64_t tag = svc->next_tag;
	int err;

	err = instance_prove(w->inst, job->seq, c->partition, tag, c->urgent);
	if (err)
		return err;
	set_limits(svc, w, job, tag);
	svc->next_tag++;
	part->state = PART_RUNNING;
	part->worker = w->ordinal;
	part->tag = tag;
	part->urgent = c->urgent;
	job->n_running++;
	w->n_running++;
	w->n_urgent += c->urgent;
	if (job->deaths)
		w->suspect = job->seq;
	w->last_circuit = job->circuit_hash;
	note_start(svc, w, job, part, c->partition, now);
	return 0;
}

/* One partition, or the admission that it needs first. False: nothing more fits. */
static bool feed(struct service *svc, struct worker *w, uint64_t now)
{
	struct choice c;
	int err;

	w->held = false;
	if (!worker_usable(w) || w->blocked_until_us > now)
		return false;
	if (!choose(svc, w, now, &c))
		return false;
	w->held = c.held;
	if (c.held)
		return false;
	if (c.job->task[w->ordinal] == TASK_ADMITTED) {
		err = prove(svc, w, &c, now);
	} else {
		/* as many as there is room for, and one in advance */
		if (!c.urgent && w->n_admitting + w->n_running - w->n_urgent > w->device->depth)
			return false;
		err = admit(w, c.job, c.urgent);
	}
	if (err && err != -EAGAIN && err != -EBUSY)
		log_warning("%s: cannot take work: %s", instance_name(w->inst), strerror(-err));
	return !err;
}

/* ---- admission of new jobs ---- */

static bool has_admission_room(const struct worker *w, const struct job *job, bool urgent)
{
	if (urgent)
		return w->n_admitting < ADMITTING_MAX + ADMITTING_URGENT;
	if (w->held || w->n_admitting >= ADMITTING_MAX)
		return false;
	return w->n_admitting < 2 || w->admitting_bytes + job->bytes <= ADMITTING_BYTES;
}

static struct worker *admission_worker(struct service *svc, const struct job *job, bool urgent,
				       uint64_t now)
{
	struct worker *best = NULL, *w;
	uint32_t i;

	for (i = 0; i < svc->n_workers; i++) {
		w = &svc->workers[i];
		if (!worker_usable(w) || !worker_serves(w, job) || w->suspect ||
		    retry_bars(svc, w, job) || w->blocked_until_us > now ||
		    !has_admission_room(w, job, urgent) || (job->deaths && w->n_admitting))
			continue;
		if (!best || w->n_admitting + w->n_running < best->n_admitting + best->n_running)
			best = w;
	}
	return best;
}

static bool is_admitting(const struct service *svc, const struct job *job)
{
	uint32_t i;

	for (i = 0; i < svc->n_workers; i++)
		if (job->task[i] == TASK_ADMITTING)
			return true;
	return false;
}

/* Those of one level; returns how many new jobs of it there are. */
static uint32_t admit_level(struct service *svc, uint32_t of, uint64_t now)
{
	struct list *pos;
	uint32_t n = 0;

	list_each(pos, &svc->jobs.waiting) {
		struct job *job = list_entry(pos, struct job, entry);
		bool urgent;
		struct worker *w;

		if (job->planned || level(svc, job, now) != of)
			continue;
		n++;
		if (is_admitting(svc, job))
			continue;
		urgent = is_urgent(svc, job, now);
		w = admission_worker(svc, job, urgent, now);
		if (w)
			admit(w, job, urgent);	/* if not, it is tried again */
	}
	return n;
}

static void admit_new(struct service *svc, uint64_t now)
{
	uint32_t left = svc->n_unplanned, of = LEVEL_MAX + 1;

	while (left && of--)
		left -= admit_level(svc, of, now);
}

/* Is the job in the hands of the instance, or about to be? */
static bool is_active_on(const struct worker *w, const struct job *job)
{
	uint32_t i;

	for (i = 0; job->n_running && i < job->plan.n_partitions; i++)
		if (job->parts[i].state == PART_RUNNING && job->parts[i].worker == w->ordinal)
			return true;
	return false;
}

/* An instance keeps few admitted requests that it does not run; the oldest jobs stay. */
static void trim_tasks(struct service *svc, struct worker *w)
{
	struct list *pos;

	for (pos = svc->jobs.waiting.prev; pos != &svc->jobs.waiting; pos = pos->prev) {
		struct job *job = list_entry(pos, struct job, entry);

		if (w->n_tasks <= IDLE_TASKS_MAX + w->device->depth &&
		    (w->task_bytes <= IDLE_BYTES_MAX || w->n_tasks <= w->device->depth + 1))
			return;
		if (job->task[w->ordinal] == TASK_ADMITTED && !is_active_on(w, job))
			worker_free_task(w, job);
	}
}

void sched_run(struct service *svc)
{
	uint64_t now = now_us();
	uint32_t i, n;
	bool fed;

	if (svc->draining)
		return;
	admit_new(svc, now);
	/* in turns, so that two idle instances share a job's partitions */
	for (n = 0, fed = true; fed && n < INSTANCE_FLIGHT_MAX; n++) {
		fed = false;
		for (i = 0; i < svc->n_workers; i++)
			fed |= feed(svc, &svc->workers[i], now);
	}
	for (i = 0; i < svc->n_workers; i++)
		trim_tasks(svc, &svc->workers[i]);
}

/* ---- what clients and timers ask ---- */

uint32_t sched_position(const struct service *svc, const struct job *job)
{
	uint64_t now = now_us();
	struct choice self = choice_of(svc, (struct job *)job, now), other;
	struct list *pos;
	uint32_t n = 0;

	if (job->state != JOB_WAITING || job->started_us)
		return 0;
	list_each(pos, &svc->jobs.waiting) {
		other = choice_of(svc, list_entry(pos, struct job, entry), now);
		if (other.job == job || other.job->started_us)
			continue;
		n += before(&other, &self);
	}
	return n + 1;
}

uint64_t sched_estimate(const struct service *svc)
{
	double us = 0;
	struct list *pos;
	uint32_t slots = 0, i;

	for (i = 0; i < svc->n_workers; i++)
		if (worker_usable(&svc->workers[i]))
			slots++;
	list_each(pos, &svc->jobs.waiting) {
		const struct job *job = list_entry(pos, struct job, entry);
		uint32_t parts = job->planned ? job->plan.n_partitions - job->n_done : 1;

		us += svc->part_us[job->kind] * parts;
	}
	return slots ? (uint64_t)(us / slots) : 0;
}

uint64_t sched_next_us(struct service *svc)
{
	uint64_t next = UINT64_MAX, now = now_us(), near;
	struct list *pos;
	uint32_t i;

	for (i = 0; i < svc->n_workers; i++)
		if (svc->workers[i].blocked_until_us > now &&
		    svc->workers[i].blocked_until_us < next)
			next = svc->workers[i].blocked_until_us;
	list_each(pos, &svc->jobs.waiting) {
		near = near_us(svc, list_entry(pos, struct job, entry));
		if (near > now && near < next)
			next = near;
	}
	if (!svc->delayed)
		return next;
	svc->delayed = false;
	list_each(pos, &svc->jobs.waiting) {
		const struct job *job = list_entry(pos, struct job, entry);

		for (i = 0; job->planned && i < job->plan.n_partitions; i++)
			if (job->parts[i].state == PART_WAITING &&
			    job->parts[i].not_before_us > now) {
				svc->delayed = true;
				if (job->parts[i].not_before_us < next)
					next = job->parts[i].not_before_us;
			}
	}
	return next;
}
