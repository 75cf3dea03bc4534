/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * foreign.c - engines that were never written for cuzk_engine.h, through libffi
 *
 * Threads: open, self_test, prove, verify and close are called from the owner
 * thread; check from the admission thread and cancel from a third, both perhaps
 * while prove runs.  foreign_calls is written before the first of them.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>

#include "plugin/config.h"
#include "plugin/foreign.h"

#define ERROR_ROOM 512

struct foreign_call foreign_calls[OP_COUNT];

struct cuzk_task {
	const struct cuzk_request *request;
	const void **proofs;	/* vanilla_proofs as two arrays */
	size_t *sizes;
	uint8_t prover_id[32];
	uint32_t n_partitions;
};

struct cuzk_instance {
	struct cuzk_host host;
	void *ctx;
	bool opened;
	uint32_t threads;
	unsigned int kinds;
	uint32_t partitions[CUZK_KIND_COUNT];
	uint64_t host_bytes, device_bytes;
	pthread_mutex_t lock;
	uint64_t tag;		/* lock: being proved; 0: none */
	uint32_t partition;	/* lock */
};

#define PROTOTYPE(n, h)								\
	{ .name = n, .type = CUZK_PARAM_STRING, .help = h },			\
	{ .name = n "_2", .type = CUZK_PARAM_STRING, .help = "more of " n },	\
	{ .name = n "_3", .type = CUZK_PARAM_STRING, .help = "more of " n }
#define PARTITIONS(kind, d)							\
	{ .name = "partitions_" kind, .type = CUZK_PARAM_INT, .min = 1, .max = 1000,	\
	  .def = d, .help = "partitions of one " kind }

static const struct cuzk_param foreign_params[] = {
	PROTOTYPE("open", "prototype of what opens a device"),
	PROTOTYPE("close", "prototype of what closes it"),
	PROTOTYPE("self_test", "prototype of what proves a known answer"),
	PROTOTYPE("check", "prototype of what checks a request before it is proved"),
	PROTOTYPE("prove", "prototype of what proves one partition"),
	PROTOTYPE("verify", "prototype of what verifies the proof of one partition"),
	PROTOTYPE("cancel", "prototype of what ends a partition early"),
	PROTOTYPE("last_error", "prototype of what says why something failed"),
	{ .name = "unverified", .type = CUZK_PARAM_BOOL, .def = "no",
	  .help = "let proofs go out that nothing has verified" },
	{ .name = "serves", .type = CUZK_PARAM_STRING,
	  .def = "porep update window-post winning-post", .help = "kinds of proof it knows" },
	PARTITIONS("porep", "10"),
	PARTITIONS("update", "16"),
	PARTITIONS("window_post", "1"),
	PARTITIONS("winning_post", "1"),
	{ .name = "host_bytes", .type = CUZK_PARAM_SIZE, .max = 1ll << 46, .def = "0",
	  .help = "host memory that a partition takes" },
	{ .name = "device_bytes", .type = CUZK_PARAM_SIZE, .max = 1ll << 46, .def = "0",
	  .help = "device memory that a partition takes" },
	{ .name = NULL }
};

/* ---- calls ---- */

/* Why the last call failed, in the foreign engine's words where it has some. */
static void foreign_reason(const struct cuzk_instance *inst, enum proto_op op, const char *room,
			   const struct foreign_result *result, char *text, size_t size)
{
	struct foreign_call *last = &foreign_calls[OP_LAST_ERROR];
	union foreign_value values[ROLE_COUNT] = { 0 };
	struct foreign_result said = { 0 };
	const char *words = room;

	if (!*words && last->set && inst) {
		values[ROLE_CTX].p = inst->ctx;
		foreign_call_run(last, values, &said);
		if (said.pointer)
			words = said.pointer;
	}
	if (*words)
		snprintf(text, size, "foreign %s: %.*s", foreign_calls[op].proto.symbol,
			 ERROR_ROOM, words);
	else
		snprintf(text, size, "foreign %s: returned %lld", foreign_calls[op].proto.symbol,
			 (long long)result->status);
}

