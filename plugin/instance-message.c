/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* instance-message.c - what the child of an instance says, checked */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <syslog.h>
#include <unistd.h>

#include "plugin/instance-private.h"

#define BATCH 256	/* messages of one child before others get their turn */

/* ---- lists ---- */

struct instance_task *instance_find_task(struct instance *inst, uint64_t id)
{
	unsigned int i;

	for (i = 0; i < inst->n_tasks; i++) {
		if (inst->tasks[i].id == id)
			return &inst->tasks[i];
	}
	return NULL;
}

struct instance_flight *instance_find_flight(struct instance *inst, uint64_t tag)
{
	unsigned int i;

	for (i = 0; i < inst->n_flights; i++) {
		if (inst->flights[i].tag == tag)
			return &inst->flights[i];
	}
	return NULL;
}

void instance_remove_task(struct instance *inst, struct instance_task *task)
{
	*task = inst->tasks[--inst->n_tasks];
}

static void end_flight(struct instance *inst, struct instance_flight *f)
{
	struct instance_task *task = instance_find_task(inst, f->task);

	if (task) {
		task->users--;
		if (task->dropped && !task->users)
			instance_remove_task(inst, task);
	}
	*f = inst->flights[--inst->n_flights];
	if (inst->state == INSTANCE_BUSY && !inst->n_flights)
		instance_set_state(inst, INSTANCE_READY, NULL);
}

/* ---- messages ---- */

static bool is_serving(const struct instance *inst)
{
	return inst->state == INSTANCE_READY || inst->state == INSTANCE_BUSY ||
	       inst->state == INSTANCE_STOPPING || inst->state == INSTANCE_STUCK;
}

/* An admission has ended; the clock of the next one starts. */
static struct instance_task *end_admission(struct instance *inst, uint64_t id)
{
	struct instance_task *task = instance_find_task(inst, id);

	if (!task || task->admitted)
		return NULL;
	inst->n_admitting--;
	inst->admit_since_ms = instance_now_ms();
	return task;
}

static int on_admitted(struct instance *inst, struct wire_message *msg)
{
	struct cuzk_plan plan;
	struct instance_task *task;

	if (msg->len != sizeof(plan))
		return -EBADMSG;
	memcpy(&plan, msg->body, sizeof(plan));
	wire_text(plan.circuit, sizeof(plan.circuit));
	task = end_admission(inst, msg->h.id);
	if (!task || !plan.n_partitions)
		return -EBADMSG;
	task->admitted = true;
	if (task->dropped) {
		instance_send(inst, WIRE_TASK_FREE, task->id, 0, NULL, 0, -1);
		instance_remove_task(inst, task);
		return 0;
	}
	inst->ops->admitted(inst->ctx, inst, msg->h.id, &plan);
	return 0;
}

static int on_refused(struct instance *inst, struct wire_message *msg)
{
	struct instance_task *task;
	struct wire_error refused;
	bool dropped;

	if (msg->len != sizeof(refused))
		return -EBADMSG;
	memcpy(&refused, msg->body, sizeof(refused));
	wire_text(refused.error.text, sizeof(refused.error.text));
	task = end_admission(inst, msg->h.id);
	if (!task || refused.status >= 0 || refused.error.cls > CUZK_ERROR_INTERNAL)
		return -EBADMSG;
	dropped = task->dropped;
	instance_remove_task(inst, task);
	if (!dropped)
		inst->ops->refused(inst->ctx, inst, msg->h.id, refused.status, &refused.error);
	return 0;
}

static int on_started(struct instance *inst, struct wire_message *msg)
{
	struct instance_flight *f;
	uint64_t now = instance_now_ms();

	if (!msg->h.tag) {
		inst->aux = (struct instance_aux){ .active = true, .since_ms = now,
						   .moved_ms = now, .stage = CUZK_STAGE_PARAMS };
		inst->moved_ms = now;
		return 0;
	}
	f = instance_find_flight(inst, msg->h.tag);
	if (!f || f->started)
		return -EBADMSG;
	f->started = true;
	f->since_ms = f->moved_ms = inst->moved_ms = now;
	return 0;
}

static int on_busy(struct instance *inst, struct wire_message *msg)
{
	struct instance_flight *f = instance_find_flight(inst, msg->h.tag);

	if (!f || !f->started)
		return -EBADMSG;
	f->started = false;
	f->stage = CUZK_STAGE_IDLE;
	f->done = f->total = 0;
	return 0;
}

/* It leaves its stage. */
static void note_stay(struct instance_flight *f, uint64_t now)
{
	uint64_t stay = now - f->since_ms;

	if (stay > f->stay[f->stage])
		f->stay[f->stage] = stay;
	f->entered |= 1u << f->stage;
}

