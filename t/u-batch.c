/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * u-batch.c - the engine on a device that finishes several proofs together
 *
 * The device is the host's backend behind a batch of three; the order in which the
 * engine drives it is written down.
 */
#include <errno.h>
#include <pthread.h>
#include <unistd.h>

#include "engine/groth16/command.h"
#include "engine/groth16/instance.h"
#include "engine/groth16/request.h"
#include "t/quiet.h"
#include "t/tap.h"

#define BATCH 3
#define TAGS 8

static pthread_mutex_t host_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t host_changed = PTHREAD_COND_INITIALIZER;
static struct cuzk_result results[TAGS];
static unsigned int n_done;
static struct cuzk_instance *inst;

/* What the device was asked for: "w1 w2 f1 f2 "; gpu_lock protects it. */
static char order[256];
static unsigned int n_all;
static uint64_t fail_tag, cancel_tag;

static void host_complete(void *ctx, uint64_t tag, const struct cuzk_result *result)
{
	pthread_mutex_lock(&host_lock);
	results[tag] = *result;
	n_done++;
	pthread_cond_broadcast(&host_changed);
	pthread_mutex_unlock(&host_lock);
}

static struct cuzk_host host = {
	.size = sizeof(host), .abi_major = CUZK_ENGINE_ABI_MAJOR, .complete = host_complete,
};

static void note(char what)
{
	size_t len = strlen(order);

	snprintf(order + len, sizeof(order) - len, "%c%u ", what,
		 (unsigned int)inst->gpu_job->tag);
}

static unsigned int batch_size(struct gpu *gpu, const struct gpu_cs *cs, const struct gpu_srs *srs)
{
	return BATCH;
}

static bool is_begun(uint64_t tag)
{
	struct job *job;

	pthread_mutex_lock(&inst->jobs_lock);
	for (job = inst->jobs; job && job->tag != tag; job = job->next)
		;
	pthread_mutex_unlock(&inst->jobs_lock);
	return job;
}

/* The next proof is in the engine before this one's part is done, as on a device that works. */
static void wait_next(uint64_t tag)
{
	unsigned int i;

	for (i = 0; i < 60000 && tag < n_all && tag % BATCH && !is_begun(tag + 1); i++)
		usleep(1000);
}

static int batch_work(struct gpu *gpu, struct gpu_job *job)
{
	uint64_t tag = inst->gpu_job->tag;

	note('w');
	wait_next(tag);
	if (cancel_tag && cancel_tag != tag)
		job_cancel(inst, cancel_tag);
	return tag == fail_tag ? -EIO : 0;
}

static int batch_finish(struct gpu *gpu, struct gpu_job *job, struct gpu_sums *sums)
{
	int ret = gpu_cpu_ops.prove_finish(gpu, job, sums);

	note('f');
	if (atomic_load(&inst->gpu_job->cancelled))
		return -ECANCELED;
	return inst->gpu_job->tag == fail_tag ? -EIO : ret;
}

static void wait_done(unsigned int n)
{
	pthread_mutex_lock(&host_lock);
	while (n_done < n)
		pthread_cond_wait(&host_changed, &host_lock);
	pthread_mutex_unlock(&host_lock);
}

/* n proofs with tags from 1 */
static void prove(struct cuzk_task *task, unsigned int n)
{
	struct cuzk_error err = { .text = "" };
	unsigned int i, done;
	int ret;

	order[0] = '\0';
	memset(results, 0, sizeof(results));
	n_done = 0;
	n_all = n;
	for (i = 1; i <= n; i++) {
		do {
			pthread_mutex_lock(&host_lock);
			done = n_done;
			pthread_mutex_unlock(&host_lock);
			ret = job_prove(inst, task, 0, i, &err);
			if (ret == -EAGAIN)
				wait_done(done + 1);
		} while (ret == -EAGAIN);
		if (ret) {
			printf("Bail out! proof %u: %s\n", i, err.text);
			exit(1);
		}
	}
	wait_done(n);
}

static void make_params(char *dir)
{
	char *make[] = { "params", "make", "window-2k", "--toxic", "48577,22580,53332,5481,3673",
			 "--out", dir };
	int out = quiet_begin();

	command_run(&host, 7, make);
	quiet_end(out);
}

int main(void)
{
	const char *build = getenv("CUZK_BUILDDIR");
	struct cuzk_device dev = { .size = sizeof(dev), .backend = "cpu" };
	struct cuzk_plan plan = { .size = sizeof(plan) };
	struct cuzk_error err = { .text = "" };
	struct cuzk_task *task;
	struct cuzk_request *req;
	struct gpu_ops batching = gpu_cpu_ops;
	char dir[4096], command[4200];
	struct cuzk_option opts[] = { { "params_dir", dir }, { NULL } };
	unsigned int i, good = 0;

	snprintf(dir, sizeof(dir), "%s/u-batch.XXXXXX", build ? build : ".");
	if (!mkdtemp(dir)) {
		printf("Bail out! no temporary folder\n");
		return 1;
	}
	make_params(dir);
	if (request_read(data_path("requests/window-2k.json"), &req, &err) ||
	    instance_probe(&host, &dev, opts, &inst, &err) ||
	    job_admit(inst, req, &task, &plan, &err)) {
		printf("Bail out! %s\n", err.text);
		return 1;
	}
	batching.prove_batch = batch_size;
	batching.prove_work = batch_work;
	batching.prove_finish = batch_finish;
	inst->ops = &batching;

	prove(task, 5);
	for (i = 1; i <= 5; i++)
		good += !results[i].status && !results[i].invalid;
	ok(good == 5, "five proofs are good");
	ok(!strcmp(order, "w1 w2 w3 f1 f2 f3 w4 w5 f4 f5 "),
	   "three together, then the rest: %s", order);
	prove(task, 1);
	ok(!strcmp(order, "w1 f1 "), "one alone waits for nobody: %s", order);
	cancel_tag = 1;
	prove(task, 2);
	ok(!strcmp(order, "w1 w2 f1 f2 "), "one that waits is cancelled: %s", order);
	ok(results[1].status == -ECANCELED && results[1].cls == CUZK_ERROR_CANCELLED &&
	   !results[2].status, "it alone");
	cancel_tag = 0;
	fail_tag = 2;
	prove(task, 3);
	ok(!strcmp(order, "w1 w2 f2 w3 f1 f3 "), "what fails ends at once: %s", order);
	ok(results[2].status == -EIO && results[2].sticky && !results[1].status &&
		   !results[3].status,
	   "the others go on: %s", results[2].text);
	job_task_free(task);
	instance_remove(inst);
	request_free(req);
	snprintf(command, sizeof(command), "rm -r '%s'", dir);
	if (system(command))
		diag("cannot remove %s", dir);
	return tap_done();
}
