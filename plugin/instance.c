/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* instance.c - one supervised child process that owns one device */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/text.h"
#include "plugin/instance-private.h"

#define LATE_MS 5000	/* a deadline so long ago: the main loop does not turn */

uint64_t instance_now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000ull + ts.tv_nsec / 1000000;
}

/* reason NULL: as it was. The callback comes from instance_process(). */
void instance_set_state(struct instance *inst, enum instance_state state, const char *reason)
{
	if (reason && reason != inst->reason) {
		snprintf(inst->reason, sizeof(inst->reason), "%s", reason);
		text_clean(inst->reason);	/* a cut goes through letters */
	}
	if (inst->state == state)
		return;
	inst->state = state;
	inst->state_told = false;
	inst->since_ms = instance_now_ms();
}

/* The reason belongs to what went wrong; a fresh start does not carry it on. */
static const char *state_reason(const struct instance *inst)
{
	return inst->state <= INSTANCE_BUSY ? "" : inst->reason;
}

static void tell_state(struct instance *inst)
{
	while (!inst->state_told) {
		inst->state_told = true;
		if (inst->ops->state)
			inst->ops->state(inst->ctx, inst, inst->state, state_reason(inst));
	}
}

/* Sets the timer to a moment; it fires at once for one that has passed. */
static void set_timer(struct instance *inst, uint64_t ms)
{
	struct itimerspec t = { 0 };

	if (inst->armed_ms == ms)
		return;
	inst->armed_ms = ms;
	if (ms != INSTANCE_NEVER) {
		t.it_value.tv_sec = ms / 1000;
		t.it_value.tv_nsec = ms % 1000 * 1000000 + 1;
	}
	timerfd_settime(inst->timer, TFD_TIMER_ABSTIME, &t, NULL);
}

void instance_arm(struct instance *inst)
{
	set_timer(inst, inst->kicked ? 1 : instance_deadline(inst));
}

/* Makes instance_fd() readable now. */
static void kick(struct instance *inst)
{
	inst->kicked = true;
	instance_arm(inst);
}

/* ---- sending ---- */

static void watch_out(struct instance *inst, bool on)
{
	struct epoll_event ev = { .events = EPOLLIN | (on ? EPOLLOUT : 0), .data.fd = inst->sock };

	if (inst->watch_out != on)
		epoll_ctl(inst->epoll, EPOLL_CTL_MOD, inst->sock, &ev);
	inst->watch_out = on;
}

static void queue_out(struct instance *inst, const struct wire_header *h, const void *body,
		      size_t len, int fd)
{
	struct instance_out *o = malloc(sizeof(*o) + len);

	if (o) {
		o->next = NULL;
		o->h = *h;
		o->len = len;
		o->fd = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 3);
		if (len)
			memcpy(o->body, body, len);
	}
	if (!o || (fd >= 0 && o->fd < 0)) {
		/* a child that misses a message is of no use */
		free(o);
		instance_kill(inst, INSTANCE_DEATH_CRASHED, true, "no memory to talk to it");
		return;
	}
	*inst->out_tail = o;
	inst->out_tail = &o->next;
	watch_out(inst, true);
}

void instance_send(struct instance *inst, enum wire_type type, uint64_t id, uint64_t tag,
		   const void *body, size_t len, int fd)
{
	struct wire_header h = { .type = type, .id = id, .tag = tag };
	int r = -EAGAIN;

	if (inst->sock < 0)
		return;
	if (!inst->out)
		r = wire_send(inst->sock, &h, body, len, fd, MSG_DONTWAIT);
	if (r == -EAGAIN)
		queue_out(inst, &h, body, len, fd);
	/* other errors: it is dead, which pidfd says too */
}

void instance_flush_out(struct instance *inst)
{
	struct instance_out *o;

	while (inst->sock >= 0 && (o = inst->out)) {
		if (wire_send(inst->sock, &o->h, o->body, o->len, o->fd, MSG_DONTWAIT) == -EAGAIN)
			return;
		inst->out = o->next;
		if (!inst->out)
			inst->out_tail = &inst->out;
		if (o->fd >= 0)
			close(o->fd);
		free(o);
	}
	if (inst->sock >= 0)
		watch_out(inst, false);
}

/* ---- open and close ---- */

/* Strings one after another, each with its NUL. */
struct strings {
	char *text;
	size_t len, room;
};

static void add_string(struct strings *s, const char *text)
{
	size_t len = strlen(text) + 1;

	if (len <= s->room - s->len)
		memcpy(s->text + s->len, text, len);
	s->len += len;	/* beyond room: too long, seen by the caller */
}

static void add_place(struct strings *s, const struct config_place *place)
{
	char text[512];

	snprintf(text, sizeof(text), "%.400s:%u", place->file, place->line);
	add_string(s, text);
}

