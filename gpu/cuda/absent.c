/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* absent.c - the CUDA backend of a build without one */
#include "gpu/gpu.h"

const struct gpu_ops *gpu_cuda_ops(void)
{
	return NULL;
}
