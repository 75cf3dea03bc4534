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
 * With several devices, each round is made by the first alone and by all of
 * them, and the speed-up printed.  With --urgent, rounds go on until so many
 * urgent proofs (50) of that request, a WinningPoSt, were made beside them in the
 * lane of the first device, and their latencies are printed.
 *
 *   bench-sector [--backend gpu] [--device ID]... [--threads N] [--vram MIB]
 *                [--host MIB] [--rounds N] [--golden DIR] [--basis powers|coset]
 *                [--urgent REQUEST.json [--urgent-golden FILE] [--urgent-count N]
 *                 [--urgent-pause MS]]
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
#include "t/perf/urgent.h"

#define DEVICES_MAX 8

static const char *const stage_names[CUZK_STAGE_COUNT] = {
	"idle", "params", "witness", "upload", "evaluate", "ntt", "msm_h", "msm_l", "msm_a",
	"msm_b1", "msm_b2", "finish", "verify",
};

static struct {
	const char *backend, *devices[DEVICES_MAX], *golden, *c1, *update, *request;
	const char *urgent, *urgent_golden;
	unsigned int n_devices, threads, rounds, urgent_count, urgent_pause;
	uint64_t vram, host;
	bool coset;		/* h and l rearranged, for four transforms */
} opt = { .backend = "gpu", .rounds = 2, .urgent_count = 50, .urgent_pause = 200 };

struct bench {
	struct cuzk_instance *inst[DEVICES_MAX];
	unsigned int n_inst;	/* in use */
	struct cuzk_result *results;
	double *done_at;
	struct gpu_stats before;	/* this round, of the first device */
	uint32_t n;
	pthread_mutex_t lock;	/* protects the rest, results and done_at */
	pthread_cond_t changed;
	uint32_t n_done, next;
	struct urgent_load urgent;
};

/* One instance's part in a round. */
struct feeder {
	struct bench *b;
	struct cuzk_instance *inst;
	struct cuzk_task *task;
	pthread_t thread;
	unsigned int n;		/* partitions that it proved */
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

	if (tag == URGENT_TAG) {
		urgent_load_complete(&b->urgent, result);
		return;
	}
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
	struct circuit_state *line = instance_find(inst->parent ? inst->parent : inst, name);
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
	line->urgent = inst->parent != NULL;
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

	b->inst[0]->ops->stats(b->inst[0]->gpu, &now);
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

/* Takes partitions as long as there are any, as many at a time as the instance does. */
static void *feed(void *arg)
{
	struct cuzk_error err = { .size = sizeof(err) };
	struct feeder *f = arg;
	struct bench *b = f->b;
	uint32_t i, seen;
	int ret;

	for (;;) {
		pthread_mutex_lock(&b->lock);
		i = b->next < b->n ? b->next++ : b->n;
		pthread_mutex_unlock(&b->lock);
		if (i == b->n)
			return NULL;
		for (;;) {
			seen = count_done(b);
			ret = urgent_prove(f->inst, f->task, i, i + 1, &err);
			if (ret != -EAGAIN)
				break;
			wait_done(b, seen + 1);
		}
		if (ret)
			die("proving", &err);
		f->n++;
	}
}

static int one_round(struct bench *b, const struct cuzk_request *req, double *took)
{
	struct cuzk_error err = { .size = sizeof(err) };
	struct cuzk_plan plan = { .size = sizeof(plan) };
	struct feeder feeders[DEVICES_MAX] = { { NULL } };
	double start = now(), admitted;
	unsigned int k;
	int ret;

	for (k = 0; k < b->n_inst; k++) {
		feeders[k].b = b;
		feeders[k].inst = b->inst[k];
		if (job_admit(b->inst[k], req, &feeders[k].task, &plan, &err))
			die("admission", &err);
	}
	admitted = now();
	b->inst[0]->ops->stats(b->inst[0]->gpu, &b->before);
	b->n = plan.n_partitions;
	b->n_done = b->next = 0;
	b->results = calloc(b->n, sizeof(*b->results));
	b->done_at = calloc(b->n, sizeof(*b->done_at));
	if (!b->results || !b->done_at)
		die("results", NULL);
	for (k = 0; k < b->n_inst; k++)
		if (pthread_create(&feeders[k].thread, NULL, feed, &feeders[k]))
			die("threads", NULL);
	for (k = 0; k < b->n_inst; k++)
		pthread_join(feeders[k].thread, NULL);
	wait_done(b, b->n);
	*took = now() - start;
	ret = report(b, plan.circuit, admitted, start, start + *took);
	for (k = 0; k < b->n_inst; k++) {
		if (b->n_inst > 1)
			printf("  device %s: %u partitions\n",
			       opt.devices[k] ? opt.devices[k] : "0", feeders[k].n);
		job_task_free(feeders[k].task);
	}
	free(b->results);
	free(b->done_at);
	return ret;
}

/* One device against all of them. */
static int rounds_of_devices(struct bench *b, const struct cuzk_request *req)
{
	unsigned int n = b->n_inst, i;
	double one, all;
	int ret = 0;

	for (i = 0; i < opt.rounds; i++) {
		b->n_inst = 1;
		ret |= one_round(b, req, &one);
		b->n_inst = n;
		ret |= one_round(b, req, &all);
		printf("%u devices: speed-up %.2f (%.3f s for %.3f s)\n", n, one / all, all, one);
		fflush(stdout);
	}
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
		else if (!strcmp(argv[i], "--device") && opt.n_devices < DEVICES_MAX)
			opt.devices[opt.n_devices++] = value;
		else if (!strcmp(argv[i], "--urgent"))
			opt.urgent = value;
		else if (!strcmp(argv[i], "--urgent-golden"))
			opt.urgent_golden = value;
		else if (!strcmp(argv[i], "--urgent-count"))
			opt.urgent_count = atoi(value);
		else if (!strcmp(argv[i], "--urgent-pause"))
			opt.urgent_pause = atoi(value);
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
	if (!opt.n_devices)
		opt.n_devices = 1;	/* the only one */
	if (i < argc || (!opt.request && !opt.c1 && !opt.update) || !opt.urgent_count) {
		fprintf(stderr,
			"usage: bench-sector [--backend cpu|gpu] [--device ID]... [--threads N] "
			"[--vram MIB] [--host MIB] [--rounds N] [--golden DIR] "
			"[--basis powers|coset] "
			"[--urgent REQUEST.json [--urgent-golden FILE] [--urgent-count N] "
			"[--urgent-pause MS]] "
			"REQUEST.json | --c1 FILE | --update DIR\n");
		exit(2);
	}
}

static struct cuzk_instance *open_instance(struct bench *b, unsigned int k)
{
	struct cuzk_host host = {
		.size = sizeof(host), .abi_major = CUZK_ENGINE_ABI_MAJOR,
		.abi_minor = CUZK_ENGINE_ABI_MINOR, .version = PACKAGE_VERSION, .ctx = b,
		.log = on_log, .complete = on_complete,
	};
	/* without urgent proofs, all of the device is for the others */
	struct cuzk_option options[] = {
		{ "params_dir", "/nonexistent" }, { opt.urgent ? NULL : "urgent_memory", "0" },
		{ NULL }
	};
	struct cuzk_device device = {
		.size = sizeof(device), .backend = opt.backend, .id = opt.devices[k],
		.threads = opt.threads, .vram_budget = opt.vram, .host_budget = opt.host,
		.ordinal = k,
	};
	struct cuzk_error err = { .size = sizeof(err) };
	struct cuzk_instance *inst;

