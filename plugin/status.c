/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* status.c - how things are: GetStatus, /status and STATUS= */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/proto/cuzk.pb-c.h"
#include "plugin/log.h"
#include "plugin/service.h"

#define STATUS_JOBS_MAX 1000	/* in the JSON, the oldest: the main loop writes it */

struct totals {
	uint32_t pending[CUZK_KIND_COUNT], running[CUZK_KIND_COUNT];
	uint64_t completed, failed;
};

static void count(const struct service *svc, struct totals *t)
{
	struct list *pos;
	uint32_t k;

	memset(t, 0, sizeof(*t));
	list_each(pos, &svc->jobs.waiting) {
		const struct job *job = list_entry(pos, struct job, entry);

		if (job->started_us)
			t->running[job->kind]++;
		else
			t->pending[job->kind]++;
	}
	for (k = 0; k < CUZK_KIND_COUNT; k++) {
		t->completed += svc->jobs.completed[k];
		t->failed += svc->jobs.failed[k];
	}
}

/* The job of the partition that an instance runs now; NULL: none. */
static const struct job *current_job(const struct service *svc, const struct worker *w)
{
	struct instance_flight flights[INSTANCE_FLIGHT_MAX];
	int n = instance_flights(w->inst, flights, INSTANCE_FLIGHT_MAX), i;

	for (i = 0; i < n && i < INSTANCE_FLIGHT_MAX; i++)
		if (flights[i].started)
			return jobs_find_seq(&svc->jobs, flights[i].task);
	return n > 0 ? jobs_find_seq(&svc->jobs, flights[0].task) : NULL;
}

/* ---- GetStatus ---- */

struct reply {
	Cuzk__V1__GetStatusResponse r;
	Cuzk__V1__GPUStatus gpu[CONFIG_DEVICES_MAX], *gpus[CONFIG_DEVICES_MAX];
	struct instance_status instance[CONFIG_DEVICES_MAX];	/* the reasons are in them */
	Cuzk__V1__SRSStatus srs[INSTANCE_CIRCUITS_MAX], *srss[INSTANCE_CIRCUITS_MAX];
	Cuzk__V1__CircuitStatus circuit[INSTANCE_CIRCUITS_MAX], *circuits[INSTANCE_CIRCUITS_MAX];
	uint32_t best[INSTANCE_CIRCUITS_MAX];	/* their states */
	Cuzk__V1__QueueStatus queue[CUZK_KIND_COUNT], *queues[CUZK_KIND_COUNT];
};

static void fill_gpus(const struct service *svc, struct reply *p)
{
	uint32_t i;

	for (i = 0; i < svc->n_workers; i++) {
		const struct worker *w = &svc->workers[i];
		const struct job *job = current_job(svc, w);
		Cuzk__V1__GPUStatus *g = &p->gpu[i];
		struct instance_status *st = &p->instance[i];

		instance_status(w->inst, st);
		cuzk__v1__gpustatus__init(g);
		g->ordinal = w->ordinal;
		g->name = (char *)instance_name(w->inst);
		g->vram_total_bytes = w->device->vram_budget;
		if (st->device_peak < w->device->vram_budget)
			g->vram_free_bytes = w->device->vram_budget - st->device_peak;
		g->state = (char *)instance_state_name(st->state);
		g->reason = st->reason;
		if (job) {
			g->current_job_id = (char *)job->id;
			g->current_proof_kind = (char *)config_kind_name(job->kind);
		}
		p->gpus[i] = g;
		p->r.pinned_memory_bytes += st->host_reserved;
		p->r.pinned_memory_limit_bytes += st->host_budget;
	}
	p->r.n_gpus = svc->n_workers;
	p->r.gpus = p->gpus;
}

static Cuzk__V1__SRSStatus__Tier tier(uint32_t state)
{
	switch (state) {
	case CUZK_PARAMS_HOT:
		return CUZK__V1__SRSSTATUS__TIER__HOT;
	case CUZK_PARAMS_WARM:
		return CUZK__V1__SRSSTATUS__TIER__WARM;
	default:
		return CUZK__V1__SRSSTATUS__TIER__COLD;
	}
}

