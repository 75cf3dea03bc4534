/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* service.c - a job's beginning and end, the loop's turns, ready, reload and stop */
#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "plugin/listen.h"
#include "plugin/log.h"
#include "plugin/notify.h"
#include "plugin/service.h"

#define TICK_US 1000000ull
#define TRIM_TICKS 2
#define DRAIN_EXTRA_US 10000000ull	/* beyond the partitions: answers, journal, children */

uint64_t now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000ull + ts.tv_nsec / 1000;
}

uint64_t wall_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return ts.tv_sec * 1000000ull + ts.tv_nsec / 1000;
}

struct log_fields service_job_fields(const struct job *job, const char *event)
{
	struct log_fields f = LOG_FIELDS_INIT;

	f.job = job->id;
	f.request = job->request_id;
	f.kind = config_kind_name(job->kind);
	f.event = event;
	return f;
}

/* ---- jobs ---- */

int service_accept(struct service *svc, struct submission *sub, uint32_t uid, struct job **out)
{
	struct job *job = job_open(&svc->jobs, sub, 0, now_us());
	struct log_fields f;
	int err;

	if (!job)
		return -ENOMEM;
	job->uid = uid;
	job->accepted_wall_us = wall_us();
	err = journal_accept(svc->journal, job, job->fd);
	if (err) {
		/* a restart would lose it, which its client would not know */
		log_error("job %s: not in the journal: %s", job->id, strerror(-err));
		job_close(&svc->jobs, job);
		return err;
	}
	job->durable = !svc->journal;
	job->accepting = svc->journal;
	svc->accepted++;
	svc->n_unplanned++;
	f = service_job_fields(job, "accepted");
	log_event(LOG_INFO, &f, "job %s: accepted, %s, %" PRIu64 " bytes", job->id,
		  config_kind_name(job->kind), job->bytes);
	service_wake(svc);
	*out = job;
	return 0;
}

int service_accept_again(struct service *svc, struct job *job, const struct submission *sub)
{
	const struct part *part;
	uint32_t i;
	int err;

	err = journal_accept(svc->journal, job, job->fd >= 0 ? job->fd : sub->fd);
	if (err)
		return err;
	job->accepting = true;
	for (i = 0; job->parts && i < job->plan.n_partitions; i++) {
		part = &job->parts[i];
		if (part->state == PART_DONE)
			journal_part(svc->journal, job->seq, i, part->prover, part->proof);
	}
	if (job->deaths)
		journal_deaths(svc->journal, job->seq, job->deaths);
	if (job->state != JOB_WAITING)
		journal_end(svc->journal, job);
	return 0;
}

static void log_end(const struct job *job)
{
	struct log_fields f = service_job_fields(job, job_state_name(job->state));
	uint64_t wait = job->started_us ? job->started_us - job->accepted_us : 0;
	uint64_t params, witness, device;

	f.duration_us = job->finished_us - job->accepted_us;
	if (job->state == JOB_COMPLETED) {
		job_timing(job, &params, &witness, &device);
		log_event(LOG_INFO, &f, "job %s: completed, %u partition(s) in %" PRIu64
			  " ms (waited %" PRIu64 ", witness %" PRIu64 ", device %" PRIu64 ")",
			  job->id, job->plan.n_partitions, f.duration_us / 1000, wait / 1000,
			  witness, device);
		return;
	}
	f.error_class = log_class_name(job->cls);
	log_event(job->state == JOB_FAILED ? LOG_ERR : LOG_NOTICE, &f, "job %s: %s (%s): %s",
		  job->id, job_state_name(job->state), f.error_class, job->text);
}

/* What instances still do for a job that is over, they need not finish. */
static void release_instances(struct service *svc, struct job *job)
{
	uint32_t i;

	for (i = 0; job->n_running && i < job->plan.n_partitions; i++)
		if (job->parts[i].state == PART_RUNNING)
			instance_cancel(svc->workers[job->parts[i].worker].inst,
					job->parts[i].tag);
	for (i = 0; i < svc->n_workers; i++)
		worker_free_task(&svc->workers[i], job);
}

