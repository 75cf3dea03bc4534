/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * client.h - one call after another to a proving service
 *
 * Everything runs in the caller's thread.  While a call is under way the
 * caller's wait function runs about ten times a second; when it returns false
 * the call is given up (status CANCELLED).
 */
#ifndef CUZK_TOOLS_CLIENT_H
#define CUZK_TOOLS_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <protobuf-c/protobuf-c.h>

#define CLIENT_ERROR_TEXT 1024
#define CLIENT_DEFAULT_ADDRESS "unix:/run/cuzk/cuzk.sock"

struct client;

struct client_config {
	const char *address;		/* unix:PATH or HOST:PORT */
	const char *tls_ca;		/* PEM file; NULL: clear text */
	const char *tls_cert, *tls_key;	/* PEM files; NULL: no client certificate */
	bool (*wait)(void *ctx);	/* NULL: none */
	void *ctx;
};

/* 0, -EINVAL (text says why), or -errno of the files. */
int client_open(struct client **client, const struct client_config *config,
		char text[CLIENT_ERROR_TEXT]);
/* NULL is accepted. */
void client_close(struct client *client);

/*
 * Calls cuzk.v1.ProvingEngine/METHOD and waits for the answer, which
 * protobuf_c_message_free_unpacked() frees.  timeout_ms 0: none for the answer;
 * the peer must all the same begin to speak within CLIENT_CONNECT_MS.  0; or the
 * gRPC status, positive, with text; -ENOMEM, -EBADMSG.
 */
#define CLIENT_CONNECT_MS 10000
int client_call(struct client *client, const char *method, const ProtobufCMessage *request,
		const ProtobufCMessageDescriptor *type, uint64_t timeout_ms,
		ProtobufCMessage **answer, char text[CLIENT_ERROR_TEXT]);

#endif
