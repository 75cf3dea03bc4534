/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* worker.c - what the instances say, and what follows from it for the jobs */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "plugin/log.h"
#include "plugin/notify.h"
#include "plugin/service.h"

#define PEAK_STEP (64ull << 20)	/* of resident memory, worth a line */
#define BLAMED_MAX 64			/* jobs blamed for one death */
#define SHORTAGE_PAUSE_US 500000ull	/* an instance without memory for a request */
#define SHORTAGES_MAX 60		/* admissions of a job, half a minute, before they count */
#define AVERAGE_WEIGHT 0.2		/* of the newest in the moving average */

/* What an operator who looks for growth wants to find: each new height, by an eighth. */
static void tell_memory(struct worker *w)
{
	struct log_fields f = LOG_FIELDS_INIT;
	struct instance_status st;

	instance_status(w->inst, &st);
	if (st.resident_peak <= w->told_peak + w->told_peak / 8 + PEAK_STEP)
		return;
	w->told_peak = st.resident_peak;
	f.instance = instance_name(w->inst);
	f.gpu = w->ordinal;
	f.event = "memory";
	log_event(LOG_INFO, &f, "%s: memory: %" PRIu64 " MiB resident at most, %" PRIu64
		  " MiB now; reserved %" PRIu64 " MiB at most, %" PRIu64 " MiB now, budget %" PRIu64
		  " MiB", instance_name(w->inst), st.resident_peak >> 20, st.resident >> 20,
		  st.host_peak >> 20, st.host_reserved >> 20, st.host_budget >> 20);
}

void worker_tick(struct worker *w)
{
	tell_memory(w);
	if (w->stale && worker_usable(w) && !instance_circuits(w->inst))
		w->stale = false;
}

void worker_free_task(struct worker *w, struct job *job)
{
	if (job->task[w->ordinal] != TASK_ADMITTED)
		return;		/* NONE; or ADMITTING: freed when that is over */
	job->task[w->ordinal] = TASK_NONE;
	w->n_tasks--;
	w->task_bytes -= job->bytes;
	instance_task_free(w->inst, job->seq);
}

/* ---- admission ---- */

static void admission_over(struct worker *w, struct job *job)
{
	job->task[w->ordinal] = TASK_NONE;
	w->n_admitting--;
	w->admitting_bytes -= job->bytes;
	if (w->suspect == job->seq)
		w->suspect = 0;
}

/* It cannot have the job; perhaps another can. */
static void refuse(struct worker *w, struct job *job, const struct cuzk_error *why)
{
	job->refused |= 1ull << w->ordinal;
	job->cls = why->cls;
	snprintf(job->text, sizeof(job->text), "%s", why->text);
	if (!workers_can(w->svc, job))
		job_end_unserved(w->svc, job);
}

/* What can never fit is refused at once, not tried until it fails. */
static bool fits_budget(struct worker *w, struct job *job, const struct cuzk_plan *plan)
{
	struct instance_status st;
	struct cuzk_error why = { .cls = CUZK_ERROR_RESOURCE };

	instance_status(w->inst, &st);
	if (!st.host_budget || plan->host_bytes <= st.host_budget)
		return true;
	worker_free_task(w, job);
	snprintf(why.text, sizeof(why.text), "scheduler: a partition of %.64s needs %.1f MiB of "
		 "host memory, the budget of %.64s is %.1f MiB: raise %s", plan->circuit,
		 plan->host_bytes / 1048576.0, instance_name(w->inst), st.host_budget / 1048576.0,
		 w->device->host_budget ? "host_budget" :
		 "host_memory, or what the service may use (MemoryMax=, the machine)");
	refuse(w, job, &why);
	return false;
}

