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
#include <time.h>
#include <unistd.h>

#include "lib/proto/cuzk.pb-c.h"
#include "tools/ctl.h"

#define INTERVAL_MAX_MS 3600000
#define RATES_MAX 64		/* instances whose speed is shown */

/* What is left of one refresh for the next. */
struct top {
	struct ctl_connection conn;
	double completed[RATES_MAX];
	struct timespec asked;		/* when those were */
	bool any;			/* there are some */
	char *view;			/* the last; NULL: none yet */
	char error[CLIENT_ERROR_TEXT];	/* why there is no newer one; "": there is */
};

/* ---- the terminal ---- */

static volatile sig_atomic_t ended;
static bool keys;			/* standard input is a terminal of which we take keys */
static struct termios cooked;		/* as it was */

static void take_keys(void)
{
	struct termios raw = cooked;

	raw.c_lflag &= ~(ICANON | ECHO);
	tcsetattr(STDIN_FILENO, TCSANOW, &raw);
}

static void on_end(int sig)
{
	ended = 1;
}

/* It ends a wait, and the next view has the new size. */
static void on_resize(int sig)
{
}

/* The shell gets the terminal as we found it. */
static void on_stop(int sig)
{
	int saved = errno;

	if (keys)
		tcsetattr(STDIN_FILENO, TCSANOW, &cooked);
	raise(SIGSTOP);
	if (keys)
		take_keys();
	errno = saved;
}

static void terminal_open(void)
{
	static const struct {
		int sig;
		void (*run)(int sig);
	} handlers[] = {
		{ SIGINT, on_end }, { SIGTERM, on_end }, { SIGHUP, on_end }, { SIGQUIT, on_end },
		{ SIGWINCH, on_resize }, { SIGTSTP, on_stop },
	};
	struct sigaction action = { 0 };
	size_t i;

	keys = tcgetattr(STDIN_FILENO, &cooked) == 0;
	for (i = 0; i < sizeof(handlers) / sizeof(handlers[0]); i++) {
		action.sa_handler = handlers[i].run;
		sigaction(handlers[i].sig, &action, NULL);
	}
	if (keys)
		take_keys();
	fputs("\033[?25l", stdout);	/* no cursor */
}

static void terminal_close(void)
{
	fputs("\033[?25h\n", stdout);
	fflush(stdout);
	if (keys)
		tcsetattr(STDIN_FILENO, TCSANOW, &cooked);
}

/* One line, as much as fits. */
static void put_line(const char *line, size_t len, unsigned int columns)
{
	unsigned int n = 0;
	size_t i;

	for (i = 0; i < len; i++) {
		/* bytes that go on with a letter take no place of their own */
		if (((unsigned char)line[i] & 0xc0) != 0x80 && n++ == columns)
			break;
	}
	fwrite(line, 1, i, stdout);
	fputs("\033[K", stdout);
}

static void show(const struct top *top)
{
	struct winsize size = { 0 };
	const char *p = top->view ? top->view : "", *end;
	unsigned int rows, columns, row = 0;
	char bottom[CLIENT_ERROR_TEXT + 64];

	ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
	rows = size.ws_row ? size.ws_row : 24;
	columns = size.ws_col ? size.ws_col : 80;
	fputs("\033[H", stdout);
	for (; *p && row + 1 < rows; row++) {
		end = strchrnul(p, '\n');
		put_line(p, end - p, columns);
		putchar('\n');
		p = *end ? end + 1 : end;
	}
	if (top->error[0])
		snprintf(bottom, sizeof(bottom), "q: quit   no answer, trying again: %s", top->error);
	else
		snprintf(bottom, sizeof(bottom), "q: quit");
	put_line(bottom, strlen(bottom), columns);
	fputs("\033[J", stdout);
	fflush(stdout);
}

