/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* service.c - the parts of the service, and what ties them together */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "plugin/budget.h"
#include "plugin/http.h"
#include "plugin/listen.h"
#include "plugin/log.h"
#include "plugin/notify.h"
#include "plugin/pem.h"
#include "plugin/service.h"

#define TICK_US 1000000ull
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

static struct log_fields job_fields(const struct job *job, const char *event)
{
	struct log_fields f = LOG_FIELDS_INIT;

	f.job = job->id;
	f.request = job->request_id;
	f.kind = config_kind_name(job->kind);
	f.event = event;
	return f;
}

/* ---- jobs ---- */

struct job *service_accept(struct service *svc, struct submission *sub, uint32_t uid)
{
	struct job *job = job_open(&svc->jobs, sub, 0, now_us());
	struct log_fields f;
	int err;

	if (!job)
		return NULL;
	job->uid = uid;
	job->accepted_wall_us = wall_us();
	svc->accepted++;
	svc->n_unplanned++;
	if (!svc->journal) {
		job->durable = true;
	} else {
		err = journal_accept(svc->journal, job);
		if (err)
			log_error("job %s: not in the journal: %s", job->id, strerror(-err));
		job->durable = err != 0;
	}
	f = job_fields(job, "accepted");
	log_event(LOG_INFO, &f, "job %s: accepted, %s, %" PRIu64 " bytes", job->id,
		  config_kind_name(job->kind), job->bytes);
	service_wake(svc);
	return job;
}

static void log_end(const struct job *job)
{
	struct log_fields f = job_fields(job, job_state_name(job->state));
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
	uint64_t now = wall_us();
	struct list *pos, *next;

	list_each_safe(pos, next, &svc->jobs.finished) {
		struct job *job = list_entry(pos, struct job, entry);

		if (job->internal)
			continue;	/* see warm_tick() */
		if (svc->jobs.n_finished <= g->result_limit &&
		    now < job->finished_wall_us + g->result_ttl * 1000)
			break;
		if (service_job_busy(svc, job))
			continue;
		journal_forget(svc->journal, job->seq);
		job_close(&svc->jobs, job);
	}
}

/* A job that nobody waits for and that has not begun need not begin after its deadline. */
static void check_deadlines(struct service *svc)
{
	uint64_t now = now_us();
	struct list *pos, *next;

	list_each_safe(pos, next, &svc->jobs.waiting) {
		struct job *job = list_entry(pos, struct job, entry);

		if (job->deadline_us > now || job->started_us || !list_empty(&job->waiters))
			continue;
		service_end(svc, job, JOB_FAILED, CUZK_ERROR_DEADLINE,
			    "scheduler: the deadline passed before the job could start");
	}
}

/* ---- out of the journal ---- */

static int replay_job(void *ctx, uint64_t seq, struct submission *sub, uint32_t uid,
		      uint64_t accepted_wall_us)
{
	struct service *svc = ctx;
	struct job *job;
	uint64_t age;

	if (sub->kind == CUZK_KIND_UNSPECIFIED)
		return 0;
	job = job_open(&svc->jobs, sub, seq, now_us());
	if (!job)
		return -ENOMEM;
	age = wall_us() - accepted_wall_us;
	if (accepted_wall_us < wall_us() && age < job->accepted_us)
		job->accepted_us -= age;
	job->accepted_wall_us = accepted_wall_us;
	job->uid = uid;
	job->durable = true;
	job->resumed = true;
	job->detached = true;
	svc->n_unplanned++;
	return 0;
}

static int replay_part(void *ctx, uint64_t seq, uint32_t partition, const uint8_t *proof)
{
	struct service *svc = ctx;
	struct job *job = jobs_find_seq(&svc->jobs, seq);

	if (!job || job->state != JOB_WAITING)
		return 0;
	return job_restore_part(job, partition, proof);
}

