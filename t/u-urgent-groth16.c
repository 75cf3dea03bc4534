/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * u-urgent-groth16.c - a WinningPoSt beside a larger proof in one instance of the
 * engine, on the host: the bytes of both, and how long the urgent one takes
 *
 * Beside a WindowPoSt; with CUZK_TEST_REQUIRE=long beside a PoRep, whose
 * parameters take half a minute of processor time.  All of 2 KiB sectors, with
 * the golden toxic waste, r and s, and so the golden proofs.
 */
#include <errno.h>
#include <time.h>
#include <unistd.h>

#include "engine/groth16/make.h"
#include "engine/groth16/request.h"
#include "engine/groth16/urgent.h"
#include "t/tap.h"

#define TAG_BULK 1
#define TAG_URGENT 2
#define TAG_CANCELLED 3
#define TAGS 4

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct cuzk_result results[TAGS];
static double begun[TAGS], ended[TAGS];

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec * 1e-9;
}

static void on_log(void *ctx, int priority, const char *line)
{
	diag("<%d> %s", priority, line);
}

static void on_heartbeat(void *ctx, uint64_t tag, uint32_t stage, uint64_t done, uint64_t total)
{
	pthread_mutex_lock(&lock);
	/* on the device, beyond the witness */
	if (tag < TAGS && !begun[tag] && stage >= CUZK_STAGE_EVALUATE) {
		begun[tag] = now();
		pthread_cond_broadcast(&changed);
	}
	pthread_mutex_unlock(&lock);
}

