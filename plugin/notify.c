/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* notify.c - what the service manager is told */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <systemd/sd-daemon.h>

#include "plugin/log.h"
#include "plugin/notify.h"

#define STATUS_INTERVAL_US 200000ull
#define BARRIER_US 5000000ull
#define EXTEND_US (30ull * 1000000)	/* what one sign of progress is worth */
#define EXTEND_INTERVAL_US 1000000ull

struct notify {
	sd_event_source *watchdog;
	uint64_t period_us;		/* of the pings; 0: no watchdog */
	bool (*alive)(void *ctx, const char **why);
	void *ctx;
	char status[512];
	uint64_t status_us, extend_us;	/* when they were sent last */
};

static uint64_t monotonic_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000ull + ts.tv_nsec / 1000;
}

static int on_watchdog(sd_event_source *source, uint64_t usec, void *ctx)
{
	struct notify *n = ctx;
	const char *why = "";

	if (n->alive(n->ctx, &why)) {
		sd_notify(0, "WATCHDOG=1");
	} else {
		log_error("watchdog: no ping: %s", why);
		sd_notifyf(0, "STATUS=%s\nWATCHDOG=trigger", why);
	}
	sd_event_source_set_time_relative(source, n->period_us);
	return 0;
}

int notify_open(struct notify **out, sd_event *event, bool (*alive)(void *ctx, const char **why),
		void *ctx)
{
	struct notify *n = calloc(1, sizeof(*n));
	uint64_t usec;
	int r;

	if (!n)
		return -ENOMEM;
	n->alive = alive;
	n->ctx = ctx;
	r = sd_watchdog_enabled(0, &usec);
	if (r < 0) {
		log_warning("watchdog: WATCHDOG_USEC is not usable: %s", strerror(-r));
	} else if (r > 0) {
		n->period_us = usec / 2;
		r = sd_event_add_time_relative(event, &n->watchdog, CLOCK_MONOTONIC, 0, 0,
					       on_watchdog, n);
		if (r >= 0)
			r = sd_event_source_set_enabled(n->watchdog, SD_EVENT_ON);
		if (r < 0) {
			sd_event_source_disable_unref(n->watchdog);
			free(n);
			return r;
		}
	}
	*out = n;
	return 0;
}

void notify_close(struct notify *n)
{
	if (!n)
		return;
	sd_event_source_disable_unref(n->watchdog);
	free(n);
}

void notify_ready(struct notify *n, const char *status)
{
	if (n)
		sd_notifyf(0, "READY=1\nSTATUS=%s", status);
}

void notify_status(struct notify *n, const char *line)
{
	uint64_t now = monotonic_us();

	if (!n || !strncmp(n->status, line, sizeof(n->status) - 1))
		return;
	if (now - n->status_us < STATUS_INTERVAL_US)
		return;		/* the next tick brings it */
	strncpy(n->status, line, sizeof(n->status) - 1);
	n->status_us = now;
	sd_notifyf(0, "STATUS=%s", n->status);
}

void notify_progress(struct notify *n)
{
	uint64_t now = monotonic_us();

	if (!n || now - n->extend_us < EXTEND_INTERVAL_US)
		return;
	n->extend_us = now;
	sd_notifyf(0, "EXTEND_TIMEOUT_USEC=%llu", EXTEND_US);
}

void notify_reloading(struct notify *n)
{
	if (n)
		sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%" PRIu64, monotonic_us());
}

void notify_stopping(struct notify *n, uint64_t limit_us)
{
	if (n)
		sd_notifyf(0, "STOPPING=1\nEXTEND_TIMEOUT_USEC=%" PRIu64, limit_us);
}

bool notify_store(struct notify *n, int fd, const char *name)
{
	char state[512];

	snprintf(state, sizeof(state), "FDSTORE=1\nFDNAME=%s", name);
	return n && sd_pid_notify_with_fds(0, 0, state, &fd, 1) > 0;
}

void notify_unstore(struct notify *n, const char *name)
{
	if (n)
		sd_notifyf(0, "FDSTOREREMOVE=1\nFDNAME=%s", name);
}

void notify_barrier(struct notify *n)
{
	if (n)
		sd_notify_barrier(0, BARRIER_US);
}