/* Only what goes on counts as movement: a hung loop may repeat itself. */
static bool has_moved(uint32_t *stage, uint64_t *done, uint64_t *total, uint64_t *since,
		      const struct wire_heartbeat *beat)
{
	bool moved = beat->stage != *stage || beat->done > *done;

	if (beat->stage != *stage)
		*since = instance_now_ms();
	if (moved) {
		*stage = beat->stage;
		*done = beat->done;
		*total = beat->total;
	}
	return moved;
}

/* What stands aside for an urgent partition does not move. */
static void excuse_others(struct instance *inst, uint64_t now)
{
	unsigned int i;

	for (i = 0; i < inst->n_flights; i++)
		if (!inst->flights[i].urgent)
			inst->flights[i].moved_ms = now;
	inst->aux.moved_ms = now;
}

static int on_heartbeat(struct instance *inst, struct wire_message *msg)
{
	struct wire_heartbeat beat;
	struct instance_flight *f;
	uint64_t now = instance_now_ms();

	if (msg->len != sizeof(beat))
		return -EBADMSG;
	memcpy(&beat, msg->body, sizeof(beat));
	if (beat.stage >= CUZK_STAGE_COUNT)
		return 0;	/* a stage of a newer engine: no movement that we know */
	if (!msg->h.tag) {
		struct instance_aux *a = &inst->aux;

		if (has_moved(&a->stage, &a->done, &a->total, &a->since_ms, &beat))
			a->moved_ms = inst->moved_ms = now;
	} else {
		f = instance_find_flight(inst, msg->h.tag);
		if (!f || !f->started)
			return 0;	/* it crossed the completion */
		if (beat.stage != f->stage)
			note_stay(f, now);
		if (has_moved(&f->stage, &f->done, &f->total, &f->since_ms, &beat)) {
			f->moved_ms = inst->moved_ms = now;
			if (f->urgent)
				excuse_others(inst, now);
		}
	}
	if (inst->ops->heartbeat)
		inst->ops->heartbeat(inst->ctx, inst, msg->h.tag, beat.stage, beat.done,
				     beat.total);
	return 0;
}

static void count_result(struct instance *inst, const struct cuzk_result *result)
{
	if (result->device_peak > inst->counts.device_peak)
		inst->counts.device_peak = result->device_peak;
	inst->counts.bytes_up += result->bytes_up;
	inst->counts.bytes_down += result->bytes_down;
	inst->counts.up_ns += result->up_ns;
	if (!result->status) {
		inst->counts.completed++;
		inst->faults_in_row = 0;
	} else if (result->status != -ECANCELED) {
		inst->counts.failed++;
	}
	if (result->invalid) {
		inst->counts.invalid++;
		inst->invalid_in_child++;
	}
	if (result->sticky && !inst->death_known) {
		inst->death_known = true;
		inst->death = INSTANCE_DEATH_STICKY;
		wire_copy(inst->death_reason, sizeof(inst->death_reason),
			  *result->text ? result->text : "device lost");
		/* the child ends by itself; if not, it is helped */
		inst->kill_ms = instance_now_ms() + inst->limits.kill_grace;
		instance_set_state(inst, INSTANCE_STUCK, inst->death_reason);
	} else if (inst->invalid_in_child >= inst->limits.invalid_limit &&
		   !inst->recycle_wanted) {
		inst->recycle_wanted = inst->recycle_fault = true;
		instance_set_state(inst, INSTANCE_STOPPING, "made a proof that does not verify");
	}
}

static int on_completed(struct instance *inst, struct wire_message *msg)
{
	struct instance_flight *f = instance_find_flight(inst, msg->h.tag);
	struct cuzk_result result;
	uint64_t task;
	uint32_t partition;

	if (msg->len != sizeof(result) || !f || f->task != msg->h.id)
		return -EBADMSG;
	memcpy(&result, msg->body, sizeof(result));
	wire_text(result.text, sizeof(result.text));
	if (result.status > 0 || result.cls > CUZK_ERROR_INTERNAL ||
	    (!result.status && (!f->started || result.sticky || result.invalid)))
		return -EBADMSG;
	if (result.status && !result.cls)
		result.cls = CUZK_ERROR_INTERNAL;
	task = f->task;
	partition = f->partition;
	inst->idle_since_ms = inst->moved_ms = instance_now_ms();
	if (!result.status) {
		note_stay(f, inst->moved_ms);
		if (inst->ops->stays)
			inst->ops->stays(inst->ctx, inst, f);
	}
	end_flight(inst, f);
	count_result(inst, &result);
	inst->ops->completed(inst->ctx, inst, task, partition, msg->h.tag, &result);
	return 0;
}

