/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* cpu.c - gpu.h on the host: the reference, and the default */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "gpu/cpu/cpu.h"
#include "gpu/cpu/evaluate.h"

#define HUGE_PAGE ((uint64_t)2 << 20)

static void progress(void *arg, unsigned int stage, uint64_t done, uint64_t total)
{
	const struct gpu *gpu = arg;

	gpu->config.progress(gpu->config.arg, stage, done, total);
}

static bool cancelled(void *arg)
{
	const struct gpu *gpu = arg;

	return gpu->config.cancelled(gpu->config.arg);
}

static int choose_path(struct gpu *gpu, const char *device, char *err)
{
	bool ifma = cpu_isa_has_ifma() && msm_path_available(MSM_PATH_IFMA);

	if (!device || !*device || !strcmp(device, "cpu")) {
		gpu->isa = cpu_isa_best();
		gpu->path = MSM_PATH_AUTO;
	} else if (!strcmp(device, "portable")) {
		gpu->isa = CPU_ISA_PORTABLE;
		gpu->path = MSM_PATH_PORTABLE;
	} else if (!strcmp(device, "ifma") && ifma) {
		gpu->isa = CPU_ISA_IFMA;
		gpu->path = MSM_PATH_IFMA;
	} else if (!strcmp(device, "ifma")) {
		snprintf(err, 256, "this processor or build has no AVX-512 IFMA");
		return -ENODEV;
	} else {
		snprintf(err, 256, "no host path of the name %.64s: portable, ifma or none", device);
		return -EINVAL;
	}
	return 0;
}

static void cpu_close(struct gpu *gpu)
{
	if (!gpu)
		return;
	ntt_close(gpu->ntt);
	tpool_close(gpu->pool);
	pthread_mutex_destroy(&gpu->stats_lock);
	free(gpu);
}

static int cpu_open(struct gpu **out, const struct gpu_config *config, char *err)
{
	size_t size = config->size < sizeof(*config) ? config->size : sizeof(*config);
	struct gpu *gpu;
	int ret;

	gpu = calloc(1, sizeof(*gpu));
	if (!gpu) {
		snprintf(err, 256, "out of memory");
		return -ENOMEM;
	}
	memcpy(&gpu->config, config, size);
	pthread_mutex_init(&gpu->stats_lock, NULL);
	gpu->ctl.arg = gpu;
	gpu->ctl.progress = gpu->config.progress ? progress : NULL;
	gpu->ctl.cancelled = gpu->config.cancelled ? cancelled : NULL;
	ret = choose_path(gpu, gpu->config.device, err);
	if (ret)
		goto err_close;
	ret = tpool_open(&gpu->pool, gpu->config.threads);
	if (ret) {
		snprintf(err, 256, "starting threads: %s", strerror(-ret));
		goto err_close;
	}
	tpool_set_gate(gpu->pool, gpu->config.gate);
	ret = ntt_open(&gpu->ntt, gpu->pool, gpu->isa, &gpu->ctl);
	if (!ret)
		ret = cpu_reserve(gpu, ntt_bytes(gpu->ntt));
	if (ret) {
		snprintf(err, 256, "tables: %s", strerror(-ret));
		goto err_close;
	}
	gpu->config.device = NULL;	/* the caller's */
	*out = gpu;
	return 0;

err_close:
	cpu_close(gpu);
	return ret;
}

/* Threads of its own: those of gpu stand at the gate meanwhile. */
static int cpu_lane_open(struct gpu *gpu, const struct gpu_config *config, uint64_t device_bytes,
			 struct gpu **lane, char *err)
{
	return cpu_open(lane, config, err);
}

static void cpu_stats(struct gpu *gpu, struct gpu_stats *stats)
{
	pthread_mutex_lock(&gpu->stats_lock);
	*stats = gpu->stats;
	pthread_mutex_unlock(&gpu->stats_lock);
}

int cpu_reserve(struct gpu *gpu, uint64_t bytes)
{
	struct gpu_stats *s = &gpu->stats;
	int err = 0;

	pthread_mutex_lock(&gpu->stats_lock);
	if (gpu->config.host_budget && (bytes > gpu->config.host_budget ||
					s->host_bytes > gpu->config.host_budget - bytes)) {
		err = -ENOMEM;
	} else {
		s->host_bytes += bytes;
		if (s->host_bytes > s->host_peak)
			s->host_peak = s->host_bytes;
	}
	pthread_mutex_unlock(&gpu->stats_lock);
	return err;
}

void cpu_release(struct gpu *gpu, uint64_t bytes)
{
	pthread_mutex_lock(&gpu->stats_lock);
	gpu->stats.host_bytes -= bytes;
	pthread_mutex_unlock(&gpu->stats_lock);
}

void *cpu_alloc(struct gpu *gpu, uint64_t bytes)
{
	uint64_t align = bytes >= HUGE_PAGE ? HUGE_PAGE : 64;
	uint64_t size = (bytes + align - 1) & ~(align - 1);
	void *p;

	if (size < bytes || cpu_reserve(gpu, bytes))
		return NULL;
	p = aligned_alloc(align, size ? size : align);
	if (!p) {
		cpu_release(gpu, bytes);
		return NULL;
	}
	if (align == HUGE_PAGE)
		madvise(p, size, MADV_HUGEPAGE);	/* only for speed */
	return p;
}

