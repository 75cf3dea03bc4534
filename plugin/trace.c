/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * trace.c - the life of a job as a trace
 *
 * The JSON of Chrome's trace viewer: complete events ("ph":"X") in microseconds
 * from the job's acceptance, one row (tid) per instance.  Stages of a partition
 * are drawn one after another from its hand-over, in their order; an engine
 * tells how long each took, not when.  The last runs that failed are there, too,
 * and what runs now.
 */
#include <inttypes.h>

#include "plugin/log.h"
#include "plugin/service.h"

/* args: the JSON of more to show, "": nothing. */
static void event(FILE *f, const char *name, const char *category, uint64_t start, uint64_t length,
		  uint32_t row, const char *args, bool *first)
{
	fprintf(f, "%s{\"name\":\"%s\",\"cat\":\"%s\",\"ph\":\"X\",\"ts\":%" PRIu64
		",\"dur\":%" PRIu64 ",\"pid\":1,\"tid\":%u%s%s}", *first ? "" : ",\n", name,
		category, start, length, row, *args ? ",\"args\":" : "", args);
	*first = false;
}

static void row_name(FILE *f, uint32_t row, const char *name, bool *first)
{
	/* names of instances are of the configuration: letters, digits, '-' and '_' */
	fprintf(f, "%s{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":1,\"tid\":%u,"
		"\"args\":{\"name\":\"%s\"}}", *first ? "" : ",\n", row, name);
	*first = false;
}

static void part_events(const struct job *job, uint32_t i, FILE *f, bool *first)
{
	const struct part *part = &job->parts[i];
	uint64_t start = part->started_us - job->accepted_us, at = start, us;
	char name[64], moved[160];
	uint32_t s;

	if (part->state == PART_RUNNING) {
		snprintf(name, sizeof(name), "partition %u, running", i);
		event(f, name, "running", start, now_us() - part->started_us, part->worker + 1, "",
		      first);
	}
	if (part->state != PART_DONE || !part->started_us)
		return;		/* not yet, or before a restart */
	snprintf(name, sizeof(name), "partition %u", i);
	snprintf(moved, sizeof(moved), "{\"bytes_up\":%" PRIu64 ",\"bytes_down\":%" PRIu64
		 ",\"up_us\":%" PRIu64 ",\"up_gb_per_s\":%.6f}", part->bytes_up, part->bytes_down,
		 part->up_ns / 1000, part->up_ns ? (double)part->bytes_up / part->up_ns : 0.0);
	event(f, name, "partition", start, part->done_us - part->started_us, part->worker + 1,
	      moved, first);
	for (s = CUZK_STAGE_PARAMS; s < CUZK_STAGE_COUNT; s++) {
		us = part->stage_ns[s] / 1000;
		if (!us)
			continue;
		event(f, config_stage_name(s), "stage", at, us, part->worker + 1, "", first);
		at += us;
	}
}

static void attempt_events(const struct job *job, FILE *f, bool *first)
{
	char name[64], args[96];
	uint32_t i;

	for (i = 0; i < job->n_attempts && i < JOB_ATTEMPTS_MAX; i++) {
		const struct attempt *a = &job->attempts[i];

		snprintf(name, sizeof(name), "partition %u, failed", a->partition);
		snprintf(args, sizeof(args), "{\"class\":\"%s\",\"instance_died\":%s}",
			 log_class_name(a->cls), a->died ? "true" : "false");
		event(f, name, "failed", a->started_us - job->accepted_us,
		      a->ended_us - a->started_us, a->worker + 1, args, first);
	}
}

void trace_json(const struct service *svc, const struct job *job, FILE *f)
{
	bool first = true;
	uint32_t i;

	fprintf(f, "{\"displayTimeUnit\":\"ms\",\"otherData\":{\"job\":\"%s\",\"state\":\"%s\"},"
		"\"traceEvents\":[\n", job->id, job_state_name(job->state));
	row_name(f, 0, "queue", &first);
	for (i = 0; i < svc->n_workers; i++)
		row_name(f, i + 1, instance_name(svc->workers[i].inst), &first);
	if (job->started_us)
		event(f, "queued", "job", 0, job->started_us - job->accepted_us, 0, "",
		      &first);
	attempt_events(job, f, &first);
	for (i = 0; job->planned && i < job->plan.n_partitions; i++)
		part_events(job, i, f, &first);
	fprintf(f, "\n]}\n");
}
