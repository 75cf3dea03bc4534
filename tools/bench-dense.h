/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * bench-dense.h - the classic way to hold a system, to compare with
 *
 * Three matrices as compressed rows, each term with its variable's number and
 * its coefficient in full, and a witness of 32 bytes for each variable.
 */
#ifndef CUZK_TOOLS_BENCH_DENSE_H
#define CUZK_TOOLS_BENCH_DENSE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/cs.h"
#include "lib/tpool.h"

struct dense;

/* Bytes of the matrices of cs. */
uint64_t dense_bytes(const struct cs *cs);
int dense_open(struct dense **out, const struct cs *cs);	/* -ENOMEM */
void dense_close(struct dense *d);
/* All variables in full, inputs first; malloc.  NULL: no memory. */
struct fr *dense_witness(const struct cs *cs, const struct cs_witness *w);
/* a, b, c of all 2^log_domain rows. */
void dense_evaluate(const struct dense *d, struct tpool *pool, const struct fr *witness,
		    struct fr *a, struct fr *b, struct fr *c);
/* Whether they are what the term by term oracle gives. */
bool dense_check(const struct cs *cs, const struct cs_witness *w, const struct fr *a,
		 const struct fr *b, const struct fr *c);

#endif
