/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * service.h - everything that the main loop owns
 *
 * One thread, the one that runs the event loop, owns all of this and calls all
 * functions declared here.  Other threads exist in two places only: behind
 * rpc.h (network) and behind journal.h (disk); both talk to the main loop by
 * queues.  The instances are processes.
 *
 * Files: service*.c tie the parts together, worker.c hears from the instances,
 * serves.c knows which kinds they serve, sched.c chooses what runs where, retry.c
 * decides what follows a failure, api.c answers the clients, status.c and
 * metrics.c tell how things are.
 */
#ifndef CUZK_PLUGIN_SERVICE_H
#define CUZK_PLUGIN_SERVICE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <systemd/sd-event.h>

#include "plugin/config.h"
#include "plugin/instance.h"
#include "plugin/job.h"
#include "plugin/journal.h"
#include "plugin/keep.h"
#include "plugin/learn.h"
#include "plugin/listen.h"
#include "plugin/log.h"
#include "plugin/rpc.h"

/* ---- histograms, as Prometheus has them ---- */

#define HIST_BUCKETS 16

struct hist {
	uint64_t count[HIST_BUCKETS + 1];	/* by bucket; the last: above all bounds */
	uint64_t n, sum_us;
};

/* ---- an instance, as the scheduler sees it ---- */

struct worker {
	struct service *svc;
	struct instance *inst;
	const struct config_device *device;	/* in svc->config */
	sd_event_source *source;
	uint32_t ordinal;
	uint32_t n_running;		/* partitions that it has */
	uint32_t n_urgent;		/* of them, urgent ones */
	uint32_t n_admitting;		/* requests that it checks */
	uint64_t admitting_bytes;	/* of those request files */
	bool held;			/* nothing new until it is idle: for one that runs alone */
	uint32_t n_tasks;		/* requests that it holds, admitted */
	uint64_t task_bytes;		/* of those request files */
	uint64_t suspect;		/* seq of a job that runs alone here; 0: none */
	uint64_t blocked_until_us;	/* a shortage of memory: nothing new until then */
	struct cuzk_circuit circuits[INSTANCE_CIRCUITS_MAX];
	uint64_t circuit_hash[INSTANCE_CIRCUITS_MAX];
	bool circuit_had[INSTANCE_CIRCUITS_MAX];	/* it was usable once */
	int n_circuits;
	uint64_t last_circuit;		/* hash of the one that it proved last */
	bool tested;			/* it passed its self-test at least once */
	uint64_t told_peak;		/* resident bytes that the journal has */
	uint32_t width;			/* partitions that its memory had room for; 0: not known */
	uint64_t width_until_us;	/* then more are tried again */
	bool stale;			/* it has worked since it told its circuits */
};

/* ---- a preload or evict under way ---- */

struct loading {
	struct list entry;
	struct rpc_call *call;		/* NULL: the client went away */
	bool evict;
	uint64_t cookie;
	uint64_t started_us;
	uint64_t open;			/* bit per worker that has not answered */
	bool was;
	uint64_t bytes;
	int status;
	char text[CUZK_ERROR_TEXT];
};

struct service {
	sd_event *event;
	struct config *config;
	const char *config_path;
	struct rpc *rpc;
	struct journal *journal;
	struct jobs jobs;
	struct worker workers[CONFIG_DEVICES_MAX];
	uint32_t n_workers;
	uint64_t next_tag, next_cookie;
	uint32_t n_unplanned;		/* waiting jobs that no engine has admitted yet */
	bool abandoned;			/* closed, but for the network: see rpc_close() */
	uint64_t started_wall_us;
	int64_t tls_expiry;		/* of the certificate, in seconds since 1970; 0: no TLS */
	uint32_t kinds;			/* served, as the log says; bit per kind */
	bool kinds_told;
	bool may_be_stranded;		/* an instance changed: jobs may have none left */
	bool delayed;			/* a partition may have not_before_us set */
	struct list loadings;
	sd_event_source *sched_source;	/* deferred: something changed */
	sd_event_source *timer;		/* the next time at which sched_run() may do more */
	unsigned long trimmed_at;	/* rpc_submissions(), when the heap was looked at last */
	unsigned int idle_ticks;	/* ticks without a job since then */
	sd_event_source *tick;		/* each second: deadlines, expiry, STATUS= */
	sd_event_source *rpc_source, *journal_source;
	struct listener *listener;
	struct listen_ops rpc_listen, http_listen;
	struct http *http;
	struct notify *notify;
	uint64_t host_free;		/* at start; UINT64_MAX: not known */
	uint64_t host_total;		/* bytes that the instances may reserve; 0: no limit */
	struct keep keep;		/* memory of engines */
	struct learn learn;		/* how long stages take */
	bool keep_settled;		/* what no instance wanted is gone */
	uint64_t started_us;
	int exit_status;
	bool opened;			/* service_close() has something to do */

