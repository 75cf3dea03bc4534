/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * bench-load.h - requests to a service, each another work, and what they take
 */
#ifndef CUZK_TOOLS_BENCH_LOAD_H
#define CUZK_TOOLS_BENCH_LOAD_H

#include <stdint.h>
#include <sys/types.h>

#include "lib/proto/cuzk.pb-c.h"
#include "tools/bench.h"

/* Where requests of one kind come from; read by any thread. */
struct source;

/*
 * name is a file with a request, or a kind, of which one is made up.  With params,
 * every proof is verified here too, by the key of the kind's parameters in that
 * folder.  0 or an exit status.
 */
int source_open(const char *command, const char *name, const char *params, struct source **out);
void source_close(struct source *s);
const char *source_name(const struct source *s);

/* One request's life; times in nanoseconds. */
struct outcome {
	uint64_t start, end;
	uint64_t queued_ms, synthesis_ms, compute_ms, total_ms;	/* as the service says */
	bool done;			/* there is a proof, verified if that was asked for */
	char why[256];			/* not done */
};

/*
 * Sends the number-th request and waits.  The service takes equal work as one, so
 * requests differ in what no proof depends on: the miner of a PoSt, the partition
 * index of the others.
 */
void source_prove(const struct source *s, struct client *client, uint64_t number,
		  uint64_t timeout_ms, struct outcome *out);

/*
 * Fills in where the service is, and watches its process: pid, or, where that is 0, the one
 * at the other end of a unix socket.  Which it is, or 0.
 */
pid_t load_begin(struct bench *b, const struct ctl_connection *conn, pid_t pid,
		 struct client_config *config);
/* What the service's processes and the devices had while it ran. */
void load_print_memory(struct bench *b, pid_t pid);

#endif
