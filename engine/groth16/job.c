/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* job.c - admission, and a partition's way from its witness to its verified proof */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine/cs/system.h"
#include "engine/groth16/instance.h"
#include "engine/vanilla/vanilla.h"

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

static void beat(struct cuzk_instance *inst, uint64_t tag, enum cuzk_stage stage)
{
	inst->host.heartbeat(inst->host.ctx, tag, stage, 0, 0);
}

static const enum cuzk_stage stages[GPU_STAGE_N] = {
	[GPU_STAGE_IDLE] = CUZK_STAGE_IDLE,
	[GPU_STAGE_UPLOAD] = CUZK_STAGE_UPLOAD,
	[GPU_STAGE_EVALUATE] = CUZK_STAGE_EVALUATE,
	[GPU_STAGE_NTT] = CUZK_STAGE_NTT,
	[GPU_STAGE_MSM_H] = CUZK_STAGE_MSM_H,
	[GPU_STAGE_MSM_L] = CUZK_STAGE_MSM_L,
	[GPU_STAGE_MSM_A] = CUZK_STAGE_MSM_A,
	[GPU_STAGE_MSM_B1] = CUZK_STAGE_MSM_B1,
	[GPU_STAGE_MSM_B2] = CUZK_STAGE_MSM_B2,
};

void job_gpu_progress(void *arg, enum gpu_stage stage, uint64_t done, uint64_t total)
{
	struct cuzk_instance *inst = arg;

	inst->host.heartbeat(inst->host.ctx, inst->gpu_tag,
			     inst->gpu_job ? stages[stage] : CUZK_STAGE_PARAMS, done, total);
}

bool job_gpu_cancelled(void *arg)
{
	struct cuzk_instance *inst = arg;

	return inst->gpu_job && atomic_load(&inst->gpu_job->cancelled);
}

int job_gpu_error(struct cuzk_instance *inst, const char *what, int ret, struct cuzk_error *err)
{
	switch (ret) {
	case -ENOMEM:
		return error_set(err, CUZK_ERROR_RESOURCE, ret, "%s: no room on the device", what);
	case -EAGAIN:
		return error_set(err, CUZK_ERROR_RESOURCE, ret, "%s: the device is busy", what);
	case -ECANCELED:
		return error_set(err, CUZK_ERROR_CANCELLED, ret, "%s: cancelled", what);
	case -EIO:
		atomic_store(&inst->lost, true);
		return error_set(err, CUZK_ERROR_DEVICE, ret, "%s: the device failed", what);
	default:
		return error_set(err, CUZK_ERROR_INTERNAL, ret, "%s: %s", what, strerror(-ret));
	}
}

int job_admit(struct cuzk_instance *inst, const struct cuzk_request *request,
	      struct cuzk_task **out, struct cuzk_plan *plan, struct cuzk_error *err)
{
	struct cuzk_plan p = { .size = sizeof(p) };
	struct cuzk_request req = { .size = 0 };
	struct cuzk_task *task;
	struct tpool *pool;
	int ret;

	memcpy(&req, request, request->size < sizeof(req) ? request->size : sizeof(req));
	req.size = sizeof(req);
	/* a WinningPoSt is small and urgent: it does not wait for another's hashing */
	pool = req.kind == CUZK_KIND_WINNING_POST ? NULL : inst->admit_pool;
	task = calloc(1, sizeof(*task));
	if (!task)
		return error_nomem(err, "a task");
	task->inst = inst;
	ret = vanilla_admit(&req, pool, &task->vanilla, &p, err);
	if (ret)
		goto err_free;
	task->line = instance_find(inst, vanilla_circuit(task->vanilla));
	if (!task->line) {
		ret = error_set(err, CUZK_ERROR_INTERNAL, -ENOENT, "no circuit has the name %s",
				vanilla_circuit(task->vanilla));
		goto err_free_vanilla;
	}
	if (!task->line->probed)
		key_probe(inst, task->line);
	pthread_mutex_lock(circuits_lock(inst));
	if (task->line->state == CUZK_PARAMS_ABSENT || task->line->state == CUZK_PARAMS_BAD)
		ret = error_set(err, CUZK_ERROR_PARAMS, -ENOENT, "%s: %s", task->line->circuit.name,
				task->line->reason);
	p.host_bytes += task->line->proof_bytes;
	p.device_bytes = task->line->device_bytes;
	pthread_mutex_unlock(circuits_lock(inst));
	if (ret)
		goto err_free_vanilla;
	if (plan) {
		size_t size = plan->size < sizeof(p) ? plan->size : sizeof(p);

		p.size = plan->size;
		memcpy(plan, &p, size);
	}
	*out = task;
	return 0;

err_free_vanilla:
	vanilla_free(task->vanilla);
err_free:
	free(task);
	return ret;
}