void cpu_free(struct gpu *gpu, void *p, uint64_t bytes)
{
	if (!p)
		return;
	free(p);
	cpu_release(gpu, bytes);
}

void cpu_begin(struct gpu *gpu)
{
	atomic_store(&gpu->ctl.stop, false);
}

static int cpu_ntt(struct gpu *gpu, struct fr *data, unsigned int log_n, bool inverse,
		   const struct fr *root, const struct fr *shift)
{
	struct fr *scratch;
	int err;

	if (log_n > NTT_MAX_LOG_N)
		return -EINVAL;
	scratch = cpu_alloc(gpu, sizeof(*scratch) << log_n);
	if (!scratch)
		return -ENOMEM;
	cpu_begin(gpu);
	err = ntt_run(gpu->ntt, data, scratch, log_n, inverse, root, shift);
	cpu_free(gpu, scratch, sizeof(*scratch) << log_n);
	return err;
}

static int cpu_quotient(struct gpu *gpu, struct fr *a, struct fr *b, unsigned int log_n,
			enum gpu_h_basis basis, struct scalar *h)
{
	cpu_begin(gpu);
	return ntt_quotient(gpu->ntt, a, b, log_n, basis, h);
}

/* A set of points for one sum; the caller closes it. */
static int points_once(struct gpu *gpu, enum msm_group group, const void *data, size_t n,
		       struct msm_points **points)
{
	uint64_t bytes = msm_points_bytes(group, n);
	int err;

	err = cpu_reserve(gpu, bytes);
	if (err)
		return err;
	err = msm_points_open(points, group, gpu->path, n, NULL);
	if (!err) {
		err = msm_points_fill(gpu->pool, *points, 0, data, n, MSM_AFFINE, 0, NULL);
		if (err)
			msm_points_close(*points);
	}
	if (err)
		cpu_release(gpu, bytes);
	return err == -EBADMSG ? -EINVAL : err;
}

static void points_close(struct gpu *gpu, struct msm_points *points)
{
	cpu_release(gpu, msm_points_bytes(msm_points_group(points), msm_points_count(points)));
	msm_points_close(points);
}

static int cpu_msm_g1(struct gpu *gpu, const struct g1_affine *data, const struct scalar *scalars,
		      size_t n, struct g1_affine *out)
{
	struct msm_scalars what = { .n = n, .scalar = scalars };
	struct msm_points *points;
	int err;

	err = points_once(gpu, MSM_G1, data, n, &points);
	if (err)
		return err;
	err = msm_g1(gpu->pool, points, &what, out);
	points_close(gpu, points);
	return err;
}

static int cpu_msm_g2(struct gpu *gpu, const struct g2_affine *data, const struct scalar *scalars,
		      size_t n, struct g2_affine *out)
{
	struct msm_scalars what = { .n = n, .scalar = scalars };
	struct msm_points *points;
	int err;

	err = points_once(gpu, MSM_G2, data, n, &points);
	if (err)
		return err;
	err = msm_g2(gpu->pool, points, &what, out);
	points_close(gpu, points);
	return err;
}

static int cpu_mul_base_g1(struct gpu *gpu, const struct g1_affine *base,
			   const struct scalar *scalars, size_t n, uint8_t (*out)[96])
{
	return msm_base_g1(gpu->pool, gpu->path, base, scalars, n, out);
}

static int cpu_mul_base_g2(struct gpu *gpu, const struct g2_affine *base,
			   const struct scalar *scalars, size_t n, uint8_t (*out)[192])
{
	return msm_base_g2(gpu->pool, gpu->path, base, scalars, n, out);
}

static int cpu_op_evaluate(struct gpu *gpu, struct gpu_cs *cs, const struct cs_witness *w,
			   struct fr *a, struct fr *b, struct fr *c, uint64_t *bad_row)
{
	cpu_begin(gpu);
	return cpu_evaluate(cs->cs, w, gpu->isa, gpu->pool, &gpu->ctl, a, b, c, c ? bad_row : NULL);
}

const struct gpu_ops gpu_cpu_ops = {
	.name = "cpu",
	.open = cpu_open,
	.close = cpu_close,
	.stats = cpu_stats,
	.lane_open = cpu_lane_open,
	.cs_load = cpu_cs_load,
	.cs_unload = cpu_cs_unload,
	.srs_load = cpu_srs_load,
	.srs_unload = cpu_srs_unload,
	.srs_memory = cpu_srs_memory,
	.prove_start = cpu_prove_start,
	.prove_finish = cpu_prove_finish,
	.prove_bytes = cpu_prove_bytes,
	.ntt = cpu_ntt,
	.quotient = cpu_quotient,
	.msm_g1 = cpu_msm_g1,
	.msm_g2 = cpu_msm_g2,
	.mul_base_g1 = cpu_mul_base_g1,
	.mul_base_g2 = cpu_mul_base_g2,
	.transform_g1 = cpu_transform_g1,
	.evaluate = cpu_op_evaluate,
};
