/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* bench-peak-ifma.c - the throughput of products, eight at once by AVX-512 IFMA */
#include <string.h>

#include "gpu/cpu/ifma_fp.h"
#include "gpu/cpu/ifma_mem.h"
#include "lib/bls12_381/ifma_fr.h"
#include "tools/bench-peak.h"
#include "tools/bench.h"

#define VECTORS (PEAK_OPERANDS / 8)
#define ROUNDS 9
#define TURNS 2000

static void load(struct fp8 *out, const struct fp *in)
{
	uint64_t limb[8];
	int i, j;

	for (i = 0; i < 8; i++) {
		ifma_fp_set(limb, &in[i]);
		for (j = 0; j < 8; j++)
			((uint64_t *)&out->l[j])[i] = limb[j];
	}
}

static bool equal(const struct fp8 *got, const struct fp *want)
{
	struct fp8 r;
	uint64_t limb[8];
	struct fp v;
	int i, j;

	fp8_reduce(&r, got);
	for (i = 0; i < 8; i++) {
		for (j = 0; j < 8; j++)
			limb[j] = ((uint64_t *)&r.l[j])[i];
		ifma_fp_get(&v, limb);
		if (memcmp(&v, &want[i], sizeof(v)))
			return false;
	}
	return true;
}

double peak_ifma_fp(const struct fp *a, const struct fp *b)
{
	struct fp8 x[VECTORS], y[VECTORS], r[VECTORS];
	struct fp want[8];
	double best = 0, ns;
	int i, k, round;

	for (i = 0; i < VECTORS; i++) {
		load(&x[i], &a[8 * i]);
		load(&y[i], &b[8 * i]);
	}
	for (round = 0; round < ROUNDS; round++) {
		uint64_t start = bench_thread_ns();

		for (k = 0; k < TURNS; k++) {
			for (i = 0; i < VECTORS; i++)
				fp8_mul(&r[i], &x[i], &y[i]);
			__asm__ volatile("" : : "r"(r) : "memory");
		}
		ns = (double)(bench_thread_ns() - start) / TURNS / PEAK_OPERANDS;
		if (!round || ns < best)
			best = ns;
	}
	for (i = 0; i < VECTORS; i++) {
		for (k = 0; k < 8; k++)
			fp_mul(&want[k], &a[8 * i + k], &b[8 * i + k]);
		if (!equal(&r[i], want))
			return 0;
	}
	return best;
}

double peak_ifma_fr(const struct fr *a, const struct fr *b)
{
	struct fv x[VECTORS], y[VECTORS], r[VECTORS];
	struct fr got[8], want, factor;
	double best = 0, ns;
	int i, k, round;

	for (i = 0; i < VECTORS; i++) {
		fv_load(&x[i], &a[8 * i], 1);
		fv_load(&y[i], &b[8 * i], 1);
	}
	for (round = 0; round < ROUNDS; round++) {
		uint64_t start = bench_thread_ns();

		for (k = 0; k < TURNS; k++) {
			for (i = 0; i < VECTORS; i++)
				fv_mul(&r[i], &x[i], &y[i]);
			__asm__ volatile("" : : "r"(r) : "memory");
		}
		ns = (double)(bench_thread_ns() - start) / TURNS / PEAK_OPERANDS;
		if (!round || ns < best)
			best = ns;
	}
	fr_from_u64(&factor, FV_PRODUCT_FACTOR);
	for (i = 0; i < VECTORS; i++) {
		fv_canon(&r[i], &r[i]);
		fv_store(got, 1, &r[i]);
		for (k = 0; k < 8; k++) {
			fr_mul(&want, &a[8 * i + k], &b[8 * i + k]);
			fr_mul(&got[k], &got[k], &factor);
			if (memcmp(&got[k], &want, sizeof(want)))
				return 0;
		}
	}
	return best;
}
