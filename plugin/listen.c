/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* listen.c - the sockets that clients connect to */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <systemd/sd-daemon.h>

#include "plugin/descriptors.h"
#include "plugin/list.h"
#include "plugin/listen.h"
#include "plugin/log.h"

#define BACKLOG 512
#define BACKLOG_MAX 65536	/* that a socket of somebody else's may have */
#define ACCEPT_BATCH 64
#define PAUSE_US 100000ull	/* after the process ran out of descriptors */
#define COMPLAIN_US 10000000ull

struct listen_socket {
	struct list entry;
	struct listener *listener;
	const struct listen_ops *ops;
	sd_event_source *source, *pause;
	int fd;
	bool own;			/* made here */
	bool kept;			/* the service manager has it too */
	bool before;			/* made by the service before this one, and kept */
	bool wanted;			/* of those: the configuration still names it */
	struct sockaddr_storage addr;
	socklen_t addr_len;
};

struct listener {
	sd_event *event;
	struct list sockets;
	uint64_t complained_us;		/* of refused connections; 0: not yet */
	int n_inherited;		/* descriptors from SD_LISTEN_FDS_START on */
	char **names;
	bool *taken;
};

/* ---- accepting ---- */

static int on_pause(sd_event_source *source, uint64_t usec, void *ctx)
{
	struct listen_socket *s = ctx;

	sd_event_source_set_enabled(s->source, SD_EVENT_ON);
	return 0;
}

/* Once in a while, however many there are. */
static void complain(struct listener *l, const char *what)
{
	uint64_t now;

	sd_event_now(l->event, CLOCK_MONOTONIC, &now);
	if (l->complained_us && now - l->complained_us < COMPLAIN_US)
		return;
	l->complained_us = now;
	log_warning("connections are refused: %s", what);
}

static void pause_accepting(struct listen_socket *s, int err)
{
	complain(s->listener, strerror(err));
	sd_event_source_set_enabled(s->source, SD_EVENT_OFF);
	s->pause = sd_event_source_disable_unref(s->pause);
	if (sd_event_add_time_relative(s->listener->event, &s->pause, CLOCK_MONOTONIC, PAUSE_US, 0,
				       on_pause, s) < 0)
		sd_event_source_set_enabled(s->source, SD_EVENT_ON);
}

static uint32_t peer_uid(const struct listen_socket *s, int fd)
{
	struct ucred cred;
	socklen_t len = sizeof(cred);

	if (s->addr.ss_family != AF_UNIX)
		return UINT32_MAX;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) < 0)
		return UINT32_MAX;
	return cred.uid;
}

static int on_readable(sd_event_source *source, int listen_fd, uint32_t events, void *ctx)
{
	struct listen_socket *s = ctx;
	int i, fd, one = 1;

	for (i = 0; i < ACCEPT_BATCH; i++) {
		fd = accept4(listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (fd < 0) {
			if (errno == EMFILE || errno == ENFILE || errno == ENOMEM ||
			    errno == ENOBUFS)
				pause_accepting(s, errno);
			return 0;	/* the others concern one connection, or nobody */
		}
		if (descriptor_is_beyond(fd, DESCRIPTORS_CONNECTIONS)) {
			complain(s->listener, "too many files are open (LimitNOFILE=)");
			close(fd);
			continue;
		}
		if (s->addr.ss_family != AF_UNIX)
			setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
		s->ops->accept(s->ops->ctx, fd, peer_uid(s, fd));
	}
	return 0;
}

/* ---- the list ---- */

static void socket_free(struct listen_socket *s)
{
	const struct sockaddr_un *sun = (const struct sockaddr_un *)&s->addr;

	list_del(&s->entry);
	sd_event_source_disable_unref(s->source);
	sd_event_source_disable_unref(s->pause);
	if (s->own && !s->kept && s->addr.ss_family == AF_UNIX && sun->sun_path[0])
		unlink(sun->sun_path);
	close(s->fd);
	free(s);
}

static void log_address(const struct listen_socket *s)
{
	const struct sockaddr_un *sun = (const struct sockaddr_un *)&s->addr;
	const char *how = s->own ? "" : ", a socket of the service manager";
	char host[64], port[16];

	if (s->addr.ss_family == AF_UNIX)
		log_info("listening on %s%s", sun->sun_path, how);
	else if (!getnameinfo((const struct sockaddr *)&s->addr, s->addr_len, host, sizeof(host),
			      port, sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV))
		log_info("listening on %s%s%s:%s%s", s->addr.ss_family == AF_INET6 ? "[" : "", host,
			 s->addr.ss_family == AF_INET6 ? "]" : "", port, how);
}

/* Takes fd, on failure too. name: of one that the service manager had; NULL: made here. */
static int socket_add(struct listener *l, int fd, const char *name, const struct listen_ops *ops)
{
	struct listen_socket *s = calloc(1, sizeof(*s));
	int err = -ENOMEM, flags;

	if (!s) {
		close(fd);
		return err;
	}
	s->listener = l;
	s->ops = ops;
	s->fd = fd;
	list_init(&s->entry);
	s->addr_len = sizeof(s->addr);
	if (getsockname(fd, (struct sockaddr *)&s->addr, &s->addr_len) < 0) {
		err = -errno;
		goto err_free;
	}
	flags = fcntl(fd, F_GETFL);
	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0) {
		err = -errno;
		goto err_free;
	}
	err = sd_event_add_io(l->event, &s->source, fd, EPOLLIN, on_readable, s);
	if (err < 0)
		goto err_free;
	s->own = !name;
	s->before = name && !strcmp(name, LISTEN_KEPT);
	list_add(&l->sockets, &s->entry);
	log_address(s);
	return 0;

err_free:
	socket_free(s);
	return err;
}

