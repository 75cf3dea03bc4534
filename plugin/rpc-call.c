/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * rpc-call.c - one call, from the wire to the owner and back
 *
 * References: one for each batch that the library has, one while the owner has
 * the call, one for the news that the client is gone.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <grpc/byte_buffer_reader.h>
#include <grpc/grpc_security.h>
#include <grpc/support/alloc.h>
#include <grpc/support/time.h>

#include "lib/proto/cuzk.pb-c.h"
#include "lib/text.h"
#include "plugin/hash.h"
#include "plugin/log.h"
#include "plugin/rpc-internal.h"

#define SMALL_MESSAGE 65536	/* bytes of every request but SubmitProof and Prove */

static const char *const method_paths[RPC_METHODS] = {
	[RPC_SUBMIT] = "/cuzk.v1.ProvingEngine/SubmitProof",
	[RPC_AWAIT] = "/cuzk.v1.ProvingEngine/AwaitProof",
	[RPC_PROVE] = "/cuzk.v1.ProvingEngine/Prove",
	[RPC_CANCEL] = "/cuzk.v1.ProvingEngine/CancelProof",
	[RPC_STATUS] = "/cuzk.v1.ProvingEngine/GetStatus",
	[RPC_METRICS] = "/cuzk.v1.ProvingEngine/GetMetrics",
	[RPC_PRELOAD] = "/cuzk.v1.ProvingEngine/PreloadSRS",
	[RPC_EVICT] = "/cuzk.v1.ProvingEngine/EvictSRS",
	[RPC_HEALTH_CHECK] = "/grpc.health.v1.Health/Check",
	[RPC_HEALTH_WATCH] = "/grpc.health.v1.Health/Watch",
	[RPC_REFLECTION] = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
	[RPC_REFLECTION_ALPHA] = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
};

static uint64_t now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000ull + ts.tv_nsec / 1000;
}

void call_put(struct call *call)
{
	if (atomic_fetch_sub(&call->refs, 1) != 1)
		return;
	submission_free(call->pub.submission);
	if (call->payload)
		grpc_byte_buffer_destroy(call->payload);
	if (call->message)
		grpc_byte_buffer_destroy(call->message);
	if (call->call) {
		grpc_call_details_destroy(&call->details);
		grpc_call_unref(call->call);
	}
	grpc_metadata_array_destroy(&call->metadata);
	free(call);
}

void call_start(struct call *call, const grpc_op *ops, size_t n, struct rpc_op *tag)
{
	grpc_call_error err;

	atomic_fetch_add(&call->refs, 1);
	rpc_tag_in(tag);
	err = grpc_call_start_batch(call->call, ops, n, tag, NULL);
	if (err != GRPC_CALL_OK) {
		/* we used the library wrongly; the client sees its deadline */
		log_error("grpc: a batch was refused: %s", grpc_call_error_to_string(err));
		call_put(call);
	}
}

/* ---- answers ---- */

static void sent(struct rpc_op *op, bool good)
{
	call_put(mail_entry(op, struct call, sent_op));
}

void call_send(struct call *call)
{
	grpc_op ops[3] = { 0 };
	grpc_slice details;
	size_t n = 0;

	ops[n++].op = GRPC_OP_SEND_INITIAL_METADATA;
	if (call->message) {
		ops[n].op = GRPC_OP_SEND_MESSAGE;
		ops[n++].data.send_message.send_message = call->message;
	}
	details = grpc_slice_from_copied_string(call->text);
	ops[n].op = GRPC_OP_SEND_STATUS_FROM_SERVER;
	ops[n].data.send_status_from_server.status = call->status;
	if (call->text[0])
		ops[n].data.send_status_from_server.status_details = &details;
	call_start(call, ops, n + 1, &call->sent_op);
	grpc_slice_unref(details);
}

static void answer_run(struct rpc_item *item)
{
	struct call *call = mail_entry(item, struct call, answer);

	call_send(call);
	call_put(call);		/* the owner's */
}

/* In a receiving thread: the owner never hears of this call. */
static void refuse(struct call *call, grpc_status_code status, const char *text)
{
	call->status = status;
	snprintf(call->text, sizeof(call->text), "%s", text);
	call_send(call);
}

static void answer(struct call *call)
{
	struct rpc *rpc = call->rpc;

	call->answered = true;
	mailbox_post(&rpc->to_sender, &call->answer.mail);
}

