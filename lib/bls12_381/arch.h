/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* arch.h - which build of the arithmetic runs on this machine */
#ifndef CUZK_BLS12_381_ARCH_H
#define CUZK_BLS12_381_ARCH_H

#include <stdbool.h>

/* "portable" or "adx" */
const char *bls_arch_name(void);

/*
 * For tests: from now on use the portable build, or the best one again.  Not
 * while another thread calculates.
 */
void bls_set_portable(bool portable);

#endif
