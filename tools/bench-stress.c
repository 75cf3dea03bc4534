/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* bench-stress.c - cuzk-bench stress: mixed kinds at given rates, deadlines kept or missed */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tools/bench-load.h"
#include "tools/bench-monitor.h"
#include "tools/bench-trace.h"

#define NAME "stress"
#define KINDS_MAX 16
#define OPEN_MAX 256u		/* requests under way */
#define LATENCIES_MAX 1000000u

struct flow {
	struct source *source;
	double rate;			/* a second */
	uint64_t deadline_ms;		/* 0: none */
	uint64_t next;			/* when the next one goes out */
	/* struct stress' lock */
	uint64_t sent, done, failed, missed, held_back;
	double *latency;		/* ms */
	size_t n, size;
};

struct stress {
	struct bench *bench;
	struct client_config config;
	struct flow flow[KINDS_MAX];
	size_t n;
	uint64_t seed, number;

	pthread_mutex_t lock;		/* protects the rest and the flows' counts */
	pthread_cond_t changed;
	struct client *idle[OPEN_MAX];
	bool row[OPEN_MAX];		/* of the trace, in use */
	unsigned int n_idle, open;
	char why[256];			/* of the last failure */
};

struct call {
	struct stress *stress;
	struct flow *flow;
	uint64_t number;
};

static int add_flow(struct stress *s, char *text, const char *params)
{
	struct flow *f = &s->flow[s->n];
	char *rate = strchr(text, ':'), *deadline, *end;
	int ret;

	if (s->n == KINDS_MAX)
		return ctl_usage(NAME, "--mix: at most %d kinds", KINDS_MAX);
	if (!rate)
		return ctl_usage(NAME, "--mix %s: expected KIND:RATE[:DEADLINE]", text);
	*rate++ = '\0';
	deadline = strchr(rate, ':');
	if (deadline)
		*deadline++ = '\0';
	f->rate = strtod(rate, &end);
	if (end == rate || *end || !(f->rate > 0) || f->rate > 10000)
		return ctl_usage(NAME, "--mix %s: %s is not a number of requests a second", text,
				 rate);
	if (deadline && (ctl_duration(deadline, &f->deadline_ms) || !f->deadline_ms))
		return ctl_usage(NAME, "--mix %s: %s is not a duration", text, deadline);
	ret = source_open(NAME, text, params, &f->source);
	if (!ret)
		s->n++;
	return ret;
}

/* Uniform in (0, 1], the same in every run. */
static double uniform(void)
{
	static uint64_t x = 88172645463325252ull;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return ((x >> 11) + 1) / 9007199254740992.;
}

static void count(struct stress *s, struct flow *f, const struct outcome *o)
{
	double ms = (o->end - o->start) / 1e6;

	if (!o->done) {
		f->failed++;
		memcpy(s->why, o->why, sizeof(s->why));
		return;
	}
	f->done++;
	if (f->deadline_ms && ms > f->deadline_ms)
		f->missed++;
	if (f->n == f->size && f->size < LATENCIES_MAX) {
		size_t size = f->size ? 2 * f->size : 64;
		double *more = realloc(f->latency, size * sizeof(*more));

		if (more) {
			f->latency = more;
			f->size = size;
		}
	}
	if (f->n < f->size)
		f->latency[f->n++] = ms;
}

static void *call_run(void *arg)
{
	struct call *call = arg;
	struct stress *s = call->stress;
	struct flow *f = call->flow;
	struct outcome o = { 0 };
	struct client *client = NULL;
	char text[CLIENT_ERROR_TEXT];
	unsigned int row = 0;

	pthread_mutex_lock(&s->lock);
	if (s->n_idle)
		client = s->idle[--s->n_idle];
	while (row + 1 < OPEN_MAX && s->row[row])
		row++;
	s->row[row] = true;
	pthread_mutex_unlock(&s->lock);
	if (!client && client_open(&client, &s->config, text))
		snprintf(o.why, sizeof(o.why), "%.250s", text);
	else
		source_prove(f->source, client, s->seed + call->number, 0, &o);
	if (o.end)
		trace_span(s->bench->trace, row, "request", o.start, o.end, "%s",
			   source_name(f->source));
	pthread_mutex_lock(&s->lock);
	count(s, f, &o);
	s->row[row] = false;
	if (client)
		s->idle[s->n_idle++] = client;
	s->open--;
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->lock);
	free(call);
	return NULL;
}

static void send_one(struct stress *s, struct flow *f)
{
	struct call *call;
	pthread_attr_t attr;
	pthread_t thread;

	pthread_mutex_lock(&s->lock);
	if (s->open == OPEN_MAX) {
		f->held_back++;
		pthread_mutex_unlock(&s->lock);
		return;
	}
	s->open++;
	f->sent++;
	pthread_mutex_unlock(&s->lock);
	call = malloc(sizeof(*call));
	if (call) {
		*call = (struct call){ s, f, s->number++ };
		pthread_attr_init(&attr);
		pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
		if (!pthread_create(&thread, &attr, call_run, call)) {
			pthread_attr_destroy(&attr);
			return;
		}
		pthread_attr_destroy(&attr);
	}
	free(call);
	pthread_mutex_lock(&s->lock);
	s->open--;
	f->failed++;
	snprintf(s->why, sizeof(s->why), "no thread for a request");
	pthread_mutex_unlock(&s->lock);
}