static int build_start(struct instance *inst, const struct instance_config *config)
{
	const struct config_device *device = config->device;
	const struct config_engine *engine = config->engine;
	struct strings s = { .room = WIRE_BODY_MAX };
	struct wire_start start = {
		.mode = inst->mode,
		.foreign = engine->type == CONFIG_ENGINE_FOREIGN,
		.ordinal = config->ordinal,
		.n_params = engine->n_params,
		.host_budget = config->host_budget,
	};
	unsigned int i;

	if (device) {
		start.gpu = device->gpu;
		start.threads = device->threads;
		start.vram_budget = device->vram_budget;
		start.device_host_budget = device->host_budget;
	}
	s.text = malloc(s.room);
	if (!s.text)
		return -ENOMEM;
	memcpy(s.text, &start, sizeof(start));
	s.len = sizeof(start);
	add_string(&s, engine->library);
	add_place(&s, &engine->library_place);
	add_string(&s, engine->name);
	add_string(&s, device && device->device ? device->device : "");
	add_string(&s, config->version ? config->version : "");
	add_string(&s, config->global->params_dir ? config->global->params_dir : "");
	for (i = 0; i < engine->n_params; i++) {
		add_string(&s, engine->params[i].name);
		add_string(&s, engine->params[i].value);
		add_place(&s, &engine->params[i].place);
	}
	inst->start = s.text;
	inst->start_len = s.len;
	return s.len > s.room ? -E2BIG : 0;
}

/* The numbers of a configuration; its strings stay with their owner. */
static void copy_limits(struct instance *inst, const struct config_global *global)
{
	struct config_global *l = &inst->limits;

	l->start_limit = global->start_limit;
	l->admit_limit = global->admit_limit;
	memcpy(l->stage_limit, global->stage_limit, sizeof(l->stage_limit));
	l->heartbeat_limit = global->heartbeat_limit;
	l->kill_grace = global->kill_grace;
	l->restart_delay = global->restart_delay;
	l->restart_delay_max = global->restart_delay_max;
	l->quarantine_faults = global->quarantine_faults;
	l->quarantine_window = global->quarantine_window;
	l->invalid_limit = global->invalid_limit;
}

static int choose_visible(struct instance *inst, const struct config_device *device)
{
	char value[128] = "";

	/* A GPU that is not found is left to the engine, which says so in its probe. */
	if (device && device->gpu &&
	    gpu_visible(device->device, "/proc/driver/nvidia/gpus", value, sizeof(value)) < 0)
		snprintf(value, sizeof(value), "%s", device->device);
	inst->visible = strdup(value);
	return inst->visible ? 0 : -ENOMEM;
}

int instance_open_mode(struct instance **out, const struct instance_config *config,
		       enum wire_mode mode, const struct instance_ops *ops, void *ctx)
{
	const struct config_device *device = config->device;
	struct epoll_event ev = { .events = EPOLLIN };
	struct instance *inst = calloc(1, sizeof(*inst));
	int r = -ENOMEM;

	if (!inst)
		return r;
	inst->ops = ops;
	inst->ctx = ctx;
	inst->mode = mode;
	inst->epoll = inst->timer = inst->sock = inst->pidfd = -1;
	inst->out_tail = &inst->out;
	inst->kill_ms = inst->give_up_ms = inst->stop_ms = INSTANCE_NEVER;
	inst->armed_ms = INSTANCE_NEVER;
	inst->counts.host_budget = config->host_budget;
	snprintf(inst->name, sizeof(inst->name), device && device->gpu ? "gpu %s" : "%s",
		 device ? device->name : config->engine->name);
	copy_limits(inst, config->global);
	inst->msg = malloc(sizeof(*inst->msg));
	inst->program = strdup(config->global->instance_program);
	if (!inst->msg || !inst->program)
		goto err_close;
	r = choose_visible(inst, device);
	if (!r)
		r = build_start(inst, config);
	if (r < 0)
		goto err_close;
	inst->epoll = epoll_create1(EPOLL_CLOEXEC);
	inst->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	ev.data.fd = inst->timer;
	if (inst->epoll < 0 || inst->timer < 0 ||
	    epoll_ctl(inst->epoll, EPOLL_CTL_ADD, inst->timer, &ev) < 0) {
		r = -errno;
		goto err_close;
	}
	/* The first child starts in instance_process(), where its problems can be told. */
	inst->state = INSTANCE_STARTING;
	inst->since_ms = inst->restart_ms = instance_now_ms();
	kick(inst);
	*out = inst;
	return 0;

err_close:
	instance_close(inst);
	return r;
}

int instance_open(struct instance **inst, const struct instance_config *config,
		  const struct instance_ops *ops, void *ctx)
{
	return instance_open_mode(inst, config, WIRE_MODE_SERVE, ops, ctx);
}

