/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * u-engine.c - the built engine through its ABI, as a service drives it
 *
 * Parameters of window-2k are made by the engine's own command first.
 *
 * Tests fault class "parameters wrong or absent".
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <unistd.h>

#include "lib/request_json.h"
#include "plugin/api/cuzk_engine.h"
#include "t/quiet.h"
#include "t/tap.h"

static const struct cuzk_engine_ops *ops;

/* The host: counts what is reserved, may refuse it, keeps results by tag. */
static pthread_mutex_t host_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t host_changed = PTHREAD_COND_INITIALIZER;
static uint64_t reserved, reserved_peak, reserve_limit = UINT64_MAX, beats;
static uint32_t stages_seen;
static bool began_5;
static struct cuzk_result results[16];
static unsigned int n_results[16];

static void host_log(void *ctx, int priority, const char *line)
{
	diag("<%d> %s", priority, line);
}

static void host_heartbeat(void *ctx, uint64_t tag, uint32_t stage, uint64_t done, uint64_t total)
{
	pthread_mutex_lock(&host_lock);
	beats++;
	began_5 = began_5 || tag == 5;
	stages_seen |= 1u << stage;
	pthread_mutex_unlock(&host_lock);
}

static int host_reserve(void *ctx, const char *name, uint64_t bytes)
{
	int ret = 0;

	pthread_mutex_lock(&host_lock);
	if (bytes > reserve_limit || reserved > reserve_limit - bytes)
		ret = -ENOMEM;
	else
		reserved += bytes;
	if (reserved > reserved_peak)
		reserved_peak = reserved;
	pthread_mutex_unlock(&host_lock);
	return ret;
}

static void host_release(void *ctx, const char *name, uint64_t bytes)
{
	pthread_mutex_lock(&host_lock);
	reserved -= bytes;
	pthread_mutex_unlock(&host_lock);
}

static void host_complete(void *ctx, uint64_t tag, const struct cuzk_result *result)
{
	pthread_mutex_lock(&host_lock);
	results[tag] = *result;
	n_results[tag]++;
	pthread_cond_broadcast(&host_changed);
	pthread_mutex_unlock(&host_lock);
}

static struct cuzk_host host = {
	.size = sizeof(host),
	.abi_major = CUZK_ENGINE_ABI_MAJOR,
	.abi_minor = CUZK_ENGINE_ABI_MINOR,
	.version = "test",
	.log = host_log,
	.heartbeat = host_heartbeat,
	.reserve = host_reserve,
	.release = host_release,
	.complete = host_complete,
};

static void wait_result(unsigned int tag)
{
	pthread_mutex_lock(&host_lock);
	while (!n_results[tag])
		pthread_cond_wait(&host_changed, &host_lock);
	pthread_mutex_unlock(&host_lock);
}

static const char *build_dir(void)
{
	const char *dir = getenv("CUZK_BUILDDIR");

	return dir ? dir : ".";
}

static void *slurp(const char *name, size_t *size)
{
	FILE *f = fopen(data_path(name), "rb");
	char *buf = malloc(1 << 20);

	if (!f || !buf) {
		printf("Bail out! cannot read %s\n", data_path(name));
		exit(1);
	}
	*size = fread(buf, 1, 1 << 20, f);
	fclose(f);
	return buf;
}

static struct cuzk_blob blob(const struct request_bytes *b)
{
	return (struct cuzk_blob){ b->data, b->len };
}

static struct cuzk_blob proofs[16];
static struct request_json *json;

static struct cuzk_request read_request(const char *name)
{
	struct cuzk_request req = { .size = sizeof(req) };
	char err[256];
	size_t size, i;
	char *text = slurp(name, &size);

	free(json);
	if (request_json_parse(text, size, &json, err, sizeof(err))) {
		printf("Bail out! %s: %s\n", name, err);
		exit(1);
	}
	free(text);
	for (i = 0; i < json->n_vanilla_proofs && i < 16; i++)
		proofs[i] = blob(&json->vanilla_proofs[i]);
	req.kind = json->proof_kind;
	req.registered_proof = json->registered_proof;
	req.sector_size = json->sector_size;
	req.miner_id = json->miner_id;
	req.randomness = blob(&json->randomness);
	req.vanilla_proofs = proofs;
	req.n_vanilla_proofs = json->n_vanilla_proofs;
	return req;
}

