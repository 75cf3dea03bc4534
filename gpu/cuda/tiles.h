/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* tiles.h - what a block takes of scans, sorts and sums, for kernels and host */
#ifndef CUZK_GPU_CUDA_TILES_H
#define CUZK_GPU_CUDA_TILES_H

#define SCAN_THREADS 256
#define SCAN_TILE 2048
#define SORT_THREADS 512
#define SORT_TILE 8192
#define MSM_PAIRS_PER_THREAD 4	/* points of a round that a thread pairs */
#define ADD_THREADS 128		/* of the kernels that add points */

#endif
