/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* eval.h - linear combinations by value: what eval.c and the digests share */
#ifndef CUZK_CS_EVAL_H
#define CUZK_CS_EVAL_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/cs.h"

/* small + full; is_small: full is zero */
struct cs_sum {
	bool is_small;
	int64_t small;
	struct fr full;
};

void cs_sum_fr(const struct cs_sum *s, struct fr *v);
void cs_sum_bytes(const struct cs_sum *s, uint8_t out[32]);	/* canonical, little-endian */
/* s[0] * s[1] == s[2] */
bool cs_sum_satisfied(const struct cs_sum *s);
/* A, B, C of rows first..first+n-1 of an instance: 3n sums */
void cs_eval_instance(const struct cs *cs, const struct cs_witness *w, uint32_t index,
		      uint32_t first, uint32_t n, struct cs_sum *out);
/* The instance that row (< n_rows) belongs to. */
uint32_t cs_find_instance(const struct cs *cs, uint64_t row);

#endif
