/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * retry.c - what follows when a partition comes back without a proof
 *
 * A wrong request fails its job.  Anything else is tried again: once on the
 * same instance, then on another, at last on a CPU instance when there is one,
 * at most config retries times.  A shortage of memory is no failure: where others
 * have the memory, the instance gets fewer at a time; else the partition waits and
 * comes again, but not for ever.  A job under which
 * config poison_deaths instances died fails, so that it cannot take the
 * service down; unless all of them were one instance, which may be what is
 * sick: then it goes to others first, and fails with the next that dies.
 */
#include <inttypes.h>
#include <stdio.h>

#include "plugin/log.h"
#include "plugin/service.h"

#define SHORTAGE_FIRST_US 200000ull	/* pause after the first shortage, doubles */
#define SHORTAGE_LAST_US 30000000ull
#define SHORTAGES_MAX 20
#define NARROW_US 30000000ull		/* so long after a shortage no more are tried at a time */
#define CPU_AFTER 3			/* failures after which only a CPU instance is asked */

static bool is_cpu(const struct worker *w)
{
	return !w->device->gpu;
}

enum which { ANY, ONLY_CPU, ONLY_GPU };

/* Could another worker than those in the mask take the job, now or after its restart? */
static bool others_serve(const struct service *svc, const struct job *job, uint64_t mask,
			 enum which which)
{
	uint32_t i;

	for (i = 0; i < svc->n_workers; i++) {
		const struct worker *w = &svc->workers[i];

		if (mask >> i & 1 || worker_hopeless(w))
			continue;
		if (which != ANY && is_cpu(w) != (which == ONLY_CPU))
			continue;
		if (worker_serves(w, job))
			return true;
	}
	return false;
}

bool retry_bars(const struct service *svc, const struct worker *w, const struct job *job)
{
	return job->barred >> w->ordinal & 1 && others_serve(svc, job, job->barred, ANY);
}

bool retry_allows(const struct service *svc, const struct worker *w, const struct job *job,
		  const struct part *part, uint64_t now)
{
	uint64_t bit = 1ull << w->ordinal;

	if (part->not_before_us > now || retry_bars(svc, w, job))
		return false;
	if (!part->failures)
		return true;
	if (part->failures >= CPU_AFTER && !is_cpu(w) &&
	    others_serve(svc, job, part->failed_twice, ONLY_CPU))
		return false;
	/* a GPU that is slow to admit comes before a CPU that is not */
	if (part->failures < CPU_AFTER && is_cpu(w) && !(part->failed_once & bit) &&
	    others_serve(svc, job, part->failed_twice, ONLY_GPU))
		return false;
	/* where it failed twice it goes again only when nobody else is left */
	return !(part->failed_twice & bit) || !others_serve(svc, job, part->failed_twice, ANY);
}

static struct log_fields fields_of(const struct worker *w, const struct job *job,
				   uint32_t partition, uint32_t cls)
{
	struct log_fields f = LOG_FIELDS_INIT;

	f.job = job->id;
	f.request = job->request_id;
	f.kind = config_kind_name(job->kind);
	f.instance = instance_name(w->inst);
	f.gpu = w->ordinal;
	f.partition = partition;
	f.error_class = log_class_name(cls);
	f.event = "partition-failed";
	return f;
}

static void count_failure(struct service *svc, const struct worker *w, struct part *part)
{
	uint64_t bit = 1ull << w->ordinal;

	if (part->failed_once & bit)
		part->failed_twice |= bit;
	part->failed_once |= bit;
	part->failures++;
	svc->reproved++;
}

static void shortage(struct service *svc, struct worker *w, const struct job *job,
		     struct part *part)
{
	uint64_t pause = SHORTAGE_FIRST_US << (part->shortages < 8 ? part->shortages : 8);

	/* others have the memory: it goes when one of them is done, and that is nobody's failure */
	if (w->n_running > w->n_urgent && job->priority != SUBMIT_PRIORITY_CRITICAL) {
		w->width = w->n_running - w->n_urgent;
		w->width_until_us = now_us() + NARROW_US;
		return;
	}
	if (pause > SHORTAGE_LAST_US)
		pause = SHORTAGE_LAST_US;
	part->shortages++;
	part->not_before_us = now_us() + pause;
	svc->delayed = true;
}

void retry_failed(struct service *svc, struct worker *w, struct job *job, uint32_t partition,
		  const struct cuzk_result *result)
{
	struct log_fields f = fields_of(w, job, partition, result->cls);
	struct part *part = &job->parts[partition];
	uint32_t cls = result->cls;
	char text[CUZK_ERROR_TEXT];

	if (result->invalid)
		svc->invalid++;
	snprintf(text, sizeof(text), "%.900s", result->text);
	/* nobody here asked for that, or the job would be over: an engine's fault like others */
	if (cls == CUZK_ERROR_CANCELLED)
		cls = CUZK_ERROR_INTERNAL;
	switch (cls) {
	case CUZK_ERROR_INPUT:
		service_end(svc, job, JOB_FAILED, cls, text);
		return;
	case CUZK_ERROR_RESOURCE:
		if (part->shortages < SHORTAGES_MAX) {
			shortage(svc, w, job, part);
			log_event(LOG_WARNING, &f,
				  "job %s: partition %u on %s waits for memory: %s", job->id,
				  partition, instance_name(w->inst), text);
			return;
		}
		break;
	case CUZK_ERROR_PARAMS:
		/* the same instance has the same file */
		part->failed_once |= 1ull << w->ordinal;
		break;
	}
	count_failure(svc, w, part);
	log_event(LOG_WARNING, &f, "job %s: partition %u failed on %s (%u of %" PRIu64
		  " tries%s): %s", job->id, partition, instance_name(w->inst), part->failures,
		  svc->config->global.retries + 1,
		  result->invalid ? ", an invalid proof was made" : "", text);
	if (part->failures > svc->config->global.retries ||
	    (cls == CUZK_ERROR_PARAMS && !others_serve(svc, job, part->failed_twice, ANY)))
		service_end(svc, job, JOB_FAILED, cls, text);
}

void retry_died(struct service *svc, struct worker *w, struct job *job, uint32_t partition,
		bool guilty, uint32_t cls, const char *reason)
{
	char text[CUZK_ERROR_TEXT];
	struct log_fields f;

	if (!guilty || job->state != JOB_WAITING)
		return;
	job->deaths++;
	job->died_on |= 1ull << w->ordinal;
	/* a job that ends the service as well must not be new to the next one */
	if (!job->internal)
		journal_deaths(svc->journal, job->seq, job->deaths);
	f = fields_of(w, job, partition, CUZK_ERROR_DEVICE);
	if (partition != UINT32_MAX)
		count_failure(svc, w, &job->parts[partition]);
	else
		f.partition = -1;
	log_event(LOG_WARNING, &f, "job %s: %s died with it (%u of %" PRIu64 "): %s", job->id,
		  instance_name(w->inst), job->deaths, svc->config->global.poison_deaths, reason);
	if (job->deaths < svc->config->global.poison_deaths)
		return;
	if (job->died_on == 1ull << w->ordinal && others_serve(svc, job, job->died_on, ANY)) {
		log_event(LOG_WARNING, &f, "job %s: goes to another instance than %s", job->id,
			  instance_name(w->inst));
		job->barred = job->died_on;
		return;
	}
	snprintf(text, sizeof(text),
		 "scheduler: %u instances died with this job, last %s: %.600s; it is not tried "
		 "again",
		 job->deaths, instance_name(w->inst), reason);
	service_end(svc, job, JOB_FAILED, cls, text);
}
