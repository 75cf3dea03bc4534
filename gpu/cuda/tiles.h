/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* tiles.h - what a block of the scans and the sorts takes, for kernels and host */
#ifndef CUZK_GPU_CUDA_TILES_H
#define CUZK_GPU_CUDA_TILES_H

#define SCAN_THREADS 256
#define SCAN_TILE 2048
#define SORT_THREADS 512
#define SORT_TILE 8192

#endif
