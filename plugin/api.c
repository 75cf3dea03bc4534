/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * api.c - what the clients ask for, and the answers
 *
 * A proof that cannot be made is no error of the protocol: the call succeeds
 * with status FAILED and a message.  Errors of the protocol are for calls that
 * cannot be served: INVALID_ARGUMENT and NOT_FOUND for what the client got
 * wrong, FAILED_PRECONDITION for a kind that no instance serves, RESOURCE_EXHAUSTED
 * for a full queue, UNAVAILABLE while the service ends.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/proto/cuzk.pb-c.h"
#include "plugin/budget.h"
#include "plugin/log.h"
#include "plugin/service.h"

#define TIMEOUT_MAX_MS (1ull << 48)
/* Beyond the limits of queue and client, for WindowPoSt, and as much again for WinningPoSt. */
#define EXTRA_JOBS 16
#define EXTRA_BYTES (128ull << 20)

/* A call that waits for a job; in job->waiters or job->submitters. */
struct waiter {
	struct list entry;
	struct service *svc;
	struct job *job;
	struct rpc_call *call;
	sd_event_source *timer;		/* AwaitProof with timeout_ms */
};

/* ---- results ---- */

static Cuzk__V1__AwaitProofResponse__Status status_number(enum job_state state)
{
	switch (state) {
	case JOB_COMPLETED:
		return CUZK__V1__AWAIT_PROOF_RESPONSE__STATUS__COMPLETED;
	case JOB_FAILED:
		return CUZK__V1__AWAIT_PROOF_RESPONSE__STATUS__FAILED;
	case JOB_CANCELLED:
		return CUZK__V1__AWAIT_PROOF_RESPONSE__STATUS__CANCELLED;
	default:
		return CUZK__V1__AWAIT_PROOF_RESPONSE__STATUS__TIMEOUT;
	}
}

static void send_result(struct rpc_call *call, Cuzk__V1__AwaitProofResponse *result)
{
	Cuzk__V1__ProveResponse prove = CUZK__V1__PROVE_RESPONSE__INIT;

	if (call->method != RPC_PROVE) {
		rpc_reply(call, &result->base);
		return;
	}
	prove.result = result;
	rpc_reply(call, &prove.base);
}

/* The job's result, or, while it has none, TIMEOUT. */
static void reply_result(struct rpc_call *call, const struct job *job)
{
	Cuzk__V1__AwaitProofResponse r = CUZK__V1__AWAIT_PROOF_RESPONSE__INIT;
	char text[CUZK_ERROR_TEXT + 32];
	uint8_t *proof = NULL;

	r.job_id = (char *)job->id;
	r.status = status_number(job->state);
	if (job->state == JOB_COMPLETED) {
		r.proof.len = (size_t)job->plan.n_partitions * CUZK_PARTITION_PROOF_SIZE;
		proof = malloc(r.proof.len);
		if (!proof) {
			rpc_fail(call, GRPC_STATUS_RESOURCE_EXHAUSTED, "no memory for the reply");
			return;
		}
		job_proof(job, proof);
		r.proof.data = proof;
	} else if (job->state != JOB_WAITING) {
		snprintf(text, sizeof(text), "%s: %s", log_class_name(job->cls), job->text);
		r.error_message = text;
	} else {
		snprintf(text, sizeof(text), "deadline: not finished yet, %u of %u partitions done",
			 job->n_done, job->planned ? job->plan.n_partitions : 0);
		r.error_message = text;
	}
	if (job->started_us)
		r.queue_wait_ms = (job->started_us - job->accepted_us) / 1000;
	job_timing(job, &r.srs_load_ms, &r.synthesis_ms, &r.gpu_compute_ms);
	if (job->finished_us)
		r.total_ms = (job->finished_us - job->accepted_us) / 1000;
	send_result(call, &r);
	free(proof);
}

static void reply_submitted(struct service *svc, struct rpc_call *call, const struct job *job)
{
	Cuzk__V1__SubmitProofResponse r = CUZK__V1__SUBMIT_PROOF_RESPONSE__INIT;
	uint32_t i;

	r.job_id = (char *)job->id;
	r.queue_position = sched_position(svc, job);
	for (i = 0; job->n_running && i < job->plan.n_partitions; i++) {
		if (job->parts[i].state == PART_RUNNING) {
			const struct worker *w = &svc->workers[job->parts[i].worker];

			r.assigned_gpu = (char *)instance_name(w->inst);
			break;
		}
	}
	rpc_reply(call, &r.base);
}

