/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* child-work.c - the owner, the admission and the urgent thread of an instance process */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "plugin/child.h"
#include "plugin/foreign.h"
#include "plugin/loader.h"

#define BUSY_RETRY_MS 100	/* -EAGAIN and no completion: ask again after */

/* ---- queues ---- */

void child_queue_init(struct child_queue *q)
{
	q->head = NULL;
	q->tail = &q->head;
}

/* Under lock. */
static void push_locked(struct child *c, struct child_queue *q, const struct child_work *work)
{
	struct child_work *w = malloc(sizeof(*w));

	if (!w)
		child_fail(c, INSTANCE_DEATH_CRASHED, "out of memory");
	*w = *work;
	w->next = NULL;
	*q->tail = w;
	q->tail = &w->next;
	c->worked = true;
	pthread_cond_broadcast(&c->changed);
}

/* Under lock. Work that could not be done goes to the front, behind what is more urgent. */
static void push_back_locked(struct child *c, struct child_queue *q,
			     const struct child_work *work)
{
	struct child_work *w = malloc(sizeof(*w)), **p = &q->head;

	if (!w)
		child_fail(c, INSTANCE_DEATH_CRASHED, "out of memory");
	*w = *work;
	while (*p && (*p)->urgent && !work->urgent)
		p = &(*p)->next;
	w->next = *p;
	*p = w;
	if (!w->next)
		q->tail = &w->next;
	pthread_cond_broadcast(&c->changed);
}

struct child_queue *child_urgent_queue(struct child *c, struct child_queue *other)
{
	return c->has_urgent ? &c->urgent_work : other;
}

void child_push(struct child *c, struct child_queue *q, const struct child_work *work)
{
	pthread_mutex_lock(&c->lock);
	push_locked(c, q, work);
	pthread_mutex_unlock(&c->lock);
}

/* Under lock. Unlinks *p. */
static struct child_work *unlink_work(struct child_queue *q, struct child_work **p)
{
	struct child_work *w = *p;

	*p = w->next;
	if (q->tail == &w->next)
		q->tail = p;
	return w;
}

/*
 * Waits for work; NULL: told to stop and nothing left.  The admission thread
 * stays until no partition uses a task.
 */
static struct child_work *next_work(struct child *c, struct child_queue *q)
{
	bool admission = q == &c->admission_work;
	struct child_work *w = NULL;

	pthread_mutex_lock(&c->lock);
	while (!q->head && (!c->stopping || (admission && c->tags)))
		pthread_cond_wait(&c->changed, &c->lock);
	if (q->head)
		w = unlink_work(q, &q->head);
	pthread_mutex_unlock(&c->lock);
	return w;
}

/* ---- tasks and tags ---- */

/* Under lock. */
static struct child_task *find_task(struct child *c, uint64_t id)
{
	struct child_task *t;

	for (t = c->tasks; t && (t->id != id || t->dropped); t = t->next)
		;
	return t;
}

/* Under lock: hands a task that nobody uses to the admission thread. */
static void drop_unused(struct child *c, struct child_task *task)
{
	struct child_work free_it = { .type = WIRE_TASK_FREE, .task = task };
	struct child_task **p;

	if (!task->dropped || task->users)
		return;
	for (p = &c->tasks; *p != task; p = &(*p)->next)
		;
	*p = task->next;
	push_locked(c, &c->admission_work, &free_it);
}

void child_task_free(struct child *c, uint64_t id)
{
	struct child_task *task;

	pthread_mutex_lock(&c->lock);
	task = find_task(c, id);
	if (task) {
		task->dropped = true;
		drop_unused(c, task);
	}
	pthread_mutex_unlock(&c->lock);
}

static void send_result(struct child *c, uint64_t task, uint64_t tag,
			const struct cuzk_result *result)
{
	child_send(c, WIRE_COMPLETED, task, tag, result, sizeof(*result));
}

static void send_failure(struct child *c, uint64_t task, uint64_t tag, int status, uint32_t cls,
			 const char *text)
{
	struct cuzk_result result = { .size = sizeof(result), .status = status, .cls = cls };

	wire_copy(result.text, sizeof(result.text), text);
	wire_text(result.text, sizeof(result.text));
	send_result(c, task, tag, &result);
}

