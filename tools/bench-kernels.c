/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* bench-kernels.c - cuzk-bench kernels: arithmetic beside blst, and its share of the peak */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/bls12_381/arch.h"
#include "tools/bench-device.h"
#include "tools/bench-kernel.h"
#include "tools/bench.h"

#define NAME "kernels"

bool kernel_chosen(const struct kernels *set, const char *name)
{
	return !set->only || strstr(name, set->only);
}

static void put_time(double ns)
{
	if (ns < 1e4)
		printf(" %9.2f ns", ns);
	else if (ns < 1e7)
		printf(" %9.2f us", ns / 1e3);
	else
		printf(" %9.2f ms", ns / 1e6);
}

static double measure(const struct kernel *k, bool ref)
{
	bool wall = k->wall && !ref;
	uint64_t start = wall ? bench_ns() : bench_thread_ns();

	k->run(k->arg, ref, k->n);
	return (double)((wall ? bench_ns() : bench_thread_ns()) - start) / k->n;
}

static void print(const struct kernels *set, const struct kernel *k, struct samples *ours,
		  struct samples *ref)
{
	double ns = samples_median(ours), floor = k->fp * set->peak.fp + k->fr * set->peak.fr;

	printf("%-24s", k->name);
	put_time(ns);
	printf(" %6.1f%%", 100 * samples_spread(ours));
	if (k->has_ref) {
		put_time(samples_median(ref));
		printf(" %6.1f%% %7.2f", 100 * samples_spread(ref), samples_median(ref) / ns);
	} else {
		printf(" %12s %7s %7s", "-", "-", "-");
	}
	if (floor > 0)
		printf(" %6.0f%%\n", 100 * floor / ns);
	else
		printf(" %7s\n", "-");
	fflush(stdout);
}

void kernel_measure(struct kernels *set, const struct kernel *k)
{
	struct samples ours = { .n = 0 }, ref = { .n = 0 };
	int i;

	switch (k->check(k->arg)) {
	case CHECK_EQUAL:
		break;
	case CHECK_DIFFERS:
		printf("%-24s WRONG: it differs from the reference\n", k->name);
		set->wrong++;
		return;
	case CHECK_NONE:
		printf("%-24s not checked without blst, so not measured\n", k->name);
		return;
	}
	for (i = 0; i < set->rounds; i++) {
		samples_add(&ours, measure(k, false));
		if (k->has_ref)
			samples_add(&ref, measure(k, true));
	}
	print(set, k, &ours, &ref);
}

/* What a backend of gpu.h does: kernels where they are its own, and whole proofs. */
static int on_device(const char *backend, const char *device, const char *kind,
		     const struct device_sizes *sizes, const char *threads, unsigned int rounds)
{
	struct gpu_config config = { .size = sizeof(config), .device = device };
	int ret = 0;

	if (strcmp(backend, "cpu") && strcmp(backend, "cuda"))
		return ctl_usage(NAME, "--backend: cpu or cuda");
	if (threads)
		config.threads = atoi(threads);
	if (!strcmp(backend, "cuda"))
		ret = device_kernels_cuda(sizes, &config);
	if (!ret && kind)
		ret = device_proofs(backend, &config, kind, rounds);
	return ret;
}

int bench_kernels(struct bench *b, int argc, char **argv)
{
	const char *blst = getenv("CUZK_BLST"), *log = NULL, *log_g2 = NULL, *threads = NULL;
	const char *rounds_text = NULL, *backend = "cpu", *device = NULL, *kind = NULL;
	const char *log_ntt = NULL, *log_transform = NULL;
	struct kernels set = { .rounds = 9 };
	const struct ctl_option options[] = {
		{ "--blst", &blst }, { "--log", &log }, { "--log-g2", &log_g2 },
		{ "--threads", &threads }, { "--rounds", &rounds_text }, { "--only", &set.only },
		{ "--portable", NULL, &set.portable }, { "--backend", &backend },
		{ "--device", &device }, { "--kind", &kind }, { "--log-ntt", &log_ntt },
		{ "--log-transform", &log_transform }, { NULL },
	};
	uint64_t log_n = 16, log_n2 = 14, n = 1, rounds = 9, log_t = 16, log_g = 0;
	struct device_sizes sizes;
	int ret;

	(void)b;
	if (ctl_parse(NAME, argc, argv, options, NULL, NULL, 0) < 0 ||
	    bench_number(NAME, "--log", log, 1, strcmp(backend, "cpu") ? 27 : 26, &log_n) ||
	    bench_number(NAME, "--log-ntt", log_ntt ? log_ntt : log, 1, 28, &log_t) ||
	    bench_number(NAME, "--log-transform", log_transform, 1, 27, &log_g) ||
	    bench_number(NAME, "--log-g2", log_g2 ? log_g2 : log, 1, 26, &log_n2) ||
	    bench_number(NAME, "--threads", threads, 1, 4096, &n) ||
	    bench_number(NAME, "--rounds", rounds_text, 1, BENCH_SAMPLES, &rounds))
		return CTL_USAGE;
	sizes = (struct device_sizes){ log_n, log_n2, log_t, log_g };
	if (strcmp(backend, "cpu") || kind)
		return on_device(backend, device, kind, &sizes, threads, rounds);
	set.log_n = log_n;
	set.log_g2 = log_n2;
	set.threads = n;
	set.rounds = rounds;
	ret = blst_load(blst);
	if (ret)
		return ret;
	if (set.portable)
		bls_set_portable(true);
	peak_measure(&set.peak, set.portable);
	if (set.peak.fp <= 0 || set.peak.fr <= 0)
		return ctl_fail(NAME, "the products of the peak are wrong");
	printf("peak: %s: %.2f ns a product in Fp, %.2f in Fr; %s build; %s\n", set.peak.how,
	       set.peak.fp, set.peak.fr, bls_arch_name(),
	       blst_loaded() ? "beside blst" : "no blst to compare with: see --blst");
	printf("%-24s %12s %7s %12s %7s %7s %7s\n", "kernel", "median", "spread", "blst", "spread",
	       "ratio", "of peak");
	ret = kernels_arith(&set);
	if (!ret)
		ret = kernels_bulk(&set);
	if (!ret && set.wrong)
		ret = ctl_fail(NAME, "%u results are wrong", set.wrong);
	return ret;
}