/* A circuit is shown once, in the best state that it has in any instance. */
static void fill_srs(const struct service *svc, struct reply *p)
{
	uint32_t i, k;
	int c;

	for (i = 0; i < svc->n_workers; i++) {
		const struct worker *w = &svc->workers[i];

		for (c = 0; c < w->n_circuits; c++) {
			const struct cuzk_circuit *circuit = &w->circuits[c];

			if (circuit->state < CUZK_PARAMS_COLD)
				continue;
			for (k = 0; k < p->r.n_loaded_srs; k++)
				if (!strcmp(p->srs[k].circuit_id, circuit->id))
					break;
			if (k == INSTANCE_CIRCUITS_MAX)
				continue;
			if (k == p->r.n_loaded_srs) {
				cuzk__v1__srsstatus__init(&p->srs[k]);
				p->srs[k].circuit_id = (char *)circuit->id;
				p->srs[k].tier = CUZK__V1__SRSSTATUS__TIER__COLD;
				p->srss[k] = &p->srs[k];
				p->r.n_loaded_srs++;
			}
			if (tier(circuit->state) < p->srs[k].tier)
				p->srs[k].tier = tier(circuit->state);
			p->srs[k].size_bytes = circuit->params_bytes;
			p->srs[k].ref_count += circuit->users;
		}
	}
	p->r.loaded_srs = p->srss;
}

static const char *params_name(uint32_t state)
{
	static const char *const names[] = { "absent", "bad", "cold", "warm", "hot" };

	return state < sizeof(names) / sizeof(names[0]) ? names[state] : "?";
}

/* Likewise, those without parameters included. */
static void fill_circuits(const struct service *svc, struct reply *p)
{
	uint32_t i, k, n = 0;
	int c;

	for (i = 0; i < svc->n_workers; i++) {
		const struct worker *w = &svc->workers[i];

		for (c = 0; c < w->n_circuits; c++) {
			const struct cuzk_circuit *circuit = &w->circuits[c];
			Cuzk__V1__CircuitStatus *s;

			for (k = 0; k < n; k++)
				if (!strcmp(p->circuit[k].circuit_id, circuit->id))
					break;
			if (k == INSTANCE_CIRCUITS_MAX ||
			    (k < n && circuit->state <= p->best[k]))
				continue;
			s = &p->circuit[k];
			cuzk__v1__circuit_status__init(s);
			s->circuit_id = (char *)circuit->id;
			s->proof_kind = (char *)config_kind_name(circuit->kind);
			s->state = (char *)params_name(circuit->state);
			s->reason = (char *)circuit->reason;
			s->sector_size = circuit->sector_size;
			p->best[k] = circuit->state;
			p->circuits[k] = s;
			n += k == n;
		}
	}
	p->r.n_circuits = n;
	p->r.circuits = p->circuits;
}

static void fill_queues(const struct totals *t, struct reply *p)
{
	uint32_t k, n = 0;

	for (k = CUZK_KIND_POREP; k < CUZK_KIND_COUNT; k++) {
		Cuzk__V1__QueueStatus *q = &p->queue[n];

		cuzk__v1__queue_status__init(q);
		q->proof_kind = (char *)config_kind_name(k);
		q->pending = t->pending[k];
		q->in_progress = t->running[k];
		p->queues[n++] = q;
	}
	p->r.n_queues = n;
	p->r.queues = p->queues;
}

void status_reply(struct service *svc, struct rpc_call *call)
{
	struct reply *p = calloc(1, sizeof(*p));
	struct totals t;

	if (!p) {
		rpc_fail(call, GRPC_STATUS_RESOURCE_EXHAUSTED, "no memory");
		return;
	}
	count(svc, &t);
	cuzk__v1__get_status_response__init(&p->r);
	fill_gpus(svc, p);
	fill_srs(svc, p);
	fill_circuits(svc, p);
	fill_queues(&t, p);
	p->r.total_proofs_completed = t.completed;
	p->r.total_proofs_failed = t.failed;
	p->r.uptime_seconds = (now_us() - svc->started_us) / 1000000;
	rpc_reply(call, &p->r.base);
	free(p);
}

/* ---- JSON ---- */

static void quoted(FILE *f, const char *s)
{
	putc('"', f);
	for (; *s; s++) {
		unsigned char c = *s;

		if (c == '"' || c == '\\')
			fprintf(f, "\\%c", c);
		else if (c < ' ')
			fprintf(f, "\\u%04x", c);
		else
			putc(c, f);
	}
	putc('"', f);
}

