/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * job.h - a proof that is to be made, and the table of all of them
 *
 * A job's identity is the digest of its request.  Its unit of work is the
 * partition: scheduled, retried, resumed and verified each for itself.
 *
 * Everything here belongs to the main thread.
 */
#ifndef CUZK_PLUGIN_JOB_H
#define CUZK_PLUGIN_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "plugin/api/cuzk_engine.h"
#include "plugin/config.h"
#include "plugin/hash.h"
#include "plugin/list.h"
#include "plugin/submit.h"

#define JOB_ID_SIZE 128
#define JOB_PARTITIONS_MAX 4096	/* what an engine may plan; PoRep 10, update 16, NI-PoRep 126 */

enum job_state {
	JOB_WAITING,		/* accepted; not every partition is done */
	JOB_COMPLETED,
	JOB_FAILED,
	JOB_CANCELLED,
};

enum part_state {
	PART_WAITING,
	PART_RUNNING,		/* with an instance */
	PART_DONE,
};

struct part {
	enum part_state state;
	uint32_t failures;		/* counted against the limit of retries */
	uint32_t shortages;		/* ended with CUZK_ERROR_RESOURCE; not counted there */
	uint64_t failed_once;		/* bit per worker: it failed there */
	uint64_t failed_twice;		/* bit per worker: not there again */
	uint32_t worker;		/* RUNNING: ordinal of the worker */
	uint32_t prover;		/* DONE: service_prover() of who made it */
	bool urgent;			/* RUNNING: beside the others there */
	uint64_t tag;			/* RUNNING */
	uint64_t not_before_us;		/* WAITING after a shortage */
	uint64_t started_us;		/* RUNNING or DONE: when it was handed over */
	uint64_t done_us;		/* DONE */
	uint64_t stage_ns[16];		/* DONE: by enum cuzk_stage */
	uint64_t bytes_up, bytes_down;	/* DONE: moved to and from the device */
	uint64_t up_ns;			/* DONE: in which bytes_up were on their way */
	uint8_t proof[CUZK_PARTITION_PROOF_SIZE];	/* DONE */
};

/* A run of a partition that gave no proof, for the trace. */
struct attempt {
	uint64_t started_us, ended_us;
	uint32_t partition, worker;
	uint32_t cls;			/* enum cuzk_error_class */
	bool died;			/* the instance did */
};

#define JOB_ATTEMPTS_MAX 8

enum task_state {
	TASK_NONE,
	TASK_ADMITTING,
	TASK_ADMITTED,
};

struct job {
	/* identity */
	uint64_t seq;			/* number in this state directory; an instance's task */
	char id[JOB_ID_SIZE];
	char request_id[SUBMIT_ID_SIZE];
	uint8_t digest[SUBMIT_DIGEST_SIZE];
	uint32_t uid;			/* of the first client; UINT32_MAX: not known */

	/* what it asks for */
	uint32_t kind;
	uint32_t priority;		/* enum submit_priority */
	uint32_t partition_index;
	uint64_t registered_proof, sector_size, sector_number, miner_id;
	/* the earliest and the latest of all who asked; CLOCK_MONOTONIC; UINT64_MAX: none */
	uint64_t deadline_us;
	uint64_t useless_us;		/* nobody wants it any more */
	int fd;				/* request file; -1 once it is not needed */
	uint64_t bytes;			/* of the request file */

	/* how far it is */
	enum job_state state;
	bool planned;			/* an engine admitted it: plan and parts are set */
	bool durable;			/* the journal has it on disk */
	bool accepting;			/* on its way there */
	bool resumed;			/* came out of the journal */
	bool detached;			/* a client submitted it and does not wait */
	bool internal;			/* keep-warm: not a client's, not in the journal */
	struct cuzk_plan plan;
	uint64_t circuit_hash;		/* hash_bytes() of plan.circuit */
	struct part *parts;
	uint32_t n_done, n_running, n_restored;
	uint8_t (*restored)[CUZK_PARTITION_PROOF_SIZE];	/* from the journal, before the plan */
	uint32_t *restored_index;
	uint32_t n_foreign;		/* in the journal, by provers that are not configured */
	uint32_t deaths;		/* instances that died proving it */
	uint64_t died_on;		/* bit per worker: of those since start */
	uint64_t barred;		/* bit per worker: not there again while others are left */
	struct attempt attempts[JOB_ATTEMPTS_MAX];	/* the last ones */
	uint32_t n_attempts;		/* all of them */
	uint32_t refusals;		/* admissions that failed for no fault of the request */
	uint32_t shortages;		/* those that found no memory: not counted there */
	uint64_t refused;		/* bit per worker: it lacks parameters or memory */
	uint8_t task[CONFIG_DEVICES_MAX];	/* enum task_state, by worker */

