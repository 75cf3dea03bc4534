/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * slow-sync.c - loaded before the C library: fdatasync() takes as long as the file that
 * CUZK_TEST_SYNC names is there, as on a disk that is slow; at most a minute
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

__attribute__((visibility("default")))
int fdatasync(int fd)
{
	int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
	const char *path = getenv("CUZK_TEST_SYNC");
	int i;

	for (i = 0; path && i < 6000 && !access(path, F_OK); i++)
		usleep(10000);
	if (real)
		return real(fd);
	errno = ENOSYS;
	return -1;
}