void job_task_free(struct cuzk_task *task)
{
	if (!task)
		return;
	vanilla_free(task->vanilla);
	free(task);
}

static void prover_name(char buf[64], const struct circuit *circuit)
{
	snprintf(buf, 64, "prover %s", circuit->name);
}

static void job_release(struct cuzk_instance *inst, struct job *job)
{
	char name[64];

	if (job->reserved) {
		prover_name(name, &job->task->line->circuit);
		inst->host.release(inst->host.ctx, name, job->reserved);
	}
	if (job->key)
		key_put(inst, job->key);
	/* who knows r and s learns about the witness from the proof */
	explicit_bzero(&job->blinding, sizeof(job->blinding));
	free(job);
}

static int job_reserve(struct cuzk_instance *inst, struct job *job, struct cuzk_error *err)
{
	struct circuit_state *line = job->task->line;
	char name[64];

	prover_name(name, &line->circuit);
	if (inst->host.reserve(inst->host.ctx, name, line->proof_bytes))
		return error_set(err, CUZK_ERROR_RESOURCE, -ENOMEM,
				 "no room in the memory budget for %" PRIu64 " MiB to prove %s",
				 line->proof_bytes >> 20, line->circuit.name);
	job->reserved = line->proof_bytes;
	return 0;
}

static int make_witness(struct cuzk_instance *inst, const struct job *job, struct cs_witness *w,
			struct cuzk_error *err)
{
	const struct key *key = job->key;
	char text[256] = "";
	int ret;

	beat(inst, job->tag, CUZK_STAGE_WITNESS);
	ret = circuit_witness(&key->circuit, key->cs,
			      vanilla_circuit_input(job->task->vanilla, job->partition), inst->pool,
			      w, text);
	if (ret == -ENOMEM)
		return error_nomem(err, "the witness");
	if (ret)
		return error_set(err, CUZK_ERROR_INTERNAL, ret, "%s: witness: %s",
				 key->circuit.name, *text ? text : strerror(-ret));
	return 0;
}

static unsigned int key_batch(const struct cuzk_instance *inst, const struct key *key)
{
	return inst->ops->prove_batch ?
		       inst->ops->prove_batch(inst->gpu, key->gpu_cs, key->gpu_srs) : 1;
}

/* How many proofs of a circuit may be in flight. */
static unsigned int jobs_max(struct cuzk_instance *inst, const struct circuit_state *line)
{
	unsigned int batch = 1;
	struct key *key;

	pthread_mutex_lock(&inst->keys_lock);
	for (key = inst->keys; key; key = key->next)
		if (key->line == line)
			batch = atomic_load(&key->batch);
	pthread_mutex_unlock(&inst->keys_lock);
	return batch < JOBS_MAX ? JOBS_MAX : batch + 1;
}

/* Witness and start; the device's part of the job is running when it returns 0. */
static int job_start(struct cuzk_instance *inst, struct job *job, struct cuzk_error *err)
{
	struct cs_witness w;
	uint64_t t0, bad_row;
	bool was;
	int ret;

	t0 = now_ns();
	beat(inst, job->tag, CUZK_STAGE_PARAMS);
	ret = key_get(inst, job->task->line, job->tag, &job->key, &was, err);
	if (ret)
		return ret;
	job->stage_ns[CUZK_STAGE_PARAMS] = now_ns() - t0;
	ret = job_reserve(inst, job, err);
	if (ret)
		return ret;
	t0 = now_ns();
	ret = make_witness(inst, job, &w, err);
	if (ret)
		return ret;
	job->stage_ns[CUZK_STAGE_WITNESS] = now_ns() - t0;

	pthread_mutex_lock(&inst->gpu_lock);
	inst->gpu_job = job;
	inst->gpu_tag = job->tag;
	if (!atomic_load(&job->key->batch))
		atomic_store(&job->key->batch, key_batch(inst, job->key));
	ret = inst->ops->prove_start(inst->gpu, job->key->gpu_cs, job->key->gpu_srs, &w, false,
				     &job->gpu_job, &bad_row);
	inst->gpu_job = NULL;
	pthread_mutex_unlock(&inst->gpu_lock);
	cs_witness_fini(&w);
	if (ret)
		return job_gpu_error(inst, "starting a proof", ret, err);
	return 0;
}

