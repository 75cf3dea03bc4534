/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* cmd_prove.c - the command prove --offline: what the service does, in this process */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "engine/groth16/command.h"
#include "engine/groth16/file.h"
#include "engine/groth16/instance.h"
#include "engine/groth16/request.h"
#include "engine/vanilla/vanilla.h"

static const char *const stage_names[CUZK_STAGE_COUNT] = {
	"idle", "params", "witness", "upload", "evaluate", "ntt", "msm_h", "msm_l", "msm_a",
	"msm_b1", "msm_b2", "finish", "verify",
};

/* The host that this command is for the engine. */
struct offline {
	struct command *cmd;
	bool verbose;
	struct cuzk_host host;
	pthread_mutex_t results_lock;	/* the rest */
	pthread_cond_t changed;
	struct cuzk_result *results;
	uint32_t n, n_done;
	uint64_t bytes, peak;		/* reserved */
};

static void offline_log(void *ctx, int priority, const char *line)
{
	struct offline *o = ctx;

	/* what ends the command is said by it; the rest is for those who ask */
	if (!o->verbose)
		return;
	pthread_mutex_lock(&o->results_lock);
	command_clear(o->cmd);
	fprintf(stderr, "%s: %s\n", o->cmd->name, line);
	pthread_mutex_unlock(&o->results_lock);
}

static void offline_heartbeat(void *ctx, uint64_t tag, uint32_t stage, uint64_t done,
			      uint64_t total)
{
	struct offline *o = ctx;
	char what[64];

	snprintf(what, sizeof(what), "partition %" PRIu64 " of %u, %s", tag, o->n,
		 stage < CUZK_STAGE_COUNT ? stage_names[stage] : "?");
	progress_tell(&o->cmd->progress, what, done, total);
}

static int offline_reserve(void *ctx, const char *name, uint64_t bytes)
{
	struct offline *o = ctx;

	pthread_mutex_lock(&o->results_lock);
	o->bytes += bytes;
	if (o->bytes > o->peak)
		o->peak = o->bytes;
	pthread_mutex_unlock(&o->results_lock);
	return 0;
}

static void offline_release(void *ctx, const char *name, uint64_t bytes)
{
	struct offline *o = ctx;

	pthread_mutex_lock(&o->results_lock);
	o->bytes -= bytes;
	pthread_mutex_unlock(&o->results_lock);
}

/* Tags count from 1: tag 0 is work for no partition. */
static void offline_complete(void *ctx, uint64_t tag, const struct cuzk_result *result)
{
	struct offline *o = ctx;

	pthread_mutex_lock(&o->results_lock);
	o->results[tag - 1] = *result;
	o->n_done++;
	pthread_cond_broadcast(&o->changed);
	pthread_mutex_unlock(&o->results_lock);
}

static uint32_t count_done(struct offline *o)
{
	uint32_t n;

	pthread_mutex_lock(&o->results_lock);
	n = o->n_done;
	pthread_mutex_unlock(&o->results_lock);
	return n;
}

static void wait_done(struct offline *o, uint32_t n)
{
	pthread_mutex_lock(&o->results_lock);
	while (o->n_done < n)
		pthread_cond_wait(&o->changed, &o->results_lock);
	pthread_mutex_unlock(&o->results_lock);
}

static int prove_partitions(struct offline *o, struct cuzk_instance *inst, struct cuzk_task *task,
			    struct cuzk_error *err)
{
	uint32_t i;
	int ret = 0;

	for (i = 0; i < o->n && !ret; i++) {
		uint32_t done = count_done(o);

		/* one more than are done by now will make room */
		while ((ret = job_prove(inst, task, i, i + 1, err)) == -EAGAIN) {
			wait_done(o, done + 1);
			done = count_done(o);
		}
	}
	/* what was started completes before the task may go */
	wait_done(o, ret ? i - 1 : i);
	if (ret)
		return ret;
	for (i = 0; i < o->n; i++)
		if (o->results[i].status)
			return error_set(err, o->results[i].cls, o->results[i].status, "%s",
					 o->results[i].text);
	return 0;
}

static int write_proofs(struct offline *o, struct file_new *file, struct cuzk_error *err)
{
	uint32_t i;

	for (i = 0; i < o->n; i++)
		fwrite(o->results[i].proof, 1, PROOF_SIZE, file->f);
	return file_commit(file, err);
}

