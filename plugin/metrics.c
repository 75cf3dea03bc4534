/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* metrics.c - counters and histograms in the text format of Prometheus */
#include <inttypes.h>
#include <string.h>

#include "plugin/budget.h"
#include "plugin/log.h"
#include "plugin/service.h"

/* Upper bounds in microseconds: from a dispatch to a sector's hour. */
static const uint64_t bounds[HIST_BUCKETS] = {
	100, 500, 1000, 2000, 5000, 20000, 100000, 500000,
	1000000, 2000000, 5000000, 15000000, 60000000, 300000000, 1200000000, 3600000000,
};

void hist_add(struct hist *hist, uint64_t us)
{
	int i = 0;

	while (i < HIST_BUCKETS && us > bounds[i])
		i++;
	hist->count[i]++;
	hist->n++;
	hist->sum_us += us;
}

static void head(FILE *f, const char *name, const char *type, const char *help)
{
	fprintf(f, "# HELP cuzk_%s %s\n# TYPE cuzk_%s %s\n", name, help, name, type);
}

static void one(FILE *f, const char *name, const char *type, const char *help, double value)
{
	head(f, name, type, help);
	fprintf(f, "cuzk_%s %.17g\n", name, value);
}

static void counter(FILE *f, const char *name, const char *help, uint64_t value)
{
	head(f, name, "counter", help);
	fprintf(f, "cuzk_%s %" PRIu64 "\n", name, value);
}

/* label: 'kind="porep"' or "". */
static void hist_text(FILE *f, const char *name, const char *label, const struct hist *h)
{
	const char *comma = label[0] ? "," : "";
	const char *open = label[0] ? "{" : "", *close = label[0] ? "}" : "";
	uint64_t sum = 0;
	int i;

	for (i = 0; i < HIST_BUCKETS; i++) {
		sum += h->count[i];
		fprintf(f, "cuzk_%s_bucket{%s%sle=\"%g\"} %" PRIu64 "\n", name, label, comma,
			bounds[i] / 1e6, sum);
	}
	fprintf(f, "cuzk_%s_bucket{%s%sle=\"+Inf\"} %" PRIu64 "\n", name, label, comma, h->n);
	fprintf(f, "cuzk_%s_sum%s%s%s %.6f\n", name, open, label, close, h->sum_us / 1e6);
	fprintf(f, "cuzk_%s_count%s%s%s %" PRIu64 "\n", name, open, label, close, h->n);
}

static void by_kind(FILE *f, const char *name, const char *help, const struct hist *h)
{
	char label[64];
	uint32_t k;

	head(f, name, "histogram", help);
	for (k = CUZK_KIND_POREP; k < CUZK_KIND_COUNT; k++) {
		snprintf(label, sizeof(label), "kind=\"%s\"", config_kind_name(k));
		hist_text(f, name, label, &h[k]);
	}
}