/*
 * A partition that did not start completes where its host has to know more than an error: the end
 * that cancel() promises, or a device that is lost, with which this process ends.
 */
static int end_early(struct cuzk_instance *inst, uint64_t tag, int status,
		     const struct cuzk_error *err)
{
	struct cuzk_result result = { .size = sizeof(result), .status = status, .cls = err->cls };

	result.sticky = atomic_load(&inst->lost);
	memcpy(result.text, err->text, sizeof(result.text));
	inst->host.complete(inst->host.ctx, tag, &result);
	return 0;
}

static int prove(struct cuzk_instance *inst, struct cuzk_task *task, uint32_t partition,
		 uint64_t tag, bool urgent, struct cuzk_error *err)
{
	struct job *job, **p;
	unsigned int n_jobs;
	int ret;

	if (partition >= vanilla_partitions(task->vanilla))
		return error_set(err, CUZK_ERROR_INTERNAL, -EINVAL, "partition %u of %u", partition,
				 vanilla_partitions(task->vanilla));
	if (atomic_load(&inst->lost))
		return end_early(inst, tag, error_set(err, CUZK_ERROR_DEVICE, -EIO,
						      "the device failed before"), err);
	pthread_mutex_lock(&inst->jobs_lock);
	n_jobs = inst->n_jobs;
	pthread_mutex_unlock(&inst->jobs_lock);
	if (n_jobs >= jobs_max(inst, task->line))
		return error_set(err, CUZK_ERROR_RESOURCE, -EAGAIN, "%u proofs are in flight",
				 n_jobs);

	job = calloc(1, sizeof(*job));
	if (!job)
		return error_nomem(err, "a job");
	job->tag = tag;
	job->task = task;
	job->partition = partition;
	job->urgent = urgent;
	if (inst->fixed_blinding)
		blinding_offset(&job->blinding, &inst->blinding, partition);
	else if ((ret = blinding_random(&job->blinding))) {
		free(job);
		return error_set(err, CUZK_ERROR_INTERNAL, ret, "getrandom: %s", strerror(-ret));
	}
	/* in the list before it starts, so that cancel finds it; not ready for the tail yet */
	pthread_mutex_lock(&inst->jobs_lock);
	for (p = &inst->jobs; *p; p = &(*p)->next)
		;
	*p = job;
	inst->n_jobs++;
	pthread_mutex_unlock(&inst->jobs_lock);

	if (urgent)
		gate_close(&inst->parent->gate);
	ret = job_start(inst, job, err);
	if (ret && urgent)
		gate_open(&inst->parent->gate);

	pthread_mutex_lock(&inst->jobs_lock);
	if (ret) {
		for (p = &inst->jobs; *p != job; p = &(*p)->next)
			;
		*p = job->next;
		inst->n_jobs--;
	} else {
		job->started = true;
	}
	pthread_cond_broadcast(&inst->jobs_wake);
	pthread_mutex_unlock(&inst->jobs_lock);
	if (ret)
		job_release(inst, job);
	if (ret == -ECANCELED || (ret && atomic_load(&inst->lost)))
		return end_early(inst, tag, ret, err);
	return ret;
}

int job_prove(struct cuzk_instance *inst, struct cuzk_task *task, uint32_t partition, uint64_t tag,
	      struct cuzk_error *err)
{
	return prove(inst, task, partition, tag, false, err);
}

int job_prove_urgent(struct cuzk_instance *lane, struct cuzk_task *task, uint32_t partition,
		     uint64_t tag, struct cuzk_error *err)
{
	return prove(lane, task, partition, tag, true, err);
}

/* A proof that does not verify: was it the witness, or the device? */
static void explain_invalid(struct cuzk_instance *inst, struct job *job, struct cuzk_error *err)
{
	const struct key *key = job->key;
	struct cs_witness w;
	char path[256];
	uint64_t row;

	error_set(err, CUZK_ERROR_DEVICE, -EBADMSG,
		  "%s, partition %u: the proof does not verify: the device computed wrongly",
		  key->circuit.name, job->partition);
	if (make_witness(inst, job, &w, err))
		return;
	row = cs_first_bad_row(key->cs, &w, inst->pool);
	cs_witness_fini(&w);
	if (row == UINT64_MAX)
		return;
	cs_row_path(key->cs, row, path, sizeof(path));
	error_set(err, CUZK_ERROR_INTERNAL, -EBADMSG,
		  "%s, partition %u: an admitted request does not satisfy constraint %" PRIu64
		  ", %s",
		  key->circuit.name, job->partition, row, path);
}