static void on_admitted(void *ctx, struct instance *inst, uint64_t task,
			const struct cuzk_plan *plan)
{
	struct worker *w = ctx;
	struct service *svc = w->svc;
	struct job *job = jobs_find_seq(&svc->jobs, task);
	char text[256];
	bool first;
	int err;

	if (!job || job->task[w->ordinal] != TASK_ADMITTING) {
		log_error("%s: admitted task %" PRIu64 " that it was not given",
			  instance_name(inst), task);
		return;
	}
	admission_over(w, job);
	job->task[w->ordinal] = TASK_ADMITTED;
	w->n_tasks++;
	w->task_bytes += job->bytes;
	if (job->state != JOB_WAITING) {
		worker_free_task(w, job);
		return;
	}
	service_wake(svc);
	if (!fits_budget(w, job, plan))
		return;
	first = !job->planned;
	err = job_plan(job, plan, now_us());
	if (err) {
		snprintf(text, sizeof(text), "scheduler: %s plans %u partitions of %s: %s",
			 instance_name(inst), plan->n_partitions, plan->circuit,
			 err == -EPROTO ? "not what was planned before, or impossible" :
			 strerror(-err));
		service_end(svc, job, JOB_FAILED, CUZK_ERROR_INTERNAL, text);
		return;
	}
	if (first)
		svc->n_unplanned--;
	if (job->n_done == job->plan.n_partitions)
		service_end(svc, job, JOB_COMPLETED, CUZK_ERROR_NONE, NULL);
}

static void on_refused(void *ctx, struct instance *inst, uint64_t task, int status,
		       const struct cuzk_error *error)
{
	struct worker *w = ctx;
	struct service *svc = w->svc;
	struct job *job = jobs_find_seq(&svc->jobs, task);
	char reason[256];

	if (!job || job->task[w->ordinal] != TASK_ADMITTING)
		return;
	admission_over(w, job);
	service_wake(svc);
	if (job->state != JOB_WAITING)
		return;
	switch (error->cls) {
	case CUZK_ERROR_INPUT:
		svc->refused_input++;
		service_end(svc, job, JOB_FAILED, error->cls, error->text);
		return;
	case CUZK_ERROR_PARAMS:
		refuse(w, job, error);
		return;
	case CUZK_ERROR_RESOURCE:
		w->blocked_until_us = now_us() + SHORTAGE_PAUSE_US;
		/* what others hold they give back; the instance has nothing new meanwhile */
		if (job->shortages++ < SHORTAGES_MAX) {
			log_warning("job %s: %s has no memory to check it, and tries again: %s",
				    job->id, instance_name(inst), error->text);
			return;
		}
		break;
	}
	job->refusals++;
	snprintf(reason, sizeof(reason), "%.200s", error->text);
	log_warning("job %s: %s could not admit it (%s, %u of %" PRIu64 " tries): %s", job->id,
		    instance_name(inst), log_class_name(error->cls), job->refusals,
		    svc->config->global.retries + 1, reason);
	if (job->refusals > svc->config->global.retries)
		service_end(svc, job, JOB_FAILED, error->cls, error->text);
}

/* ---- partitions ---- */

static void note_attempt(const struct worker *w, struct job *job, uint32_t partition,
			 uint32_t cls, bool died)
{
	job->attempts[job->n_attempts++ % JOB_ATTEMPTS_MAX] = (struct attempt){
		.started_us = job->parts[partition].started_us, .ended_us = now_us(),
		.partition = partition, .worker = w->ordinal, .cls = cls, .died = died,
	};
}

static void part_back(struct worker *w, struct job *job, struct part *part)
{
	part->state = PART_WAITING;
	job->n_running--;
	w->n_running--;
	w->n_urgent -= part->urgent;
	part->urgent = false;
	if (w->suspect == job->seq)
		w->suspect = 0;
}