	/* how it ended; while WAITING: why an instance refused it last */
	uint32_t cls;			/* enum cuzk_error_class */
	char text[CUZK_ERROR_TEXT];

	/* when, CLOCK_MONOTONIC; 0: not yet */
	uint64_t accepted_us, planned_us, started_us, finished_us;
	uint64_t accepted_wall_us, finished_wall_us;	/* CLOCK_REALTIME */
	/* finished_us of a job out of the journal too, which may be before the machine's start */
	int64_t ended_us;

	/* who waits */
	struct list waiters;		/* struct waiter, see api.c */
	struct list submitters;		/* calls that wait until it is durable */

	/* where it is found */
	struct list entry;		/* jobs.waiting or jobs.finished */
	struct hash_node by_seq, by_id, by_digest;
	bool listed_by_name;		/* in by_id and by_digest: not replaced by a newer one */
};

struct jobs {
	struct hash by_seq, by_id, by_digest;
	struct list waiting;		/* WAITING, oldest first */
	struct list finished;		/* the others, in the order they ended */
	uint32_t n_waiting, n_finished;
	uint64_t waiting_bytes;
	uint64_t next_seq;
	/* since start, by kind */
	uint64_t completed[CUZK_KIND_COUNT], failed[CUZK_KIND_COUNT], cancelled[CUZK_KIND_COUNT];
	uint64_t failed_class[8];	/* by enum cuzk_error_class */
};

int jobs_init(struct jobs *jobs);
/* Frees every job; none may have waiters. */
void jobs_fini(struct jobs *jobs);

/*
 * A job of sub, whose request file it takes.  It becomes the one that
 * jobs_find_id() and jobs_find_digest() give.  seq 0: the next number.
 * NULL without memory; then sub keeps its file.
 */
struct job *job_open(struct jobs *jobs, struct submission *sub, uint64_t seq, uint64_t now_us);
/* Out of the tables, and freed. No partition may be running, nobody may wait. */
void job_close(struct jobs *jobs, struct job *job);

struct job *jobs_find_id(const struct jobs *jobs, const char *id);
struct job *jobs_find_seq(const struct jobs *jobs, uint64_t seq);
struct job *jobs_find_digest(const struct jobs *jobs, const uint8_t digest[SUBMIT_DIGEST_SIZE]);

/*
 * What an engine planned; partitions whose proofs the journal gave are DONE
 * already, unless one of them is not in the plan: then none is.  -EPROTO: a plan
 * that cannot be; -ENOMEM.
 */
int job_plan(struct job *job, const struct cuzk_plan *plan, uint64_t now_us);
/* A proof out of the journal, before there is a plan. -ENOMEM. */
int job_restore_part(struct job *job, uint32_t partition,
		     const uint8_t proof[CUZK_PARTITION_PROOF_SIZE]);

/*
 * To an end: moves it to the finished ones, counts it, gives its request file
 * back.  text may be NULL for COMPLETED.
 */
void job_end(struct jobs *jobs, struct job *job, enum job_state state, uint32_t cls,
	     const char *text, uint64_t now_us);

/*
 * job_open() for work of the service's own: nobody finds it by id or digest, and
 * job_end() does not count it.
 */
struct job *job_open_internal(struct jobs *jobs, struct submission *sub, uint64_t now_us);

/* All proofs in partition order: n_partitions * 192 bytes; COMPLETED only. */
void job_proof(const struct job *job, uint8_t *proof);

/* Longest of the partitions in ms: reading parameters, witness, device work. */
void job_timing(const struct job *job, uint64_t *params_ms, uint64_t *witness_ms,
		uint64_t *device_ms);

const char *job_state_name(enum job_state state);

#endif
