/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* instance.h - what the tests of instances share: a configuration, a loop, a record */
#ifndef CUZK_T_INSTANCE_H
#define CUZK_T_INSTANCE_H

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "engine/null/rule.h"
#include "plugin/instance.h"
#include "plugin/request.h"
#include "t/tap.h"

#define REC_MAX 4096

/* What the callbacks of one instance said. */
struct record {
	struct config *cfg;
	struct instance *inst;
	enum instance_state state;
	unsigned int n_states[INSTANCE_STOPPED + 1];
	unsigned int n_admitted, n_refused, n_completed, n_good, n_died, n_loaded, n_circuits;
	unsigned int n_heartbeats, n_logs;
	struct cuzk_plan plan;
	struct cuzk_error refusal, load_error;
	struct cuzk_result result;		/* the last */
	uint64_t tag, cookie, load_bytes;
	uint32_t partition;
	int load_status, refusal_status;
	bool was;
	struct cuzk_circuit circuits[INSTANCE_CIRCUITS_MAX];
	int circuits_len;
	enum instance_death death;
	char reason[INSTANCE_REASON];
	struct instance_flight flight[INSTANCE_FLIGHT_MAX];
	int n_flight;
	uint8_t digest[32];			/* of the request whose proofs come */
};

static inline uint64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000ull + ts.tv_nsec / 1000000;
}

static void on_state(void *ctx, struct instance *inst, enum instance_state state,
		     const char *reason)
{
	struct record *r = ctx;

	r->state = state;
	r->n_states[state]++;
}

static void on_admitted(void *ctx, struct instance *inst, uint64_t task,
			const struct cuzk_plan *plan)
{
	struct record *r = ctx;

	r->plan = *plan;
	r->n_admitted++;
}

static void on_refused(void *ctx, struct instance *inst, uint64_t task, int status,
		       const struct cuzk_error *err)
{
	struct record *r = ctx;

	r->refusal = *err;
	r->refusal_status = status;
	r->n_refused++;
}

static void on_completed(void *ctx, struct instance *inst, uint64_t task, uint32_t partition,
			 uint64_t tag, const struct cuzk_result *result)
{
	uint8_t proof[CUZK_PARTITION_PROOF_SIZE];
	struct record *r = ctx;

	r->result = *result;
	r->tag = tag;
	r->partition = partition;
	r->n_completed++;
	null_proof(r->digest, partition, proof);
	if (!result->status && !memcmp(proof, result->proof, sizeof(proof)))
		r->n_good++;
}

static void on_heartbeat(void *ctx, struct instance *inst, uint64_t tag, uint32_t stage,
			 uint64_t done, uint64_t total)
{
	((struct record *)ctx)->n_heartbeats++;
}

static void on_log(void *ctx, struct instance *inst, int priority, const char *line)
{
	((struct record *)ctx)->n_logs++;
}

static void on_circuits(void *ctx, struct instance *inst, const struct cuzk_circuit *circuits,
			int n)
{
	struct record *r = ctx;

	memcpy(r->circuits, circuits, n * sizeof(*circuits));
	r->circuits_len = n;
	r->n_circuits++;
}

static void on_loaded(void *ctx, struct instance *inst, uint64_t cookie, int status, bool was,
		      uint64_t bytes, const struct cuzk_error *err)
{
	struct record *r = ctx;

	r->cookie = cookie;
	r->load_status = status;
	r->was = was;
	r->load_bytes = bytes;
	r->load_error = *err;
	r->n_loaded++;
}

static void on_died(void *ctx, struct instance *inst, enum instance_death death,
		    const char *reason, const struct instance_flight *flight, int n)
{
	struct record *r = ctx;

	r->death = death;
	snprintf(r->reason, sizeof(r->reason), "%s", reason);
	memcpy(r->flight, flight, n * sizeof(*flight));
	r->n_flight = n;
	r->n_died++;
}

static const struct instance_ops record_ops = {
	.state = on_state, .admitted = on_admitted, .refused = on_refused,
	.completed = on_completed, .heartbeat = on_heartbeat, .log = on_log,
	.circuits = on_circuits, .loaded = on_loaded, .died = on_died,
};

static void print_report(void *ctx, const char *line)
{
	diag("%s", line);
}

static inline const char *build_dir(void)
{
	const char *dir = getenv("CUZK_BUILDDIR");

	return dir ? dir : ".";
}