static void note_done(struct service *svc, struct worker *w, struct job *job,
		      const struct part *part, uint32_t partition, uint64_t took)
{
	struct log_fields f = LOG_FIELDS_INIT;
	double *average = &svc->part_us[job->kind];
	char moved[128] = "";
	uint32_t i;

	f.job = job->id;
	f.request = job->request_id;
	f.kind = config_kind_name(job->kind);
	f.instance = instance_name(w->inst);
	f.gpu = w->ordinal;
	f.partition = partition;
	f.event = "partition-done";
	f.duration_us = took;
	*average += *average ? AVERAGE_WEIGHT * (took - *average) : took;
	svc->part_ok[job->kind]++;
	for (i = 0; i < CUZK_STAGE_COUNT; i++)
		if (part->stage_ns[i])
			hist_add(&svc->stage[i], part->stage_ns[i] / 1000);
	f.bytes_up = part->bytes_up;
	f.bytes_down = part->bytes_down;
	if (part->bytes_up && part->up_ns)
		snprintf(moved, sizeof(moved), "; %" PRIu64 " KiB up at %.2f GB/s, %" PRIu64
			 " KiB down", part->bytes_up >> 10,
			 (double)part->bytes_up / part->up_ns, part->bytes_down >> 10);
	log_event(job->plan.n_partitions > 1 ? LOG_INFO : LOG_DEBUG, &f,
		  "job %s: partition %u done on %s in %" PRIu64 " ms (%u of %u)%s", job->id,
		  partition, instance_name(w->inst), took / 1000, job->n_done,
		  job->plan.n_partitions, moved);
}

static void part_done(struct worker *w, struct job *job, uint32_t partition,
		      const struct cuzk_result *result)
{
	struct service *svc = w->svc;
	struct part *part = &job->parts[partition];
	uint64_t took = now_us() - part->started_us;

	part->state = PART_DONE;
	part->done_us = part->started_us + took;
	memcpy(part->proof, result->proof, sizeof(part->proof));
	memcpy(part->stage_ns, result->stage_ns, sizeof(part->stage_ns));
	part->bytes_up = result->bytes_up;
	part->bytes_down = result->bytes_down;
	part->up_ns = result->up_ns;
	job->n_done++;
	note_done(svc, w, job, part, partition, took);
	if (job->state != JOB_WAITING)
		return;		/* it was cancelled or failed meanwhile */
	part->prover = service_prover(svc, w->device);
	if (!job->internal)
		journal_part(svc->journal, job->seq, partition, part->prover, part->proof);
	if (job->n_done == job->plan.n_partitions)
		service_end(svc, job, JOB_COMPLETED, CUZK_ERROR_NONE, NULL);
}

static void on_stays(void *ctx, struct instance *inst, const struct instance_flight *flight)
{
	struct worker *w = ctx;
	const struct job *job = jobs_find_seq(&w->svc->jobs, flight->task);
	uint32_t stage;

	for (stage = 0; job && stage < CUZK_STAGE_COUNT; stage++)
		if (flight->entered >> stage & 1)
			learn_add(&w->svc->learn, w->ordinal, job->circuit_hash, stage,
				  flight->stay[stage]);
}

static void on_completed(void *ctx, struct instance *inst, uint64_t task, uint32_t partition,
			 uint64_t tag, const struct cuzk_result *result)
{
	struct worker *w = ctx;
	struct service *svc = w->svc;
	struct job *job = jobs_find_seq(&svc->jobs, task);
	struct part *part;

	if (!job || !job->planned || partition >= job->plan.n_partitions) {
		log_error("%s: completed task %" PRIu64 " partition %u that it was not given",
			  instance_name(inst), task, partition);
		return;
	}
	part = &job->parts[partition];
	if (part->state != PART_RUNNING || part->tag != tag) {
		log_error("%s: completed job %s partition %u with tag %" PRIu64
			  " that it was not given", instance_name(inst), job->id, partition, tag);
		return;
	}
	part_back(w, job, part);
	if (result->status)
		note_attempt(w, job, partition, result->cls, false);
	w->stale = true;
	service_wake(svc);
	if (!result->status)
		part_done(w, job, partition, result);
	else if (job->state == JOB_WAITING)
		retry_failed(svc, w, job, partition, result);
}

/* ---- death ---- */

static bool is_crime(enum instance_death death)
{
	return death == INSTANCE_DEATH_STUCK || death == INSTANCE_DEATH_STICKY ||
	       death == INSTANCE_DEATH_CRASHED || death == INSTANCE_DEATH_PROTOCOL ||
	       death == INSTANCE_DEATH_KILLED;
}

/* The job of a flight that is still what we think it is. */
static struct job *flight_job(struct service *svc, const struct instance_flight *f)
{
	struct job *job = jobs_find_seq(&svc->jobs, f->task);

