/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * cuzk_engine.h - the interface between a proving service and its engines
 *
 * An engine is a shared object that exports one symbol, cuzk_engine_entry.
 * The host calls it once with its own version and services and gets a table
 * of operations.  This header is all that an engine's author needs; the
 * manual page is cuzk_engine(3), a commented skeleton is engine/skeleton/.
 *
 * Compatibility.  MAJOR must be equal.  MINOR only appends: to the end of
 * structs, to enums, to the capability bits.  Every struct that crosses the
 * line opens with its size; whoever receives one copies min(size, sizeof) of it
 * into a zeroed struct of its own and uses only the copy.  Reserved fields are
 * zero, and refused when they are not.
 *
 * Errors.  Operations return 0 or -errno and fill *err when they fail.
 * Outputs are written only on success.
 *
 * Threads.  One host process opens one instance and calls probe, self_test,
 * preload, evict, prove and remove from one thread, its owner.  admit,
 * task_free, circuits and cancel may be called from any thread at any time
 * between probe and remove.  prove_urgent (CUZK_CAP_URGENT) is called from one
 * other thread, between the end of self_test and remove, whatever the owner is
 * in meanwhile.
 */
#ifndef CUZK_ENGINE_H
#define CUZK_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CUZK_ENGINE_ABI_MAJOR 1
#define CUZK_ENGINE_ABI_MINOR 2
#define CUZK_ENGINE_ENTRY "cuzk_engine_entry"

#define CUZK_PARTITION_PROOF_SIZE 192
#define CUZK_ERROR_TEXT 1024
#define CUZK_CIRCUIT_ID_SIZE 64
#define CUZK_MEMORY_NAME_SIZE 64

/* ---- errors ---- */

/* What the operator or the client has to do about a failure. */
enum cuzk_error_class {
	CUZK_ERROR_NONE = 0,
	CUZK_ERROR_INPUT,	/* the request is wrong: never retry it */
	CUZK_ERROR_PARAMS,	/* parameters absent or damaged: repair them */
	CUZK_ERROR_DEVICE,	/* the device misbehaved: retry, elsewhere if need be */
	CUZK_ERROR_RESOURCE,	/* no memory or queue space now: retry later */
	CUZK_ERROR_DEADLINE,	/* it was too late */
	CUZK_ERROR_CANCELLED,	/* somebody asked for it to end */
	CUZK_ERROR_INTERNAL,	/* a bug, ours or the engine's */
};

struct cuzk_error {
	size_t size;
	uint32_t cls;			/* enum cuzk_error_class */
	uint32_t reserved;
	char text[CUZK_ERROR_TEXT];	/* one line: component, what, where, what to do */
};

/* ---- what is to be proved ---- */

enum cuzk_proof_kind {		/* numbers of cuzk.v1.ProofKind */
	CUZK_KIND_UNSPECIFIED = 0,
	CUZK_KIND_POREP = 1,
	CUZK_KIND_UPDATE = 2,
	CUZK_KIND_WINDOW_POST = 3,
	CUZK_KIND_WINNING_POST = 4,
	CUZK_KIND_COUNT
};

struct cuzk_blob {
	const void *data;
	size_t len;
};

/* A SubmitProofRequest, decoded.  All memory is the caller's. */
struct cuzk_request {
	size_t size;
	uint32_t kind;			/* enum cuzk_proof_kind */
	uint32_t partition_index;
	uint64_t registered_proof;
	uint64_t sector_size;		/* bytes; 0 where the client left it out */
	uint64_t sector_number;
	uint64_t miner_id;
	struct cuzk_blob vanilla_proof;		/* PoRep: Curio's JSON envelope */
	const struct cuzk_blob *vanilla_proofs;	/* the other kinds */
	uint64_t n_vanilla_proofs;
	struct cuzk_blob randomness;		/* PoSt: 32 bytes */
	struct cuzk_blob comm_r_old, comm_r_new, comm_d_new;	/* update: 32 bytes */
};

/* What admission found out. */
struct cuzk_plan {
	size_t size;
	uint32_t n_partitions;
	uint32_t reserved;
	uint64_t host_bytes;	/* beyond the parameters, one partition at a time */
	uint64_t device_bytes;
	char circuit[CUZK_CIRCUIT_ID_SIZE];	/* e.g. "porep-32g" */
};

