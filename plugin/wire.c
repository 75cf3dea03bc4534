/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* wire.c - messages between the service and the processes of its instances */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "lib/text.h"
#include "plugin/wire.h"

union control {
	struct cmsghdr align;
	char bytes[CMSG_SPACE(4 * sizeof(int))];
};

int wire_send(int sock, const struct wire_header *h, const void *body, size_t len, int fd,
	      int flags)
{
	struct wire_header head = *h;
	struct iovec iov[2] = { { &head, sizeof(head) }, { (void *)body, len } };
	struct msghdr msg = { .msg_iov = iov, .msg_iovlen = len ? 2 : 1 };
	union control control;
	struct cmsghdr *c;
	ssize_t n;

	if (len > WIRE_BODY_MAX)
		return -EMSGSIZE;
	head.magic = WIRE_MAGIC;
	if (fd >= 0) {
		memset(&control, 0, sizeof(control));
		msg.msg_control = control.bytes;
		msg.msg_controllen = CMSG_SPACE(sizeof(int));
		c = CMSG_FIRSTHDR(&msg);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(c), &fd, sizeof(int));
	}
	do {
		n = sendmsg(sock, &msg, flags | MSG_NOSIGNAL);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno == ECONNRESET ? -EPIPE : -errno;
	return 0;
}

/* Takes the first descriptor, closes any other. */
static void take_fds(struct msghdr *msg, int *fd)
{
	struct cmsghdr *c;

	for (c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
		size_t i, n;

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		for (i = 0; i < n; i++) {
			int got;

			memcpy(&got, CMSG_DATA(c) + i * sizeof(int), sizeof(int));
			if (*fd < 0)
				*fd = got;
			else
				close(got);
		}
	}
}

int wire_recv(int sock, struct wire_message *msg, int flags)
{
	struct iovec iov[2] = { { &msg->h, sizeof(msg->h) }, { msg->body, WIRE_BODY_MAX } };
	union control control;
	struct msghdr mh = {
		.msg_iov = iov, .msg_iovlen = 2,
		.msg_control = control.bytes, .msg_controllen = sizeof(control),
	};
	bool reset = false;
	ssize_t n;

	msg->fd = -1;
	for (;;) {
		n = recvmsg(sock, &mh, flags | MSG_CMSG_CLOEXEC);
		if (n >= 0 || (errno != EINTR && errno != ECONNRESET))
			break;
		/*
		 * A peer that ended with something unread resets the connection,
		 * which is told once and before what it sent last: that is behind it.
		 */
		if (errno == ECONNRESET && reset)
			return 0;
		reset |= errno == ECONNRESET;
	}
	if (n < 0)
		return -errno;
	take_fds(&mh, &msg->fd);
	if (!n)
		return 0;
	if (n < (ssize_t)sizeof(msg->h) || mh.msg_flags & (MSG_TRUNC | MSG_CTRUNC) ||
	    msg->h.magic != WIRE_MAGIC) {
		if (msg->fd >= 0)
			close(msg->fd);
		msg->fd = -1;
		return -EBADMSG;
	}
	msg->len = n - sizeof(msg->h);
	msg->body[msg->len] = '\0';
	return 1;
}

void wire_copy(char *dst, size_t size, const char *src)
{
	size_t len = strnlen(src, size - 1);

	memcpy(dst, src, len);
	dst[len] = '\0';
}

void wire_text(char *text, size_t size)
{
	size_t i;

	text[size - 1] = '\0';
	text_clean(text);
	i = strlen(text);
	while (i && text[i - 1] == ' ')
		text[--i] = '\0';
}

bool wire_memory_name(const char *name)
{
	size_t len = strlen(name);

	return len && len < CUZK_MEMORY_NAME_SIZE &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789._-") == len;
}
