/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * ctl.h - what the commands of cuzkctl and cuzk-bench share
 *
 * Each command returns the exit status: 0 success, 1 failure, 2 wrong usage.
 * What was asked for goes to stdout, messages go to stderr.
 */
#ifndef CUZK_TOOLS_CTL_H
#define CUZK_TOOLS_CTL_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "tools/client.h"

#define CTL_FAILURE 1
#define CTL_USAGE 2

extern const char *ctl_program;	/* in messages; "cuzkctl" */

/* "--NAME VALUE" or "--NAME=VALUE"; with flag set "--NAME". The last has name NULL. */
struct ctl_option {
	const char *name;
	const char **value;
	bool *flag;
};

/* Options that every command that talks to the service takes. */
struct ctl_connection {
	const char *address, *tls_ca, *tls_cert, *tls_key, *timeout;
	bool json;
};

/*
 * Takes options, and those of conn unless it is NULL, from argv; the rest, at
 * most max, go to rest.  How many, or -1 after it was said what is wrong.
 */
int ctl_parse(const char *command, int argc, char **argv, const struct ctl_option *options,
	      struct ctl_connection *conn, const char **rest, int max);

/* Takes "--NAME VALUE" or "--NAME=VALUE" out of the line, wherever it stands.  0 or CTL_USAGE. */
int ctl_take_option(int *argc, char **argv, const char *name, const char **value);

__attribute__((format(printf, 2, 3)))
int ctl_fail(const char *command, const char *fmt, ...);	/* returns CTL_FAILURE */
__attribute__((format(printf, 2, 3)))
int ctl_usage(const char *command, const char *fmt, ...);	/* returns CTL_USAGE */

/* A number of milliseconds: "90" seconds, "500ms", "10min", "2h". -EINVAL. */
int ctl_duration(const char *text, uint64_t *ms);

/* Prints a JSON string with its quotes. */
void ctl_quote(const char *s);

/*
 * After two seconds a terminal shows that something goes on: one line on
 * stderr, renewed five times a second.
 */
struct ctl_progress {
	const char *what;
	struct timespec started, shown;
	bool visible;
};

void ctl_progress_start(struct ctl_progress *p, const char *what);
bool ctl_progress_tick(void *p);	/* as struct client_config's wait */
void ctl_progress_clear(struct ctl_progress *p);

/*
 * Connects, calls, disconnects.  0 with *answer, or an exit status after the
 * error was said.
 */
int ctl_call(const char *command, const struct ctl_connection *conn, const char *method,
	     const ProtobufCMessage *request, const ProtobufCMessageDescriptor *type,
	     const char *what, ProtobufCMessage **answer);

/* The same, but wait and ctx are the caller's, and what goes wrong is a text. */
int ctl_ask(const struct ctl_connection *conn, const char *method,
	    const ProtobufCMessage *request, const ProtobufCMessageDescriptor *type,
	    bool (*wait)(void *ctx), void *ctx, ProtobufCMessage **answer,
	    char text[CLIENT_ERROR_TEXT]);

/* ctl-help.c: prints how a command is used, to stdout; false: there is no such command. */
bool ctl_help(const char *name);

/* ctl-job.c */
int ctl_prove(int argc, char **argv);
int ctl_submit(int argc, char **argv);
int ctl_await(int argc, char **argv);
int ctl_cancel(int argc, char **argv);

/* ctl-status.c */
int ctl_status(int argc, char **argv);
int ctl_metrics(int argc, char **argv);
int ctl_preload(int argc, char **argv);
int ctl_evict(int argc, char **argv);

/* ctl-top.c */
int ctl_top(int argc, char **argv);

/* ctl-modinfo.c */
int ctl_modinfo(int argc, char **argv);

/* ctl-engine.c: library NULL: NAME.so of dir, dir NULL: where engines are installed. */
int ctl_engine(const char *library, const char *dir, int argc, char **argv);

#endif
