/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* job.c - a proof that is to be made, and the table of all of them */
#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/text.h"
#include "plugin/job.h"

#define ID_LABEL_MAX 96		/* bytes of the request_id that a job id shows */

int jobs_init(struct jobs *jobs)
{
	int err;

	memset(jobs, 0, sizeof(*jobs));
	list_init(&jobs->waiting);
	list_init(&jobs->finished);
	jobs->next_seq = 1;
	err = hash_init(&jobs->by_seq);
	if (err)
		return err;
	err = hash_init(&jobs->by_id);
	if (err)
		goto err_fini_seq;
	err = hash_init(&jobs->by_digest);
	if (err)
		goto err_fini_id;
	return 0;

err_fini_id:
	hash_fini(&jobs->by_id);
err_fini_seq:
	hash_fini(&jobs->by_seq);
	return err;
}

static void unlist_names(struct jobs *jobs, struct job *job)
{
	if (!job->listed_by_name)
		return;
	hash_del(&jobs->by_id, &job->by_id);
	hash_del(&jobs->by_digest, &job->by_digest);
	job->listed_by_name = false;
}

static void job_free(struct jobs *jobs, struct job *job)
{
	assert(list_empty(&job->waiters) && list_empty(&job->submitters));
	unlist_names(jobs, job);
	hash_del(&jobs->by_seq, &job->by_seq);
	list_del(&job->entry);
	if (job->state == JOB_WAITING) {
		jobs->n_waiting--;
		jobs->waiting_bytes -= job->bytes;
	} else {
		jobs->n_finished--;
	}
	if (job->fd >= 0)
		close(job->fd);
	free(job->parts);
	free(job->restored);
	free(job->restored_index);
	free(job);
}

void jobs_fini(struct jobs *jobs)
{
	while (!list_empty(&jobs->waiting))
		job_free(jobs, list_entry(jobs->waiting.next, struct job, entry));
	while (!list_empty(&jobs->finished))
		job_free(jobs, list_entry(jobs->finished.next, struct job, entry));
	hash_fini(&jobs->by_seq);
	hash_fini(&jobs->by_id);
	hash_fini(&jobs->by_digest);
}

void job_close(struct jobs *jobs, struct job *job)
{
	assert(!job->n_running);
	job_free(jobs, job);
}

/* "REQUEST_ID.HASH": readable, unique, the same each time, safe in a shell and a URL. */
static int make_id(struct job *job)
{
	uint8_t hash[EVP_MAX_MD_SIZE];
	EVP_MD_CTX *md = EVP_MD_CTX_new();
	size_t n = 0, i;
	int good;

	good = md && EVP_DigestInit_ex(md, EVP_sha256(), NULL) &&
	       EVP_DigestUpdate(md, job->request_id, strlen(job->request_id) + 1) &&
	       EVP_DigestUpdate(md, job->digest, sizeof(job->digest)) &&
	       EVP_DigestFinal_ex(md, hash, NULL);
	EVP_MD_CTX_free(md);
	if (!good)
		return -ENOMEM;
	for (; n < ID_LABEL_MAX && job->request_id[n]; n++) {
		unsigned char c = job->request_id[n];

		job->id[n] = c < 128 && (isalnum(c) || c == '.' || c == '_') ? c : '-';
	}
	if (!n)
		n = sprintf(job->id, "job");
	job->id[n++] = '.';
	for (i = 0; i < 8; i++)
		n += sprintf(job->id + n, "%02x", hash[i]);
	return 0;
}