/* 0, or -errno with err; *invalid: a proof was made and is wrong. */
static int verify(struct cuzk_instance *inst, struct job *job, const struct proof *proof,
		  const struct fr *inputs, size_t n, bool *invalid, struct cuzk_error *err)
{
	int ret;

	ret = pvk_verify(job->key->pvk, proof, inputs, n);
	if (ret == 1)
		return 0;
	if (ret < 0)
		return error_set(err, CUZK_ERROR_INTERNAL, ret, "%s: verifying: %s",
				 job->key->circuit.name, strerror(-ret));
	*invalid = true;
	explain_invalid(inst, job, err);
	return -EBADMSG;
}

/* From the sums to the proof's bytes, and those checked: they are what leaves. */
static int conclude(struct cuzk_instance *inst, struct job *job, struct gpu_sums *sums,
		    const struct fr *inputs, size_t n, struct cuzk_result *result,
		    struct cuzk_error *err)
{
	const struct key *key = job->key;
	bool invalid = false;
	struct proof proof;
	uint64_t t0;
	int ret;

	t0 = now_ns();
	if (key->coset.inputs && coset_add_inputs(sums, key->coset.inputs, inputs, n))
		return error_nomem(err, "the sum over the public inputs");
	prover_assemble(&proof, &key->params.vk, sums, &job->blinding);
	proof_write(result->proof, &proof);
	job->stage_ns[CUZK_STAGE_FINISH] = now_ns() - t0;
	if (atomic_load(&job->cancelled))
		return error_set(err, CUZK_ERROR_CANCELLED, -ECANCELED, "cancelled");

	beat(inst, job->tag, CUZK_STAGE_VERIFY);
	t0 = now_ns();
	ret = proof_read(&proof, result->proof, err);
	if (ret) {
		invalid = true;
		err->cls = CUZK_ERROR_DEVICE;
	} else {
		ret = verify(inst, job, &proof, inputs, n, &invalid, err);
	}
	job->stage_ns[CUZK_STAGE_VERIFY] = now_ns() - t0;
	result->invalid = invalid;
	return ret;
}

static int finish(struct cuzk_instance *inst, struct job *job, struct cuzk_result *result,
		  struct cuzk_error *err)
{
	const struct gpu_stats *stats = &job->stats;
	struct gpu_sums sums;
	struct fr *inputs;
	size_t n;
	int ret, i;

	pthread_mutex_lock(&inst->gpu_lock);
	inst->gpu_job = job;
	inst->gpu_tag = job->tag;
	ret = inst->ops->prove_finish(inst->gpu, job->gpu_job, &sums);
	inst->ops->stats(inst->gpu, &job->stats);
	inst->gpu_job = NULL;
	pthread_mutex_unlock(&inst->gpu_lock);
	if (job->urgent)
		gate_open(&inst->parent->gate);
	for (i = 1; i < GPU_STAGE_N; i++)
		job->stage_ns[stages[i]] = stats->ns[i];
	result->bytes_up = stats->bytes_up;
	result->bytes_down = stats->bytes_down;
	result->up_ns = stats->up_ns;
	result->host_peak = stats->host_peak;
	result->device_peak = stats->device_peak;
	if (ret)
		return job_gpu_error(inst, "finishing a proof", ret, err);

	beat(inst, job->tag, CUZK_STAGE_FINISH);
	ret = vanilla_public_inputs(job->task->vanilla, job->partition, &inputs, &n);
	if (ret)
		return error_nomem(err, "the public inputs");
	ret = conclude(inst, job, &sums, inputs, n, result, err);
	free(inputs);
	return ret;
}

static void complete(struct cuzk_instance *inst, struct job *job)
{
	struct cuzk_result result = { .size = sizeof(result) };
	struct cuzk_error err = { .size = sizeof(err) };
	uint64_t tag = job->tag;
	struct job **p;
	int ret;

	ret = finish(inst, job, &result, &err);
	result.status = ret;
	if (ret) {
		result.cls = err.cls;
		memcpy(result.text, err.text, sizeof(result.text));
		memset(result.proof, 0, sizeof(result.proof));
		result.sticky = atomic_load(&inst->lost);
	}
	memcpy(result.stage_ns, job->stage_ns, sizeof(result.stage_ns));
	pthread_mutex_lock(&inst->jobs_lock);
	for (p = &inst->jobs; *p != job; p = &(*p)->next)
		;
	*p = job->next;
	inst->n_jobs--;
	pthread_mutex_unlock(&inst->jobs_lock);
	job_release(inst, job);
	inst->host.complete(inst->host.ctx, tag, &result);
}

