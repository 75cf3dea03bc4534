/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * skeleton.c - the manual for authors of engines, as a program
 *
 * It compiles, loads, opens and goes through every motion of an engine, but it
 * cannot prove: prove_partition() says so, therefore its self-test fails, and a
 * service that is told to use it starts, reports why, and never sends it work.
 * Copy it, rename it, and replace what prove_partition() and its neighbours do.
 *
 * Outside this tree the header is <cuzk_engine.h>.
 *
 * Build:  cc -shared -fPIC -fvisibility=hidden -Wl,-z,defs -o my.so my.c -lpthread
 * Look:   cuzkctl modinfo ./my.so
 * Use:    [engine my]
 *         library = /path/to/my.so
 *         [cpu]
 *         engine = my
 * Check:  cuzkd --check
 *
 * Rules in short; the whole contract is in cuzk_engine.h.
 *
 * - One process, one instance.  A crash, a hang or exit() ends this process
 *   and not the service; the partition is given to another.  So there is no
 *   need to survive what cannot be survived: say sticky when the device is gone.
 * - Nothing that does not verify may be passed to complete() with status 0.
 * - Functions return 0 or -errno and fill *err; outputs are written on success only.
 * - Buffers above 1 MiB are reserved before they are allocated.
 * - Whoever works sends heartbeats whose "done" grows.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>

#include "plugin/api/cuzk_engine.h"

/*
 * What `cuzkctl modinfo` shows without running any of this.  A table of
 * parameters for people; the one that the host obeys is params[] below.
 */
CUZK_MODINFO("name", "skeleton");
CUZK_MODINFO("version", "0");
CUZK_MODINFO("licence", "MIT OR Apache-2.0");
CUZK_MODINFO("description", "commented skeleton for authors of engines; cannot prove");
CUZK_MODINFO_ABI();
CUZK_MODINFO("param", "params_dir:path::folder of the parameter files");
CUZK_MODINFO("param", "window:int:16:bits of a multiplication window");

/*
 * Keys that [engine NAME] may have.  The host checks type and range when it
 * loads the engine and says file and line of what is wrong, so probe() sees
 * good values only.  A path parameter called params_dir gets the value of
 * [global] params_dir when the section does not set it.
 */
static const struct cuzk_param params[] = {
	{ .name = "params_dir", .type = CUZK_PARAM_PATH, .help = "folder of the parameter files" },
	{ .name = "window", .type = CUZK_PARAM_INT, .min = 4, .max = 24, .def = "16",
	  .help = "bits of a multiplication window" },
	{ .name = NULL }
};

/* One open device.  The host never looks inside. */
struct cuzk_instance {
	struct cuzk_host host;		/* a copy: min(size) of what was passed */
	int window;
	char *params_dir;		/* NULL: not configured */

	/* One thread does the work, so that prove() can return at once. */
	pthread_t worker;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool ending;			/* lock */
	bool busy;			/* lock: the fields below belong to the worker */
	bool cancelled;			/* lock */
	struct cuzk_task *task;
	uint32_t partition;
	uint64_t tag;
};

/* One admitted request. */
struct cuzk_task {
	/*
	 * The request's memory is the host's and stays valid until task_free(), so
	 * there is no need to copy the big blobs.
	 */
	const struct cuzk_request *request;
	uint32_t n_partitions;
};

/* Messages: component, what, where, what to do; one line without newline. */
static int fail(struct cuzk_error *err, int status, enum cuzk_error_class cls, const char *text)
{
	err->cls = cls;
	snprintf(err->text, sizeof(err->text), "skeleton: %s", text);
	return status;
}

/* ---- proving ---- */

/*
 * Here a real engine works: witness, evaluation, transforms, multiplications,
 * assembly, and the verification of what came out.  It sends a heartbeat at
 * the start of each stage and about every second within it, looks now and then
 * whether it is cancelled, and reserves memory by name:
 *
 *	if (inst->host.reserve(inst->host.ctx, "witness", bytes) < 0)
 *		return ... CUZK_ERROR_RESOURCE: the host tries again later
 *	...
 *	inst->host.release(inst->host.ctx, "witness", bytes);
 */
static int prove_partition(struct cuzk_instance *inst, const struct cuzk_task *task,
			   uint32_t partition, uint64_t tag,
			   uint8_t proof[CUZK_PARTITION_PROOF_SIZE], struct cuzk_error *err)
{
	inst->host.heartbeat(inst->host.ctx, tag, CUZK_STAGE_WITNESS, 0, 1);
	return fail(err, -ENOSYS, CUZK_ERROR_INTERNAL, "this is the skeleton, it cannot prove");
}

