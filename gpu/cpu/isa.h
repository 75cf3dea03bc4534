/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * isa.h - which of the twin implementations to run
 *
 * Every vector path has a portable twin that gives the same bytes.  Callers
 * take the answer once, at open, and hand it down; tests force either.
 */
#ifndef CUZK_GPU_CPU_ISA_H
#define CUZK_GPU_CPU_ISA_H

#include <stdbool.h>

enum cpu_isa {
	CPU_ISA_PORTABLE,
	CPU_ISA_IFMA,		/* AVX-512 F, DQ, VL and IFMA: 8 lanes of 5 x 52 bits */
};

static inline bool cpu_isa_has_ifma(void)
{
#ifdef CUZK_X86
	return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
	       __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512ifma");
#else
	return false;
#endif
}

static inline enum cpu_isa cpu_isa_best(void)
{
	return cpu_isa_has_ifma() ? CPU_ISA_IFMA : CPU_ISA_PORTABLE;
}

#endif
