/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * instance.h - one open device: what it has loaded and what it is proving
 *
 * Threads.  The owner calls probe, self_test, preload, evict, prove and
 * remove.  The tail thread finishes proofs: the end of the device's work,
 * assembly, verification, completion.  Others call admit, circuits, cancel.
 * Where the device gains from several proofs at once (prove_batch of gpu.h), the
 * tail does each one's own part as it comes, and finishes them together when the
 * batch is full or no other is being started.
 *
 * Locks, none taken inside another but as said:
 *   gpu_lock		the struct gpu and everything loaded on it
 *   keys_lock		the list of loaded keys, their users, what is verified of them;
 *			inside gpu_lock or alone
 *   circuits_lock	the table of circuits' states; innermost, inside keys_lock in scrub.c
 *   jobs_lock		the jobs in flight; innermost
 *   scrub_lock		sleep and end of the scrubber; innermost
 */
#ifndef CUZK_GROTH16_INSTANCE_H
#define CUZK_GROTH16_INSTANCE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "engine/circuits/circuit.h"
#include "engine/groth16/coset.h"
#include "engine/groth16/digest.h"
#include "engine/groth16/error.h"
#include "engine/groth16/kept.h"
#include "engine/groth16/params.h"
#include "engine/groth16/prover.h"
#include "engine/groth16/verify.h"
#include "gpu/gpu.h"
#include "lib/gate.h"
#include "lib/tpool.h"

struct options {
	char *params_dir;
	char *cache_dir;	/* NULL: cache_dir() decides */
	char *manifest;		/* NULL: none */
	char *verdicts;		/* NULL: none */
	bool full_check;
	uint64_t scrub;		/* seconds between two readings of the files; 0: none */
	bool keep;		/* parameters in the host's kept memory */
	uint64_t urgent_memory;	/* of the device, for urgent proofs */
	bool urgent_memory_set;	/* else a share of what there is */
};

/* A circuit's line in the table; made by probe. */
struct circuit_state {
	struct circuit circuit;
	char path[4096];
	uint32_t state;		/* enum cuzk_params_state; circuits_lock */
	uint32_t users;		/* circuits_lock */
	uint64_t params_bytes;
	dev_t dev;		/* of the file that was looked at, and when it had changed */
	ino_t ino;
	uint64_t mtime_ns;
	struct stat again;	/* scrubber: of another that may be looked at, once it rests */
	uint64_t proof_bytes;	/* host memory for one proof, beyond the parameters */
	uint64_t device_bytes;	/* the device's, likewise */
	char reason[256];	/* circuits_lock */
	bool probed;
	bool kept_bad;		/* gpu_lock: what the host keeps of it is damaged */
	atomic_bool urgent;	/* its proofs are made in the lane (urgent.h) */
	unsigned int log_domain;
	char digest[DIGEST_HEX];	/* the manifest's, and the file's; "": not known */
};

/* Proving parameters, loaded. */
struct key {
	struct key *next;
	struct circuit_state *line;	/* NULL: the self-test's */
	struct circuit circuit;
	struct cs *cs;
	struct params params;		/* mapped as long as the device may read it */
	struct coset coset;		/* likewise; all zeros where there is none */
	struct gpu_cs *gpu_cs;
	struct gpu_srs *gpu_srs;
	struct kept kept;		/* what gpu_srs is in, if not in memory of its own */
	struct pvk *pvk;
	atomic_uint batch;		/* proofs that are finished together; 0: not asked yet */
	uint64_t reserved;		/* host bytes, in the name of "params CIRCUIT" */
	/* keys_lock: kept memory that is not verified yet, see kept_verify.c */
	bool unseen, damaged;
	bool checking;			/* the verifier reads it */
	bool wanted, let_go;		/* somebody waits for it; for an end of reading it */
	uint64_t seen_blocks;
	unsigned int users;		/* keys_lock: jobs that need it */
	uint64_t used_at;		/* keys_lock: for the least recently used one */
};

