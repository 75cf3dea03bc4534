/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * instance.h - one supervised child process that owns one device
 *
 * The child (the program cuzk-instance) loads the engine, opens the device,
 * proves the built-in known answer and then admits and proves.  This half lives
 * in the service: it starts the child, talks to it, notices when it is stuck or
 * dead, and starts another.
 *
 * Use.  instance_open(), then poll instance_fd() for POLLIN in the main loop and
 * call instance_process() when it is readable.  There are no threads and no
 * locks here: all functions of one instance are called from one thread, the one
 * that opened it and that lives as long as the service (the child dies with
 * it).  Callbacks come only out of instance_process(), never out of another
 * function of this file; they may call everything but instance_close().
 *
 * Names.  Tasks (an admitted request) and tags (a partition being proved) are
 * numbers that the caller chooses, not 0 and not in use in this instance.
 * A task belongs to one life of the child: when died() is called, every task
 * and tag of this instance is gone.  What was in flight is in the list that
 * died() gets; no other callback follows for it.
 *
 * Life.
 *
 *   STARTING -> TESTING -> READY <-> BUSY -> STOPPING -> STOPPED
 *      ^  \________\_________\________\-> STUCK -> died
 *      |                                            |
 *      +---------------- FAILED (back-off) <--------+-> QUARANTINED
 */
#ifndef CUZK_PLUGIN_INSTANCE_H
#define CUZK_PLUGIN_INSTANCE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "plugin/api/cuzk_engine.h"
#include "plugin/config.h"

#define INSTANCE_FLIGHT_MAX 256		/* tags in one instance */
#define INSTANCE_TASKS_MAX 4096		/* tasks in one instance */
#define INSTANCE_CIRCUITS_MAX 64
#define INSTANCE_REASON 512

struct instance;

enum instance_state {
	INSTANCE_STARTING,	/* loads the engine, opens the device */
	INSTANCE_TESTING,	/* runs its self-test */
	INSTANCE_READY,		/* takes work, has none */
	INSTANCE_BUSY,		/* takes work, has some */
	INSTANCE_STUCK,		/* over a limit; being killed */
	INSTANCE_FAILED,	/* dead; restarts after a delay */
	INSTANCE_QUARANTINED,	/* dead, too many faults or not loadable; stays down */
	INSTANCE_STOPPING,	/* finishes what it has, then stops or (recycle) restarts */
	INSTANCE_STOPPED,	/* was asked to stop, and has */
};

/* Why a child ended. */
enum instance_death {
	INSTANCE_DEATH_STOPPED,		/* it was asked to; no fault */
	INSTANCE_DEATH_RECYCLED,	/* instance_recycle(), or invalid proofs (a fault) */
	INSTANCE_DEATH_LOAD,		/* engine or parameters unusable: no restart helps */
	INSTANCE_DEATH_PROBE,		/* the device did not open */
	INSTANCE_DEATH_SELF_TEST,	/* wrong or no known answer */
	INSTANCE_DEATH_STUCK,		/* over a limit */
	INSTANCE_DEATH_STICKY,		/* the engine said that the device is lost */
	INSTANCE_DEATH_CRASHED,		/* a signal, or an exit without a reason */
	INSTANCE_DEATH_PROTOCOL,	/* it sent nonsense */
	INSTANCE_DEATH_SPAWN,		/* the child could not be started */
	/* SIGKILL, and not of ours: of the kernel, which had no memory, or a person */
	INSTANCE_DEATH_KILLED,
};

/* A partition in flight. */
struct instance_flight {
	uint64_t task, tag;
	uint32_t partition;
	bool started;		/* the engine has it; else it waits in the child */
	bool urgent;		/* while it moves, the others may stand still */
	bool cancelled;
	uint32_t stage;		/* enum cuzk_stage */
	uint64_t done, total;	/* of the stage */
	uint64_t since_ms;	/* CLOCK_MONOTONIC: start of the stage */
	uint64_t moved_ms;	/* last progress */
	/* instance_set_stage_limit(); 0: none */
	uint64_t stage_limit[CUZK_STAGE_COUNT];
	/* the longest stay in each stage, ms, of those in entered (bit per stage) */
	uint64_t stay[CUZK_STAGE_COUNT];
	uint32_t entered;
};

