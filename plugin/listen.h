/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * listen.h - the sockets that clients connect to
 *
 * Sockets come from the service manager (socket activation, or its descriptor
 * store) or are made here.  One that was handed over is used for the address
 * that it is bound to, so a configured address is bound only when no socket
 * for it came.  Connections are accepted here and given to an owner.
 */
#ifndef CUZK_PLUGIN_LISTEN_H
#define CUZK_PLUGIN_LISTEN_H

#include <stdbool.h>
#include <stdint.h>

#include <systemd/sd-event.h>

#define LISTEN_KEPT "cuzk-listen"	/* our sockets' name in the descriptor store */

struct listener;

/* A connected stream socket, non-blocking; takes fd. uid: of the peer on a unix socket, else
 * UINT32_MAX. */
typedef void (*listen_accept_fn)(void *ctx, int fd, uint32_t uid);

struct listen_ops {
	listen_accept_fn accept;
	void *ctx;
};

/*
 * Ends the connections that wait on the stream sockets of the service manager,
 * for a service that cannot start: those that are left would start it again at
 * once, and again, until the manager gives up the socket.  What was kept from
 * the service before is left alone: its clients wait for the next try.
 */
void listen_turn_away(void);

int listener_open(struct listener **listener, sd_event *event);
/* Closes all sockets; unlinks the unix sockets that were made here. NULL is accepted. */
void listener_close(struct listener *listener);

/*
 * Takes the sockets that the service manager hands over under this name (NULL:
 * all names that were not asked for before). Returns how many, or -errno.
 */
int listener_inherit(struct listener *listener, const char *name, const struct listen_ops *ops);

/*
 * Hands those whose name begins with prefix to take, with their close-on-exec
 * flag set; take owns them.
 */
void listener_inherit_other(struct listener *listener, const char *prefix,
			    void (*take)(void *ctx, const char *name, int fd), void *ctx);

/* Is there a socket of this kind; tcp_only: that is not a unix socket? */
bool listener_any(const struct listener *listener, const struct listen_ops *ops, bool tcp_only);
/*
 * Once all that is configured was asked for by the functions below: closes what an
 * earlier configuration had the descriptor store keep, and unlinks it.  True: then the
 * manager has to forget LISTEN_KEPT, and listener_keep() gives it anew what is left.
 */
bool listener_forget(struct listener *listener);

/* Each takes a socket of that address that was inherited, or makes one; mode and group hold
 * for one that was kept, too.  0 or -errno, which was logged. */
int listener_unix(struct listener *listener, const char *path, uint32_t mode, const char *group,
		  const struct listen_ops *ops);
int listener_tcp(struct listener *listener, const char *address, const struct listen_ops *ops);

/* Could somebody listen on an address?  0 or -errno, which was logged. */
int listener_try_tcp(const char *address);

/*
 * Calls keep for each socket that was made here; where it returns true, the
 * service manager keeps the socket, and its file is not unlinked at the end.
 */
void listener_keep(struct listener *listener, bool (*keep)(void *ctx, int fd), void *ctx);

/* Nothing is accepted from now on; connections wait in the kernel for the next service. */
void listener_stop(struct listener *listener);

#endif