	if (instance_probe(&host, &device, options, &inst, &err))
		die("opening the device", &err);
	scrub_stop(inst);	/* there are no files to look at */
	inst->fixed_blinding = true;
	inst->blinding = (struct blinding){ .r = { { 27134 } }, .s = { { 17146 } } };
	if (inst->urgent) {
		inst->urgent->fixed_blinding = true;
		inst->urgent->blinding = inst->blinding;
	}
	if (urgent_self_test(inst, &err))
		die("self-test", &err);
	return inst;
}

static int rounds_beside_urgent(struct bench *b, const struct cuzk_request *req)
{
	struct cuzk_error err = { .size = sizeof(err) };
	struct urgent_load *load = &b->urgent;
	struct cuzk_request *urgent;
	uint8_t *golden = NULL;
	size_t size = 0;
	double took;
	int ret = 0;

	load->inst = b->inst[0];
	load->count = opt.urgent_count;
	load->pause_ms = opt.urgent_pause;
	if (!load->inst->urgent)
		die("no lane for urgent proofs", NULL);
	if (request_read(opt.urgent, &urgent, &err))
		die(opt.urgent, &err);
	load->request = urgent;
	snprintf(load->circuit, sizeof(load->circuit), "%s", request_circuit(b->inst[0], urgent));
	load_key(load->inst->urgent, load->circuit);
	if (opt.urgent_golden) {
		golden = slurp(opt.urgent_golden, &size);
		if (!golden || size != PROOF_SIZE)
			die(opt.urgent_golden, NULL);
	}
	ret = one_round(b, req, &took);		/* undisturbed */
	urgent_load_start(load);
	while (!atomic_load(&load->done))
		ret |= one_round(b, req, &took);
	ret |= urgent_load_report(load, golden);
	request_free(urgent);
	free(golden);
	return ret;
}

int main(int argc, char **argv)
{
	struct bench b = {
		.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER,
	};
	struct host_memory memory = { 0 };
	struct cuzk_request *req;
	struct gpu_stats stats;
	unsigned int i;
	double took;
	int ret = 0;

	parse(argc, argv);
	read_request(&req);
	for (i = 0; i < opt.n_devices; i++)
		b.inst[b.n_inst++] = open_instance(&b, i);
	b.inst[0]->ops->stats(b.inst[0]->gpu, &stats);
	memory.before = status_bytes("VmRSS");
	memory.pinned = stats.host_bytes;
	for (i = 0; i < opt.n_devices; i++)
		load_key(b.inst[i], request_circuit(b.inst[i], req));
	b.inst[0]->ops->stats(b.inst[0]->gpu, &stats);
	memory.pinned = stats.host_bytes - memory.pinned;
	memory_loaded(&memory);
	if (opt.urgent)
		ret = rounds_beside_urgent(&b, req);
	else if (b.n_inst > 1)
		ret = rounds_of_devices(&b, req);
	else
		for (i = 0; i < opt.rounds; i++)
			ret |= one_round(&b, req, &took);
	memory_report(&memory);
	for (i = 0; i < opt.n_devices; i++)
		instance_remove(b.inst[i]);
	if (!opt.c1 && !opt.update)
		request_free(req);
	return ret;
}
