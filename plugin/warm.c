/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * warm.c - the keep-warm proof
 *
 * A block is lost when a WinningPoSt is late, and the first one after hours may
 * find parameters evicted and pages cold.  Where keep_warm is set, the last
 * WinningPoSt that was proved is proved again whenever there was none for that
 * long and an instance is idle; how long it takes is exported.  Nobody gets the
 * proof.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "plugin/log.h"
#include "plugin/service.h"

static void forget(struct service *svc)
{
	if (svc->warm_known)
		close(svc->warm.fd);
	svc->warm_known = false;
}

static void remember(struct service *svc, const struct job *job)
{
	int fd = fcntl(job->fd, F_DUPFD_CLOEXEC, 0);

	if (fd < 0)
		return;
	forget(svc);
	memset(&svc->warm, 0, sizeof(svc->warm));
	snprintf(svc->warm.request_id, sizeof(svc->warm.request_id), "keep-warm");
	memcpy(svc->warm.digest, job->digest, sizeof(svc->warm.digest));
	svc->warm.kind = job->kind;
	svc->warm.priority = SUBMIT_PRIORITY_LOW;	/* a client's is never behind it */
	svc->warm.registered_proof = job->registered_proof;
	svc->warm.sector_size = job->sector_size;
	svc->warm.sector_number = job->sector_number;
	svc->warm.miner_id = job->miner_id;
	svc->warm.partition_index = job->partition_index;
	svc->warm.bytes = job->bytes;
	svc->warm.fd = fd;
	svc->warm_known = true;
}

void warm_job_ends(struct service *svc, const struct job *job, enum job_state state,
		   const char *text)
{
	if (job->kind != CUZK_KIND_WINNING_POST)
		return;
	if (state == JOB_COMPLETED)
		svc->warm_us = now_us();
	if (job->internal) {
		svc->warm_us = now_us();
		if (state == JOB_COMPLETED)
			hist_add(&svc->keep_warm, now_us() - job->accepted_us);
		else
			log_warning("keep-warm: the proof was not made: %s", text);
	} else if (state == JOB_COMPLETED && svc->config->global.keep_warm) {
		remember(svc, job);
	}
}

static bool any_idle(const struct service *svc)
{
	uint32_t i;

	for (i = 0; i < svc->n_workers; i++) {
		const struct worker *w = &svc->workers[i];

		if (worker_usable(w) && !w->n_running && !w->n_admitting)
			return true;
	}
	return false;
}

static void start(struct service *svc)
{
	struct submission sub = svc->warm;
	struct job *job;

	sub.fd = fcntl(svc->warm.fd, F_DUPFD_CLOEXEC, 0);
	if (sub.fd < 0)
		return;
	job = job_open_internal(&svc->jobs, &sub, now_us());
	if (!job) {
		close(sub.fd);
		return;
	}
	svc->warm_seq = job->seq;
	svc->n_unplanned++;
	service_wake(svc);
}

void warm_tick(struct service *svc)
{
	uint64_t interval = svc->config->global.keep_warm * 1000;
	struct job *job;

	if (svc->warm_seq) {
		job = jobs_find_seq(&svc->jobs, svc->warm_seq);
		if (job && (job->state == JOB_WAITING || service_job_busy(svc, job)))
			return;
		if (job)
			job_close(&svc->jobs, job);
		svc->warm_seq = 0;
	}
	if (!interval) {
		forget(svc);
		return;
	}
	if (svc->warm_known && !svc->draining && now_us() - svc->warm_us >= interval &&
	    any_idle(svc))
		start(svc);
}

void warm_close(struct service *svc)
{
	forget(svc);
}
