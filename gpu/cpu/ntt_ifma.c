/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* ntt_ifma.c - the passes of a transform, by AVX-512 IFMA */
#include "lib/bls12_381/ifma_fr.h"
#include "gpu/cpu/ntt_pass_impl.h"

const struct ntt_impl ntt_impl_ifma = {
	.name = "ifma",
	.tw_size = sizeof(struct tw),
	.buffer_size = sizeof(struct fv) << NTT_MAX_LOG_R,
	.product_factor = FV_PRODUCT_FACTOR,
	.tw_fill = tw_fill,
	.run = pass_run,
	.product_minus = product_minus,
};