void instance_close(struct instance *inst)
{
	if (!inst)
		return;
	if (inst->pidfd >= 0) {
		pidfd_send_signal(inst->pidfd, SIGKILL, NULL, 0);
		/* one that hangs in a driver must not take us along */
		if (!inst->given_up)
			instance_wait(inst, &(siginfo_t){ 0 }, 0);
		close(inst->pidfd);
	}
	instance_drop_socket(inst);
	if (inst->timer >= 0)
		close(inst->timer);
	if (inst->epoll >= 0)
		close(inst->epoll);
	free(inst->start);
	free(inst->visible);
	free(inst->program);
	free(inst->msg);
	free(inst);
}

/* ---- the main loop's half ---- */

int instance_fd(const struct instance *inst)
{
	return inst->epoll;
}

void instance_process(struct instance *inst)
{
	struct epoll_event events[4];
	uint64_t ticks;
	int i, n;

	inst->kicked = false;
	n = epoll_wait(inst->epoll, events, 4, 0);
	for (i = 0; i < n; i++) {
		if (events[i].data.fd == inst->timer) {
			if (read(inst->timer, &ticks, sizeof(ticks)) > 0)
				inst->armed_ms = INSTANCE_NEVER;
		} else if (events[i].data.fd == inst->sock) {
			if (events[i].events & EPOLLOUT)
				instance_flush_out(inst);
			instance_receive(inst);
		}
	}
	if (inst->pidfd >= 0)
		instance_reap(inst);
	instance_try_stop(inst);
	instance_check_limits(inst);
	tell_state(inst);
	instance_try_stop(inst);	/* callbacks may have asked */
	instance_arm(inst);
}

/* ---- work ---- */

static bool takes_work(const struct instance *inst)
{
	return (inst->state == INSTANCE_READY || inst->state == INSTANCE_BUSY) &&
	       !inst->death_known && !inst->stop_wanted && !inst->recycle_wanted;
}

int instance_admit(struct instance *inst, uint64_t id, int request_fd, bool urgent)
{
	if (!takes_work(inst))
		return -EAGAIN;
	if (inst->n_tasks == INSTANCE_TASKS_MAX)
		return -EBUSY;
	if (!id || instance_find_task(inst, id))
		return -EEXIST;
	inst->tasks[inst->n_tasks++] = (struct instance_task){ .id = id };
	if (!inst->n_admitting++) {
		inst->admit_since_ms = instance_now_ms();
		instance_arm(inst);
	}
	instance_send(inst, WIRE_ADMIT, id, urgent, NULL, 0, request_fd);
	return 0;
}

void instance_task_free(struct instance *inst, uint64_t id)
{
	struct instance_task *task = instance_find_task(inst, id);

	if (!task || task->dropped)
		return;
	task->dropped = true;
	if (!task->admitted)
		return;		/* freed when the answer comes */
	instance_send(inst, WIRE_TASK_FREE, id, 0, NULL, 0, -1);
	if (!task->users)
		instance_remove_task(inst, task);
}

bool instance_takes_urgent(const struct instance *inst)
{
	return inst->counts.caps & CUZK_CAP_URGENT;
}

int instance_prove(struct instance *inst, uint64_t id, uint32_t partition, uint64_t tag,
		   bool urgent)
{
	struct wire_prove prove = { .partition = partition, .urgent = urgent };
	struct instance_task *task;
	uint64_t now = instance_now_ms();

	if (!takes_work(inst))
		return -EAGAIN;
	if (inst->n_flights == INSTANCE_FLIGHT_MAX)
		return -EBUSY;
	task = instance_find_task(inst, id);
	if (!task || !task->admitted || task->dropped)
		return -ENOENT;
	if (!tag || instance_find_flight(inst, tag))
		return -EEXIST;
	if (!inst->n_flights)
		inst->idle_since_ms = now;
	inst->flights[inst->n_flights++] = (struct instance_flight){
		.task = id, .tag = tag, .partition = partition, .urgent = urgent, .since_ms = now,
		.moved_ms = now,
	};
	task->users++;
	instance_set_state(inst, INSTANCE_BUSY, NULL);
	instance_send(inst, WIRE_PROVE, id, tag, &prove, sizeof(prove), -1);
	instance_arm(inst);
	return 0;
}

void instance_cancel(struct instance *inst, uint64_t tag)
{
	struct instance_flight *f = instance_find_flight(inst, tag);

	if (!f || f->cancelled)
		return;
	f->cancelled = true;
	instance_send(inst, WIRE_CANCEL, 0, tag, NULL, 0, -1);
}

