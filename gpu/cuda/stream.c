/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* stream.c - the sum over h, whose points come from the host */
#include "gpu/cuda/device.h"

static const enum cuda_vector only_h[] = { CUDA_VECTOR_H };

int cuda_stream_begin(struct gpu *gpu, const struct gpu_srs *srs, struct cuda_feed *feed)
{
	return cuda_feed_open(feed, gpu, srs, only_h, 1, srs->h_piece * cuda_point_size(CUDA_G1));
}

static int add_pieces(struct gpu *gpu, const struct gpu_srs *srs, struct cuda_feed *feed,
		      struct cuda_pieces *sum, CUdeviceptr h)
{
	struct cuda_piece p;
	int r;

	do {
		r = cuda_feed_next(feed, &p);
		if (!r)
			r = device_progress(gpu, GPU_STAGE_MSM_H, p.first, srs->n[CUDA_VECTOR_H]);
		if (!r)
			r = cuda_pieces_add(sum, gpu->ctx, p.base + p.first * p.size,
					    h + p.first * sizeof(struct fr), p.n);
	} while (!r && p.first + p.n < srs->n[CUDA_VECTOR_H]);
	return r;
}

int cuda_stream_h(struct gpu *gpu, const struct gpu_srs *srs, struct cuda_feed *feed,
		  CUdeviceptr h, struct g1_affine *out)
{
	struct cuda_pieces sum;
	uint64_t piece = srs->piece && srs->piece < srs->h_piece ? srs->piece : srs->h_piece;
	int r;

	r = cuda_pieces_open(&sum, gpu->ctx, srs->n[CUDA_VECTOR_H], piece);
	if (r)
		return r;
	r = add_pieces(gpu, srs, feed, &sum, h);
	if (!r)
		r = cuda_pieces_sum(&sum, gpu->ctx, out);
	cuda_pieces_close(&sum, gpu->ctx);
	return r;
}
