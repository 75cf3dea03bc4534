/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * command.h - the operator's commands that need the engine and no service
 *
 * JSON goes to stdout, messages to stderr; exit status 0 is success, 1 failure,
 * 2 wrong usage.
 */
#ifndef CUZK_GROTH16_COMMAND_H
#define CUZK_GROTH16_COMMAND_H

#include <pthread.h>
#include <stdbool.h>

#include "engine/groth16/error.h"
#include "engine/groth16/progress.h"
#include "gpu/gpu.h"
#include "lib/tpool.h"

/* cuzk_engine_ops.command */
int command_run(const struct cuzk_host *host, int argc, char **argv);

/* One command's parsed line and surroundings. */
struct command {
	const struct cuzk_host *host;
	const char *name;	/* "params make" */
	const char *backend, *device, *threads;	/* options of all that compute */
	unsigned int n_threads;		/* 0: as many as there are processors */
	struct progress progress;	/* to the terminal, from any thread */

	pthread_mutex_t shown_lock;	/* protects the rest but ticker */
	pthread_cond_t stopped;
	char what[96];			/* what was told last; "": nothing */
	uint64_t done, total;
	bool stop, line_shown;
	pthread_t ticker;		/* shows it */
	bool on_terminal;		/* there is a ticker */
};

/* An option is "--NAME VALUE" or "--NAME=VALUE", a flag (value NULL) "--NAME". */
struct command_option {
	const char *name;
	const char **value;
	bool *flag;
};

/*
 * Takes options, which end with name NULL, and --backend, --device, --threads
 * from argv, each once; the rest, at most max, go to rest.  Returns how many,
 * or -1 with the usage error said.
 */
int command_parse(struct command *cmd, int argc, char **argv, const struct command_option *options,
		  const char **rest, int max);
/* Says what is wrong with the usage; returns 2. */
int command_usage(struct command *cmd, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Says the error; returns 1. */
int command_fail(struct command *cmd, const struct cuzk_error *err);
/* Progress lines end here, before anything else is printed. */
void command_clear(struct command *cmd);

/* The device that the command's options name, with a pool of the same threads. */
struct command_device {
	const struct gpu_ops *ops;
	struct gpu *gpu;
	struct tpool *pool;
	struct command *cmd;
};

int command_open_device(struct command *cmd, struct command_device *dev, struct cuzk_error *err);
void command_close_device(struct command_device *dev);
/* Fills a struct cuzk_device from the options. */
void command_device_desc(const struct command *cmd, struct cuzk_device *desc);
/* A decimal number, at most max, and nothing else. -EINVAL. */
int command_number(const char *text, uint64_t max, uint64_t *number);

/* A JSON string with its quotes. */
void command_put_string(const char *s);
/* "R,S" or NULL: random. -EINVAL with err. */
struct blinding;
int command_blinding(const char *text, struct blinding *b, struct cuzk_error *err);

/* The digests of a system (w NULL) or of a witness, to stdout. */
struct cs;
struct cs_witness;
int command_print_digest(const struct cs *cs, const struct cs_witness *w, struct cuzk_error *err);

/* The commands; argv is behind their names. */
int command_params_make(struct command *cmd, int argc, char **argv);
int command_params_check(struct command *cmd, int argc, char **argv);
int command_params_convert(struct command *cmd, int argc, char **argv);
int command_params_rearrange(struct command *cmd, int argc, char **argv);
int command_circuit_digest(struct command *cmd, int argc, char **argv);
int command_circuit_list(struct command *cmd, int argc, char **argv);
int command_circuit_cache(struct command *cmd, int argc, char **argv);
int command_witness(struct command *cmd, int argc, char **argv);
int command_check(struct command *cmd, int argc, char **argv);
int command_prove_offline(struct command *cmd, int argc, char **argv);
int command_prove_r1cs(struct command *cmd, int argc, char **argv);
int command_verify(struct command *cmd, int argc, char **argv);

#endif