struct cuzk_task;	/* an admitted request; the engine's */

/* Stages of one partition, for heartbeats, limits and timelines. */
enum cuzk_stage {
	CUZK_STAGE_IDLE = 0,
	CUZK_STAGE_PARAMS,	/* reading or uploading parameters */
	CUZK_STAGE_WITNESS,
	CUZK_STAGE_UPLOAD,
	CUZK_STAGE_EVALUATE,
	CUZK_STAGE_NTT,
	CUZK_STAGE_MSM_H,
	CUZK_STAGE_MSM_L,
	CUZK_STAGE_MSM_A,
	CUZK_STAGE_MSM_B1,
	CUZK_STAGE_MSM_B2,
	CUZK_STAGE_FINISH,
	CUZK_STAGE_VERIFY,
	CUZK_STAGE_COUNT
};

struct cuzk_result {
	size_t size;
	int32_t status;			/* 0: proof is set and verified; else -errno */
	uint32_t cls;			/* enum cuzk_error_class */
	uint8_t proof[CUZK_PARTITION_PROOF_SIZE];
	uint64_t stage_ns[16];		/* by enum cuzk_stage */
	uint64_t bytes_up, bytes_down;
	uint64_t host_peak, device_peak;
	uint32_t sticky;		/* the device is lost: the process must end */
	uint32_t invalid;		/* a proof was made and did not verify */
	char text[CUZK_ERROR_TEXT];
	uint64_t up_ns;			/* since ABI 1.2: in which bytes_up were on their way */
};

/* ---- what the host gives ---- */

struct cuzk_host {
	size_t size;
	uint32_t abi_major, abi_minor;
	const char *version;	/* of the host, for messages */
	void *ctx;		/* first argument of all below */

	/* syslog priority; one line, no newline, lower case. Any thread. */
	void (*log)(void *ctx, int priority, const char *line);
	/*
	 * Progress of the partition tag (0: none, e.g. self-test or preload).
	 * Call at least once a second from work that moves: a host ends an
	 * instance whose stage exceeds its limit without.  Any thread, cheap.
	 */
	void (*heartbeat)(void *ctx, uint64_t tag, uint32_t stage, uint64_t done, uint64_t total);
	/*
	 * Host memory is reserved before it is allocated, in the name of what
	 * it is for.  0, or -ENOMEM: give up with CUZK_ERROR_RESOURCE.
	 * Buffers above 1 MiB only.  Any thread; never blocks.
	 */
	int (*reserve)(void *ctx, const char *name, uint64_t bytes);
	void (*release)(void *ctx, const char *name, uint64_t bytes);
	/* The end of a prove() that returned 0; exactly once each. Any thread. */
	void (*complete)(void *ctx, uint64_t tag, const struct cuzk_result *result);

	/*
	 * Since ABI 1.1, for CUZK_CAP_MEMORY; NULL where the host keeps nothing.
	 *
	 * Memory that is costly to fill and outlives the process: the host keeps
	 * it for the next process of this instance, over a restart of the
	 * service where its service manager can, and shows it to the other
	 * instances with this engine.  It is a memfd of bytes bytes with the
	 * seals WRITE, SHRINK, GROW and SEAL, under a name of 1 to 63 of
	 * [a-z0-9._-] that is unique among the engine's.  What it holds is the
	 * engine's business: a later version may find it and has to check it.
	 *
	 * put: the host takes a duplicate of fd, in place of what it had under
	 * the name; -EINVAL: a bad name or not sealed; -ENOSPC: too many.
	 * get: a new descriptor, the caller's, or -ENOENT.
	 * drop: this instance needs it no more; when no other has put or got it
	 * since, it is gone.  What no instance has got when all have passed
	 * their self-tests is gone as well.
	 * Any thread; none blocks.
	 */
	int (*memory_put)(void *ctx, const char *name, int fd, uint64_t bytes);
	int (*memory_get)(void *ctx, const char *name);
	void (*memory_drop)(void *ctx, const char *name);
};

