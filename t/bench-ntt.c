/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * bench-ntt.c - transforms and quotients on one thread, against a plain radix-2
 * transform over blst's field in the same run
 *
 * bench-ntt [LOG_N [REPEATS]].  Results are compared before they are timed;
 * times are CPU time of the thread in ms: name, min, avg, max, ratio to blst.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "gpu/cpu/ntt.h"
#include "t/blst.h"

static void (*blst_fr_mul)(struct fr *r, const struct fr *a, const struct fr *b);
static void (*blst_fr_add)(struct fr *r, const struct fr *a, const struct fr *b);
static void (*blst_fr_sub)(struct fr *r, const struct fr *a, const struct fr *b);

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1e3 + t.tv_nsec * 1e-6;
}

static struct fr *vector(size_t n)
{
	size_t size = (n * sizeof(struct fr) + (2 << 20) - 1) & ~(size_t)((2 << 20) - 1);
	struct fr *p = aligned_alloc(2 << 20, size);

	if (!p) {
		fprintf(stderr, "out of memory\n");
		exit(1);
	}
	madvise(p, size, MADV_HUGEPAGE);
	memset(p, 0, size);
	return p;
}

/* Decimation in time with a table of all roots; natural order in and out. */
static void radix2(struct fr *d, size_t n, const struct fr *w)
{
	size_t i, j, m;

	for (i = 1, j = 0; i < n; i++) {
		for (m = n / 2; j & m; m /= 2)
			j ^= m;
		j ^= m;
		if (i < j) {
			struct fr t = d[i];

			d[i] = d[j];
			d[j] = t;
		}
	}
	for (m = 1; m < n; m *= 2) {
		for (i = 0; i < n; i += 2 * m) {
			for (j = 0; j < m; j++) {
				struct fr t;

				blst_fr_mul(&t, &d[i + j + m], &w[j * (n / 2 / m)]);
				blst_fr_sub(&d[i + j + m], &d[i + j], &t);
				blst_fr_add(&d[i + j], &d[i + j], &t);
			}
		}
	}
}

struct timing {
	double min, sum, max;
	int n;
};

static void timing_add(struct timing *t, double ms)
{
	if (!t->n || ms < t->min)
		t->min = ms;
	if (ms > t->max)
		t->max = ms;
	t->sum += ms;
	t->n++;
}

static void timing_print(const char *name, const struct timing *t, const struct timing *blst)
{
	printf("%-24s %10.3f %10.3f %10.3f ms   %.2f\n", name, t->min, t->sum / t->n, t->max,
	       blst->min / t->min);
}

int main(int argc, char **argv)
{
	static const enum cpu_isa isas[] = { CPU_ISA_PORTABLE, CPU_ISA_IFMA };
	static const char *const names[] = { "portable", "ifma" };
	unsigned int log_n = argc > 1 ? strtoul(argv[1], NULL, 10) : 18, i;
	int repeats = argc > 2 ? atoi(argv[2]) : 7, r;
	struct timing blst = { 0 }, t[2] = { { 0 } }, quotient[2] = { { 0 } };
	struct fr *in, *want, *got, *scratch, *h, *roots, w, x;
	struct ntt *ntt[2] = { NULL };
	double start;
	size_t n, k;

	if (log_n < 1 || log_n > 26 || repeats < 1) {
		fprintf(stderr, "usage: %s [LOG_N, 1 to 26 [REPEATS]]\n", argv[0]);
		return 2;
	}
	if (!blst_open()) {
		fprintf(stderr, "no blst to compare with: %s\n", blst_why_not);
		return 1;
	}
	blst_fr_mul = blst_symbol("blst_fr_mul");
	blst_fr_add = blst_symbol("blst_fr_add");
	blst_fr_sub = blst_symbol("blst_fr_sub");
	n = (size_t)1 << log_n;
	in = vector(n);
	want = vector(n);
	got = vector(n);
	scratch = vector(n);
	h = vector(n);
	roots = vector(n / 2);
	fr_from_u64(&x, 12345);
	for (k = 0, w = x; k < n; k++, fr_mul(&w, &w, &x))
		in[k] = w;
	fr_pow_u64(&x, &FR_ROOT_7, 1ull << (32 - log_n));
	for (k = 0, w = fr_one; k < n / 2; k++, fr_mul(&w, &w, &x))
		roots[k] = w;
	for (i = 0; i < 2; i++)
		if (ntt_open(&ntt[i], NULL, isas[i], NULL))
			ntt[i] = NULL;
	for (r = 0; r < repeats; r++) {
		memcpy(want, in, n * sizeof(*in));
		start = now_ms();
		radix2(want, n, roots);
		timing_add(&blst, now_ms() - start);
		for (i = 0; i < 2; i++) {
			if (!ntt[i])
				continue;
			memcpy(got, in, n * sizeof(*in));
			start = now_ms();
			ntt_run(ntt[i], got, scratch, log_n, false, &FR_ROOT_7, NULL);
			timing_add(&t[i], now_ms() - start);
			if (memcmp(got, want, n * sizeof(*in))) {
				fprintf(stderr, "%s: differs from blst\n", names[i]);
				return 1;
			}
			memcpy(scratch, in, n * sizeof(*in));
			start = now_ms();
			ntt_quotient(ntt[i], got, scratch, log_n, GPU_H_POWERS, (struct scalar *)h);
			timing_add(&quotient[i], now_ms() - start);
		}
	}
	printf("2^%u                           min        avg        max      blst/min\n", log_n);
	timing_print("blst_fr, radix 2", &blst, &blst);
	for (i = 0; i < 2; i++) {
		char name[32];

		if (!ntt[i])
			continue;
		timing_print(names[i], &t[i], &blst);
		snprintf(name, sizeof(name), "%s, quotient", names[i]);
		timing_print(name, &quotient[i], &blst);
		ntt_close(ntt[i]);
	}
	free(in);
	free(want);
	free(got);
	free(scratch);
	free(h);
	free(roots);
	return 0;
}