static void load_engine(void)
{
	struct cuzk_host other = host;
	cuzk_engine_entry_fn entry;
	char path[4096];
	void *so;

	snprintf(path, sizeof(path), "%s/.libs/groth16.so", build_dir());
	so = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!so) {
		printf("Bail out! %s\n", dlerror());
		exit(1);
	}
	*(void **)&entry = dlsym(so, CUZK_ENGINE_ENTRY);
	other.abi_major++;
	ok(entry && entry(&other, &ops) == -EPROTO, "another major version is refused");
	if (!ok(entry && entry(&host, &ops) == 0, "the engine is loaded"))
		exit(1);
	ok(ops->size == sizeof(*ops) && ops->abi_major == CUZK_ENGINE_ABI_MAJOR &&
	   (ops->caps & CUZK_CAP_CPU) && (ops->caps & CUZK_CAP_OVERLAP), "its table");
}

static int run_quietly(char **argv, int argc)
{
	int out = quiet_begin(), ret;

	ret = ops->command(&host, argc, argv);
	quiet_end(out);
	return ret;
}

static void make_params(char *dir)
{
	char *make[] = { "params", "make", "window-2k", "--toxic", "48577,22580,53332,5481,3673",
			 "--out", dir };
	char *toy[] = { "params", "make", "tiny-3", "--out", dir };
	char *unknown[] = { "status" }, *remote[] = { "prove", "--request", "x" };

	ok(run_quietly(make, 7) == 0 && run_quietly(toy, 5) == 0, "parameters are made");
	ok(ops->command(&host, 1, unknown) == -ENOSYS && ops->command(&host, 3, remote) == -ENOSYS,
	   "commands of a service are not the engine's");
}

static void test_probe(struct cuzk_option *opts, struct cuzk_device *dev)
{
	struct cuzk_option bad_name[] = { { "params", "x" }, { NULL } };
	struct cuzk_option bad_value[] = { { "params_dir", "x" }, { "check", "some" }, { NULL } };
	struct cuzk_error err = { .size = sizeof(err) };
	struct cuzk_instance *inst = NULL;
	struct cuzk_device other = *dev;

	ok(ops->probe(&host, dev, bad_name, &inst, &err) == -EINVAL && !inst, "probe: %s",
	   err.text);
	ok(ops->probe(&host, dev, bad_value, &inst, &err) == -EINVAL && !inst, "probe: %s",
	   err.text);
	other.backend = "tpu";
	ok(ops->probe(&host, &other, opts, &inst, &err) == -EINVAL && !inst, "probe: %s", err.text);
	ops->remove(NULL);
}

static uint32_t state_of(struct cuzk_instance *inst, const char *id, char *reason)
{
	struct cuzk_circuit list[64] = { { 0 } };
	int n, i;

	for (i = 0; i < 64; i++)
		list[i].size = sizeof(list[i]);
	n = ops->circuits(inst, list, 64);
	for (i = 0; i < n && i < 64; i++)
		if (!strcmp(list[i].id, id)) {
			if (reason)
				snprintf(reason, 256, "%s", list[i].reason);
			return list[i].state;
		}
	return UINT32_MAX;
}

/* Cancels tag 5 as soon as it has begun. */
static void *cancel_main(void *arg)
{
	for (;;) {
		pthread_mutex_lock(&host_lock);
		if (began_5) {
			pthread_mutex_unlock(&host_lock);
			break;
		}
		pthread_mutex_unlock(&host_lock);
		usleep(100);
	}
	ops->cancel(arg, 5);
	return NULL;
}