void service_end(struct service *svc, struct job *job, enum job_state state, uint32_t cls,
		 const char *text)
{
	if (job->state != JOB_WAITING)
		return;
	if (!job->planned)
		svc->n_unplanned--;
	job->finished_wall_us = wall_us();
	warm_job_ends(svc, job, state, text);
	job_end(&svc->jobs, job, state, cls, text, now_us());
	job->ended_us = job->finished_us;
	if (state == JOB_COMPLETED && !job->internal)
		hist_add(&svc->total[job->kind], job->finished_us - job->accepted_us);
	release_instances(svc, job);
	if (!job->internal)
		journal_end(svc->journal, job);
	log_end(job);
	api_job_ended(svc, job);
	service_wake(svc);
}

bool service_job_busy(const struct service *svc, const struct job *job)
{
	uint32_t i;

	if (job->n_running || !list_empty(&job->submitters))
		return true;
	for (i = 0; i < svc->n_workers; i++)
		if (job->task[i] == TASK_ADMITTING)
			return true;
	return false;
}

void service_expire(struct service *svc)
{
	const struct config_global *g = &svc->config->global;
	int64_t now = now_us();
	struct list *pos, *next;

	list_each_safe(pos, next, &svc->jobs.finished) {
		struct job *job = list_entry(pos, struct job, entry);

		if (job->internal)
			continue;	/* see warm_tick() */
		if (svc->jobs.n_finished <= g->result_limit &&
		    now - job->ended_us < (int64_t)g->result_ttl * 1000)
			break;
		if (service_job_busy(svc, job))
			continue;
		journal_forget(svc->journal, job->seq);
		job_close(&svc->jobs, job);
	}
}

/* A job that nobody waits for and that has not begun need not begin after the last deadline. */
static void check_deadlines(struct service *svc)
{
	uint64_t now = now_us();
	struct list *pos, *next;

	list_each_safe(pos, next, &svc->jobs.waiting) {
		struct job *job = list_entry(pos, struct job, entry);

		if (job->useless_us > now || job->started_us || job->n_restored ||
		    !list_empty(&job->waiters))
			continue;
		service_end(svc, job, JOB_FAILED, CUZK_ERROR_DEADLINE,
			    "scheduler: the deadline passed before the job could start");
	}
}

/* ---- the loop ---- */

void service_show(struct service *svc)
{
	char line[256];

	status_line(svc, line, sizeof(line));
	notify_status(svc->notify, line);
}

static int on_timer(sd_event_source *source, uint64_t usec, void *ctx)
{
	service_wake(ctx);
	return 0;
}

static void arm_timer(struct service *svc)
{
	uint64_t next = sched_next_us(svc);

	if (next == UINT64_MAX) {
		sd_event_source_set_enabled(svc->timer, SD_EVENT_OFF);
		return;
	}
	sd_event_source_set_time(svc->timer, next);
	sd_event_source_set_enabled(svc->timer, SD_EVENT_ONESHOT);
}

static int on_sched(sd_event_source *source, void *ctx)
{
	struct service *svc = ctx;

	workers_end_stranded(svc);
	sched_run(svc);
	arm_timer(svc);
	service_check(svc);
	return 0;
}

void service_wake(struct service *svc)
{
	sd_event_source_set_enabled(svc->sched_source, SD_EVENT_ONESHOT);
}

/*
 * Once after work, when there is none: what requests left in the heap goes back.
 * It takes the allocator's locks for long, so not while a client waits.
 */
static void trim_heap(struct service *svc)
{
	unsigned long came = rpc_submissions(svc->rpc);

	if (svc->jobs.n_waiting || came != svc->trimmed_at)
		svc->idle_ticks = 0;
	else if (svc->idle_ticks < TRIM_TICKS && ++svc->idle_ticks == TRIM_TICKS)
		malloc_trim(0);
	svc->trimmed_at = came;
}

static int on_tick(sd_event_source *source, uint64_t usec, void *ctx)
{
	struct service *svc = ctx;
	uint32_t i;

	check_deadlines(svc);
	service_expire(svc);
	warm_tick(svc);
	for (i = 0; i < svc->n_workers; i++)
		worker_tick(&svc->workers[i]);
	service_share_memory(svc);	/* a process that lingered may be gone */
	trim_heap(svc);
	service_show(svc);
	if (svc->draining) {
		notify_progress(svc->notify);
		service_check(svc);
	}
	sd_event_source_set_time_relative(source, TICK_US);
	return 0;
}

