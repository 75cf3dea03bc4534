/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* child-host.c - what the instance process gives to its engine: log, heartbeat, memory */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <syslog.h>
#include <unistd.h>

#include "plugin/child.h"

#define HEARTBEAT_MS 100	/* of one tag in one stage: not more often */
#define LOG_MAX 1500

static void host_log(void *ctx, int priority, const char *line)
{
	struct child *c = ctx;
	char text[LOG_MAX];

	snprintf(text, sizeof(text), "%s", line ? line : "");
	wire_text(text, sizeof(text));
	if (priority < LOG_EMERG || priority > LOG_DEBUG)
		priority = LOG_INFO;
	child_send(c, WIRE_LOG, priority, 0, text, strlen(text));
}

static struct child_tag *find_tag(struct child *c, uint64_t tag)
{
	struct child_tag *t;

	for (t = c->tags; t && t->tag != tag; t = t->next)
		;
	return t;
}

/* Is it time to send another? Under lock. */
static bool is_due(uint32_t *stage, uint64_t *sent_ms, uint32_t new_stage, bool last)
{
	uint64_t now = child_now_ms();

	if (*stage == new_stage && !last && now - *sent_ms < HEARTBEAT_MS)
		return false;
	*stage = new_stage;
	*sent_ms = now;
	return true;
}

static void host_heartbeat(void *ctx, uint64_t tag, uint32_t stage, uint64_t done,
			   uint64_t total)
{
	struct wire_heartbeat beat = { .stage = stage, .done = done, .total = total };
	struct wire_header h = { .type = WIRE_HEARTBEAT, .tag = tag };
	struct child *c = ctx;
	struct child_tag *t;
	bool due = false;

	pthread_mutex_lock(&c->lock);
	if (!tag) {
		due = is_due(&c->start_stage, &c->start_sent_ms, stage, done == total);
	} else {
		t = find_tag(c, tag);
		if (t)
			due = is_due(&t->stage, &t->sent_ms, stage, done == total);
	}
	pthread_mutex_unlock(&c->lock);
	/* A full socket means that the service is behind; the next one will do. */
	if (due)
		wire_send(c->sock, &h, &beat, sizeof(beat), -1, MSG_DONTWAIT);
}

/* The entry for a name; the last one collects what there is no room for. */
static struct child_memory *memory_entry(struct child *c, const char *name)
{
	struct child_memory *m;
	unsigned int i;

	for (i = 0; i < c->n_memory; i++) {
		if (!strncmp(c->memory[i].name, name, WIRE_MEMORY_NAME - 1))
			return &c->memory[i];
	}
	if (c->n_memory == WIRE_MEMORY_MAX)
		return &c->memory[WIRE_MEMORY_MAX - 1];
	m = &c->memory[c->n_memory++];
	snprintf(m->name, sizeof(m->name), "%s",
		 c->n_memory == WIRE_MEMORY_MAX ? "other" : name);
	return m;
}

static int host_reserve(void *ctx, const char *name, uint64_t bytes)
{
	struct child *c = ctx;
	struct child_memory *m;
	uint64_t after;
	int r = -ENOMEM;

	pthread_mutex_lock(&c->memory_lock);
	if (!__builtin_add_overflow(c->reserved, bytes, &after) &&
	    (!c->budget || after <= c->budget)) {
		m = memory_entry(c, name ? name : "?");
		c->reserved = after;
		m->reserved += bytes;
		if (m->reserved > m->peak)
			m->peak = m->reserved;
		if (c->reserved > c->peak)
			c->peak = c->reserved;
		r = 0;
	}
	pthread_mutex_unlock(&c->memory_lock);
	return r;
}

static void host_release(void *ctx, const char *name, uint64_t bytes)
{
	struct child *c = ctx;
	struct child_memory *m;
	bool wrong;

	pthread_mutex_lock(&c->memory_lock);
	m = memory_entry(c, name ? name : "?");
	wrong = bytes > m->reserved;
	if (wrong)
		bytes = m->reserved;
	m->reserved -= bytes;
	c->reserved -= bytes;
	pthread_mutex_unlock(&c->memory_lock);
	if (wrong) {
		char line[128];

		snprintf(line, sizeof(line), "engine bug: released more than it reserved for %s",
			 name ? name : "?");
		host_log(c, LOG_ERR, line);
	}
}

static void host_complete(void *ctx, uint64_t tag, const struct cuzk_result *result)
{
	child_complete(ctx, tag, result);
}

void child_host_init(struct child *c)
{
	c->host = (struct cuzk_host){
		.size = sizeof(c->host),
		.abi_major = CUZK_ENGINE_ABI_MAJOR,
		.abi_minor = CUZK_ENGINE_ABI_MINOR,
		.version = c->host_version,
		.ctx = c,
		.log = host_log,
		.heartbeat = host_heartbeat,
		.reserve = host_reserve,
		.release = host_release,
		.complete = host_complete,
		.memory_put = child_memory_put,
		.memory_get = child_memory_get,
		.memory_drop = child_memory_drop,
	};
}

static uint64_t resident_bytes(void)
{
	unsigned long long total, resident = 0;
	char text[128];
	ssize_t n;
	int fd;

	fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return 0;
	text[n] = '\0';
	if (sscanf(text, "%llu %llu", &total, &resident) != 2)
		return 0;
	return resident * sysconf(_SC_PAGESIZE);
}

void child_send_memory(struct child *c)
{
	struct wire_memory m = { .resident = resident_bytes() };
	uint64_t sum;
	unsigned int i;
	bool news;

	pthread_mutex_lock(&c->memory_lock);
	m.reserved = c->reserved;
	m.peak = c->peak;
	m.n = c->n_memory;
	for (i = 0; i < c->n_memory; i++) {
		memcpy(m.entry[i].name, c->memory[i].name, sizeof(m.entry[i].name));
		m.entry[i].reserved = c->memory[i].reserved;
		m.entry[i].peak = c->memory[i].peak;
	}
	if (m.resident > c->resident_peak)
		c->resident_peak = m.resident;
	m.resident_peak = c->resident_peak;
	sum = m.reserved + m.peak + m.resident;
	news = sum != c->memory_sent;
	c->memory_sent = sum;
	pthread_mutex_unlock(&c->memory_lock);
	if (news)
		child_send(c, WIRE_MEMORY, 0, 0, &m, sizeof(m));
}