static struct listen_socket *find_inherited(const struct listener *l, const struct sockaddr *addr,
					    socklen_t len)
{
	struct list *pos;

	list_each(pos, &l->sockets) {
		struct listen_socket *s = list_entry(pos, struct listen_socket, entry);

		if (!s->own && s->addr_len == len && !memcmp(&s->addr, addr, len))
			return s;
	}
	return NULL;
}

/* One that was kept is for what the configuration now says that its address is for. */
static void want(struct listen_socket *s, const struct listen_ops *ops)
{
	s->wanted = true;
	if (s->before)
		s->ops = ops;
}

static void turn_away(int fd)
{
	int flags = fcntl(fd, F_GETFL), i, one;

	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0)
		return;
	for (i = 0; i < BACKLOG_MAX; i++) {
		one = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
		if (one < 0)
			return;
		close(one);
	}
}

void listen_turn_away(void)
{
	char **names = NULL;
	int i, n = sd_listen_fds_with_names(0, &names);

	for (i = 0; i < n; i++) {
		if (strcmp(names[i], LISTEN_KEPT) &&
		    sd_is_socket(SD_LISTEN_FDS_START + i, AF_UNSPEC, SOCK_STREAM, 1) > 0)
			turn_away(SD_LISTEN_FDS_START + i);
		free(names[i]);
	}
	free(names);
}

int listener_open(struct listener **out, sd_event *event)
{
	struct listener *l = calloc(1, sizeof(*l));
	int n;

	if (!l)
		return -ENOMEM;
	l->event = event;
	list_init(&l->sockets);
	n = sd_listen_fds_with_names(0, &l->names);
	if (n < 0) {
		log_error("sockets from the service manager: %s", strerror(-n));
		free(l);
		return n;
	}
	l->n_inherited = n;
	l->taken = calloc(n + 1, sizeof(*l->taken));
	if (!l->taken) {
		listener_close(l);
		return -ENOMEM;
	}
	*out = l;
	return 0;
}

void listener_close(struct listener *l)
{
	int i;

	if (!l)
		return;
	while (!list_empty(&l->sockets))
		socket_free(list_entry(l->sockets.next, struct listen_socket, entry));
	for (i = 0; i < l->n_inherited; i++) {
		if (l->taken && !l->taken[i])
			close(SD_LISTEN_FDS_START + i);
		free(l->names[i]);
	}
	free(l->names);
	free(l->taken);
	free(l);
}

void listener_stop(struct listener *l)
{
	struct list *pos;

	list_each(pos, &l->sockets) {
		struct listen_socket *s = list_entry(pos, struct listen_socket, entry);

		sd_event_source_set_enabled(s->source, SD_EVENT_OFF);
		s->pause = sd_event_source_disable_unref(s->pause);
	}
}