/* Takes a tag out; gives its task's number. false: no such tag. */
static bool end_tag(struct child *c, uint64_t tag, uint64_t *task)
{
	struct child_tag **p, *t;

	pthread_mutex_lock(&c->lock);
	for (p = &c->tags; *p && (*p)->tag != tag; p = &(*p)->next)
		;
	t = *p;
	if (t) {
		*p = t->next;
		*task = t->task->id;
		t->task->users--;
		drop_unused(c, t->task);
		pthread_cond_broadcast(&c->changed);
	}
	pthread_mutex_unlock(&c->lock);
	free(t);
	return t;
}

void child_complete(struct child *c, uint64_t tag, const struct cuzk_result *result)
{
	struct cuzk_result own = { 0 };
	size_t size = result->size;
	uint64_t task;

	if (size < offsetof(struct cuzk_result, stage_ns))
		child_fail(c, INSTANCE_DEATH_PROTOCOL, "engine bug: result of %zu bytes", size);
	memcpy(&own, result, size < sizeof(own) ? size : sizeof(own));
	own.size = sizeof(own);
	wire_text(own.text, sizeof(own.text));
	if (!end_tag(c, tag, &task))
		child_fail(c, INSTANCE_DEATH_PROTOCOL,
			   "engine bug: completed partition %llu, which is not in flight",
			   (unsigned long long)tag);
	send_result(c, task, tag, &own);
	if (own.sticky)
		child_fail(c, INSTANCE_DEATH_STICKY, "%s", *own.text ? own.text : "device lost");
}

/* ---- requests of the service, on the reader thread ---- */

void child_prove(struct child *c, uint64_t id, uint32_t partition, uint64_t tag, bool urgent)
{
	struct child_work work = { .type = WIRE_PROVE, .id = id, .tag = tag, .urgent = urgent };
	struct child_tag *t = calloc(1, sizeof(*t));
	struct child_task *task;

	if (!t)
		child_fail(c, INSTANCE_DEATH_CRASHED, "out of memory");
	pthread_mutex_lock(&c->lock);
	task = find_task(c, id);
	if (task) {
		*t = (struct child_tag){ .next = c->tags, .tag = tag, .task = task,
					 .partition = partition };
		c->tags = t;
		task->users++;
		push_locked(c, urgent ? child_urgent_queue(c, &c->owner_work) : &c->owner_work,
			    &work);
	}
	pthread_mutex_unlock(&c->lock);
	if (!task) {
		free(t);
		send_failure(c, id, tag, -ENOENT, CUZK_ERROR_INTERNAL, "no such task");
	}
}

/* Under lock. Takes a queued partition out of its queue. */
static bool unqueue(struct child_queue *q, uint64_t tag)
{
	struct child_work **p, *w = NULL;

	for (p = &q->head; *p; p = &(*p)->next) {
		if ((*p)->type == WIRE_PROVE && (*p)->tag == tag) {
			w = unlink_work(q, p);
			break;
		}
	}
	free(w);
	return w;
}

void child_cancel(struct child *c, uint64_t tag)
{
	bool queued = false, started = false;
	struct child_tag *t;
	uint64_t task;

	pthread_mutex_lock(&c->lock);
	for (t = c->tags; t && t->tag != tag; t = t->next)
		;
	if (t) {
		t->cancelled = true;
		started = t->started;
		queued = !started && (unqueue(&c->owner_work, tag) ||
				      unqueue(&c->urgent_work, tag));
	}
	pthread_mutex_unlock(&c->lock);
	if (started)
		c->ops.cancel(c->inst, tag);
	else if (queued && end_tag(c, tag, &task))
		send_failure(c, task, tag, -ECANCELED, CUZK_ERROR_CANCELLED, "cancelled");
}

/* ---- the admission thread ---- */

static void init_error(struct cuzk_error *err)
{
	memset(err, 0, sizeof(*err));
	err->size = sizeof(*err);
	err->cls = CUZK_ERROR_INTERNAL;
}

