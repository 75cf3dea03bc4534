/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* bench-device.h - what a device does, kernel by kernel and in whole proofs */
#ifndef CUZK_TOOLS_BENCH_DEVICE_H
#define CUZK_TOOLS_BENCH_DEVICE_H

#include "gpu/gpu.h"

/* Logarithms of the largest of each; transform 0: none. */
struct device_sizes {
	unsigned int g1, g2, ntt, transform;
};

/* bench-cuda.c, or without CUDA bench-cuda-absent.c: prints a line each. 0 or an exit status. */
int device_kernels_cuda(const struct device_sizes *sizes, const struct gpu_config *config);

/*
 * bench-device.c: evaluation and proofs of a kind on a device, with parameters
 * made on it.  backend: "cpu" or "cuda".  Every result is checked.
 */
int device_proofs(const char *backend, const struct gpu_config *config, const char *kind,
		  unsigned int rounds);

#endif
