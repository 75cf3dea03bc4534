/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * stage-engine.c - another engine, and an end in a stage of its work
 *
 * Loads inner.so from its own folder and passes everything through.  A file "stage" beside it,
 * "STAGE PARTITION WHOM TOKEN", says in which stage (enum cuzk_stage, or a number
 * below) of which partition (-1: any) WHOM, the service or this instance, gets
 * SIGKILL, if TOKEN can be removed: once for each time that somebody makes it.
 * A file "names" has names of memory to reserve.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plugin/api/cuzk_engine.h"

#define STAGE_ADMIT 100		/* admission has begun */
#define STAGE_PROVED 101	/* the proof is made, the host does not have it */
#define STAGE_TOLD 102		/* the host has been told */

#define TAGS 64			/* remembered, the newest */

CUZK_MODINFO("name", "stage");
CUZK_MODINFO("version", "1");
CUZK_MODINFO("licence", "MIT OR Apache-2.0");
CUZK_MODINFO("description", "ends in a stage of another engine's work; for tests");
CUZK_MODINFO_ABI();

static struct cuzk_engine_ops inner, ops;
static struct cuzk_host outer;	/* the host's own */
static char folder[3000];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
	uint64_t tag;
	uint32_t partition;
} tags[TAGS];			/* lock */
static unsigned int n_tags;	/* lock */

static int partition_of(uint64_t tag)
{
	int partition = -1;
	unsigned int i;

	pthread_mutex_lock(&lock);
	for (i = 0; i < TAGS; i++)
		if (tags[i].tag == tag)
			partition = (int)tags[i].partition;
	pthread_mutex_unlock(&lock);
	return partition;
}

static void reach(int stage, uint64_t tag)
{
	char path[sizeof(folder) + 8], whom[16], token[512];
	int want, partition, n;
	FILE *f;

	snprintf(path, sizeof(path), "%s/stage", folder);
	f = fopen(path, "re");
	if (!f)
		return;
	n = fscanf(f, "%d %d %15s %511s", &want, &partition, whom, token);
	fclose(f);
	if (n != 4 || want != stage || (partition >= 0 && partition != partition_of(tag)) ||
	    unlink(token))
		return;
	kill(strcmp(whom, "service") ? getpid() : getppid(), SIGKILL);
	/* without the service this process has no time left */
	for (;;)
		pause();
}

static void heartbeat(void *ctx, uint64_t tag, uint32_t stage, uint64_t done, uint64_t total)
{
	outer.heartbeat(outer.ctx, tag, stage, done, total);
	if (tag)
		reach((int)stage, tag);
}

static void complete(void *ctx, uint64_t tag, const struct cuzk_result *result)
{
	reach(STAGE_PROVED, tag);
	outer.complete(outer.ctx, tag, result);
	reach(STAGE_TOLD, tag);
}

static void wrap(const struct cuzk_host *host, struct cuzk_host *mine)
{
	outer = *host;
	*mine = *host;
	mine->heartbeat = heartbeat;
	mine->complete = complete;
}

/* Memory under each of the names in a file "names", each with its NUL. */
static void reserve_names(void)
{
	char path[sizeof(folder) + 8], name[64];
	size_t n = 0;
	FILE *f;
	int c;

	snprintf(path, sizeof(path), "%s/names", folder);
	f = fopen(path, "re");
	if (!f)
		return;
	while ((c = fgetc(f)) != EOF) {
		if (n < sizeof(name))
			name[n++] = (char)c;
		if (c)
			continue;
		outer.reserve(outer.ctx, name, 1000);
		n = 0;
	}
	fclose(f);
}

static int probe(const struct cuzk_host *host, const struct cuzk_device *device,
		 const struct cuzk_option *options, struct cuzk_instance **inst,
		 struct cuzk_error *err)
{
	struct cuzk_host mine;

	wrap(host, &mine);
	reserve_names();
	return inner.probe(&mine, device, options, inst, err);
}

static int admit(struct cuzk_instance *inst, const struct cuzk_request *request,
		 struct cuzk_task **task, struct cuzk_plan *plan, struct cuzk_error *err)
{
	reach(STAGE_ADMIT, 0);
	return inner.admit(inst, request, task, plan, err);
}

static int prove(struct cuzk_instance *inst, struct cuzk_task *task, uint32_t partition,
		 uint64_t tag, struct cuzk_error *err)
{
	pthread_mutex_lock(&lock);
	tags[n_tags].tag = tag;
	tags[n_tags].partition = partition;
	n_tags = (n_tags + 1) % TAGS;
	pthread_mutex_unlock(&lock);
	return inner.prove(inst, task, partition, tag, err);
}

__attribute__((visibility("default")))
int cuzk_engine_entry(const struct cuzk_host *host, const struct cuzk_engine_ops **out);

int cuzk_engine_entry(const struct cuzk_host *host, const struct cuzk_engine_ops **out)
{
	const struct cuzk_engine_ops *theirs;
	char path[sizeof(folder) + 16];
	cuzk_engine_entry_fn entry;
	struct cuzk_host mine;
	void *library;
	Dl_info info;
	int ret;

	if (!dladdr((void *)cuzk_engine_entry, &info) ||
	    strlen(info.dli_fname) >= sizeof(folder))
		return -EIO;
	strcpy(folder, info.dli_fname);
	*strrchr(folder, '/') = '\0';
	snprintf(path, sizeof(path), "%s/inner.so", folder);
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	entry = library ? (cuzk_engine_entry_fn)dlsym(library, CUZK_ENGINE_ENTRY) : NULL;
	if (!entry) {
		fprintf(stderr, "<3>stage engine: %s\n", dlerror());
		return -ENOENT;
	}
	wrap(host, &mine);
	ret = entry(&mine, &theirs);
	if (ret)
		return ret;
	memcpy(&inner, theirs, theirs->size < sizeof(inner) ? theirs->size : sizeof(inner));
	ops = inner;
	ops.probe = probe;
	ops.admit = admit;
	ops.prove = prove;
	*out = &ops;
	return 0;
}