struct cuzk_task {
	struct cuzk_instance *inst;
	struct circuit_state *line;
	struct vanilla *vanilla;
};

/* A partition between prove() and complete(). */
struct job {
	struct job *next;		/* jobs_lock */
	uint64_t tag;
	struct cuzk_task *task;
	uint32_t partition;
	struct key *key;
	struct gpu_job *gpu_job;
	struct blinding blinding;
	uint64_t reserved;		/* host bytes, in the name of "prover CIRCUIT" */
	uint64_t stage_ns[16];
	struct gpu_stats stats;		/* gpu_lock */
	bool started;			/* jobs_lock: the tail may have it */
	bool worked;			/* the tail's: its part of a batch is done, or failed */
	bool failed, closing;		/* the tail's: it cannot be finished; it is to be now */
	uint64_t beats;			/* jobs_lock: heartbeats while it waits */
	bool urgent;			/* the parent stands aside for it */
	atomic_bool cancelled;
};

struct cuzk_instance {
	struct cuzk_instance *urgent;	/* what makes the proofs in its lane; NULL: there is none */
	struct cuzk_instance *parent;	/* of such a one; has circuits, circuits_lock and gate */
	uint64_t lane_bytes;		/* of such a one: its share of the device's memory */
	struct gate gate;		/* work stands aside there for the lane's */

	struct cuzk_host host;		/* a copy; ops never NULL */
	struct options options;
	const struct gpu_ops *ops;
	struct tpool *pool;		/* the owner's: witnesses */
	struct tpool *admit_pool;	/* hashing at admission, which must not wait for those */
	unsigned int ordinal;

	pthread_mutex_t gpu_lock;
	struct gpu *gpu;
	struct job *gpu_job;		/* whose proof the device works at, NULL: it loads */
	uint64_t gpu_tag;		/* for heartbeats; both gpu_lock, read by callbacks in it */
	atomic_bool lost;		/* the device failed for good */

	pthread_mutex_t keys_lock;
	struct key *keys;
	uint64_t clock;
	pthread_cond_t kept_changed;	/* unseen, checking, wanted of a key; kept_stop */
	bool kept_stop;
	pthread_t verifier;
	bool has_verifier;

	pthread_mutex_t circuits_lock;
	struct circuit_state *circuits;
	size_t n_circuits;

	pthread_mutex_t jobs_lock;
	pthread_cond_t jobs_wake;
	struct job *jobs;		/* all that were started and not completed, oldest first */
	unsigned int n_jobs;
	bool stop;
	pthread_t tail;
	bool has_tail;

	pthread_mutex_t scrub_lock;	/* for scrub_wake only */
	pthread_cond_t scrub_wake;
	pthread_t scrubber;
	bool has_scrubber;
	atomic_bool scrub_stop;
	bool scrub_asked;		/* scrub_lock: refresh was called */

	bool late;			/* a circuit's file is looked at when it is asked for */
	bool fixed_blinding;		/* of tests and offline proofs */
	struct blinding blinding;
};

#define JOBS_MAX 2	/* one on the device, one in its tail; of a batch: its number and one */

static inline pthread_mutex_t *circuits_lock(struct cuzk_instance *inst)
{
	return inst->parent ? &inst->parent->circuits_lock : &inst->circuits_lock;
}

/* instance.c */
int instance_probe(const struct cuzk_host *host, const struct cuzk_device *device,
		   const struct cuzk_option *options, struct cuzk_instance **inst,
		   struct cuzk_error *err);
/*
 * The same for a single proof by one thread: looks at a circuit's file when a
 * request for it comes, not at all files first.
 */
int instance_probe_late(const struct cuzk_host *host, const struct cuzk_device *device,
			const struct cuzk_option *options, struct cuzk_instance **inst,
			struct cuzk_error *err);
