/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* client.c - one call after another to a proving service */
#include <errno.h>
#include <grp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <grpc/byte_buffer_reader.h>
#include <grpc/grpc.h>
#include <grpc/grpc_security.h>
#include <grpc/support/alloc.h>
#include <grpc/support/log.h>
#include <grpc/support/time.h>

#include "tools/client.h"
#include "tools/file.h"

#define MESSAGE_LIMIT (256 << 20)
#define PEM_LIMIT (1 << 20)
#define WAIT_MS 100
#define SERVICE "/cuzk.v1.ProvingEngine/"

struct client {
	grpc_channel *channel;
	grpc_completion_queue *cq;
	struct client_config config;
};

static void quiet(gpr_log_func_args *args)
{
	/* what goes wrong is told by the status of the call */
}

/* The library would take any number modulo 65536, and a word for 0. */
static bool has_port(const char *address)
{
	const char *colon = strrchr(address, ':');
	unsigned long port;
	char *end;

	if (!colon || colon == address || colon[1] < '0' || colon[1] > '9')
		return false;
	port = strtoul(colon + 1, &end, 10);
	return !*end && port > 0 && port <= 65535;
}

/* "unix:///x" and "unix:x" are gRPC's own; "HOST:PORT" becomes dns. */
static int make_target(const char *address, char *target, size_t size)
{
	bool own = strstr(address, ":/") || !strncmp(address, "unix:", 5);
	const char *prefix = own ? "" : "dns:///";

	if (own ? !strchr(address, ':')[1] : !has_port(address))
		return -EINVAL;
	return snprintf(target, size, "%s%s", prefix, address) < (int)size ? 0 : -EINVAL;
}

static int read_pem(const char *path, char **text, char *error)
{
	size_t len;
	int err;

	*text = NULL;
	if (!path)
		return 0;
	err = ctl_file_read(path, PEM_LIMIT, (void **)text, &len);
	if (err)
		snprintf(error, CLIENT_ERROR_TEXT, "%s: %s", path, strerror(-err));
	return err;
}

static int make_credentials(const struct client_config *config, grpc_channel_credentials **creds,
			    char *text)
{
	grpc_ssl_pem_key_cert_pair pair = { 0 };
	char *ca = NULL, *cert = NULL, *key = NULL;
	int err;

	if (!config->tls_ca) {
		*creds = grpc_insecure_credentials_create();
		return 0;
	}
	err = read_pem(config->tls_ca, &ca, text);
	if (!err)
		err = read_pem(config->tls_cert, &cert, text);
	if (!err)
		err = read_pem(config->tls_key, &key, text);
	if (!err) {
		pair.cert_chain = cert;
		pair.private_key = key;
		*creds = grpc_ssl_credentials_create(ca, cert ? &pair : NULL, NULL, NULL);
		if (!*creds) {
			snprintf(text, CLIENT_ERROR_TEXT, "the certificates cannot be used");
			err = -EINVAL;
		}
	}
	free(ca);
	free(cert);
	if (key)
		explicit_bzero(key, strlen(key));
	free(key);
	return err;
}

int client_open(struct client **out, const struct client_config *config,
		char text[CLIENT_ERROR_TEXT])
{
	grpc_arg args[2] = {
		{ .type = GRPC_ARG_INTEGER, .key = (char *)GRPC_ARG_MAX_RECEIVE_MESSAGE_LENGTH,
		  .value.integer = MESSAGE_LIMIT },
		{ .type = GRPC_ARG_INTEGER, .key = (char *)GRPC_ARG_MAX_SEND_MESSAGE_LENGTH,
		  .value.integer = MESSAGE_LIMIT },
	};
	grpc_channel_args list = { .num_args = 2, .args = args };
	grpc_channel_credentials *creds = NULL;
	struct client *c = calloc(1, sizeof(*c));
	char target[512];
	int err;

	if (!c) {
		snprintf(text, CLIENT_ERROR_TEXT, "no memory");
		return -ENOMEM;
	}
	c->config = *config;
	err = make_target(config->address, target, sizeof(target));
	if (err) {
		snprintf(text, CLIENT_ERROR_TEXT, "%s: neither unix:PATH nor HOST:PORT",
			 config->address);
		goto err_free;
	}
	gpr_set_log_function(quiet);
	grpc_init();
	err = make_credentials(config, &creds, text);
	if (err)
		goto err_shutdown;
	c->channel = grpc_channel_create(target, creds, &list);
	grpc_channel_credentials_release(creds);
	c->cq = grpc_completion_queue_create_for_next(NULL);
	*out = c;
	return 0;

err_shutdown:
	grpc_shutdown();
err_free:
	free(c);
	return err;
}