/* Runs an operation that gives a status; text on failure. */
static bool run(const struct cuzk_instance *inst, enum proto_op op,
		union foreign_value values[ROLE_COUNT], struct foreign_result *result,
		char *text, size_t size)
{
	char room[ERROR_ROOM] = "";

	values[ROLE_ERROR].p = room;
	values[ROLE_ERROR_SIZE].n = sizeof(room);
	foreign_call_run(&foreign_calls[op], values, result);
	room[sizeof(room) - 1] = '\0';
	if (!result->good)
		foreign_reason(inst, op, room, result, text, size);
	return result->good;
}

static const void *blob_or_null(const struct cuzk_blob *blob)
{
	return blob->len ? blob->data : NULL;
}

static void fill_request(const struct cuzk_instance *inst, const struct cuzk_task *task,
			 uint32_t partition, union foreign_value v[ROLE_COUNT])
{
	const struct cuzk_request *rq = task->request;

	memset(v, 0, ROLE_COUNT * sizeof(*v));
	v[ROLE_CTX].p = inst->ctx;
	v[ROLE_THREADS].n = inst->threads;
	v[ROLE_KIND].n = rq->kind;
	v[ROLE_REGISTERED_PROOF].n = rq->registered_proof;
	v[ROLE_SECTOR_SIZE].n = rq->sector_size;
	v[ROLE_SECTOR_NUMBER].n = rq->sector_number;
	v[ROLE_MINER_ID].n = rq->miner_id;
	v[ROLE_PROVER_ID].p = task->prover_id;
	v[ROLE_PARTITION_INDEX].n = rq->partition_index;
	v[ROLE_PARTITION].n = partition;
	v[ROLE_VANILLA_PROOF].p = blob_or_null(&rq->vanilla_proof);
	v[ROLE_VANILLA_PROOF_SIZE].n = rq->vanilla_proof.len;
	v[ROLE_VANILLA_PROOFS].p = task->proofs;
	v[ROLE_VANILLA_PROOF_SIZES].p = task->sizes;
	v[ROLE_N_VANILLA_PROOFS].n = rq->n_vanilla_proofs;
	v[ROLE_RANDOMNESS].p = blob_or_null(&rq->randomness);
	v[ROLE_COMM_R_OLD].p = blob_or_null(&rq->comm_r_old);
	v[ROLE_COMM_R_NEW].p = blob_or_null(&rq->comm_r_new);
	v[ROLE_COMM_D_NEW].p = blob_or_null(&rq->comm_d_new);
}

/* ---- settings ---- */

static const char *setting(const struct cuzk_option *options, const char *name)
{
	for (; options->name; options++) {
		if (!strcmp(options->name, name))
			return options->value;
	}
	return "";
}

static uint64_t number_setting(const struct cuzk_option *options, const char *name)
{
	uint64_t v = 0;

	config_size(setting(options, name), &v);	/* checked at load */
	return v;
}

static int kinds_setting(const char *text, unsigned int *set)
{
	unsigned int kind;

	for (text += strspn(text, " ,"); *text; text += strspn(text, " ,")) {
		size_t len = strcspn(text, " ,");

		for (kind = 1; kind < CUZK_KIND_COUNT; kind++) {
			if (strlen(config_kind_name(kind)) == len &&
			    !strncmp(config_kind_name(kind), text, len))
				break;
		}
		if (kind == CUZK_KIND_COUNT)
			return -EINVAL;
		*set |= CONFIG_KIND(kind);
		text += len;
	}
	return *set ? 0 : -EINVAL;
}

/* ---- operations ---- */

static void foreign_remove(struct cuzk_instance *inst)
{
	union foreign_value values[ROLE_COUNT] = { 0 };
	struct foreign_result result;

	if (!inst)
		return;
	values[ROLE_CTX].p = inst->ctx;
	if (inst->opened && foreign_calls[OP_CLOSE].set)
		foreign_call_run(&foreign_calls[OP_CLOSE], values, &result);
	pthread_mutex_destroy(&inst->lock);
	free(inst);
}