static void test_prove(struct cuzk_instance *inst)
{
	struct cuzk_request req = read_request("requests/window-2k.json");
	struct cuzk_plan plan = { .size = sizeof(plan) };
	struct cuzk_error err = { .size = sizeof(err) };
	struct cuzk_task *task = NULL;
	unsigned int i, tag, good = 0, busy = 0;
	pthread_t canceller;
	bool was = true;
	uint64_t bytes, before;
	int ret;

	ret = ops->admit(inst, &req, &task, &plan, &err);
	if (!ok(ret == 0, "a request is admitted")) {
		diag("%s", err.text);
		exit(1);
	}
	ok(plan.n_partitions == 1 && !strcmp(plan.circuit, "window-2k") && plan.host_bytes,
	   "its plan: %s, %u partition, %lu bytes", plan.circuit, plan.n_partitions,
	   (unsigned long)plan.host_bytes);
	for (tag = 1; tag <= 4; tag++)
		while ((ret = ops->prove(inst, task, 0, tag, &err)) == -EAGAIN) {
			busy++;
			usleep(1000);
		}
	for (tag = 1; tag <= 4; tag++) {
		wait_result(tag);
		good += n_results[tag] == 1 && results[tag].status == 0 &&
			results[tag].stage_ns[CUZK_STAGE_VERIFY] && !results[tag].invalid;
	}
	ok(good == 4, "four proofs complete, once each (busy %u times)", busy);
	for (i = 2, good = 0; i <= 4; i++)
		good += memcmp(results[1].proof, results[i].proof, 192) != 0;
	ok(good == 3, "each with its own r and s");
	pthread_mutex_lock(&host_lock);
	ok((stages_seen & 1u << CUZK_STAGE_WITNESS) && (stages_seen & 1u << CUZK_STAGE_MSM_B2) &&
	   (stages_seen & 1u << CUZK_STAGE_VERIFY), "heartbeats of its stages came");
	pthread_mutex_unlock(&host_lock);
	ok(results[1].host_peak && results[1].host_peak <= reserved_peak,
	   "%lu bytes were taken of %lu reserved", (unsigned long)results[1].host_peak,
	   (unsigned long)reserved_peak);
	ok(ops->prove(inst, task, 1, 9, &err) == -EINVAL, "a partition that it does not have");

	/* state and memory */
	ok(state_of(inst, "window-2k", NULL) == CUZK_PARAMS_HOT, "its parameters are loaded");
	ok(ops->preload(inst, "window-2k", &was, &bytes, &err) == 0 && was && bytes,
	   "preload finds them there");
	before = reserved;
	ok(ops->evict(inst, "window-2k", &was, &bytes, &err) == 0 && was &&
		   before - reserved == bytes,
	   "evict gives back %lu bytes", (unsigned long)bytes);
	ok(ops->evict(inst, "window-2k", &was, &bytes, &err) == 0 && !was && !bytes,
	   "there is nothing to evict now");
	ok(reserved == 0, "nothing is reserved then");
	ok(state_of(inst, "window-2k", NULL) == CUZK_PARAMS_COLD, "its parameters are cold");
	reserve_limit = 1 << 20;
	ok(ops->prove(inst, task, 0, 9, &err) == -ENOMEM && err.cls == CUZK_ERROR_RESOURCE,
	   "no memory: %s", err.text);
	ok(reserved == 0 && !n_results[9], "nothing is kept, nothing completes");
	reserve_limit = UINT64_MAX;

	/* room for one of two: the one that was used longer ago makes room */
	ok(ops->preload(inst, "window-2k", &was, &bytes, &err) == 0 && !was, "loaded again");
	reserve_limit = 70 << 20;
	ok(ops->preload(inst, "tiny-3", &was, &bytes, &err) == 0 && !was &&
		   state_of(inst, "window-2k", NULL) == CUZK_PARAMS_COLD,
	   "another circuit takes its place");
	reserve_limit = bytes + (1 << 20);
	ok(ops->preload(inst, "window-2k", &was, &bytes, &err) == -ENOMEM &&
	   err.cls == CUZK_ERROR_RESOURCE && reserved == 0, "no room even for one: %s", err.text);
	reserve_limit = UINT64_MAX;

	/* cancelling one that is not known, and one that runs */
	ops->cancel(inst, 77);
	pthread_create(&canceller, NULL, cancel_main, inst);
	ret = ops->prove(inst, task, 0, 5, &err);
	if (ret == 0)
		wait_result(5);
	pthread_join(canceller, NULL);
	ok(ret == 0 && n_results[5] == 1 && results[5].status == -ECANCELED &&
	   results[5].cls == CUZK_ERROR_CANCELLED, "a cancelled proof completes so: %s",
	   results[5].text);
	ok(ops->prove(inst, task, 0, 6, &err) == 0, "the next one is not");
	wait_result(6);
	ok(results[6].status == 0, "and completes");
	ops->task_free(task);
	ops->task_free(NULL);
}

