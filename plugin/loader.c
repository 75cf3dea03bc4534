/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* loader.c - loads an engine's shared object, strictly */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plugin/loader.h"

#define CAPS_KNOWN (CUZK_CAP_CPU | CUZK_CAP_GPU | CUZK_CAP_PRELOAD | CUZK_CAP_CANCEL |	\
		    CUZK_CAP_COMMAND | CUZK_CAP_OVERLAP | CUZK_CAP_MEMORY | CUZK_CAP_URGENT)

__attribute__((format(printf, 3, 4)))
static int refuse(char why[LOADER_WHY], int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, LOADER_WHY, fmt, ap);
	va_end(ap);
	return err;
}

/* ---- files and symbols ---- */

int loader_path(const char *library, char *path, size_t size)
{
	int n;

	if (*library == '/')
		n = snprintf(path, size, "%s", library);
	else
		n = snprintf(path, size, "%s/%s.so", CUZK_ENGINEDIR, library);
	return n < 0 || (size_t)n >= size ? -ENAMETOOLONG : 0;
}

static int check_file(const char *path, char why[LOADER_WHY])
{
	struct stat st;

	if (stat(path, &st) < 0)
		return refuse(why, -errno, "%s: %s", path, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return refuse(why, -EINVAL, "%s: not a regular file", path);
	if (st.st_mode & S_IWOTH)
		return refuse(why, -EPERM, "%s: everybody may write to it", path);
	return 0;
}

int loader_dlopen(const char *library, void **handle, char why[LOADER_WHY])
{
	char path[PATH_MAX];
	void *dl;
	int r;

	r = loader_path(library, path, sizeof(path));
	if (r < 0)
		return refuse(why, r, "library name too long");
	r = check_file(path, why);
	if (r < 0)
		return r;
	dl = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	if (!dl)
		return refuse(why, -ENOEXEC, "%s", dlerror());
	*handle = dl;
	return 0;
}

int loader_symbol(void *handle, const char *name, void **symbol, char why[LOADER_WHY])
{
	struct link_map *own, *from;
	Dl_info info;
	void *s;

	if (dlinfo(handle, RTLD_DI_LINKMAP, &own) < 0)
		return refuse(why, -ENOEXEC, "%s", dlerror());
	s = dlsym(handle, name);
	if (!s)
		return refuse(why, -ENOENT, "%s: no symbol %s", own->l_name, name);
	if (!dladdr1(s, &info, (void **)&from, RTLD_DL_LINKMAP) || from != own)
		return refuse(why, -ENOENT, "%s: symbol %s comes from %s, not from it",
			      own->l_name, name, info.dli_fname ? info.dli_fname : "elsewhere");
	*symbol = s;
	return 0;
}

/* ---- stubs for what an engine does not offer ---- */

static int no_circuit(struct cuzk_instance *inst, const char *circuit, bool *was,
		      uint64_t *bytes, struct cuzk_error *err)
{
	err->cls = CUZK_ERROR_INTERNAL;
	snprintf(err->text, sizeof(err->text), "the engine keeps no parameters");
	return -ENOSYS;
}

static void no_cancel(struct cuzk_instance *inst, uint64_t tag)
{
}

static int no_command(const struct cuzk_host *host, int argc, char **argv)
{
	return -ENOSYS;
}

/* ---- the table ---- */

static int check_ops(const struct cuzk_engine_ops *ops, const char *path, char why[LOADER_WHY])
{
	const struct {
		const char *name;
		bool set, promised;
	} needs[] = {
		{ "probe", ops->probe, true },
		{ "remove", ops->remove, true },
		{ "self_test", ops->self_test, true },
		{ "circuits", ops->circuits, true },
		{ "admit", ops->admit, true },
		{ "task_free", ops->task_free, true },
		{ "prove", ops->prove, true },
		{ "cancel", ops->cancel, ops->caps & CUZK_CAP_CANCEL },
		{ "preload", ops->preload, ops->caps & CUZK_CAP_PRELOAD },
		{ "evict", ops->evict, ops->caps & CUZK_CAP_PRELOAD },
		{ "command", ops->command, ops->caps & CUZK_CAP_COMMAND },
		{ "prove_urgent", ops->prove_urgent, ops->caps & CUZK_CAP_URGENT },
	};
	unsigned int i;

	for (i = 0; i < sizeof(needs) / sizeof(needs[0]); i++) {
		if (needs[i].promised && !needs[i].set)
			return refuse(why, -EINVAL, "%s: engine %s has no operation %s", path,
				      ops->name, needs[i].name);
	}
	return 0;
}

static int check_params(const struct cuzk_engine_ops *ops, const char *path,
			char why[LOADER_WHY])
{
	const struct cuzk_param *p;

	for (p = ops->params; p && p->name; p++) {
		if (p->type < CUZK_PARAM_BOOL || p->type > CUZK_PARAM_PATH)
			return refuse(why, -EINVAL, "%s: parameter %s has the unknown type %u",
				      path, p->name, p->type);
		if (p->reserved)
			return refuse(why, -EINVAL, "%s: parameter %s: reserved field is not zero",
				      path, p->name);
		if (!p->help)
			return refuse(why, -EINVAL, "%s: parameter %s has no help", path, p->name);
		if ((p->type == CUZK_PARAM_INT || p->type == CUZK_PARAM_SIZE) && p->min > p->max)
			return refuse(why, -EINVAL, "%s: parameter %s: min exceeds max", path,
				      p->name);
	}
	return 0;
}

static void fill_holes(struct cuzk_engine_ops *ops)
{
	if (!(ops->caps & CUZK_CAP_CANCEL))
		ops->cancel = no_cancel;
	if (!(ops->caps & CUZK_CAP_PRELOAD)) {
		ops->preload = no_circuit;
		ops->evict = no_circuit;
	}
	if (!(ops->caps & CUZK_CAP_COMMAND))
		ops->command = no_command;
}

int loader_check(const struct cuzk_engine_ops *foreign, struct cuzk_engine_ops *ops,
		 const char *path, char why[LOADER_WHY])
{
	struct cuzk_engine_ops own = { 0 };
	size_t size = foreign->size;
	int r;

	/* Nothing below may be read from a table that does not reach so far. */
	if (size < offsetof(struct cuzk_engine_ops, params))
		return refuse(why, -EINVAL, "%s: operation table of %zu bytes is too short", path,
			      size);
	memcpy(&own, foreign, size < sizeof(own) ? size : sizeof(own));
	own.size = sizeof(own);
	if (own.abi_major != CUZK_ENGINE_ABI_MAJOR)
		return refuse(why, -EPROTO, "%s: made for engine ABI %u.%u, this host has %u.%u",
			      path, own.abi_major, own.abi_minor, CUZK_ENGINE_ABI_MAJOR,
			      CUZK_ENGINE_ABI_MINOR);
	if (!own.name || !*own.name || !own.version)
		return refuse(why, -EINVAL, "%s: engine without name or version", path);
	if (own.caps & ~CAPS_KNOWN)
		return refuse(why, -EINVAL, "%s: engine %s offers unknown capabilities 0x%llx",
			      path, own.name, (unsigned long long)(own.caps & ~CAPS_KNOWN));
	if (!(own.caps & (CUZK_CAP_CPU | CUZK_CAP_GPU)))
		return refuse(why, -EINVAL, "%s: engine %s serves neither cpu nor gpu", path,
			      own.name);
	r = check_ops(&own, path, why);
	if (!r)
		r = check_params(&own, path, why);
	if (r < 0)
		return r;
	fill_holes(&own);
	*ops = own;
	return 0;
}

int loader_open(const char *library, const struct cuzk_host *host, struct cuzk_engine_ops *ops,
		char why[LOADER_WHY])
{
	const struct cuzk_engine_ops *foreign = NULL;
	char path[PATH_MAX];
	void *handle, *entry;
	int r;

	r = loader_dlopen(library, &handle, why);
	if (r < 0)
		return r;
	r = loader_symbol(handle, CUZK_ENGINE_ENTRY, &entry, why);
	if (r < 0)
		return r;
	loader_path(library, path, sizeof(path));
	r = ((cuzk_engine_entry_fn)entry)(host, &foreign);
	if (r == -EPROTO)
		return refuse(why, r, "%s: refuses engine ABI %u.%u of this host", path,
			      host->abi_major, host->abi_minor);
	if (r < 0)
		return refuse(why, r, "%s: " CUZK_ENGINE_ENTRY ": %s", path, strerror(-r));
	if (r > 0 || !foreign)
		return refuse(why, -EINVAL, "%s: " CUZK_ENGINE_ENTRY " gave no operations", path);
	return loader_check(foreign, ops, path, why);
}