static int open_device(struct cuzk_instance *inst, const struct cuzk_device *device,
		       struct cuzk_error *err)
{
	struct foreign_call *call = &foreign_calls[OP_OPEN];
	union foreign_value values[ROLE_COUNT] = { 0 };
	struct foreign_result result;

	inst->opened = true;
	if (!call->set)
		return 0;
	values[ROLE_CTX_OUT].p = &inst->ctx;
	values[ROLE_DEVICE].p = device->id;
	values[ROLE_THREADS].n = device->threads;
	values[ROLE_VRAM_BUDGET].n = device->vram_budget;
	values[ROLE_HOST_BUDGET].n = device->host_budget;
	if (!run(NULL, OP_OPEN, values, &result, err->text, sizeof(err->text))) {
		inst->opened = false;
		err->cls = CUZK_ERROR_DEVICE;
		return -ENODEV;
	}
	if (call->proto.result.stars)
		inst->ctx = result.pointer;
	return 0;
}

static int foreign_probe(const struct cuzk_host *host, const struct cuzk_device *device,
			 const struct cuzk_option *options, struct cuzk_instance **out,
			 struct cuzk_error *err)
{
	struct cuzk_instance *inst = calloc(1, sizeof(*inst));
	int r;

	if (!inst) {
		err->cls = CUZK_ERROR_RESOURCE;
		return -ENOMEM;
	}
	inst->host = *host;
	inst->threads = device->threads;
	pthread_mutex_init(&inst->lock, NULL);
	inst->partitions[CUZK_KIND_POREP] = number_setting(options, "partitions_porep");
	inst->partitions[CUZK_KIND_UPDATE] = number_setting(options, "partitions_update");
	inst->partitions[CUZK_KIND_WINDOW_POST] =
		number_setting(options, "partitions_window_post");
	inst->partitions[CUZK_KIND_WINNING_POST] =
		number_setting(options, "partitions_winning_post");
	inst->host_bytes = number_setting(options, "host_bytes");
	inst->device_bytes = number_setting(options, "device_bytes");
	r = kinds_setting(setting(options, "serves"), &inst->kinds);
	if (r < 0) {
		err->cls = CUZK_ERROR_INPUT;
		snprintf(err->text, sizeof(err->text), "serves: '%s' is not a list of porep, "
			 "update, window-post and winning-post", setting(options, "serves"));
	} else {
		r = open_device(inst, device, err);
	}
	if (r < 0)
		foreign_remove(inst);
	else
		*out = inst;
	return r;
}

static int foreign_self_test(struct cuzk_instance *inst, struct cuzk_error *err)
{
	union foreign_value values[ROLE_COUNT] = { 0 };
	struct foreign_result result;

	if (!foreign_calls[OP_SELF_TEST].set) {
		inst->host.log(inst->host.ctx, LOG_WARNING, "foreign engine without a self-test");
		return 0;
	}
	values[ROLE_CTX].p = inst->ctx;
	if (run(inst, OP_SELF_TEST, values, &result, err->text, sizeof(err->text)))
		return 0;
	err->cls = CUZK_ERROR_DEVICE;
	return -EBADMSG;
}

static int foreign_circuits(struct cuzk_instance *inst, struct cuzk_circuit *out, int max)
{
	uint32_t kind;
	int n = 0;

	for (kind = 1; kind < CUZK_KIND_COUNT; kind++, n++) {
		struct cuzk_circuit c = { .size = sizeof(c), .kind = kind };

		if (n >= max)
			continue;
		snprintf(c.id, sizeof(c.id), "foreign-%s", config_kind_name(kind));
		c.state = inst->kinds & CONFIG_KIND(kind) ? CUZK_PARAMS_WARM : CUZK_PARAMS_ABSENT;
		if (c.state == CUZK_PARAMS_ABSENT)
			snprintf(c.reason, sizeof(c.reason), "not served (serves = ...)");
		out[n] = c;
	}
	return n;
}

static void foreign_task_free(struct cuzk_task *task)
{
	if (!task)
		return;
	free(task->proofs);
	free(task->sizes);
	free(task);
}