static void sleep_until(uint64_t ns)
{
	struct timespec t = { ns / 1000000000, ns % 1000000000 };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
		;
}

/* Requests go out at random times with the given mean rate, whatever the answers do. */
static void drive(struct stress *s, uint64_t duration_ms)
{
	uint64_t start = bench_ns(), end = start + duration_ms * 1000000;
	struct flow *f;
	size_t i;

	for (i = 0; i < s->n; i++)
		s->flow[i].next = start - log(uniform()) / s->flow[i].rate * 1e9;
	for (;;) {
		for (f = &s->flow[0], i = 1; i < s->n; i++)
			if (s->flow[i].next < f->next)
				f = &s->flow[i];
		if (f->next >= end)
			break;
		sleep_until(f->next);
		send_one(s, f);
		f->next -= log(uniform()) / f->rate * 1e9;
	}
	pthread_mutex_lock(&s->lock);
	while (s->open)
		pthread_cond_wait(&s->changed, &s->lock);
	pthread_mutex_unlock(&s->lock);
}

static int report(struct stress *s, double seconds, bool verified)
{
	uint64_t failed = 0;
	size_t i;

	printf("%.1f s until the last answer; %s\n", seconds,
	       verified ? "each proof verified here" : "proofs verified by the service");
	printf("%-20s %8s %8s %8s %8s %8s %9s %10s %10s %10s\n", "kind", "sent", "proved", "failed",
	       "kept", "missed", "held back", "median ms", "99 % ms", "most ms");
	for (i = 0; i < s->n; i++) {
		struct flow *f = &s->flow[i];

		printf("%-20s %8" PRIu64 " %8" PRIu64 " %8" PRIu64, source_name(f->source), f->sent,
		       f->done, f->failed);
		if (f->deadline_ms)
			printf(" %8" PRIu64 " %8" PRIu64, f->done - f->missed, f->missed);
		else
			printf(" %8s %8s", "-", "-");
		printf(" %9" PRIu64, f->held_back);
		if (f->n)
			printf(" %10.2f %10.2f %10.2f\n", quantile(f->latency, f->n, .5),
			       quantile(f->latency, f->n, .99), quantile(f->latency, f->n, 1));
		else
			printf(" %10s %10s %10s\n", "-", "-", "-");
		failed += f->failed;
	}
	return failed ? ctl_fail(NAME, "%" PRIu64 " requests failed, the last: %s", failed,
				 s->why) : 0;
}

static int flows(struct stress *s, const char *mix, const char *params)
{
	char *copy = strdup(mix), *part, *rest = copy;
	int ret = copy ? 0 : ctl_fail(NAME, "no memory");

	while (!ret && (part = strsep(&rest, ",")))
		ret = add_flow(s, part, params);
	free(copy);
	return ret;
}

int bench_stress(struct bench *bench, int argc, char **argv)
{
	const char *mix = NULL, *duration = NULL, *params = NULL, *pid_text = NULL;
	const struct ctl_option options[] = {
		{ "--mix", &mix }, { "--duration", &duration }, { "--params", &params },
		{ "--pid", &pid_text }, { NULL },
	};
	struct ctl_connection conn = { 0 };
	struct stress s = {
		.bench = bench, .lock = PTHREAD_MUTEX_INITIALIZER,
		.changed = PTHREAD_COND_INITIALIZER, .seed = 1 + bench_zero % 1000000 * 1000000,
	};
	uint64_t ms = 10000, pid = 0, start;
	unsigned int i;
	int ret;

	if (ctl_parse(NAME, argc, argv, options, &conn, NULL, 0) < 0 ||
	    bench_number(NAME, "--pid", pid_text, 1, 1 << 30, &pid))
		return CTL_USAGE;
	if (!mix)
		return ctl_usage(NAME, "--mix KIND:RATE[:DEADLINE],... is needed");
	if (duration && ctl_duration(duration, &ms))
		return ctl_usage(NAME, "--duration %s: not a duration", duration);
	ret = flows(&s, mix, params);
	if (ret)
		goto out;
	pid = load_begin(bench, &conn, pid, &s.config);
	monitor_gpu_busy(bench->monitor);
	start = bench_ns();
	drive(&s, ms);
	ret = report(&s, (bench_ns() - start) / 1e9, params != NULL);
	load_print_memory(bench, pid);
	for (i = 0; i < s.n_idle; i++)
		client_close(s.idle[i]);
out:
	for (i = 0; i < s.n; i++) {
		source_close(s.flow[i].source);
		free(s.flow[i].latency);
	}
	return ret;
}
