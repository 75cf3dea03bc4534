/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* bench-peak.c - the throughput of products, which bounds everything else */
#include <string.h>

#include "gpu/cpu/msm.h"
#include "tools/bench-peak.h"
#include "tools/bench.h"

#define ROUNDS 9
#define TURNS 200

/* Plain products are checked by the kernels of their own. */
static double plain_fp(const struct fp *a, const struct fp *b)
{
	struct fp r[PEAK_OPERANDS];
	double best = 0, ns;
	int i, k, round;

	for (round = 0; round < ROUNDS; round++) {
		uint64_t start = bench_thread_ns();

		for (k = 0; k < TURNS; k++) {
			for (i = 0; i < PEAK_OPERANDS; i++)
				fp_mul(&r[i], &a[i], &b[i]);
			__asm__ volatile("" : : "r"(r) : "memory");
		}
		ns = (double)(bench_thread_ns() - start) / TURNS / PEAK_OPERANDS;
		if (!round || ns < best)
			best = ns;
	}
	return best;
}

static double plain_fr(const struct fr *a, const struct fr *b)
{
	struct fr r[PEAK_OPERANDS];
	double best = 0, ns;
	int i, k, round;

	for (round = 0; round < ROUNDS; round++) {
		uint64_t start = bench_thread_ns();

		for (k = 0; k < TURNS; k++) {
			for (i = 0; i < PEAK_OPERANDS; i++)
				fr_mul(&r[i], &a[i], &b[i]);
			__asm__ volatile("" : : "r"(r) : "memory");
		}
		ns = (double)(bench_thread_ns() - start) / TURNS / PEAK_OPERANDS;
		if (!round || ns < best)
			best = ns;
	}
	return best;
}

void peak_measure(struct peak *p, bool portable)
{
	struct fp a[PEAK_OPERANDS], b[PEAK_OPERANDS];
	struct fr c[PEAK_OPERANDS], d[PEAK_OPERANDS];
	int i;

	a[0] = G1_GENERATOR.x;
	b[0] = G1_GENERATOR.y;
	fr_from_u64(&c[0], 0x1234567);
	fr_inv_vartime(&d[0], &c[0]);
	for (i = 1; i < PEAK_OPERANDS; i++) {
		fp_sqr(&a[i], &a[i - 1]);
		fp_mul(&b[i], &b[i - 1], &a[i]);
		fr_sqr(&c[i], &c[i - 1]);
		fr_mul(&d[i], &d[i - 1], &c[i]);
	}
#ifdef CUZK_X86
	if (!portable && msm_path_available(MSM_PATH_IFMA)) {
		p->how = "eight products at once, AVX-512 IFMA";
		p->fp = peak_ifma_fp(a, b);
		p->fr = peak_ifma_fr(c, d);
		return;
	}
#endif
	p->how = "one product at a time";
	p->fp = plain_fp(a, b);
	p->fr = plain_fr(c, d);
}