/* ---- waiting ---- */

static void waiter_free(struct waiter *w)
{
	list_del(&w->entry);
	sd_event_source_disable_unref(w->timer);
	w->call->user = NULL;
	free(w);
}

static struct waiter *waiter_new(struct service *svc, struct job *job, struct list *list,
				 struct rpc_call *call)
{
	struct waiter *w = calloc(1, sizeof(*w));

	if (!w) {
		rpc_fail(call, GRPC_STATUS_RESOURCE_EXHAUSTED, "no memory");
		return NULL;
	}
	w->svc = svc;
	w->job = job;
	w->call = call;
	call->user = w;
	list_add(list, &w->entry);
	return w;
}

static int on_timeout(sd_event_source *source, uint64_t usec, void *ctx)
{
	struct waiter *w = ctx;
	struct rpc_call *call = w->call;
	struct job *job = w->job;

	waiter_free(w);
	reply_result(call, job);
	return 0;
}

static void wait_for(struct service *svc, struct job *job, struct rpc_call *call)
{
	struct waiter *w;

	if (job->state != JOB_WAITING) {
		reply_result(call, job);
		return;
	}
	w = waiter_new(svc, job, &job->waiters, call);
	if (!w || !call->timeout_ms)
		return;
	/* a longer one than this is none, and the clock must not run over */
	if (call->timeout_ms < TIMEOUT_MAX_MS &&
	    sd_event_add_time_relative(svc->event, &w->timer, CLOCK_MONOTONIC,
				       call->timeout_ms * 1000, 1000, on_timeout, w) < 0) {
		waiter_free(w);
		rpc_fail(call, GRPC_STATUS_RESOURCE_EXHAUSTED, "no memory for a timer");
	}
}

void api_job_ended(struct service *svc, struct job *job)
{
	while (!list_empty(&job->waiters)) {
		struct waiter *w = list_entry(job->waiters.next, struct waiter, entry);
		struct rpc_call *call = w->call;

		waiter_free(w);
		reply_result(call, job);
	}
}

void api_job_durable(struct service *svc, struct job *job, int err)
{
	while (!list_empty(&job->submitters)) {
		struct waiter *w = list_entry(job->submitters.next, struct waiter, entry);
		struct rpc_call *call = w->call;

		waiter_free(w);
		if (err)
			rpc_fail(call, GRPC_STATUS_UNAVAILABLE,
				 "the journal cannot be written: %s; the job would be lost by a "
				 "restart",
				 strerror(-err));
		else
			reply_submitted(svc, call, job);
	}
}

static void release_list(struct list *list)
{
	while (!list_empty(list)) {
		struct waiter *w = list_entry(list->next, struct waiter, entry);
		struct rpc_call *call = w->call;

		waiter_free(w);
		rpc_fail(call, GRPC_STATUS_UNAVAILABLE,
			 "the service is stopping; the job is kept and goes on at its next start");
	}
}

void api_release_all(struct service *svc)
{
	struct list *pos;

	list_each(pos, &svc->jobs.waiting) {
		struct job *job = list_entry(pos, struct job, entry);

		release_list(&job->waiters);
		release_list(&job->submitters);
	}
	list_each(pos, &svc->jobs.finished)
		release_list(&list_entry(pos, struct job, entry)->submitters);
	while (!list_empty(&svc->loadings)) {
		struct loading *l = list_entry(svc->loadings.next, struct loading, entry);

		if (l->call)
			rpc_fail(l->call, GRPC_STATUS_UNAVAILABLE, "the service is stopping");
		list_del(&l->entry);
		free(l);
	}
}

/* ---- submitting ---- */

/* What bulk work must not keep out is taken beyond the limits. */
static unsigned int extra_of(const struct submission *sub)
{
	if (sub->kind == CUZK_KIND_WINNING_POST && sub->priority == SUBMIT_PRIORITY_CRITICAL)
		return 2;
	return sub->kind == CUZK_KIND_WINDOW_POST && sub->priority >= SUBMIT_PRIORITY_HIGH;
}

