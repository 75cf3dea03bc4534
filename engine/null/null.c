/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * null.c - an engine that proves nothing, instantly and deterministically
 *
 * For tests of the service and for trying a configuration: the proof of a
 * request follows from its bytes by the rule in rule.h, so that a test can tell
 * a right answer from a wrong, lost or swapped one.  Its parameters make it
 * slow, and make it fail in every way in which an engine, a driver or a device
 * can.
 *
 * Threads: each lane is one, and takes one partition at a time; the lane of
 * urgent partitions is the host's thread, and the others stand still while it
 * has one.  lock guards the lanes and the circuits' state.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "engine/null/null.h"

#define TICK_MS 50	/* a heartbeat so often */
#define NULL_VERSION "1"

CUZK_MODINFO("name", "null");
CUZK_MODINFO("version", NULL_VERSION);
CUZK_MODINFO("licence", "MIT OR Apache-2.0");
CUZK_MODINFO("description", "proves nothing, instantly; for tests");
CUZK_MODINFO_ABI();

struct cuzk_task {
	uint8_t digest[32];
	uint64_t sector;
	uint32_t n_partitions;
};

struct lane {
	struct cuzk_instance *inst;
	pthread_t thread;
	/* lock: a partition, while busy */
	bool busy;
	bool cancelled;		/* atomic */
	struct cuzk_task *task;
	uint32_t partition;
	uint64_t tag, number;
};

struct cuzk_instance {
	struct cuzk_host host;
	struct null_config cfg;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool ending;				/* lock */
	uint64_t number;			/* lock: partitions begun */
	int64_t n_oom;				/* lock: requests that found no memory */
	uint32_t state[CUZK_KIND_COUNT];	/* lock: enum cuzk_params_state */
	uint32_t users[CUZK_KIND_COUNT];
	unsigned int n_lanes;
	struct lane lanes[NULL_LANES_MAX];
	struct lane urgent;
};

static int fail(struct cuzk_error *err, int status, uint32_t cls, const char *text)
{
	err->cls = cls;
	snprintf(err->text, sizeof(err->text), "null: %s", text);
	return status;
}

static void sleep_ms(uint64_t ms)
{
	struct timespec ts = { ms / 1000, ms % 1000 * 1000000 };

	while (nanosleep(&ts, &ts) < 0 && errno == EINTR)
		;
}

/* Other lanes wait until the urgent one is done. */
static void stand_aside(struct cuzk_instance *inst, const struct lane *lane)
{
	if (!lane || lane == &inst->urgent)
		return;
	pthread_mutex_lock(&inst->lock);
	while (inst->urgent.busy)
		pthread_cond_wait(&inst->changed, &inst->lock);
	pthread_mutex_unlock(&inst->lock);
}

/* Waits with heartbeats of one stage. false: cancelled. */
static bool wait_stage(struct cuzk_instance *inst, const struct lane *lane, uint32_t stage,
		       uint64_t ms)
{
	uint64_t tag = lane ? lane->tag : 0, done = 0;

	inst->host.heartbeat(inst->host.ctx, tag, stage, 0, ms);
	while (done < ms) {
		uint64_t step = ms - done < TICK_MS ? ms - done : TICK_MS;

		sleep_ms(step);
		stand_aside(inst, lane);
		if (lane && __atomic_load_n(&lane->cancelled, __ATOMIC_RELAXED) &&
		    !inst->cfg.ignore_cancel)
			return false;
		done += step;
		inst->host.heartbeat(inst->host.ctx, tag, stage, done, ms);
	}
	return true;
}

static __attribute__((noreturn))
void hang(struct cuzk_instance *inst, const struct lane *lane)
{
	uint64_t tag = lane ? lane->tag : 0;
	uint32_t stage = lane ? inst->cfg.hang_stage : CUZK_STAGE_IDLE;

	inst->host.heartbeat(inst->host.ctx, tag, stage, 1, 2);
	while (inst->cfg.hang_beats) {
		sleep_ms(TICK_MS);
		inst->host.heartbeat(inst->host.ctx, tag, stage, 1, 2);
	}
	null_hang();
}

/* ---- one partition ---- */

static void set_failure(struct cuzk_result *result, int status, uint32_t cls, const char *text)
{
	result->status = status;
	result->cls = cls;
	snprintf(result->text, sizeof(result->text), "null: %s", text);
}

static uint64_t thread_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