/* Fills in what an engine left out. */
static void finish_error(struct cuzk_error *err, int status)
{
	wire_text(err->text, sizeof(err->text));
	if (!*err->text)
		wire_copy(err->text, sizeof(err->text), strerror(-status));
	if (err->cls == CUZK_ERROR_NONE || err->cls > CUZK_ERROR_INTERNAL)
		err->cls = CUZK_ERROR_INTERNAL;
}

static int admit_mapped(struct child *c, struct child_task *t, struct cuzk_plan *plan,
			struct cuzk_error *err)
{
	struct cuzk_plan theirs = { .size = sizeof(theirs) };
	int r;

	r = c->ops.admit(c->inst, &t->map.request, &t->task, &theirs, err);
	if (r)
		return r < 0 ? r : -EPROTO;
	*plan = theirs;
	plan->size = sizeof(*plan);
	wire_text(plan->circuit, sizeof(plan->circuit));
	if (t->task && plan->n_partitions)
		return 0;
	if (t->task)
		c->ops.task_free(t->task);
	err->cls = CUZK_ERROR_INTERNAL;
	wire_copy(err->text, sizeof(err->text),
		  "engine bug: admitted without a task or partitions");
	return -EPROTO;
}

static void admit(struct child *c, const struct child_work *w)
{
	struct child_task *t = calloc(1, sizeof(*t));
	struct wire_error refused = { 0 };
	struct cuzk_plan plan;
	int r;

	if (!t)
		child_fail(c, INSTANCE_DEATH_CRASHED, "out of memory");
	init_error(&refused.error);
	t->id = w->id;
	r = request_map(&t->map, w->fd);
	close(w->fd);
	if (r < 0) {
		wire_copy(refused.error.text, sizeof(refused.error.text), "request file unusable");
		goto err_free;
	}
	r = admit_mapped(c, t, &plan, &refused.error);
	if (r < 0)
		goto err_unmap;
	pthread_mutex_lock(&c->lock);
	t->next = c->tasks;
	c->tasks = t;
	pthread_mutex_unlock(&c->lock);
	child_send(c, WIRE_ADMITTED, w->id, 0, &plan, sizeof(plan));
	return;

err_unmap:
	request_unmap(&t->map);
err_free:
	free(t);
	refused.status = r;
	finish_error(&refused.error, r);
	child_send(c, WIRE_REFUSED, w->id, 0, &refused, sizeof(refused));
}

static void task_close(struct child *c, struct child_task *t)
{
	c->ops.task_free(t->task);
	request_unmap(&t->map);
	free(t);
}

void *child_admission_main(void *arg)
{
	struct child *c = arg;
	struct child_work *w;
	struct child_task *t;

	while ((w = next_work(c, &c->admission_work))) {
		if (w->type == WIRE_ADMIT)
			admit(c, w);
		else
			task_close(c, w->task);
		free(w);
	}
	/* stopping: nothing is in flight, nobody else touches the tasks */
	while ((t = c->tasks)) {
		c->tasks = t->next;
		task_close(c, t);
	}
	return NULL;
}

/* ---- a partition and the engine ---- */

/* Waits for a completion, or a while. */
static void wait_busy(struct child *c)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += BUSY_RETRY_MS * 1000000l;
	until.tv_sec += until.tv_nsec / 1000000000l;
	until.tv_nsec %= 1000000000l;
	pthread_mutex_lock(&c->lock);
	pthread_cond_timedwait(&c->changed, &c->lock, &until);
	pthread_mutex_unlock(&c->lock);
}

/* The engine did not take a partition: it waits for the owner again. */
static void take_back(struct child *c, const struct child_work *w)
{
	struct child_tag *t;

	pthread_mutex_lock(&c->lock);
	for (t = c->tags; t && t->tag != w->tag; t = t->next)
		;
	if (t)
		t->started = false;
	pthread_mutex_unlock(&c->lock);
	/* before anybody can begin it anew */
	child_send(c, WIRE_BUSY, 0, w->tag, NULL, 0);
	pthread_mutex_lock(&c->lock);
	push_back_locked(c, &c->owner_work, w);
	pthread_mutex_unlock(&c->lock);
}

