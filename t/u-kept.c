/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * u-kept.c - loaded parameters in the host's kept memory: taken, shared, damaged
 *
 * The test is the host: it keeps what an instance of the built engine puts, and
 * shows it, or a copy with a wrong bit, to the next.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lib/crc32c.h"
#include "lib/request_json.h"
#include "plugin/api/cuzk_engine.h"
#include "t/quiet.h"
#include "t/tap.h"

#define CIRCUIT "winning-2k"
#define SEALS (F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

static const struct cuzk_engine_ops *ops;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int kept = -1;			/* what is shown */
static uint64_t kept_bytes;
static unsigned int puts_seen, drops_seen, damage_seen, other_seen;
static struct cuzk_result result;
static unsigned int n_results;

static void host_log(void *ctx, int priority, const char *line)
{
	pthread_mutex_lock(&lock);
	damage_seen += strstr(line, "is damaged (MiB") != NULL;
	other_seen += strstr(line, "is damaged, or of another file") != NULL;
	pthread_mutex_unlock(&lock);
	diag("<%d> %s", priority, line);
}

static void host_heartbeat(void *ctx, uint64_t tag, uint32_t stage, uint64_t done, uint64_t total)
{
}

static int host_reserve(void *ctx, const char *name, uint64_t bytes)
{
	return 0;
}

static void host_release(void *ctx, const char *name, uint64_t bytes)
{
}