static int send_circuit(struct instance *inst, enum wire_type type, const char *circuit,
			uint64_t cookie)
{
	size_t len = strlen(circuit);

	if (!takes_work(inst))
		return -EAGAIN;
	if (!(inst->counts.caps & CUZK_CAP_PRELOAD))
		return -EOPNOTSUPP;
	if (!len || len >= CUZK_CIRCUIT_ID_SIZE)
		return -EINVAL;
	instance_send(inst, type, cookie, 0, circuit, len, -1);
	return 0;
}

int instance_preload(struct instance *inst, const char *circuit, uint64_t cookie)
{
	return send_circuit(inst, WIRE_PRELOAD, circuit, cookie);
}

int instance_evict(struct instance *inst, const char *circuit, uint64_t cookie)
{
	return send_circuit(inst, WIRE_EVICT, circuit, cookie);
}

int instance_circuits(struct instance *inst)
{
	if (!takes_work(inst))
		return -EAGAIN;
	instance_send(inst, WIRE_CIRCUITS, 0, 0, NULL, 0, -1);
	return 0;
}

void instance_refresh(struct instance *inst)
{
	if (takes_work(inst))
		instance_send(inst, WIRE_REFRESH, 0, 0, NULL, 0, -1);
}

/* ---- control ---- */

void instance_set_host_budget(struct instance *inst, uint64_t bytes)
{
	inst->counts.host_budget = bytes;
	if (inst->hello)
		instance_send(inst, WIRE_BUDGET, bytes, 0, NULL, 0, -1);
}

void instance_give(struct instance *inst, const char *name, int fd)
{
	if (inst->hello)
		instance_send(inst, fd < 0 ? WIRE_KEPT_GONE : WIRE_KEPT, 0, 0, name, strlen(name),
			      fd);
}

void instance_set_stage_limit(struct instance *inst, uint64_t tag, enum cuzk_stage stage,
			      uint64_t ms)
{
	struct instance_flight *f = instance_find_flight(inst, tag);

	if (!f || (unsigned int)stage >= CUZK_STAGE_COUNT)
		return;
	f->stage_limit[stage] = ms;
	instance_arm(inst);
}

void instance_set_global(struct instance *inst, const struct config_global *global)
{
	copy_limits(inst, global);
	instance_arm(inst);
}

void instance_stop(struct instance *inst)
{
	inst->stop_wanted = true;
	kick(inst);
}

void instance_recycle(struct instance *inst)
{
	if (inst->pid && !inst->recycle_wanted)
		inst->recycle_wanted = true;
	kick(inst);
}

int instance_restart(struct instance *inst)
{
	if (inst->pid)
		return -EBUSY;
	inst->n_faults = 0;
	inst->faults_in_row = 0;
	inst->stop_wanted = false;
	inst->restart_ms = instance_now_ms();
	kick(inst);
	return 0;
}

/* ---- what can be asked ---- */

void instance_status(const struct instance *inst, struct instance_status *status)
{
	*status = inst->counts;
	status->state = inst->state;
	snprintf(status->reason, sizeof(status->reason), "%s", state_reason(inst));
	status->pid = inst->pid;
	status->since_ms = inst->since_ms;
	status->restart_ms = inst->restart_ms == INSTANCE_NEVER ? 0 : inst->restart_ms;
	status->tasks = inst->n_tasks;
	status->flights = inst->n_flights;
	status->recent_faults = instance_recent_faults(inst);
	status->stage = inst->aux.stage;
	status->done = inst->aux.done;
	status->total = inst->aux.total;
}

enum instance_state instance_state(const struct instance *inst)
{
	return inst->state;
}

bool instance_lingers(const struct instance *inst)
{
	return inst->given_up;
}

const char *instance_name(const struct instance *inst)
{
	return inst->name;
}

int instance_flights(const struct instance *inst, struct instance_flight *flights, int max)
{
	int n = inst->n_flights;

	memcpy(flights, inst->flights, (n < max ? n : max) * sizeof(*flights));
	return n;
}

bool instance_alive(const struct instance *inst)
{
	uint64_t deadline = instance_deadline(inst);

	return deadline == INSTANCE_NEVER || instance_now_ms() < deadline + LATE_MS;
}

const char *instance_state_name(enum instance_state state)
{
	static const char *const names[] = {
		"starting", "testing", "ready", "busy", "stuck", "failed", "quarantined",
		"stopping", "stopped"
	};

	return (unsigned int)state < sizeof(names) / sizeof(names[0]) ? names[state] : "unknown";
}

const char *instance_death_name(enum instance_death death)
{
	static const char *const names[] = {
		"stopped", "recycled", "load", "probe", "self-test", "stuck", "sticky", "crashed",
		"protocol", "spawn", "killed"
	};

	return (unsigned int)death < sizeof(names) / sizeof(names[0]) ? names[death] : "unknown";
}
