/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* prove.c - evaluation, quotient and the five sums of one proof */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/cuda/device.h"
#include "gpu/cuda/total.h"

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

static void job_free(struct gpu *gpu, struct gpu_job *job)
{
	struct gpu_job **p;

	for (p = &gpu->jobs; *p && *p != job; p = &(*p)->next)
		;
	if (*p) {
		*p = job->next;
		gpu->n_jobs--;
	}
	cuda_witness_free(gpu, &job->w);
	free(job);
}

static void job_add(struct gpu *gpu, struct gpu_job *job)
{
	struct gpu_job **p;

	for (p = &gpu->jobs; *p; p = &(*p)->next)
		;
	*p = job;
	gpu->n_jobs++;
}

static unsigned int jobs_max(struct gpu *gpu, const struct gpu_cs *cs, const struct gpu_srs *srs)
{
	unsigned int batch = cuda_prove_batch(gpu, cs, srs);

	return batch < CUDA_JOBS ? CUDA_JOBS : batch + 1;
}

int cuda_prove_start(struct gpu *gpu, struct gpu_cs *cs, struct gpu_srs *srs,
		     const struct cs_witness *w, bool check_satisfied, struct gpu_job **out,
		     uint64_t *bad_row)
{
	struct device_traffic before = device_traffic(gpu);
	uint64_t start = cuda_now_ns();
	struct gpu_job *job;
	int r;

	if (!srs_fits(cs, srs))
		return -EINVAL;
	if (gpu->n_jobs >= jobs_max(gpu, cs, srs))
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
		job_free(gpu, job);
		return r;
	}
	job->ns[GPU_STAGE_UPLOAD] = cuda_now_ns() - start;
	device_traffic_add(gpu, &job->traffic, &before, 1);
	/* the stage has the copies in it */
	job->traffic.up_ns = job->ns[GPU_STAGE_UPLOAD];
	job_add(gpu, job);
	*out = job;
	return 0;
}

static int add_msm(struct gpu *gpu, struct cuda_total *t, CUdeviceptr points, CUdeviceptr scalars,
		   CUdeviceptr index, uint64_t n)
{
	union cuda_point p;
	int r = n ? cuda_msm(gpu->ctx, t->group, points, scalars, index, n, &p) : 0;

	if (!r && n)
		cuda_total_add(t, &p);
	return r;
}

static int add_ones(struct gpu *gpu, struct cuda_total *t, CUdeviceptr points, CUdeviceptr ones,
		    uint64_t n)
{
	union cuda_point p;
	int r = n ? cuda_sum(gpu->ctx, t->group, points, ones, n, &p) : 0;

	if (!r && n)
		cuda_total_add(t, &p);
	return r;
}

static void stage_since(struct gpu *gpu, struct gpu_job *job, enum gpu_stage stage, uint64_t start)
{
	job->ns[stage] += cuda_now_ns() - start;
	device_memory(gpu);
}

static int evaluate(struct gpu *gpu, struct gpu_job *job, const struct vectors *v)
{
	uint64_t t = cuda_now_ns();
	int r;

	r = device_progress(gpu, GPU_STAGE_EVALUATE, 0, 1);
	if (!r)
		r = cuda_evaluate(gpu, job->cs, &job->w, v->a, v->b, 0, NULL);
	stage_since(gpu, job, GPU_STAGE_EVALUATE, t);
	return r;
}

/* a and b to h, or where there is none to a, in the order of the points */
static int make_h(struct gpu *gpu, struct gpu_job *job, const struct vectors *v)
{
	unsigned int log_n = job->cs->cs->log_domain;
	const struct gpu_srs *srs = job->srs;
	uint64_t t = cuda_now_ns();
	int r;

	r = device_progress(gpu, GPU_STAGE_NTT, 0, 1);
	if (!r)
		r = cuda_quotient(gpu->ntt, v->a, v->b, v->h ? v->h : v->a, log_n, srs->h_basis);
	/* points that stay on the device lie in its order, others in their own */
	if (!r && !srs->resident[CUDA_VECTOR_H] && srs->h_basis == GPU_H_POWERS)
		r = cuda_ntt_reverse(gpu->ntt, v->h, log_n);
	if (!r)
		r = cuda_wait(gpu->ctx);
	stage_since(gpu, job, GPU_STAGE_NTT, t);
	return r;
}

/* One sum over the witness; out: g1_affine or g2_affine. */
static int sum_witness(struct gpu *gpu, struct gpu_job *job, enum gpu_stage stage,
		       enum cuda_vector vector, struct selection *s, void *out)
{
	CUdeviceptr points = job->srs->points[vector];
	uint64_t t = cuda_now_ns();
	struct cuda_total total;
	int r;

	cuda_total_init(&total, cuda_vector_group(vector));
	r = device_progress(gpu, stage, 0, 1);
	if (!r && !s->scalars)
		r = cuda_select(gpu, job->cs, job->srs, &job->w, vector, s);
	if (!r)
		r = add_ones(gpu, &total, points, s->ones, s->n_ones);
	if (!r)
		r = add_msm(gpu, &total, points, s->scalars, s->index, s->n);
	if (!r)
		cuda_total_get(&total, out);
	stage_since(gpu, job, stage, t);
	return r;
}