static void host_complete(void *ctx, uint64_t tag, const struct cuzk_result *r)
{
	pthread_mutex_lock(&lock);
	result = *r;
	n_results++;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

static void show(int fd)
{
	if (kept >= 0)
		close(kept);
	kept = fd;
}

static int host_put(void *ctx, const char *name, int fd, uint64_t bytes)
{
	struct stat st;

	pthread_mutex_lock(&lock);
	show(fcntl(fd, F_DUPFD_CLOEXEC, 0));
	kept_bytes = bytes;
	puts_seen += !strcmp(name, "params." CIRCUIT) && !fstat(fd, &st) &&
		     (uint64_t)st.st_size == bytes && (fcntl(fd, F_GET_SEALS) & SEALS) == SEALS;
	pthread_mutex_unlock(&lock);
	return 0;
}

static int host_get(void *ctx, const char *name)
{
	int fd = -ENOENT;

	pthread_mutex_lock(&lock);
	if (kept >= 0 && !strcmp(name, "params." CIRCUIT))
		fd = fcntl(kept, F_DUPFD_CLOEXEC, 0);
	pthread_mutex_unlock(&lock);
	return fd;
}

static void host_drop(void *ctx, const char *name)
{
	pthread_mutex_lock(&lock);
	drops_seen++;
	pthread_mutex_unlock(&lock);
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
	.memory_put = host_put,
	.memory_get = host_get,
	.memory_drop = host_drop,
};

/* A copy of what is kept, with one bit turned; offset from the end where negative. */
static int damaged(int64_t offset)
{
	uint64_t at = offset < 0 ? kept_bytes + offset : (uint64_t)offset;
	int fd = memfd_create("damaged", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	char *from, *to;

	if (ftruncate(fd, kept_bytes))
		exit(1);
	from = mmap(NULL, kept_bytes, PROT_READ, MAP_SHARED, kept, 0);
	to = mmap(NULL, kept_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (from == MAP_FAILED || to == MAP_FAILED)
		exit(1);
	memcpy(to, from, kept_bytes);
	to[at] ^= 16;
	munmap(from, kept_bytes);
	munmap(to, kept_bytes);
	if (fcntl(fd, F_ADD_SEALS, SEALS))
		exit(1);
	return fd;
}

/* ---- the engine ---- */

static char dir[] = "/tmp/u-kept-XXXXXX";

static void load_engine(void)
{
	const char *build = getenv("CUZK_BUILDDIR");
	cuzk_engine_entry_fn entry;
	char path[4096];
	void *so;

	snprintf(path, sizeof(path), "%s/.libs/groth16.so", build ? build : ".");
	so = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!so) {
		printf("Bail out! %s\n", dlerror());
		exit(1);
	}
	*(void **)&entry = dlsym(so, CUZK_ENGINE_ENTRY);
	if (!ok(entry && entry(&host, &ops) == 0, "the engine is loaded"))
		exit(1);
}

static bool make_params(void)
{
	char *make[] = { "params", "make", CIRCUIT, "--out", dir };
	int out = quiet_begin(), ret;

	ret = ops->command(&host, 5, make);
	quiet_end(out);
	return !ret;
}

static struct cuzk_instance *probe(void)
{
	struct cuzk_option opts[] = { { "params_dir", dir }, { NULL } };
	struct cuzk_device dev = { .size = sizeof(dev), .backend = "cpu", .threads = 2 };
	struct cuzk_error err = { .size = sizeof(err) };
	struct cuzk_instance *inst = NULL;

	if (ops->probe(&host, &dev, opts, &inst, &err)) {
		printf("Bail out! %s\n", err.text);
		exit(1);
	}
	return inst;
}

static uint32_t state_of(struct cuzk_instance *inst)
{
	struct cuzk_circuit list[64] = { { 0 } };
	int n, i;

	for (i = 0; i < 64; i++)
		list[i].size = sizeof(list[i]);
	n = ops->circuits(inst, list, 64);
	for (i = 0; i < n && i < 64; i++)
		if (!strcmp(list[i].id, CIRCUIT))
			return list[i].state;
	return UINT32_MAX;
}

/* 1: loaded before, 0: now, -1: not. */
static int preload(struct cuzk_instance *inst)
{
	struct cuzk_error err = { .size = sizeof(err) };
	uint64_t bytes;
	bool was;

	if (!ops->preload(inst, CIRCUIT, &was, &bytes, &err))
		return was;
	diag("%s", err.text);
	return -1;
}

static bool evict(struct cuzk_instance *inst)
{
	struct cuzk_error err = { .size = sizeof(err) };
	uint64_t bytes;
	bool was;

	return !ops->evict(inst, CIRCUIT, &was, &bytes, &err) && was;
}

static struct request_json *json;
static struct cuzk_blob proof;
static struct cuzk_request request = { .size = sizeof(request) };

static void read_request(void)
{
	static char text[1 << 20];
	FILE *f = fopen(data_path("requests/winning-2k.json"), "re");
	char err[256];
	size_t size;

	if (!f) {
		printf("Bail out! no request\n");
		exit(1);
	}
	size = fread(text, 1, sizeof(text), f);
	fclose(f);
	if (request_json_parse(text, size, &json, err, sizeof(err))) {
		printf("Bail out! %s\n", err);
		exit(1);
	}
	proof = (struct cuzk_blob){ json->vanilla_proofs[0].data, json->vanilla_proofs[0].len };
	request.kind = json->proof_kind;
	request.registered_proof = json->registered_proof;
	request.sector_size = json->sector_size;
	request.miner_id = json->miner_id;
	request.randomness = (struct cuzk_blob){ json->randomness.data, json->randomness.len };
	request.vanilla_proofs = &proof;
	request.n_vanilla_proofs = 1;
}

/* A proof that the engine has verified. */
static bool prove(struct cuzk_instance *inst)
{
	struct cuzk_plan plan = { .size = sizeof(plan) };
	struct cuzk_error err = { .size = sizeof(err) };
	unsigned int before = n_results;
	struct cuzk_task *task = NULL;
	bool good = false;

	if (ops->admit(inst, &request, &task, &plan, &err)) {
		diag("%s", err.text);
		return false;
	}
	if (!ops->prove(inst, task, 0, 1, &err)) {
		pthread_mutex_lock(&lock);
		while (n_results == before)
			pthread_cond_wait(&changed, &lock);
		good = !result.status && !result.invalid;
		pthread_mutex_unlock(&lock);
	}
	ops->task_free(task);
	return good;
}

static double seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec * 1e-9;
}

/* ---- the tests ---- */

static void test_crc(void)
{
	static uint8_t buf[4096 + 8];
	unsigned int i, same = 0;

	ok(crc32c(0, "123456789", 9) == 0xe3069283u &&
	   crc32c_portable(0, "123456789", 9) == 0xe3069283u, "the CRC's check value");
	for (i = 0; i < sizeof(buf); i++)
		buf[i] = i * 7 + (i >> 8);
	for (i = 0; i < 64; i++)
		same += crc32c(i, buf + i % 8, 64 * i + i % 11) ==
			crc32c_portable(i, buf + i % 8, 64 * i + i % 11);
	ok(same == 64, "with the instruction and without it");
}

static void test_taken(void)
{
	struct cuzk_instance *inst = probe();

	ok(preload(inst) == 0 && puts_seen == 1, "parameters are loaded and put");
	ok(prove(inst), "and prove");
	ops->remove(inst);
	inst = probe();
	ok(state_of(inst) == CUZK_PARAMS_HOT, "the next process has them at once");
	ok(preload(inst) == 1 && prove(inst), "and proves with them, verified");
	ok(puts_seen == 1 && !damage_seen && !drops_seen, "nothing is put or dropped");
	ops->remove(inst);
}

static void test_damaged(const char *where, int64_t offset)
{
	unsigned int seen = damage_seen, puts = puts_seen;
	int fd = damaged(offset), good = fcntl(kept, F_DUPFD_CLOEXEC, 0);
	struct cuzk_instance *inst;
	double t;

	show(fd);
	t = seconds();
	inst = probe();
	diag("probe in %.3f s", seconds() - t);
	ok(state_of(inst) == CUZK_PARAMS_HOT || damage_seen == seen + 1, "a wrong bit %s", where);
	ok(prove(inst), "the first proof is good");
	ok(damage_seen == seen + 1, "the damage is found before");
	ok(puts_seen == puts + 1 && kept != fd, "and other memory is put in its place");
	ops->remove(inst);
	inst = probe();
	ok(state_of(inst) == CUZK_PARAMS_HOT && prove(inst) && damage_seen == seen + 1,
	   "which the next process takes");
	ops->remove(inst);
	close(good);
}

static void test_head(const char *where, int64_t offset)
{
	unsigned int seen = other_seen, puts = puts_seen, drops = drops_seen;
	struct cuzk_instance *inst;

	show(damaged(offset));
	inst = probe();
	ok(other_seen == seen + 1 && drops_seen > drops && state_of(inst) == CUZK_PARAMS_COLD,
	   "a wrong bit %s: it is not taken at all", where);
	show(-1);
	ok(preload(inst) == 0 && puts_seen == puts + 1, "and loaded from the file");
	ops->remove(inst);
}

/* Two processes with the same engine, here two instances: one loads, both use it. */
static void test_shared(void)
{
	unsigned int puts = puts_seen, seen = damage_seen, drops;
	struct cuzk_instance *a, *b;

	show(-1);
	a = probe();
	b = probe();
	ok(preload(a) == 0 && puts_seen == puts + 1, "one of two live instances loads");
	ok(preload(b) == 0 && puts_seen == puts + 1 && prove(b), "the other takes it and proves");
	ok(evict(a) && drops_seen, "the first gives it back");
	ok(prove(b), "the other proves on");
	drops = drops_seen;
	ok(evict(b) && drops_seen == drops + 1, "and gives it back as well");
	ok(preload(a) == 0 && puts_seen == puts + 1, "it is taken again while the host has it");

	/* what the second one sees is damaged; the first is not touched */
	show(damaged(5 << 20));
	ok(preload(b) == 0 && damage_seen == seen + 1 && puts_seen == puts + 2,
	   "a copy that is damaged: the second loads by itself");
	ok(prove(b) && prove(a), "both prove");
	/* at a time that nobody chose: while it is being verified */
	ok(evict(b) && preload(b) == 0 && prove(b) && evict(b), "evicted and taken again");
	ops->remove(a);
	ops->remove(b);
}

int main(void)
{
	char command[64];

	test_crc();
	if (!mkdtemp(dir))
		return 1;
	load_engine();
	if (!ok(make_params(), "parameters are made"))
		return tap_done();
	read_request();
	test_taken();
	test_damaged("in the first point", 4096 + 11);
	test_damaged("in the middle of the points", kept_bytes / 2);
	test_head("in the header", 40);
	test_head("in the checksum of the table", 2048 + 9);
	test_head("in the table", -2);
	test_shared();
	show(-1);
	snprintf(command, sizeof(command), "rm -r %s", dir);
	ok(!system(command), "clean up");
	free(json);
	return tap_done();
}
