/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* bench-batch.c - cuzk-bench batch: latencies and throughput of a service */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/bench-load.h"
#include "tools/bench-monitor.h"
#include "tools/bench-trace.h"

#define NAME "batch"
#define CONCURRENCY_MAX 256
#define COUNT_MAX 1000000

struct batch {
	struct bench *bench;
	struct source *source;
	struct client_config config;
	struct outcome *outcomes;
	uint64_t n, seed;
	atomic_ullong next;
};

struct worker {
	struct batch *batch;
	unsigned int row;
	pthread_t thread;
	char why[CLIENT_ERROR_TEXT];	/* it could not begin */
};

static void *work(void *arg)
{
	struct worker *w = arg;
	struct batch *b = w->batch;
	struct client *client;
	uint64_t i;

	if (client_open(&client, &b->config, w->why))
		return NULL;
	while ((i = atomic_fetch_add(&b->next, 1)) < b->n) {
		struct outcome *o = &b->outcomes[i];
		uint64_t end, wait;

		source_prove(b->source, client, b->seed + i, 0, o);
		trace_span(b->bench->trace, w->row, "request", o->start, o->end, "request %" PRIu64,
			   i);
		wait = o->queued_ms * 1000000;
		end = o->start + o->total_ms * 1000000;
		if (!o->done || end > o->end)
			continue;
		trace_span(b->bench->trace, w->row, "stage", o->start, o->start + wait, "queued");
		trace_span(b->bench->trace, w->row, "stage", o->start + wait, end, "proving");
	}
	client_close(client);
	return NULL;
}

static void line(const char *what, double *v, size_t n)
{
	double min, median, p90, p99, max;

	min = quantile(v, n, 0);
	median = quantile(v, n, .5);
	p90 = quantile(v, n, .9);
	p99 = quantile(v, n, .99);
	max = quantile(v, n, 1);
	printf("%-26s %10.2f %10.2f %10.2f %10.2f %10.2f\n", what, min, median, p90, p99, max);
}

static int report(struct batch *b, double seconds, bool verified)
{
	double *latency = calloc(b->n, sizeof(double)), *queued = calloc(b->n, sizeof(double));
	double *proving = calloc(b->n, sizeof(double));
	const char *why = NULL;
	uint64_t i, n = 0;

	if (!latency || !queued || !proving) {
		free(latency);
		free(queued);
		free(proving);
		return ctl_fail(NAME, "no memory");
	}
	for (i = 0; i < b->n; i++) {
		const struct outcome *o = &b->outcomes[i];

		if (!o->done) {
			why = o->why;
			continue;
		}
		latency[n] = (o->end - o->start) / 1e6;
		queued[n] = o->queued_ms;
		proving[n++] = o->total_ms - o->queued_ms;
	}
	printf("%s: %" PRIu64 " of %" PRIu64 " proved, %s, in %.2f s: %.3f a second\n",
	       source_name(b->source), n, b->n,
	       verified ? "each proof verified here" : "verified by the service", seconds,
	       n / seconds);
	if (n) {
		printf("%-26s %10s %10s %10s %10s %10s\n", "milliseconds", "least", "median", "90 %",
		       "99 %", "most");
		line("latency, as seen here", latency, n);
		line("queued, as it says", queued, n);
		line("proving, as it says", proving, n);
	}
	free(latency);
	free(queued);
	free(proving);
	return why ? ctl_fail(NAME, "%" PRIu64 " requests failed, the last: %s", b->n - n, why) : 0;
}

static int run(struct batch *b, unsigned int concurrency, bool verified, pid_t pid)
{
	struct worker *workers = calloc(concurrency, sizeof(*workers));
	uint64_t start = bench_ns();
	const char *why = NULL;
	unsigned int i, n;
	int ret;

	b->outcomes = calloc(b->n, sizeof(*b->outcomes));
	if (!workers || !b->outcomes) {
		free(workers);
		return ctl_fail(NAME, "no memory");
	}
	monitor_gpu_busy(b->bench->monitor);
	for (n = 0; n < concurrency; n++) {
		workers[n].batch = b;
		workers[n].row = n;
		trace_row(b->bench->trace, n, "caller %u", n + 1);
		if (pthread_create(&workers[n].thread, NULL, work, &workers[n]))
			break;
	}
	for (i = 0; i < n; i++) {
		pthread_join(workers[i].thread, NULL);
		if (workers[i].why[0])
			why = workers[i].why;
	}
	ret = why || !n ? ctl_fail(NAME, "%s", why ? why : "no threads") :
	      report(b, (bench_ns() - start) / 1e9, verified);
	if (!why && n)
		load_print_memory(b->bench, pid);
	free(workers);
	free(b->outcomes);
	return ret;
}

int bench_batch(struct bench *bench, int argc, char **argv)
{
	const char *request = NULL, *kind = NULL, *count = NULL, *concurrency = NULL;
	const char *params = NULL, *pid_text = NULL;
	const struct ctl_option options[] = {
		{ "--request", &request }, { "--kind", &kind }, { "--count", &count },
		{ "--concurrency", &concurrency }, { "--params", &params }, { "--pid", &pid_text },
		{ NULL },
	};
	struct ctl_connection conn = { 0 };
	struct batch b = { .bench = bench, .n = 10, .seed = 1 + bench_zero % 1000000 * 1000000 };
	uint64_t threads = 1, pid = 0;
	int ret;

	if (ctl_parse(NAME, argc, argv, options, &conn, NULL, 0) < 0 ||
	    bench_number(NAME, "--count", count, 1, COUNT_MAX, &b.n) ||
	    bench_number(NAME, "--concurrency", concurrency, 1, CONCURRENCY_MAX, &threads) ||
	    bench_number(NAME, "--pid", pid_text, 1, 1 << 30, &pid))
		return CTL_USAGE;
	if (!request == !kind)
		return ctl_usage(NAME, "--request FILE or --kind NAME is needed");
	ret = source_open(NAME, request ? request : kind, params, &b.source);
	if (ret)
		return ret;
	pid = load_begin(bench, &conn, pid, &b.config);
	ret = run(&b, threads, params != NULL, pid);
	source_close(b.source);
	return ret;
}