/* Where points stay, there is nothing to share with others. */
static int sum_others(struct gpu *gpu, struct gpu_job *job)
{
	struct gpu_sums *sums = &job->sums;
	struct selection s = { 0 };
	int r;

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
	job->has_others = !r;
	return r;
}

/*
 * Where all points stay and there is room, the sums over the witness are made
 * beside the quotient; who is done with that takes windows of the sum over h.
 */
struct together {
	struct gpu_job *job;
	pthread_mutex_t lock;		/* protects the rest */
	pthread_cond_t told;
	bool ready;			/* windows are there, or never will be */
	struct cuda_windows *windows;
};

static void tell_windows(struct together *t, struct cuda_windows *windows)
{
	pthread_mutex_lock(&t->lock);
	t->windows = windows;
	t->ready = true;
	pthread_cond_signal(&t->told);
	pthread_mutex_unlock(&t->lock);
}

static struct cuda_windows *await_windows(struct together *t)
{
	struct cuda_windows *windows;

	pthread_mutex_lock(&t->lock);
	while (!t->ready)
		pthread_cond_wait(&t->told, &t->lock);
	windows = t->windows;
	pthread_mutex_unlock(&t->lock);
	return windows;
}

/* On the side's thread.  What it has no room for, finish() and the other do. */
static int run_beside(struct gpu *side, void *arg)
{
	struct together *t = arg;
	struct cuda_windows *windows;
	int r = sum_others(side, t->job);

	windows = await_windows(t);
	if (!r && windows)
		r = cuda_windows_work(windows, side->ctx);
	return r == -ENOMEM ? 0 : r;
}

/* For the side: selections of a vector, and the largest of its sums; 0: there is no room. */
static uint64_t beside_bytes(struct gpu *gpu, const struct gpu_job *job)
{
	const struct gpu_srs *srs = job->srs;
	uint64_t h = cuda_windows_bytes(gpu->ctx, CUDA_G1, srs->n[CUDA_VECTOR_H]), most = h, bytes;
	uint64_t selection = cuda_selection_bytes(job->cs);
	int v;

	for (v = CUDA_VECTOR_L; v < CUDA_VECTOR_N; v++) {
		bytes = cuda_sum_bytes(gpu->ctx, cuda_vector_group(v), srs->n[v]) + selection;
		most = bytes > most ? bytes : most;
	}
	if (!gpu->side || srs->streamed || cuda_arena_largest(gpu->ctx->arena) < most + h)
		return 0;
	return most;
}

static int sum_windows(struct gpu *gpu, struct together *t, CUdeviceptr h, struct g1_affine *out)
{
	const struct gpu_srs *srs = t->job->srs;
	uint64_t n = srs->n[CUDA_VECTOR_H];
	struct cuda_windows w;
	int r, beside;

	r = cuda_windows_open(&w, gpu->ctx, CUDA_G1, srs->points[CUDA_VECTOR_H], h, 0, (uint32_t)n, 2);
	tell_windows(t, r ? NULL : &w);
	if (!r)
		cuda_windows_work(&w, gpu->ctx);
	beside = cuda_side_join(gpu->side);
	if (r)
		return r;
	r = beside ? beside : cuda_windows_sum(&w, out);
	cuda_windows_close(&w, gpu->ctx);
	return r;
}

static int sum_resident(struct gpu *gpu, const struct gpu_srs *srs, CUdeviceptr h,
			struct g1_affine *out)
{
	struct cuda_total total;
	int r;

	cuda_total_init(&total, CUDA_G1);
	r = device_progress(gpu, GPU_STAGE_MSM_H, 0, srs->n[CUDA_VECTOR_H]);
	if (!r)
		r = add_msm(gpu, &total, srs->points[CUDA_VECTOR_H], h, 0, srs->n[CUDA_VECTOR_H]);
	if (!r)
		cuda_total_get(&total, out);
	return r;
}

/* The quotient and the sum over it by one stream. */
static int sum_alone(struct gpu *gpu, struct gpu_job *job, struct vectors *v, struct g1_affine *sum)
{
	const struct gpu_srs *srs = job->srs;
	struct cuda_feed feed = { NULL };
	uint64_t t;
	int r;

	/* before the points: what it sends is little, and would wait for all of theirs */
	r = evaluate(gpu, job, v);
	if (!r && !srs->resident[CUDA_VECTOR_H])
		r = cuda_stream_begin(gpu, srs, &feed);
	/* no room beside the vectors: the first points come when two of them are gone */
	if (r == -ENOMEM)
		r = 0;
	if (!r)
		r = make_h(gpu, job, v);
	/* the scalars of the rearranged basis take the place of a */
	if (!v->h)
		v->h = v->a;
	else
		cuda_free(gpu->ctx, v->a);
	cuda_free(gpu->ctx, v->b);
	v->a = v->b = 0;
	t = cuda_now_ns();
	if (!r && !srs->resident[CUDA_VECTOR_H] && !feed.gpu)
		r = cuda_stream_begin(gpu, srs, &feed);
	if (!r)
		r = srs->resident[CUDA_VECTOR_H] ? sum_resident(gpu, srs, v->h, sum) :
						   cuda_stream_h(gpu, srs, &feed, v->h, sum);
	stage_since(gpu, job, GPU_STAGE_MSM_H, t);
	if (feed.gpu)
		cuda_feed_close(&feed);
	return r;
}