	if (!job || !job->planned || f->partition >= job->plan.n_partitions)
		return NULL;
	return job;
}

/* The tasks of the dead are gone; returns how many were being admitted. */
static int forget_tasks(struct worker *w, struct list *head, uint64_t *admitting, int n)
{
	struct list *pos;

	list_each(pos, head) {
		struct job *job = list_entry(pos, struct job, entry);

		if (job->task[w->ordinal] == TASK_ADMITTING && n < BLAMED_MAX)
			admitting[n++] = job->seq;
		job->task[w->ordinal] = TASK_NONE;
	}
	return n;
}

/* One death counts once for a job, however many of its partitions were at work. */
static bool accused(const struct instance_flight *flight, int i)
{
	int k;

	for (k = 0; k < i; k++)
		if (flight[k].started && flight[k].task == flight[i].task)
			return true;
	return false;
}

static void on_died(void *ctx, struct instance *inst, enum instance_death death,
		    const char *reason, const struct instance_flight *flight, int n)
{
	struct worker *w = ctx;
	struct service *svc = w->svc;
	uint64_t admitting[BLAMED_MAX];
	bool guilty = is_crime(death), any_started = false;
	uint32_t cls = death == INSTANCE_DEATH_KILLED ? CUZK_ERROR_RESOURCE : CUZK_ERROR_INTERNAL;
	int n_admitting = 0, i;
	struct job *job;

	if (death != INSTANCE_DEATH_STOPPED) {
		struct log_fields f = LOG_FIELDS_INIT;

		svc->deaths++;
		f.instance = instance_name(inst);
		f.gpu = w->ordinal;
		f.event = "instance-died";
		log_event(LOG_WARNING, &f, "%s: died (%s) with %d partition(s): %s",
			  instance_name(inst), instance_death_name(death), n, reason);
	}
	for (i = 0; i < n; i++) {
		job = flight_job(svc, &flight[i]);
		if (job && job->parts[flight[i].partition].state == PART_RUNNING &&
		    job->parts[flight[i].partition].tag == flight[i].tag) {
			part_back(w, job, &job->parts[flight[i].partition]);
			note_attempt(w, job, flight[i].partition, CUZK_ERROR_DEVICE, true);
		}
		any_started |= flight[i].started;
	}
	n_admitting = forget_tasks(w, &svc->jobs.waiting, admitting, n_admitting);
	n_admitting = forget_tasks(w, &svc->jobs.finished, admitting, n_admitting);
	w->n_admitting = 0;
	w->admitting_bytes = 0;
	w->n_tasks = 0;
	w->task_bytes = 0;
	w->suspect = 0;
	w->last_circuit = 0;

	for (i = 0; i < n; i++) {
		job = flight_job(svc, &flight[i]);
		if (job && death == INSTANCE_DEATH_STUCK && flight[i].started)
			learn_ended(&svc->learn, &svc->config->global, w->ordinal,
				    job->circuit_hash, flight[i].stage);
		if (job)
			retry_died(svc, w, job, flight[i].partition,
				   guilty && flight[i].started && !accused(flight, i), cls,
				   reason);
	}
	for (i = 0; i < n_admitting && guilty && !any_started; i++) {
		job = jobs_find_seq(&svc->jobs, admitting[i]);
		if (job)
			retry_died(svc, w, job, UINT32_MAX, true, cls, reason);
	}
	api_loading_died(svc, w);
	service_wake(svc);
	service_check(svc);
}

/* ---- the rest ---- */

static void on_state(void *ctx, struct instance *inst, enum instance_state state,
		     const char *reason)
{
	struct worker *w = ctx;
	struct log_fields f = LOG_FIELDS_INIT;
	int priority = LOG_DEBUG;

	f.instance = instance_name(inst);
	f.gpu = w->ordinal;
	f.event = "instance-state";
	if (state == INSTANCE_READY && !w->tested) {
		w->tested = true;
		priority = LOG_INFO;
	} else if (state == INSTANCE_QUARANTINED) {
		priority = LOG_ERR;
	} else if (state == INSTANCE_STUCK || state == INSTANCE_FAILED) {
		priority = LOG_WARNING;
	} else if (state == INSTANCE_TESTING || state == INSTANCE_STARTING) {
		priority = LOG_INFO;
	}
	log_event(priority, &f, "%s: %s%s%s", instance_name(inst), instance_state_name(state),
		  reason && reason[0] ? ": " : "", reason ? reason : "");
	if (worker_hopeless(w)) {
		if (w->svc->ready)
			workers_tell_kinds(w->svc);
		w->svc->may_be_stranded = true;
		service_share_memory(w->svc);
	}
	service_wake(w->svc);
	service_check(w->svc);
}

