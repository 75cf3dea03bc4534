/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* log.c - lines to the journal with fields, or to stderr */
#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define SD_JOURNAL_SUPPRESS_LOCATION
#include <systemd/sd-journal.h>

#include "lib/text.h"
#include "plugin/api/cuzk_engine.h"
#include "plugin/log.h"

#define LINE_MAX_BYTES 2048
#define FIELD_MAX_BYTES 512
#define FIELDS_MAX 15	/* those of send_journal() */

/* Written by log_open() before there are threads; read-only afterwards. */
static const char *log_name = "cuzkd";
static bool to_journal;
static bool to_terminal;
static atomic_int level = LOG_INFO;

/* systemd names stderr's socket in JOURNAL_STREAM, so that one can tell. */
static bool stderr_is_journal(void)
{
	const char *stream = getenv("JOURNAL_STREAM");
	unsigned long long dev, ino;
	struct stat st;

	if (!stream || sscanf(stream, "%llu:%llu", &dev, &ino) != 2)
		return false;
	return !fstat(STDERR_FILENO, &st) && st.st_dev == dev && st.st_ino == ino;
}

void log_open(const char *name)
{
	log_name = name;
	to_journal = stderr_is_journal();
	to_terminal = isatty(STDERR_FILENO) == 1;
}

void log_to_person(void)
{
	if (stderr_is_journal())
		return;		/* the check before a reload is for the journal */
	to_journal = false;
	to_terminal = true;
}

void log_set_level(int priority)
{
	atomic_store_explicit(&level, priority, memory_order_relaxed);
}

int log_level(void)
{
	return atomic_load_explicit(&level, memory_order_relaxed);
}

static void to_stderr(int priority, const char *line)
{
	char buf[LINE_MAX_BYTES + 16];
	int len;

	if (to_terminal)
		len = snprintf(buf, sizeof(buf), "%s: %s\n", log_name, line);
	else
		len = snprintf(buf, sizeof(buf), "<%d>%s\n", priority, line);
	if (len >= (int)sizeof(buf)) {
		len = sizeof(buf) - 1;
		buf[len - 1] = '\n';
	}
	/* one write: lines of several threads and processes stay whole */
	if (write(STDERR_FILENO, buf, len) < 0)
		return;		/* nobody is left to tell */
}

struct field_set {
	struct iovec iov[FIELDS_MAX];
	char text[FIELDS_MAX][FIELD_MAX_BYTES];
	int n;
};

static void add_string(struct field_set *set, const char *key, const char *value)
{
	char *text = set->text[set->n];
	int len;

	if (!value || set->n == FIELDS_MAX)
		return;
	len = snprintf(text, FIELD_MAX_BYTES, "%s=%s", key, value);
	if (len >= FIELD_MAX_BYTES)
		len = FIELD_MAX_BYTES - 1;
	set->iov[set->n].iov_base = text;
	set->iov[set->n].iov_len = len;
	set->n++;
}

static void add_number(struct field_set *set, const char *key, int64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRId64, value);
	add_string(set, key, text);
}

static int send_journal(int priority, const struct log_fields *f, const char *line)
{
	char message[LINE_MAX_BYTES + 16];
	struct field_set set = { .n = 1 };

	set.iov[0].iov_len = snprintf(message, sizeof(message), "MESSAGE=%s", line);
	set.iov[0].iov_base = message;
	add_number(&set, "PRIORITY", priority);
	add_string(&set, "SYSLOG_IDENTIFIER", log_name);
	if (f) {
		add_string(&set, "CUZK_JOB", f->job);
		add_string(&set, "CUZK_REQUEST", f->request);
		add_string(&set, "CUZK_KIND", f->kind);
		add_string(&set, "CUZK_STAGE", f->stage);
		add_string(&set, "CUZK_INSTANCE", f->instance);
		add_string(&set, "CUZK_ERROR_CLASS", f->error_class);
		add_string(&set, "CUZK_EVENT", f->event);
		if (f->partition >= 0)
			add_number(&set, "CUZK_PARTITION", f->partition);
		if (f->gpu >= 0)
			add_number(&set, "CUZK_GPU", f->gpu);
		if (f->duration_us)
			add_number(&set, "CUZK_DURATION_USEC", (int64_t)f->duration_us);
		if (f->bytes_up)
			add_number(&set, "CUZK_BYTES_UP", (int64_t)f->bytes_up);
		if (f->bytes_down)
			add_number(&set, "CUZK_BYTES_DOWN", (int64_t)f->bytes_down);
	}
	return sd_journal_sendv(set.iov, set.n);
}

void log_eventv(int priority, const struct log_fields *fields, const char *fmt, va_list ap)
{
	char line[LINE_MAX_BYTES];
	int saved = errno;

	if (priority > log_level())
		return;
	errno = saved;		/* for %m */
	vsnprintf(line, sizeof(line), fmt, ap);
	text_clean(line);
	if (!to_journal || send_journal(priority, fields, line) < 0)
		to_stderr(priority, line);
	errno = saved;
}

void log_event(int priority, const struct log_fields *fields, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	log_eventv(priority, fields, fmt, ap);
	va_end(ap);
}

const char *log_class_name(uint32_t cls)
{
	static const char *const names[] = {
		[CUZK_ERROR_NONE] = "none",
		[CUZK_ERROR_INPUT] = "input",
		[CUZK_ERROR_PARAMS] = "params",
		[CUZK_ERROR_DEVICE] = "device",
		[CUZK_ERROR_RESOURCE] = "resource",
		[CUZK_ERROR_DEADLINE] = "deadline",
		[CUZK_ERROR_CANCELLED] = "cancelled",
		[CUZK_ERROR_INTERNAL] = "internal",
	};

	return cls < sizeof(names) / sizeof(names[0]) ? names[cls] : "?";
}

void log_report(void *ctx, const char *line)
{
	log_error("%s", line);
}