static int on_loaded(struct instance *inst, struct wire_message *msg)
{
	struct wire_loaded loaded;

	if (msg->len != sizeof(loaded) || inst->state != INSTANCE_STARTING)
		return inst->state == INSTANCE_STOPPING ? 0 : -EBADMSG;
	memcpy(&loaded, msg->body, sizeof(loaded));
	wire_text(loaded.name, sizeof(loaded.name));
	wire_text(loaded.version, sizeof(loaded.version));
	wire_copy(inst->counts.engine_name, sizeof(inst->counts.engine_name), loaded.name);
	wire_copy(inst->counts.engine_version, sizeof(inst->counts.engine_version),
		  loaded.version);
	inst->counts.caps = loaded.caps;
	inst->aux.moved_ms = instance_now_ms();
	return 0;
}

static int on_testing(struct instance *inst, struct wire_message *msg)
{
	if (inst->state != INSTANCE_STARTING)
		return inst->state == INSTANCE_STOPPING ? 0 : -EBADMSG;
	inst->aux.moved_ms = instance_now_ms();
	instance_set_state(inst, INSTANCE_TESTING, NULL);
	return 0;
}

static int on_ready(struct instance *inst, struct wire_message *msg)
{
	inst->aux.active = false;
	if (inst->state != INSTANCE_TESTING)
		return inst->state == INSTANCE_STOPPING ? 0 : -EBADMSG;
	instance_set_state(inst, INSTANCE_READY, "");
	return 0;
}

static int on_params(struct instance *inst, struct wire_message *msg)
{
	struct wire_params done;

	if (msg->len != sizeof(done))
		return -EBADMSG;
	memcpy(&done, msg->body, sizeof(done));
	wire_text(done.error.text, sizeof(done.error.text));
	if (done.status > 0 || done.error.cls > CUZK_ERROR_INTERNAL)
		return -EBADMSG;
	inst->aux.active = false;
	inst->idle_since_ms = inst->moved_ms = instance_now_ms();
	inst->ops->loaded(inst->ctx, inst, msg->h.id, done.status, done.was, done.bytes,
			  &done.error);
	return 0;
}

static int on_circuits(struct instance *inst, struct wire_message *msg)
{
	struct cuzk_circuit *list = (struct cuzk_circuit *)(void *)msg->body;
	size_t n = msg->len / sizeof(*list), i;

	if (msg->len % sizeof(*list) || n > INSTANCE_CIRCUITS_MAX)
		return -EBADMSG;
	for (i = 0; i < n; i++) {
		wire_text(list[i].id, sizeof(list[i].id));
		wire_text(list[i].reason, sizeof(list[i].reason));
		if (list[i].kind >= CUZK_KIND_COUNT || list[i].state > CUZK_PARAMS_HOT)
			return -EBADMSG;
	}
	inst->ops->circuits(inst->ctx, inst, list, n);
	return 0;
}

static int on_memory(struct instance *inst, struct wire_message *msg)
{
	struct instance_status *s = &inst->counts;
	struct wire_memory m;
	unsigned int i, k;

	if (msg->len != sizeof(m))
		return -EBADMSG;
	memcpy(&m, msg->body, sizeof(m));
	if (m.n > WIRE_MEMORY_MAX)
		return -EBADMSG;
	s->host_reserved = m.reserved;
	s->host_peak = m.peak;
	s->resident = m.resident;
	s->resident_peak = m.resident_peak;
	s->n_memory = 0;
	for (i = 0; i < m.n; i++) {
		wire_text(m.entry[i].name, sizeof(m.entry[i].name));
		/* names that differ in what cannot be shown are shown as one */
		for (k = 0; k < s->n_memory; k++)
			if (!strcmp(s->memory[k].name, m.entry[i].name))
				break;
		if (k == s->n_memory) {
			s->memory[k] = (struct instance_memory){ 0 };
			wire_copy(s->memory[k].name, sizeof(s->memory[k].name), m.entry[i].name);
			s->n_memory++;
		}
		s->memory[k].reserved += m.entry[i].reserved;
		s->memory[k].peak += m.entry[i].peak;
	}
	return 0;
}

static int on_text(struct instance *inst, struct wire_message *msg)
{
	int priority = msg->h.type == WIRE_LOG ? (int)(msg->h.id & 7) : LOG_ERR;

	wire_text(msg->body, msg->len + 1);
	if (msg->h.type == WIRE_REPORT && inst->report)
		inst->report(inst->ctx, msg->body);
	else if (inst->ops->log)
		inst->ops->log(inst->ctx, inst, priority, msg->body);
	return 0;
}

static int on_failed(struct instance *inst, struct wire_message *msg)
{
	if (msg->h.id > INSTANCE_DEATH_SPAWN)
		return -EBADMSG;
	wire_text(msg->body, msg->len + 1);
	if (inst->death_known)
		return 0;
	inst->death_known = true;
	inst->death = msg->h.id;
	wire_copy(inst->death_reason, sizeof(inst->death_reason), msg->body);
	inst->kill_ms = instance_now_ms() + inst->limits.kill_grace;
	return 0;
}

