/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* instance-private.h - one instance as the service sees it; private to instance*.c */
#ifndef CUZK_PLUGIN_INSTANCE_PRIVATE_H
#define CUZK_PLUGIN_INSTANCE_PRIVATE_H

#include <signal.h>

#include "plugin/instance.h"
#include "plugin/wire.h"

#define INSTANCE_STOP_MS 30000		/* an orderly end may take so long */
#define INSTANCE_GIVE_UP_MS 10000	/* after SIGKILL */
#define INSTANCE_FAULTS_MAX 1000	/* bound of quarantine_faults in the configuration */
#define INSTANCE_NEVER UINT64_MAX

/* A message that the socket had no room for. */
struct instance_out {
	struct instance_out *next;
	struct wire_header h;
	int fd;			/* -1: none; ours */
	size_t len;
	char body[];
};

struct instance_task {
	uint64_t id;
	uint32_t users;		/* flights */
	bool admitted;
	bool dropped;		/* freed by the caller, still in use */
};

/* Work without a tag: start and self-test, or a preload or evict. */
struct instance_aux {
	bool active;
	uint64_t since_ms, moved_ms;
	uint32_t stage;
	uint64_t done, total;
};

struct instance {
	const struct instance_ops *ops;
	void *ctx;
	char name[CONFIG_NAME_MAX + 8];
	char *program, *visible;	/* CUDA_VISIBLE_DEVICES of the child */
	struct config_global limits;	/* the numbers of it only */
	enum wire_mode mode;
	void (*report)(void *ctx, const char *line);	/* WIRE_MODE_CHECK */
	void *start;			/* body of WIRE_START */
	size_t start_len;

	/* the child */
	int epoll, timer;
	int sock, pidfd;		/* -1: none */
	pid_t pid;
	bool hello, watch_out;
	struct instance_out *out, **out_tail;
	struct wire_message *msg;	/* buffer for what comes in */

	/* what it does */
	enum instance_state state;
	bool state_told;
	char reason[INSTANCE_REASON];
	uint64_t since_ms;
	struct instance_task tasks[INSTANCE_TASKS_MAX];
	unsigned int n_tasks, n_admitting;
	uint64_t admit_since_ms;	/* of the oldest admission */
	struct instance_flight flights[INSTANCE_FLIGHT_MAX];
	unsigned int n_flights;
	struct instance_aux aux;
	uint64_t moved_ms;		/* any of what it has moved, began or ended */
	uint64_t idle_since_ms;		/* nothing of what it has is started since */

	/* its end */
	bool stop_wanted, recycle_wanted, recycle_fault, stop_sent;
	bool death_known;
	enum instance_death death;
	char death_reason[INSTANCE_REASON];
	bool given_up;			/* it could not be killed; pidfd is still watched */
	uint64_t kill_ms, give_up_ms, stop_ms, restart_ms;	/* INSTANCE_NEVER: not set */
	uint64_t armed_ms;		/* what the timer is set to */
	bool kicked;			/* it shall fire now */

	/* its record */
	uint64_t faults[INSTANCE_FAULTS_MAX];	/* ring of times */
	uint64_t n_faults;
	unsigned int faults_in_row, invalid_in_child;
	struct instance_status counts;	/* the counters, names and memory of it */
};

/* instance.c */
uint64_t instance_now_ms(void);
void instance_set_state(struct instance *inst, enum instance_state state, const char *reason);
void instance_send(struct instance *inst, enum wire_type type, uint64_t id, uint64_t tag,
		   const void *body, size_t len, int fd);
void instance_arm(struct instance *inst);
int instance_open_mode(struct instance **inst, const struct instance_config *config,
		       enum wire_mode mode, const struct instance_ops *ops, void *ctx);

/* instance-child.c: start, kill, reap, restart */
void instance_spawn(struct instance *inst);
__attribute__((format(printf, 4, 5)))
void instance_kill(struct instance *inst, enum instance_death death, bool now, const char *fmt,
		   ...);
void instance_reap(struct instance *inst);
/* The child is gone (flags: WNOHANG or 0), and what it started goes with it; false: not yet. */
bool instance_wait(struct instance *inst, siginfo_t *info, int flags);
void instance_give_up(struct instance *inst);
/* Sends WIRE_STOP when a stop is wanted and nothing is in flight. */
void instance_try_stop(struct instance *inst);
unsigned int instance_recent_faults(const struct instance *inst);
void instance_flush_out(struct instance *inst);
void instance_drop_socket(struct instance *inst);

/* instance-message.c: what the child says */
void instance_receive(struct instance *inst);
struct instance_task *instance_find_task(struct instance *inst, uint64_t id);
struct instance_flight *instance_find_flight(struct instance *inst, uint64_t tag);
void instance_remove_task(struct instance *inst, struct instance_task *task);

/* instance-limits.c: when is something over its limit */
uint64_t instance_deadline(const struct instance *inst);
void instance_check_limits(struct instance *inst);

/* gpu-visible.c: the value of CUDA_VISIBLE_DEVICES that leaves one device visible.
 * device: UUID, or PCI address, looked up under proc ("/proc/driver/nvidia/gpus").
 * 0, -ENOENT, -ENAMETOOLONG. */
int gpu_visible(const char *device, const char *proc, char *value, size_t size);

#endif
