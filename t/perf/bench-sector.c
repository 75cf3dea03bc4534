/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * bench-sector.c - whole requests, from vanilla proof to verified proofs
 *
 * Makes the parameters of the request's circuit from the golden toxic waste
 * straight onto the device, then drives the engine's instance as the service
 * does: admission, a witness for each partition while the device works at the
 * one before, and every proof verified.  With --golden DIR, proofs are compared
 * with the files DIR/CIRCUIT-PARTITION.proof (or DIR/CIRCUIT.proof) that are there.
 *
 *   bench-sector [--backend gpu] [--device ID] [--threads N] [--vram MIB]
 *                [--host MIB] [--rounds N] [--golden DIR]
 *                REQUEST.json | --c1 FILE (porep-32g) | --update DIR (update-32g)
 */
#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "engine/cs/system.h"
#include "engine/groth16/instance.h"
#include "engine/groth16/make.h"
#include "engine/groth16/request.h"
#include "engine/vanilla/vanilla.h"
#include "t/cs-data.h"

static const char *const stage_names[CUZK_STAGE_COUNT] = {
	"idle", "params", "witness", "upload", "evaluate", "ntt", "msm_h", "msm_l", "msm_a",
	"msm_b1", "msm_b2", "finish", "verify",
};

static struct {
	const char *backend, *device, *golden, *c1, *update, *request;
	unsigned int threads, rounds;
	uint64_t vram, host;
	bool coset;		/* h and l rearranged, for four transforms */
} opt = { .backend = "gpu", .rounds = 2 };

struct bench {
	struct cuzk_instance *inst;
	struct cuzk_result *results;
	double *done_at;
	struct gpu_stats before;	/* this round */
	uint32_t n, n_done;
	pthread_mutex_t lock;	/* n_done, results, done_at */
	pthread_cond_t changed;
};

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec * 1e-9;
}

static void die(const char *what, const struct cuzk_error *err)
{
	fprintf(stderr, "bench-sector: %s: %s\n", what, err ? err->text : strerror(errno));
	exit(1);
}

static void on_log(void *ctx, int priority, const char *line)
{
	if (priority <= 6)
		fprintf(stderr, "bench-sector: %s\n", line);
}

static void on_complete(void *ctx, uint64_t tag, const struct cuzk_result *result)
{
	struct bench *b = ctx;

	pthread_mutex_lock(&b->lock);
	b->results[tag - 1] = *result;
	b->done_at[tag - 1] = now();
	b->n_done++;
	pthread_cond_broadcast(&b->changed);
	pthread_mutex_unlock(&b->lock);
}

static uint32_t count_done(struct bench *b)
{
	uint32_t n;

	pthread_mutex_lock(&b->lock);
	n = b->n_done;
	pthread_mutex_unlock(&b->lock);
	return n;
}

static void wait_done(struct bench *b, uint32_t n)
{
	pthread_mutex_lock(&b->lock);
	while (b->n_done < n)
		pthread_cond_wait(&b->changed, &b->lock);
	pthread_mutex_unlock(&b->lock);
}

/* ---- host memory ---- */

/*
 * What the process holds of host memory.  Making parameters takes more than
 * any proof: the peak is counted anew when they are there.  Pinned parameters
 * are taken off where the kernel counts them as the process's (a driver may map
 * them as a device's).
 */
struct host_memory {
	uint64_t before, loaded, peak;	/* resident: opened, parameters there, at most since */
	uint64_t pinned;		/* bytes of the parameters */
	bool reset;			/* the peak could be counted anew */
};

/* A line of /proc/self/status in bytes; 0 where it is missing. */
static uint64_t status_bytes(const char *name)
{
	FILE *f = fopen("/proc/self/status", "r");
	unsigned long long kib, bytes = 0;
	size_t len = strlen(name);
	char line[256];

	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, name, len) && sscanf(line + len, ": %llu kB", &kib) == 1)
			bytes = kib << 10;
	if (f)
		fclose(f);
	return bytes;
}

static void memory_loaded(struct host_memory *m)
{
	FILE *f;

	malloc_trim(0);
	f = fopen("/proc/self/clear_refs", "w");
	m->reset = f && fputs("5", f) >= 0;
	if (f && fclose(f))
		m->reset = false;
	m->loaded = status_bytes("VmRSS");
}

