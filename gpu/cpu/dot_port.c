/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* dot_port.c - sums of products in Fr, portable */
#include "gpu/cpu/dot.h"

void dot_port(struct fr *sum, struct fr *x, struct fr *y, size_t n)
{
	struct fr t;
	size_t i;

	*sum = fr_zero;
	for (i = 0; i < n; i++) {
		fr_mul(&t, &x[i], &y[i]);
		fr_add(sum, sum, &t);
	}
}