static int replay_end(void *ctx, uint64_t seq, const struct journal_end *end)
{
	struct service *svc = ctx;
	struct job *job = jobs_find_seq(&svc->jobs, seq);
	struct cuzk_plan plan = { .size = sizeof(plan), .n_partitions = end->n_partitions };
	int err;

	if (!job || job->state != JOB_WAITING)
		return 0;
	job->finished_wall_us = end->finished_wall_us;
	if (end->state == JOB_COMPLETED) {
		err = job_plan(job, &plan, now_us());
		if (err == -ENOMEM)
			return err;
		if (err || job->n_done != plan.n_partitions) {
			/* a partition's record is lost, and the request is gone by now */
			log_error("journal: the result of job %s is incomplete; forgotten", job->id);
			svc->n_unplanned--;
			job_close(&svc->jobs, job);
			return 0;
		}
	}
	svc->n_unplanned--;
	job_end(&svc->jobs, job, end->state, end->cls, end->text, now_us());
	/* the counters tell what happened since start */
	svc->jobs.completed[job->kind] -= end->state == JOB_COMPLETED;
	svc->jobs.failed[job->kind] -= end->state == JOB_FAILED;
	svc->jobs.cancelled[job->kind] -= end->state == JOB_CANCELLED;
	if (end->state == JOB_FAILED && end->cls < 8)
		svc->jobs.failed_class[end->cls]--;
	return 0;
}

static void on_durable(void *ctx, uint64_t seq, int err)
{
	struct service *svc = ctx;
	struct job *job = jobs_find_seq(&svc->jobs, seq);

	if (!job)
		return;
	job->durable = !err;
	api_job_durable(svc, job, err);
}

static const struct journal_ops journal_ops = {
	.job = replay_job,
	.part = replay_part,
	.end = replay_end,
	.durable = on_durable,
};

static int open_journal(struct service *svc)
{
	const char *dir = svc->config->global.state_dir;
	char text[JOURNAL_ERROR_TEXT];
	struct log_fields f;
	struct list *pos;
	int err;

	if (mkdir(dir, 0700) < 0 && errno != EEXIST) {
		err = -errno;
		log_error("state_dir %s: %s", dir, strerror(-err));
		return err;
	}
	err = journal_open(&svc->journal, dir, &journal_ops, svc, text);
	if (err) {
		log_error("state_dir %s", text);
		return err;
	}
	if (svc->jobs.next_seq < journal_next_seq(svc->journal))
		svc->jobs.next_seq = journal_next_seq(svc->journal);
	svc->resumed = svc->jobs.n_waiting;
	list_each(pos, &svc->jobs.waiting) {
		const struct job *job = list_entry(pos, struct job, entry);

		f = job_fields(job, "resumed");
		log_event(LOG_NOTICE, &f, "job %s: resumed, %u partition(s) done before", job->id,
			  job->n_restored);
	}
	return 0;
}

/* ---- the loop ---- */

static void show_status(struct service *svc)
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

	sched_run(svc);
	arm_timer(svc);
	service_check(svc);
	return 0;
}

void service_wake(struct service *svc)
{
	sd_event_source_set_enabled(svc->sched_source, SD_EVENT_ONESHOT);
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
	show_status(svc);
	if (svc->draining) {
		notify_progress(svc->notify);
		service_check(svc);
	}
	sd_event_source_set_time_relative(source, TICK_US);
	return 0;
}

static int on_rpc(sd_event_source *source, int fd, uint32_t events, void *ctx)
{
	rpc_process(((struct service *)ctx)->rpc);
	return 0;
}

static int on_journal(sd_event_source *source, int fd, uint32_t events, void *ctx)
{
	journal_process(((struct service *)ctx)->journal);
	return 0;
}

static int on_instance(sd_event_source *source, int fd, uint32_t events, void *ctx)
{
	instance_process(((struct worker *)ctx)->inst);
	return 0;
}

static int add_sources(struct service *svc)
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

static void log_kinds(const struct service *svc)
{
	char reason[512];
	uint32_t k;

	for (k = CUZK_KIND_POREP; k < CUZK_KIND_COUNT; k++)
		if (!workers_have(svc, k, 0, reason, sizeof(reason)))
			log_notice("%s is disabled: %s", config_kind_name(k), reason);
}

static void say_ready(struct service *svc)
{
	char line[256];

	status_line(svc, line, sizeof(line));
	notify_ready(svc->notify, line);
}

static void become_ready(struct service *svc)
{
	svc->ready = true;
	log_kinds(svc);
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
		log_event(LOG_CRIT, NULL, "no instance is left that could prove: giving up");
		svc->exit_status = 1;
		sd_event_exit(svc->event, 1);
		return;
	}
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
	show_status(svc);
	service_check(svc);
}

static void report(void *ctx, const char *line)
{
	log_error("%s", line);
}

static void reload_worker(struct service *svc, struct worker *w)
{
	instance_set_global(w->inst, &svc->config->global);
	if (w->device->host_budget)
		instance_set_host_budget(w->inst, w->device->host_budget);
}