	/* phases */
	bool ready;			/* READY=1 was said */
	bool draining;			/* no new jobs, no new partitions */
	uint64_t drain_until_us;

	/* keep-warm: a WinningPoSt to prove again; see warm.c */
	struct submission warm;
	bool warm_known;
	uint64_t warm_us;		/* when a WinningPoSt was proved last */
	uint64_t warm_seq;		/* of the job that does it now; 0: none */
	struct hist keep_warm;

	/* what happened since start */
	uint64_t accepted, attached, refused_full, refused_input, reproved, invalid, resumed;
	uint64_t foreign_results;	/* in the journal at start; see service_prover() */
	uint64_t deaths, part_ok[CUZK_KIND_COUNT];
	double part_us[CUZK_KIND_COUNT];	/* moving average of one partition; 0: not known */
	struct hist dispatch, queue_wait[CUZK_KIND_COUNT], total[CUZK_KIND_COUNT];
	struct hist stage[CUZK_STAGE_COUNT];
};

uint64_t now_us(void);			/* CLOCK_MONOTONIC */
uint64_t wall_us(void);			/* CLOCK_REALTIME */

/*
 * Exit statuses, besides 0 and EXIT_FAILURE.  What is wrong is wrong until somebody
 * changes the configuration; what is not ready may be there at the next try.
 */
#define EXIT_CONFIG 2
#define EXIT_NOT_READY 75		/* EX_TEMPFAIL of sysexits.h */

/* ---- service-open.c, service-journal.c ---- */

/* Everything up to the running loop; 0 or -errno, after it was logged, and exit_status is set. */
int service_open(struct service *svc);
void service_close(struct service *svc);
int service_open_journal(struct service *svc);
/* Whose proofs an instance makes: a number of its engine and of where parameters are. Never 0. */
uint32_t service_prover(const struct service *svc, const struct config_device *device);

/* ---- service.c ---- */

/* The loop's own events: scheduling, timers. 0 or -errno. */
int service_add_sources(struct service *svc);
/* STATUS= as it is now. */
void service_show(struct service *svc);
/* The fields of a line about a job. */
struct log_fields service_job_fields(const struct job *job, const char *event);
/* Looks again at what may run, before the loop sleeps. */
void service_wake(struct service *svc);
/* Ends the loop when nothing keeps it: drained, or no instance left. */
void service_check(struct service *svc);
/* SIGTERM: the first drains, the second ends at once. */
void service_stop(struct service *svc);
void service_reload(struct service *svc);

/* A new job out of sub, queued and on its way to the journal; -errno: there is none. */
int service_accept(struct service *svc, struct submission *sub, uint32_t uid, struct job **job);
/*
 * A job that could not be written down when it came, once more, with what was
 * done of it; sub is the same request.  0, accepting it is set, or -errno.
 */
int service_accept_again(struct service *svc, struct job *job, const struct submission *sub);
/* Ends a job: tells who waits, frees what instances hold, writes it down. */
void service_end(struct service *svc, struct job *job, enum job_state state, uint32_t cls,
		 const char *text);
/* Has an instance still something of it, or waits a client for its record? */
bool service_job_busy(const struct service *svc, const struct job *job);
/* Forgets finished jobs that are too old or too many. */
void service_expire(struct service *svc);

/* ---- worker.c ---- */

extern const struct instance_ops worker_ops;

/* Once a second: asks for the circuits again after work, which may have loaded some. */
void worker_tick(struct worker *w);
void worker_free_task(struct worker *w, struct job *job);

/* ---- serves.c ---- */

