/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * slow-sync.c - loaded before the C library: fdatasync() as on a disk that is slow or fails
 *
 * It takes as long as the file that CUZK_TEST_SYNC names is there, at most a minute.  As long as
 * CUZK_TEST_SYNC_FAILS is there it fails, and what was written to the file since it succeeded last
 * is lost, as Linux does it with pages that cannot be written.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILES 1024

static off_t good[FILES];	/* by descriptor */

static int lose(int fd, off_t size)
{
	static const char zeros[65536];
	off_t at = good[fd];

	while (at < size) {
		size_t len = size - at < (off_t)sizeof(zeros) ? (size_t)(size - at) : sizeof(zeros);
		ssize_t n = pwrite(fd, zeros, len, at);

		if (n <= 0)
			break;
		at += n;
	}
	errno = EIO;
	return -1;
}

__attribute__((visibility("default")))
int fdatasync(int fd)
{
	int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
	const char *path = getenv("CUZK_TEST_SYNC"), *fails = getenv("CUZK_TEST_SYNC_FAILS");
	struct stat st = { 0 };
	int i;

	for (i = 0; path && i < 6000 && !access(path, F_OK); i++)
		usleep(10000);
	if (fd >= 0 && fd < FILES && !fstat(fd, &st)) {
		if (fails && !access(fails, F_OK))
			return lose(fd, st.st_size);
		good[fd] = st.st_size;
	}
	if (real)
		return real(fd);
	errno = ENOSYS;
	return -1;
}
