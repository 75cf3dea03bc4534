/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* service-journal.c - the jobs that the journal gives back at start */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/crc32c.h"
#include "plugin/log.h"
#include "plugin/service.h"

static int replay_job(void *ctx, uint64_t seq, struct submission *sub, uint32_t uid,
		      uint64_t accepted_wall_us)
{
	struct service *svc = ctx;
	uint64_t deadline = svc->config->global.deadline * 1000, age;
	struct job *job;

	/* accepted twice: the disk failed after the first, and may have it all the same */
	if (sub->kind == CUZK_KIND_UNSPECIFIED || jobs_find_seq(&svc->jobs, seq))
		return 0;
	job = job_open(&svc->jobs, sub, seq, now_us());
	if (!job)
		return -ENOMEM;
	age = wall_us() - accepted_wall_us;
	if (accepted_wall_us < wall_us() && age < job->accepted_us)
		job->accepted_us -= age;
	job->accepted_wall_us = accepted_wall_us;
	if (deadline)
		job->deadline_us = job->useless_us = job->accepted_us + deadline;
	job->uid = uid;
	job->durable = true;
	job->resumed = true;
	job->detached = true;
	svc->n_unplanned++;
	return 0;
}

uint32_t service_prover(const struct service *svc, const struct config_device *device)
{
	const struct config_engine *engine = config_engine(svc->config, device->engine);
	const char *dir = svc->config->global.params_dir;
	const char *name = strrchr(engine->library, '/');
	size_t len;
	uint32_t sum;

	name = name ? name + 1 : engine->library;
	len = strlen(name);
	if (len > 3 && !strcmp(name + len - 3, ".so"))
		len -= 3;
	sum = crc32c(0, name, len);
	sum = crc32c(sum, "", 1);
	sum = crc32c(sum, dir ? dir : "", dir ? strlen(dir) : 0);
	return sum ? sum : 1;
}

static bool is_ours(const struct service *svc, uint32_t prover)
{
	unsigned int i;

	for (i = 0; i < svc->config->n_devices; i++)
		if (service_prover(svc, &svc->config->devices[i]) == prover)
			return true;
	return false;
}

/*
 * What another engine proved, or the same with other parameters, is no proof here: somebody
 * tried clients with the null engine, or with parameters of development, and went on.
 */
static int replay_part(void *ctx, uint64_t seq, uint32_t partition, uint32_t prover,
		       const uint8_t *proof)
{
	struct service *svc = ctx;
	struct job *job = jobs_find_seq(&svc->jobs, seq);

	if (!job || job->state != JOB_WAITING)
		return 0;
	if (prover && !is_ours(svc, prover)) {
		job->n_foreign++;
		return 0;
	}
	return job_restore_part(job, partition, proof);
}

/* When it ended, by a clock that jumps; never later than now, nor before it was accepted. */
static void set_ended(struct job *job, uint64_t finished_wall_us)
{
	uint64_t now = wall_us(), age = finished_wall_us < now ? now - finished_wall_us : 0;

	job->ended_us = (int64_t)job->finished_us - (int64_t)(age < INT64_MAX / 2 ? age : 0);
	if (job->ended_us > (int64_t)job->accepted_us)
		job->finished_us = job->ended_us;
	else
		job->finished_us = job->accepted_us;
}

static int replay_end(void *ctx, uint64_t seq, const struct journal_end *end)
{
	struct service *svc = ctx;
	struct job *job = jobs_find_seq(&svc->jobs, seq);
	struct cuzk_plan plan = { .size = sizeof(plan), .n_partitions = end->n_partitions };
	enum job_state state = end->state;
	const char *text = end->text;
	uint32_t cls = end->cls;
	int err;

	if (!job || job->state != JOB_WAITING)
		return 0;
	job->finished_wall_us = end->finished_wall_us;
	if (state == JOB_COMPLETED) {
		err = job_plan(job, &plan, now_us());
		if (err == -ENOMEM)
			return err;
		if (err || job->n_done != plan.n_partitions) {
			/* the request is gone by now: who submits it again gets another job */
			state = JOB_FAILED;
			cls = CUZK_ERROR_INTERNAL;
			if (job->n_foreign) {
				text = "journal: result: it was made by an engine or with parameters "
				       "that are not configured any more: submit it again";
				svc->foreign_results++;
			} else {
				text = "journal: result: a partition's record is lost: submit it again";
				log_error("job %s: %s", job->id, text);
			}
		}
	}
	svc->n_unplanned--;
	job_end(&svc->jobs, job, state, cls, text, now_us());
	set_ended(job, end->finished_wall_us);
	/* the counters tell what happened since start */
	svc->jobs.completed[job->kind] -= state == JOB_COMPLETED;
	svc->jobs.failed[job->kind] -= state == JOB_FAILED;
	svc->jobs.cancelled[job->kind] -= state == JOB_CANCELLED;
	if (state == JOB_FAILED && cls < 8)
		svc->jobs.failed_class[cls]--;
	return 0;
}

static int replay_deaths(void *ctx, uint64_t seq, uint32_t deaths)
{
	struct service *svc = ctx;
	struct job *job = jobs_find_seq(&svc->jobs, seq);

	if (job)
		job->deaths = deaths;
	return 0;
}

static void on_durable(void *ctx, uint64_t seq, int err)
{
	struct service *svc = ctx;
	struct job *job = jobs_find_seq(&svc->jobs, seq);

	if (!job)
		return;
	job->accepting = false;
	job->durable = !err;
	api_job_durable(svc, job, err);
}

static const struct journal_ops journal_ops = {
	.job = replay_job,
	.part = replay_part,
	.end = replay_end,
	.deaths = replay_deaths,
	.durable = on_durable,
};

int service_open_journal(struct service *svc)
{
	const char *dir = svc->config->global.state_dir;
	char text[JOURNAL_ERROR_TEXT];
	struct log_fields f;
	struct list *pos;
	int err;

	if (mkdir(dir, 0700) < 0 && errno != EEXIST) {
		err = -errno;
		log_error("state_dir %s: %s", dir, strerror(-err));
		return err;
	}
	err = journal_open(&svc->journal, dir, svc->config->global.journal_slack, &journal_ops, svc,
			   text);
	if (err) {
		log_error("state_dir %s", text);
		/* what is no journal does not become one by itself */
		if (err == -EBADMSG || err == -EMEDIUMTYPE)
			svc->exit_status = EXIT_FAILURE;
		return err;
	}
	if (svc->jobs.next_seq < journal_next_seq(svc->journal))
		svc->jobs.next_seq = journal_next_seq(svc->journal);
	if (svc->foreign_results)
		log_notice("journal: %" PRIu64 " result(s) are not given out: made by an engine or "
			   "with parameters that are not configured any more", svc->foreign_results);
	svc->resumed = svc->jobs.n_waiting;
	list_each(pos, &svc->jobs.waiting) {
		const struct job *job = list_entry(pos, struct job, entry);

		f = service_job_fields(job, "resumed");
		log_event(LOG_NOTICE, &f, "job %s: resumed, %u partition(s) done before", job->id,
			  job->n_restored);
	}
	return 0;
}