/* v: as vectors_alloc() made them; bytes: beside_bytes(). */
static int sum_together(struct gpu *gpu, struct gpu_job *job, struct vectors *v, uint64_t bytes,
			struct g1_affine *sum)
{
	struct together t = { .job = job };
	uint64_t start;
	int r;

	pthread_mutex_init(&t.lock, NULL);
	pthread_cond_init(&t.told, NULL);
	if (cuda_side_start(gpu->side, bytes, run_beside, &t)) {
		r = sum_alone(gpu, job, v, sum);
		goto out;
	}
	gpu->n_together++;
	r = evaluate(gpu, job, v);
	if (!r)
		r = make_h(gpu, job, v);
	start = cuda_now_ns();
	if (!r)
		r = device_progress(gpu, GPU_STAGE_MSM_H, 0, job->srs->n[CUDA_VECTOR_H]);
	if (!r) {
		r = sum_windows(gpu, &t, v->h ? v->h : v->a, sum);
	} else {
		tell_windows(&t, NULL);
		cuda_side_join(gpu->side);
	}
	stage_since(gpu, job, GPU_STAGE_MSM_H, start);
out:
	pthread_cond_destroy(&t.told);
	pthread_mutex_destroy(&t.lock);
	return r;
}

/* h = the sum over the quotient: the only stages with vectors as long as the domain */
static int sum_h(struct gpu *gpu, struct gpu_job *job, struct g1_affine *sum)
{
	struct vectors v;
	uint64_t bytes;
	int r;

	r = vectors_alloc(gpu, job->cs->cs, job->srs->h_basis == GPU_H_COSET, &v);
	if (r)
		return r;
	bytes = beside_bytes(gpu, job);
	r = bytes ? sum_together(gpu, job, &v, bytes, sum) : sum_alone(gpu, job, &v, sum);
	vectors_free(gpu, &v);
	return r;
}

int cuda_prove_work(struct gpu *gpu, struct gpu_job *job)
{
	struct cuda_ctx *ctx = gpu->ctx;
	struct device_traffic before = device_traffic(gpu);
	int r = job->status;

	if (r || job->has_h)
		return r;
	r = cuda_ctx_enter(ctx);
	if (!r)
		r = sum_h(gpu, job, &job->sums.h);
	job->has_h = !r;
	job->status = r;
	device_traffic_add(gpu, &job->traffic, &before, 1);
	return r;
}

static int finish(struct gpu *gpu, struct gpu_job *job)
{
	struct cuda_ctx *ctx = gpu->ctx;
	struct device_traffic before = device_traffic(gpu);
	int r;

	if (job->has_others)
		return 0;
	r = cuda_ctx_enter(ctx);
	/* one that was cancelled since is not worth a pass over the points */
	if (!r)
		r = device_progress(gpu, GPU_STAGE_MSM_L, 0, 1);
	if (r)
		return r;
	if (job->srs->streamed)
		return cuda_joint_sums(gpu, job);
	r = sum_others(gpu, job);
	device_traffic_add(gpu, &job->traffic, &before, 1);
	return r;
}

int cuda_prove_finish(struct gpu *gpu, struct gpu_job *job, struct gpu_sums *out)
{
	struct gpu_sums sums;
	int r;

	r = cuda_prove_work(gpu, job);
	if (!r)
		r = finish(gpu, job);
	sums = job->sums;
	pthread_mutex_lock(&gpu->stats_lock);
	memcpy(gpu->stats.ns, job->ns, sizeof(job->ns));
	gpu->stats.bytes_up = job->traffic.bytes_up;
	gpu->stats.bytes_down = job->traffic.bytes_down;
	gpu->stats.up_ns = job->traffic.up_ns;
	pthread_mutex_unlock(&gpu->stats_lock);
	job_free(gpu, job);
	device_memory(gpu);
	if (!r)
		*out = sums;
	return r;
}

/*
 * Of the host: nothing that grows with the system.  Of the device: the vectors and
 * the witness; the rest is in what the vectors leave when they go.
 */
void cuda_prove_bytes(struct gpu *gpu, const struct cs *cs, uint64_t *host, uint64_t *device)
{
	*host = cs->n_inputs * sizeof(struct fr);
	*device = (3 * sizeof(struct fr) << cs->log_domain) + cs->n_aux / 8 +
		  ((uint64_t)cs->n_full + cs->n_inputs) * sizeof(struct fr);
}
