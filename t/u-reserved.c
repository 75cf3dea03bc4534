/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * u-reserved.c - fault class "memory exhausted": what is allocated was reserved before
 *
 * The linker puts our functions in place of the allocator's.  Blocks of more than 1 MiB
 * are counted, and at each of them their sum must be within what the engine has
 * reserved with its host.  Pages of parameter files are the page cache's.
 */
#include <errno.h>
#include <execinfo.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/groth16/command.h"
#include "engine/groth16/instance.h"
#include "engine/groth16/request.h"
#include "t/quiet.h"
#include "t/tap.h"

#define BIG ((size_t)1 << 20)
#define MAPS 256

static _Atomic int64_t live, reserved, live_peak, reserved_peak, worst;
static atomic_bool watching;
static void *worst_trace[24];
static int worst_depth;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;	/* maps, worst_trace */
static struct {
	void *p;
	size_t size;
} maps[MAPS];

static void raise_peak(_Atomic int64_t *peak, int64_t value)
{
	int64_t old = atomic_load(peak);

	while (value > old && !atomic_compare_exchange_weak(peak, &old, value))
		;
}

static void grown(int64_t by)
{
	int64_t now = atomic_fetch_add(&live, by) + by, over = now - atomic_load(&reserved);

	if (!atomic_load(&watching))
		return;
	raise_peak(&live_peak, now);
	if (over <= atomic_load(&worst))
		return;
	atomic_store(&worst, over);
	pthread_mutex_lock(&lock);
	worst_depth = backtrace(worst_trace, 24);
	pthread_mutex_unlock(&lock);
}

/* ---- in place of the allocator's ---- */

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
void *__real_reallocarray(void *p, size_t n, size_t size);
void *__real_aligned_alloc(size_t align, size_t size);
void __real_free(void *p);
void *__real_mmap(void *at, size_t size, int prot, int flags, int fd, off_t offset);
int __real_munmap(void *p, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t size);
void *__wrap_reallocarray(void *p, size_t n, size_t size);
void *__wrap_aligned_alloc(size_t align, size_t size);
void __wrap_free(void *p);
void *__wrap_mmap(void *at, size_t size, int prot, int flags, int fd, off_t offset);
int __wrap_munmap(void *p, size_t size);

/* What it has of a block, if that is a big one. */
static int64_t big(void *p)
{
	size_t size = p ? malloc_usable_size(p) : 0;

	return size >= BIG ? (int64_t)size : 0;
}

static void *counted(void *p)
{
	if (big(p))
		grown(big(p));
	return p;
}

void *__wrap_malloc(size_t size)
{
	return counted(__real_malloc(size));
}

void *__wrap_calloc(size_t n, size_t size)
{
	return counted(__real_calloc(n, size));
}

void *__wrap_aligned_alloc(size_t align, size_t size)
{
	return counted(__real_aligned_alloc(align, size));
}

void *__wrap_realloc(void *p, size_t size)
{
	int64_t old = big(p);
	void *q = __real_realloc(p, size);

	if (q || !size)
		atomic_fetch_sub(&live, old);
	return counted(q);
}

void *__wrap_reallocarray(void *p, size_t n, size_t size)
{
	int64_t old = big(p);
	void *q = __real_reallocarray(p, n, size);

	if (q)
		atomic_fetch_sub(&live, old);
	return counted(q);
}

void __wrap_free(void *p)
{
	atomic_fetch_sub(&live, big(p));
	__real_free(p);
}

void *__wrap_mmap(void *at, size_t size, int prot, int flags, int fd, off_t offset)
{
	void *p = __real_mmap(at, size, prot, flags, fd, offset);
	struct stat st = { .st_nlink = 1 };
	unsigned int i;

	/* of a file without a name, or of none: ours alone */
	if (fd >= 0)
		fstat(fd, &st);
	if (p == MAP_FAILED || size < BIG || (!(flags & MAP_ANONYMOUS) && st.st_nlink))
		return p;
	pthread_mutex_lock(&lock);
	for (i = 0; i < MAPS && maps[i].p; i++)
		;
	if (i < MAPS) {
		maps[i].p = p;
		maps[i].size = size;
	}
	pthread_mutex_unlock(&lock);
	grown((int64_t)size);
	return p;
}

int __wrap_munmap(void *p, size_t size)
{
	unsigned int i;

	pthread_mutex_lock(&lock);
	for (i = 0; i < MAPS && maps[i].p != p; i++)
		;
	if (i < MAPS) {
		maps[i].p = NULL;
		atomic_fetch_sub(&live, (int64_t)maps[i].size);
	}
	pthread_mutex_unlock(&lock);
	return __real_munmap(p, size);
}

/* ---- the host ---- */

static pthread_mutex_t host_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t host_changed = PTHREAD_COND_INITIALIZER;
static unsigned int n_done, n_good;
static int kept = -1;

static void host_complete(void *ctx, uint64_t tag, const struct cuzk_result *result)
{
	pthread_mutex_lock(&host_lock);
	n_good += !result->status;
	if (result->status)
		diag("%s", result->text);
	n_done++;
	pthread_cond_broadcast(&host_changed);
	pthread_mutex_unlock(&host_lock);
}

static int host_reserve(void *ctx, const char *name, uint64_t bytes)
{
	raise_peak(&reserved_peak, atomic_fetch_add(&reserved, (int64_t)bytes) + (int64_t)bytes);
	return 0;
}

