/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* random.c - scalars from the kernel's random numbers */
#include <errno.h>
#include <string.h>
#include <sys/random.h>

#include "engine/groth16/random.h"

int random_scalar(struct scalar *s)
{
	struct scalar v;
	ssize_t n;

	/* r has 255 bits: of 255 random bits, nine draws in ten are below it */
	do {
		do {
			n = getrandom(&v, sizeof(v), 0);
		} while (n < 0 && errno == EINTR);
		if (n < 0)
			return -errno;
		if (n != sizeof(v))
			return -EIO;
		v.l[3] &= UINT64_MAX >> 1;
	} while (!scalar_is_canonical(&v));
	*s = v;
	explicit_bzero(&v, sizeof(v));
	return 0;
}