static int make_task(const struct cuzk_request *rq, struct cuzk_task **out)
{
	struct cuzk_task *task = calloc(1, sizeof(*task));
	uint64_t i, id = rq->miner_id;

	if (!task)
		return -ENOMEM;
	task->request = rq;
	task->proofs = calloc(rq->n_vanilla_proofs + 1, sizeof(*task->proofs));
	task->sizes = calloc(rq->n_vanilla_proofs + 1, sizeof(*task->sizes));
	if (!task->proofs || !task->sizes) {
		foreign_task_free(task);
		return -ENOMEM;
	}
	for (i = 0; i < rq->n_vanilla_proofs; i++) {
		task->proofs[i] = rq->vanilla_proofs[i].data;
		task->sizes[i] = rq->vanilla_proofs[i].len;
	}
	/* the protocol's prover id: unsigned LEB128, left aligned */
	for (i = 0; i < 10; i++) {
		task->prover_id[i] = (id & 0x7f) | (id > 0x7f ? 0x80 : 0);
		id >>= 7;
		if (!id)
			break;
	}
	*out = task;
	return 0;
}

static bool is_digest(const struct cuzk_blob *blob)
{
	return !blob->len || blob->len == 32;
}

static int check_request(struct cuzk_instance *inst, const struct cuzk_request *rq,
			 struct cuzk_error *err)
{
	const char *text = NULL;

	if (!rq->kind || rq->kind >= CUZK_KIND_COUNT)
		text = "unknown kind of proof";
	else if (rq->kind == CUZK_KIND_POREP ? !rq->vanilla_proof.len : !rq->n_vanilla_proofs)
		text = "no vanilla proof";
	else if (!is_digest(&rq->randomness) || !is_digest(&rq->comm_r_old) ||
		 !is_digest(&rq->comm_r_new) || !is_digest(&rq->comm_d_new))
		text = "randomness and commitments have 32 bytes";
	if (text) {
		err->cls = CUZK_ERROR_INPUT;
		snprintf(err->text, sizeof(err->text), "request: %s", text);
		return -EINVAL;
	}
	if (!(inst->kinds & CONFIG_KIND(rq->kind))) {
		err->cls = CUZK_ERROR_PARAMS;
		snprintf(err->text, sizeof(err->text), "the foreign engine does not serve %s",
			 config_kind_name(rq->kind));
		return -ENOENT;
	}
	return 0;
}

static int foreign_admit(struct cuzk_instance *inst, const struct cuzk_request *rq,
			 struct cuzk_task **out, struct cuzk_plan *plan, struct cuzk_error *err)
{
	union foreign_value values[ROLE_COUNT];
	struct foreign_result result;
	struct cuzk_task *task;
	int r;

	r = check_request(inst, rq, err);
	if (r < 0)
		return r;
	r = make_task(rq, &task);
	if (r < 0) {
		err->cls = CUZK_ERROR_RESOURCE;
		return r;
	}
	task->n_partitions = inst->partitions[rq->kind];
	if (foreign_calls[OP_CHECK].set) {
		fill_request(inst, task, 0, values);
		if (!run(inst, OP_CHECK, values, &result, err->text, sizeof(err->text))) {
			err->cls = CUZK_ERROR_INPUT;
			foreign_task_free(task);
			return -EINVAL;
		}
	}
	plan->n_partitions = task->n_partitions;
	plan->host_bytes = inst->host_bytes;
	plan->device_bytes = inst->device_bytes;
	snprintf(plan->circuit, sizeof(plan->circuit), "foreign-%s", config_kind_name(rq->kind));
	*out = task;
	return 0;
}

static void verify(struct cuzk_instance *inst, struct cuzk_task *task, uint32_t partition,
		   struct cuzk_result *result)
{
	union foreign_value values[ROLE_COUNT];
	struct foreign_result verdict;

