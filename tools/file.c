/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* file.c - whole files for the tools */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/file.h"

#define CHUNK 65536

static int read_all(int fd, size_t limit, char **out, size_t *out_len)
{
	size_t len = 0, max = 0;
	char *buf = NULL, *more;
	ssize_t n;

	for (;;) {
		if (max - len < CHUNK) {
			max = max ? 2 * max : 2 * CHUNK;
			more = realloc(buf, max + 1);
			if (!more) {
				free(buf);
				return -ENOMEM;
			}
			buf = more;
		}
		n = read(fd, buf + len, max - len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		len += n;
		if (len > limit) {
			free(buf);
			return -EFBIG;
		}
	}
	if (n < 0) {
		n = -errno;
		free(buf);
		return (int)n;
	}
	buf[len] = '\0';
	*out = buf;
	*out_len = len;
	return 0;
}

int ctl_file_read(const char *path, size_t limit, void **data, size_t *len)
{
	int fd, err;

	if (!strcmp(path, "-"))
		return read_all(STDIN_FILENO, limit, (char **)data, len);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	err = read_all(fd, limit, (char **)data, len);
	close(fd);
	return err;
}

static int write_all(int fd, const void *data, size_t len)
{
	const char *p = data;
	ssize_t n;

	while (len) {
		n = write(fd, p, len);
		if (n < 0) {
			if (errno == EINTR)
				continue;
			return -errno;
		}
		p += n;
		len -= n;
	}
	return 0;
}

/* A device or pipe cannot be replaced: it is written to. */
static int write_in_place(const char *path, const void *data, size_t len)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), err;

	if (fd < 0)
		return -errno;
	err = write_all(fd, data, len);
	if (close(fd) < 0 && !err)
		err = -errno;
	return err;
}

int ctl_file_write(const char *path, const void *data, size_t len)
{
	char beside[4096];
	struct stat st;
	mode_t mask;
	int fd, err;

	if (!strcmp(path, "-"))
		return write_all(STDOUT_FILENO, data, len);
	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
		return write_in_place(path, data, len);
	if (snprintf(beside, sizeof(beside), "%s.XXXXXX", path) >= (int)sizeof(beside))
		return -ENAMETOOLONG;
	fd = mkostemp(beside, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	mask = umask(0);
	umask(mask);
	err = write_all(fd, data, len);
	if (!err && fchmod(fd, 0666 & ~mask) < 0)
		err = -errno;
	if (!err && fsync(fd) < 0)
		err = -errno;
	if (close(fd) < 0 && !err)
		err = -errno;
	if (!err && rename(beside, path) < 0)
		err = -errno;
	if (err)
		unlink(beside);
	return err;
}
