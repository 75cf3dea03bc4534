/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* http.c - /metrics, /status, /trace/JOB and /healthz for those who speak HTTP/1.1 only */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
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
	case 503:
		return "Service Unavailable";
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
		"Cache-Control: no-store\r\nConnection: close\r\n\r\n", status, reason(status),
		type, body_len);
	if (!head_only)
		fwrite(body, 1, body_len, f);
	return fclose(f) ? -ENOMEM : 0;
}

/* The request line is whole: "METHOD PATH HTTP/1.x". */
static int answer(struct connection *c)
{
	const char *type = "text/plain; charset=utf-8";
	char *line = c->head, *method, *path, *save, *body = NULL;
	bool head_only = false;
	size_t body_len = 0;
	int status = 400, err;
	FILE *f;

	line[strcspn(line, "\r\n")] = '\0';
	method = strtok_r(line, " ", &save);
	path = strtok_r(NULL, " ", &save);
	f = open_memstream(&body, &body_len);
	if (!f)
		return -ENOMEM;
	if (method && path) {
		head_only = !strcmp(method, "HEAD");
		path[strcspn(path, "?#")] = '\0';
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

/* False: the connection is over. */
static bool send_more(struct connection *c)
{
	while (c->sent < c->reply_len) {
		ssize_t n = send(c->fd, c->reply + c->sent, c->reply_len - c->sent, MSG_NOSIGNAL);

		if (n < 0)
			return errno == EAGAIN || errno == EINTR;
		c->sent += n;
	}
	shutdown(c->fd, SHUT_WR);
	return false;
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
	if (!strstr(c->head, "\r\n\r\n") && !strstr(c->head, "\n\n"))
		return c->head_len < HTTP_HEAD_MAX;
	if (answer(c) || sd_event_source_set_io_events(c->source, EPOLLOUT) < 0)
		return false;
	return send_more(c);
}

static int on_io(sd_event_source *source, int fd, uint32_t events, void *ctx)
{
	struct connection *c = ctx;

	if (!(c->reply ? send_more(c) : read_more(c)))
		connection_free(c);
	return 0;
}

static int on_timer(sd_event_source *source, uint64_t usec, void *ctx)
{
	connection_free(ctx);
	return 0;
}

void http_add_connection(struct http *http, int fd)
{
	struct connection *c;

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
