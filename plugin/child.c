/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* child.c - the process of one instance: its life and its reader thread */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "plugin/child.h"

#define TICK_MS 1000
#define TRIM_TICKS 2
#define CIRCUITS_TICKS 5	/* the engine may have found a file changed */

uint64_t child_now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000ull + ts.tv_nsec / 1000000;
}

void child_send(struct child *c, enum wire_type type, uint64_t id, uint64_t tag,
		const void *body, size_t len)
{
	struct wire_header h = { .type = type, .id = id, .tag = tag };

	/* Without the service this process has no purpose. */
	if (wire_send(c->sock, &h, body, len, -1, 0) < 0)
		_exit(1);
}

void child_fail(struct child *c, enum instance_death death, const char *fmt, ...)
{
	char text[INSTANCE_REASON];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	wire_text(text, sizeof(text));
	child_send(c, WIRE_FAILED, death, 0, text, strlen(text));
	_exit(1);
}

void child_send_circuits(struct child *c)
{
	static const size_t room = WIRE_BODY_MAX / sizeof(struct cuzk_circuit);
	struct cuzk_circuit *list;
	int n, i, max = INSTANCE_CIRCUITS_MAX;

	if ((size_t)max > room)
		max = room;
	list = calloc(max, sizeof(*list));
	if (!list)
		child_fail(c, INSTANCE_DEATH_CRASHED, "out of memory");
	for (i = 0; i < max; i++)
		list[i].size = sizeof(*list);
	n = c->ops.circuits(c->inst, list, max);
	if (n > max)
		n = max;
	if (n < 0)
		n = 0;
	for (i = 0; i < n; i++) {
		wire_text(list[i].id, sizeof(list[i].id));
		wire_text(list[i].reason, sizeof(list[i].reason));
	}
	child_send(c, WIRE_CIRCUIT_LIST, 0, 0, list, n * sizeof(*list));
	free(list);
}

/* ---- start ---- */

static const char *next_string(const char **p, const char *end)
{
	const char *s = *p, *nul = s < end ? memchr(s, '\0', end - s) : NULL;

	if (!nul)
		return NULL;
	*p = nul + 1;
	return s;
}

static int parse_start(struct child *c, const struct wire_message *msg)
{
	const char *p, *end;
	unsigned int i;

	if (msg->h.type != WIRE_START || msg->len < sizeof(c->start))
		return -EBADMSG;
	memcpy(&c->start, msg->body, sizeof(c->start));
	if (c->start.n_params > CONFIG_PARAMS_MAX)
		return -EBADMSG;
	c->strings = malloc(msg->len - sizeof(c->start) + 1);
	c->params = calloc(c->start.n_params + 1, sizeof(*c->params));
	if (!c->strings || !c->params)
		return -ENOMEM;
	memcpy(c->strings, msg->body + sizeof(c->start), msg->len - sizeof(c->start));
	p = c->strings;
	end = p + (msg->len - sizeof(c->start));
	c->library = next_string(&p, end);
	c->library_place = next_string(&p, end);
	c->engine_name = next_string(&p, end);
	c->device_id = next_string(&p, end);
	c->host_version = next_string(&p, end);
	c->params_dir = next_string(&p, end);
	if (!c->params_dir)
		return -EBADMSG;
	if (!*c->params_dir)
		c->params_dir = NULL;
	for (i = 0; i < c->start.n_params; i++) {
		c->params[i].name = next_string(&p, end);
		c->params[i].value = next_string(&p, end);
		c->params[i].place = next_string(&p, end);
		if (!c->params[i].place)
			return -EBADMSG;
	}
	c->budget = c->start.host_budget;
	return 0;
}

/*
 * Of all processes of the machine these hold the memory that can be made again:
 * the kernel shall take one of them and not the service.
 */
static void raise_oom_score(void)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	if (write(fd, "500", 3) < 0)
		fprintf(stderr, "<5>cuzk-instance: cannot set oom_score_adj: %s\n",
			strerror(errno));
	close(fd);
}

/* ---- the reader ---- */

static void handle_work(struct child *c, struct wire_message *msg)
{
	struct child_work work = { .type = msg->h.type, .id = msg->h.id, .tag = msg->h.tag,
				   .fd = msg->fd };
	struct wire_prove prove;

	switch (msg->h.type) {
	case WIRE_ADMIT:
		if (msg->fd < 0)
			child_fail(c, INSTANCE_DEATH_PROTOCOL, "request without a file");
		msg->fd = -1;	/* the admission thread closes it */
		child_push(c, msg->h.tag ? child_urgent_queue(c, &c->admission_work) :
					   &c->admission_work, &work);
		break;
	case WIRE_TASK_FREE:
		child_task_free(c, msg->h.id);
		break;
	case WIRE_PROVE:
		if (msg->len != sizeof(prove))
			child_fail(c, INSTANCE_DEATH_PROTOCOL, "prove message of %zu bytes",
				   msg->len);
		memcpy(&prove, msg->body, sizeof(prove));
		child_prove(c, msg->h.id, prove.partition, msg->h.tag, prove.urgent);
		break;
	case WIRE_CANCEL:
		child_cancel(c, msg->h.tag);
		break;
	case WIRE_PRELOAD:
	case WIRE_EVICT:
		snprintf(work.circuit, sizeof(work.circuit), "%.63s", msg->body);
		child_push(c, &c->owner_work, &work);
		break;
	case WIRE_CIRCUITS:
		child_send_circuits(c);
		break;
	case WIRE_REFRESH:
		if (c->ops.refresh)
			c->ops.refresh(c->inst);
		break;
	default:
		child_fail(c, INSTANCE_DEATH_PROTOCOL, "unknown message %u", msg->h.type);
	}
}