/* The stages, as a real engine goes through them. false: cancelled. */
static bool run_stages(struct cuzk_instance *inst, const struct lane *lane,
		       enum null_fault fault, struct cuzk_result *result)
{
	bool own = lane == &inst->urgent && inst->cfg.urgent_delay_ms >= 0;
	uint64_t delay = own ? inst->cfg.urgent_delay_ms : inst->cfg.delay_ms;
	uint64_t share = delay / (CUZK_STAGE_COUNT - 1);
	uint64_t rest = delay - share * (CUZK_STAGE_COUNT - 2);
	uint32_t stage;

	for (stage = CUZK_STAGE_PARAMS; stage < CUZK_STAGE_COUNT; stage++) {
		uint64_t begin = thread_ns();

		if (fault == NULL_FAULT_HANG && stage == inst->cfg.hang_stage)
			hang(inst, lane);
		if (delay &&
		    !wait_stage(inst, lane, stage, stage == CUZK_STAGE_VERIFY ? rest : share))
			return false;
		result->stage_ns[stage] = thread_ns() - begin;
	}
	if (fault == NULL_FAULT_HANG)
		hang(inst, lane);
	return true;
}

static void make_result(struct cuzk_instance *inst, const struct lane *lane,
			enum null_fault fault, struct cuzk_result *result)
{
	if (!run_stages(inst, lane, fault, result)) {
		set_failure(result, -ECANCELED, CUZK_ERROR_CANCELLED, "cancelled");
		return;
	}
	null_proof(lane->task->digest, lane->partition, result->proof);
	result->host_peak = inst->cfg.reserve;
	switch (fault) {
	case NULL_FAULT_CRASH:
		null_crash();
	case NULL_FAULT_EXIT:
		_exit(0);
	case NULL_FAULT_FAIL:
		set_failure(result, -EIO, inst->cfg.fail_class, "failed as told");
		break;
	case NULL_FAULT_OOM:
		set_failure(result, -ENOMEM, CUZK_ERROR_RESOURCE, "out of memory as told");
		break;
	case NULL_FAULT_STICKY:
		set_failure(result, -EIO, CUZK_ERROR_DEVICE, "device lost as told");
		result->sticky = 1;
		break;
	case NULL_FAULT_INVALID:
		set_failure(result, -EBADMSG, CUZK_ERROR_DEVICE, "proof does not verify, as told");
		result->invalid = 1;
		break;
	case NULL_FAULT_WRONG:
		result->proof[0] ^= 1;
		break;
	default:
		break;
	}
}

static void prove_lane(struct cuzk_instance *inst, struct lane *lane)
{
	struct cuzk_result result = { .size = sizeof(result) };
	enum null_fault fault = null_choose_fault(&inst->cfg, lane->number, lane->task->sector);
	uint64_t bytes = inst->cfg.reserve, tag = lane->tag;

	if (bytes && inst->host.reserve(inst->host.ctx, "null partition", bytes) < 0) {
		bytes = 0;
		set_failure(&result, -ENOMEM, CUZK_ERROR_RESOURCE, "no host memory");
	} else {
		make_result(inst, lane, fault, &result);
	}
	if (bytes)
		inst->host.release(inst->host.ctx, "null partition", bytes);
	/* the lane is free before the host hears of it and sends the next */
	pthread_mutex_lock(&inst->lock);
	lane->busy = false;
	lane->task = NULL;
	pthread_cond_broadcast(&inst->changed);
	pthread_mutex_unlock(&inst->lock);
	inst->host.complete(inst->host.ctx, tag, &result);
	if (fault == NULL_FAULT_TWICE)
		inst->host.complete(inst->host.ctx, tag, &result);
}

static void *lane_main(void *arg)
{
	struct lane *lane = arg;
	struct cuzk_instance *inst = lane->inst;

	pthread_mutex_lock(&inst->lock);
	for (;;) {
		while (!lane->busy && !inst->ending)
			pthread_cond_wait(&inst->changed, &inst->lock);
		if (!lane->busy)
			break;
		pthread_mutex_unlock(&inst->lock);
		prove_lane(inst, lane);
		pthread_mutex_lock(&inst->lock);
	}
	pthread_mutex_unlock(&inst->lock);
	return NULL;
}

/* ---- operations ---- */