static void on_heartbeat(void *ctx, struct instance *inst, uint64_t tag, uint32_t stage,
			 uint64_t done, uint64_t total)
{
	struct worker *w = ctx;

	if (!tag && !w->svc->ready)
		notify_progress(w->svc->notify);
}

static void on_log(void *ctx, struct instance *inst, int priority, const char *line)
{
	struct worker *w = ctx;
	struct log_fields f = LOG_FIELDS_INIT;

	f.instance = instance_name(inst);
	f.gpu = w->ordinal;
	f.event = "engine";
	log_event(priority, &f, "%s: %s", instance_name(inst), line);
}

/* Was it usable in this instance before? */
static bool had_circuit(const struct worker *w, uint64_t hash)
{
	int i;

	for (i = 0; i < w->n_circuits; i++)
		if (w->circuit_hash[i] == hash)
			return w->circuit_had[i];
	return false;
}

static void on_circuits(void *ctx, struct instance *inst, const struct cuzk_circuit *circuits,
			int n)
{
	struct worker *w = ctx;
	bool had[INSTANCE_CIRCUITS_MAX];
	uint64_t hash[INSTANCE_CIRCUITS_MAX];
	struct list *pos;
	int i;

	if (n > INSTANCE_CIRCUITS_MAX)
		n = INSTANCE_CIRCUITS_MAX;
	for (i = 0; i < n; i++) {
		struct cuzk_circuit *c = &w->circuits[i];

		*c = circuits[i];
		c->id[sizeof(c->id) - 1] = '\0';
		c->reason[sizeof(c->reason) - 1] = '\0';
		hash[i] = hash_bytes(c->id, strlen(c->id));
		had[i] = c->state >= CUZK_PARAMS_COLD || had_circuit(w, hash[i]);
	}
	w->n_circuits = n;
	memcpy(w->circuit_hash, hash, n * sizeof(*hash));
	memcpy(w->circuit_had, had, n * sizeof(*had));
	if (w->svc->ready)
		workers_tell_kinds(w->svc);
	list_each(pos, &w->svc->jobs.waiting)
		list_entry(pos, struct job, entry)->refused &= ~(1ull << w->ordinal);
	w->svc->may_be_stranded = true;
	service_wake(w->svc);
}

static void on_loaded(void *ctx, struct instance *inst, uint64_t cookie, int status, bool was,
		      uint64_t bytes, const struct cuzk_error *error)
{
	struct worker *w = ctx;

	api_loaded(w->svc, w, cookie, status, was, bytes, error);
}

static void on_give(void *ctx, struct instance *inst)
{
	service_keep_give(ctx);
}

static void on_keep(void *ctx, struct instance *inst, const char *name, int fd, uint64_t bytes)
{
	service_keep_put(ctx, name, fd, bytes);
}

static void on_keep_use(void *ctx, struct instance *inst, const char *name)
{
	service_keep_use(ctx, name);
}

static void on_keep_drop(void *ctx, struct instance *inst, const char *name)
{
	service_keep_drop(ctx, name);
}

const struct instance_ops worker_ops = {
	.state = on_state,
	.admitted = on_admitted,
	.refused = on_refused,
	.stays = on_stays,
	.completed = on_completed,
	.heartbeat = on_heartbeat,
	.log = on_log,
	.circuits = on_circuits,
	.loaded = on_loaded,
	.give = on_give,
	.keep = on_keep,
	.keep_use = on_keep_use,
	.keep_drop = on_keep_drop,
	.died = on_died,
};