void instance_remove(struct cuzk_instance *inst);
int instance_circuits(struct cuzk_instance *inst, struct cuzk_circuit *out, int max);
void instance_gpu_log(void *arg, int priority, const char *line);
struct circuit_state *instance_find(struct cuzk_instance *inst, const char *circuit);
void instance_log(struct cuzk_instance *inst, int priority, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* key.c: loaded parameters */
/*
 * The circuit's key, loaded if need be, with one user more; gpu_lock must not
 * be held.  It is not waited for when the key is there: the device may be at
 * the proof before.  tag is for the heartbeats of loading.  *was: it was loaded.
 */
int key_get(struct cuzk_instance *inst, struct circuit_state *line, uint64_t tag,
	    struct key **out, bool *was, struct cuzk_error *err);
void key_put(struct cuzk_instance *inst, struct key *key);
/* -EBUSY while it has users. 0 with *was false when it is not loaded. */
int key_evict(struct cuzk_instance *inst, struct circuit_state *line, bool *was, uint64_t *bytes);
void key_evict_all(struct cuzk_instance *inst);
/* The verifier's: takes out what is damaged, for good. */
void key_drop_damaged(struct cuzk_instance *inst);
/* Loads what the host has kept for us, of the circuits proved here; costs next to nothing. */
void key_restore(struct cuzk_instance *inst);
/* Looks at a circuit's file: state, reason and bytes of line. Not thread safe. */
void key_probe(struct cuzk_instance *inst, struct circuit_state *line);
/*
 * The same on a copy of a line, by a thread that does not own the device.
 * thorough: nothing that was found out before is believed; every point is tested,
 * or the digest where one is known.
 */
void key_probe_again(struct cuzk_instance *inst, struct circuit_state *line, bool thorough,
		     const struct progress *progress);
/* The circuit's system, from the cache where there is one. */
int key_system(struct cuzk_instance *inst, const struct circuit *circuit, struct cs **cs,
	       struct cuzk_error *err);
/* A key from what the caller has: cs and params are taken over on success. */
int key_make(struct cuzk_instance *inst, struct key *key, struct cuzk_error *err);
void key_free(struct cuzk_instance *inst, struct key *key);

/* job.c: admission and proofs */
int job_admit(struct cuzk_instance *inst, const struct cuzk_request *request,
	      struct cuzk_task **task, struct cuzk_plan *plan, struct cuzk_error *err);
void job_task_free(struct cuzk_task *task);
int job_prove(struct cuzk_instance *inst, struct cuzk_task *task, uint32_t partition, uint64_t tag,
	      struct cuzk_error *err);
/* In a lane: its parent stands aside until the device is done. */
int job_prove_urgent(struct cuzk_instance *lane, struct cuzk_task *task, uint32_t partition,
		     uint64_t tag, struct cuzk_error *err);
void job_cancel(struct cuzk_instance *inst, uint64_t tag);
int job_start_tail(struct cuzk_instance *inst, struct cuzk_error *err);
/* Cancels all, waits for them, ends the tail thread. */
void job_stop_tail(struct cuzk_instance *inst);
/* Callbacks of gpu_config; arg is the instance. */
void job_gpu_progress(void *arg, enum gpu_stage stage, uint64_t done, uint64_t total);
bool job_gpu_cancelled(void *arg);
/* In words, with the class: of a gpu_ops function that returned ret. */
int job_gpu_error(struct cuzk_instance *inst, const char *what, int ret, struct cuzk_error *err);

/* scrub.c: the files, looked at again when there is nothing to do */
int scrub_start(struct cuzk_instance *inst, struct cuzk_error *err);
/* Wakes it: files that were not usable are looked at at once, changed or not. Any thread. */
void scrub_refresh(struct cuzk_instance *inst);
void scrub_stop(struct cuzk_instance *inst);

/* self_test.c */
int instance_self_test(struct cuzk_instance *inst, struct cuzk_error *err);

#endif