/* ---- what the engine says of itself ---- */

/*
 * Module information lives in the section .cuzk.modinfo as "key=value"
 * strings, so that `cuzkctl modinfo FILE` reads it without loading the file.
 * Keys: name, version, licence, description, abi, param (one each:
 * "NAME:TYPE:DEFAULT:help").
 */
#define CUZK_MODINFO_SECTION ".cuzk.modinfo"
#define CUZK_MODINFO_CAT_(a, b) a##b
#define CUZK_MODINFO_CAT(a, b) CUZK_MODINFO_CAT_(a, b)
#define CUZK_MODINFO(key, value)						\
	static const char CUZK_MODINFO_CAT(cuzk_modinfo_, __COUNTER__)[]	\
	__attribute__((section(CUZK_MODINFO_SECTION), used, aligned(1))) = key "=" value
#define CUZK_MODINFO_STR_(x) #x
#define CUZK_MODINFO_STR(x) CUZK_MODINFO_STR_(x)
#define CUZK_MODINFO_ABI()							\
	CUZK_MODINFO("abi", CUZK_MODINFO_STR(CUZK_ENGINE_ABI_MAJOR) "."		\
		     CUZK_MODINFO_STR(CUZK_ENGINE_ABI_MINOR))

/* A parameter that [engine NAME] may set. */
enum cuzk_param_type {
	CUZK_PARAM_BOOL = 1,	/* yes/no */
	CUZK_PARAM_INT,		/* min..max */
	CUZK_PARAM_SIZE,	/* bytes, K M G T suffixes; min..max */
	CUZK_PARAM_STRING,
	CUZK_PARAM_PATH,	/* absolute */
};

struct cuzk_param {
	const char *name;
	uint32_t type;		/* enum cuzk_param_type */
	uint32_t reserved;
	int64_t min, max;	/* INT and SIZE */
	const char *def;	/* default, as text; NULL: unset */
	const char *help;	/* one line */
};

/* A parameter's checked value, as text. */
struct cuzk_option {
	const char *name;
	const char *value;
};

struct cuzk_device {
	size_t size;
	const char *backend;	/* "cpu" or "gpu" */
	const char *id;		/* gpu: UUID or PCI address; cpu: NULL */
	uint32_t threads;	/* host threads the instance may use; 0: all */
	uint32_t ordinal;	/* the instance's number, for log lines */
	uint64_t vram_budget;	/* bytes; 0: all that is free */
	uint64_t host_budget;	/* bytes; 0: what reserve() grants */
};

/* State of one circuit's parameters. */
enum cuzk_params_state {
	CUZK_PARAMS_ABSENT,	/* no file: the kind is disabled */
	CUZK_PARAMS_BAD,	/* a file that is not usable: reason says why */
	CUZK_PARAMS_COLD,	/* on disk, checked */
	CUZK_PARAMS_WARM,	/* in host memory */
	CUZK_PARAMS_HOT,	/* on the device */
};

struct cuzk_circuit {
	size_t size;
	char id[CUZK_CIRCUIT_ID_SIZE];
	uint32_t kind;		/* enum cuzk_proof_kind */
	uint32_t state;		/* enum cuzk_params_state */
	uint64_t sector_size;
	uint64_t params_bytes;	/* of the file, 0 when absent */
	uint32_t users;
	uint32_t reserved;
	char reason[256];
};

/* Capabilities an engine offers; they decide which operations must be set. */
#define CUZK_CAP_CPU		(1ull << 0)	/* backend "cpu" */
#define CUZK_CAP_GPU		(1ull << 1)	/* backend "gpu" */
#define CUZK_CAP_PRELOAD	(1ull << 2)	/* preload, evict */
#define CUZK_CAP_CANCEL		(1ull << 3)	/* cancel */
#define CUZK_CAP_COMMAND	(1ull << 4)	/* command */
#define CUZK_CAP_OVERLAP	(1ull << 5)	/* prove() may return before complete() */
#define CUZK_CAP_MEMORY		(1ull << 6)	/* uses the host's memory_put() (1.1) */
#define CUZK_CAP_URGENT		(1ull << 7)	/* prove_urgent (1.2) */