/* Waits; true when the end is asked for.  Another key ends the wait. */
static bool wait_key(uint64_t ms)
{
	struct pollfd pfd = { .fd = STDIN_FILENO, .events = POLLIN };
	char key;

	if (ended || poll(&pfd, keys, (int)ms) <= 0)
		return ended;
	return read(STDIN_FILENO, &key, 1) != 1 || key == 'q' || key == 'Q';
}

/* While a service is asked that may be silent. */
static bool while_asked(void *ctx)
{
	if (wait_key(0))
		ended = 1;
	return !ended;
}

/* ---- numbers ---- */

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
static void bytes(FILE *f, double n)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB" };
	int i = 0;

	while (n >= 1024 && i < 4) {
		n /= 1024;
		i++;
	}
	fprintf(f, "%7.1f %-3s", n, units[i]);
}

/* ---- a view ---- */

/* Proofs a second since the last view; the count of a service that was restarted begins anew. */
static double speed(struct top *top, size_t i, double completed, double seconds)
{
	double before = top->completed[i];

	top->completed[i] = completed;
	return top->any && seconds > 0 && completed > before ? (completed - before) / seconds : 0;
}

static void instances(FILE *f, struct top *top, const Cuzk__V1__GetStatusResponse *st,
		      const char *text, double seconds)
{
	size_t i;

	fprintf(f, "%-16s %-11s %9s %8s %8s %8s %12s  %-13s %s\n", "INSTANCE", "STATE", "PROOFS/S",
		"RUNNING", "INVALID", "FAULTS", "RESIDENT", "PROVES", "JOB");
	for (i = 0; i < st->n_gpus; i++) {
		const Cuzk__V1__GPUStatus *g = st->gpus[i];
		double n = labelled(text, "cuzk_instance_completed_total", "instance", g->name);

		fprintf(f, "%-16.16s %-11s %9.2f %8.0f %8.0f %8.0f ", g->name,
			g->state[0] ? g->state : "-",
			i < RATES_MAX ? speed(top, i, n, seconds) : 0,
			labelled(text, "cuzk_instance_running", "instance", g->name),
			labelled(text, "cuzk_instance_invalid_total", "instance", g->name),
			labelled(text, "cuzk_instance_faults_total", "instance", g->name));
		bytes(f, labelled(text, "cuzk_instance_resident_bytes", "instance", g->name));
		fprintf(f, "  %-13s %s\n", g->current_proof_kind[0] ? g->current_proof_kind : "-",
			g->current_job_id[0] ? g->current_job_id : "-");
		if (g->reason[0])
			fprintf(f, "  %s\n", g->reason);
	}
}

static void queues(FILE *f, const Cuzk__V1__GetStatusResponse *st, const char *text)
{
	size_t i;

	fprintf(f, "\n%-16s %8s %8s %10s %8s %10s %12s\n", "KIND", "PENDING", "RUNNING",
		"COMPLETED", "FAILED", "CANCELLED", "MEAN");
	for (i = 0; i < st->n_queues; i++) {
		const Cuzk__V1__QueueStatus *q = st->queues[i];
		double n = labelled(text, "cuzk_job_seconds_count", "kind", q->proof_kind);
		double sum = labelled(text, "cuzk_job_seconds_sum", "kind", q->proof_kind);

		fprintf(f, "%-16s %8u %8u %10.0f %8.0f %10.0f %10.2f s\n", q->proof_kind,
			q->pending, q->in_progress, finished(text, q->proof_kind, "completed"),
			finished(text, q->proof_kind, "failed"),
			finished(text, q->proof_kind, "cancelled"), n > 0 ? sum / n : 0);
	}
}

static void view(FILE *f, struct top *top, const Cuzk__V1__GetStatusResponse *st,
		 const char *text, double seconds)
{
	const char *address = top->conn.address;

	fprintf(f, "cuzk at %s: up %" PRIu64 " s, %s, queue empty in about %.0f s, reproved %.0f, "
		"refused %.0f\n\n", address ? address : CLIENT_DEFAULT_ADDRESS,
		st->uptime_seconds, metric(text, "cuzk_ready") ? "ready" : "not ready",
		metric(text, "cuzk_queue_estimate_seconds"), metric(text, "cuzk_reproved_total"),
		metric(text, "cuzk_refused_full_total") + metric(text, "cuzk_refused_input_total"));
	instances(f, top, st, text, seconds);
	queues(f, st, text);
}