grpc_byte_buffer *rpc_pack(const ProtobufCMessage *message)
{
	grpc_slice slice = grpc_slice_malloc(protobuf_c_message_get_packed_size(message));
	grpc_byte_buffer *buffer;

	protobuf_c_message_pack(message, GRPC_SLICE_START_PTR(slice));
	buffer = grpc_raw_byte_buffer_create(&slice, 1);
	grpc_slice_unref(slice);
	return buffer;
}

void rpc_reply(struct rpc_call *pub, const ProtobufCMessage *message)
{
	struct call *call = (struct call *)pub;

	call->status = GRPC_STATUS_OK;
	call->message = rpc_pack(message);
	answer(call);
}

void rpc_fail(struct rpc_call *pub, grpc_status_code status, const char *fmt, ...)
{
	struct call *call = (struct call *)pub;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(call->text, sizeof(call->text), fmt, ap);
	va_end(ap);
	text_clean(call->text);
	call->status = status;
	answer(call);
}

/* ---- to the owner ---- */

static void arrival_run(struct rpc_item *item)
{
	struct call *call = mail_entry(item, struct call, arrival);
	struct rpc *rpc = call->rpc;

	if (rpc->closing)
		rpc_fail(&call->pub, GRPC_STATUS_UNAVAILABLE, "the service is stopping");
	else
		rpc->ops->call(rpc->ctx, &call->pub);
}

static void gone_run(struct rpc_item *item)
{
	struct call *call = mail_entry(item, struct call, gone);

	if (!call->answered)
		call->rpc->ops->gone(call->rpc->ctx, &call->pub);
	call_put(call);
}

static void hand_over(struct call *call)
{
	struct rpc *rpc = call->rpc;

	pthread_mutex_lock(&rpc->handover_lock);
	if (call->state == CALL_RECEIVING) {
		call->state = CALL_HANDED;
		atomic_fetch_add(&call->refs, 1);
		mailbox_post(&rpc->to_owner, &call->arrival.mail);
		pthread_mutex_unlock(&rpc->handover_lock);
		return;
	}
	pthread_mutex_unlock(&rpc->handover_lock);
	refuse(call, GRPC_STATUS_CANCELLED, "");	/* to nobody: it ends the call */
}

static void closed(struct rpc_op *op, bool good)
{
	struct call *call = mail_entry(op, struct call, close_op);
	struct rpc *rpc = call->rpc;

	pthread_mutex_lock(&rpc->handover_lock);
	if (call->state == CALL_HANDED && call->cancelled) {
		atomic_fetch_add(&call->refs, 1);
		mailbox_post(&rpc->to_owner, &call->gone.mail);
	}
	call->state = CALL_CLOSED;
	pthread_mutex_unlock(&rpc->handover_lock);
	if (call->pub.method == RPC_HEALTH_WATCH)
		health_wake(rpc);	/* it may be a watch that is over */
	call_put(call);
}

bool call_is_closed(struct call *call)
{
	bool is;

	pthread_mutex_lock(&call->rpc->handover_lock);
	is = call->state == CALL_CLOSED;
	pthread_mutex_unlock(&call->rpc->handover_lock);
	return is;
}

/* ---- decoding ---- */

static bool take_name(struct call *call, const char *name)
{
	size_t len = strlen(name);

	if (len >= sizeof(call->pub.name))
		return false;
	memcpy(call->pub.name, name, len + 1);
	return true;
}

/* Requests that hold a name at most. False: not a valid message. */
static bool decode_small(struct call *call, const uint8_t *data, size_t len)
{
	Cuzk__V1__AwaitProofRequest *await;
	bool good;

	if (call->pub.method == RPC_STATUS || call->pub.method == RPC_METRICS)
		return true;
	/*
	 * The messages with a name have it in field 1; AwaitProof's has
	 * timeout_ms in field 2 besides, which the others may ignore as unknown.
	 */
	await = cuzk__v1__await_proof_request__unpack(NULL, len, data);
	if (!await)
		return false;
	good = take_name(call, await->job_id);
	call->pub.timeout_ms = await->timeout_ms;
	cuzk__v1__await_proof_request__free_unpacked(await, NULL);
	return good;
}