struct cuzk_instance;	/* one open device; the engine's */

struct cuzk_engine_ops {
	size_t size;
	uint32_t abi_major, abi_minor;
	uint64_t caps;
	const char *name;
	const char *version;
	const struct cuzk_param *params;	/* ends with name == NULL */

	/* Opens a device. options end with name == NULL and hold every declared
	 * parameter that has a value.  May take minutes; sends heartbeats. */
	int (*probe)(const struct cuzk_host *host, const struct cuzk_device *device,
		     const struct cuzk_option *options, struct cuzk_instance **inst,
		     struct cuzk_error *err);
	/* Ends everything the instance does and frees it. NULL is accepted. */
	void (*remove)(struct cuzk_instance *inst);

	/* Proves a built-in known answer and verifies it. */
	int (*self_test)(struct cuzk_instance *inst, struct cuzk_error *err);

	/* Fills at most max circuits; returns how many there are. */
	int (*circuits)(struct cuzk_instance *inst, struct cuzk_circuit *out, int max);

	/*
	 * Parses the request and makes every check that can be made without
	 * proving.  request's memory stays valid until task_free.
	 * -EINVAL: CUZK_ERROR_INPUT.
	 */
	int (*admit)(struct cuzk_instance *inst, const struct cuzk_request *request,
		     struct cuzk_task **task, struct cuzk_plan *plan, struct cuzk_error *err);
	void (*task_free)(struct cuzk_task *task);

	/*
	 * Proves partition (from 0) of the task.  0: host->complete(tag) will be
	 * called once, perhaps before this returns; the task must live until
	 * then.  -EAGAIN: the device is busy, call again after the next
	 * complete.  Any other error: no completion follows.
	 * The proof handed to complete is verified.
	 */
	int (*prove)(struct cuzk_instance *inst, struct cuzk_task *task, uint32_t partition,
		     uint64_t tag, struct cuzk_error *err);

	/* CUZK_CAP_CANCEL. Ends the partition soon; it completes with -ECANCELED
	 * or with its proof.  Idempotent; an unknown tag is no error. */
	void (*cancel)(struct cuzk_instance *inst, uint64_t tag);

	/* CUZK_CAP_PRELOAD. *was: it was loaded before; *bytes: what it takes, or freed.
	 * evict of one in use: -EBUSY. */
	int (*preload)(struct cuzk_instance *inst, const char *circuit, bool *was,
		       uint64_t *bytes, struct cuzk_error *err);
	int (*evict)(struct cuzk_instance *inst, const char *circuit, bool *was,
		     uint64_t *bytes, struct cuzk_error *err);

	/*
	 * CUZK_CAP_COMMAND. An operator's command that needs the engine but no
	 * service: argv as cuzkctl got it ("params", "make", ...).  Writes to
	 * stdout and stderr, returns the exit status; -ENOSYS: not a command of
	 * this engine.  Needs no instance.
	 */
	int (*command)(const struct cuzk_host *host, int argc, char **argv);

	/*
	 * CUZK_CAP_URGENT, since ABI 1.2. As prove, for a partition that cannot wait
	 * for what prove works at: that stands aside meanwhile, for the length
	 * of one of its steps (50 ms) it may go on.  May block until the partition
	 * is done.  -EAGAIN: not possible now, or never for this circuit: the
	 * host gives it to prove, before all others.
	 */
	int (*prove_urgent)(struct cuzk_instance *inst, struct cuzk_task *task,
			    uint32_t partition, uint64_t tag, struct cuzk_error *err);

	/*
	 * Since ABI 1.2; may be NULL. An operator has changed something: parameters
	 * that were absent or bad are looked at again, in the background,
	 * whatever the file looks like.  circuits() tells what came of it.
	 */
	void (*refresh)(struct cuzk_instance *inst);
};

/*
 * The one exported symbol.  Checks host->abi_major, sets *ops to a table that
 * lives as long as the library is loaded.  -EPROTO: versions do not match.
 */
typedef int (*cuzk_engine_entry_fn)(const struct cuzk_host *host,
				    const struct cuzk_engine_ops **ops);

#ifdef __cplusplus
}
#endif

#endif
