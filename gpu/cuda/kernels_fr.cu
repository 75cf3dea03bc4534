/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* kernels_fr.cu - entry points of the scalar-field kernels */
#include "gpu/cuda/field.cuh"