/* Is there room for one more? Answers the call when there is none. */
static bool check_room(struct service *svc, struct rpc_call *call)
{
	const struct config_global *g = &svc->config->global;
	const struct submission *sub = call->submission;
	unsigned int extra = extra_of(sub);
	uint64_t bytes = budget_requests(svc->config, svc->host_free), mine = 0, wait;
	struct list *pos;
	char who[48];

	if (svc->jobs.n_waiting >= g->queue_limit + extra * EXTRA_JOBS ||
	    svc->jobs.waiting_bytes + sub->bytes > bytes + extra * EXTRA_BYTES) {
		svc->refused_full++;
		wait = sched_estimate(svc);
		rpc_fail(call, GRPC_STATUS_RESOURCE_EXHAUSTED,
			 "resource: scheduler: the queue is full: %u jobs, %" PRIu64
			 " of %" PRIu64 " MiB of requests; estimated wait %" PRIu64
			 " s; try again later",
			 svc->jobs.n_waiting, svc->jobs.waiting_bytes >> 20, bytes >> 20,
			 wait / 1000000);
		return false;
	}
	if (!g->client_jobs)
		return true;
	list_each(pos, &svc->jobs.waiting) {
		const struct job *job = list_entry(pos, struct job, entry);

		mine += job->uid == call->uid && !job->internal;
	}
	if (mine < g->client_jobs + extra * EXTRA_JOBS)
		return true;
	svc->refused_full++;
	if (call->uid == UINT32_MAX)
		snprintf(who, sizeof(who), "whoever comes by clear TCP");
	else if (call->uid & RPC_CLIENT_TLS)
		snprintf(who, sizeof(who), "the client of this certificate");
	else
		snprintf(who, sizeof(who), "user %u", call->uid);
	rpc_fail(call, GRPC_STATUS_RESOURCE_EXHAUSTED,
		 "resource: scheduler: %s has %" PRIu64 " unfinished jobs, client_jobs "
		 "allows %" PRIu64, who, mine, g->client_jobs);
	return false;
}

/* By when the client wants it. */
static uint64_t deadline_of(const struct service *svc, const struct rpc_call *call)
{
	uint64_t deadline = svc->config->global.deadline * 1000;

	if (call->method == RPC_PROVE && call->deadline_us != RPC_NO_DEADLINE)
		return call->deadline_us;
	return deadline ? call->received_us + deadline : UINT64_MAX;
}

/*
 * The work is known already: the more urgent of the two wishes counts, and the
 * client with more time gets its proof all the same.
 */
static void attach(struct service *svc, struct job *job, const struct rpc_call *call)
{
	uint64_t deadline = deadline_of(svc, call);
	struct log_fields f = LOG_FIELDS_INIT;

	svc->attached++;
	if (call->submission->priority > job->priority)
		job->priority = call->submission->priority;
	if (deadline < job->deadline_us)
		job->deadline_us = deadline;
	if (deadline > job->useless_us)
		job->useless_us = deadline;
	f.job = job->id;
	f.request = call->submission->request_id;
	f.kind = config_kind_name(job->kind);
	f.event = "attached";
	log_event(LOG_DEBUG, &f, "job %s: the same work was submitted again as %s (%s)", job->id,
		  call->submission->request_id, job_state_name(job->state));
	service_wake(svc);
}

static struct job *find_or_accept(struct service *svc, struct rpc_call *call)
{
	struct submission *sub = call->submission;
	struct job *job = jobs_find_digest(&svc->jobs, sub->digest);
	struct cuzk_error why;
	int err;

	if (job && (job->state == JOB_WAITING || job->state == JOB_COMPLETED)) {
		attach(svc, job, call);
		return job;
	}
	if (!workers_have(svc, sub->kind, sub->sector_size, &why)) {
		rpc_fail(call, GRPC_STATUS_FAILED_PRECONDITION, "%s: scheduler: %s",
			 log_class_name(why.cls), why.text);
		return NULL;
	}
	if (!check_room(svc, call))
		return NULL;
	err = service_accept(svc, sub, call->uid, &job);
	if (err) {
		rpc_fail(call, GRPC_STATUS_RESOURCE_EXHAUSTED,
			 "resource: scheduler: the job cannot be kept: %s", strerror(-err));
		return NULL;
	}
	job->accepted_us = call->received_us;
	job->deadline_us = job->useless_us = deadline_of(svc, call);
	return job;
}