/*
 * The end of a partition.  Exactly one complete() for each prove() that
 * returned 0.  Say which class of failure it is, because that decides what
 * becomes of the job:
 *   CUZK_ERROR_INPUT     the request is wrong: it fails, for good
 *   CUZK_ERROR_PARAMS    parameter files: the kind is disabled until repaired
 *   CUZK_ERROR_DEVICE    retried here once, then elsewhere
 *   CUZK_ERROR_RESOURCE  retried later
 *   CUZK_ERROR_INTERNAL  a bug: retried elsewhere, reported loudly
 * invalid = 1: a proof was made and did not verify.  The host counts these.
 * sticky = 1: nothing will work in this process any more; the host ends it.
 */
static void finish(struct cuzk_instance *inst, int status, const struct cuzk_error *err,
		   const uint8_t proof[CUZK_PARTITION_PROOF_SIZE], uint64_t tag)
{
	struct cuzk_result result = { .size = sizeof(result), .status = status };

	if (status) {
		result.cls = err->cls;
		memcpy(result.text, err->text, sizeof(result.text));
	} else {
		memcpy(result.proof, proof, sizeof(result.proof));
	}
	inst->host.complete(inst->host.ctx, tag, &result);
}

static void *worker_main(void *arg)
{
	struct cuzk_instance *inst = arg;

	pthread_mutex_lock(&inst->lock);
	while (!inst->ending) {
		uint8_t proof[CUZK_PARTITION_PROOF_SIZE] = { 0 };
		struct cuzk_error err = { .size = sizeof(err) };
		bool cancelled = inst->cancelled;
		uint64_t tag = inst->tag;
		int status;

		if (!inst->busy) {
			pthread_cond_wait(&inst->changed, &inst->lock);
			continue;
		}
		pthread_mutex_unlock(&inst->lock);
		if (cancelled)
			status = fail(&err, -ECANCELED, CUZK_ERROR_CANCELLED, "cancelled");
		else
			status = prove_partition(inst, inst->task, inst->partition, tag, proof,
						 &err);
		/*
		 * Be free before saying so: the host may call prove() again out of
		 * complete().  Hold no lock there for the same reason.
		 */
		pthread_mutex_lock(&inst->lock);
		inst->busy = false;
		inst->task = NULL;
		pthread_mutex_unlock(&inst->lock);
		finish(inst, status, &err, proof, tag);
		pthread_mutex_lock(&inst->lock);
	}
	pthread_mutex_unlock(&inst->lock);
	return NULL;
}

/* ---- operations, in the order of an engine's life ---- */

/* Ends everything, frees everything. Called with nothing in flight; accepts NULL. */
static void skeleton_remove(struct cuzk_instance *inst)
{
	if (!inst)
		return;
	pthread_mutex_lock(&inst->lock);
	inst->ending = true;
	pthread_cond_broadcast(&inst->changed);
	pthread_mutex_unlock(&inst->lock);
	pthread_join(inst->worker, NULL);
	pthread_cond_destroy(&inst->changed);
	pthread_mutex_destroy(&inst->lock);
	free(inst->params_dir);
	free(inst);
}

/*
 * Opens the device.  device->backend is "cpu" or "gpu" (one that caps offers);
 * of several GPUs only device->id can be seen from this process.  May take
 * minutes, with heartbeats of tag 0.
 */
static int skeleton_probe(const struct cuzk_host *host, const struct cuzk_device *device,
			  const struct cuzk_option *options, struct cuzk_instance **out,
			  struct cuzk_error *err)
{
	struct cuzk_instance *inst = calloc(1, sizeof(*inst));

	if (!inst)
		return fail(err, -ENOMEM, CUZK_ERROR_RESOURCE, "no memory");
	memcpy(&inst->host, host, host->size < sizeof(*host) ? host->size : sizeof(*host));
	for (; options->name; options++) {
		if (!strcmp(options->name, "window"))
			inst->window = atoi(options->value);	/* checked by the host */
		else if (!strcmp(options->name, "params_dir"))
			inst->params_dir = strdup(options->value);
	}
	pthread_mutex_init(&inst->lock, NULL);
	pthread_cond_init(&inst->changed, NULL);
	if (pthread_create(&inst->worker, NULL, worker_main, inst)) {
		pthread_cond_destroy(&inst->changed);
		pthread_mutex_destroy(&inst->lock);
		free(inst->params_dir);
		free(inst);
		return fail(err, -EAGAIN, CUZK_ERROR_RESOURCE, "no thread");
	}
	inst->host.heartbeat(inst->host.ctx, 0, CUZK_STAGE_PARAMS, 1, 1);
	inst->host.log(inst->host.ctx, LOG_INFO, "skeleton opened");
	*out = inst;
	return 0;
}

/*
 * Proves something whose answer is built in and compares; on the device that
 * will prove, with the code that will prove.  No job comes before this passes.
 */
