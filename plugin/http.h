/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * http.h - /metrics, /status, /trace/JOB and /healthz for those who speak HTTP/1.1 only
 *
 * GET and HEAD; one answer per connection.  Runs in the main loop: the head of
 * a request is at most HTTP_HEAD_MAX bytes, a connection lasts HTTP_TIMEOUT_US at
 * most, and HTTP_CONNECTIONS are open at most: one more ends the oldest of those
 * that are not being answered.
 */
#ifndef CUZK_PLUGIN_HTTP_H
#define CUZK_PLUGIN_HTTP_H

#include <stdio.h>

#include <systemd/sd-event.h>

#define HTTP_HEAD_MAX 8192
#define HTTP_TIMEOUT_US 10000000ull
#define HTTP_CONNECTIONS 64

struct http;

/*
 * Writes the body for path and its content type; returns the status: 200, 404
 * or 503.
 */
typedef int (*http_page_fn)(void *ctx, const char *path, FILE *body, const char **type);

int http_open(struct http **http, sd_event *event, http_page_fn page, void *ctx);
/* NULL is accepted. */
void http_close(struct http *http);
/* Serves a connected, non-blocking stream socket; takes fd. */
void http_add_connection(struct http *http, int fd);

#endif
