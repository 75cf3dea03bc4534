/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * ntt_pass.h - one sweep over the data: many short transforms and a factor each
 *
 * A transform of n = R_0 * R_1 * ... points is a chain of passes (ntt.c).  A
 * pass transforms along one digit of the index, eight neighbours along a
 * second digit (the lanes) at once, for every value of the others (outer).
 * The R x 8 values of a group lie in a buffer that fits the second-level
 * cache; the data is read once and written once.
 */
#ifndef CUZK_GPU_CPU_NTT_PASS_H
#define CUZK_GPU_CPU_NTT_PASS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/bls12_381/fr.h"

#define NTT_LANES 8
#define NTT_MIN_LOG_R 3
#define NTT_MAX_LOG_R 10	/* sums of more levels would leave ifma_fr.h's range */
#define NTT_MAX_OUTER 3

enum ntt_out {
	NTT_OUT_PLAIN,		/* fully reduced */
	NTT_OUT_TABLE,		/* times out_tw[k], fully reduced */
	NTT_OUT_GEOMETRIC,	/* times start * step^k, below 2.1r */
};

struct ntt_impl;

/*
 * All offsets are in elements.  Row j of lane l, outer (e_0, e_1, ...), is at
 *   j * src_row + l * src_lane + sum of e_i * outer[i].src
 * and output k likewise in dst.
 */
struct ntt_pass {
	const struct ntt_impl *impl;
	const struct fr *src;
	const struct fr *src2;		/* not NULL: the input is src * src2 / product factor */
	struct fr *dst;
	const struct fr *add;		/* not NULL: added to what is not geometric, as dst lies */
	unsigned int log_r;
	size_t src_row, src_lane, dst_row, dst_lane;
	size_t lanes;			/* extent of the lane digit, a multiple of NTT_LANES */
	unsigned int n_outer;
	struct {
		size_t radix, src, dst;
	} outer[NTT_MAX_OUTER];		/* least significant first */
	const uint16_t *brev;		/* of NTT_MAX_LOG_R bits */

	/* Tables of the implementation's struct tw. */
	const void *tw;			/* w^0 .. w^511, w of order 2^NTT_MAX_LOG_R */
	const void *in_tw;		/* R factors of the input rows, or NULL */
	/*
	 * With mid_tw, a transform by first_tw comes first, and its outputs are
	 * multiplied by the R factors mid_tw; tw's transform takes these.
	 */
	const void *first_tw, *mid_tw;
	const void *out_tw;		/* R factors of the outputs */

	/*
	 * The geometric factor of output k in lane l is start * step^k with
	 *   start = start_base * start_lane^l,  step = step_base * step_lane^l;
	 * with by_outer, start_lane and step_base are first raised to e_0.
	 */
	enum ntt_out out;
	bool by_outer;
	struct fr start_base, start_lane, step_base, step_lane;
};

/* What an implementation offers. */
struct ntt_impl {
	const char *name;
	size_t tw_size;			/* sizeof(struct tw) */
	size_t buffer_size;		/* bytes that a thread lends to run, 64-aligned */
	unsigned int product_factor;	/* a product of two data is short by it */
	void (*tw_fill)(void *tw, const struct fr *factors, size_t n);
	/* groups [begin, end) of ntt_pass_groups() */
	void (*run)(const struct ntt_pass *p, size_t begin, size_t end, void *buffer);
	/* h[i] = (a[i] * b[i] - c[i]) as canonical integers; n a multiple of 8; c may be NULL: 0; h may be any of them */
	void (*product_minus)(struct scalar *h, const struct fr *a, const struct fr *b,
			      const struct fr *c, size_t n);
};

extern const struct ntt_impl ntt_impl_port;
#ifdef CUZK_X86
extern const struct ntt_impl ntt_impl_ifma;
#endif

static inline size_t ntt_pass_groups(const struct ntt_pass *p)
{
	size_t n = p->lanes / NTT_LANES;
	unsigned int i;

	for (i = 0; i < p->n_outer; i++)
		n *= p->outer[i].radix;
	return n;
}

#endif