static void flights_json(const struct service *svc, const struct worker *w, FILE *f)
{
	struct instance_flight flights[INSTANCE_FLIGHT_MAX];
	int n = instance_flights(w->inst, flights, INSTANCE_FLIGHT_MAX), i;
	uint64_t now = now_us() / 1000;

	fprintf(f, ",\"partitions\":[");
	for (i = 0; i < n && i < INSTANCE_FLIGHT_MAX; i++) {
		const struct instance_flight *fl = &flights[i];
		const struct job *job = jobs_find_seq(&svc->jobs, fl->task);

		fprintf(f, "%s{\"job\":", i ? "," : "");
		quoted(f, job ? job->id : "");
		fprintf(f, ",\"partition\":%u,\"stage\":\"%s\",\"done\":%" PRIu64
			",\"total\":%" PRIu64 ",\"stage_ms\":%" PRIu64 ",\"started\":%s}",
			fl->partition, config_stage_name(fl->stage), fl->done, fl->total,
			now > fl->since_ms ? now - fl->since_ms : 0,
			fl->started ? "true" : "false");
	}
	putc(']', f);
}

static void worker_json(const struct service *svc, const struct worker *w, FILE *f)
{
	struct instance_status st;
	uint32_t i;

	instance_status(w->inst, &st);
	fprintf(f, "{\"name\":");
	quoted(f, instance_name(w->inst));
	fprintf(f, ",\"state\":\"%s\",\"reason\":", instance_state_name(st.state));
	quoted(f, st.reason);
	fprintf(f, ",\"engine\":");
	quoted(f, st.engine_name);
	fprintf(f, ",\"engine_version\":");
	quoted(f, st.engine_version);
	fprintf(f, ",\"pid\":%d,\"starts\":%" PRIu64 ",\"faults\":%" PRIu64 ",\"completed\":%"
		PRIu64 ",\"failed\":%" PRIu64 ",\"invalid\":%" PRIu64 ",\"resident_bytes\":%" PRIu64
		",\"host_reserved_bytes\":%" PRIu64 ",\"host_peak_bytes\":%" PRIu64
		",\"host_budget_bytes\":%" PRIu64 ",\"device_peak_bytes\":%" PRIu64
		",\"bytes_up\":%" PRIu64 ",\"bytes_down\":%" PRIu64 ",\"up_seconds\":%.6f",
		(int)st.pid, st.starts, st.faults, st.completed, st.failed, st.invalid, st.resident,
		st.host_reserved, st.host_peak, st.host_budget, st.device_peak, st.bytes_up,
		st.bytes_down, st.up_ns / 1e9);
	fprintf(f, ",\"memory\":[");
	for (i = 0; i < st.n_memory; i++) {
		fprintf(f, "%s{\"name\":", i ? "," : "");
		quoted(f, st.memory[i].name);
		fprintf(f, ",\"reserved_bytes\":%" PRIu64 ",\"peak_bytes\":%" PRIu64 "}",
			st.memory[i].reserved, st.memory[i].peak);
	}
	putc(']', f);
	flights_json(svc, w, f);
	fprintf(f, ",\"circuits\":[");
	for (i = 0; i < (uint32_t)w->n_circuits; i++) {
		const struct cuzk_circuit *c = &w->circuits[i];

		fprintf(f, "%s{\"id\":", i ? "," : "");
		quoted(f, c->id);
		fprintf(f, ",\"kind\":\"%s\",\"state\":\"%s\",\"params_bytes\":%" PRIu64
			",\"users\":%u,\"reason\":", config_kind_name(c->kind),
			params_name(c->state), c->params_bytes, c->users);
		quoted(f, c->reason);
		putc('}', f);
	}
	fprintf(f, "]}");
}

static void job_json(const struct job *job, FILE *f)
{
	uint64_t now = now_us();

	fprintf(f, "{\"id\":");
	quoted(f, job->id);
	fprintf(f, ",\"request_id\":");
	quoted(f, job->request_id);
	fprintf(f, ",\"kind\":\"%s\",\"priority\":%u,\"circuit\":", config_kind_name(job->kind),
		job->priority);
	quoted(f, job->planned ? job->plan.circuit : "");
	fprintf(f, ",\"partitions\":%u,\"done\":%u,\"running\":%u,\"age_ms\":%" PRIu64,
		job->planned ? job->plan.n_partitions : 0, job->n_done, job->n_running,
		(now - job->accepted_us) / 1000);
	if (job->deadline_us != UINT64_MAX)
		fprintf(f, ",\"deadline_ms\":%" PRId64,
			((int64_t)job->deadline_us - (int64_t)now) / 1000);
	fprintf(f, ",\"resumed\":%s}", job->resumed ? "true" : "false");
}

