/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* urgent.c - proofs that cannot wait for those of the instance */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>

#include "engine/groth16/urgent.h"

/*
 * A 32 GiB WinningPoSt takes 183 MiB of parameters and 60 MiB of witness and
 * vectors; with 0.5 GiB for a sum, half of its windows are made at once.  Of a small
 * device a twentieth must do.
 */
#define SHARE_MAX (1ull << 30)
#define SHARE_OF 20
#define SHARE_MIN (8ull << 20)
#define WORK_MIN (32ull << 20)	/* of the sums, beside vectors as long as the domain */
#define VECTORS 6

static uint64_t share(struct cuzk_instance *inst)
{
	struct gpu_stats stats;
	uint64_t bytes;

	if (inst->options.urgent_memory_set)
		return inst->options.urgent_memory;
	inst->ops->stats(inst->gpu, &stats);
	/* 0: a device that takes the host's, as it comes */
	bytes = stats.device_total ? stats.device_total / SHARE_OF : SHARE_MAX;
	return bytes < SHARE_MAX ? bytes : SHARE_MAX;
}

static void init(struct cuzk_instance *lane, struct cuzk_instance *inst)
{
	lane->parent = inst;
	lane->host = inst->host;
	lane->options = inst->options;
	lane->ops = inst->ops;
	lane->ordinal = inst->ordinal;
	pthread_mutex_init(&lane->gpu_lock, NULL);
	pthread_mutex_init(&lane->keys_lock, NULL);
	pthread_mutex_init(&lane->jobs_lock, NULL);
	pthread_cond_init(&lane->jobs_wake, NULL);
	pthread_cond_init(&lane->kept_changed, NULL);
}

static int open_lane(struct cuzk_instance *lane, const struct cuzk_device *dev, char text[256])
{
	struct gpu_config config = {
		.size = sizeof(config),
		.device = dev->id,
		.threads = dev->threads,
		.host_budget = dev->host_budget,
		.progress = job_gpu_progress,
		.log = instance_gpu_log,
		.cancelled = job_gpu_cancelled,
		.arg = lane,
	};

	return lane->ops->lane_open(lane->parent->gpu, &config, lane->lane_bytes, &lane->gpu, text);
}

int urgent_open(struct cuzk_instance *inst, const struct cuzk_device *dev, struct cuzk_error *err)
{
	struct cuzk_instance *lane;
	uint64_t bytes = share(inst);
	char text[256] = "";
	int ret;

	if (!inst->ops->lane_open || bytes < SHARE_MIN) {
		if (bytes)
			instance_log(inst, LOG_NOTICE, "urgent proofs wait for others: %s",
				     inst->ops->lane_open ? "too little device memory" :
							    "the device has no lanes");
		return 0;
	}
	lane = calloc(1, sizeof(*lane));
	if (!lane)
		return error_nomem(err, "the instance");
	init(lane, inst);
	lane->lane_bytes = bytes;
	inst->urgent = lane;
	ret = tpool_open(&lane->pool, dev->threads);
	if (ret)
		return error_set(err, CUZK_ERROR_RESOURCE, ret, "starting threads: %s",
				 strerror(-ret));
	ret = open_lane(lane, dev, text);
	if (ret == -ENOMEM) {
		instance_log(inst, LOG_NOTICE, "urgent proofs wait for others: %s", text);
		urgent_close(inst);
		return 0;
	}
	if (ret)
		return error_set(err, CUZK_ERROR_DEVICE, ret, "%s: %s", inst->ops->name, text);
	return job_start_tail(lane, err);
}

void urgent_close(struct cuzk_instance *inst)
{
	struct cuzk_instance *lane = inst->urgent;

	if (!lane)
		return;
	kept_verify_stop(lane);
	job_stop_tail(lane);
	if (lane->gpu) {
		key_evict_all(lane);
		inst->ops->close(lane->gpu);
	}
	tpool_close(lane->pool);
	pthread_cond_destroy(&lane->kept_changed);
	pthread_cond_destroy(&lane->jobs_wake);
	pthread_mutex_destroy(&lane->jobs_lock);
	pthread_mutex_destroy(&lane->keys_lock);
	pthread_mutex_destroy(&lane->gpu_lock);
	free(lane);
	inst->urgent = NULL;
}

bool urgent_fits(const struct cuzk_instance *inst, const struct circuit_state *line)
{
	uint64_t work = (VECTORS * sizeof(struct fr) << line->log_domain) + WORK_MIN;

	if (!inst->urgent || (line->circuit.kind != CIRCUIT_WINNING &&
			      line->circuit.kind != CIRCUIT_WINDOW))
		return false;
	return line->params_bytes < inst->urgent->lane_bytes &&
	       work < inst->urgent->lane_bytes - line->params_bytes;
}

struct cuzk_instance *urgent_home(struct cuzk_instance *inst, const struct circuit_state *line)
{
	return line->urgent ? inst->urgent : inst;
}

int urgent_self_test(struct cuzk_instance *inst, struct cuzk_error *err)
{
	int ret = instance_self_test(inst, err);

	return ret || !inst->urgent ? ret : instance_self_test(inst->urgent, err);
}

int urgent_prove(struct cuzk_instance *inst, struct cuzk_task *task, uint32_t partition,
		 uint64_t tag, struct cuzk_error *err)
{
	return job_prove(urgent_home(inst, task->line), task, partition, tag, err);
}

int urgent_prove_now(struct cuzk_instance *inst, struct cuzk_task *task, uint32_t partition,
		     uint64_t tag, struct cuzk_error *err)
{
	if (!task->line->urgent)
		return error_set(err, CUZK_ERROR_RESOURCE, -EAGAIN,
				 "%s is not proved beside others", task->line->circuit.name);
	return job_prove_urgent(inst->urgent, task, partition, tag, err);
}

void urgent_cancel(struct cuzk_instance *inst, uint64_t tag)
{
	job_cancel(inst, tag);
	if (inst->urgent)
		job_cancel(inst->urgent, tag);
}
