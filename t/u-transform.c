/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* u-transform.c - transforms in G1 on the host */
#include <errno.h>

#include "t/transform.h"

/* Runs out of patience at the n-th question. */
struct patience {
	long left;
	uint64_t last, total;
	bool good;		/* progress went up, in one stage */
};

static bool impatient(void *arg)
{
	struct patience *p = arg;

	return p->left >= 0 && p->left-- == 0;
}

static void progress(void *arg, enum gpu_stage stage, uint64_t done, uint64_t total)
{
	struct patience *p = arg;

	p->good &= stage == GPU_STAGE_NTT && done <= total && (!done || done >= p->last);
	p->last = done;
	p->total = total;
}

static void test_refusals(const struct gpu_ops *ops, unsigned int log_n)
{
	struct patience patience = { .left = -1, .good = true };
	struct gpu_config config = {
		.size = sizeof(config), .threads = 1, .cancelled = impatient,
		.progress = progress, .arg = &patience,
	};
	size_t n = (size_t)1 << log_n, i;
	struct g1_affine *points = malloc(n * sizeof(*points)), *old = malloc(n * sizeof(*old));
	struct gpu_stats before, after;
	struct fr factor, base;
	bool same = true;
	struct gpu *gpu;
	char err[256];
	int ret = 0;

	rnd_fr(&factor);
	rnd_fr(&base);
	transform_point(&old[0], &factor);
	for (i = 1; i < n; i++)
		old[i] = old[0];
	memcpy(points, old, n * sizeof(*old));
	if (ops->open(&gpu, &config, err))
		abort();
	ops->stats(gpu, &before);
	ok(ops->transform_g1(gpu, points, 33, &FR_ROOT_7, &factor, &base) == -EINVAL,
	   "2^33 points are refused");
	for (i = 0; i < 1000; i++) {
		patience.left = (long)i;
		ret = ops->transform_g1(gpu, points, log_n, &FR_ROOT_7, &factor, &base);
		if (ret != -ECANCELED)
			break;
		same &= !memcmp(points, old, n * sizeof(*old));
	}
	ok(ret == 0 && i > log_n && memcmp(points, old, n * sizeof(*old)),
	   "cancelled %zu times, then done", i);
	ok(same, "what was cancelled changed nothing");
	ok(patience.good && patience.last == patience.total && patience.total == n + n / 2 * log_n,
	   "progress goes up to %llu", (unsigned long long)patience.total);
	ops->stats(gpu, &after);
	ok(after.host_bytes == before.host_bytes &&
	   after.host_peak >= before.host_bytes + n * sizeof(*points), "memory is given back");
	ops->close(gpu);
	config.host_budget = before.host_bytes + n * sizeof(*points) - 1;
	if (ops->open(&gpu, &config, err))
		abort();
	memcpy(points, old, n * sizeof(*old));
	ok(ops->transform_g1(gpu, points, log_n, &FR_ROOT_7, &factor, &base) == -ENOMEM &&
	   !memcmp(points, old, n * sizeof(*old)), "without room it is refused");
	ops->close(gpu);
	free(points);
	free(old);
}

int main(void)
{
	struct gpu_config config = { .size = sizeof(config), .threads = 3 };
	struct gpu *gpu;
	char err[256];
	struct fr base;
	unsigned int i;

	if (!ok(gpu_cpu_ops.open(&gpu, &config, err) == 0, "open"))
		return tap_done();
	for (i = 0; i < 8; i++)
		transform_test(&gpu_cpu_ops, gpu, gpu, i, "host");
	rnd_fr(&base);
	ok(transform_right(&gpu_cpu_ops, gpu, gpu, 12, TRANSFORM_MIXED, &FR_ROOT_7, &base, &base),
	   "2^12 points");
	gpu_cpu_ops.close(gpu);
	test_refusals(&gpu_cpu_ops, 8);
	return tap_done();
}