static void memory_report(struct host_memory *m)
{
	/* pages that were not needed any more may have gone meanwhile */
	uint64_t off = m->loaded >= m->before + m->pinned / 8 * 7 ? m->pinned : 0;

	m->peak = status_bytes("VmHWM");
	printf("host memory beyond parameters: %.2f GiB at most%s\n",
	       (m->peak > off ? m->peak - off : 0) / 1073741824.,
	       m->reset ? "" : " (the making of parameters included)");
	printf("  resident %.2f GiB at most; parameters pinned %.2f GiB, %s; %.2f GiB before they "
	       "were made, %.2f GiB after\n",
	       m->peak / 1073741824., m->pinned / 1073741824.,
	       off ? "taken off" : m->pinned ? "not counted by the kernel" : "none to take off",
	       m->before / 1073741824., m->loaded / 1073741824.);
}

static void *slurp(const char *path, size_t *size)
{
	FILE *f = fopen(path, "rb");
	char *data = NULL;
	size_t n, room = 0;

	*size = 0;
	if (!f)
		return NULL;
	do {
		room = room ? 2 * room : 1 << 20;
		data = realloc(data, room);
		if (!data)
			die(path, NULL);
		n = fread(data + *size, 1, room - *size, f);
		*size += n;
	} while (*size == room);
	fclose(f);
	return data;
}

/* The golden update of a 32 GiB sector: blobs in a folder, commitments in t/data. */
static struct cuzk_request *read_update(void)
{
	static struct cuzk_blob blobs[16];
	static uint8_t comm[3][32];
	static struct cuzk_request req = {
		.size = sizeof(req), .kind = CUZK_KIND_UPDATE, .registered_proof = 3,
		.vanilla_proofs = blobs, .n_vanilla_proofs = 16,
		.comm_r_old = { comm[0], 32 }, .comm_r_new = { comm[1], 32 },
		.comm_d_new = { comm[2], 32 },
	};
	char path[4096];
	size_t len;
	char *json = read_data("update-32g/update-32g.json", &len);
	unsigned int i;

	if (!json || !data_hex32(json, "comm_r_old", comm[0]) ||
	    !data_hex32(json, "comm_r_new", comm[1]) || !data_hex32(json, "comm_d_new", comm[2]))
		die("update-32g.json", NULL);
	free(json);
	for (i = 0; i < 16; i++) {
		snprintf(path, sizeof(path), "%s/update-32g-%u.vanilla", opt.update, i);
		blobs[i].data = slurp(path, &blobs[i].len);
		if (!blobs[i].data)
			die(path, NULL);
	}
	return &req;
}

static void read_request(struct cuzk_request **req)
{
	struct cuzk_error err = { .size = sizeof(err) };
	static struct cuzk_request porep = {
		.size = sizeof(porep), .kind = CUZK_KIND_POREP, .registered_proof = 8,
		.sector_size = 32ull << 30, .sector_number = 7, .miner_id = 488,
	};
	size_t size;
	void *c1;

	if (opt.update) {
		*req = read_update();
		return;
	}
	if (!opt.c1) {
		if (request_read(opt.request, req, &err))
			die(opt.request, &err);
		return;
	}
	c1 = slurp(opt.c1, &size);
	if (!c1)
		die(opt.c1, NULL);
	c1 = envelope(porep.sector_number, c1, size, porep.sector_size, &size);
	porep.vanilla_proof = (struct cuzk_blob){ c1, size };
	*req = &porep;
}

/* The circuit's key from the golden toxic waste, on the device, loaded as by key_get(). */
static void load_key(struct cuzk_instance *inst, const char *name)
{
	struct cuzk_error err = { .size = sizeof(err) };
	struct circuit_state *line = instance_find(inst, name);
	struct toxic_waste toxic;
	struct key *key = calloc(1, sizeof(*key));
	double t = now();

	if (!key || !line)
		die(name, NULL);
	key->line = line;
	key->circuit = line->circuit;
	if (circuit_build(&key->circuit, &key->cs))
		die("building the system", NULL);
	printf("system of %s: %.2f s\n", name, now() - t);
	t = now();
	if (toxic_parse(&toxic, "48577,22580,53332,5481,3673", &err) ||
	    params_make_srs(key->cs, &toxic, opt.coset ? GPU_H_COSET : GPU_H_POWERS, inst->ops,
			    inst->gpu, inst->pool, &key->gpu_srs, &key->params.vk,
			    &key->coset.inputs, &err))
		die("parameters", &err);
	printf("parameters made on the device: %.2f s\n", now() - t);
	t = now();
	if (pvk_open(&key->pvk, &key->params.vk) ||
	    inst->ops->cs_load(inst->gpu, key->cs, &key->gpu_cs))
		die("loading the system", NULL);
	printf("system loaded: %.2f s\n", now() - t);
	/* there is no file to look at */
	line->probed = true;
	line->state = CUZK_PARAMS_HOT;
	key->next = inst->keys;
	inst->keys = key;
	fflush(stdout);
}

