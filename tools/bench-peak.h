/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* bench-peak.h - the throughput of products, which bounds everything else */
#ifndef CUZK_TOOLS_BENCH_PEAK_H
#define CUZK_TOOLS_BENCH_PEAK_H

#include <stdbool.h>

#include "lib/bls12_381/fp.h"
#include "lib/bls12_381/fr.h"

/* Nanoseconds of one product where many independent ones are under way; 0: wrong results. */
struct peak {
	double fp, fr;
	const char *how;
};

/* The best of eight lanes at once, where the processor has them, and of plain code. */
void peak_measure(struct peak *p, bool portable);

/* Eight lanes, only where msm_path_available(MSM_PATH_IFMA): as above. */
double peak_ifma_fp(const struct fp *a, const struct fp *b);
double peak_ifma_fr(const struct fr *a, const struct fr *b);
#define PEAK_OPERANDS 64	/* of a and of b */

#endif
