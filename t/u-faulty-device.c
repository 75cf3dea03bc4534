/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * u-faulty-device.c - a device that computes wrongly, fails or has no room
 *
 * Nothing wrong leaves the engine, and each fault has its class.  The device is
 * the host's backend with one operation exchanged.
 *
 * Tests fault class "GPU returns a wrong answer".
 */
#include <errno.h>
#include <pthread.h>
#include <unistd.h>

#include "engine/groth16/command.h"
#include "engine/groth16/instance.h"
#include "engine/groth16/request.h"
#include "t/quiet.h"
#include "t/tap.h"

static pthread_mutex_t host_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t host_changed = PTHREAD_COND_INITIALIZER;
static struct cuzk_result last;
static unsigned int n_done;

static void host_complete(void *ctx, uint64_t tag, const struct cuzk_result *result)
{
	pthread_mutex_lock(&host_lock);
	last = *result;
	n_done++;
	pthread_cond_broadcast(&host_changed);
	pthread_mutex_unlock(&host_lock);
}

static struct cuzk_host host = {
	.size = sizeof(host), .abi_major = CUZK_ENGINE_ABI_MAJOR, .complete = host_complete,
};

/* What the device does to the next proof. */
static enum fault {
	NO_FAULT,
	WRONG_H,
	WRONG_A,
	WRONG_B2,
	ZERO_SUMS,
	LOST,
	NO_ROOM,
	BAD_LOAD
} fault;

static int faulty_start(struct gpu *gpu, struct gpu_cs *cs, struct gpu_srs *srs,
			const struct cs_witness *w, bool check, struct gpu_job **job, uint64_t *bad)
{
	if (fault == NO_ROOM)
		return -ENOMEM;
	return gpu_cpu_ops.prove_start(gpu, cs, srs, w, check, job, bad);
}

static int faulty_finish(struct gpu *gpu, struct gpu_job *job, struct gpu_sums *sums)
{
	int ret = gpu_cpu_ops.prove_finish(gpu, job, sums);

	switch (fault) {
	case WRONG_H:
		sums->h = sums->l;
		break;
	case WRONG_A:
		/* a bit of a coordinate: not on the curve */
		sums->a.x.l[0] ^= 1;
		break;
	case WRONG_B2:
		g2_affine_neg(&sums->b2, &sums->b2);
		break;
	case ZERO_SUMS:
		memset(sums, 0, sizeof(*sums));
		break;
	case LOST:
		return -EIO;
	default:
		break;
	}
	return ret;
}

static int faulty_srs_load(struct gpu *gpu, const struct gpu_srs_desc *desc, int check,
			   struct gpu_srs **out, uint64_t *bad)
{
	if (fault == BAD_LOAD)
		return -EIO;
	return gpu_cpu_ops.srs_load(gpu, desc, check, out, bad);
}

static void prove(struct cuzk_instance *inst, struct cuzk_task *task, enum fault what)
{
	struct cuzk_error err = { .text = "" };
	unsigned int n = n_done;
	int ret;

	fault = what;
	memset(&last, 0, sizeof(last));
	ret = job_prove(inst, task, 0, 1, &err);
	if (ret) {
		last.status = ret;
		last.cls = err.cls;
		memcpy(last.text, err.text, sizeof(last.text));
		return;
	}
	pthread_mutex_lock(&host_lock);
	while (n_done == n)
		pthread_cond_wait(&host_changed, &host_lock);
	pthread_mutex_unlock(&host_lock);
}

static bool no_proof(void)
{
	static const uint8_t zero[PROOF_SIZE];

	return !memcmp(last.proof, zero, sizeof(zero));
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
	struct cuzk_instance *inst;
	struct cuzk_task *task;
	struct cuzk_request *req;
	struct gpu_ops faulty = gpu_cpu_ops;
	char dir[4096], command[4200];
	struct cuzk_option opts[] = { { "params_dir", dir }, { NULL } };

	snprintf(dir, sizeof(dir), "%s/u-faulty.XXXXXX", build ? build : ".");
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
	faulty.prove_start = faulty_start;
	faulty.prove_finish = faulty_finish;
	faulty.srs_load = faulty_srs_load;
	inst->ops = &faulty;

	prove(inst, task, NO_FAULT);
	ok(last.status == 0 && !last.invalid && !no_proof(), "a good device's proof");
	prove(inst, task, WRONG_H);
	ok(last.status == -EBADMSG && last.cls == CUZK_ERROR_DEVICE && last.invalid &&
		   !last.sticky && no_proof(),
	   "a wrong sum: %s", last.text);
	prove(inst, task, WRONG_A);
	ok(last.status < 0 && last.cls == CUZK_ERROR_DEVICE && last.invalid && no_proof(),
	   "a point off the curve: %s", last.text);
	prove(inst, task, WRONG_B2);
	ok(last.status < 0 && last.cls == CUZK_ERROR_DEVICE && last.invalid && no_proof(),
	   "a wrong sign: %s", last.text);
	prove(inst, task, ZERO_SUMS);
	ok(last.status < 0 && last.cls == CUZK_ERROR_DEVICE && last.invalid && no_proof(),
	   "nothing but zeros: %s", last.text);
	prove(inst, task, NO_ROOM);
	ok(last.status == -ENOMEM && last.cls == CUZK_ERROR_RESOURCE && !last.invalid,
	   "no room: %s", last.text);
	prove(inst, task, NO_FAULT);
	ok(last.status == 0 && !no_proof(), "the instance lives on");
	ok(instance_self_test(inst, &err) == 0, "so does its self-test");
	fault = WRONG_H;
	ok(instance_self_test(inst, &err) == -EBADMSG && err.cls == CUZK_ERROR_DEVICE,
	   "which sees a wrong sum: %s", err.text);
	prove(inst, task, LOST);
	ok(last.status == -EIO && last.cls == CUZK_ERROR_DEVICE && last.sticky && no_proof(),
	   "a lost device: %s", last.text);
	prove(inst, task, NO_FAULT);
	ok(last.status == -EIO && last.cls == CUZK_ERROR_DEVICE, "stays lost: %s", last.text);
	job_task_free(task);
	instance_remove(inst);

	if (instance_probe(&host, &dev, opts, &inst, &err) ||
	    job_admit(inst, req, &task, &plan, &err)) {
		printf("Bail out! %s\n", err.text);
		return 1;
	}
	inst->ops = &faulty;
	prove(inst, task, BAD_LOAD);
	ok(last.status == -EIO && last.cls == CUZK_ERROR_DEVICE, "lost while loading: %s",
	   last.text);
	job_task_free(task);
	instance_remove(inst);
	request_free(req);
	snprintf(command, sizeof(command), "rm -r '%s'", dir);
	if (system(command))
		diag("cannot remove %s", dir);
	return tap_done();
}