bool worker_usable(const struct worker *w);	/* it takes work */
bool worker_hopeless(const struct worker *w);	/* it never will again by itself */
/* Serves the job's kind, and has parameters for it as far as is known. */
bool worker_serves(const struct worker *w, const struct job *job);
/* Is there one that is not hopeless and serves it? */
bool workers_can(const struct service *svc, const struct job *job);
/*
 * Is there an instance for this kind and sector size (0: any)?  False when all
 * that are configured for it are out for good or have said that the parameters
 * are absent or bad; why (may be NULL) then says which and of what class that is.
 */
bool workers_have(const struct service *svc, uint32_t kind, uint64_t sector_size,
		  struct cuzk_error *why);
/* Logs the kinds that are not served, then those for which that has changed. */
void workers_tell_kinds(struct service *svc);
/* Fails a job that no instance serves, and says which are out and why. */
void job_end_unserved(struct service *svc, struct job *job);
/* Does so with the jobs that no instance can prove any more, nor one that may come back. */
void workers_end_stranded(struct service *svc);

/* ---- sched.c ---- */

/* Hands out what can be handed out. */
void sched_run(struct service *svc);
/* Jobs that run before this one starts; 0 when it has started. */
uint32_t sched_position(const struct service *svc, const struct job *job);
/* Until everything that waits is done, as far as history tells; us. 0: not known. */
uint64_t sched_estimate(const struct service *svc);
/* The next time at which sched_run() could do more than now; UINT64_MAX: none. */
uint64_t sched_next_us(struct service *svc);

/* ---- retry.c ---- */

/* A partition came back without a proof. */
void retry_failed(struct service *svc, struct worker *w, struct job *job, uint32_t partition,
		  const struct cuzk_result *result);
/* The instance that had the partition died. guilty: it had started on it; cls: if it fails. */
void retry_died(struct service *svc, struct worker *w, struct job *job, uint32_t partition,
		bool guilty, uint32_t cls, const char *reason);
/* Has the job done that worker enough harm, or the worker the job, and are others left? */
bool retry_bars(const struct service *svc, const struct worker *w, const struct job *job);
/* May this partition go to that worker now? */
bool retry_allows(const struct service *svc, const struct worker *w, const struct job *job,
		  const struct part *part, uint64_t now);

/* ---- service-keep.c: kept memory, between the instances and keep.h ---- */

void service_keep_give(struct worker *w);
void service_keep_put(struct worker *w, const char *name, int fd, uint64_t bytes);
void service_keep_use(struct worker *w, const char *name);
void service_keep_drop(struct worker *w, const char *name);
/* Once every instance has had its start: what none has taken goes. */
void service_keep_settle(struct service *svc);

/* ---- service-memory.c ---- */

/* Sets the budgets anew, after an instance went or the configuration changed. */
void service_share_memory(struct service *svc);

/* service-open.c: the certificates' files, read again; those that are no good change nothing. */
void service_renew_tls(struct service *svc);

/* ---- api.c ---- */

extern const struct rpc_ops api_ops;

/* The job has ended: everybody who waits gets the result. */
void api_job_ended(struct service *svc, struct job *job);
/* The job is on disk, or err says why not. */
void api_job_durable(struct service *svc, struct job *job, int err);
/* Everybody who waits gets UNAVAILABLE: the service ends. */
void api_release_all(struct service *svc);
void api_loaded(struct service *svc, struct worker *w, uint64_t cookie, int status, bool was,
		uint64_t bytes, const struct cuzk_error *err);
/* The instance will not answer what it was asked to load. */
void api_loading_died(struct service *svc, struct worker *w);

/* ---- warm.c ---- */

/* A job is about to end: a WinningPoSt is remembered, a proof of our own is measured. */
void warm_job_ends(struct service *svc, const struct job *job, enum job_state state,
		   const char *text);
/* Once a second: is it time for one? */
void warm_tick(struct service *svc);
void warm_close(struct service *svc);

/* ---- status.c ---- */

void status_reply(struct service *svc, struct rpc_call *call);
void status_json(const struct service *svc, FILE *f);
/* The life of a job as a trace, for chrome://tracing and ui.perfetto.dev. */
void trace_json(const struct service *svc, const struct job *job, FILE *f);
/* One line for people, as STATUS= shows it. */
void status_line(const struct service *svc, char *line, size_t size);

/* ---- metrics.c ---- */

void hist_add(struct hist *hist, uint64_t us);
void metrics_text(const struct service *svc, FILE *f);

#endif
