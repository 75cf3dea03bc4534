/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* urgent.c - urgent proofs one after another while others are made, and how long each took */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "t/perf/urgent.h"

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec * 1e-9;
}

static void die(const char *what, const struct cuzk_error *err)
{
	fprintf(stderr, "bench-sector: urgent: %s: %s\n", what, err->text);
	exit(1);
}

static void prove_one(struct urgent_load *load, unsigned int i)
{
	struct cuzk_error err = { .size = sizeof(err) };
	struct cuzk_plan plan = { .size = sizeof(plan) };
	struct cuzk_task *task;
	double start = now();

	if (job_admit(load->inst, load->request, &task, &plan, &err))
		die("admission", &err);
	if (urgent_prove_now(load->inst, task, 0, URGENT_TAG, &err))
		die("proving", &err);
	pthread_mutex_lock(&load->lock);
	while (load->n == i)
		pthread_cond_wait(&load->changed, &load->lock);
	pthread_mutex_unlock(&load->lock);
	load->seconds[i] = now() - start;
	job_task_free(task);
}

static void *load_main(void *arg)
{
	struct urgent_load *load = arg;
	unsigned int i;

	for (i = 0; i < load->count; i++) {
		/* not in step with the partitions */
		usleep(1000 * (load->pause_ms / 2 + load->pause_ms * (i * 7 % 11) / 10));
		prove_one(load, i);
	}
	atomic_store(&load->done, true);
	return NULL;
}

void urgent_load_start(struct urgent_load *load)
{
	load->seconds = calloc(load->count + 1, sizeof(*load->seconds));
	load->results = calloc(load->count + 1, sizeof(*load->results));
	pthread_mutex_init(&load->lock, NULL);
	pthread_cond_init(&load->changed, NULL);
	gate_longest_ns(&load->inst->gate);
	if (!load->seconds || !load->results ||
	    pthread_create(&load->thread, NULL, load_main, load)) {
		fprintf(stderr, "bench-sector: no memory\n");
		exit(1);
	}
}

void urgent_load_complete(struct urgent_load *load, const struct cuzk_result *result)
{
	pthread_mutex_lock(&load->lock);
	load->results[load->n++] = *result;
	pthread_cond_signal(&load->changed);
	pthread_mutex_unlock(&load->lock);
}

static int ascending(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* The smallest that so many hundredths do not exceed. */
static double percentile(const double *sorted, unsigned int n, unsigned int p)
{
	return sorted[(n * p + 99) / 100 - 1];
}

int urgent_load_report(struct urgent_load *load, const uint8_t *golden)
{
	unsigned int i, good = 0, equal = 0;
	struct gpu_stats stats;

	pthread_join(load->thread, NULL);
	for (i = 0; i < load->count; i++) {
		if (load->results[i].status)
			printf("urgent proof %u FAILED: %s\n", i, load->results[i].text);
		else
			good++;
		equal += golden && !memcmp(golden, load->results[i].proof,
					   CUZK_PARTITION_PROOF_SIZE);
	}
	qsort(load->seconds, load->count, sizeof(*load->seconds), ascending);
	load->inst->ops->stats(load->inst->gpu, &stats);
	printf("%s beside them: %u of %u proved and verified", load->circuit, good, load->count);
	if (golden)
		printf(", %u equal to the golden proof", equal);
	printf("\n  p50 %.1f ms, p99 %.1f ms, longest %.1f ms, from admission to verified proof\n",
	       percentile(load->seconds, load->count, 50) * 1e3,
	       percentile(load->seconds, load->count, 99) * 1e3,
	       load->seconds[load->count - 1] * 1e3);
	printf("  the others stood aside after %.1f ms at most; longest step on the device "
	       "%.1f ms\n",
	       gate_longest_ns(&load->inst->gate) / 1e6, stats.longest_step_ns / 1e6);
	fflush(stdout);
	return good == load->count && (!golden || equal == good) ? 0 : 1;
}