static void check_health(struct call *call)
{
	if (!health_known(call->pub.name)) {
		refuse(call, GRPC_STATUS_NOT_FOUND, "no such service");
		return;
	}
	call->message = health_message(atomic_load(&call->rpc->serving));
	refuse(call, GRPC_STATUS_OK, "");
}

static void read_small(struct call *call, grpc_byte_buffer_reader *reader)
{
	grpc_slice all;
	bool good;

	if (grpc_byte_buffer_length(call->payload) > SMALL_MESSAGE) {
		refuse(call, GRPC_STATUS_INVALID_ARGUMENT, "the message is too long");
		return;
	}
	all = grpc_byte_buffer_reader_readall(reader);
	good = decode_small(call, GRPC_SLICE_START_PTR(all), GRPC_SLICE_LENGTH(all));
	grpc_slice_unref(all);
	if (!good)
		refuse(call, GRPC_STATUS_INVALID_ARGUMENT,
		       "the message is not a valid protocol buffer, or its name is too long");
	else if (call->pub.method == RPC_HEALTH_CHECK)
		check_health(call);
	else if (call->pub.method == RPC_HEALTH_WATCH)
		health_watch(call);
	else
		hand_over(call);
}

static grpc_status_code submission_status(int err)
{
	switch (err) {
	case -EINVAL:
	case -ENOENT:
		return GRPC_STATUS_INVALID_ARGUMENT;
	case -EMSGSIZE:
		return GRPC_STATUS_OUT_OF_RANGE;
	default:
		return GRPC_STATUS_RESOURCE_EXHAUSTED;
	}
}

/* The pieces of a message, *n of them, to be unref'd and freed; NULL: no memory. */
static grpc_slice *read_slices(grpc_byte_buffer_reader *reader, int *n)
{
	grpc_slice *slices = NULL, *more;
	int max = 0;

	for (*n = 0;; (*n)++) {
		if (*n == max) {
			max = max ? 2 * max : 64;
			more = reallocarray(slices, max, sizeof(*slices));
			if (!more)
				break;
			slices = more;
		}
		if (!grpc_byte_buffer_reader_next(reader, &slices[*n]))
			return slices;
	}
	while (*n)
		grpc_slice_unref(slices[--*n]);
	free(slices);
	return NULL;
}

static void read_submission(struct call *call, grpc_byte_buffer_reader *reader)
{
	char text[SUBMIT_ERROR_TEXT] = "no memory for the request";
	struct iovec *iov = NULL;
	grpc_slice *slices;
	int n, err = 0, i;

	slices = read_slices(reader, &n);
	if (slices)
		iov = calloc(n + 1, sizeof(*iov));
	if (!iov)
		err = -ENOMEM;
	/* only now: a short slice has its bytes in itself, and moved with the array */
	for (i = 0; i < n && !err; i++) {
		iov[i].iov_base = GRPC_SLICE_START_PTR(slices[i]);
		iov[i].iov_len = GRPC_SLICE_LENGTH(slices[i]);
	}
	atomic_fetch_add(&call->rpc->submissions, 1);
	if (!err)
		err = submission_read(&call->pub.submission, iov, n,
				      call->pub.method == RPC_PROVE, text);
	for (i = 0; i < n; i++)
		grpc_slice_unref(slices[i]);
	free(slices);
	free(iov);
	if (err)
		refuse(call, submission_status(err), text);
	else
		hand_over(call);
}

static void decode(struct call *call)
{
	grpc_byte_buffer_reader reader;

	if (!grpc_byte_buffer_reader_init(&reader, call->payload)) {
		refuse(call, GRPC_STATUS_INTERNAL, "the message cannot be decompressed");
		return;
	}
	if (call->pub.method == RPC_SUBMIT || call->pub.method == RPC_PROVE)
		read_submission(call, &reader);
	else
		read_small(call, &reader);
	grpc_byte_buffer_reader_destroy(&reader);
	grpc_byte_buffer_destroy(call->payload);
	call->payload = NULL;
}

static void read_done(struct rpc_op *op, bool good)
{
	struct call *call = mail_entry(op, struct call, read_op);

	if (call->pub.method == RPC_REFLECTION || call->pub.method == RPC_REFLECTION_ALPHA)
		reflection_read(call);
	else if (good && call->payload)
		decode(call);
	else
		refuse(call, GRPC_STATUS_INVALID_ARGUMENT, "the call has no message");
	call_put(call);
}

/* ---- arrival ---- */

