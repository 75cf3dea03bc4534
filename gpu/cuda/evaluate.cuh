/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef CUZK_GPU_CUDA_EVALUATE_CUH
#define CUZK_GPU_CUDA_EVALUATE_CUH
#include "gpu/cuda/ntt.cuh"
#endif
