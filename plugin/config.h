/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * config.h - the configuration of the service, read from INI files
 *
 * One table (config-table.c) has a row per option; the reader, --help,
 * --dump-config, reload and the manual page cuzk.conf(5) are driven by it.
 *
 * Sections: [global] once; [engine NAME] per engine; [cpu] and [gpu NAME], one
 * per instance.  config_read() reads the file given and then, in byte order of
 * their names, all conf.d/NAME.ini beside it; a later file overrides keys of
 * an earlier one.  Within one file a repeated section or key is an error, as
 * are unknown sections and keys, bad values, values out of range, continuation
 * (indented) lines and lines over CONFIG_LINE_MAX bytes.
 *
 * Units: sizes are bytes, durations are milliseconds.
 * Threads: a struct config is plain data; nobody writes to it but
 * config_apply().
 */
#ifndef CUZK_PLUGIN_CONFIG_H
#define CUZK_PLUGIN_CONFIG_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "plugin/api/cuzk_engine.h"

#define CONFIG_LINE_MAX 198	/* bytes of a line without its newline: what inih holds */
#define CONFIG_FILE_MAX (1 << 20)	/* bytes of one file */
#define CONFIG_ERRORS_MAX 100	/* errors reported before the reader gives up */
#define CONFIG_NAME_MAX 40	/* bytes of NAME in [engine NAME], [gpu NAME] */
#define CONFIG_ENGINES_MAX 32
#define CONFIG_DEVICES_MAX 64
#define CONFIG_PARAMS_MAX 128	/* parameters of one engine */

/* Sets of proof kinds: bit (1 << enum cuzk_proof_kind). */
#define CONFIG_KIND(kind) (1u << (kind))
#define CONFIG_KINDS_ALL (CONFIG_KIND(CUZK_KIND_POREP) | CONFIG_KIND(CUZK_KIND_UPDATE) |	\
			  CONFIG_KIND(CUZK_KIND_WINDOW_POST) |				\
			  CONFIG_KIND(CUZK_KIND_WINNING_POST))

/* Where a section or key was written, for messages.  file lives as long as the config. */
struct config_place {
	const char *file;	/* "default" when nothing set it */
	unsigned int line;
};

/* [global] */
struct config_global {
	/* access */
	char *listen;			/* path of the unix socket; NULL: none */
	uint64_t listen_mode;		/* permission bits of it */
	char *listen_group;		/* group that owns it; NULL: the service's own */
	char *listen_tcp;		/* HOST:PORT; NULL: none */
	bool insecure;			/* TCP without TLS */
	char *tls_cert, *tls_key, *tls_client_ca;	/* PEM files */
	char *metrics_listen;		/* HOST:PORT or path of a unix socket; NULL: none */
	uint64_t message_limit;		/* bytes of one gRPC message */
	uint64_t client_jobs;		/* unfinished jobs of one client; 0: no limit */

	/* state */
	char *state_dir, *runtime_dir;
	uint64_t journal_slack;		/* a smaller journal is never compacted; bytes */
	char *params_dir;		/* handed to engines that declare params_dir */
	uint64_t log_level;		/* syslog priority */

	/* jobs */
	uint64_t queue_limit;		/* unfinished jobs */
	uint64_t queue_bytes;		/* bytes of their requests */
	uint64_t result_ttl;		/* a finished job's result is kept for; ms */
	uint64_t result_limit;		/* finished jobs kept at most */
	uint64_t retries;		/* of a partition, beyond its first run */
	uint64_t poison_deaths;		/* a job under which so many instances died fails */
	uint64_t aging;			/* waiting so long raises the priority by one; ms */
	uint64_t deadline;		/* of a job that came without one; ms; 0: none */
	bool cancel_on_disconnect;	/* when the last client that waits goes away */
	uint64_t drain;			/* SIGTERM: running partitions get so long; ms */

	/* memory */
	uint64_t host_memory;		/* budget of all instances; 0: what is free */