static void host_release(void *ctx, const char *name, uint64_t bytes)
{
	atomic_fetch_sub(&reserved, (int64_t)bytes);
}

static int host_put(void *ctx, const char *name, int fd, uint64_t bytes)
{
	if (kept >= 0)
		close(kept);
	kept = dup(fd);
	return 0;
}

static int host_get(void *ctx, const char *name)
{
	return -ENOENT;
}

static void host_drop(void *ctx, const char *name)
{
	if (kept >= 0)
		close(kept);
	kept = -1;
}

static void host_log(void *ctx, int priority, const char *line)
{
	if (priority < 6)
		diag("%s", line);
}

static struct cuzk_host host = {
	.size = sizeof(host), .abi_major = CUZK_ENGINE_ABI_MAJOR,
	.abi_minor = CUZK_ENGINE_ABI_MINOR, .log = host_log, .complete = host_complete,
	.reserve = host_reserve, .release = host_release, .memory_put = host_put,
	.memory_get = host_get, .memory_drop = host_drop,
};

static int make_params(char *dir, char *circuit)
{
	char *make[] = { "params", "make", circuit, "--out", dir };
	int out = quiet_begin(), ret;

	ret = command_run(&host, 5, make);
	quiet_end(out);
	return ret;
}

static void test_circuit(struct cuzk_instance *inst, const char *kind)
{
	struct cuzk_plan plan = { .size = sizeof(plan) };
	struct cuzk_error err = { .text = "" };
	struct cuzk_task *task;
	struct cuzk_request *req;
	char path[64];
	unsigned int i;
	int ret = 0, d;
	bool was;
	uint64_t bytes;

	snprintf(path, sizeof(path), "requests/%s.json", kind);
	if (!ok(!request_read(data_path(path), &req, &err), "%s: a request %s", kind, err.text))
		return;
	atomic_store(&worst, 0);
	atomic_store(&live_peak, 0);
	atomic_store(&reserved_peak, 0);
	atomic_store(&watching, true);
	n_done = n_good = 0;
	if (!ok(!job_admit(inst, req, &task, &plan, &err), "%s: admitted %s", kind, err.text))
		return;
	/* as many as it takes at a time, one behind the other */
	for (i = 0; i < 3; i++) {
		while ((ret = job_prove(inst, task, 0, i + 1, &err)) == -EAGAIN)
			usleep(1000);
		if (ret)
			break;
	}
	pthread_mutex_lock(&host_lock);
	while (!ret && n_done < 3)
		pthread_cond_wait(&host_changed, &host_lock);
	pthread_mutex_unlock(&host_lock);
	job_task_free(task);
	request_free(req);
	atomic_store(&watching, false);
	ok(!ret && n_good == 3, "%s: three proofs %s", kind, err.text);
	if (!ok(atomic_load(&worst) == 0 && atomic_load(&live_peak) > 0,
		"%s: at most %lld KiB in big blocks, of %lld KiB reserved at most, never more than was reserved",
		kind, (long long)live_peak >> 10, (long long)reserved_peak >> 10)) {
		diag("%lld KiB beyond, in:", (long long)worst >> 10);
		char **names = backtrace_symbols(worst_trace, worst_depth);

		for (d = 0; names && d < worst_depth; d++)
			diag("%s", names[d]);
		free(names);
	}
	ok(!key_evict(inst, instance_find(inst, plan.circuit), &was, &bytes) && was &&
	   atomic_load(&reserved) == 0, "%s: evicted, nothing stays reserved", kind);
	ok(atomic_load(&live) < (int64_t)BIG * 64, "%s: nor allocated: %lld KiB", kind,
	   (long long)live >> 10);
}

int main(void)
{
	static char *const circuits[] = { "window-2k", "winning-2k", "update-2k" };
	const char *require = getenv("CUZK_TEST_REQUIRE");
	unsigned int n = require && strstr(require, "long") ? 3 : 2;
	struct cuzk_device dev = { .size = sizeof(dev), .backend = "cpu", .threads = 2 };
	const char *build = getenv("CUZK_BUILDDIR");
	struct cuzk_error err = { .text = "" };
	struct cuzk_instance *inst;
	char dir[4096], cache[4200], command[4300];
	struct cuzk_option opts[] = { { "params_dir", dir }, { "cache_dir", cache }, { NULL } };
	unsigned int i;

	snprintf(dir, sizeof(dir), "%s/u-reserved.XXXXXX", build ? build : ".");
	if (!mkdtemp(dir)) {
		printf("Bail out! no temporary folder\n");
		return 1;
	}
	snprintf(cache, sizeof(cache), "%s/cache", dir);
	diag("fault class \"memory exhausted\"");
	for (i = 0; i < n; i++)
		ok(!make_params(dir, circuits[i]), "parameters of %s", circuits[i]);
	if (instance_probe(&host, &dev, opts, &inst, &err)) {
		printf("Bail out! %s\n", err.text);
		return 1;
	}
	diag("%lld KiB in big blocks before anything is loaded", (long long)live >> 10);
	for (i = 0; i < n; i++)
		test_circuit(inst, circuits[i]);
	instance_remove(inst);
	host_drop(NULL, "");
	ok(atomic_load(&live) == 0, "at the end nothing is left: %lld KiB", (long long)live >> 10);
	snprintf(command, sizeof(command), "rm -r '%s'", dir);
	if (system(command))
		diag("cannot remove %s", dir);
	return tap_done();
}