/* The job itself, in the tables by number only. */
static struct job *make_job(struct jobs *jobs, struct submission *sub, uint64_t seq,
			    uint64_t now_us)
{
	struct job *job = calloc(1, sizeof(*job));

	if (!job)
		return NULL;
	memcpy(job->request_id, sub->request_id, sizeof(job->request_id));
	memcpy(job->digest, sub->digest, sizeof(job->digest));
	if (make_id(job)) {
		free(job);
		return NULL;
	}
	job->seq = seq ? seq : jobs->next_seq;
	if (job->seq >= jobs->next_seq)
		jobs->next_seq = job->seq + 1;
	job->kind = sub->kind;
	job->priority = sub->priority;
	job->partition_index = sub->partition_index;
	job->registered_proof = sub->registered_proof;
	job->sector_size = sub->sector_size;
	job->sector_number = sub->sector_number;
	job->miner_id = sub->miner_id;
	job->deadline_us = job->useless_us = UINT64_MAX;
	job->uid = UINT32_MAX;
	job->fd = sub->fd;
	sub->fd = -1;
	job->bytes = sub->bytes;
	job->accepted_us = now_us;
	list_init(&job->waiters);
	list_init(&job->submitters);
	list_init(&job->entry);
	hash_add(&jobs->by_seq, &job->by_seq, hash_number(job->seq));
	list_add(&jobs->waiting, &job->entry);
	jobs->n_waiting++;
	jobs->waiting_bytes += job->bytes;
	return job;
}

struct job *job_open(struct jobs *jobs, struct submission *sub, uint64_t seq, uint64_t now_us)
{
	struct job *job = make_job(jobs, sub, seq, now_us), *old;

	if (!job)
		return NULL;
	old = jobs_find_digest(jobs, job->digest);
	if (old)
		unlist_names(jobs, old);
	old = jobs_find_id(jobs, job->id);
	if (old)
		unlist_names(jobs, old);
	hash_add(&jobs->by_id, &job->by_id, hash_bytes(job->id, strlen(job->id)));
	hash_add(&jobs->by_digest, &job->by_digest, hash_bytes(job->digest, sizeof(job->digest)));
	job->listed_by_name = true;
	return job;
}

struct job *job_open_internal(struct jobs *jobs, struct submission *sub, uint64_t now_us)
{
	struct job *job = make_job(jobs, sub, 0, now_us);

	if (job)
		job->internal = true;
	return job;
}

struct job *jobs_find_id(const struct jobs *jobs, const char *id)
{
	struct hash_node *node = hash_first(&jobs->by_id, hash_bytes(id, strlen(id)));

	for (; node; node = hash_next(node)) {
		struct job *job = list_entry(node, struct job, by_id);

		if (!strcmp(job->id, id))
			return job;
	}
	return NULL;
}

struct job *jobs_find_seq(const struct jobs *jobs, uint64_t seq)
{
	struct hash_node *node = hash_first(&jobs->by_seq, hash_number(seq));

	for (; node; node = hash_next(node)) {
		struct job *job = list_entry(node, struct job, by_seq);

		if (job->seq == seq)
			return job;
	}
	return NULL;
}

struct job *jobs_find_digest(const struct jobs *jobs, const uint8_t digest[SUBMIT_DIGEST_SIZE])
{
	struct hash_node *node = hash_first(&jobs->by_digest,
					    hash_bytes(digest, SUBMIT_DIGEST_SIZE));

	for (; node; node = hash_next(node)) {
		struct job *job = list_entry(node, struct job, by_digest);

		if (!memcmp(job->digest, digest, SUBMIT_DIGEST_SIZE))
			return job;
	}
	return NULL;
}

int job_plan(struct job *job, const struct cuzk_plan *plan, uint64_t now_us)
{
	uint32_t i, k;

	if (!plan->n_partitions || plan->n_partitions > JOB_PARTITIONS_MAX)
		return -EPROTO;
	if (job->planned)	/* another instance, or another version of the engine */
		return plan->n_partitions == job->plan.n_partitions ? 0 : -EPROTO;
	/* another plan than before the restart: its partitions are none of this one's */
	for (i = 0; i < job->n_restored; i++)
		if (job->restored_index[i] >= plan->n_partitions)
			job->n_restored = 0;
	job->parts = calloc(plan->n_partitions, sizeof(*job->parts));
	if (!job->parts)
		return -ENOMEM;
	job->plan = *plan;
	job->plan.circuit[CUZK_CIRCUIT_ID_SIZE - 1] = '\0';
	job->circuit_hash = hash_bytes(job->plan.circuit, strlen(job->plan.circuit));
	job->planned = true;
	job->planned_us = now_us;
	for (i = 0; i < job->n_restored; i++) {
		k = job->restored_index[i];
		if (job->parts[k].state != PART_DONE)
			job->n_done++;
		job->parts[k].state = PART_DONE;
		memcpy(job->parts[k].proof, job->restored[i], CUZK_PARTITION_PROOF_SIZE);
	}
	free(job->restored);
	free(job->restored_index);
	job->restored = NULL;
	job->restored_index = NULL;
	return 0;
}