	if (!foreign_calls[OP_VERIFY].set)
		return;
	fill_request(inst, task, partition, values);
	values[ROLE_PROOF].p = result->proof;
	values[ROLE_PROOF_SIZE].n = sizeof(result->proof);
	if (run(inst, OP_VERIFY, values, &verdict, result->text, sizeof(result->text)))
		return;
	result->status = -EBADMSG;
	result->cls = CUZK_ERROR_DEVICE;
	result->invalid = 1;
	snprintf(result->text, sizeof(result->text), "foreign %s: the proof does not verify",
		 foreign_calls[OP_VERIFY].proto.symbol);
}

static void prove_reserved(struct cuzk_instance *inst, struct cuzk_task *task,
			   uint32_t partition, uint64_t tag, struct cuzk_result *result)
{
	union foreign_value values[ROLE_COUNT];
	size_t size = sizeof(result->proof);
	struct foreign_result done;

	fill_request(inst, task, partition, values);
	values[ROLE_PROOF_OUT].p = result->proof;
	values[ROLE_PROOF_SIZE].n = size;
	values[ROLE_PROOF_SIZE_OUT].p = &size;
	inst->host.heartbeat(inst->host.ctx, tag, CUZK_STAGE_IDLE, 0, 0);
	if (!run(inst, OP_PROVE, values, &done, result->text, sizeof(result->text))) {
		result->status = -EIO;
		result->cls = CUZK_ERROR_DEVICE;
	} else if (size != sizeof(result->proof)) {
		result->status = -EPROTO;
		result->cls = CUZK_ERROR_INTERNAL;
		snprintf(result->text, sizeof(result->text), "foreign %s: proof of %zu bytes",
			 foreign_calls[OP_PROVE].proto.symbol, size);
	} else {
		inst->host.heartbeat(inst->host.ctx, tag, CUZK_STAGE_VERIFY, 0, 1);
		verify(inst, task, partition, result);
	}
}

static int foreign_prove(struct cuzk_instance *inst, struct cuzk_task *task, uint32_t partition,
			 uint64_t tag, struct cuzk_error *err)
{
	struct cuzk_result result = { .size = sizeof(result) };
	uint64_t bytes = inst->host_bytes;

	if (partition >= task->n_partitions) {
		err->cls = CUZK_ERROR_INTERNAL;
		return -EINVAL;
	}
	if (bytes && inst->host.reserve(inst->host.ctx, "foreign partition", bytes) < 0) {
		err->cls = CUZK_ERROR_RESOURCE;
		snprintf(err->text, sizeof(err->text), "no host memory for a partition");
		return -ENOMEM;
	}
	pthread_mutex_lock(&inst->lock);
	inst->tag = tag;
	inst->partition = partition;
	pthread_mutex_unlock(&inst->lock);
	prove_reserved(inst, task, partition, tag, &result);
	pthread_mutex_lock(&inst->lock);
	inst->tag = 0;
	pthread_mutex_unlock(&inst->lock);
	if (bytes)
		inst->host.release(inst->host.ctx, "foreign partition", bytes);
	inst->host.complete(inst->host.ctx, tag, &result);
	return 0;
}

static void foreign_cancel(struct cuzk_instance *inst, uint64_t tag)
{
	union foreign_value values[ROLE_COUNT] = { 0 };
	struct foreign_result result;
	bool running;

	pthread_mutex_lock(&inst->lock);
	running = tag && inst->tag == tag;
	values[ROLE_PARTITION].n = inst->partition;
	pthread_mutex_unlock(&inst->lock);
	values[ROLE_CTX].p = inst->ctx;
	if (running)
		foreign_call_run(&foreign_calls[OP_CANCEL], values, &result);
}

const struct cuzk_engine_ops foreign_ops = {
	.size = sizeof(foreign_ops),
	.abi_major = CUZK_ENGINE_ABI_MAJOR,
	.abi_minor = CUZK_ENGINE_ABI_MINOR,
	.caps = CUZK_CAP_CPU | CUZK_CAP_GPU,
	.name = "foreign",
	.version = "1",
	.params = foreign_params,
	.probe = foreign_probe,
	.remove = foreign_remove,
	.self_test = foreign_self_test,
	.circuits = foreign_circuits,
	.admit = foreign_admit,
	.task_free = foreign_task_free,
	.prove = foreign_prove,
	.cancel = foreign_cancel,
};
