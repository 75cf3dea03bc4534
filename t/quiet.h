/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* quiet.h - standard output, which is TAP, kept free of what a command of the engine prints */
#ifndef CUZK_T_QUIET_H
#define CUZK_T_QUIET_H

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

/* Nothing that is printed is seen until quiet_end() is given what this gave. */
static inline int quiet_begin(void)
{
	int out = dup(1), null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	fflush(stdout);
	dup2(null, 1);
	close(null);
	return out;
}

static inline void quiet_end(int out)
{
	fflush(stdout);
	dup2(out, 1);
	close(out);
}

#endif