	/* supervision */
	uint64_t start_limit;		/* load, probe and self-test without movement; ms */
	uint64_t admit_limit;		/* one admission; ms */
	uint64_t stage_limit[CUZK_STAGE_COUNT];	/* by stage; index 0: in no named stage */
	uint64_t learn_history;		/* stays in a stage that make its limit known; 0: never */
	uint64_t learn_factor;		/* that limit, as a multiple of the slowest stay */
	uint64_t learn_floor, learn_floor_params;	/* the least that it may be; ms */
	uint64_t heartbeat_limit;	/* a stage over its limit must move this often */
	uint64_t kill_grace;		/* between SIGTERM and SIGKILL; ms */
	uint64_t restart_delay;		/* before the first restart, doubles; ms */
	uint64_t restart_delay_max;
	uint64_t quarantine_faults;	/* so many faults... */
	uint64_t quarantine_window;	/* ...within this time: quarantined; ms */
	uint64_t invalid_limit;		/* invalid proofs before an instance is recycled */
	uint64_t keep_warm;		/* interval of WinningPoSt warm-up; ms; 0: off */
	char *instance_program;		/* the program that runs an instance */
};

/* One key of [engine NAME] that the engine itself declares. */
struct config_param {
	char *name, *value;
	struct config_place place;
};

enum config_engine_type {
	CONFIG_ENGINE_PLUGIN,	/* implements cuzk_engine.h */
	CONFIG_ENGINE_FOREIGN,	/* anything else, through libffi */
};

/* [engine NAME] */
struct config_engine {
	char *name;
	uint64_t type;		/* enum config_engine_type */
	char *library;		/* absolute path, or NAME for $(enginedir)/NAME.so */
	struct config_param *params;
	unsigned int n_params;
	struct config_place place, library_place;
};

/* [cpu] and [gpu NAME]: one instance each */
struct config_device {
	char *name;		/* "cpu", or NAME */
	bool gpu;
	char *engine;		/* name of an [engine] section */
	char *device;		/* gpu: UUID ("GPU-...", "MIG-...") or PCI address */
	uint64_t threads;	/* 0: all */
	uint64_t vram_budget;	/* 0: all that is free */
	uint64_t host_budget;	/* 0: a share of host_memory */
	uint64_t kinds;		/* set: what it serves */
	uint64_t reserved_for;	/* set: it serves nothing else while one of these may come */
	uint64_t depth;		/* partitions handed over at a time */
	struct config_place place, engine_place;
};

struct config {
	struct config_global global;
	struct config_engine *engines;
	unsigned int n_engines;
	struct config_device *devices;
	unsigned int n_devices;
	/* private to config*.c */
	struct config_files *files;
};

/* Receives one line, "file:line: message", without newline. */
typedef void (*config_report_fn)(void *ctx, const char *line);

/*
 * Reads path (and conf.d/ beside it).  *cfg is set on success; config_free()
 * frees it and accepts NULL.  All errors of all files go to report.
 * -EINVAL: at least one was reported; other -errno: a file could not be read
 * (reported too).  Exit status 2 is the caller's business.
 */
int config_read(struct config **cfg, const char *path, config_report_fn report, void *ctx);
/* Where a key of [global] was set; line 0: nowhere. */
struct config_place config_global_place(const struct config *cfg, const char *name);
void config_free(struct config *cfg);

/* The same from memory, without drop-ins; name stands for the file in messages. */
int config_parse(struct config **cfg, const char *name, const char *text, size_t len,
		 config_report_fn report, void *ctx);

/* NULL when there is none of that name. */
const struct config_engine *config_engine(const struct config *cfg, const char *name);

/*
 * Reload: takes over into cfg all values of next whose row is marked hot.
 * Rows that differ and are not hot are reported and left.  Returns how many
 * those are.
 */
int config_apply(struct config *cfg, const struct config *next, config_report_fn report,
		 void *ctx);

/* Writes every option with its help (--help-config), as an INI file that reads
 * back the same (--dump-config), and as the OPTIONS part of cuzk.conf(5). */
void config_help(FILE *f);
void config_dump(const struct config *cfg, FILE *f);
void config_man(FILE *f);

/* "porep", "update", "window-post", "winning-post"; "unknown" else. */
const char *config_kind_name(unsigned int kind);

/* "params", "witness", ... for enum cuzk_stage; "unknown" else. */
const char *config_stage_name(unsigned int stage);

/*
 * Value syntax, also used for engine parameters.  0, -EINVAL (not a number, or
 * a suffix unknown) or -ERANGE.  Sizes: K M G T, powers of 1024.  Durations:
 * ms (default s), s, min, h, d.
 */
int config_bool(const char *text, bool *value);
int config_int(const char *text, int64_t *value);
int config_size(const char *text, uint64_t *value);
int config_duration(const char *text, uint64_t *ms);

#endif
