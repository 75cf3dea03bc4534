/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * lost-timer.c - loaded before the C library: timers that the program itself sets are lost as
 * long as the file that CUZK_TEST_TIMER names is there; those of libraries go on
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/timerfd.h>
#include <unistd.h>

/* Is the address in the object that the process began in? */
static int in_program(const void *address)
{
	Dl_info program, caller;

	return dladdr((void *)(uintptr_t)getauxval(AT_ENTRY), &program) &&
	       dladdr(address, &caller) && program.dli_fbase == caller.dli_fbase;
}

__attribute__((visibility("default")))
int timerfd_settime(int fd, int flags, const struct itimerspec *value, struct itimerspec *old)
{
	int (*real)(int, int, const struct itimerspec *, struct itimerspec *) =
		(int (*)(int, int, const struct itimerspec *, struct itimerspec *))
		dlsym(RTLD_NEXT, "timerfd_settime");
	const char *path = getenv("CUZK_TEST_TIMER");

	if (path && !access(path, F_OK) && in_program(__builtin_return_address(0)))
		return 0;
	if (real)
		return real(fd, flags, value, old);
	errno = ENOSYS;
	return -1;
}