/* 1 equal, 0 no such file, -1 another. */
static int compare_golden(const char *circuit, uint32_t partition, const uint8_t *proof)
{
	char path[4096];
	uint8_t *want;
	size_t size;
	int ret;

	snprintf(path, sizeof(path), "%s/%s-%u.proof", opt.golden, circuit, partition);
	want = slurp(path, &size);
	if (!want) {
		snprintf(path, sizeof(path), "%s/%s.proof", opt.golden, circuit);
		want = slurp(path, &size);
		if (!want)
			return 0;
		if (size < (partition + 1ul) * PROOF_SIZE)
			return -1;
		ret = memcmp(want + partition * (size_t)PROOF_SIZE, proof, PROOF_SIZE) ? -1 : 1;
	} else {
		ret = size == PROOF_SIZE && !memcmp(want, proof, PROOF_SIZE) ? 1 : -1;
	}
	free(want);
	return ret;
}

/* What the bus carried for n proofs in so many seconds. */
static void report_bus(const struct bench *b, double seconds, uint64_t up, uint64_t down)
{
	const struct gpu_stats *s = &b->before;
	struct gpu_stats now;
	uint64_t bytes, ns;

	b->inst->ops->stats(b->inst->gpu, &now);
	bytes = now.stream_bytes - s->stream_bytes;
	ns = now.stream_ns - s->stream_ns;
	printf("  bus: %.3f GB up and %.3f GB down a partition, %.1f GB/s over all\n",
	       up / 1e9 / b->n, down / 1e9 / b->n, (up + down) / 1e9 / seconds);
	if (!bytes)
		return;
	printf("  points streamed: %.3f GB a partition at %.1f GB/s; the bus was busy %.1f ms a "
	       "partition, work waited for it %.1f ms\n",
	       bytes / 1e9 / b->n, ns ? bytes / (double)ns : 0, ns / 1e6 / b->n,
	       (now.stream_wait_ns - s->stream_wait_ns) / 1e6 / b->n);
}

/* High-water marks against the budgets: true if they were kept. */
static bool report_memory(uint64_t device, uint64_t host)
{
	bool kept = (!opt.vram || device <= opt.vram) && (!opt.host || host <= opt.host);

	printf("  device memory at most %.2f GiB", device / 1073741824.);
	if (opt.vram)
		printf(" of %.2f", opt.vram / 1073741824.);
	printf(", pinned host memory at most %.2f GiB", host / 1073741824.);
	if (opt.host)
		printf(" of %.2f", opt.host / 1073741824.);
	puts(kept ? "" : ": OVER BUDGET");
	return kept;
}

static int report(struct bench *b, const char *circuit, double admitted, double start, double end)
{
	uint64_t ns[CUZK_STAGE_COUNT] = { 0 }, peak = 0, host_peak = 0, up = 0, down = 0;
	unsigned int equal = 0, other = 0, good = 0;
	uint32_t i;
	int k;

	for (i = 0; i < b->n; i++) {
		const struct cuzk_result *r = &b->results[i];

		if (r->status) {
			printf("partition %u FAILED: %s\n", i, r->text);
			continue;
		}
		good++;
		for (k = 0; k < CUZK_STAGE_COUNT; k++)
			ns[k] += r->stage_ns[k];
		peak = r->device_peak > peak ? r->device_peak : peak;
		host_peak = r->host_peak > host_peak ? r->host_peak : host_peak;
		up += r->bytes_up;
		down += r->bytes_down;
		if (opt.golden) {
			int c = compare_golden(circuit, i, r->proof);

			equal += c == 1;
			other += c == -1;
		}
	}
	printf("%u of %u partitions proved and verified, %u equal to golden proofs, %u not\n", good,
	       b->n, equal, other);
	printf("total %.3f s (admission %.3f s), first proof after %.3f s; per partition:\n",
	       end - start, admitted - start, b->done_at[0] - start);
	for (k = 1; k < CUZK_STAGE_COUNT; k++)
		printf("  %-9s %8.1f ms\n", stage_names[k], ns[k] / 1e6 / b->n);
	report_bus(b, end - start, up, down);
	if (!report_memory(peak, host_peak))
		other++;
	fflush(stdout);
	return good == b->n && !other ? 0 : 1;
}