static void test_refused(struct cuzk_instance *inst)
{
	struct cuzk_plan plan = { .size = sizeof(plan) };
	struct cuzk_error err = { .size = sizeof(err) };
	struct cuzk_task *task = NULL;
	struct cuzk_request req;
	char reason[256] = "";
	bool was;
	uint64_t bytes;

	req = read_request("requests/winning-2k.json");
	ok(ops->admit(inst, &req, &task, &plan, &err) < 0 && err.cls == CUZK_ERROR_PARAMS && !task,
	   "no parameters: %s", err.text);
	ok(state_of(inst, "winning-2k", reason) == CUZK_PARAMS_ABSENT && *reason,
	   "the list says so: %s", reason);
	ok(ops->preload(inst, "winning-2k", &was, &bytes, &err) < 0 && err.cls == CUZK_ERROR_PARAMS,
	   "nor can they be preloaded");
	ok(ops->preload(inst, "winning-3k", &was, &bytes, &err) == -ENOENT, "%s", err.text);
	req = read_request("requests/window-2k.json");
	req.randomness.len = 31;
	ok(ops->admit(inst, &req, &task, &plan, &err) == -EINVAL && err.cls == CUZK_ERROR_INPUT &&
		   !task,
	   "a bad request: %s", err.text);
}

/* A file that goes bad between the look at it and its use. */
static void test_damaged(const char *dir, struct cuzk_option *opts, struct cuzk_device *dev)
{
	struct cuzk_error err = { .size = sizeof(err) };
	struct cuzk_instance *inst = NULL;
	char command[4300], reason[256] = "";
	bool was;
	uint64_t bytes;

	if (ops->probe(&host, dev, opts, &inst, &err)) {
		ok(false, "%s", err.text);
		return;
	}
	snprintf(command, sizeof(command),
		 "printf x | dd of=$(ls %s/v28*.params) bs=1 seek=5000000 conv=notrunc 2>/dev/null",
		 dir);
	if (system(command))
		diag("cannot change the file");
	ok(ops->preload(inst, "window-2k", &was, &bytes, &err) == -EBADMSG &&
	   err.cls == CUZK_ERROR_PARAMS, "a damaged point: %s", err.text);
	ok(state_of(inst, "window-2k", reason) == CUZK_PARAMS_BAD && *reason, "the list says so");
	ok(reserved == 0, "nothing stays reserved");
	ops->remove(inst);
}

int main(void)
{
	struct cuzk_device dev = { .size = sizeof(dev), .backend = "cpu" };
	struct cuzk_error err = { .size = sizeof(err) };
	struct cuzk_instance *inst = NULL;
	char dir[4096], command[4200];
	struct cuzk_option opts[] = { { "params_dir", dir }, { "check", "full" }, { NULL } };

	snprintf(dir, sizeof(dir), "%s/u-engine.XXXXXX", build_dir());
	if (!mkdtemp(dir)) {
		printf("Bail out! no temporary folder\n");
		return 1;
	}
	load_engine();
	make_params(dir);
	test_probe(opts, &dev);
	if (!ok(ops->probe(&host, &dev, opts, &inst, &err) == 0, "an instance opens")) {
		diag("%s", err.text);
		return 1;
	}
	if (!ok(ops->self_test(inst, &err) == 0, "the self-test passes"))
		diag("%s", err.text);
	ok(state_of(inst, "window-2k", NULL) == CUZK_PARAMS_COLD, "its parameters are found");
	ok(state_of(inst, "tiny-3", NULL) == UINT32_MAX,
	   "circuits that nobody can ask for are not listed");
	test_prove(inst);
	test_refused(inst);
	ops->remove(inst);
	ok(reserved == 0, "removing gives all memory back");
	test_damaged(dir, opts, &dev);
	snprintf(command, sizeof(command), "rm -r '%s'", dir);
	if (system(command))
		diag("cannot remove %s", dir);
	free(json);
	return tap_done();
}
