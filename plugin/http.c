/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* http.c - /metrics, /status, /trace/JOB and /healthz for those who speak HTTP/1.1 only */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "plugin/http.h"
#include "plugin/list.h"

struct http {
	sd_event *event;
	http_page_fn page;
	void *ctx;
	struct list connections;
	unsigned int n;
};

struct connection {
	struct list entry;
	struct http *http;
	int fd;
	sd_event_source *source, *timer;
	size_t head_len;
	char head[HTTP_HEAD_MAX + 1];
	char *reply;			/* NULL: the head is still being read */
	size_t reply_len, sent;
	bool lingers;			/* all is sent; what the peer still says is dropped */
};

static void connection_free(struct connection *c)
{
	list_del(&c->entry);
	c->http->n--;
	sd_event_source_disable_unref(c->source);
	sd_event_source_disable_unref(c->timer);
	close(c->fd);
	free(c->reply);
	free(c);
}

static const char *reason(int status)
{
	switch (status) {
	case 200:
		return "OK";
	case 404:
		return "Not Found";
	case 405:
		return "Method Not Allowed";
	case 431:
		return "Request Header Fields Too Large";
	case 503:
		return "Service Unavailable";
	case 505:
		return "HTTP Version Not Supported";
	default:
		return "Bad Request";
	}
}

static int make_reply(struct connection *c, int status, const char *type, const char *body,
		      size_t body_len, bool head_only)
{
	FILE *f = open_memstream(&c->reply, &c->reply_len);

	if (!f)
		return -ENOMEM;
	fprintf(f, "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n"
		"%sCache-Control: no-store\r\nConnection: close\r\n\r\n", status, reason(status),
		type, body_len, status == 405 ? "Allow: GET, HEAD\r\n" : "");
	if (!head_only)
		fwrite(body, 1, body_len, f);
	return fclose(f) ? -ENOMEM : 0;
}

/* The path of a target in origin form, "/PATH", or absolute form, "http://HOST/PATH"; or NULL. */
static char *target_path(char *target)
{
	if (!strncasecmp(target, "http://", 7)) {
		target = strchr(target + 7, '/');
		if (!target)
			return NULL;
	}
	target[strcspn(target, "?#")] = '\0';
	return target[0] == '/' ? target : NULL;
}

/* "METHOD TARGET HTTP/1.x", taken apart in place: a status, 0: so far it is good. */
static int parse_request(char *line, char **method, char **path)
{
	char *save, *target, *version;

	*method = strtok_r(line, " ", &save);
	target = strtok_r(NULL, " ", &save);
	version = strtok_r(NULL, " ", &save);
	if (!version || strtok_r(NULL, " ", &save) || strncmp(version, "HTTP/", 5))
		return 400;
	if (strncmp(version, "HTTP/1.", 7))
		return 505;
	*path = target_path(target);
	return *path ? 0 : 400;
}

/* status: 0: the head is whole; or what is wrong with it. */
static int answer(struct connection *c, int status)
{
	const char *type = "text/plain; charset=utf-8";
	char *method = NULL, *path = NULL, *body = NULL;
	bool head_only = false;
	size_t body_len = 0;
	int err;
	FILE *f;

	if (!status) {
		c->head[strcspn(c->head, "\r\n")] = '\0';
		status = parse_request(c->head, &method, &path);
	}
	f = open_memstream(&body, &body_len);
	if (!f)
		return -ENOMEM;
	if (!status) {
		head_only = !strcmp(method, "HEAD");
		if (head_only || !strcmp(method, "GET"))
			status = c->http->page(c->http->ctx, path, f, &type);
		else
			status = 405;
	}
	if (status != 200 && status != 503)
		fprintf(f, "%d %s\n", status, reason(status));
	err = fclose(f) ? -ENOMEM : 0;
	if (!err)
		err = make_reply(c, status, type, body, body_len, head_only);
	free(body);
	return err;
}

/*
 * Drops what the peer still sends, a body or the rest of a long head, until it
 * closes or the time is over: closing with something unread would reset the
 * connection, and the answer might be lost.  False: the connection is over.
 */
static bool linger(struct connection *c)
{
	char drop[16384];
	ssize_t n = recv(c->fd, drop, sizeof(drop), 0);

	return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

/* False: the connection is over. */
static bool send_more(struct connection *c)
{
	while (c->sent < c->reply_len) {
		ssize_t n = send(c->fd, c->reply + c->sent, c->reply_len - c->sent, MSG_NOSIGNAL);

		if (n < 0)
			return errno == EAGAIN || errno == EINTR;
		c->sent += n;
	}
	if (shutdown(c->fd, SHUT_WR) < 0 || sd_event_source_set_io_events(c->source, EPOLLIN) < 0)
		return false;
	free(c->reply);
	c->reply = NULL;
	c->lingers = true;
	return true;
}

static bool start_answer(struct connection *c, int status)
{
	if (answer(c, status) || sd_event_source_set_io_events(c->source, EPOLLOUT) < 0)
		return false;
	return send_more(c);
}

static bool read_more(struct connection *c)
{
	ssize_t n = recv(c->fd, c->head + c->head_len, HTTP_HEAD_MAX - c->head_len, 0);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	if (n == 0)
		return false;
	c->head_len += n;
	c->head[c->head_len] = '\0';
	if (strstr(c->head, "\r\n\r\n") || strstr(c->head, "\n\n"))
		return start_answer(c, 0);
	if (strlen(c->head) < c->head_len)
		return start_answer(c, 400);
	return c->head_len < HTTP_HEAD_MAX || start_answer(c, 431);
}

static int on_io(sd_event_source *source, int fd, uint32_t events, void *ctx)
{
	struct connection *c = ctx;

	if (!(c->lingers ? linger(c) : c->reply ? send_more(c) : read_more(c)))
		connection_free(c);
	return 0;
}

static int on_timer(sd_event_source *source, uint64_t usec, void *ctx)
{
	connection_free(ctx);
	return 0;
}

/* Who only holds a connection must not keep the others out: the oldest of those goes. */
static void make_room(struct http *http)
{
	struct list *pos;

	if (http->n < HTTP_CONNECTIONS)
		return;
	list_each(pos, &http->connections) {
		struct connection *c = list_entry(pos, struct connection, entry);

		if (!c->reply) {
			connection_free(c);
			return;
		}
	}
}

void http_add_connection(struct http *http, int fd)
{
	struct connection *c;

	make_room(http);
	c = http->n < HTTP_CONNECTIONS ? calloc(1, sizeof(*c)) : NULL;
	if (!c) {
		close(fd);
		return;
	}
	c->http = http;
	c->fd = fd;
	list_add(&http->connections, &c->entry);
	http->n++;
	if (sd_event_add_io(http->event, &c->source, fd, EPOLLIN, on_io, c) < 0 ||
	    sd_event_add_time_relative(http->event, &c->timer, CLOCK_MONOTONIC, HTTP_TIMEOUT_US,
				       0, on_timer, c) < 0)
		connection_free(c);
}

int http_open(struct http **out, sd_event *event, http_page_fn page, void *ctx)
{
	struct http *http = calloc(1, sizeof(*http));

	if (!http)
		return -ENOMEM;
	http->event = event;
	http->page = page;
	http->ctx = ctx;
	list_init(&http->connections);
	*out = http;
	return 0;
}

void http_close(struct http *http)
{
	if (!http)
		return;
	while (!list_empty(&http->connections))
		connection_free(list_entry(http->connections.next, struct connection, entry));
	free(http);
}
