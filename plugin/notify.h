/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * notify.h - what the service manager is told
 *
 * All of it does nothing where no manager listens (NOTIFY_SOCKET is not set).
 * The watchdog is pinged by a timer of the main loop, at half of the period
 * that the manager asks for, and only while every instance is idle, moves, or
 * is within its limits: a loop that hangs, or that fails to end a stuck
 * instance, is ended by the manager.
 */
#ifndef CUZK_PLUGIN_NOTIFY_H
#define CUZK_PLUGIN_NOTIFY_H

#include <stdbool.h>
#include <stdint.h>

#include <systemd/sd-event.h>

struct notify;

/* alive says whether to ping, or sets *why. 0 or -errno. */
int notify_open(struct notify **notify, sd_event *event,
		bool (*alive)(void *ctx, const char **why), void *ctx);
/* NULL is accepted here and by all below. */
void notify_close(struct notify *notify);

/* READY=1, with the status that goes with it. */
void notify_ready(struct notify *notify, const char *status);
/* STATUS=; lines that did not change, and more than five a second, are not sent. */
void notify_status(struct notify *notify, const char *line);
/* Something moves while the service starts or ends: it gets more time. */
void notify_progress(struct notify *notify);
void notify_reloading(struct notify *notify);
/* The end comes within limit_us. */
void notify_stopping(struct notify *notify, uint64_t limit_us);
/* Asks the manager to keep this descriptor over a restart, under this name; false: none. */
bool notify_store(struct notify *notify, int fd, const char *name);
/* All that the manager keeps under this name shall go. */
void notify_unstore(struct notify *notify, const char *name);
/* Waits, for a moment at most, until the manager has done what it was told. */
void notify_barrier(struct notify *notify);

#endif
