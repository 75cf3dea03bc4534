/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * rpc-health.c - grpc.health.v1.Health
 *
 * Check answers from the receiving thread, so it works however busy the owner
 * is.  Watches are the sending thread's: a change posts one item to it, and it
 * tells every watch that has not heard the latest and has nothing under way.
 */
#include <string.h>

#include <grpc/slice.h>

#include "plugin/rpc-internal.h"

#define SERVING 1
#define NOT_SERVING 2
#define SERVICE_UNKNOWN 3

bool health_known(const char *name)
{
	return !name[0] || !strcmp(name, "cuzk.v1.ProvingEngine");
}

/* HealthCheckResponse { ServingStatus status = 1; } */
static grpc_byte_buffer *status_message(uint8_t status)
{
	const char bytes[2] = { 1 << 3 | 0, status };
	grpc_slice slice = grpc_slice_from_copied_buffer(bytes, sizeof(bytes));
	grpc_byte_buffer *buffer = grpc_raw_byte_buffer_create(&slice, 1);

	grpc_slice_unref(slice);
	return buffer;
}

grpc_byte_buffer *health_message(bool serving)
{
	return status_message(serving ? SERVING : NOT_SERVING);
}

void health_wake(struct rpc *rpc)
{
	if (!atomic_exchange(&rpc->health_queued, true))
		mailbox_post(&rpc->to_sender, &rpc->health_item.mail);
}

void rpc_set_serving(struct rpc *rpc, bool serving)
{
	atomic_store(&rpc->serving, serving);
	health_wake(rpc);
}

/* ---- watches, in the sending thread ---- */

static void told_run(struct rpc_item *item)
{
	struct call *call = mail_entry(item, struct call, told_item);
	struct rpc *rpc = call->rpc;

	call->telling = false;
	grpc_byte_buffer_destroy(call->message);
	call->message = NULL;
	health_wake(rpc);
	call_put(call);
}

/* In a receiving thread. */
static void told(struct rpc_op *op, bool good)
{
	struct call *call = mail_entry(op, struct call, told_op);

	mailbox_post(&call->rpc->to_sender, &call->told_item.mail);
}

static void tell(struct call *call, bool serving)
{
	grpc_op ops[2] = { 0 };
	size_t n = 0;

	if (call->telling || (call->told && call->told_serving == serving))
		return;
	if (!call->told)
		ops[n++].op = GRPC_OP_SEND_INITIAL_METADATA;
	call->message = health_known(call->pub.name) ? health_message(serving) :
						       status_message(SERVICE_UNKNOWN);
	ops[n].op = GRPC_OP_SEND_MESSAGE;
	ops[n++].data.send_message.send_message = call->message;
	call->telling = true;
	call->told = true;
	call->told_serving = serving;
	call_start(call, ops, n, &call->told_op);
}

/* The last word; the list's reference goes. */
static void end(struct call *call, grpc_status_code status)
{
	grpc_op ops[2] = { 0 };
	size_t n = 0;

	if (!call->told)
		ops[n++].op = GRPC_OP_SEND_INITIAL_METADATA;
	ops[n].op = GRPC_OP_SEND_STATUS_FROM_SERVER;
	ops[n++].data.send_status_from_server.status = status;
	call_start(call, ops, n, &call->sent_op);
	call_put(call);
}

void health_run(struct rpc_item *item)
{
	struct rpc *rpc = mail_entry(item, struct rpc, health_item);
	struct call **p = &rpc->watches, *call;
	bool serving;

	atomic_store(&rpc->health_queued, false);
	serving = atomic_load(&rpc->serving);
	while ((call = *p)) {
		if (!call->telling && (rpc->watches_end || call_is_closed(call))) {
			*p = call->next_watch;
			end(call, rpc->watches_end ? GRPC_STATUS_UNAVAILABLE :
						     GRPC_STATUS_CANCELLED);
			continue;
		}
		tell(call, serving);
		p = &call->next_watch;
	}
}

static void watch_run(struct rpc_item *item)
{
	struct call *call = mail_entry(item, struct call, watch_item);
	struct rpc *rpc = call->rpc;

	call->next_watch = rpc->watches;
	rpc->watches = call;
	health_wake(rpc);
}

void health_watch(struct call *call)
{
	atomic_fetch_add(&call->refs, 1);	/* the list's */
	call->watch_item.run = watch_run;
	call->told_item.run = told_run;
	call->told_op.done = told;
	mailbox_post(&call->rpc->to_sender, &call->watch_item.mail);
}

void health_end(struct rpc *rpc)
{
	rpc->watches_end = true;
	health_wake(rpc);
}
