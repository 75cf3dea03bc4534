/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* tiles.h - what a block takes of scans, sorts, sums and transforms, for kernels and host */
#ifndef CUZK_GPU_CUDA_TILES_H
#define CUZK_GPU_CUDA_TILES_H

#define SCAN_THREADS 256
#define SCAN_TILE 2048
#define SORT_THREADS 512
#define SORT_TILE 8192
#define MSM_PAIRS_PER_THREAD 4	/* points of a round that a thread pairs */
#define ADD_THREADS 128		/* of the kernels that add points */
#define NTT_LOG_TILE 10
#define NTT_TILE (1 << NTT_LOG_TILE)
#define NTT_THREADS (NTT_TILE / 8)
#define NTT_LOW_BITS 13		/* of a power's exponent, in the low table */

#endif