/* Answered when the journal has the job; in submitters until then. */
static void submitted(struct service *svc, struct job *job, struct rpc_call *call)
{
	int err = 0;

	if (job->durable) {
		reply_submitted(svc, call, job);
		return;
	}
	/* the one before heard that it could not be written down */
	if (!job->accepting)
		err = service_accept_again(svc, job, call->submission);
	if (err)
		rpc_fail(call, GRPC_STATUS_RESOURCE_EXHAUSTED,
			 "resource: scheduler: the job cannot be kept: %s", strerror(-err));
	else
		waiter_new(svc, job, &job->submitters, call);
}

static void on_submit(struct service *svc, struct rpc_call *call)
{
	struct job *job;

	if (svc->draining) {
		rpc_fail(call, GRPC_STATUS_UNAVAILABLE, "the service is stopping");
		return;
	}
	job = find_or_accept(svc, call);
	if (!job)
		return;
	job->detached |= call->method == RPC_SUBMIT;
	if (call->method == RPC_PROVE)
		wait_for(svc, job, call);
	else
		submitted(svc, job, call);
}

/* ---- by job id ---- */

static struct job *named_job(struct service *svc, struct rpc_call *call)
{
	struct job *job = jobs_find_id(&svc->jobs, call->name);

	if (!job)
		rpc_fail(call, GRPC_STATUS_NOT_FOUND, "no job has the id '%s'", call->name);
	return job;
}

static void on_await(struct service *svc, struct rpc_call *call)
{
	struct job *job = named_job(svc, call);

	if (job)
		wait_for(svc, job, call);
}

static void on_cancel(struct service *svc, struct rpc_call *call)
{
	Cuzk__V1__CancelProofResponse r = CUZK__V1__CANCEL_PROOF_RESPONSE__INIT;
	struct job *job = named_job(svc, call);

	if (!job)
		return;
	r.was_running = job->state == JOB_WAITING;
	if (r.was_running)
		service_end(svc, job, JOB_CANCELLED, CUZK_ERROR_CANCELLED,
			    "a client cancelled the job");
	rpc_reply(call, &r.base);
}

/* ---- parameters ---- */

static void loading_over(struct loading *l)
{
	Cuzk__V1__PreloadSrsResponse preload = CUZK__V1__PRELOAD_SRS_RESPONSE__INIT;
	Cuzk__V1__EvictSrsResponse evict = CUZK__V1__EVICT_SRS_RESPONSE__INIT;

	if (!l->call) {
		/* nobody asks any more */
	} else if (l->status) {
		l->call->user = NULL;
		rpc_fail(l->call, l->status == -EBUSY || l->status == -ENOENT ?
			 GRPC_STATUS_FAILED_PRECONDITION : GRPC_STATUS_INTERNAL, "%s", l->text);
	} else if (l->evict) {
		evict.was_loaded = l->was;
		evict.freed_bytes = l->bytes;
		l->call->user = NULL;
		rpc_reply(l->call, &evict.base);
	} else {
		preload.already_loaded = l->was;
		preload.load_time_ms = (now_us() - l->started_us) / 1000;
		l->call->user = NULL;
		rpc_reply(l->call, &preload.base);
	}
	list_del(&l->entry);
	free(l);
}

static void loading_answer(struct loading *l, const struct worker *w, int status, bool was,
			   uint64_t bytes, const char *text)
{
	l->open &= ~(1ull << w->ordinal);
	if (status && !l->status) {
		l->status = status;
		snprintf(l->text, sizeof(l->text), "%.64s: %.900s", instance_name(w->inst), text);
	}
	/* preload: it was loaded when it was everywhere; evict: when it was anywhere */
	l->was = l->evict ? l->was || was : l->was && was;
	l->bytes += bytes;
	if (!l->open)
		loading_over(l);
}

void api_loaded(struct service *svc, struct worker *w, uint64_t cookie, int status, bool was,
		uint64_t bytes, const struct cuzk_error *err)
{
	struct list *pos;

	list_each(pos, &svc->loadings) {
		struct loading *l = list_entry(pos, struct loading, entry);

		if (l->cookie == cookie) {
			loading_answer(l, w, status, was, bytes, status ? err->text : "");
			return;
		}
	}
}

