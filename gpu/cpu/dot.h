/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* dot.h - sums of products in Fr, the long ones of evaluate.c */
#ifndef CUZK_GPU_CPU_DOT_H
#define CUZK_GPU_CPU_DOT_H

#include <stddef.h>

#include "lib/bls12_381/fr.h"

#define DOT_MAX 64

/* sum = sum of x[i] * y[i], n <= DOT_MAX; both arrays have room for DOT_MAX and may be written */
void dot_port(struct fr *sum, struct fr *x, struct fr *y, size_t n);
#ifdef CUZK_X86
void dot_ifma(struct fr *sum, struct fr *x, struct fr *y, size_t n);
#endif

#endif