static void null_remove(struct cuzk_instance *inst)
{
	unsigned int i;

	if (!inst)
		return;
	pthread_mutex_lock(&inst->lock);
	inst->ending = true;
	pthread_cond_broadcast(&inst->changed);
	pthread_mutex_unlock(&inst->lock);
	for (i = 0; i < inst->n_lanes; i++)
		pthread_join(inst->lanes[i].thread, NULL);
	pthread_cond_destroy(&inst->changed);
	pthread_mutex_destroy(&inst->lock);
	free(inst);
}

static int start_lanes(struct cuzk_instance *inst)
{
	while (inst->n_lanes < (unsigned int)inst->cfg.lanes) {
		struct lane *lane = &inst->lanes[inst->n_lanes];

		lane->inst = inst;
		if (pthread_create(&lane->thread, NULL, lane_main, lane))
			return -EAGAIN;
		inst->n_lanes++;
	}
	return 0;
}

static int null_probe(const struct cuzk_host *host, const struct cuzk_device *device,
		      const struct cuzk_option *options, struct cuzk_instance **out,
		      struct cuzk_error *err)
{
	struct cuzk_instance *inst = calloc(1, sizeof(*inst));
	char line[160];
	uint32_t kind;
	int r;

	if (!inst)
		return fail(err, -ENOMEM, CUZK_ERROR_RESOURCE, "no memory");
	inst->host = *host;
	pthread_mutex_init(&inst->lock, NULL);
	pthread_cond_init(&inst->changed, NULL);
	r = null_config_init(&inst->cfg, options, err);
	if (r < 0)
		goto err_remove;
	wait_stage(inst, NULL, CUZK_STAGE_PARAMS, inst->cfg.probe_delay_ms);
	if (inst->cfg.hang_probe)
		hang(inst, NULL);
	if (inst->cfg.abort_probe)
		null_crash();
	if (inst->cfg.fail_probe) {
		r = fail(err, -ENODEV, CUZK_ERROR_DEVICE, "no device, as told");
		goto err_remove;
	}
	for (kind = 1; kind < CUZK_KIND_COUNT; kind++) {
		if (inst->cfg.absent >> kind & 1)
			inst->state[kind] = CUZK_PARAMS_ABSENT;
		else if (inst->cfg.bad >> kind & 1)
			inst->state[kind] = CUZK_PARAMS_BAD;
		else
			inst->state[kind] = CUZK_PARAMS_COLD;
	}
	r = start_lanes(inst);
	if (r < 0) {
		fail(err, r, CUZK_ERROR_RESOURCE, "no threads");
		goto err_remove;
	}
	snprintf(line, sizeof(line), "null engine on %s%s%s, %u lanes", device->backend,
		 device->id ? " " : "", device->id ? device->id : "", inst->n_lanes);
	host->log(host->ctx, 7, line);
	*out = inst;
	return 0;

err_remove:
	null_remove(inst);
	return r;
}

/* Partition 1 of a fixed request; the answer comes from a SHA-256 that is not ours. */
static int null_self_test(struct cuzk_instance *inst, struct cuzk_error *err)
{
	static const uint8_t known[8] = { 0x3c, 0xab, 0x41, 0x18, 0x58, 0x22, 0xf9, 0xe0 };
	struct cuzk_request rq = {
		.size = sizeof(rq), .kind = CUZK_KIND_POREP, .miner_id = 1000,
		.vanilla_proof = { "known answer", 12 },
	};
	uint8_t digest[32], proof[CUZK_PARTITION_PROOF_SIZE];

	if (inst->cfg.hang_self_test)
		hang(inst, NULL);
	null_digest(&rq, digest);
	null_proof(digest, 1, proof);
	if (inst->cfg.fail_self_test)
		proof[0] ^= 1;
	if (memcmp(proof, known, sizeof(known)))
		return fail(err, -EBADMSG, CUZK_ERROR_DEVICE, "the known answer is wrong");
	return 0;
}

static int null_circuits(struct cuzk_instance *inst, struct cuzk_circuit *out, int max)
{
	uint32_t kind;
	int n = 0;

	pthread_mutex_lock(&inst->lock);
	for (kind = 1; kind < CUZK_KIND_COUNT; kind++, n++) {
		struct cuzk_circuit c = { .size = sizeof(c), .kind = kind };

		if (n >= max)
			continue;
		snprintf(c.id, sizeof(c.id), "%s", null_circuit_id(kind));
		c.state = inst->state[kind];
		c.users = inst->users[kind];
		if (c.state == CUZK_PARAMS_ABSENT)
			snprintf(c.reason, sizeof(c.reason), "absent, as told");
		else if (c.state == CUZK_PARAMS_BAD)
			snprintf(c.reason, sizeof(c.reason), "damaged, as told");
		if (c.state != CUZK_PARAMS_ABSENT)
			c.params_bytes = inst->cfg.params_bytes;
		out[n] = c;
	}
	pthread_mutex_unlock(&inst->lock);
	return n;
}