/* ---- asking ---- */

static int make_view(struct top *top, const Cuzk__V1__GetStatusResponse *st, const char *text)
{
	struct timespec now;
	char *made = NULL;
	size_t len;
	FILE *f;

	clock_gettime(CLOCK_MONOTONIC, &now);
	f = open_memstream(&made, &len);
	if (!f)
		goto nomem;
	view(f, top, st, text, (now.tv_sec - top->asked.tv_sec) +
	     (now.tv_nsec - top->asked.tv_nsec) / 1e9);
	if (fclose(f))
		goto nomem;
	free(top->view);
	top->view = made;
	top->asked = now;
	top->any = true;
	return 0;

nomem:
	free(made);
	snprintf(top->error, sizeof(top->error), "no memory");
	return CTL_FAILURE;
}

/* A new view; or the old one with the reason. */
static int refresh(struct top *top)
{
	Cuzk__V1__GetStatusRequest ask = CUZK__V1__GET_STATUS_REQUEST__INIT;
	Cuzk__V1__GetMetricsRequest ask_metrics = CUZK__V1__GET_METRICS_REQUEST__INIT;
	Cuzk__V1__GetStatusResponse *st;
	Cuzk__V1__GetMetricsResponse *metrics;
	int ret;

	top->error[0] = '\0';
	ret = ctl_ask(&top->conn, "GetStatus", &ask.base,
		      &cuzk__v1__get_status_response__descriptor, while_asked, NULL,
		      (ProtobufCMessage **)&st, top->error);
	if (ret)
		return ret;
	ret = ctl_ask(&top->conn, "GetMetrics", &ask_metrics.base,
		      &cuzk__v1__get_metrics_response__descriptor, while_asked, NULL,
		      (ProtobufCMessage **)&metrics, top->error);
	if (!ret) {
		ret = make_view(top, st, metrics->prometheus_text);
		cuzk__v1__get_metrics_response__free_unpacked(metrics, NULL);
	}
	cuzk__v1__get_status_response__free_unpacked(st, NULL);
	return ret;
}

static int once(struct top *top)
{
	int ret = refresh(top);

	if (!ret)
		fputs(top->view, stdout);
	return ret;
}

/* Until it is told to end: a service that restarts comes back. */
static int live(struct top *top, uint64_t ms)
{
	int ret;

	terminal_open();
	ret = refresh(top);
	if (!ret)
		show(top);
	while (!ret && !wait_key(ms)) {
		refresh(top);
		if (!ended)
			show(top);
	}
	terminal_close();
	return ended ? 0 : ret;
}

static bool is_terminal(void)
{
	const char *kind = getenv("TERM");

	return isatty(STDOUT_FILENO) && kind && *kind && strcmp(kind, "dumb");
}

int ctl_top(int argc, char **argv)
{
	static struct top top;
	const char *interval = NULL;
	bool only_once = false;
	const struct ctl_option options[] = {
		{ "--interval", &interval }, { "--once", NULL, &only_once }, { NULL }
	};
	uint64_t ms = 1000;
	int ret;

	if (ctl_parse("top", argc, argv, options, &top.conn, NULL, 0) < 0)
		return CTL_USAGE;
	if (top.conn.json)
		return ctl_usage("top", "--json: there is cuzkctl status --json");
	if (interval && (ctl_duration(interval, &ms) || ms < 100 || ms > INTERVAL_MAX_MS))
		return ctl_usage("top", "--interval %s: not a duration of 100ms to 1h", interval);
	ret = only_once || !is_terminal() ? once(&top) : live(&top, ms);
	free(top.view);
	if (!ret)
		return 0;
	fprintf(stderr, "%s top: %s\n", ctl_program, top.error);
	return ret;
}
