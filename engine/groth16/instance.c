/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* instance.c - one open device: opened, listed, closed */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>

#include "engine/circuits/cache.h"
#include "engine/groth16/instance.h"
#include "engine/groth16/params_name.h"
#include "engine/groth16/urgent.h"

static void no_log(void *ctx, int priority, const char *line)
{
}

static void no_heartbeat(void *ctx, uint64_t tag, uint32_t stage, uint64_t done, uint64_t total)
{
}

static int no_reserve(void *ctx, const char *name, uint64_t bytes)
{
	return 0;
}

static void no_release(void *ctx, const char *name, uint64_t bytes)
{
}

static void no_complete(void *ctx, uint64_t tag, const struct cuzk_result *result)
{
}

/* A copy of our own, in which every service can be called. */
static void copy_host(struct cuzk_host *to, const struct cuzk_host *from)
{
	memset(to, 0, sizeof(*to));
	memcpy(to, from, from->size < sizeof(*to) ? from->size : sizeof(*to));
	if (!to->log)
		to->log = no_log;
	if (!to->heartbeat)
		to->heartbeat = no_heartbeat;
	if (!to->reserve || !to->release) {
		to->reserve = no_reserve;
		to->release = no_release;
	}
	if (!to->complete)
		to->complete = no_complete;
}