/* Those that wait for the rest of their batch are not stuck. */
static void beat_waiting(struct cuzk_instance *inst, const struct job *at)
{
	struct job *job;

	pthread_mutex_lock(&inst->jobs_lock);
	for (job = inst->jobs; job; job = job->next)
		if (job != at && job->started)
			inst->host.heartbeat(inst->host.ctx, job->tag, job->worked ?
					     CUZK_STAGE_MSM_H : CUZK_STAGE_UPLOAD, ++job->beats, 0);
	pthread_mutex_unlock(&inst->jobs_lock);
}

/* A proof's own part of what its batch does; what fails is told by its finish. */
static void work(struct cuzk_instance *inst, struct job *job)
{
	int ret;

	pthread_mutex_lock(&inst->gpu_lock);
	inst->gpu_job = job;
	inst->gpu_tag = job->tag;
	ret = inst->ops->prove_work(inst->gpu, job->gpu_job);
	inst->gpu_job = NULL;
	pthread_mutex_unlock(&inst->gpu_lock);
	job->worked = true;
	job->failed = ret;
	beat_waiting(inst, job);
}

/* What has no batch to wait for: the oldest. */
static struct job *next_single(struct cuzk_instance *inst)
{
	struct job *job;

	for (job = inst->jobs; job; job = job->next)
		if (job->started && (job->closing || job->failed || atomic_load(&job->cancelled) ||
				     atomic_load(&job->key->batch) < 2))
			return job;
	return NULL;
}

/*
 * The next of a batch, that of the oldest job: *to_work if its own part is to be
 * done.  NULL: there is none, or it waits for one that is being started.
 */
static struct job *next_of_batch(struct cuzk_instance *inst, bool *to_work)
{
	struct job *job, *fresh = NULL, *first = NULL;
	unsigned int n_worked = 0;
	bool coming = false;

	for (job = inst->jobs; job; job = job->next) {
		if (!first && job->started)
			first = job;
		if (!first || job->task->line != first->task->line)
			continue;
		coming |= !job->started;
		n_worked += job->started && job->worked;
		if (job->started && !job->worked && !fresh)
			fresh = job;
	}
	*to_work = first && fresh && n_worked < atomic_load(&first->key->batch);
	if (*to_work)
		return fresh;
	if (!first || (coming && n_worked < atomic_load(&first->key->batch)))
		return NULL;
	for (job = first; job; job = job->next)
		job->closing = job->started && job->worked && job->key == first->key;
	return first;
}

static void *tail_main(void *arg)
{
	struct cuzk_instance *inst = arg;
	struct job *job;
	bool to_work;

	for (;;) {
		to_work = false;
		pthread_mutex_lock(&inst->jobs_lock);
		while (!(job = next_single(inst)) && !(job = next_of_batch(inst, &to_work))) {
			if (!inst->jobs && inst->stop)
				break;
			pthread_cond_wait(&inst->jobs_wake, &inst->jobs_lock);
		}
		pthread_mutex_unlock(&inst->jobs_lock);
		if (!job)
			return NULL;
		if (to_work)
			work(inst, job);
		else
			complete(inst, job);
	}
}

int job_start_tail(struct cuzk_instance *inst, struct cuzk_error *err)
{
	int ret = pthread_create(&inst->tail, NULL, tail_main, inst);

	if (ret)
		return error_set(err, CUZK_ERROR_RESOURCE, -ret, "starting a thread: %s",
				 strerror(ret));
	inst->has_tail = true;
	return 0;
}

void job_stop_tail(struct cuzk_instance *inst)
{
	struct job *job;

	if (!inst->has_tail)
		return;
	pthread_mutex_lock(&inst->jobs_lock);
	for (job = inst->jobs; job; job = job->next)
		atomic_store(&job->cancelled, true);
	inst->stop = true;
	pthread_cond_broadcast(&inst->jobs_wake);
	pthread_mutex_unlock(&inst->jobs_lock);
	pthread_join(inst->tail, NULL);
	inst->has_tail = false;
}

void job_cancel(struct cuzk_instance *inst, uint64_t tag)
{
	struct job *job;

	pthread_mutex_lock(&inst->jobs_lock);
	for (job = inst->jobs; job; job = job->next)
		if (job->tag == tag)
			atomic_store(&job->cancelled, true);
	pthread_cond_broadcast(&inst->jobs_wake);
	pthread_mutex_unlock(&inst->jobs_lock);
}
