/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* prove.c - evaluation, quotient and the five sums of one proof */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/cuda/device.h"

struct gpu_job {
	struct gpu_cs *cs;
	struct gpu_srs *srs;
	struct device_witness w;
	uint64_t upload_ns;
	uint64_t bytes_up;
};

/* Vectors over the domain; when the quotient is made, only the scalars of h stay. */
struct vectors {
	CUdeviceptr a, b, h;
};

static void vectors_free(struct gpu *gpu, struct vectors *v)
{
	cuda_free(gpu->ctx, v->a);
	cuda_free(gpu->ctx, v->b);
	cuda_free(gpu->ctx, v->h);
	memset(v, 0, sizeof(*v));
}

/* two: without h */
static int vectors_alloc(struct gpu *gpu, const struct cs *cs, bool two, struct vectors *v)
{
	uint64_t bytes = sizeof(struct fr) << cs->log_domain;
	int r;

	memset(v, 0, sizeof(*v));
	if ((r = cuda_alloc(gpu->ctx, &v->a, bytes)) || (r = cuda_alloc(gpu->ctx, &v->b, bytes)) ||
	    (!two && (r = cuda_alloc(gpu->ctx, &v->h, bytes))))
		vectors_free(gpu, v);
	return r;
}

/* The parameters are of this system. */
static bool srs_fits(const struct gpu_cs *cs, const struct gpu_srs *srs)
{
	uint64_t n_h = (UINT64_C(1) << cs->cs->log_domain) - (srs->h_basis == GPU_H_POWERS);
	int i;

	if (srs->n[CUDA_VECTOR_H] != n_h)
		return false;
	for (i = CUDA_VECTOR_L; i < CUDA_VECTOR_N; i++)
		if (srs->n[i] != cuda_selection_points(cs, srs, i))
			return false;
	return true;
}

static int check_rows(struct gpu *gpu, const struct gpu_job *job, uint64_t *bad_row)
{
	uint64_t bad = UINT64_MAX;
	struct vectors v;
	int r;

	r = vectors_alloc(gpu, job->cs->cs, true, &v);
	if (!r)
		r = cuda_evaluate(gpu, job->cs, &job->w, v.a, v.b, 0, &bad);
	vectors_free(gpu, &v);
	if (!r && bad != UINT64_MAX) {
		*bad_row = bad;
		r = -EDOM;
	}
	return r;
}

int cuda_prove_start(struct gpu *gpu, struct gpu_cs *cs, struct gpu_srs *srs,
		     const struct cs_witness *w, bool check_satisfied, struct gpu_job **out,
		     uint64_t *bad_row)
{
	uint64_t up = gpu->ctx->bytes_up, start = device_now_ns();
	struct gpu_job *job;
	int r;

	if (!srs_fits(cs, srs))
		return -EINVAL;
	if (gpu->n_jobs == CUDA_JOBS)
		return -EAGAIN;
	r = cuda_ctx_enter(gpu->ctx);
	if (!r)
		r = device_progress(gpu, GPU_STAGE_UPLOAD, 0, 1);
	if (r)
		return r;
	job = calloc(1, sizeof(*job));
	if (!job)
		return -ENOMEM;
	job->cs = cs;
	job->srs = srs;
	r = cuda_witness_load(gpu, cs, w, &job->w);
	if (!r && check_satisfied)
		r = check_rows(gpu, job, bad_row);
	if (!r)
		r = cuda_wait(gpu->ctx);
	if (r) {
		cuda_witness_free(gpu, &job->w);
		free(job);
		return r;
	}
	job->upload_ns = device_now_ns() - start;
	job->bytes_up = gpu->ctx->bytes_up - up;
	gpu->n_jobs++;
	*out = job;
	return 0;
}

/* A running sum in either group. */
struct total {
	enum cuda_group group;
	struct g1 g1;
	struct g2 g2;
};

static void total_init(struct total *t, enum cuda_group group)
{
	t->group = group;
	g1_set_infinity(&t->g1);
	g2_set_infinity(&t->g2);
}

static void total_get(const struct total *t, void *out)
{
	if (t->group == CUDA_G1)
		g1_to_affine(out, &t->g1);
	else
		g2_to_affine(out, &t->g2);
}

union point {
	struct g1_affine g1;
	struct g2_affine g2;
};

static void total_add(struct total *t, const union point *p)
{
	if (t->group == CUDA_G1)
		g1_add_affine(&t->g1, &t->g1, &p->g1);
	else
		g2_add_affine(&t->g2, &t->g2, &p->g2);
}

