/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * rpc.h - the gRPC side of the service
 *
 * Threads.  The network library runs in threads of this object's own: some
 * receive (decode, hash, copy the payload to its request file), one sends.  The
 * owner, who called rpc_open(), never enters the library and so never waits for
 * one of its locks: calls reach it through rpc_process(), its answers leave
 * through a queue.  All functions here are the owner's.
 *
 * A call.  ops.call() hands it over; the owner answers it exactly once, now or
 * later, with rpc_reply() or rpc_fail(), which take it back.  When the client
 * goes away before that, ops.gone() says so; the answer is still due and goes
 * nowhere.
 */
#ifndef CUZK_PLUGIN_RPC_H
#define CUZK_PLUGIN_RPC_H

#include <stdbool.h>
#include <stdint.h>

#include <grpc/status.h>
#include <protobuf-c/protobuf-c.h>

#include "plugin/submit.h"

#define RPC_NAME_SIZE 384	/* bytes of a job id or circuit id, NUL included */
#define RPC_NO_DEADLINE UINT64_MAX

enum rpc_method {
	RPC_SUBMIT,
	RPC_AWAIT,
	RPC_PROVE,
	RPC_CANCEL,
	RPC_STATUS,
	RPC_METRICS,
	RPC_PRELOAD,
	RPC_EVICT,
	RPC_OWNERS,		/* below here: the owner's; from here: answered by rpc */
	RPC_HEALTH_CHECK = RPC_OWNERS,
	RPC_HEALTH_WATCH,
	RPC_REFLECTION,
	RPC_REFLECTION_ALPHA,
	RPC_METHODS
};

#define RPC_CLIENT_TLS 0x80000000u

struct rpc_call {
	enum rpc_method method;
	struct submission *submission;	/* SUBMIT, PROVE: the owner may take it and set NULL */
	char name[RPC_NAME_SIZE];	/* AWAIT, CANCEL: job id; PRELOAD, EVICT: circuit */
	uint64_t timeout_ms;		/* AWAIT; 0: none */
	uint64_t deadline_us;		/* CLOCK_MONOTONIC; or RPC_NO_DEADLINE */
	uint64_t received_us;		/* CLOCK_MONOTONIC: its first byte was seen */
	/*
	 * The client: its user on a unix socket; with TLS RPC_CLIENT_TLS and a
	 * number made of its certificate's subject; UINT32_MAX: not known.
	 */
	uint32_t uid;
	void *user;			/* the owner's; NULL at first */
};

struct rpc_ops {
	void (*call)(void *ctx, struct rpc_call *call);
	void (*gone)(void *ctx, struct rpc_call *call);
};

struct rpc_config {
	uint64_t message_limit;		/* bytes, both ways */
	unsigned int threads;		/* that receive; 0: 4 */
	/*
	 * TLS on HOST:PORT, NULL for none.  PEM texts, not file names; client_ca
	 * NULL accepts every client.
	 */
	const char *tls_address, *tls_cert, *tls_key, *tls_client_ca;
};

struct rpc;

/*
 * Starts the threads.  0; -EADDRINUSE: tls_address cannot be bound; -EINVAL:
 * the TLS texts are not usable; -ENOMEM, -EAGAIN: no memory, no threads.
 */
int rpc_open(struct rpc **rpc, const struct rpc_config *config, const struct rpc_ops *ops,
	     void *ctx);

/* Readable when rpc_process() has something to do; callbacks come only from there. */
int rpc_fd(const struct rpc *rpc);
void rpc_process(struct rpc *rpc);
/* Requests for proofs that came so far, those too that were refused before the owner saw them. */
unsigned long rpc_submissions(const struct rpc *rpc);

/* Serves a connected stream socket in clear text; takes fd. uid: see struct rpc_call. */
void rpc_add_connection(struct rpc *rpc, int fd, uint32_t uid);

void rpc_reply(struct rpc_call *call, const ProtobufCMessage *message);
void rpc_fail(struct rpc_call *call, grpc_status_code status, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* What grpc.health.v1.Health answers; not serving at first. */
void rpc_set_serving(struct rpc *rpc, bool serving);

/*
 * Other certificates, for the connections that begin from now on; TLS was asked
 * for at rpc_open(), client_ca then and now or never.  Texts that the library
 * does not take leave the old ones.  0 or -ENOMEM.
 */
int rpc_set_tls(struct rpc *rpc, const char *cert, const char *key, const char *client_ca);

/* Takes no more calls; those that are there go on. */
void rpc_drain(struct rpc *rpc);
/*
 * Sends what has been answered, ends the rest, joins the threads, frees.
 * NULL is accepted.  The owner has answered every call.  False: the library did
 * not let go of all connections by itself; threads of its own run on, and not
 * everything is freed, so that the process has to end by _exit().
 */
bool rpc_close(struct rpc *rpc);

#endif
