/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* ctl-top.c - cuzkctl top: the service as it works, in a terminal */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "lib/proto/cuzk.pb-c.h"
#include "tools/ctl.h"

#define BARS 20

static volatile sig_atomic_t ended;

static void on_end(int sig)
{
	ended = 1;
}

/* The value of one sample, "NAME{LABELS}" in full; 0 when it is not there. */
static double metric(const char *text, const char *sample)
{
	size_t len = strlen(sample);
	const char *p;

	for (p = text; p; p = strchr(p, '\n')) {
		p += *p == '\n';
		if (!strncmp(p, sample, len) && p[len] == ' ')
			return strtod(p + len, NULL);
	}
	return 0;
}

static double labelled(const char *text, const char *name, const char *label, const char *value)
{
	char sample[256];

	snprintf(sample, sizeof(sample), "%s{%s=\"%s\"}", name, label, value);
	return metric(text, sample);
}

static double finished(const char *text, const char *kind, const char *result)
{
	char sample[256];

	snprintf(sample, sizeof(sample), "cuzk_jobs_total{kind=\"%s\",result=\"%s\"}", kind,
		 result);
	return metric(text, sample);
}

/* "  12.3 GiB" */
static void bytes(double n)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB" };
	int i = 0;

	while (n >= 1024 && i < 4) {
		n /= 1024;
		i++;
	}
	printf("%7.1f %-3s", n, units[i]);
}

static void instances(const Cuzk__V1__GetStatusResponse *st, const char *text, double seconds,
		      double *before)
{
	size_t i;

	printf("%-16s %-5s %9s %8s %8s %8s %12s  %-13s %s\n", "INSTANCE", "UP", "PROOFS/S",
	       "RUNNING", "INVALID", "FAULTS", "RESIDENT", "PROVES", "JOB");
	for (i = 0; i < st->n_gpus; i++) {
		const Cuzk__V1__GPUStatus *g = st->gpus[i];
		double n = labelled(text, "cuzk_instance_completed_total", "instance", g->name);

		printf("%-16.16s %-5s %9.2f %8.0f %8.0f %8.0f ", g->name,
		       labelled(text, "cuzk_instance_up", "instance", g->name) ? "yes" : "no",
		       i < BARS && seconds > 0 ? (n - before[i]) / seconds : 0,
		       labelled(text, "cuzk_instance_running", "instance", g->name),
		       labelled(text, "cuzk_instance_invalid_total", "instance", g->name),
		       labelled(text, "cuzk_instance_faults_total", "instance", g->name));
		bytes(labelled(text, "cuzk_instance_resident_bytes", "instance", g->name));
		printf("  %-13s %.60s\n", g->current_proof_kind[0] ? g->current_proof_kind : "-",
		       g->current_job_id[0] ? g->current_job_id : "-");
		if (i < BARS)
			before[i] = n;
	}
}

static void queues(const Cuzk__V1__GetStatusResponse *st, const char *text)
{
	size_t i;

	printf("\n%-16s %8s %8s %10s %8s %10s %12s\n", "KIND", "PENDING", "RUNNING", "COMPLETED",
	       "FAILED", "CANCELLED", "MEAN");
	for (i = 0; i < st->n_queues; i++) {
		const Cuzk__V1__QueueStatus *q = st->queues[i];
		double n = labelled(text, "cuzk_job_seconds_count", "kind", q->proof_kind);
		double sum = labelled(text, "cuzk_job_seconds_sum", "kind", q->proof_kind);

		printf("%-16s %8u %8u %10.0f %8.0f %10.0f %10.2f s\n", q->proof_kind, q->pending,
		       q->in_progress, finished(text, q->proof_kind, "completed"),
		       finished(text, q->proof_kind, "failed"),
		       finished(text, q->proof_kind, "cancelled"), n > 0 ? sum / n : 0);
	}
}