int service_add_sources(struct service *svc)
{
	int r;

	r = sd_event_add_defer(svc->event, &svc->sched_source, on_sched, svc);
	if (r >= 0)
		r = sd_event_source_set_priority(svc->sched_source, SD_EVENT_PRIORITY_NORMAL + 1);
	if (r >= 0)
		r = sd_event_add_time(svc->event, &svc->timer, CLOCK_MONOTONIC, UINT64_MAX, 100,
				      on_timer, svc);
	if (r >= 0)
		r = sd_event_add_time_relative(svc->event, &svc->tick, CLOCK_MONOTONIC, TICK_US, 0,
					       on_tick, svc);
	if (r >= 0)
		r = sd_event_source_set_enabled(svc->tick, SD_EVENT_ON);
	return r < 0 ? r : 0;
}

/* ---- ready, and no longer ---- */

static void say_ready(struct service *svc)
{
	char line[256];

	status_line(svc, line, sizeof(line));
	notify_ready(svc->notify, line);
}

static void become_ready(struct service *svc)
{
	svc->ready = true;
	workers_tell_kinds(svc);
	rpc_set_serving(svc->rpc, true);
	say_ready(svc);
	log_notice("ready");
}

void service_check(struct service *svc)
{
	uint32_t i, running = 0, hopeless = 0;
	bool tested = false;

	for (i = 0; i < svc->n_workers; i++) {
		running += svc->workers[i].n_running;
		hopeless += worker_hopeless(&svc->workers[i]);
		tested |= svc->workers[i].tested && worker_usable(&svc->workers[i]);
	}
	if (svc->draining) {
		if (!running || now_us() >= svc->drain_until_us)
			sd_event_exit(svc->event, svc->exit_status);
		return;
	}
	if (hopeless == svc->n_workers) {
		if (svc->exit_status)
			return;		/* it ends already */
		log_event(LOG_CRIT, NULL, "no instance is left that could prove: giving up");
		svc->exit_status = 1;
		sd_event_exit(svc->event, 1);
		return;
	}
	service_keep_settle(svc);
	if (!svc->ready && tested)
		become_ready(svc);
}

void service_stop(struct service *svc)
{
	uint64_t drain = svc->config->global.drain * 1000;
	uint32_t i, running = 0;

	if (svc->draining) {
		log_notice("stopping at once");
		sd_event_exit(svc->event, svc->exit_status);
		return;
	}
	for (i = 0; i < svc->n_workers; i++)
		running += svc->workers[i].n_running;
	log_notice("stopping: %u partition(s) run, at most %" PRIu64 " s; %u job(s) are kept",
		   running, drain / 1000000, svc->jobs.n_waiting);
	svc->draining = true;
	svc->drain_until_us = now_us() + drain;
	notify_stopping(svc->notify, drain + DRAIN_EXTRA_US);
	rpc_set_serving(svc->rpc, false);
	listener_stop(svc->listener);
	service_show(svc);
	service_check(svc);
}

static void reload_worker(struct service *svc, struct worker *w)
{
	instance_set_global(w->inst, &svc->config->global);
	instance_refresh(w->inst);
}

/* Before it is ready READY=1 would end the start, and at the end it would say that there is none. */
static bool manager_waits_for_reload(const struct service *svc)
{
	return svc->ready && !svc->draining;
}

void service_reload(struct service *svc)
{
	struct config *next;
	uint32_t i;
	int n;

	if (manager_waits_for_reload(svc))
		notify_reloading(svc->notify);
	if (config_read(&next, svc->config_path, log_report, NULL)) {
		log_error("reload: %s has errors; the configuration stays as it was",
			  svc->config_path);
	} else {
		n = config_apply(svc->config, next, log_report, NULL);
		config_free(next);
		log_set_level((int)svc->config->global.log_level);
		for (i = 0; i < svc->n_workers; i++)
			reload_worker(svc, &svc->workers[i]);
		service_share_memory(svc);
		service_renew_tls(svc);
		if (svc->ready)
			workers_tell_kinds(svc);	/* kinds may have changed */
		svc->may_be_stranded = true;
		if (n)
			log_notice("reload: done; %d change(s) need a restart", n);
		else
			log_notice("reload: done");
	}
	if (manager_waits_for_reload(svc))
		say_ready(svc);
	service_wake(svc);
}