void status_json(const struct service *svc, FILE *f)
{
	struct list *pos;
	struct totals t;
	char line[256];
	uint32_t i, n;

	count(svc, &t);
	status_line(svc, line, sizeof(line));
	fprintf(f, "{\"version\":\"%s\",\"ready\":%s,\"draining\":%s,\"status\":", PACKAGE_VERSION,
		svc->ready ? "true" : "false", svc->draining ? "true" : "false");
	quoted(f, line);
	fprintf(f, ",\"uptime_seconds\":%" PRIu64 ",\"completed\":%" PRIu64 ",\"failed\":%" PRIu64,
		(now_us() - svc->started_us) / 1000000, t.completed, t.failed);
	fprintf(f, ",\"accepted\":%" PRIu64 ",\"attached\":%" PRIu64 ",\"resumed\":%" PRIu64
		",\"reproved\":%" PRIu64 ",\"invalid\":%" PRIu64 ",\"instance_deaths\":%" PRIu64,
		svc->accepted, svc->attached, svc->resumed, svc->reproved, svc->invalid,
		svc->deaths);
	fprintf(f, ",\"queue\":{\"jobs\":%u,\"bytes\":%" PRIu64 ",\"limit\":%" PRIu64
		",\"estimate_seconds\":%.3f,\"kinds\":[", svc->jobs.n_waiting,
		svc->jobs.waiting_bytes, svc->config->global.queue_limit,
		sched_estimate(svc) / 1e6);
	for (i = CUZK_KIND_POREP; i < CUZK_KIND_COUNT; i++)
		fprintf(f, "%s{\"kind\":\"%s\",\"served\":%s,\"pending\":%u,\"in_progress\":%u,"
			"\"partition_ms\":%.3f}",
			i > CUZK_KIND_POREP ? "," : "", config_kind_name(i),
			svc->kinds >> i & 1 ? "true" : "false", t.pending[i], t.running[i],
			svc->part_us[i] / 1e3);
	fprintf(f, "]},\"instances\":[");
	for (i = 0; i < svc->n_workers; i++) {
		if (i)
			putc(',', f);
		worker_json(svc, &svc->workers[i], f);
	}
	fprintf(f, "],\"jobs\":[");
	n = 0;
	list_each(pos, &svc->jobs.waiting) {
		if (n == STATUS_JOBS_MAX)
			break;
		if (n++)
			putc(',', f);
		job_json(list_entry(pos, struct job, entry), f);
	}
	fprintf(f, "],\"jobs_left_out\":%u}\n", svc->jobs.n_waiting - n);
}

/* ---- one line ---- */

void status_line(const struct service *svc, char *line, size_t size)
{
	uint32_t usable = 0, running = 0, down = 0, i, k, n = 0;
	struct totals t;
	size_t len;

	count(svc, &t);
	for (i = 0; i < svc->n_workers; i++) {
		usable += worker_usable(&svc->workers[i]);
		down += worker_hopeless(&svc->workers[i]);
		running += svc->workers[i].n_running;
	}
	if (!svc->ready) {
		snprintf(line, size, "starting: %u of %u instances ready", usable, svc->n_workers);
		return;
	}
	snprintf(line, size, "%s%u of %u instances ready%s, %u jobs waiting, %u partitions "
		 "running, %" PRIu64 " proofs made, %" PRIu64 " failed", svc->draining ? "stopping: " : "",
		 usable, svc->n_workers, down ? " (some are down)" : "", svc->jobs.n_waiting,
		 running, t.completed, t.failed);
	for (k = CUZK_KIND_POREP; svc->kinds_told && k < CUZK_KIND_COUNT; k++) {
		len = strlen(line);
		if (!(svc->kinds >> k & 1))
			snprintf(line + len, size - len, "%s %s", n++ ? "," : "; disabled:",
				 config_kind_name(k));
	}
}