void listener_keep(struct listener *l, bool (*keep)(void *ctx, int fd), void *ctx)
{
	struct list *pos;

	list_each(pos, &l->sockets) {
		struct listen_socket *s = list_entry(pos, struct listen_socket, entry);

		if (s->own)
			s->kept = keep(ctx, s->fd);
	}
}

int listener_inherit(struct listener *l, const char *name, const struct listen_ops *ops)
{
	int i, fd, err, n = 0;

	for (i = 0; i < l->n_inherited; i++) {
		fd = SD_LISTEN_FDS_START + i;
		if (l->taken[i] || (name && strcmp(l->names[i], name)))
			continue;
		if (sd_is_socket(fd, AF_UNSPEC, SOCK_STREAM, 1) <= 0) {
			log_warning("descriptor %d (%s) from the service manager is no "
				    "listening stream socket; ignored", fd, l->names[i]);
			continue;
		}
		l->taken[i] = true;
		err = socket_add(l, fd, l->names[i], ops);
		if (err)
			return err;
		n++;
	}
	return n;
}

bool listener_any(const struct listener *l, const struct listen_ops *ops, bool tcp_only)
{
	struct list *pos;

	list_each(pos, &l->sockets) {
		const struct listen_socket *s = list_entry(pos, struct listen_socket, entry);

		if (s->ops == ops && (!tcp_only || s->addr.ss_family != AF_UNIX))
			return true;
	}
	return false;
}

bool listener_forget(struct listener *l)
{
	struct list *pos, *next;
	bool any = false;

	list_each_safe(pos, next, &l->sockets) {
		struct listen_socket *s = list_entry(pos, struct listen_socket, entry);

		any |= s->before && !s->wanted;
	}
	list_each_safe(pos, next, &l->sockets) {
		struct listen_socket *s = list_entry(pos, struct listen_socket, entry);

		if (!any || !s->before)
			continue;
		s->own = true;	/* the manager forgets all that have the name */
		if (!s->wanted)
			socket_free(s);
	}
	return any;
}

void listener_inherit_other(struct listener *l, const char *prefix,
			    void (*take)(void *ctx, const char *name, int fd), void *ctx)
{
	int i;

	for (i = 0; i < l->n_inherited; i++) {
		if (l->taken[i] || strncmp(l->names[i], prefix, strlen(prefix)))
			continue;
		l->taken[i] = true;
		take(ctx, l->names[i], SD_LISTEN_FDS_START + i);
	}
}

/* ---- making them ---- */

/* A socket file that nobody serves any more may go; another is left alone. */
static int remove_stale(const struct sockaddr_un *sun, socklen_t len)
{
	struct stat st;
	int fd, err;

	if (lstat(sun->sun_path, &st) < 0)
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISSOCK(st.st_mode))
		return -EEXIST;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	err = connect(fd, (const struct sockaddr *)sun, len) < 0 ? errno : 0;
	close(fd);
	if (err != ECONNREFUSED)
		return -EADDRINUSE;
	return unlink(sun->sun_path) < 0 ? -errno : 0;
}

static int set_access(const char *path, uint32_t mode, const char *group)
{
	struct group *gr;

	if (group) {
		errno = 0;
		gr = getgrnam(group);
		if (!gr)
			return errno ? -errno : -ENOENT;
		if (chown(path, -1, gr->gr_gid) < 0)
			return -errno;
	}
	return chmod(path, mode) < 0 ? -errno : 0;
}

