/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* evaluate.h - A w, B w and C w from templates, instances and a witness */
#ifndef CUZK_GPU_CPU_EVALUATE_H
#define CUZK_GPU_CPU_EVALUATE_H

#include <stdbool.h>
#include <stdint.h>

#include "gpu/cpu/ctl.h"
#include "gpu/cpu/isa.h"
#include "lib/cs.h"
#include "lib/tpool.h"

/*
 * Values of all 2^log_domain rows: the instances' ones, then x_i * 0 = 0 for
 * every input, then zeros.  c may be NULL.  With bad_row, rows are checked
 * (c or no c): *bad_row = the first with a * b != c, or UINT64_MAX.  Progress
 * counts rows.  -ECANCELED.  pool and ctl may be NULL.
 */
int cpu_evaluate(const struct cs *cs, const struct cs_witness *w, enum cpu_isa isa,
		 struct tpool *pool, struct ctl *ctl, struct fr *a, struct fr *b, struct fr *c,
		 uint64_t *bad_row);

#endif
