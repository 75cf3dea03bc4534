/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* bench-nvml.h - NVIDIA's devices: memory in use and busy share */
#ifndef CUZK_TOOLS_BENCH_NVML_H
#define CUZK_TOOLS_BENCH_NVML_H

#include <stdbool.h>
#include <stdint.h>

/* False: no library or no device.  Stays open. */
bool nvml_open(void);
/* Bytes in use on all devices; their mean busy share in the last moments, 0 to 1. */
void nvml_read(uint64_t *used, double *busy);

#endif