static int on_keep(struct instance *inst, struct wire_message *msg)
{
	int fd = msg->fd;

	if ((msg->h.type == WIRE_KEEP) != (fd >= 0) || !wire_memory_name(msg->body))
		return -EBADMSG;
	if (!inst->ops->keep)
		return 0;
	if (msg->h.type == WIRE_KEEP) {
		msg->fd = -1;
		inst->ops->keep(inst->ctx, inst, msg->body, fd, msg->h.id);
	} else if (msg->h.type == WIRE_KEEP_USE) {
		inst->ops->keep_use(inst->ctx, inst, msg->body);
	} else {
		inst->ops->keep_drop(inst->ctx, inst, msg->body);
	}
	return 0;
}

static int on_hello(struct instance *inst, struct wire_message *msg)
{
	if (inst->hello)
		return -EBADMSG;
	if (msg->h.id != WIRE_VERSION) {
		instance_kill(inst, INSTANCE_DEATH_LOAD, true,
			      "%.300s speaks version %llu of the instance protocol, not %d",
			      inst->program, (unsigned long long)msg->h.id, WIRE_VERSION);
		return 0;
	}
	inst->hello = true;
	if (inst->ops->give)
		inst->ops->give(inst->ctx, inst);
	instance_send(inst, WIRE_START, 0, 0, inst->start, inst->start_len, -1);
	instance_send(inst, WIRE_BUDGET, inst->counts.host_budget, 0, NULL, 0, -1);
	return 0;
}

static int dispatch(struct instance *inst, struct wire_message *msg)
{
	static int (*const handlers[WIRE_TYPE_COUNT])(struct instance *, struct wire_message *) = {
		[WIRE_HELLO] = on_hello,
		[WIRE_LOADED] = on_loaded,
		[WIRE_TESTING] = on_testing,
		[WIRE_READY] = on_ready,
		[WIRE_ADMITTED] = on_admitted,
		[WIRE_REFUSED] = on_refused,
		[WIRE_STARTED] = on_started,
		[WIRE_BUSY] = on_busy,
		[WIRE_HEARTBEAT] = on_heartbeat,
		[WIRE_COMPLETED] = on_completed,
		[WIRE_PARAMS] = on_params,
		[WIRE_CIRCUIT_LIST] = on_circuits,
		[WIRE_MEMORY] = on_memory,
		[WIRE_LOG] = on_text,
		[WIRE_REPORT] = on_text,
		[WIRE_FAILED] = on_failed,
		[WIRE_KEEP] = on_keep,
		[WIRE_KEEP_USE] = on_keep,
		[WIRE_KEEP_DROP] = on_keep,
	};
	static const uint32_t served = 1u << (WIRE_ADMITTED - WIRE_HELLO) |
		1u << (WIRE_REFUSED - WIRE_HELLO) | 1u << (WIRE_STARTED - WIRE_HELLO) |
		1u << (WIRE_BUSY - WIRE_HELLO) |
		1u << (WIRE_COMPLETED - WIRE_HELLO) | 1u << (WIRE_PARAMS - WIRE_HELLO);
	unsigned int type = msg->h.type;

	if (type >= WIRE_TYPE_COUNT || !handlers[type] || (msg->fd >= 0 && type != WIRE_KEEP))
		return -EBADMSG;
	if (!inst->hello && type != WIRE_HELLO)
		return -EBADMSG;
	if ((served >> (type - WIRE_HELLO) & 1) && !is_serving(inst))
		return -EBADMSG;
	return handlers[type](inst, msg);
}

void instance_receive(struct instance *inst)
{
	struct wire_message *msg = inst->msg;
	unsigned int i;
	int r;

	/* a dead child is read to the end, a live one leaves room for others */
	for (i = 0; inst->sock >= 0 && (i < BATCH || inst->pidfd < 0); i++) {
		r = wire_recv(inst->sock, msg, MSG_DONTWAIT);
		if (r == -EAGAIN)
			return;
		if (r == 1) {
			r = dispatch(inst, msg);
			if (msg->fd >= 0)
				close(msg->fd);
			if (!r)
				continue;
			instance_kill(inst, INSTANCE_DEATH_PROTOCOL, true,
				      "bad message %u of the instance process", msg->h.type);
		} else if (r < 0) {
			instance_kill(inst, INSTANCE_DEATH_PROTOCOL, true,
				      "unreadable message of the instance process");
		} else if (inst->kill_ms == INSTANCE_NEVER && !inst->stop_sent &&
			   inst->give_up_ms == INSTANCE_NEVER) {
			/* end of file: it is about to end, or forgot to */
			inst->kill_ms = instance_now_ms() + inst->limits.kill_grace;
		}
		instance_drop_socket(inst);
	}
}