static bool is_wanted(int64_t sector, const struct cuzk_request *rq)
{
	return sector >= 0 && (uint64_t)sector == rq->sector_number;
}

static int check_request(struct cuzk_instance *inst, const struct cuzk_request *rq,
			 struct cuzk_error *err)
{
	bool usable, oom;

	if (!rq->kind || rq->kind >= CUZK_KIND_COUNT)
		return fail(err, -EINVAL, CUZK_ERROR_INPUT, "unknown kind of proof");
	if (rq->kind == CUZK_KIND_POREP ? !rq->vanilla_proof.len : !rq->n_vanilla_proofs)
		return fail(err, -EINVAL, CUZK_ERROR_INPUT, "no vanilla proof");
	if (is_wanted(inst->cfg.refuse_sector, rq))
		return fail(err, -EINVAL, CUZK_ERROR_INPUT, "refused as told");
	pthread_mutex_lock(&inst->lock);
	usable = inst->state[rq->kind] >= CUZK_PARAMS_COLD;
	oom = usable && inst->n_oom < inst->cfg.oom_admit;
	inst->n_oom += oom;
	pthread_mutex_unlock(&inst->lock);
	if (!usable)
		return fail(err, -ENOENT, CUZK_ERROR_PARAMS, "no parameters for this kind");
	if (oom)
		return fail(err, -ENOMEM, CUZK_ERROR_RESOURCE, "no memory as told");
	return 0;
}

static int null_admit(struct cuzk_instance *inst, const struct cuzk_request *rq,
		      struct cuzk_task **out, struct cuzk_plan *plan, struct cuzk_error *err)
{
	struct cuzk_task *task;
	int r;

	if (is_wanted(inst->cfg.hang_admit_sector, rq))
		null_hang();
	if (is_wanted(inst->cfg.crash_admit_sector, rq))
		null_crash();
	sleep_ms(inst->cfg.admit_delay_ms);
	r = check_request(inst, rq, err);
	if (r < 0)
		return r;
	task = calloc(1, sizeof(*task));
	if (!task)
		return fail(err, -ENOMEM, CUZK_ERROR_RESOURCE, "no memory");
	null_digest(rq, task->digest);
	task->sector = rq->sector_number;
	task->n_partitions = inst->cfg.partitions[rq->kind];
	plan->n_partitions = task->n_partitions;
	plan->host_bytes = inst->cfg.reserve;
	snprintf(plan->circuit, sizeof(plan->circuit), "%s", null_circuit_id(rq->kind));
	*out = task;
	return 0;
}

static void null_task_free(struct cuzk_task *task)
{
	free(task);
}

/* Under lock. */
static void occupy(struct cuzk_instance *inst, struct lane *lane, struct cuzk_task *task,
		   uint32_t partition, uint64_t tag)
{
	lane->busy = true;
	__atomic_store_n(&lane->cancelled, false, __ATOMIC_RELAXED);
	lane->task = task;
	lane->partition = partition;
	lane->tag = tag;
	lane->number = ++inst->number;
	pthread_cond_broadcast(&inst->changed);
}

static int null_prove(struct cuzk_instance *inst, struct cuzk_task *task, uint32_t partition,
		      uint64_t tag, struct cuzk_error *err)
{
	unsigned int i;
	int r = -EAGAIN;

	if (partition >= task->n_partitions)
		return fail(err, -EINVAL, CUZK_ERROR_INTERNAL, "no such partition");
	pthread_mutex_lock(&inst->lock);
	for (i = 0; i < inst->n_lanes; i++) {
		struct lane *lane = &inst->lanes[i];

		if (lane->busy)
			continue;
		occupy(inst, lane, task, partition, tag);
		r = 0;
		break;
	}
	pthread_mutex_unlock(&inst->lock);
	return r;
}