static int one_round(struct bench *b, const struct cuzk_request *req)
{
	struct cuzk_error err = { .size = sizeof(err) };
	struct cuzk_plan plan = { .size = sizeof(plan) };
	struct cuzk_task *task;
	double start = now(), admitted;
	uint32_t i;
	int ret;

	if (job_admit(b->inst, req, &task, &plan, &err))
		die("admission", &err);
	admitted = now();
	b->inst->ops->stats(b->inst->gpu, &b->before);
	b->n = plan.n_partitions;
	b->n_done = 0;
	b->results = calloc(b->n, sizeof(*b->results));
	b->done_at = calloc(b->n, sizeof(*b->done_at));
	if (!b->results || !b->done_at)
		die("results", NULL);
	for (i = 0; i < b->n; i++) {
		uint32_t done = count_done(b);

		while ((ret = job_prove(b->inst, task, i, i + 1, &err)) == -EAGAIN) {
			wait_done(b, done + 1);
			done = count_done(b);
		}
		if (ret)
			die("proving", &err);
	}
	wait_done(b, b->n);
	ret = report(b, plan.circuit, admitted, start, now());
	job_task_free(task);
	free(b->results);
	free(b->done_at);
	return ret;
}

static const char *request_circuit(struct cuzk_instance *inst, const struct cuzk_request *req)
{
	struct cuzk_error err = { .size = sizeof(err) };
	static char name[64];
	struct vanilla *v;

	if (vanilla_admit(req, inst->pool, &v, NULL, &err))
		die("admission", &err);
	snprintf(name, sizeof(name), "%s", vanilla_circuit(v));
	vanilla_free(v);
	return name;
}

static void parse(int argc, char **argv)
{
	int i;

	for (i = 1; i < argc; i++) {
		const char *value = i + 1 < argc ? argv[i + 1] : "";

		if (strncmp(argv[i], "--", 2)) {
			opt.request = argv[i];
			continue;
		}
		if (!strcmp(argv[i], "--backend"))
			opt.backend = value;
		else if (!strcmp(argv[i], "--device"))
			opt.device = value;
		else if (!strcmp(argv[i], "--golden"))
			opt.golden = value;
		else if (!strcmp(argv[i], "--c1"))
			opt.c1 = value;
		else if (!strcmp(argv[i], "--update"))
			opt.update = value;
		else if (!strcmp(argv[i], "--threads"))
			opt.threads = atoi(value);
		else if (!strcmp(argv[i], "--rounds"))
			opt.rounds = atoi(value);
		else if (!strcmp(argv[i], "--basis"))
			opt.coset = !strcmp(value, "coset");
		else if (!strcmp(argv[i], "--vram"))
			opt.vram = strtoull(value, NULL, 10) << 20;
		else if (!strcmp(argv[i], "--host"))
			opt.host = strtoull(value, NULL, 10) << 20;
		else
			break;
		i++;
	}
	if (i < argc || (!opt.request && !opt.c1 && !opt.update)) {
		fprintf(stderr,
			"usage: bench-sector [--backend cpu|gpu] [--device ID] [--threads N] "
			"[--vram MIB] [--host MIB] [--rounds N] [--golden DIR] "
			"[--basis powers|coset] "
			"REQUEST.json | --c1 FILE | --update DIR\n");
		exit(2);
	}
}

int main(int argc, char **argv)
{
	struct bench b = {
		.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER,
	};
	struct cuzk_host host = {
		.size = sizeof(host), .abi_major = CUZK_ENGINE_ABI_MAJOR,
		.abi_minor = CUZK_ENGINE_ABI_MINOR, .version = PACKAGE_VERSION, .ctx = &b,
		.log = on_log, .complete = on_complete,
	};
	struct cuzk_option options[] = { { "params_dir", "/nonexistent" }, { NULL } };
	struct cuzk_device device = { .size = sizeof(device) };
	struct cuzk_error err = { .size = sizeof(err) };
	struct host_memory memory = { 0 };
	struct cuzk_request *req;
	struct gpu_stats stats;
	unsigned int i;
	int ret = 0;

	parse(argc, argv);
	device.backend = opt.backend;
	device.id = opt.device;
	device.threads = opt.threads;
	device.vram_budget = opt.vram;
	device.host_budget = opt.host;
	read_request(&req);
	/* late: nobody looks for the files of these parameters meanwhile */
	if (instance_probe_late(&host, &device, options, &b.inst, &err))
		die("opening the device", &err);
	b.inst->fixed_blinding = true;
	b.inst->blinding = (struct blinding){ .r = { { 27134 } }, .s = { { 17146 } } };
	if (instance_self_test(b.inst, &err))
		die("self-test", &err);
	b.inst->ops->stats(b.inst->gpu, &stats);
	memory.before = status_bytes("VmRSS");
	memory.pinned = stats.host_bytes;
	load_key(b.inst, request_circuit(b.inst, req));
	b.inst->ops->stats(b.inst->gpu, &stats);
	memory.pinned = stats.host_bytes - memory.pinned;
	memory_loaded(&memory);
	for (i = 0; i < opt.rounds; i++)
		ret |= one_round(&b, req);
	memory_report(&memory);
	instance_remove(b.inst);
	if (!opt.c1 && !opt.update)
		request_free(req);
	return ret;
}