void api_loading_died(struct service *svc, struct worker *w)
{
	struct list *pos, *next;

	list_each_safe(pos, next, &svc->loadings) {
		struct loading *l = list_entry(pos, struct loading, entry);

		if (l->open >> w->ordinal & 1)
			loading_answer(l, w, -EIO, false, 0, "the instance died");
	}
}

static bool knows_circuit(const struct worker *w, const char *circuit)
{
	int i;

	for (i = 0; i < w->n_circuits; i++)
		if (!strcmp(w->circuits[i].id, circuit))
			return true;
	return false;
}

static void on_load(struct service *svc, struct rpc_call *call)
{
	struct loading *l = calloc(1, sizeof(*l));
	uint32_t i;
	int err = -ENOENT, e;

	if (!l) {
		rpc_fail(call, GRPC_STATUS_RESOURCE_EXHAUSTED, "no memory");
		return;
	}
	l->evict = call->method == RPC_EVICT;
	l->was = !l->evict;
	l->cookie = svc->next_cookie++;
	l->started_us = now_us();
	for (i = 0; i < svc->n_workers; i++) {
		struct worker *w = &svc->workers[i];

		if (!worker_usable(w) || !knows_circuit(w, call->name))
			continue;
		e = l->evict ? instance_evict(w->inst, call->name, l->cookie) :
			       instance_preload(w->inst, call->name, l->cookie);
		if (e)
			err = e;
		else
			l->open |= 1ull << i;
	}
	if (!l->open) {
		free(l);
		if (err == -ENOENT)
			rpc_fail(call, GRPC_STATUS_NOT_FOUND,
				 "no instance that is ready knows the circuit '%s'", call->name);
		else
			rpc_fail(call, GRPC_STATUS_INTERNAL, "%s: %s", call->name, strerror(-err));
		return;
	}
	l->call = call;
	call->user = l;
	list_add(&svc->loadings, &l->entry);
}

/* ---- from the network ---- */

static void on_metrics(struct service *svc, struct rpc_call *call)
{
	Cuzk__V1__GetMetricsResponse r = CUZK__V1__GET_METRICS_RESPONSE__INIT;
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f) {
		rpc_fail(call, GRPC_STATUS_RESOURCE_EXHAUSTED, "no memory");
		return;
	}
	metrics_text(svc, f);
	if (fclose(f)) {
		rpc_fail(call, GRPC_STATUS_RESOURCE_EXHAUSTED, "no memory");
	} else {
		r.prometheus_text = text;
		rpc_reply(call, &r.base);
	}
	free(text);
}

static void on_call(void *ctx, struct rpc_call *call)
{
	struct service *svc = ctx;

	switch (call->method) {
	case RPC_SUBMIT:
	case RPC_PROVE:
		on_submit(svc, call);
		break;
	case RPC_AWAIT:
		on_await(svc, call);
		break;
	case RPC_CANCEL:
		on_cancel(svc, call);
		break;
	case RPC_STATUS:
		status_reply(svc, call);
		break;
	case RPC_METRICS:
		on_metrics(svc, call);
		break;
	case RPC_PRELOAD:
	case RPC_EVICT:
		on_load(svc, call);
		break;
	default:
		rpc_fail(call, GRPC_STATUS_UNIMPLEMENTED, "no such method");
	}
}

/*
 * The client went away.  Its job goes on, since it may come back for the proof,
 * unless the configuration says otherwise and nobody else wants it.
 */
static void waiter_gone(struct service *svc, struct waiter *w)
{
	struct job *job = w->job;

	waiter_free(w);
	if (!svc->config->global.cancel_on_disconnect || job->detached ||
	    !list_empty(&job->waiters) || !list_empty(&job->submitters))
		return;
	service_end(svc, job, JOB_CANCELLED, CUZK_ERROR_CANCELLED,
		    "the last client that waited for the job went away");
}

static void on_gone(void *ctx, struct rpc_call *call)
{
	if (call->method == RPC_PRELOAD || call->method == RPC_EVICT) {
		if (call->user)
			((struct loading *)call->user)->call = NULL;
	} else if (call->user) {
		waiter_gone(ctx, call->user);
	}
	rpc_fail(call, GRPC_STATUS_CANCELLED, "the client went away");
}

const struct rpc_ops api_ops = {
	.call = on_call,
	.gone = on_gone,
};