static void on_complete(void *ctx, uint64_t tag, const struct cuzk_result *result)
{
	pthread_mutex_lock(&lock);
	results[tag] = *result;
	ended[tag] = now();
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

static void await(double *when)
{
	pthread_mutex_lock(&lock);
	while (!*when)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
}

/* The circuit's key where key_get() would have loaded it. */
static bool load_key(struct cuzk_instance *inst, struct circuit_state *line)
{
	struct cuzk_error err = { .size = sizeof(err) };
	struct key *key = calloc(1, sizeof(*key));
	struct toxic_waste toxic;

	if (!key)
		return false;
	key->line = line;
	key->circuit = line->circuit;
	if (circuit_build(&key->circuit, &key->cs) ||
	    toxic_parse(&toxic, "48577,22580,53332,5481,3673", &err) ||
	    params_make_srs(key->cs, &toxic, GPU_H_POWERS, inst->ops, inst->gpu, inst->pool,
			    &key->gpu_srs, &key->params.vk, &key->coset.inputs, &err) ||
	    pvk_open(&key->pvk, &key->params.vk) ||
	    inst->ops->cs_load(inst->gpu, key->cs, &key->gpu_cs)) {
		diag("%s: %s", line->circuit.name, err.text);
		return false;
	}
	line->state = CUZK_PARAMS_HOT;
	line->log_domain = key->cs->log_domain;
	line->urgent = inst->parent != NULL;
	inst->fixed_blinding = true;
	inst->blinding = (struct blinding){ .r = { { 27134 } }, .s = { { 17146 } } };
	key->next = inst->keys;
	inst->keys = key;
	return true;
}

static struct cuzk_task *admit(struct cuzk_instance *inst, const char *circuit)
{
	struct cuzk_error err = { .size = sizeof(err) };
	struct cuzk_plan plan = { .size = sizeof(plan) };
	struct cuzk_task *task = NULL;
	struct cuzk_request *req;
	char name[128];

	snprintf(name, sizeof(name), "requests/%s.json", circuit);
	if (request_read(data_path(name), &req, &err) || job_admit(inst, req, &task, &plan, &err))
		diag("%s: %s", circuit, err.text);
	return task;		/* the request stays: the task points into it */
}

static bool golden(const char *circuit, const struct cuzk_result *r)
{
	uint8_t want[PROOF_SIZE];
	char name[128];
	bool same;
	FILE *f;

	snprintf(name, sizeof(name), "%s/%s.proof", circuit, circuit);
	f = fopen(data_path(name), "rb");
	same = f && fread(want, 1, sizeof(want), f) == sizeof(want) && !r->status &&
	       !memcmp(want, r->proof, sizeof(want));
	if (f)
		fclose(f);
	if (r->status)
		diag("%s: %s", circuit, r->text);
	return same;
}

struct call {
	struct cuzk_instance *inst;
	struct cuzk_task *task;
	uint64_t tag;
	int ret;
};

/* As the host's owner does. */
static void *bulk_main(void *arg)
{
	struct cuzk_error err = { .size = sizeof(err) };
	struct call *c = arg;

	c->ret = urgent_prove(c->inst, c->task, 0, c->tag, &err);
	return NULL;
}

static void test(struct cuzk_instance *inst, struct cuzk_task *bulk, struct cuzk_task *urgent,
		 const char *name)
{
	struct call owner = { inst, bulk, TAG_BULK, 0 };
	struct cuzk_error err = { .size = sizeof(err) };
	pthread_t thread;
	double start, took;
	bool first;
	int ret;

	pthread_create(&thread, NULL, bulk_main, &owner);
	await(&begun[TAG_BULK]);
	ok(urgent_prove_now(inst, bulk, 0, TAG_CANCELLED, &err) == -EAGAIN &&
	   err.cls == CUZK_ERROR_RESOURCE, "a large circuit is not proved beside others: %s",
	   err.text);
	start = now();
	ret = urgent_prove_now(inst, urgent, 0, TAG_URGENT, &err);
	if (!ret)
		await(&ended[TAG_URGENT]);
	took = now() - start;
	pthread_mutex_lock(&lock);
	first = !ended[TAG_BULK];
	pthread_mutex_unlock(&lock);
	ok(!ret && golden("winning-2k", &results[TAG_URGENT]),
	   "a WinningPoSt while a %s is under way: the golden proof", name);
	ok(first, "it is done before the other");
	ret = urgent_prove_now(inst, urgent, 0, TAG_CANCELLED, &err);
	urgent_cancel(inst, TAG_CANCELLED);
	if (!ret)
		await(&ended[TAG_CANCELLED]);
	ok(!ret && (results[TAG_CANCELLED].status == -ECANCELED ||
		    !results[TAG_CANCELLED].status), "one that is cancelled ends: %s",
	   results[TAG_CANCELLED].text);
	await(&ended[TAG_BULK]);
	pthread_join(thread, NULL);
	ok(!owner.ret && golden(name, &results[TAG_BULK]), "the %s is the golden one too", name);
	diag("urgent %.0f ms, the other %.0f ms; it stood aside after %.1f ms at most", took * 1e3,
	     (ended[TAG_BULK] - begun[TAG_BULK]) * 1e3, gate_longest_ns(&inst->gate) / 1e6);
	/* alone it takes 0.4 of it; were the two equals, 0.8 */
	ok(took < (ended[TAG_BULK] - begun[TAG_BULK]) * 3 / 4, "in less than three quarters of its time");
	ok(!atomic_load(&inst->gate.closed), "nothing stands aside any more");
}

int main(void)
{
	struct cuzk_host host = {
		.size = sizeof(host), .abi_major = CUZK_ENGINE_ABI_MAJOR,
		.abi_minor = CUZK_ENGINE_ABI_MINOR, .version = "test", .log = on_log,
		.heartbeat = on_heartbeat, .complete = on_complete,
	};
	struct cuzk_option options[] = {
		{ "params_dir", "/nonexistent" }, { "cache_dir", "/nonexistent" }, { NULL }
	};
	struct cuzk_device device = { .size = sizeof(device), .backend = "cpu", .threads = 2 };
	struct cuzk_error err = { .size = sizeof(err) };
	const char *require = getenv("CUZK_TEST_REQUIRE");
	const char *name = require && strstr(require, "long") ? "porep-2k" : "window-2k";
	struct cuzk_task *bulk, *urgent;
	struct cuzk_instance *inst;

	if (!ok(!instance_probe(&host, &device, options, &inst, &err) && inst->urgent,
		"an instance with a lane"))
		return tap_done();
	scrub_stop(inst);	/* there are no files to look at */
	ok(!urgent_self_test(inst, &err), "both give the known answer");
	if (!ok(load_key(inst, instance_find(inst, name)) &&
		load_key(inst->urgent, instance_find(inst, "winning-2k")),
		"parameters of %s, and of winning-2k in the lane", name))
		return tap_done();
	bulk = admit(inst, name);
	urgent = admit(inst, "winning-2k");
	if (ok(bulk && urgent, "two requests are admitted"))
		test(inst, bulk, urgent, name);
	job_task_free(bulk);
	job_task_free(urgent);
	instance_remove(inst);
	return tap_done();
}