void instance_log(struct cuzk_instance *inst, int priority, const char *fmt, ...)
{
	char line[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	inst->host.log(inst->host.ctx, priority, line);
}

void instance_gpu_log(void *arg, int priority, const char *line)
{
	struct cuzk_instance *inst = arg;

	inst->host.log(inst->host.ctx, priority, line);
}


static int read_options(struct options *o, const struct cuzk_option *options,
			struct cuzk_error *err)
{
	const char *cache;
	char **text;

	o->keep = true;
	for (; options && options->name; options++) {
		if (!strcmp(options->name, "scrub")) {
			o->scrub = strtoull(options->value, NULL, 10);
			continue;
		}
		if (!strcmp(options->name, "urgent_memory")) {
			o->urgent_memory = strtoull(options->value, NULL, 10);
			o->urgent_memory_set = true;
			continue;
		}
		if (!strcmp(options->name, "keep")) {
			o->keep = strcmp(options->value, "no") != 0;
			continue;
		}
		if (!strcmp(options->name, "check")) {
			o->full_check = !strcmp(options->value, "full");
			if (!o->full_check && strcmp(options->value, "fast"))
				return error_set(err, CUZK_ERROR_INPUT, -EINVAL,
						 "check: %s: expected fast or full",
						 options->value);
			continue;
		}
		if (!strcmp(options->name, "params_dir"))
			text = &o->params_dir;
		else if (!strcmp(options->name, "cache_dir"))
			text = &o->cache_dir;
		else if (!strcmp(options->name, "manifest"))
			text = &o->manifest;
		else if (!strcmp(options->name, "verdicts"))
			text = &o->verdicts;
		else
			return error_set(err, CUZK_ERROR_INPUT, -EINVAL, "%s: no such parameter",
					 options->name);
		free(*text);
		*text = strdup(options->value);
		if (!*text)
			return error_nomem(err, "an option");
	}
	cache = cache_dir(o->cache_dir);
	if (!o->verdicts && cache && asprintf(&o->verdicts, "%s/verdicts", cache) < 0) {
		o->verdicts = NULL;
		return error_nomem(err, "an option");
	}
	if (!o->params_dir)
		return error_set(err, CUZK_ERROR_INPUT, -EINVAL, "params_dir is not set");
	return 0;
}

static int list_circuits(struct cuzk_instance *inst, struct cuzk_error *err)
{
	char name[PARAMS_NAME_MAX];
	struct circuit_state *line;
	size_t n, i;

	for (n = 0; circuit_name(n); n++)
		;
	inst->circuits = calloc(n, sizeof(*inst->circuits));
	if (!inst->circuits)
		return error_nomem(err, "the table of circuits");
	for (i = 0; i < n; i++) {
		line = &inst->circuits[inst->n_circuits];
		if (circuit_find(circuit_name(i), &line->circuit) ||
		    params_name(circuit_name(i), "params", name) < 0)
			continue;
		if (snprintf(line->path, sizeof(line->path), "%s/%s", inst->options.params_dir,
			     name) >= (int)sizeof(line->path))
			return error_set(err, CUZK_ERROR_INPUT, -ENAMETOOLONG,
					 "params_dir: the path is too long");
		if (!inst->late)
			key_probe(inst, line);
		inst->n_circuits++;
	}
	return 0;
}

static int open_device(struct cuzk_instance *inst, const struct cuzk_device *dev,
		       struct cuzk_error *err)
{
	struct gpu_config config = {
		.size = sizeof(config),
		.device = dev->id,
		.threads = dev->threads,
		.vram_budget = dev->vram_budget,
		.host_budget = dev->host_budget,
		.progress = job_gpu_progress,
		.log = instance_gpu_log,
		.cancelled = job_gpu_cancelled,
		.arg = inst,
		.gate = &inst->gate,
	};
	char text[256] = "";
	int ret;

	if (dev->backend && !strcmp(dev->backend, "cpu"))
		inst->ops = &gpu_cpu_ops;
	else if (dev->backend && !strcmp(dev->backend, "gpu"))
		inst->ops = gpu_cuda_ops();
	else
		return error_set(err, CUZK_ERROR_INPUT, -EINVAL, "no backend of the name %s",
				 dev->backend ? dev->backend : "(none)");
	if (!inst->ops)
		return error_set(err, CUZK_ERROR_DEVICE, -ENODEV, "built without CUDA");
	ret = inst->ops->open(&inst->gpu, &config, text);
	if (ret)
		return error_set(err, ret == -ENOMEM ? CUZK_ERROR_RESOURCE : CUZK_ERROR_DEVICE, ret,
				 "%s: %s", inst->ops->name, *text ? text : strerror(-ret));
	return 0;
}

static int probe(const struct cuzk_host *host, const struct cuzk_device *device,
		 const struct cuzk_option *options, bool late, struct cuzk_instance **out,
		 struct cuzk_error *err)
{
	struct cuzk_device dev = { .size = 0 };
	struct cuzk_instance *inst;
	int ret;

	memcpy(&dev, device, device->size < sizeof(dev) ? device->size : sizeof(dev));
	inst = calloc(1, sizeof(*inst));
	if (!inst)
		return error_nomem(err, "the instance");
	copy_host(&inst->host, host);
	inst->ordinal = dev.ordinal;
	inst->late = late;
	gate_init(&inst->gate);
	pthread_mutex_init(&inst->gpu_lock, NULL);
	pthread_mutex_init(&inst->keys_lock, NULL);
	pthread_mutex_init(circuits_lock(inst), NULL);
	pthread_mutex_init(&inst->jobs_lock, NULL);
	pthread_cond_init(&inst->jobs_wake, NULL);
	pthread_mutex_init(&inst->scrub_lock, NULL);
	pthread_cond_init(&inst->scrub_wake, NULL);
	pthread_cond_init(&inst->kept_changed, NULL);
	ret = read_options(&inst->options, options, err);
	if (ret)
		goto err_remove;
	ret = tpool_open(&inst->pool, dev.threads);
	if (!ret)
		ret = tpool_open(&inst->admit_pool, dev.threads);
	if (ret) {
		error_set(err, CUZK_ERROR_RESOURCE, ret, "starting threads: %s", strerror(-ret));
		goto err_remove;
	}
	tpool_set_gate(inst->pool, &inst->gate);
	ret = open_device(inst, &dev, err);
	if (!ret && !late)
		ret = urgent_open(inst, &dev, err);
	if (ret)
		goto err_remove;
	ret = list_circuits(inst, err);
	if (ret)
		goto err_remove;
	if (!late)
		key_restore(inst);
	if (inst->urgent)
		key_restore(inst->urgent);
	ret = job_start_tail(inst, err);
	if (!ret)
		ret = scrub_start(inst, err);
	if (!ret)
		ret = kept_verify_start(inst, err);
	if (!ret && inst->urgent)
		ret = kept_verify_start(inst->urgent, err);
	if (ret)
		goto err_remove;
	*out = inst;
	return 0;

err_remove:
	instance_remove(inst);
	return ret;
}

int instance_probe(const struct cuzk_host *host, const struct cuzk_device *device,
		   const struct cuzk_option *options, struct cuzk_instance **inst,
		   struct cuzk_error *err)
{
	return probe(host, device, options, false, inst, err);
}

int instance_probe_late(const struct cuzk_host *host, const struct cuzk_device *device,
			const struct cuzk_option *options, struct cuzk_instance **inst,
			struct cuzk_error *err)
{
	return probe(host, device, options, true, inst, err);
}

void instance_remove(struct cuzk_instance *inst)
{
	if (!inst)
		return;
	scrub_stop(inst);
	kept_verify_stop(inst);
	urgent_close(inst);
	job_stop_tail(inst);
	if (inst->gpu) {
		key_evict_all(inst);
		inst->ops->close(inst->gpu);
	}
	tpool_close(inst->admit_pool);
	tpool_close(inst->pool);
	pthread_cond_destroy(&inst->kept_changed);
	pthread_cond_destroy(&inst->scrub_wake);
	pthread_mutex_destroy(&inst->scrub_lock);
	pthread_cond_destroy(&inst->jobs_wake);
	pthread_mutex_destroy(&inst->jobs_lock);
	pthread_mutex_destroy(circuits_lock(inst));
	pthread_mutex_destroy(&inst->keys_lock);
	pthread_mutex_destroy(&inst->gpu_lock);
	gate_fini(&inst->gate);
	free(inst->circuits);
	free(inst->options.params_dir);
	free(inst->options.cache_dir);
	free(inst->options.manifest);
	free(inst->options.verdicts);
	free(inst);
}

struct circuit_state *instance_find(struct cuzk_instance *inst, const char *circuit)
{
	size_t i;

	for (i = 0; i < inst->n_circuits; i++)
		if (!strcmp(inst->circuits[i].circuit.name, circuit))
			return &inst->circuits[i];
	return NULL;
}

static uint32_t proof_kind(enum circuit_kind kind)
{
	switch (kind) {
	case CIRCUIT_WINNING:
		return CUZK_KIND_WINNING_POST;
	case CIRCUIT_WINDOW:
		return CUZK_KIND_WINDOW_POST;
	case CIRCUIT_POREP:
		return CUZK_KIND_POREP;
	case CIRCUIT_UPDATE:
		return CUZK_KIND_UPDATE;
	default:
		return CUZK_KIND_UNSPECIFIED;
	}
}

int instance_circuits(struct cuzk_instance *inst, struct cuzk_circuit *out, int max)
{
	int n = 0;
	size_t i;

	for (i = 0; i < inst->n_circuits; i++) {
		struct circuit_state *line = &inst->circuits[i];
		struct cuzk_circuit c = { .size = sizeof(c) };
		uint32_t kind = proof_kind(line->circuit.kind);

		/* those that no request leads to are for commands only */
		if (kind == CUZK_KIND_UNSPECIFIED)
			continue;
		if (n < max) {
			snprintf(c.id, sizeof(c.id), "%s", line->circuit.name);
			c.kind = kind;
			c.sector_size = 32ull << line->circuit.log_nodes;
			pthread_mutex_lock(circuits_lock(inst));
			c.state = line->state;
			c.params_bytes = line->params_bytes;
			c.users = line->users;
			snprintf(c.reason, sizeof(c.reason), "%s", line->reason);
			pthread_mutex_unlock(circuits_lock(inst));
			if (out[n].size && out[n].size < c.size)
				c.size = out[n].size;
			memcpy(&out[n], &c, c.size);
		}
		n++;
	}
	return n;
}
