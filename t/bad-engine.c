/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* bad-engine.c - engines that a host must refuse; BAD_... chooses the mistake */
#include <errno.h>
#include <string.h>

#include "plugin/api/cuzk_engine.h"

#define EXPORT __attribute__((visibility("default")))

#ifndef BAD_NO_MODINFO
CUZK_MODINFO("name", "bad");
CUZK_MODINFO("version", "1");
CUZK_MODINFO_ABI();
CUZK_MODINFO("param", "size:size:1M:a size");
#endif

#ifdef BAD_UNDEFINED
int defined_nowhere(void);
#endif

static int probe(const struct cuzk_host *host, const struct cuzk_device *device,
		 const struct cuzk_option *options, struct cuzk_instance **inst,
		 struct cuzk_error *err)
{
	return -ENODEV;
}

static void remove_it(struct cuzk_instance *inst)
{
}

static int self_test(struct cuzk_instance *inst, struct cuzk_error *err)
{
	return 0;
}

static int circuits(struct cuzk_instance *inst, struct cuzk_circuit *out, int max)
{
	return 0;
}

static int admit(struct cuzk_instance *inst, const struct cuzk_request *request,
		 struct cuzk_task **task, struct cuzk_plan *plan, struct cuzk_error *err)
{
	return -EINVAL;
}

static void task_free(struct cuzk_task *task)
{
}

static int prove(struct cuzk_instance *inst, struct cuzk_task *task, uint32_t partition,
		 uint64_t tag, struct cuzk_error *err)
{
	return -EINVAL;
}

static const struct cuzk_param params[] = {
#ifdef BAD_PARAM_TYPE
	{ .name = "size", .type = 77, .help = "?" },
#endif
#ifdef BAD_PARAM_RESERVED
	{ .name = "size", .type = CUZK_PARAM_INT, .reserved = 1, .help = "?" },
#endif
#ifdef BAD_PARAM_RANGE
	{ .name = "size", .type = CUZK_PARAM_INT, .min = 2, .max = 1, .help = "?" },
#endif
	{ .name = NULL }
};

/* A table with room for what a later version may append. */
static struct {
	struct cuzk_engine_ops ops;
	char later[64];
} table __attribute__((unused)) = { .ops = {
	.size = sizeof(struct cuzk_engine_ops),
	.abi_major = CUZK_ENGINE_ABI_MAJOR,
	.abi_minor = CUZK_ENGINE_ABI_MINOR,
	.caps = CUZK_CAP_CPU,
	.name = "bad",
	.version = "1",
	.params = params,
	.probe = probe,
	.remove = remove_it,
	.self_test = self_test,
	.circuits = circuits,
	.admit = admit,
	.task_free = task_free,
	.prove = prove,
} };

#ifndef BAD_NO_SYMBOL
EXPORT int cuzk_engine_entry(const struct cuzk_host *host, const struct cuzk_engine_ops **ops);

int cuzk_engine_entry(const struct cuzk_host *host, const struct cuzk_engine_ops **ops)
{
#ifdef BAD_MAJOR
	table.ops.abi_major = 2;
#endif
#ifdef BAD_NEWER
	table.ops.abi_minor = 7;
	table.ops.size = sizeof(table);
	memset(table.later, 0xff, sizeof(table.later));
#endif
#ifdef BAD_OLDER
	/* what lies behind its table is not its own */
	table.ops.abi_minor = 1;
	table.ops.size = offsetof(struct cuzk_engine_ops, prove_urgent);
	memset(&table.ops.prove_urgent, 0xff, sizeof(table.ops.prove_urgent));
#endif
#ifdef BAD_NO_PROVE
	table.ops.prove = NULL;
#endif
#ifdef BAD_SHORT
	table.ops.size = offsetof(struct cuzk_engine_ops, admit);
#endif
#ifdef BAD_TINY
	table.ops.size = sizeof(size_t);
#endif
#ifdef BAD_CAPS
	table.ops.caps |= 1ull << 60;
#endif
#ifdef BAD_NO_CANCEL
	table.ops.caps |= CUZK_CAP_CANCEL;
#endif
#ifdef BAD_NO_URGENT
	table.ops.caps |= CUZK_CAP_URGENT;
#endif
#ifdef BAD_NO_BACKEND
	table.ops.caps = 0;
#endif
#ifdef BAD_NO_NAME
	table.ops.name = NULL;
#endif
#ifdef BAD_UNDEFINED
	if (defined_nowhere())
		return -EIO;
#endif
#ifdef BAD_EPROTO
	return -EPROTO;
#endif
#ifdef BAD_EIO
	return -EIO;
#endif
#ifndef BAD_NOTHING
	*ops = &table.ops;
#endif
	return 0;
}
#endif