static int add_msm(struct gpu *gpu, struct total *t, CUdeviceptr points, CUdeviceptr scalars,
		   CUdeviceptr index, uint64_t n)
{
	union point p;
	int r = n ? cuda_msm(gpu->ctx, t->group, points, scalars, index, n, &p) : 0;

	if (!r && n)
		total_add(t, &p);
	return r;
}

static int add_ones(struct gpu *gpu, struct total *t, CUdeviceptr points, CUdeviceptr ones,
		    uint64_t n)
{
	union point p;
	int r = n ? cuda_sum(gpu->ctx, t->group, points, ones, n, &p) : 0;

	if (!r && n)
		total_add(t, &p);
	return r;
}

/* The sum over h, which is in the order of the points. */
static int sum_dense(struct gpu *gpu, const struct gpu_srs *srs, CUdeviceptr h,
		     struct g1_affine *out)
{
	uint64_t first, n;
	struct cuda_feed feed;
	struct total total;
	CUdeviceptr base;
	int r;

	total_init(&total, CUDA_G1);
	r = cuda_feed_open(&feed, gpu, srs, CUDA_VECTOR_H);
	if (r)
		return r;
	while (!(r = cuda_feed_next(&feed, &first, &n, &base)) && n) {
		r = device_progress(gpu, GPU_STAGE_MSM_H, first, feed.n);
		if (!r)
			r = add_msm(gpu, &total, base + first * feed.size,
				    h + first * sizeof(struct fr), 0, n);
		if (r)
			break;
	}
	cuda_feed_close(&feed);
	if (!r)
		total_get(&total, out);
	return r;
}

/* h = the sum over the quotient: the only stages with vectors as long as the domain */
static int sum_h(struct gpu *gpu, const struct gpu_job *job, struct g1_affine *sum)
{
	unsigned int log_n = job->cs->cs->log_domain;
	const struct gpu_srs *srs = job->srs;
	/* the scalars of this basis take the place of a */
	bool two = srs->h_basis == GPU_H_COSET;
	uint64_t t = device_now_ns();
	struct vectors v;
	int r;

	r = vectors_alloc(gpu, job->cs->cs, two, &v);
	if (r)
		return r;
	r = device_progress(gpu, GPU_STAGE_EVALUATE, 0, 1);
	if (!r)
		r = cuda_evaluate(gpu, job->cs, &job->w, v.a, v.b, 0, NULL);
	device_stage(gpu, GPU_STAGE_EVALUATE, device_now_ns() - t);
	if (!r)
		r = device_progress(gpu, GPU_STAGE_NTT, 0, 1);
	t = device_now_ns();
	if (!r)
		r = cuda_quotient(gpu->ntt, v.a, v.b, two ? v.a : v.h, log_n, srs->h_basis);
	/* points that stay on the device lie in its order, others in their own */
	if (!r && !srs->points[CUDA_VECTOR_H] && srs->h_basis == GPU_H_POWERS)
		r = cuda_ntt_reverse(gpu->ntt, v.h, log_n);
	if (!r)
		r = cuda_wait(gpu->ctx);
	device_stage(gpu, GPU_STAGE_NTT, device_now_ns() - t);
	if (two)
		v.h = v.a;
	else
		cuda_free(gpu->ctx, v.a);
	cuda_free(gpu->ctx, v.b);
	v.a = v.b = 0;
	t = device_now_ns();
	if (!r)
		r = sum_dense(gpu, srs, v.h, sum);
	device_stage(gpu, GPU_STAGE_MSM_H, device_now_ns() - t);
	vectors_free(gpu, &v);
	return r;
}

/* Where a selection's indices pass from one piece of the points to the next. */
struct bounds {
	uint32_t *ones, *index;		/* behind piece k */
};

static int bounds_get(struct gpu *gpu, const struct cuda_feed *feed, const struct selection *s,
		      struct bounds *b)
{
	uint32_t pieces = feed->n ? (feed->n + feed->piece - 1) / feed->piece : 0;
	int r = 0;

	b->ones = calloc(2 * (size_t)pieces + 1, sizeof(*b->ones));
	if (!b->ones)
		return -ENOMEM;
	b->index = b->ones + pieces;
	if (pieces == 1) {
		b->ones[0] = (uint32_t)s->n_ones;
		b->index[0] = (uint32_t)s->n;
	} else if (pieces) {
		r = cuda_selection_bounds(gpu, s->ones, s->n_ones, feed->piece, pieces, b->ones);
		if (!r)
			r = cuda_selection_bounds(gpu, s->index, s->n, feed->piece, pieces,
						  b->index);
	}
	if (r)
		free(b->ones);
	return r;
}