/* All strings and structs are the instance's and valid during the call only. */
struct instance_ops {
	/* After changes of state; one that lasted for no time may be left out. */
	void (*state)(void *ctx, struct instance *inst, enum instance_state state,
		      const char *reason);
	void (*admitted)(void *ctx, struct instance *inst, uint64_t task,
			 const struct cuzk_plan *plan);
	/* The task is gone again. */
	void (*refused)(void *ctx, struct instance *inst, uint64_t task, int status,
			const struct cuzk_error *err);
	/*
	 * The tag is gone, the task stays.  result->status 0: result->proof is
	 * verified (by the engine).  An error before proving arrives here too.
	 */
	void (*completed)(void *ctx, struct instance *inst, uint64_t task, uint32_t partition,
			  uint64_t tag, const struct cuzk_result *result);
	/*
	 * Before completed(), of a partition that was proved: its stays in stages,
	 * as they are measured against the limits.  May be NULL.
	 */
	void (*stays)(void *ctx, struct instance *inst, const struct instance_flight *flight);
	/* tag 0: start, self-test or preload */
	void (*heartbeat)(void *ctx, struct instance *inst, uint64_t tag, uint32_t stage,
			  uint64_t done, uint64_t total);
	void (*log)(void *ctx, struct instance *inst, int priority, const char *line);
	/* After the self-test, after each preload or evict, and on instance_circuits(). */
	void (*circuits)(void *ctx, struct instance *inst, const struct cuzk_circuit *circuits,
			 int n);
	/* The end of a preload or evict: status 0, or -errno with err. */
	void (*loaded)(void *ctx, struct instance *inst, uint64_t cookie, int status, bool was,
		       uint64_t bytes, const struct cuzk_error *err);
	/*
	 * Kept memory (cuzk_engine.h, memory_put); may be NULL.  give: a child
	 * starts and wants to know what there is, by instance_give().  keep
	 * takes fd.
	 */
	void (*give)(void *ctx, struct instance *inst);
	void (*keep)(void *ctx, struct instance *inst, const char *name, int fd, uint64_t bytes);
	void (*keep_use)(void *ctx, struct instance *inst, const char *name);
	void (*keep_drop)(void *ctx, struct instance *inst, const char *name);
	/*
	 * The child is dead and reaped.  flight: what it had, to be done again.
	 * Tags that had not started bear no guilt.  Afterwards state() tells
	 * whether it restarts.
	 */
	void (*died)(void *ctx, struct instance *inst, enum instance_death death,
		     const char *reason, const struct instance_flight *flight, int n);
};

struct instance_config {
	const struct config_device *device;
	const struct config_engine *engine;
	const struct config_global *global;	/* limits and instance_program; copied */
	uint32_t ordinal;
	uint64_t host_budget;		/* bytes that the child may reserve; 0: no limit */
	const char *version;		/* of the service, for messages */
};

/*
 * Starts the first child; config and what it points to may go afterwards.
 * Problems of the child come through the callbacks; an error here is ours
 * (-ENOMEM, -EMFILE).
 */
int instance_open(struct instance **inst, const struct instance_config *config,
		  const struct instance_ops *ops, void *ctx);
/* Kills the child at once and frees. No callback. NULL is accepted. */
void instance_close(struct instance *inst);

/* Readable when instance_process() has something to do (one epoll set inside). */
int instance_fd(const struct instance *inst);
void instance_process(struct instance *inst);

/*
 * Sends a request (request_pack(); fd stays the caller's and may be closed).
 * admitted() or refused() follows.  -EAGAIN: not READY or BUSY; -EBUSY: too many
 * tasks; -EEXIST: the number is in use.  urgent: not behind other requests, where
 * the engine has CUZK_CAP_URGENT.
 */
int instance_admit(struct instance *inst, uint64_t task, int request_fd, bool urgent);
/* Frees a task; with tags in flight it goes when the last has completed. */
void instance_task_free(struct instance *inst, uint64_t task);

/*
 * completed() follows, or died().  The child queues what the engine cannot
 * take yet, in the order sent.  -EAGAIN: not READY or BUSY; -EBUSY: too many in
 * flight; -ENOENT: no such task; -EEXIST: the tag is in use.  urgent: beside what
 * the engine works at, by prove_urgent; only where instance_takes_urgent().
 */
int instance_prove(struct instance *inst, uint64_t task, uint32_t partition, uint64_t tag,
		   bool urgent);
