/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * rpc-reflection.c - the stream of server reflection
 *
 * read, answer, read, ... until the client has no more to ask.  One batch is
 * under way at a time, so the receiving threads take turns and need no lock.
 */
#include <stdlib.h>

#include <grpc/byte_buffer_reader.h>

#include "plugin/reflection.h"
#include "plugin/rpc-internal.h"

#define REQUEST_MAX 4096

/* The answer to what was read; NULL: it cannot be answered. */
static grpc_byte_buffer *answer(grpc_byte_buffer *request)
{
	grpc_byte_buffer_reader reader;
	grpc_byte_buffer *buffer = NULL;
	grpc_slice slice;
	uint8_t *data;
	size_t len;

	if (grpc_byte_buffer_length(request) > REQUEST_MAX ||
	    !grpc_byte_buffer_reader_init(&reader, request))
		return NULL;
	slice = grpc_byte_buffer_reader_readall(&reader);
	grpc_byte_buffer_reader_destroy(&reader);
	if (!reflection_answer(GRPC_SLICE_START_PTR(slice), GRPC_SLICE_LENGTH(slice), &data,
			       &len)) {
		grpc_slice out = grpc_slice_from_copied_buffer((const char *)data, len);

		buffer = grpc_raw_byte_buffer_create(&out, 1);
		grpc_slice_unref(out);
		free(data);
	}
	grpc_slice_unref(slice);
	return buffer;
}

static void end(struct call *call, grpc_status_code status)
{
	grpc_op ops[2] = { 0 };
	size_t n = 0;

	if (!call->told)
		ops[n++].op = GRPC_OP_SEND_INITIAL_METADATA;
	ops[n].op = GRPC_OP_SEND_STATUS_FROM_SERVER;
	ops[n++].data.send_status_from_server.status = status;
	call_start(call, ops, n, &call->sent_op);
}

static void answered(struct rpc_op *op, bool good)
{
	struct call *call = mail_entry(op, struct call, told_op);
	grpc_op read = { .op = GRPC_OP_RECV_MESSAGE };

	grpc_byte_buffer_destroy(call->message);
	call->message = NULL;
	if (good) {
		read.data.recv_message.recv_message = &call->payload;
		call_start(call, &read, 1, &call->read_op);
	} else {
		end(call, GRPC_STATUS_CANCELLED);
	}
	call_put(call);
}

void reflection_read(struct call *call)
{
	grpc_op ops[2] = { 0 };
	size_t n = 0;

	if (!call->payload) {
		end(call, GRPC_STATUS_OK);
		return;
	}
	call->message = answer(call->payload);
	grpc_byte_buffer_destroy(call->payload);
	call->payload = NULL;
	if (!call->message) {
		end(call, GRPC_STATUS_INVALID_ARGUMENT);
		return;
	}
	if (!call->told)
		ops[n++].op = GRPC_OP_SEND_INITIAL_METADATA;
	ops[n].op = GRPC_OP_SEND_MESSAGE;
	ops[n++].data.send_message.send_message = call->message;
	call->told = true;
	call->told_op.done = answered;
	call_start(call, ops, n, &call->told_op);
}
