/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* bench-stats.c - clocks, numbers, medians */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#include "tools/bench.h"

uint64_t bench_zero;

static uint64_t clock_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

uint64_t bench_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

uint64_t bench_thread_ns(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

uint64_t bench_process_ns(void)
{
	return clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

int bench_number(const char *command, const char *option, const char *text, uint64_t min,
		 uint64_t max, uint64_t *v)
{
	unsigned long long n;
	char *end;

	if (!text)
		return 0;
	errno = 0;
	n = strtoull(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || errno || n < min || n > max)
		return ctl_usage(command, "%s %s: not a number from %" PRIu64 " to %" PRIu64,
				 option, text, min, max);
	*v = n;
	return 0;
}

void samples_add(struct samples *s, double v)
{
	if (s->n < BENCH_SAMPLES)
		s->v[s->n++] = v;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double quantile(double *values, size_t n, double q)
{
	double at = q * (n - 1);
	size_t i = at;

	qsort(values, n, sizeof(*values), compare);
	return i + 1 < n ? values[i] + (at - i) * (values[i + 1] - values[i]) : values[i];
}

double samples_median(struct samples *s)
{
	return quantile(s->v, s->n, .5);
}

double samples_spread(struct samples *s)
{
	return (quantile(s->v, s->n, .75) - quantile(s->v, s->n, .25)) / 2 / samples_median(s);
}
