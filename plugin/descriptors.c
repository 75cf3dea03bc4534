/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* descriptors.c - a part of the open files that clients cannot use up */
#include <sys/resource.h>

#include "plugin/descriptors.h"

bool descriptor_is_beyond(int fd, unsigned int eighths)
{
	struct rlimit lim;

	if (getrlimit(RLIMIT_NOFILE, &lim) < 0 || lim.rlim_cur == RLIM_INFINITY)
		return false;
	return fd >= 0 && (rlim_t)fd >= lim.rlim_cur / 8 * eighths;
}
