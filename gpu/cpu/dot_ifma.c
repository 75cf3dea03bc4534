/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* dot_ifma.c - sums of products in Fr, eight at a time with one reduction for all */
#include "gpu/cpu/dot.h"
#include "lib/bls12_381/ifma_fr.h"

void dot_ifma(struct fr *sum, struct fr *x, struct fr *y, size_t n)
{
	struct fr lanes[FV_LANES];
	__m512i c[10];
	struct fv a, b;
	size_t i;
	int j;

	if (n < FV_LANES / 2) {
		dot_port(sum, x, y, n);
		return;
	}
	for (i = n; i % FV_LANES; i++)
		x[i] = y[i] = fr_zero;
	for (j = 0; j < 10; j++)
		c[j] = _mm512_setzero_si512();
	/* DOT_MAX / FV_LANES products of reduced values: digits stay below 2^60, the sum below r */
	for (i = 0; i < n; i += FV_LANES) {
		fv_load(&a, &x[i], 1);
		fv_load(&b, &y[i], 1);
		FV_UNROLL for (j = 0; j < 5; j++)
			fv_madd_row(c, j, &a, b.l[j]);
	}
	FV_UNROLL for (j = 0; j < 5; j++)
		fv_redc_digit(c, j);
	for (j = 0; j < 5; j++)
		a.l[j] = c[j + 5];
	fv_canon(&a, &a);
	fv_store(lanes, 1, &a);
	*sum = lanes[0];
	for (j = 1; j < FV_LANES; j++)
		fr_add(sum, sum, &lanes[j]);
	for (j = 1; j < FV_PRODUCT_FACTOR; j *= 2)
		fr_double(sum, sum);
}