int job_restore_part(struct job *job, uint32_t partition,
		     const uint8_t proof[CUZK_PARTITION_PROOF_SIZE])
{
	void *proofs, *index;

	if (partition >= JOB_PARTITIONS_MAX || job->n_restored == JOB_PARTITIONS_MAX)
		return -EPROTO;
	proofs = reallocarray(job->restored, job->n_restored + 1, sizeof(*job->restored));
	if (proofs)
		job->restored = proofs;
	index = reallocarray(job->restored_index, job->n_restored + 1,
			     sizeof(*job->restored_index));
	if (index)
		job->restored_index = index;
	if (!proofs || !index)
		return -ENOMEM;
	memcpy(job->restored[job->n_restored], proof, CUZK_PARTITION_PROOF_SIZE);
	job->restored_index[job->n_restored++] = partition;
	return 0;
}

void job_end(struct jobs *jobs, struct job *job, enum job_state state, uint32_t cls,
	     const char *text, uint64_t now_us)
{
	assert(job->state == JOB_WAITING && state != JOB_WAITING);
	job->state = state;
	job->cls = cls;
	if (text) {
		snprintf(job->text, sizeof(job->text), "%s", text);
		text_clean(job->text);	/* a cut goes through letters */
	}
	job->finished_us = now_us;
	list_del(&job->entry);
	list_add(&jobs->finished, &job->entry);
	jobs->n_waiting--;
	jobs->n_finished++;
	jobs->waiting_bytes -= job->bytes;
	if (job->fd >= 0)
		close(job->fd);
	job->fd = -1;
	if (job->internal)
		return;
	switch (state) {
	case JOB_COMPLETED:
		jobs->completed[job->kind]++;
		break;
	case JOB_FAILED:
		jobs->failed[job->kind]++;
		if (cls < 8)
			jobs->failed_class[cls]++;
		break;
	default:
		jobs->cancelled[job->kind]++;
	}
}

void job_proof(const struct job *job, uint8_t *proof)
{
	uint32_t i;

	assert(job->state == JOB_COMPLETED);
	for (i = 0; i < job->plan.n_partitions; i++)
		memcpy(proof + i * CUZK_PARTITION_PROOF_SIZE, job->parts[i].proof,
		       CUZK_PARTITION_PROOF_SIZE);
}

void job_timing(const struct job *job, uint64_t *params_ms, uint64_t *witness_ms,
		uint64_t *device_ms)
{
	uint64_t params = 0, witness = 0, device = 0, sum;
	uint32_t i, s;

	for (i = 0; job->parts && i < job->plan.n_partitions; i++) {
		const uint64_t *ns = job->parts[i].stage_ns;

		if (ns[CUZK_STAGE_PARAMS] > params)
			params = ns[CUZK_STAGE_PARAMS];
		if (ns[CUZK_STAGE_WITNESS] > witness)
			witness = ns[CUZK_STAGE_WITNESS];
		for (sum = 0, s = CUZK_STAGE_UPLOAD; s < CUZK_STAGE_COUNT; s++)
			sum += ns[s];
		if (sum > device)
			device = sum;
	}
	*params_ms = params / 1000000;
	*witness_ms = witness / 1000000;
	*device_ms = device / 1000000;
}

const char *job_state_name(enum job_state state)
{
	static const char *const names[] = {
		[JOB_WAITING] = "waiting",
		[JOB_COMPLETED] = "completed",
		[JOB_FAILED] = "failed",
		[JOB_CANCELLED] = "cancelled",
	};

	return names[state];
}