/* What the owner needs of a tag; false: it is gone or cancelled. */
static bool begin_tag(struct child *c, uint64_t tag, struct cuzk_task **task,
		      uint32_t *partition)
{
	struct child_tag *t;
	bool go = false;

	pthread_mutex_lock(&c->lock);
	for (t = c->tags; t && t->tag != tag; t = t->next)
		;
	if (t && !t->cancelled) {
		go = t->started = true;
		*task = t->task->task;
		*partition = t->partition;
	}
	pthread_mutex_unlock(&c->lock);
	return go;
}

static bool is_cancelled(struct child *c, uint64_t tag)
{
	struct child_tag *t;
	bool cancelled;

	pthread_mutex_lock(&c->lock);
	for (t = c->tags; t && t->tag != tag; t = t->next)
		;
	cancelled = t && t->cancelled;
	pthread_mutex_unlock(&c->lock);
	return cancelled;
}

/* What follows from the engine's answer: r is not -EAGAIN. */
static void prove_returned(struct child *c, uint64_t tag, int r, struct cuzk_error *err)
{
	uint64_t id;

	if (!r) {
		/* A cancel that came before the engine knew the tag was lost. */
		if (is_cancelled(c, tag))
			c->ops.cancel(c->inst, tag);
		return;
	}
	if (r == -ECANCELED)
		err->cls = CUZK_ERROR_CANCELLED;
	finish_error(err, r);
	if (end_tag(c, tag, &id))
		send_failure(c, id, tag, r < 0 ? r : -EPROTO, err->cls, err->text);
}

/* Gives a partition to the engine; false: that did not take it. */
static bool offer(struct child *c, const struct child_work *w,
		  int (*prove)(struct cuzk_instance *inst, struct cuzk_task *task,
			       uint32_t partition, uint64_t tag, struct cuzk_error *err))
{
	struct cuzk_task *task;
	struct cuzk_error err;
	uint32_t partition;
	int r = -ECANCELED;

	init_error(&err);
	if (begin_tag(c, w->tag, &task, &partition)) {
		child_send(c, WIRE_STARTED, 0, w->tag, NULL, 0);
		r = prove(c->inst, task, partition, w->tag, &err);
	}
	if (r == -EAGAIN)
		take_back(c, w);
	else
		prove_returned(c, w->tag, r, &err);
	return r != -EAGAIN;
}

/* ---- the urgent thread ---- */

void *child_urgent_main(void *arg)
{
	struct child *c = arg;
	struct child_work *w;

	while ((w = next_work(c, &c->urgent_work))) {
		if (w->type == WIRE_ADMIT)
			admit(c, w);
		else
			offer(c, w, c->ops.prove_urgent);
		free(w);
	}
	return NULL;
}

static void start_urgent(struct child *c)
{
	if (!(c->ops.caps & CUZK_CAP_URGENT))
		return;
	if (pthread_create(&c->urgent, NULL, child_urgent_main, c))
		child_fail(c, INSTANCE_DEATH_CRASHED, "cannot start threads");
	c->has_urgent = true;
}

/* ---- the owner thread ---- */

static void report(void *ctx, const char *line)
{
	child_send(ctx, WIRE_REPORT, 0, 0, line, strlen(line));
}

static void load(struct child *c)
{
	struct wire_loaded loaded = { 0 };
	char why[LOADER_WHY] = "";
	int r;

	if (c->start.foreign) {
		r = foreign_open(c->library, c->library_place, c->params, c->start.n_params,
				 &c->ops, why);
		if (r < 0)
			child_fail(c, INSTANCE_DEATH_LOAD, "%s", why);
	} else {
		r = loader_open(c->library, &c->host, &c->ops, why);
		if (r < 0)
			child_fail(c, INSTANCE_DEATH_LOAD, "%s: %s", c->library_place, why);
	}
	wire_copy(loaded.name, sizeof(loaded.name), c->ops.name);
	wire_copy(loaded.version, sizeof(loaded.version), c->ops.version);
	loaded.caps = c->ops.caps;
	r = params_check(c->ops.params, c->params, c->start.n_params, c->params_dir, &c->options,
			 report, c);
	if (r < 0)
		child_fail(c, INSTANCE_DEATH_LOAD, "%s: engine %s: parameters are wrong",
			   c->library_place, c->engine_name);
	if (c->start.mode == WIRE_MODE_SERVE &&
	    !(c->ops.caps & (c->start.gpu ? CUZK_CAP_GPU : CUZK_CAP_CPU)))
		child_fail(c, INSTANCE_DEATH_LOAD, "%s: engine %s does not serve a %s",
			   c->library_place, c->ops.name, c->start.gpu ? "gpu" : "cpu");
	child_send(c, WIRE_LOADED, 0, 0, &loaded, sizeof(loaded));
}

