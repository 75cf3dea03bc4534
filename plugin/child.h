/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * child.h - the process of one instance; private to child*.c
 *
 * Threads.
 *   reader     the process's first: receives messages, passes cancel and
 *              circuits on to the engine, reports memory once a second
 *   owner      load, probe, self-test, then prove, preload, evict; remove
 *   admission  admit and task_free
 *   urgent     where the engine can: admit and prove_urgent of what cannot wait
 * The engine calls the host functions (child-host.c) from these and from threads
 * of its own.
 *
 * Locks.  lock guards all lists and the tags; memory_lock the reservations; keep_lock
 * the kept memory.  All are leaves: no engine call and no blocking send is made under one.
 */
#ifndef CUZK_PLUGIN_CHILD_H
#define CUZK_PLUGIN_CHILD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "plugin/api/cuzk_engine.h"
#include "plugin/instance.h"
#include "plugin/params.h"
#include "plugin/request.h"
#include "plugin/wire.h"

/* An admitted request. */
struct child_task {
	struct child_task *next;	/* lock: in tasks */
	uint64_t id;
	struct request_map map;		/* admission thread */
	struct cuzk_task *task;		/* set before it is in tasks */
	unsigned int users;		/* lock: tags that point here */
	bool dropped;			/* lock: freed as soon as users is 0 */
};

/* A partition that the service asked for. */
struct child_tag {
	struct child_tag *next;		/* lock: in tags */
	uint64_t tag;
	struct child_task *task;
	uint32_t partition;
	bool started;			/* lock: the engine has it, or gets it now */
	bool cancelled;			/* lock */
	uint32_t stage;			/* lock: last heartbeat sent */
	uint64_t sent_ms;		/* lock */
};

/* Something for the owner or the admission thread. */
struct child_work {
	struct child_work *next;
	enum wire_type type;
	uint64_t id, tag;
	bool urgent;			/* WIRE_PROVE */
	int fd;				/* WIRE_ADMIT */
	struct child_task *task;	/* WIRE_TASK_FREE */
	char circuit[CUZK_CIRCUIT_ID_SIZE];
};

struct child_queue {
	struct child_work *head, **tail;
};

struct child_memory {
	char name[WIRE_MEMORY_NAME];
	uint64_t reserved, peak;
};

/* Memory that the service keeps and shows to us. */
struct child_kept {
	struct child_kept *next;
	char name[CUZK_MEMORY_NAME_SIZE];
	int fd;
};

struct child {
	int sock;
	int wake;			/* eventfd: the owner has ended */
	struct wire_start start;
	char *strings;			/* what the fields below point into */
	const char *library, *library_place, *engine_name, *device_id, *host_version;
	const char *params_dir;		/* NULL: none */
	struct params_given *params;

	struct cuzk_host host;
	struct cuzk_engine_ops ops;	/* owner; others after READY */
	struct cuzk_instance *inst;
	struct cuzk_option *options;
	pthread_t owner, admission, urgent;

	pthread_mutex_t lock;
	pthread_cond_t changed;		/* any list, stopping, a completion */
	struct child_queue owner_work, admission_work, urgent_work;
	struct child_task *tasks;
	struct child_tag *tags;
	bool serving;			/* after READY */
	bool has_urgent;		/* the urgent thread runs */
	bool stopping;
	bool worked;			/* lock: something was queued since the last tick */
	uint32_t start_stage;		/* of tag 0 */
	uint64_t start_sent_ms;

	pthread_mutex_t memory_lock;
	uint64_t budget;		/* 0: no limit */
	uint64_t reserved, peak;
	struct child_memory memory[WIRE_MEMORY_MAX];
	unsigned int n_memory;
	uint64_t resident_peak;		/* as seen once a second */
	uint64_t memory_sent;		/* resident + reserved when last sent */

	unsigned int ticks;		/* reader */
	unsigned int idle_ticks;	/* reader: without work, since there was some */

	pthread_mutex_t keep_lock;
	struct child_kept *kept;
};

/* child.c */
uint64_t child_now_ms(void);
/* Tells the service why, and ends the process. */
__attribute__((format(printf, 3, 4), noreturn))
void child_fail(struct child *c, enum instance_death death, const char *fmt, ...);
void child_send(struct child *c, enum wire_type type, uint64_t id, uint64_t tag,
		const void *body, size_t len);
void child_send_circuits(struct child *c);

/* child-host.c */
void child_host_init(struct child *c);
void child_send_memory(struct child *c);

/* child-keep.c */
int child_memory_put(void *ctx, const char *name, int fd, uint64_t bytes);
int child_memory_get(void *ctx, const char *name);
void child_memory_drop(void *ctx, const char *name);
/* WIRE_KEPT and WIRE_KEPT_GONE; takes msg->fd. */
void child_kept(struct child *c, struct wire_message *msg);
void child_kept_fini(struct child *c);

/* child-work.c */
void child_queue_init(struct child_queue *q);
void *child_owner_main(void *arg);
void *child_admission_main(void *arg);
void *child_urgent_main(void *arg);
/* The queue of what is urgent, or of the others where there is no urgent thread. */
struct child_queue *child_urgent_queue(struct child *c, struct child_queue *other);
/* Puts work into a queue; -ENOMEM ends the process. */
void child_push(struct child *c, struct child_queue *q, const struct child_work *work);
void child_prove(struct child *c, uint64_t task, uint32_t partition, uint64_t tag, bool urgent);
void child_cancel(struct child *c, uint64_t tag);
void child_task_free(struct child *c, uint64_t task);
/* The engine's completion. */
void child_complete(struct child *c, uint64_t tag, const struct cuzk_result *result);

/* The program: serves the socket on descriptor sock until told to stop. Exit status. */
int child_main(int sock);

#endif
