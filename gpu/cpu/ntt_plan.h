/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * ntt_plan.h - chains of passes, shared by ntt.c and quotient.c
 *
 * Below 2^NTT_PLAN_MIN_LOG_N there is no plan: ntt_small() does those.
 */
#ifndef CUZK_GPU_CPU_NTT_PLAN_H
#define CUZK_GPU_CPU_NTT_PLAN_H

#include "gpu/cpu/ntt.h"
#include "gpu/cpu/ntt_pass.h"

#define NTT_PLAN_MIN_LOG_N 6
#define NTT_MAX_PASSES 4

/* A direction and a length: root is of order 2^log_n. */
struct ntt_plan {
	struct ntt *ntt;
	unsigned int log_n, n_pass;
	unsigned int log_r[NTT_MAX_PASSES];
	struct fr root;
	const void *tw;		/* shared by all passes */
};

/* root32 of order 2^32; inverse: by 1/root. */
int ntt_plan_init(struct ntt_plan *plan, struct ntt *ntt, unsigned int log_n,
		  const struct fr *root32, bool inverse);

/* What goes around the sums of a chain; NULL members are 1, no factor, nothing to add. */
struct ntt_around {
	const struct fr *pre;	/* input i times pre^i */
	const struct fr *scale;	/* everything times scale */
	const struct fr *post;	/* output i times post^i */
	const struct fr *src2;	/* input is src * src2 / product factor */
	const struct fr *add;	/* added to the output, in its order */
};

/*
 * A transform in two steps.  All passes but the last from src to work, which
 * may be the same; then the last one, from work to natural order in dst, apart.
 */
int ntt_chain_first(const struct ntt_plan *plan, const struct fr *src, struct fr *work,
		    const struct ntt_around *around);
int ntt_chain_last(const struct ntt_plan *plan, const struct fr *work, struct fr *dst,
		   const struct ntt_around *around);
/*
 * Instead of the last step: last's last pass, times post^i, and all of plan's
 * transform of that, in work and natural order.  What lies between, in the
 * order "digits", never leaves the cache.
 */
int ntt_chain_around(const struct ntt_plan *last, const struct ntt_plan *plan, struct fr *work,
		     const struct ntt_around *around);

/* Any length, in place, by definition's recursion; for the small ones. */
void ntt_small(struct fr *data, unsigned int log_n, const struct fr *root);

const struct ntt_impl *ntt_impl(const struct ntt *ntt);
/* Runs fn on pieces of [0, n); weight elements of progress for each of n.  -ECANCELED. */
int ntt_for(struct ntt *ntt, size_t n, size_t grain, size_t weight,
	    void (*fn)(void *arg, size_t begin, size_t end, void *buffer), void *arg);
struct ctl *ntt_ctl(const struct ntt *ntt);
/* root^(2^(32 - log_n)), of order 2^log_n */
void ntt_root(struct fr *out, const struct fr *root32, unsigned int log_n);

#endif
