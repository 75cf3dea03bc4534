/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * select.c - which points the witness asks for, and with what scalars
 *
 * The variables of a sum come inputs first, then aux, those without a point
 * left out (unless the parameters are dense).  Inputs are few: the host makes
 * their part.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/cuda/device.h"

#define THREADS 256

/* The aux variables of a sum (0: all), and its inputs: a density or all or none. */
struct variables {
	CUdeviceptr density;
	uint32_t n_aux;			/* with points */
	const uint64_t *inputs;
	bool all_inputs;
	uint32_t n_inputs;		/* with points */
};

static struct variables variables_of(const struct gpu_cs *g, const struct gpu_srs *srs,
				     enum cuda_vector vector)
{
	const struct cs *cs = g->cs;
	struct variables v = { .n_aux = cs->n_aux };

	if (vector == CUDA_VECTOR_L)
		return v;
	if (srs->dense || vector == CUDA_VECTOR_A) {
		v.all_inputs = true;
		v.n_inputs = cs->n_inputs;
	} else {
		v.inputs = cs->b_input_density;
		v.n_inputs = cs->n_b_input;
	}
	if (!srs->dense) {
		v.density = vector == CUDA_VECTOR_A ? g->a_density : g->b_density;
		v.n_aux = vector == CUDA_VECTOR_A ? cs->n_a_aux : cs->n_b_aux;
	}
	return v;
}

uint64_t cuda_selection_points(const struct gpu_cs *cs, const struct gpu_srs *srs,
			       enum cuda_vector vector)
{
	struct variables v = variables_of(cs, srs, vector);

	return (uint64_t)v.n_inputs + v.n_aux;
}

/* Scalars and indices of the inputs, in front of the others'. */
static int put_inputs(struct gpu *gpu, const struct cs *cs, const struct variables *v,
		      const struct device_witness *w, const struct selection *out)
{
	struct scalar *scalars = malloc((v->n_inputs + 1) * sizeof(*scalars));
	uint32_t *index = malloc((v->n_inputs + 1) * sizeof(*index)), i, n = 0;
	int r = scalars && index ? 0 : -ENOMEM;

	for (i = 0; !r && i < cs->n_inputs && n < v->n_inputs; i++) {
		if (!v->all_inputs && !(v->inputs[i / 64] >> i % 64 & 1))
			continue;
		fr_to_scalar(&scalars[n], &w->host_inputs[i]);
		index[n] = n;
		n++;
	}
	if (!r)
		r = cuda_upload(gpu->upload, out->scalars, scalars, n * sizeof(*scalars));
	if (!r)
		r = cuda_upload(gpu->upload, out->index, index, n * sizeof(*index));
	free(scalars);
	free(index);
	return r;
}

/* Counts of the words, then where each word's begin. */
struct places {
	CUdeviceptr points, ones, fulls, scratch;
};

static int count(struct gpu *gpu, const struct gpu_cs *g, const struct variables *v,
		 const struct device_witness *w, uint32_t n_words, struct places *p)
{
	uint64_t bytes = 4 * ((uint64_t)n_words + 1);
	uint32_t n_aux = g->cs->n_aux;
	struct cuda_ctx *ctx = gpu->ctx;
	int r;

	if ((r = cuda_alloc(ctx, &p->points, bytes)) || (r = cuda_alloc(ctx, &p->ones, bytes)) ||
	    (r = cuda_alloc(ctx, &p->fulls, bytes)) ||
	    (r = cuda_alloc(ctx, &p->scratch, 4 * cuda_scan_scratch(n_words))))
		return r;
	r = CUDA_RUN(ctx, select_count, n_words, THREADS, (void *)&v->density, (void *)&w->bits,
		     (void *)&g->full_map, &n_aux, &n_words, &p->points, &p->ones, &p->fulls);
	if (!r)
		r = cuda_scan(ctx, p->points, p->points, n_words, p->scratch);
	if (!r)
		r = cuda_scan(ctx, p->ones, p->ones, n_words, p->scratch);
	if (!r)
		r = cuda_scan(ctx, p->fulls, p->fulls, n_words, p->scratch);
	return r;
}