static void jobs_text(const struct service *svc, FILE *f)
{
	const struct jobs *jobs = &svc->jobs;
	uint64_t pending[CUZK_KIND_COUNT] = { 0 }, running[CUZK_KIND_COUNT] = { 0 };
	struct list *pos;
	uint32_t k;

	list_each(pos, &jobs->waiting) {
		const struct job *job = list_entry(pos, struct job, entry);

		if (job->started_us)
			running[job->kind]++;
		else
			pending[job->kind]++;
	}
	head(f, "jobs_waiting", "gauge", "Unfinished jobs.");
	for (k = CUZK_KIND_POREP; k < CUZK_KIND_COUNT; k++)
		fprintf(f, "cuzk_jobs_waiting{kind=\"%s\",state=\"pending\"} %" PRIu64 "\n"
			"cuzk_jobs_waiting{kind=\"%s\",state=\"running\"} %" PRIu64 "\n",
			config_kind_name(k), pending[k], config_kind_name(k), running[k]);
	head(f, "jobs_total", "counter", "Finished jobs.");
	for (k = CUZK_KIND_POREP; k < CUZK_KIND_COUNT; k++)
		fprintf(f, "cuzk_jobs_total{kind=\"%s\",result=\"completed\"} %" PRIu64 "\n"
			"cuzk_jobs_total{kind=\"%s\",result=\"failed\"} %" PRIu64 "\n"
			"cuzk_jobs_total{kind=\"%s\",result=\"cancelled\"} %" PRIu64 "\n",
			config_kind_name(k), jobs->completed[k], config_kind_name(k),
			jobs->failed[k], config_kind_name(k), jobs->cancelled[k]);
	head(f, "jobs_failed_total", "counter", "Failed jobs by error class.");
	for (k = CUZK_ERROR_INPUT; k <= CUZK_ERROR_INTERNAL; k++)
		fprintf(f, "cuzk_jobs_failed_total{class=\"%s\"} %" PRIu64 "\n",
			log_class_name(k), jobs->failed_class[k]);
	head(f, "partitions_total", "counter", "Partitions proved and verified.");
	for (k = CUZK_KIND_POREP; k < CUZK_KIND_COUNT; k++)
		fprintf(f, "cuzk_partitions_total{kind=\"%s\"} %" PRIu64 "\n",
			config_kind_name(k), svc->part_ok[k]);
	one(f, "queue_bytes", "gauge", "Bytes of the requests of unfinished jobs.",
	    jobs->waiting_bytes);
	one(f, "queue_limit_bytes", "gauge", "Bytes that they may have together.",
	    budget_requests(svc->config, svc->host_free));
	one(f, "results_kept", "gauge", "Finished jobs whose result is kept.", jobs->n_finished);
	one(f, "queue_estimate_seconds", "gauge", "Estimated time until the queue is empty.",
	    sched_estimate(svc) / 1e6);
	counter(f, "accepted_total", "Jobs accepted.", svc->accepted);
	counter(f, "attached_total", "Submits that joined a known job.", svc->attached);
	counter(f, "resumed_total", "Jobs resumed from the journal.", svc->resumed);
	counter(f, "refused_full_total", "Submits refused for a full queue or quota.",
		svc->refused_full);
	counter(f, "refused_input_total", "Requests refused at admission.", svc->refused_input);
	counter(f, "reproved_total", "Partitions proved again after a failure.", svc->reproved);
	counter(f, "invalid_total", "Proofs made that did not verify.", svc->invalid);
	counter(f, "instance_deaths_total", "Instances that ended by a fault.", svc->deaths);
}

static void worker_text(const struct worker *w, const struct instance_status *st, FILE *f,
			const char *name, double value)
{
	fprintf(f, "cuzk_instance_%s{instance=\"%s\"} %.17g\n", name, instance_name(w->inst),
		value);
}

/* An engine's words as the value of a label; they are one line of UTF-8. */
static void escaped(FILE *f, const char *words)
{
	for (; *words; words++) {
		if (*words == '"' || *words == '\\')
			putc('\\', f);
		putc(*words, f);
	}
}

/* A field of /proc/self/status in bytes; 0: not there. */
static uint64_t own_memory(const char *field)
{
	FILE *f = fopen("/proc/self/status", "re");
	unsigned long long kib = 0;
	size_t len = strlen(field);
	char line[256];

	if (!f)
		return 0;
	while (fgets(line, sizeof(line), f))
		if (!strncmp(line, field, len) && sscanf(line + len, ": %llu kB", &kib) == 1)
			break;
	fclose(f);
	return kib << 10;
}

static void memory_text(const struct service *svc, FILE *f)
{
	struct instance_status st;
	uint32_t i, k;

	one(f, "service_resident_bytes", "gauge", "Resident memory of the service itself.",
	    own_memory("VmRSS"));
	one(f, "service_peak_bytes", "gauge", "Most resident memory that it had.",
	    own_memory("VmHWM"));
	one(f, "kept_bytes", "gauge", "Memory of engines that is kept over a restart.",
	    keep_bytes(&svc->keep));
	head(f, "memory_reserved_bytes", "gauge", "Host memory that instances reserved, by use.");
	for (i = 0; i < svc->n_workers; i++) {
		instance_status(svc->workers[i].inst, &st);
		for (k = 0; k < st.n_memory; k++) {
			fprintf(f, "cuzk_memory_reserved_bytes{instance=\"%s\",use=\"",
				instance_name(svc->workers[i].inst));
			escaped(f, st.memory[k].name);
			fprintf(f, "\"} %" PRIu64 "\n", st.memory[k].reserved);
		}
	}
}