static void handle(struct child *c, struct wire_message *msg)
{
	bool serving;

	pthread_mutex_lock(&c->lock);
	serving = c->serving && !c->stopping;
	if (msg->h.type == WIRE_STOP && serving) {
		c->stopping = true;
		pthread_cond_broadcast(&c->changed);
	}
	pthread_mutex_unlock(&c->lock);
	if (msg->h.type == WIRE_KEPT || msg->h.type == WIRE_KEPT_GONE) {
		child_kept(c, msg);
	} else if (msg->h.type == WIRE_BUDGET) {
		pthread_mutex_lock(&c->memory_lock);
		c->budget = msg->h.id;
		pthread_mutex_unlock(&c->memory_lock);
	} else if (msg->h.type == WIRE_STOP && !serving) {
		_exit(0);	/* nothing is held yet that would need an orderly end */
	} else if (msg->h.type != WIRE_STOP && serving) {
		handle_work(c, msg);
	}
	if (msg->fd >= 0)
		close(msg->fd);
}

static void tell_circuits(struct child *c)
{
	bool serving;

	pthread_mutex_lock(&c->lock);
	serving = c->serving && !c->stopping;
	pthread_mutex_unlock(&c->lock);
	if (serving)
		child_send_circuits(c);
}

/*
 * Once after work, when there is none: the heap's free pages go back.  It takes
 * the allocator's locks for long, so not while anything is proved or admitted.
 */
static void trim_heap(struct child *c)
{
	bool idle;

	pthread_mutex_lock(&c->lock);
	idle = !c->worked && !c->tags && !c->owner_work.head && !c->admission_work.head;
	c->worked = false;
	pthread_mutex_unlock(&c->lock);
	if (!idle)
		c->idle_ticks = 0;
	else if (c->idle_ticks < TRIM_TICKS && ++c->idle_ticks == TRIM_TICKS)
		malloc_trim(0);
}

/* Until the owner has ended. */
static void read_messages(struct child *c, struct wire_message *msg)
{
	struct pollfd fds[2] = { { c->sock, POLLIN }, { c->wake, POLLIN } };
	uint64_t ticked = child_now_ms();
	int r;

	while (!(fds[1].revents & POLLIN)) {
		r = poll(fds, 2, TICK_MS);
		if (r < 0 && errno != EINTR)
			child_fail(c, INSTANCE_DEATH_CRASHED, "poll: %s", strerror(errno));
		if (child_now_ms() - ticked >= TICK_MS) {
			ticked = child_now_ms();
			if (!(++c->ticks % CIRCUITS_TICKS))
				tell_circuits(c);
			trim_heap(c);
			child_send_memory(c);
		}
		if (r <= 0 || !fds[0].revents)
			continue;
		r = wire_recv(c->sock, msg, 0);
		if (!r)
			_exit(1);	/* the service is gone */
		if (r < 0)
			child_fail(c, INSTANCE_DEATH_PROTOCOL, "bad message from the service");
		handle(c, msg);
	}
}

static int child_init(struct child *c, int sock)
{
	pthread_condattr_t attr;

	c->sock = sock;
	c->wake = eventfd(0, EFD_CLOEXEC);
	if (c->wake < 0)
		return -errno;
	child_queue_init(&c->owner_work);
	child_queue_init(&c->admission_work);
	child_queue_init(&c->urgent_work);
	pthread_mutex_init(&c->lock, NULL);
	pthread_mutex_init(&c->memory_lock, NULL);
	pthread_mutex_init(&c->keep_lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&c->changed, &attr);
	pthread_condattr_destroy(&attr);
	return 0;
}

static void child_fini(struct child *c)
{
	child_kept_fini(c);
	free(c->options);
	free(c->params);
	free(c->strings);
	pthread_cond_destroy(&c->changed);
	pthread_mutex_destroy(&c->keep_lock);
	pthread_mutex_destroy(&c->memory_lock);
	pthread_mutex_destroy(&c->lock);
	close(c->wake);
	close(c->sock);
}

int child_main(int sock)
{
	struct wire_message *msg = malloc(sizeof(*msg));
	struct child c = { 0 };

	fcntl(sock, F_SETFD, FD_CLOEXEC);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGINT, SIG_IGN);	/* ^C is for the service, which then tells us */
	raise_oom_score();
	if (!msg || child_init(&c, sock) < 0)
		return 1;
	child_send(&c, WIRE_HELLO, WIRE_VERSION, 0, NULL, 0);
	while (wire_recv(sock, msg, 0) == 1 && msg->h.type == WIRE_KEPT)
		child_kept(&c, msg);
	if (parse_start(&c, msg) < 0)
		child_fail(&c, INSTANCE_DEATH_PROTOCOL, "bad start message");
	child_host_init(&c);
	/* the owner joins the admission thread, so that one comes first */
	if (pthread_create(&c.admission, NULL, child_admission_main, &c) ||
	    pthread_create(&c.owner, NULL, child_owner_main, &c))
		child_fail(&c, INSTANCE_DEATH_CRASHED, "cannot start threads");
	read_messages(&c, msg);
	pthread_join(c.owner, NULL);
	child_fini(&c);
	free(msg);
	return 0;
}
