/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* bench-cuda-absent.c - a build without CUDA */
#include "tools/bench-device.h"
#include "tools/bench.h"

int device_kernels_cuda(const struct device_sizes *sizes, const struct gpu_config *config)
{
	(void)sizes;
	(void)config;
	return ctl_fail("kernels", "built without CUDA");
}
