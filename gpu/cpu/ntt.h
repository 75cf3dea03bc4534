/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * ntt.h - number-theoretic transforms over Fr on the host
 *
 * A struct ntt holds the small tables and the threads' buffers; it belongs to
 * one thread at a time.  Elements are in Montgomery form.
 *
 * Two orders of the index occur.  Natural; and "digits": n = R_0 R_1 ..., and
 * element (k_0, k_1, ...), k_0 most significant, is number k_0 + R_0 k_1 +
 * R_0 R_1 k_2 + ..., which is what transforms in place leave behind.
 */
#ifndef CUZK_GPU_CPU_NTT_H
#define CUZK_GPU_CPU_NTT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpu/cpu/ctl.h"
#include "gpu/cpu/isa.h"
#include "gpu/gpu.h"
#include "lib/bls12_381/fr.h"
#include "lib/tpool.h"

#define NTT_MAX_LOG_N 32

struct ntt;

/* pool and ctl may be NULL; both are the caller's.  -ENOMEM; -EINVAL: no such isa here. */
int ntt_open(struct ntt **out, struct tpool *pool, enum cpu_isa isa, struct ctl *ctl);
void ntt_close(struct ntt *ntt);
uint64_t ntt_bytes(const struct ntt *ntt);	/* what it holds */
enum cpu_isa ntt_isa(const struct ntt *ntt);

/*
 * gpu.h's ntt().  Natural order in and out; scratch holds 2^log_n elements.
 * -EINVAL: log_n above 32.  -ECANCELED: data is then undefined.
 */
int ntt_run(struct ntt *ntt, struct fr *data, struct fr *scratch, unsigned int log_n,
	    bool inverse, const struct fr *root, const struct fr *shift);

/*
 * gpu.h's quotient().  h holds 2^log_n scalars, also for GPU_H_POWERS, where
 * the last one is 0, and for GPU_H_COSET it may be a.  -EINVAL: log_n above 31.
 * Six transforms, or four (quotient.c).
 */
int ntt_quotient(struct ntt *ntt, struct fr *a, struct fr *b, unsigned int log_n,
		 enum gpu_h_basis basis, struct scalar *h);

#endif
