/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* bench-trace.c - spans of time, in the JSON that Perfetto and chrome://tracing open */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "tools/bench-trace.h"
#include "tools/bench.h"
#include "tools/file.h"

#define SPANS_MAX 1000000u	/* what a viewer still opens; later ones are counted, not kept */

struct span {
	char name[48];
	const char *category;	/* a literal; NULL: the name of the row */
	uint64_t start, end;
	unsigned int row;
};

struct trace {
	pthread_mutex_t lock;	/* protects the rest */
	struct span *spans;
	size_t n, size, lost;
};

int trace_open(struct trace **out)
{
	struct trace *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	pthread_mutex_init(&t->lock, NULL);
	*out = t;
	return 0;
}

static void add(struct trace *t, struct span span, const char *fmt, va_list ap)
{
	struct span *more;
	char *p;

	vsnprintf(span.name, sizeof(span.name), fmt, ap);
	for (p = span.name; *p; p++)
		if (*p == '"' || *p == '\\' || (unsigned char)*p < ' ')
			*p = '_';
	pthread_mutex_lock(&t->lock);
	if (t->n == t->size && t->size < SPANS_MAX) {
		size_t size = t->size ? 2 * t->size : 64;

		more = realloc(t->spans, size * sizeof(*more));
		if (more) {
			t->spans = more;
			t->size = size;
		}
	}
	if (t->n < t->size)
		t->spans[t->n++] = span;
	else
		t->lost++;
	pthread_mutex_unlock(&t->lock);
}

void trace_row(struct trace *t, unsigned int row, const char *fmt, ...)
{
	va_list ap;

	if (!t)
		return;
	va_start(ap, fmt);
	add(t, (struct span){ .row = row }, fmt, ap);
	va_end(ap);
}

void trace_span(struct trace *t, unsigned int row, const char *category, uint64_t start,
		uint64_t end, const char *fmt, ...)
{
	va_list ap;

	if (!t)
		return;
	va_start(ap, fmt);
	add(t, (struct span){ .category = category, .start = start, .end = end, .row = row }, fmt,
	    ap);
	va_end(ap);
}

static void print(const struct trace *t, FILE *f)
{
	size_t i;

	fprintf(f, "{\"displayTimeUnit\":\"ms\",\"otherData\":{\"program\":\"cuzk-bench\","
		"\"lost\":%zu},\"traceEvents\":[", t->lost);
	for (i = 0; i < t->n; i++) {
		const struct span *s = &t->spans[i];

		fprintf(f, "%s\n", i ? "," : "");
		if (s->category)
			fprintf(f, "{\"name\":\"%s\",\"cat\":\"%s\",\"ph\":\"X\",\"ts\":%" PRIu64
				",\"dur\":%" PRIu64 ",\"pid\":1,\"tid\":%u}", s->name, s->category,
				(s->start - bench_zero) / 1000, (s->end - s->start) / 1000, s->row);
		else
			fprintf(f, "{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":1,\"tid\":%u,"
				"\"args\":{\"name\":\"%s\"}}", s->row, s->name);
	}
	fprintf(f, "\n]}\n");
}

int trace_close(struct trace *t, const char *path)
{
	char *text = NULL;
	size_t len;
	int ret = 0;
	FILE *f;

	if (!t)
		return 0;
	if (path) {
		f = open_memstream(&text, &len);
		if (f) {
			print(t, f);
			ret = fclose(f) ? -ENOMEM : ctl_file_write(path, text, len);
		} else {
			ret = -errno;
		}
	}
	free(text);
	pthread_mutex_destroy(&t->lock);
	free(t->spans);
	free(t);
	return ret;
}