static int skeleton_self_test(struct cuzk_instance *inst, struct cuzk_error *err)
{
	uint8_t proof[CUZK_PARTITION_PROOF_SIZE];
	struct cuzk_task known = { .n_partitions = 1 };

	return prove_partition(inst, &known, 0, 0, proof, err);
}

/*
 * What can be proved, and what the parameter files are like: asked after the
 * self-test and whenever status is wanted.  A kind whose file is absent or bad
 * is disabled, with the reason given here; it is no reason to fail probe().
 */
static int skeleton_circuits(struct cuzk_instance *inst, struct cuzk_circuit *out, int max)
{
	struct cuzk_circuit c = {
		.size = sizeof(c), .id = "skeleton", .kind = CUZK_KIND_POREP,
		.state = CUZK_PARAMS_ABSENT, .sector_size = 2048,
		.reason = "the skeleton has no parameters",
	};

	if (max > 0)
		out[0] = c;
	return 1;
}

/*
 * Every check that can be made without proving is made here, so that a bad
 * request is refused in milliseconds and not after minutes.  Runs beside
 * prove(), on another thread.  plan tells the scheduler what is coming.
 */
static int skeleton_admit(struct cuzk_instance *inst, const struct cuzk_request *request,
			  struct cuzk_task **out, struct cuzk_plan *plan, struct cuzk_error *err)
{
	struct cuzk_task *task;

	if (request->kind != CUZK_KIND_POREP)
		return fail(err, -EINVAL, CUZK_ERROR_INPUT, "only PoRep is understood");
	if (!request->vanilla_proof.len)
		return fail(err, -EINVAL, CUZK_ERROR_INPUT, "no vanilla proof");
	task = calloc(1, sizeof(*task));
	if (!task)
		return fail(err, -ENOMEM, CUZK_ERROR_RESOURCE, "no memory");
	task->request = request;
	task->n_partitions = 1;
	plan->n_partitions = task->n_partitions;
	plan->host_bytes = 0;	/* per partition, beyond the parameters */
	plan->device_bytes = 0;
	snprintf(plan->circuit, sizeof(plan->circuit), "skeleton");
	*out = task;
	return 0;
}

static void skeleton_task_free(struct cuzk_task *task)
{
	free(task);
}

/*
 * Starts a partition.  An engine without CUZK_CAP_OVERLAP may simply prove
 * here and call complete() before it returns.  -EAGAIN: busy; the host keeps
 * the partition and calls again after the next complete().
 */
static int skeleton_prove(struct cuzk_instance *inst, struct cuzk_task *task,
			  uint32_t partition, uint64_t tag, struct cuzk_error *err)
{
	int r = -EAGAIN;

	if (partition >= task->n_partitions)
		return fail(err, -EINVAL, CUZK_ERROR_INTERNAL, "no such partition");
	pthread_mutex_lock(&inst->lock);
	if (!inst->busy) {
		inst->busy = true;
		inst->cancelled = false;
		inst->task = task;
		inst->partition = partition;
		inst->tag = tag;
		pthread_cond_broadcast(&inst->changed);
		r = 0;
	}
	pthread_mutex_unlock(&inst->lock);
	return r;
}

/* Asks a partition to end soon; it completes with -ECANCELED or with its proof. */
static void skeleton_cancel(struct cuzk_instance *inst, uint64_t tag)
{
	pthread_mutex_lock(&inst->lock);
	if (inst->busy && inst->tag == tag)
		inst->cancelled = true;
	pthread_mutex_unlock(&inst->lock);
}

/*
 * caps decides which of the operations the host calls: preload and evict,
 * cancel and command only with their bits, the others always.
 */
static const struct cuzk_engine_ops ops = {
	.size = sizeof(ops),
	.abi_major = CUZK_ENGINE_ABI_MAJOR,
	.abi_minor = CUZK_ENGINE_ABI_MINOR,
	.caps = CUZK_CAP_CPU | CUZK_CAP_CANCEL | CUZK_CAP_OVERLAP,
	.name = "skeleton",
	.version = "0",
	.params = params,
	.probe = skeleton_probe,
	.remove = skeleton_remove,
	.self_test = skeleton_self_test,
	.circuits = skeleton_circuits,
	.admit = skeleton_admit,
	.task_free = skeleton_task_free,
	.prove = skeleton_prove,
	.cancel = skeleton_cancel,
};

/* The one exported symbol.  The host speaks first; refuse a major that is not ours. */
__attribute__((visibility("default")))
int cuzk_engine_entry(const struct cuzk_host *host, const struct cuzk_engine_ops **out);

int cuzk_engine_entry(const struct cuzk_host *host, const struct cuzk_engine_ops **out)
{
	if (host->abi_major != CUZK_ENGINE_ABI_MAJOR)
		return -EPROTO;
	*out = &ops;
	return 0;
}