static int find_method(const grpc_slice *path)
{
	int i;

	for (i = 0; i < RPC_METHODS; i++)
		if (method_paths[i] && !grpc_slice_str_cmp(*path, method_paths[i]))
			return i;
	return -1;
}

static uint64_t deadline_us(gpr_timespec deadline)
{
	if (!gpr_time_cmp(deadline, gpr_inf_future(deadline.clock_type)))
		return RPC_NO_DEADLINE;
	deadline = gpr_convert_clock_type(deadline, GPR_CLOCK_MONOTONIC);
	if (deadline.tv_sec < 0 || deadline.tv_sec > INT64_MAX / 1000000 - 1)
		return deadline.tv_sec < 0 ? 0 : RPC_NO_DEADLINE;
	return deadline.tv_sec * 1000000ull + deadline.tv_nsec / 1000;
}

/* The library names a connection that we gave it "fd:N". */
static uint32_t peer_fd_uid(struct call *call)
{
	char *peer = grpc_call_get_peer(call->call);
	uint32_t uid = UINT32_MAX;
	unsigned int fd;

	if (peer && sscanf(peer, "fd:%u", &fd) == 1 && fd < RPC_PEERS)
		uid = atomic_load(&call->rpc->peer_uid[fd]);
	gpr_free(peer);
	return uid;
}

/* The subject of a certificate that was checked against tls_client_ca. */
static uint32_t peer_subject(struct call *call)
{
	static const char *const names[] = { "x509_subject", "x509_common_name" };
	grpc_auth_context *ctx = grpc_call_auth_context(call->call);
	const grpc_auth_property *p = NULL;
	grpc_auth_property_iterator it;
	uint32_t id = UINT32_MAX;
	size_t i;

	if (!ctx)
		return id;
	for (i = 0; !p && i < sizeof(names) / sizeof(names[0]); i++) {
		it = grpc_auth_context_find_properties_by_name(ctx, names[i]);
		p = grpc_auth_property_iterator_next(&it);
	}
	if (p && grpc_auth_context_peer_is_authenticated(ctx)) {
		id = hash_bytes(p->value, p->value_length) | RPC_CLIENT_TLS;
		id -= id == UINT32_MAX;
	}
	grpc_auth_context_release(ctx);
	return id;
}

static uint32_t peer_uid(struct call *call)
{
	uint32_t uid = peer_fd_uid(call);

	return uid == UINT32_MAX ? peer_subject(call) : uid;
}

static void arrived(struct rpc_op *op, bool good)
{
	struct call *call = mail_entry(op, struct call, new_op);
	grpc_op close = { .op = GRPC_OP_RECV_CLOSE_ON_SERVER };
	grpc_op read = { .op = GRPC_OP_RECV_MESSAGE };
	int method;

	if (!good) {		/* the server shuts down */
		call_put(call);
		return;
	}
	call_request(call->rpc);
	call->pub.received_us = now_us();
	call->pub.deadline_us = deadline_us(call->details.deadline);
	call->pub.uid = peer_uid(call);
	method = find_method(&call->details.method);
	if (method >= 0)
		call->pub.method = method;
	/* another thread may run closed() from here on */
	close.data.recv_close_on_server.cancelled = &call->cancelled;
	call_start(call, &close, 1, &call->close_op);
	if (method < 0) {
		refuse(call, GRPC_STATUS_UNIMPLEMENTED, "no such method");
	} else {
		read.data.recv_message.recv_message = &call->payload;
		call_start(call, &read, 1, &call->read_op);
	}
	call_put(call);
}

void call_request(struct rpc *rpc)
{
	struct call *call = calloc(1, sizeof(*call));

	if (!call) {
		log_error("no memory for the next call");
		return;
	}
	call->rpc = rpc;
	atomic_init(&call->refs, 1);
	call->new_op.done = arrived;
	call->read_op.done = read_done;
	call->close_op.done = closed;
	call->sent_op.done = sent;
	call->arrival.run = arrival_run;
	call->gone.run = gone_run;
	call->answer.run = answer_run;
	grpc_metadata_array_init(&call->metadata);
	grpc_call_details_init(&call->details);
	rpc_tag_in(&call->new_op);
	if (grpc_server_request_call(rpc->server, &call->call, &call->details, &call->metadata,
				     rpc->cq, rpc->cq, &call->new_op) != GRPC_CALL_OK)
		call_put(call);
}