void client_close(struct client *c)
{
	if (!c)
		return;
	grpc_channel_destroy(c->channel);
	grpc_completion_queue_shutdown(c->cq);
	while (grpc_completion_queue_next(c->cq, gpr_inf_future(GPR_CLOCK_MONOTONIC), NULL).type !=
	       GRPC_QUEUE_SHUTDOWN)
		;
	grpc_completion_queue_destroy(c->cq);
	grpc_shutdown();
	free(c);
}

static gpr_timespec in_ms(uint64_t ms)
{
	return gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), gpr_time_from_millis(ms, GPR_TIMESPAN));
}

/* call: what is given up when the caller wants that; NULL: what ends by itself. */
static bool wait_done(struct client *c, grpc_call *call)
{
	bool go_on = true;
	grpc_event ev;

	do {
		ev = grpc_completion_queue_next(c->cq, in_ms(WAIT_MS), NULL);
		if (ev.type != GRPC_QUEUE_TIMEOUT || !c->config.wait || !go_on)
			continue;
		go_on = c->config.wait(c->config.ctx);
		if (!go_on && call)
			grpc_call_cancel(call, NULL);
	} while (ev.type != GRPC_OP_COMPLETE);
	return go_on;
}

static int unpack(grpc_byte_buffer *buffer, const ProtobufCMessageDescriptor *type,
		  ProtobufCMessage **answer)
{
	grpc_byte_buffer_reader reader;
	grpc_slice all;

	if (!buffer || !grpc_byte_buffer_reader_init(&reader, buffer))
		return -EBADMSG;
	all = grpc_byte_buffer_reader_readall(&reader);
	grpc_byte_buffer_reader_destroy(&reader);
	*answer = protobuf_c_message_unpack(type, NULL, GRPC_SLICE_LENGTH(all),
					    GRPC_SLICE_START_PTR(all));
	grpc_slice_unref(all);
	return *answer ? 0 : -EBADMSG;
}

static const char *status_name(grpc_status_code status)
{
	static const char *const names[] = {
		"ok", "cancelled", "unknown", "invalid argument", "deadline exceeded", "not found",
		"already exists", "permission denied", "resource exhausted", "failed precondition",
		"aborted", "out of range", "unimplemented", "internal", "unavailable", "data loss",
		"unauthenticated",
	};

	return (unsigned int)status < sizeof(names) / sizeof(names[0]) ? names[status] : "?";
}

/* Is it the socket's mode that keeps us out?  Then text says whom it lets in. */
static bool is_forbidden(const char *address, char *text)
{
	const char *path = strncmp(address, "unix:", 5) ? NULL : address + 5;
	struct group *group;
	struct stat st;

	if (path && !strncmp(path, "//", 2))
		path += 2;
	if (!path || stat(path, &st) < 0 || !access(path, W_OK) || errno != EACCES)
		return false;
	group = getgrgid(st.st_gid);
	snprintf(text, CLIENT_ERROR_TEXT, "%s: permission denied: the socket is for members of the "
		 "group %s", address, group ? group->gr_name : "that it belongs to");
	return true;
}

/* A service that wants a certificate, or none, closes the connection and does not say why. */
static const char *closed_hint(const struct client *c, grpc_status_code status, const char *text)
{
	if (status != GRPC_STATUS_UNAVAILABLE || !strstr(text, "Socket closed") ||
	    !strncmp(c->config.address, "unix:", 5))
		return "";
	if (!c->config.tls_ca)
		return " (it may want TLS: --tls-ca)";
	return c->config.tls_cert ? " (it may not take this client certificate)" :
		" (it may want a client certificate: --tls-cert, --tls-key)";
}

/* One line, and short: the library's own reports have many. */
static void explain(const struct client *c, grpc_status_code status, grpc_slice details,
		    char *text)
{
	int len = GRPC_SLICE_LENGTH(details) > 900 ? 900 : (int)GRPC_SLICE_LENGTH(details);
	char *p;

	if (status == GRPC_STATUS_UNAVAILABLE && is_forbidden(c->config.address, text))
		return;
	snprintf(text, CLIENT_ERROR_TEXT, "%s: %s: %.*s", c->config.address, status_name(status),
		 len, (const char *)GRPC_SLICE_START_PTR(details));
	for (p = text; *p; p++)
		if ((unsigned char)*p < ' ')
			*p = ' ';
	snprintf(p, CLIENT_ERROR_TEXT - (p - text), "%s", closed_hint(c, status, text));
}

/*
 * Until the peer has spoken HTTP/2, or refused: the call then says why.  One that
 * accepts and is silent would be waited for without an end, since the library
 * tries for ever.
 */