static void open_device(struct child *c)
{
	struct cuzk_device device = {
		.size = sizeof(device),
		.backend = c->start.gpu ? "gpu" : "cpu",
		.id = *c->device_id ? c->device_id : NULL,
		.threads = c->start.threads,
		.ordinal = c->start.ordinal,
		.vram_budget = c->start.vram_budget,
		.host_budget = c->start.device_host_budget,
	};
	struct cuzk_error err;
	int r;

	init_error(&err);
	r = c->ops.probe(&c->host, &device, c->options, &c->inst, &err);
	if (r) {
		finish_error(&err, r);
		child_fail(c, INSTANCE_DEATH_PROBE, "%s", err.text);
	}
	child_send(c, WIRE_TESTING, 0, 0, NULL, 0);
	init_error(&err);
	r = c->ops.self_test(c->inst, &err);
	if (r) {
		finish_error(&err, r);
		child_fail(c, INSTANCE_DEATH_SELF_TEST, "self-test: %s", err.text);
	}
	child_send_circuits(c);
	child_send_memory(c);
	start_urgent(c);
	pthread_mutex_lock(&c->lock);
	c->serving = true;
	pthread_mutex_unlock(&c->lock);
	child_send(c, WIRE_READY, 0, 0, NULL, 0);
}

static void prove(struct child *c, const struct child_work *w)
{
	if (!offer(c, w, c->ops.prove))
		wait_busy(c);
}

static void load_params(struct child *c, const struct child_work *w)
{
	struct wire_params done = { 0 };
	bool was = false;

	init_error(&done.error);
	child_send(c, WIRE_STARTED, w->id, 0, NULL, 0);
	if (w->type == WIRE_PRELOAD)
		done.status = c->ops.preload(c->inst, w->circuit, &was, &done.bytes, &done.error);
	else
		done.status = c->ops.evict(c->inst, w->circuit, &was, &done.bytes, &done.error);
	done.was = was;
	if (done.status)
		finish_error(&done.error, done.status);
	child_send_circuits(c);
	child_send(c, WIRE_PARAMS, w->id, 0, &done, sizeof(done));
}

void *child_owner_main(void *arg)
{
	const uint64_t one = 1;
	struct child *c = arg;
	struct child_work *w;
	bool serve;

	load(c);
	serve = c->start.mode == WIRE_MODE_SERVE;
	if (serve) {
		open_device(c);
		while ((w = next_work(c, &c->owner_work))) {
			if (w->type == WIRE_PROVE)
				prove(c, w);
			else
				load_params(c, w);
			free(w);
		}
		pthread_mutex_lock(&c->lock);
		while (c->tags)
			pthread_cond_wait(&c->changed, &c->lock);
		pthread_mutex_unlock(&c->lock);
	} else {
		pthread_mutex_lock(&c->lock);
		c->stopping = true;
		pthread_cond_broadcast(&c->changed);
		pthread_mutex_unlock(&c->lock);
	}
	/* The other threads must be out of the engine before remove(). */
	if (c->has_urgent)
		pthread_join(c->urgent, NULL);
	pthread_join(c->admission, NULL);
	if (serve)
		c->ops.remove(c->inst);
	if (write(c->wake, &one, sizeof(one)) < 0)
		child_fail(c, INSTANCE_DEATH_CRASHED, "cannot wake the reader");
	return NULL;
}