static int sum_pieces(struct gpu *gpu, struct cuda_feed *feed, enum gpu_stage stage,
		      const struct selection *s, struct total *total)
{
	uint64_t first, n, one = 0, at = 0;
	CUdeviceptr base;
	struct bounds b;
	size_t k;
	int r;

	r = bounds_get(gpu, feed, s, &b);
	if (r)
		return r;
	for (k = 0; !(r = cuda_feed_next(feed, &first, &n, &base)) && n; k++) {
		r = device_progress(gpu, stage, first, feed->n);
		if (!r)
			r = add_ones(gpu, total, base, s->ones + 4 * one, b.ones[k] - one);
		if (!r)
			r = add_msm(gpu, total, base, s->scalars + sizeof(struct scalar) * at,
				    s->index + 4 * at, b.index[k] - at);
		if (r)
			break;
		one = b.ones[k];
		at = b.index[k];
	}
	free(b.ones);
	return r;
}

/* One sum over a selection of the witness; out: g1_affine or g2_affine. */
static int sum_selection(struct gpu *gpu, const struct gpu_srs *srs, enum cuda_vector vector,
			 enum gpu_stage stage, const struct selection *s, void *out)
{
	struct cuda_feed feed;
	struct total total;
	int r;

	total_init(&total, cuda_vector_group(vector));
	r = cuda_feed_open(&feed, gpu, srs, vector);
	if (r)
		return r;
	r = sum_pieces(gpu, &feed, stage, s, &total);
	cuda_feed_close(&feed);
	if (!r)
		total_get(&total, out);
	return r;
}

static int sum_witness(struct gpu *gpu, const struct gpu_job *job, enum gpu_stage stage,
		       enum cuda_vector vector, struct selection *s, void *out)
{
	uint64_t t = device_now_ns();
	int r;

	r = device_progress(gpu, stage, 0, 1);
	if (!r && !s->scalars)
		r = cuda_select(gpu, job->cs, job->srs, &job->w, vector, s);
	if (!r)
		r = sum_selection(gpu, job->srs, vector, stage, s, out);
	device_stage(gpu, stage, device_now_ns() - t);
	return r;
}

static int sum_all(struct gpu *gpu, const struct gpu_job *job, struct gpu_sums *sums)
{
	struct selection s = { 0 };
	int r;

	r = sum_h(gpu, job, &sums->h);
	if (!r)
		r = sum_witness(gpu, job, GPU_STAGE_MSM_L, CUDA_VECTOR_L, &s, &sums->l);
	cuda_selection_free(gpu, &s);
	if (!r)
		r = sum_witness(gpu, job, GPU_STAGE_MSM_A, CUDA_VECTOR_A, &s, &sums->a);
	cuda_selection_free(gpu, &s);
	/* both sums of B take the same points' places and scalars */
	if (!r)
		r = sum_witness(gpu, job, GPU_STAGE_MSM_B1, CUDA_VECTOR_B1, &s, &sums->b1);
	if (!r)
		r = sum_witness(gpu, job, GPU_STAGE_MSM_B2, CUDA_VECTOR_B2, &s, &sums->b2);
	cuda_selection_free(gpu, &s);
	return r;
}

int cuda_prove_finish(struct gpu *gpu, struct gpu_job *job, struct gpu_sums *out)
{
	struct cuda_ctx *ctx = gpu->ctx;
	uint64_t up = ctx->bytes_up, down = ctx->bytes_down;
	struct gpu_sums sums;
	int r;

	pthread_mutex_lock(&gpu->stats_lock);
	memset(gpu->stats.ns, 0, sizeof(gpu->stats.ns));
	pthread_mutex_unlock(&gpu->stats_lock);
	device_stage(gpu, GPU_STAGE_UPLOAD, job->upload_ns);
	r = cuda_ctx_enter(ctx);
	if (!r)
		r = sum_all(gpu, job, &sums);
	cuda_witness_free(gpu, &job->w);
	pthread_mutex_lock(&gpu->stats_lock);
	gpu->stats.bytes_up = job->bytes_up + ctx->bytes_up - up;
	gpu->stats.bytes_down = ctx->bytes_down - down;
	pthread_mutex_unlock(&gpu->stats_lock);
	device_stage(gpu, GPU_STAGE_IDLE, 0);
	gpu->n_jobs--;
	free(job);
	if (!r)
		*out = sums;
	return r;
}