int listener_unix(struct listener *l, const char *path, uint32_t mode, const char *group,
		  const struct listen_ops *ops)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	socklen_t len = offsetof(struct sockaddr_un, sun_path) + strlen(path) + 1;
	struct listen_socket *there;
	mode_t mask;
	int fd, err;

	if (strlen(path) >= sizeof(sun.sun_path)) {
		log_error("listen: %s: path too long for a socket (%zu bytes at most)", path,
			  sizeof(sun.sun_path) - 1);
		return -ENAMETOOLONG;
	}
	strcpy(sun.sun_path, path);
	there = find_inherited(l, (struct sockaddr *)&sun, len);
	if (there) {
		want(there, ops);
		/* one of a socket unit has the access that the unit gives it */
		err = there->before ? set_access(path, mode, group) : 0;
		if (err)
			log_error("listen: %s%s%s: %s", path, group ? ", group " : "",
				  group ? group : "", strerror(-err));
		return err;
	}
	err = remove_stale(&sun, len);
	if (err) {
		log_error("listen: %s: %s", path, err == -EADDRINUSE ?
			  "another process serves this socket" : strerror(-err));
		return err;
	}
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	mask = umask(0177);	/* nobody else connects before the access is set */
	err = bind(fd, (struct sockaddr *)&sun, len) < 0 ? -errno : 0;
	umask(mask);
	if (!err)
		err = set_access(path, mode, group);
	if (!err && listen(fd, BACKLOG) < 0)
		err = -errno;
	if (err) {
		log_error("listen: %s%s%s: %s", path, group ? ", group " : "", group ? group : "",
			  strerror(-err));
		close(fd);
		return err;
	}
	return socket_add(l, fd, NULL, ops);
}

/* The descriptor, bound, or -errno. */
static int bind_tcp(const struct addrinfo *ai)
{
	int fd, one = 1, err;

	fd = socket(ai->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (ai->ai_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof(one));
	if (bind(fd, ai->ai_addr, ai->ai_addrlen) < 0) {
		err = -errno;
		close(fd);
		return err;
	}
	return fd;
}

static int listen_on(struct listener *l, const struct addrinfo *ai, const struct listen_ops *ops)
{
	struct listen_socket *there;
	int fd, err;

	there = find_inherited(l, ai->ai_addr, ai->ai_addrlen);
	if (there) {
		want(there, ops);
		return 0;
	}
	fd = bind_tcp(ai);
	if (fd < 0)
		return fd;
	if (listen(fd, BACKLOG) < 0) {
		err = -errno;
		close(fd);
		return err;
	}
	return socket_add(l, fd, NULL, ops);
}

/* For a port of the library's, which does not say why it cannot have it. */
static int try_tcp(const struct addrinfo *ai)
{
	int fd = bind_tcp(ai);

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

/* "HOST:PORT", "[V6]:PORT" or ":PORT" in two. */
static int split_address(const char *address, char *host, size_t size, const char **port)
{
	const char *colon = strrchr(address, ':');
	size_t len;

	if (!colon || !colon[1])
		return -EINVAL;
	*port = colon + 1;
	len = colon - address;
	if (len >= 2 && address[0] == '[' && address[len - 1] == ']') {
		address++;
		len -= 2;
	}
	if (len >= size)
		return -EINVAL;
	memcpy(host, address, len);
	host[len] = '\0';
	return 0;
}

/* l NULL: whether it could. */
static int each_address(struct listener *l, const char *address, const struct listen_ops *ops)
{
	struct addrinfo hints = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM,
				  .ai_flags = AI_PASSIVE };
	struct addrinfo *list, *ai;
	char host[256];
	const char *port;
	int err, n = 0, refused = 0;

	if (split_address(address, host, sizeof(host), &port)) {
		log_error("listen: %s: not HOST:PORT", address);
		return -EINVAL;
	}
	err = getaddrinfo(host[0] ? host : NULL, port, &hints, &list);
	if (err) {
		log_error("listen: %s: %s", address, gai_strerror(err));
		return -EINVAL;
	}
	/* the library is content with one of them */
	for (ai = list, err = 0; ai && (!err || !l); ai = ai->ai_next) {
		err = l ? listen_on(l, ai, ops) : try_tcp(ai);
		if (err == -EAFNOSUPPORT) {
			refused++;
			err = 0;
		} else {
			n += !err;
		}
	}
	freeaddrinfo(list);
	if (!l && n)
		return 0;
	if (!err && !n)
		err = refused ? -EAFNOSUPPORT : -EADDRNOTAVAIL;
	if (err)
		log_error("listen: %s: %s%s", address, strerror(-err), err == -EAFNOSUPPORT ?
			  " (the unit allows none without the drop-in tcp.conf)" : "");
	return err;
}

int listener_tcp(struct listener *l, const char *address, const struct listen_ops *ops)
{
	return each_address(l, address, ops);
}

int listener_try_tcp(const char *address)
{
	return each_address(NULL, address, NULL);
}
