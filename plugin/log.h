/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * log.h - what the service says: to the journal with fields, or to stderr
 *
 * One line per event, lower case, no full stop; whoever decides what an error
 * means logs it, once.  When stderr is the journal's own socket the line goes
 * there through sd_journal_sendv() with the fields below; anywhere else it
 * goes to stderr, with a "<N>" priority prefix unless that is a terminal.
 *
 * All functions may be called from any thread and keep errno.
 */
#ifndef CUZK_PLUGIN_LOG_H
#define CUZK_PLUGIN_LOG_H

#include <stdarg.h>
#include <stdint.h>
#include <syslog.h>

/*
 * Fields of the journal. NULL or 0 leaves a string out; partition and gpu are
 * left out when negative, so start from LOG_FIELDS_INIT.
 */
struct log_fields {
	const char *job;		/* CUZK_JOB: job id */
	const char *request;		/* CUZK_REQUEST: the client's request_id */
	const char *kind;		/* CUZK_KIND: "porep", "winning-post", ... */
	const char *stage;		/* CUZK_STAGE: "witness", "msm_h", ... */
	const char *instance;		/* CUZK_INSTANCE: "gpu 0", "cpu" */
	const char *error_class;	/* CUZK_ERROR_CLASS: "input", "device", ... */
	const char *event;		/* CUZK_EVENT: "accepted", "dispatched", ... */
	int64_t partition;		/* CUZK_PARTITION */
	int64_t gpu;			/* CUZK_GPU: ordinal of the instance */
	uint64_t duration_us;		/* CUZK_DURATION_USEC */
	uint64_t bytes_up, bytes_down;	/* CUZK_BYTES_UP, CUZK_BYTES_DOWN: to and from the device */
};

#define LOG_FIELDS_INIT { .partition = -1, .gpu = -1 }

/* Chooses the target. name is the SYSLOG_IDENTIFIER and must stay valid. */
void log_open(const char *name);
/* Lines as on a terminal from now on, wherever they go. */
void log_to_person(void);

/* Lines less important than priority (LOG_INFO at start) are dropped. */
void log_set_level(int priority);
int log_level(void);

/* fields may be NULL. The line is cut at 2048 bytes; newlines become spaces. */
void log_event(int priority, const struct log_fields *fields, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void log_eventv(int priority, const struct log_fields *fields, const char *fmt, va_list ap)
	__attribute__((format(printf, 3, 0)));

/* A line of those who report mistakes to a function: config_read(), pem_check(), ... */
void log_report(void *ctx, const char *line);

#define log_error(...)	log_event(LOG_ERR, NULL, __VA_ARGS__)
#define log_warning(...) log_event(LOG_WARNING, NULL, __VA_ARGS__)
#define log_notice(...)	log_event(LOG_NOTICE, NULL, __VA_ARGS__)
#define log_info(...)	log_event(LOG_INFO, NULL, __VA_ARGS__)
#define log_debug(...)	log_event(LOG_DEBUG, NULL, __VA_ARGS__)

/* "input", "device", ...: enum cuzk_error_class; "?" for a number that has no name. */
const char *log_class_name(uint32_t cls);

#endif