static int null_prove_urgent(struct cuzk_instance *inst, struct cuzk_task *task,
			     uint32_t partition, uint64_t tag, struct cuzk_error *err)
{
	if (partition >= task->n_partitions)
		return fail(err, -EINVAL, CUZK_ERROR_INTERNAL, "no such partition");
	if (inst->cfg.refuse_urgent)
		return fail(err, -EAGAIN, CUZK_ERROR_RESOURCE, "not beside others, as told");
	pthread_mutex_lock(&inst->lock);
	occupy(inst, &inst->urgent, task, partition, tag);
	pthread_mutex_unlock(&inst->lock);
	prove_lane(inst, &inst->urgent);
	return 0;
}

static void null_cancel(struct cuzk_instance *inst, uint64_t tag)
{
	unsigned int i;

	pthread_mutex_lock(&inst->lock);
	for (i = 0; i < inst->n_lanes; i++) {
		if (inst->lanes[i].busy && inst->lanes[i].tag == tag)
			__atomic_store_n(&inst->lanes[i].cancelled, true, __ATOMIC_RELAXED);
	}
	if (inst->urgent.busy && inst->urgent.tag == tag)
		__atomic_store_n(&inst->urgent.cancelled, true, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&inst->lock);
}

static int find_circuit(const char *circuit, uint32_t *kind, struct cuzk_error *err)
{
	for (*kind = 1; *kind < CUZK_KIND_COUNT; ++*kind) {
		if (!strcmp(null_circuit_id(*kind), circuit))
			return 0;
	}
	return fail(err, -ENOENT, CUZK_ERROR_INPUT, "no such circuit");
}

/* Moves a circuit to a state; tells whether it was hot. */
static int set_circuit(struct cuzk_instance *inst, const char *circuit, uint32_t state, bool *was,
		       uint64_t *bytes, struct cuzk_error *err)
{
	uint32_t kind;
	int r;

	r = find_circuit(circuit, &kind, err);
	if (r < 0)
		return r;
	pthread_mutex_lock(&inst->lock);
	if (inst->state[kind] < CUZK_PARAMS_COLD) {
		r = fail(err, -ENOENT, CUZK_ERROR_PARAMS, "its parameters are not usable");
	} else {
		*was = inst->state[kind] == CUZK_PARAMS_HOT;
		*bytes = *was || state == CUZK_PARAMS_HOT ? inst->cfg.params_bytes : 0;
		inst->state[kind] = state;
	}
	pthread_mutex_unlock(&inst->lock);
	return r;
}

static int null_preload(struct cuzk_instance *inst, const char *circuit, bool *was,
			uint64_t *bytes, struct cuzk_error *err)
{
	wait_stage(inst, NULL, CUZK_STAGE_PARAMS, inst->cfg.preload_delay_ms);
	return set_circuit(inst, circuit, CUZK_PARAMS_HOT, was, bytes, err);
}

static int null_evict(struct cuzk_instance *inst, const char *circuit, bool *was,
		      uint64_t *bytes, struct cuzk_error *err)
{
	return set_circuit(inst, circuit, CUZK_PARAMS_COLD, was, bytes, err);
}

static const struct cuzk_engine_ops null_ops = {
	.size = sizeof(null_ops),
	.abi_major = CUZK_ENGINE_ABI_MAJOR,
	.abi_minor = CUZK_ENGINE_ABI_MINOR,
	.caps = CUZK_CAP_CPU | CUZK_CAP_GPU | CUZK_CAP_PRELOAD | CUZK_CAP_CANCEL |
		CUZK_CAP_OVERLAP | CUZK_CAP_URGENT,
	.name = "null",
	.version = NULL_VERSION,
	.params = null_params,
	.probe = null_probe,
	.remove = null_remove,
	.self_test = null_self_test,
	.circuits = null_circuits,
	.admit = null_admit,
	.task_free = null_task_free,
	.prove = null_prove,
	.cancel = null_cancel,
	.preload = null_preload,
	.evict = null_evict,
	.prove_urgent = null_prove_urgent,
};

__attribute__((visibility("default")))
int cuzk_engine_entry(const struct cuzk_host *host, const struct cuzk_engine_ops **ops);

int cuzk_engine_entry(const struct cuzk_host *host, const struct cuzk_engine_ops **ops)
{
	if (host->abi_major != CUZK_ENGINE_ABI_MAJOR)
		return -EPROTO;
	*ops = &null_ops;
	return 0;
}