void service_reload(struct service *svc)
{
	struct config *next;
	uint32_t i;
	int n;

	notify_reloading(svc->notify);
	if (config_read(&next, svc->config_path, report, NULL)) {
		log_error("reload: %s has errors; the configuration stays as it was",
			  svc->config_path);
	} else {
		n = config_apply(svc->config, next, report, NULL);
		config_free(next);
		log_set_level((int)svc->config->global.log_level);
		for (i = 0; i < svc->n_workers; i++)
			reload_worker(svc, &svc->workers[i]);
		if (n)
			log_notice("reload: done; %d change(s) need a restart", n);
		else
			log_notice("reload: done");
	}
	say_ready(svc);
	service_wake(svc);
}

static bool is_alive(void *ctx, const char **why)
{
	static char text[128];
	struct service *svc = ctx;
	uint32_t i;

	for (i = 0; i < svc->n_workers; i++) {
		if (instance_alive(svc->workers[i].inst))
			continue;
		snprintf(text, sizeof(text), "%s is stuck and could not be ended",
			 instance_name(svc->workers[i].inst));
		*why = text;
		return false;
	}
	return true;
}

/* ---- opening and closing ---- */

static void on_connection(void *ctx, int fd, uint32_t uid)
{
	rpc_add_connection(((struct service *)ctx)->rpc, fd, uid);
}

static void on_http_connection(void *ctx, int fd, uint32_t uid)
{
	http_add_connection(((struct service *)ctx)->http, fd);
}

static int http_page(void *ctx, const char *path, FILE *body, const char **type)
{
	struct service *svc = ctx;
	const struct job *job;
	char line[256];

	if (!strcmp(path, "/metrics")) {
		*type = "text/plain; version=0.0.4; charset=utf-8";
		metrics_text(svc, body);
		return 200;
	}
	if (!strcmp(path, "/status")) {
		*type = "application/json";
		status_json(svc, body);
		return 200;
	}
	if (!strncmp(path, "/trace/", 7)) {
		job = jobs_find_id(&svc->jobs, path + 7);
		if (!job)
			return 404;
		*type = "application/json";
		trace_json(svc, job, body);
		return 200;
	}
	if (!strcmp(path, "/healthz")) {
		status_line(svc, line, sizeof(line));
		fprintf(body, "%s\n", line);
		return svc->ready && !svc->draining ? 200 : 503;
	}
	return 404;
}

static bool keep_socket(void *ctx, int fd)
{
	return notify_store(((struct service *)ctx)->notify, fd, "cuzk-listen");
}

static int open_sockets(struct service *svc)
{
	const struct config_global *g = &svc->config->global;
	int err;

	svc->rpc_listen.accept = on_connection;
	svc->rpc_listen.ctx = svc;
	svc->http_listen.accept = on_http_connection;
	svc->http_listen.ctx = svc;
	err = listener_open(&svc->listener, svc->event);
	if (err)
		return err;
	err = listener_inherit(svc->listener, "metrics", &svc->http_listen);
	if (err >= 0)
		err = listener_inherit(svc->listener, NULL, &svc->rpc_listen);
	if (err < 0)
		return err;
	err = 0;
	if (g->listen)
		err = listener_unix(svc->listener, g->listen, g->listen_mode, g->listen_group,
				    &svc->rpc_listen);
	if (!err && g->listen_tcp && !g->tls_cert)
		err = listener_tcp(svc->listener, g->listen_tcp, &svc->rpc_listen);
	if (!err && g->metrics_listen && g->metrics_listen[0] == '/')
		err = listener_unix(svc->listener, g->metrics_listen, g->listen_mode,
				    g->listen_group, &svc->http_listen);
	else if (!err && g->metrics_listen)
		err = listener_tcp(svc->listener, g->metrics_listen, &svc->http_listen);
	if (!err)
		listener_keep(svc->listener, keep_socket, svc);
	return err;
}

