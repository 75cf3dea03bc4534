/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* kernels_cs.cu - the kernels that read constraint systems and witnesses */
#include "gpu/cuda/evaluate.cuh"
#include "gpu/cuda/select.cuh"