static int wait_connected(struct client *c, uint64_t timeout_ms, char *text)
{
	uint64_t ms = timeout_ms ? timeout_ms : CLIENT_CONNECT_MS;
	gpr_timespec limit = in_ms(ms), step;
	grpc_connectivity_state state;
	bool go_on = true;

	while (go_on) {
		state = grpc_channel_check_connectivity_state(c->channel, 1);
		if (state != GRPC_CHANNEL_IDLE && state != GRPC_CHANNEL_CONNECTING)
			return 0;
		if (gpr_time_cmp(gpr_now(GPR_CLOCK_MONOTONIC), limit) >= 0)
			break;
		step = in_ms(WAIT_MS);
		grpc_channel_watch_connectivity_state(c->channel, state,
						      gpr_time_min(limit, step), c->cq, c);
		go_on = wait_done(c, NULL) && (!c->config.wait || c->config.wait(c->config.ctx));
	}
	if (!go_on) {
		snprintf(text, CLIENT_ERROR_TEXT, "%s: given up", c->config.address);
		return GRPC_STATUS_CANCELLED;
	}
	snprintf(text, CLIENT_ERROR_TEXT,
		 "%s: no connection in %.3g s: the peer does not answer, or speaks no gRPC%s",
		 c->config.address, ms * 1e-3, c->config.tls_ca ? "" : " (or wants TLS: --tls-ca)");
	return GRPC_STATUS_UNAVAILABLE;
}

int client_call(struct client *c, const char *method, const ProtobufCMessage *request,
		const ProtobufCMessageDescriptor *type, uint64_t timeout_ms,
		ProtobufCMessage **answer, char text[CLIENT_ERROR_TEXT])
{
	gpr_timespec deadline = timeout_ms ? in_ms(timeout_ms) :
				gpr_inf_future(GPR_CLOCK_MONOTONIC);
	grpc_slice slice, path, details;
	grpc_metadata_array initial, trailing;
	grpc_byte_buffer *out, *in = NULL;
	grpc_status_code status;
	grpc_op ops[6] = { 0 };
	char name[128];
	grpc_call *call;
	int ret;

	ret = wait_connected(c, timeout_ms, text);
	if (ret)
		return ret;
	slice = grpc_slice_malloc(protobuf_c_message_get_packed_size(request));
	protobuf_c_message_pack(request, GRPC_SLICE_START_PTR(slice));
	out = grpc_raw_byte_buffer_create(&slice, 1);
	grpc_slice_unref(slice);
	snprintf(name, sizeof(name), SERVICE "%s", method);
	path = grpc_slice_from_copied_string(name);
	call = grpc_channel_create_call(c->channel, NULL, GRPC_PROPAGATE_DEFAULTS, c->cq, path,
					NULL, deadline, NULL);
	grpc_slice_unref(path);
	grpc_metadata_array_init(&initial);
	grpc_metadata_array_init(&trailing);
	ops[0].op = GRPC_OP_SEND_INITIAL_METADATA;
	ops[1].op = GRPC_OP_SEND_MESSAGE;
	ops[1].data.send_message.send_message = out;
	ops[2].op = GRPC_OP_SEND_CLOSE_FROM_CLIENT;
	ops[3].op = GRPC_OP_RECV_INITIAL_METADATA;
	ops[3].data.recv_initial_metadata.recv_initial_metadata = &initial;
	ops[4].op = GRPC_OP_RECV_MESSAGE;
	ops[4].data.recv_message.recv_message = &in;
	ops[5].op = GRPC_OP_RECV_STATUS_ON_CLIENT;
	ops[5].data.recv_status_on_client.trailing_metadata = &trailing;
	ops[5].data.recv_status_on_client.status = &status;
	ops[5].data.recv_status_on_client.status_details = &details;
	if (grpc_call_start_batch(call, ops, 6, c, NULL) != GRPC_CALL_OK) {
		snprintf(text, CLIENT_ERROR_TEXT, "%s: the call cannot be made", c->config.address);
		ret = -EINVAL;
		goto err_unref_call;
	}
	wait_done(c, call);
	ret = status;
	if (status != GRPC_STATUS_OK) {
		explain(c, status, details, text);
	} else {
		ret = unpack(in, type, answer);
		if (ret)
			snprintf(text, CLIENT_ERROR_TEXT, "%s: the answer is no %s",
				 c->config.address, type->short_name);
	}
	grpc_slice_unref(details);
err_unref_call:
	grpc_byte_buffer_destroy(out);
	if (in)
		grpc_byte_buffer_destroy(in);
	grpc_metadata_array_destroy(&initial);
	grpc_metadata_array_destroy(&trailing);
	grpc_call_unref(call);
	return ret;
}