static int open_rpc(struct service *svc)
{
	const struct config_global *g = &svc->config->global;
	struct rpc_config config = { .message_limit = g->message_limit };
	char *cert = NULL, *key = NULL, *ca = NULL;
	int err = 0;

	if (g->listen_tcp && !g->tls_cert && !g->insecure) {
		log_error("listen_tcp = %s: TCP wants tls_cert and tls_key, or insecure = yes",
			  g->listen_tcp);
		return -EINVAL;
	}
	if (!g->tls_cert != !g->tls_key) {
		log_error("tls_cert and tls_key: one is set without the other");
		return -EINVAL;
	}
	if (g->listen_tcp && g->tls_cert) {
		err = pem_read(g->tls_cert, &cert);
		if (!err)
			err = pem_read(g->tls_key, &key);
		if (!err && g->tls_client_ca)
			err = pem_read(g->tls_client_ca, &ca);
		config.tls_address = g->listen_tcp;
		config.tls_cert = cert;
		config.tls_key = key;
		config.tls_client_ca = ca;
	}
	if (!err) {
		err = rpc_open(&svc->rpc, &config, &api_ops, svc);
		if (err)
			log_error("cannot serve gRPC%s%s: %s", config.tls_address ? " on " : "",
				  config.tls_address ? config.tls_address : "", strerror(-err));
	}
	pem_free(cert);
	pem_free(key);
	pem_free(ca);
	return err;
}

static int open_worker(struct service *svc, uint32_t i, uint64_t share)
{
	struct worker *w = &svc->workers[i];
	const struct config_device *d = &svc->config->devices[i];
	struct instance_config config = {
		.device = d,
		.engine = config_engine(svc->config, d->engine),
		.global = &svc->config->global,
		.ordinal = i,
		.host_budget = d->host_budget ? d->host_budget : share,
		.version = PACKAGE_VERSION,
	};
	int err;

	w->svc = svc;
	w->device = d;
	w->ordinal = i;
	err = instance_open(&w->inst, &config, &worker_ops, w);
	if (err) {
		log_error("instance %s: %s", d->name, strerror(-err));
		return err;
	}
	svc->n_workers++;
	err = sd_event_add_io(svc->event, &w->source, instance_fd(w->inst), EPOLLIN, on_instance, w);
	return err < 0 ? err : 0;
}

static int open_workers(struct service *svc)
{
	const struct config *c = svc->config;
	uint64_t share = 0;
	uint32_t i, n = 0;
	int err;

	for (i = 0; i < c->n_devices; i++)
		n += !c->devices[i].host_budget;
	if (n)
		share = budget_share(c, n);
	for (i = 0; i < c->n_devices; i++) {
		err = open_worker(svc, i, share);
		if (err)
			return err;
	}
	return 0;
}

int service_open(struct service *svc)
{
	int err;

	svc->started_us = now_us();
	svc->next_tag = 1;
	svc->next_cookie = 1;
	list_init(&svc->loadings);
	err = jobs_init(&svc->jobs);
	if (err) {
		log_error("%s", strerror(-err));
		return err;
	}
	svc->opened = true;
	err = notify_open(&svc->notify, svc->event, is_alive, svc);
	if (!err)
		err = add_sources(svc);
	if (!err)
		err = http_open(&svc->http, svc->event, http_page, svc);
	if (err) {
		log_error("cannot start: %s", strerror(-err));
		return err;
	}
	err = open_journal(svc);
	if (!err)
		err = open_rpc(svc);
	if (err)
		return err;
	err = sd_event_add_io(svc->event, &svc->rpc_source, rpc_fd(svc->rpc), EPOLLIN, on_rpc, svc);
	if (err >= 0)
		err = sd_event_add_io(svc->event, &svc->journal_source, journal_fd(svc->journal),
				      EPOLLIN, on_journal, svc);
	if (err < 0) {
		log_error("cannot start: %s", strerror(-err));
		return err;
	}
	err = open_workers(svc);
	if (!err)
		err = open_sockets(svc);
	show_status(svc);
	return err;
}

void service_close(struct service *svc)
{
	uint32_t i;

	if (!svc->opened)
		return;
	listener_close(svc->listener);
	api_release_all(svc);
	rpc_close(svc->rpc);
	http_close(svc->http);
	for (i = 0; i < svc->n_workers; i++) {
		sd_event_source_disable_unref(svc->workers[i].source);
		instance_close(svc->workers[i].inst);
	}
	sd_event_source_disable_unref(svc->rpc_source);
	sd_event_source_disable_unref(svc->journal_source);
	journal_close(svc->journal);
	sd_event_source_disable_unref(svc->sched_source);
	sd_event_source_disable_unref(svc->timer);
	sd_event_source_disable_unref(svc->tick);
	for (i = 0; i < svc->n_workers; i++)
		svc->workers[i].n_running = 0;
	jobs_fini(&svc->jobs);
	warm_close(svc);
	notify_close(svc->notify);
}