static void print_report(const struct offline *o, const char *circuit, const char *out)
{
	uint64_t ns[CUZK_STAGE_COUNT] = { 0 }, host_peak = 0, device_peak = 0;
	uint64_t up = 0, down = 0, up_ns = 0;
	uint32_t i;
	int k;

	for (i = 0; i < o->n; i++) {
		for (k = 0; k < CUZK_STAGE_COUNT; k++)
			ns[k] += o->results[i].stage_ns[k];
		if (o->results[i].host_peak > host_peak)
			host_peak = o->results[i].host_peak;
		if (o->results[i].device_peak > device_peak)
			device_peak = o->results[i].device_peak;
		up += o->results[i].bytes_up;
		down += o->results[i].bytes_down;
		up_ns += o->results[i].up_ns;
	}
	printf("{\n  \"circuit\": \"%s\",\n  \"partitions\": %u,\n  \"verified\": true,\n  \"proof_file\": ",
	       circuit, o->n);
	command_put_string(out);
	printf(",\n  \"host_bytes_reserved\": %" PRIu64 ",\n  \"host_bytes_peak\": %" PRIu64
	       ",\n  \"device_bytes_peak\": %" PRIu64 ",\n  \"bytes_up\": %" PRIu64
	       ",\n  \"bytes_down\": %" PRIu64 ",\n  \"up_gb_per_s\": %.3f,\n  \"seconds\": {",
	       o->peak, host_peak, device_peak, up, down, up_ns ? (double)up / up_ns : 0.0);
	for (k = 1; k < CUZK_STAGE_COUNT; k++)
		printf("%s\n    \"%s\": %.3f", k == 1 ? "" : ",", stage_names[k], ns[k] / 1e9);
	printf("\n  }\n}\n");
}

static int prove(struct offline *o, struct cuzk_instance *inst, const struct cuzk_request *req,
		 const char *out, struct cuzk_error *err)
{
	struct cuzk_plan plan = { .size = sizeof(plan) };
	struct cuzk_task *task;
	struct file_new file;
	int ret;

	ret = job_admit(inst, req, &task, &plan, err);
	if (ret)
		return ret;
	o->n = plan.n_partitions;
	/* that it cannot be written is known before minutes are spent on it */
	ret = file_create(&file, out, err);
	if (!ret)
		o->results = calloc(o->n, sizeof(*o->results));
	if (!ret && !o->results)
		ret = error_nomem(err, "the results");
	if (!ret)
		ret = prove_partitions(o, inst, task, err);
	job_task_free(task);
	if (!ret)
		ret = write_proofs(o, &file, err);
	file_discard(&file);
	command_clear(o->cmd);
	if (!ret)
		print_report(o, plan.circuit, out);
	free(o->results);
	return ret;
}

int command_prove_offline(struct command *cmd, int argc, char **argv)
{
	const char *request = NULL, *dir = NULL, *rs = NULL, *out = NULL, *manifest = NULL;
	const char *cache = NULL;
	bool offline = false, full = false;
	struct offline o = {
		.cmd = cmd,
		.host = {
			.size = sizeof(o.host), .abi_major = CUZK_ENGINE_ABI_MAJOR,
			.abi_minor = CUZK_ENGINE_ABI_MINOR, .version = PACKAGE_VERSION, .ctx = &o,
			.log = offline_log, .heartbeat = offline_heartbeat, .reserve = offline_reserve,
			.release = offline_release, .complete = offline_complete,
		},
		.results_lock = PTHREAD_MUTEX_INITIALIZER,
		.changed = PTHREAD_COND_INITIALIZER,
	};
	const struct command_option options[] = {
		{ "--offline", NULL, &offline }, { "--request", &request }, { "--params", &dir },
		{ "--rs", &rs }, { "--out", &out }, { "--manifest", &manifest },
		{ "--cache", &cache },
		{ "--full-check", NULL, &full }, { "--verbose", NULL, &o.verbose }, { NULL },
	};
	struct cuzk_error err = { .size = sizeof(err) };
	struct cuzk_option opts[5] = { { NULL } };
	struct cuzk_instance *inst = NULL;
	struct cuzk_request *req = NULL;
	struct cuzk_device desc;
	struct blinding b;
	int n = 0, ret;

	if (command_parse(cmd, argc, argv, options, NULL, 0) < 0)
		return 2;
	command_device_desc(cmd, &desc);
	if (!request || !dir || !out)
		return command_usage(cmd,
				     "--offline --request FILE --params DIR [--rs R,S] --out FILE");
	opts[n++] = (struct cuzk_option){ "params_dir", dir };
	if (manifest)
		opts[n++] = (struct cuzk_option){ "manifest", manifest };
	if (cache)
		opts[n++] = (struct cuzk_option){ "cache_dir", cache };
	if (full)
		opts[n++] = (struct cuzk_option){ "check", "full" };
	ret = request_read(request, &req, &err);
	if (!ret && rs)
		ret = command_blinding(rs, &b, &err);
	if (!ret)
		ret = instance_probe_late(&o.host, &desc, opts, &inst, &err);
	if (!ret && rs) {
		inst->blinding = b;
		inst->fixed_blinding = true;
	}
	if (!ret)
		ret = prove(&o, inst, req, out, &err);
	instance_remove(inst);
	request_free(req);
	return ret ? command_fail(cmd, &err) : 0;
}