static void screen(const struct ctl_connection *conn, const Cuzk__V1__GetStatusResponse *st,
		   const char *text, double seconds, double *before, bool terminal)
{
	if (terminal)
		printf("\033[H\033[J");
	printf("cuzk at %s: up %" PRIu64 " s, %s, queue empty in about %.0f s, reproved %.0f, "
	       "refused %.0f\n\n", conn->address ? conn->address : CLIENT_DEFAULT_ADDRESS,
	       st->uptime_seconds, metric(text, "cuzk_ready") ? "ready" : "not ready",
	       metric(text, "cuzk_queue_estimate_seconds"), metric(text, "cuzk_reproved_total"),
	       metric(text, "cuzk_refused_full_total") + metric(text, "cuzk_refused_input_total"));
	instances(st, text, seconds, before);
	queues(st, text);
	if (terminal)
		printf("\nq: quit\n");
	fflush(stdout);
}

static int refresh(const struct ctl_connection *conn, double seconds, double *before,
		   bool terminal)
{
	Cuzk__V1__GetStatusRequest ask = CUZK__V1__GET_STATUS_REQUEST__INIT;
	Cuzk__V1__GetMetricsRequest ask_metrics = CUZK__V1__GET_METRICS_REQUEST__INIT;
	Cuzk__V1__GetStatusResponse *st;
	Cuzk__V1__GetMetricsResponse *metrics;
	int ret;

	ret = ctl_call("top", conn, "GetStatus", &ask.base,
		       &cuzk__v1__get_status_response__descriptor, "waiting for the service",
		       (ProtobufCMessage **)&st);
	if (ret)
		return ret;
	ret = ctl_call("top", conn, "GetMetrics", &ask_metrics.base,
		       &cuzk__v1__get_metrics_response__descriptor, "waiting for the service",
		       (ProtobufCMessage **)&metrics);
	if (!ret) {
		screen(conn, st, metrics->prometheus_text, seconds, before, terminal);
		cuzk__v1__get_metrics_response__free_unpacked(metrics, NULL);
	}
	cuzk__v1__get_status_response__free_unpacked(st, NULL);
	return ret;
}

/* Waits; true when a key asks for the end. */
static bool wait_key(uint64_t ms)
{
	struct pollfd pfd = { .fd = STDIN_FILENO, .events = POLLIN };
	char key;

	if (poll(&pfd, 1, (int)ms) <= 0)
		return ended;
	return read(STDIN_FILENO, &key, 1) != 1 || key == 'q' || key == 'Q';
}

int ctl_top(int argc, char **argv)
{
	const char *interval = NULL;
	bool once = false;
	const struct ctl_option options[] = {
		{ "--interval", &interval }, { "--once", NULL, &once }, { NULL }
	};
	struct ctl_connection conn = { 0 };
	struct termios old, raw;
	double before[BARS] = { 0 };
	bool keys, terminal;
	uint64_t ms = 1000;
	int ret;

	if (ctl_parse("top", argc, argv, options, &conn, NULL, 0) < 0)
		return CTL_USAGE;
	if (interval && (ctl_duration(interval, &ms) || ms < 100))
		return ctl_usage("top", "--interval %s: not a duration of 100ms or more", interval);
	terminal = isatty(STDOUT_FILENO) && !once;
	keys = terminal && tcgetattr(STDIN_FILENO, &old) == 0;
	if (!terminal)
		return refresh(&conn, 0, before, false);
	signal(SIGINT, on_end);
	signal(SIGTERM, on_end);
	if (keys) {
		raw = old;
		raw.c_lflag &= ~(ICANON | ECHO);
		tcsetattr(STDIN_FILENO, TCSANOW, &raw);
	}
	ret = refresh(&conn, 0, before, true);
	while (!ret && !ended) {
		if (keys ? wait_key(ms) : usleep(ms * 1000) && ended)
			break;
		ret = refresh(&conn, ms / 1e3, before, true);
	}
	if (keys)
		tcsetattr(STDIN_FILENO, TCSANOW, &old);
	return ret;
}