/* The engine has CUZK_CAP_URGENT. */
bool instance_takes_urgent(const struct instance *inst);
/* Asks; completed() follows with -ECANCELED or with the proof.  Idempotent. */
void instance_cancel(struct instance *inst, uint64_t tag);

/* loaded(cookie) follows, or died(). -EAGAIN as above; -EOPNOTSUPP: no such capability. */
int instance_preload(struct instance *inst, const char *circuit, uint64_t cookie);
int instance_evict(struct instance *inst, const char *circuit, uint64_t cookie);
/* circuits() follows. -EAGAIN: no child that can answer. */
int instance_circuits(struct instance *inst);
/* The engine looks again at parameters that were not usable; circuits() follows at some time. */
void instance_refresh(struct instance *inst);

/* Shows kept memory to the child, where there is one; fd stays the caller's. -1: it is gone. */
void instance_give(struct instance *inst, const char *name, int fd);

/* The host memory that the child may reserve; less than it holds stops it from reserving more. */
void instance_set_host_budget(struct instance *inst, uint64_t bytes);
/*
 * A limit learnt from history, for a partition in flight. ms.  The configured one
 * holds besides.  Against the learnt one a partition is stuck only when nothing
 * moves in the whole instance: it may be waiting for another to leave the device.
 */
void instance_set_stage_limit(struct instance *inst, uint64_t tag, enum cuzk_stage stage,
			      uint64_t ms);
/* The restart and quarantine values and all limits of a reloaded configuration. */
void instance_set_global(struct instance *inst, const struct config_global *global);

/* Finish what is in flight, then STOPPED (stop) or a new child (recycle, no fault). */
void instance_stop(struct instance *inst);
void instance_recycle(struct instance *inst);
/* Out of QUARANTINED, FAILED or STOPPED: start now, with a clean record. */
int instance_restart(struct instance *inst);

/* One buffer name under which host memory is reserved. */
struct instance_memory {
	char name[32];
	uint64_t reserved, peak;
};

#define INSTANCE_MEMORY_MAX 32

struct instance_status {
	enum instance_state state;
	char reason[INSTANCE_REASON];	/* of the last failure; "" */
	char engine_name[64], engine_version[64];	/* as the engine says; "" until loaded */
	uint64_t caps;
	pid_t pid;			/* 0: no child */
	uint64_t since_ms;		/* CLOCK_MONOTONIC: of the state */
	uint64_t restart_ms;		/* FAILED: when it restarts */
	uint32_t tasks, flights;
	uint64_t starts, completed, failed, invalid, faults;	/* since open */
	uint32_t recent_faults;		/* within the quarantine window */
	uint64_t host_reserved, host_peak, host_budget;	/* bytes */
	uint64_t resident, resident_peak;
	uint64_t device_peak;		/* of the last partitions */
	uint64_t bytes_up, bytes_down, up_ns;	/* moved by all partitions; since open */
	struct instance_memory memory[INSTANCE_MEMORY_MAX];
	uint32_t n_memory;
	uint32_t stage;			/* of tag 0 work: start, self-test, preload */
	uint64_t done, total;
};

void instance_status(const struct instance *inst, struct instance_status *status);
enum instance_state instance_state(const struct instance *inst);
/* Its process could not be killed: it is given up and holds what it has. */
bool instance_lingers(const struct instance *inst);
const char *instance_name(const struct instance *inst);	/* "cpu" or "gpu NAME" */
/* The partitions in flight; returns how many, fills at most max. */
int instance_flights(const struct instance *inst, struct instance_flight *flights, int max);
/*
 * For the watchdog: false when a limit has passed and instance_process() was not
 * called in time to act on it, so that the main loop itself is stuck.  A child
 * that cannot be killed is given up (died(), QUARANTINED), not a reason here.
 */
bool instance_alive(const struct instance *inst);

const char *instance_state_name(enum instance_state state);
const char *instance_death_name(enum instance_death death);

/*
 * `cuzkd --check`: loads the engine in a child of its own and checks the
 * parameters of [engine NAME] against its declarations; report gets
 * "file:line: message" for each error.  0, -EINVAL (reported) or -errno.
 * Blocks for at most a minute.
 */
int instance_check(const struct config_engine *engine, const struct config_global *global,
		   config_report_fn report, void *ctx);

#endif
