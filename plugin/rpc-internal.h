/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* rpc-internal.h - what the files of the gRPC side share */
#ifndef CUZK_PLUGIN_RPC_INTERNAL_H
#define CUZK_PLUGIN_RPC_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include <grpc/byte_buffer.h>
#include <grpc/grpc.h>

#include "plugin/mail.h"
#include "plugin/rpc.h"

#define RPC_PEERS 65536		/* file descriptors whose client is remembered */

/*
 * The thread sanitizer does not see into the library: it is told that what
 * happens before a tag is given to it happens before that tag comes out.
 */
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define RPC_TSAN 1
#endif
#elif defined(__SANITIZE_THREAD__)
#define RPC_TSAN 1
#endif
#ifdef RPC_TSAN
void __tsan_acquire(void *addr);
void __tsan_release(void *addr);
#define rpc_tag_in(tag) __tsan_release(tag)
#define rpc_tag_out(tag) __tsan_acquire(tag)
#else
#define rpc_tag_in(tag) ((void)(tag))
#define rpc_tag_out(tag) ((void)(tag))
#endif

/* A completion of the library: run by a receiving thread. */
struct rpc_op {
	void (*done)(struct rpc_op *op, bool good);
};

/* Work for the sending thread, or news for the owner. */
struct rpc_item {
	struct mail mail;
	void (*run)(struct rpc_item *item);
};

struct rpc {
	grpc_server *server;
	grpc_completion_queue *cq;
	const struct rpc_ops *ops;
	void *ctx;
	pthread_t *receivers;
	unsigned int n_receivers;
	pthread_t sender;
	struct rpc_tls *tls;		/* NULL: none */

	struct mailbox to_owner;
	struct mailbox to_sender;

	/* Orders a call's arrival at the owner before the news of its end; nothing is
	 * taken inside but the queue_lock of to_owner. */
	pthread_mutex_t handover_lock;

	_Atomic uint32_t peer_uid[RPC_PEERS];	/* by file descriptor; written by the sender */
	atomic_bool serving;
	atomic_ulong submissions;	/* read so far, the refused ones too */
	atomic_bool ended;		/* the library has nothing left */
	bool sender_ends;		/* sender only */

	/* sender only: the open health watches */
	struct call *watches;
	bool watches_end;

	/* owner only */
	bool draining, closing;

	struct rpc_op shutdown_op;
	struct rpc_item drain_item, cut_item, quit_item, wake_item, health_item;
	atomic_bool health_queued;
};

enum rpc_call_state {
	CALL_RECEIVING,		/* not yet with the owner */
	CALL_HANDED,		/* the owner has it, or had it */
	CALL_CLOSED,		/* the client went away, or it is over */
};

struct call {
	struct rpc_call pub;
	struct rpc *rpc;
	atomic_int refs;
	enum rpc_call_state state;	/* handover_lock */
	bool answered;			/* owner */

	grpc_call *call;
	grpc_call_details details;
	grpc_metadata_array metadata;
	grpc_byte_buffer *payload;
	int cancelled;

	struct rpc_op new_op, read_op, close_op, sent_op, told_op;
	struct rpc_item arrival, gone, answer;

	/* a health watch: the sending thread's; told: of a reflection too, its thread's */
	struct rpc_item watch_item, told_item;
	struct call *next_watch;
	bool telling, told, told_serving;

	/* the answer */
	grpc_status_code status;
	char text[512];
	grpc_byte_buffer *message;
};

/* Asks the library for the next call. */
void call_request(struct rpc *rpc);
void call_put(struct call *call);
/* Receiving threads and the sender: sends what the call's answer fields say; takes a reference. */
void call_send(struct call *call);
void call_start(struct call *call, const grpc_op *ops, size_t n, struct rpc_op *tag);
bool call_is_closed(struct call *call);

/*
 * rpc-health.c: Check answers at once, Watch stays open and tells every change.
 * name is the service that is asked for.
 */
bool health_known(const char *name);
/* HealthCheckResponse. */
grpc_byte_buffer *health_message(bool serving);
/* In a receiving thread: the call is a watch from now on. */
void health_watch(struct call *call);

/* rpc-tls.c: listens where the configuration says so; 0, -EADDRINUSE, -EINVAL, -ENOMEM. */
int rpc_tls_listen(struct rpc *rpc, const struct rpc_config *config);
/* When the library is gone; also after rpc_tls_listen() failed. */
void rpc_tls_close(struct rpc *rpc);
/* Any thread: the sending thread looks at all watches again. */
void health_wake(struct rpc *rpc);
/* What it does then, as health_item. */
void health_run(struct rpc_item *item);
/* In the sending thread: ends all watches, and those that come. */
void health_end(struct rpc *rpc);

/* rpc-reflection.c; in a receiving thread: a message, or the end, was read. */
void reflection_read(struct call *call);

/* One message packed; NULL without memory. */
grpc_byte_buffer *rpc_pack(const ProtobufCMessage *message);

#endif