static int fill(struct gpu *gpu, const struct gpu_cs *g, const struct variables *v,
		const struct device_witness *w, uint32_t n_words, const struct places *p,
		struct selection *out)
{
	uint32_t n_ones = 0, n_full = 0, first = v->n_inputs, n_aux = g->cs->n_aux;
	struct cuda_ctx *ctx = gpu->ctx;
	int r = 0;

	if (n_words) {
		r = cuda_copy_down(ctx, &n_ones, p->ones + 4 * (uint64_t)n_words, 4);
		if (!r)
			r = cuda_copy_down(ctx, &n_full, p->fulls + 4 * (uint64_t)n_words, 4);
	}
	if (r)
		return r;
	out->n_ones = n_ones;
	out->n = (uint64_t)v->n_inputs + n_full;
	if ((r = cuda_alloc(ctx, &out->ones, 4 * out->n_ones)) ||
	    (r = cuda_alloc(ctx, &out->scalars, sizeof(struct scalar) * out->n)) ||
	    (r = cuda_alloc(ctx, &out->index, 4 * out->n)) ||
	    (r = put_inputs(gpu, g->cs, v, w, out)))
		return r;
	return CUDA_RUN(ctx, select_fill, n_words, THREADS, (void *)&v->density, (void *)&w->bits,
			(void *)&g->full_map, (void *)&g->full_rank, (void *)&w->full, &n_aux,
			&n_words, (void *)&p->points, (void *)&p->ones, (void *)&p->fulls, &first, &first,
			&out->ones, &out->scalars, &out->index);
}

int cuda_select(struct gpu *gpu, const struct gpu_cs *g, const struct gpu_srs *srs,
		const struct device_witness *w, enum cuda_vector vector, struct selection *out)
{
	uint32_t n_words = (g->cs->n_aux + 31) / 32;
	struct variables v = variables_of(g, srs, vector);
	struct places p = { 0 };
	int r;

	memset(out, 0, sizeof(*out));
	r = count(gpu, g, &v, w, n_words, &p);
	if (!r)
		r = fill(gpu, g, &v, w, n_words, &p, out);
	cuda_free(gpu->ctx, p.points);
	cuda_free(gpu->ctx, p.ones);
	cuda_free(gpu->ctx, p.fulls);
	cuda_free(gpu->ctx, p.scratch);
	if (r)
		cuda_selection_free(gpu, out);
	return r;
}

uint64_t cuda_selection_bytes(const struct gpu_cs *g)
{
	const struct cs *cs = g->cs;
	uint64_t n = (uint64_t)cs->n_inputs + cs->n_aux, n_words = (cs->n_aux + 31) / 32;

	return 4 * n + (4 + sizeof(struct scalar)) * ((uint64_t)cs->n_full + cs->n_inputs) +
	       3 * 4 * (n_words + 1) + 4 * cuda_scan_scratch((uint32_t)n_words) + 8 * ARENA_ALIGN;
}

void cuda_selection_free(struct gpu *gpu, struct selection *s)
{
	cuda_free(gpu->ctx, s->ones);
	cuda_free(gpu->ctx, s->scalars);
	cuda_free(gpu->ctx, s->index);
	memset(s, 0, sizeof(*s));
}

int cuda_selection_bounds(struct gpu *gpu, CUdeviceptr index, uint64_t n, uint64_t step,
			  uint32_t count, uint32_t *out)
{
	uint32_t n32 = (uint32_t)n;
	CUdeviceptr bounds;
	int r;

	r = cuda_alloc(gpu->ctx, &bounds, 4 * (uint64_t)count);
	if (!r)
		r = CUDA_RUN(gpu->ctx, select_bounds, count, THREADS, &index, &n32, &step, &count,
			     &bounds);
	if (!r)
		r = cuda_copy_down(gpu->ctx, out, bounds, 4 * (uint64_t)count);
	cuda_free(gpu->ctx, bounds);
	return r;
}