/*
 * A configuration with short limits, an engine (library; "null" is the built
 * one) and [cpu]; more is appended: global lines up to "|", then those of the
 * engine.
 */
static struct config *make_config(const char *library, const char *global, const char *engine)
{
	struct config *cfg = NULL;
	char cwd[2048], text[8192], lib[4200];
	size_t len;

	if (*build_dir() != '/' && !getcwd(cwd, sizeof(cwd)))
		return NULL;
	if (*build_dir() == '/')
		snprintf(cwd, sizeof(cwd), "%s", build_dir());
	if (!strcmp(library, "null"))
		snprintf(lib, sizeof(lib), "%s/.libs/null.so", cwd);
	else
		snprintf(lib, sizeof(lib), "%s", library);
	len = snprintf(text, sizeof(text),
		       "[global]\n%s%s%s\n"
		       "%s"
		       "kill_grace = 100ms\nrestart_delay = 20ms\n"
		       "restart_delay_max = 100ms\nstage_limit_ntt = 500ms\n%s"
		       "[engine e]\nlibrary = %s\n%s"
		       "[cpu]\nengine = e\n",
		       strstr(global, "instance_program") ? "" : "instance_program = ",
		       strstr(global, "instance_program") ? "" : cwd,
		       strstr(global, "instance_program") ? "" : "/cuzk-instance",
		       strstr(global, "heartbeat_limit") ? "" : "heartbeat_limit = 500ms\n",
		       global, lib, engine);
	config_parse(&cfg, "t.conf", text, len, print_report, NULL);
	return cfg;
}

static struct record *open_record(const char *library, const char *global, const char *engine)
{
	struct record *r = calloc(1, sizeof(*r));
	struct instance_config config = { .version = "test" };
	int err;

	r->cfg = make_config(library, global, engine);
	if (!r->cfg) {
		ok(false, "a configuration");
		exit(tap_done());
	}
	config.device = &r->cfg->devices[0];
	config.engine = &r->cfg->engines[0];
	config.global = &r->cfg->global;
	config.host_budget = 1 << 20;
	err = instance_open(&r->inst, &config, &record_ops, r);
	if (err) {
		ok(false, "an instance opens: %s", strerror(-err));
		exit(tap_done());
	}
	return r;
}

static void close_record(struct record *r)
{
	instance_close(r->inst);
	config_free(r->cfg);
	free(r);
}

/* One turn of a main loop. */
static void turn(struct record *r)
{
	struct pollfd fd = { instance_fd(r->inst), POLLIN };

	if (poll(&fd, 1, 20) > 0)
		instance_process(r->inst);
}

/* Turns until cond holds or 20 s have passed (more under a sanitizer's load). */
#define WAIT_FOR(r, cond) ({							\
	uint64_t end_ = now_ms() + 20000;					\
	while (!(cond) && now_ms() < end_)					\
		turn(r);							\
	(cond); })

static inline bool wait_ready(struct record *r)
{
	return WAIT_FOR(r, r->state == INSTANCE_READY || r->state == INSTANCE_QUARANTINED) &&
	       r->state == INSTANCE_READY;
}

/* Not where there is no process: signals to 0 go to the whole process group, make's too. */
static inline void signal_child(struct record *r, int sig)
{
	struct instance_status s;

	instance_status(r->inst, &s);
	if (s.pid > 0)
		kill(s.pid, sig);
}

/* Packs a PoRep request for a sector, and notes its digest. */
static int make_request(struct record *r, uint64_t sector)
{
	struct cuzk_request rq = {
		.size = sizeof(rq), .kind = CUZK_KIND_POREP, .miner_id = 1000,
		.sector_number = sector, .vanilla_proof = { "vanilla", 7 },
	};
	int fd = -1;

	null_digest(&rq, r->digest);
	request_pack(&rq, &fd);
	return fd;
}

/* Admits a request and waits for the answer. true: admitted. */
static inline bool admit(struct record *r, uint64_t task, uint64_t sector)
{
	unsigned int admitted = r->n_admitted, refused = r->n_refused, died = r->n_died;
	int fd = make_request(r, sector), err;

	err = instance_admit(r->inst, task, fd, false);
	close(fd);
	if (err)
		return false;
	WAIT_FOR(r, r->n_admitted > admitted || r->n_refused > refused || r->n_died > died);
	return r->n_admitted > admitted;
}

#endif