static void workers_text(const struct service *svc, FILE *f)
{
	static const struct {
		const char *name, *type, *help;
	} rows[] = {
		{ "up", "gauge", "1 while the instance takes work." },
		{ "running", "gauge", "Partitions that it has." },
		{ "starts_total", "counter", "Child processes started." },
		{ "faults_total", "counter", "Faults of the instance." },
		{ "completed_total", "counter", "Partitions completed." },
		{ "failed_total", "counter", "Partitions that it failed." },
		{ "invalid_total", "counter", "Proofs of it that did not verify." },
		{ "resident_bytes", "gauge", "Resident memory of the child." },
		{ "resident_peak_bytes", "gauge", "Most resident memory that the child had." },
		{ "host_reserved_bytes", "gauge", "Host memory that it has reserved." },
		{ "host_peak_bytes", "gauge", "Most host memory that it had reserved." },
		{ "host_budget_bytes", "gauge", "Host memory that it may reserve; 0: no limit." },
		{ "device_peak_bytes", "gauge", "Device memory used by the last partitions." },
		{ "bytes_up_total", "counter", "Bytes moved to the device by partitions." },
		{ "bytes_down_total", "counter", "Bytes moved from the device by partitions." },
		{ "up_seconds_total", "counter", "Time in which bytes to the device were on their way." },
	};
	struct instance_status st;
	char name[64];
	uint32_t i;
	size_t r;

	for (r = 0; r < sizeof(rows) / sizeof(rows[0]); r++) {
		snprintf(name, sizeof(name), "instance_%s", rows[r].name);
		head(f, name, rows[r].type, rows[r].help);
		for (i = 0; i < svc->n_workers; i++) {
			const struct worker *w = &svc->workers[i];

			instance_status(w->inst, &st);
			const double values[] = {
				worker_usable(w), w->n_running, st.starts, st.faults, st.completed,
				st.failed, st.invalid, st.resident, st.resident_peak, st.host_reserved, st.host_peak,
				st.host_budget, st.device_peak, st.bytes_up, st.bytes_down,
				st.up_ns / 1e9,
			};

			worker_text(w, &st, f, rows[r].name, values[r]);
		}
	}
}

void metrics_text(const struct service *svc, FILE *f)
{
	char label[64];
	uint32_t s;

	head(f, "build_info", "gauge", "Always 1; the labels say what runs.");
	fprintf(f, "cuzk_build_info{version=\"" PACKAGE_VERSION "\"} 1\n");
	one(f, "start_time_seconds", "gauge", "When the service started, in seconds since 1970.",
	    svc->started_wall_us / 1e6);
	one(f, "ready", "gauge", "1 when the service is ready and takes jobs.",
	    svc->ready && !svc->draining);
	head(f, "kind_served", "gauge", "1 while an instance has parameters for the kind.");
	for (s = CUZK_KIND_POREP; s < CUZK_KIND_COUNT; s++)
		fprintf(f, "cuzk_kind_served{kind=\"%s\"} %u\n", config_kind_name(s),
			svc->kinds >> s & 1);
	if (svc->tls_expiry)
		one(f, "tls_expiry_seconds", "gauge",
		    "When the server's certificate expires, in seconds since 1970.",
		    svc->tls_expiry);
	jobs_text(svc, f);
	head(f, "dispatch_seconds", "histogram",
	     "From the receipt of a request to its first partition handed over.");
	hist_text(f, "dispatch_seconds", "", &svc->dispatch);
	by_kind(f, "queue_wait_seconds", "Time that jobs waited for their first partition.",
		svc->queue_wait);
	by_kind(f, "job_seconds", "Time from acceptance to the end of completed jobs.",
		svc->total);
	head(f, "keep_warm_seconds", "histogram", "Time of keep-warm WinningPoSt proofs.");
	hist_text(f, "keep_warm_seconds", "", &svc->keep_warm);
	head(f, "stage_seconds", "histogram", "Time of partitions by stage.");
	for (s = CUZK_STAGE_PARAMS; s < CUZK_STAGE_COUNT; s++) {
		snprintf(label, sizeof(label), "stage=\"%s\"", config_stage_name(s));
		hist_text(f, "stage_seconds", label, &svc->stage[s]);
	}
	workers_text(svc, f);
	memory_text(svc, f);
	if (svc->journal) {
		struct journal_status st;

		journal_status(svc->journal, &st);
		one(f, "journal_bytes", "gauge", "Size of the journal.", st.bytes);
		one(f, "journal_live_bytes", "gauge", "Bytes of it that are needed.",
		    st.live_bytes);
		counter(f, "journal_records_total", "Records written.", st.records);
		counter(f, "journal_syncs_total", "Batches made durable.", st.syncs);
		counter(f, "journal_compactions_total", "Times it was written anew, smaller.",
			st.compactions);
		counter(f, "journal_damaged_total", "Records lost to damage at start.",
			st.damaged);
		one(f, "journal_error", "gauge", "1 while the journal cannot be written.",
		    st.error != 0);
	}
}
