/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* ntt.c - transforms and the quotient on the device, host side */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/cuda/ntt.h"
#include "gpu/cuda/tiles.h"

#define THREADS 256
#define MAX_LEVELS 32
#define CONST_BYTES (2 * sizeof(struct fr))	/* struct fr_const of shoup.cuh */
#define DIRECT_LOG 18		/* points of a block whose factors are one table: 16 MiB */

/* Powers of base for exponents below 2^log_n; high carries factor. */
struct powers {
	CUdeviceptr low, high;	/* the kernels' struct power_table */
};

/* the kernels' struct ntt_factors */
struct factors {
	CUdeviceptr low, high;
	int odd;
};

/* One pass, or one stage (width 1), of a transform. */
struct level {
	int above, width;	/* bits */
	bool plain;		/* roots of a pass: not of the coset */
	CUdeviceptr roots;	/* of a pass */
	struct factors factors;	/* of a pass that is not the lowest level */
	struct powers powers;	/* roots of a stage */
};

struct plan {
	struct plan *next;
	unsigned int log_n;
	struct fr omega;	/* of order 2^log_n, direction included */
	bool odd;		/* a dit that evaluates at the odd powers of half_step */
	struct fr half_step;	/* of order 2^(log_n + 1), where odd */
	int n_levels;
	struct level levels[MAX_LEVELS];	/* from the top */
};

struct scale {
	struct scale *next;
	unsigned int log_n;
	struct fr base, factor;
	struct powers powers;
};

struct cuda_ntt {
	struct cuda_ctx *ctx;
	struct plan *plans;
	struct scale *scales;
	unsigned int direct_log;
};

int cuda_ntt_open(struct cuda_ntt **out, struct cuda_ctx *ctx)
{
	struct cuda_ntt *ntt = calloc(1, sizeof(*ntt));

	if (!ntt)
		return -ENOMEM;
	ntt->ctx = ctx;
	ntt->direct_log = DIRECT_LOG;
	*out = ntt;
	return 0;
}

void cuda_ntt_set_direct(struct cuda_ntt *ntt, unsigned int log_points)
{
	ntt->direct_log = log_points;
}

static void powers_free(struct cuda_ctx *ctx, struct powers *p)
{
	cuda_free(ctx, p->low);
	cuda_free(ctx, p->high);
}

static void plan_free(struct cuda_ctx *ctx, struct plan *p)
{
	int i;

	for (i = 0; i < p->n_levels; i++) {
		cuda_free(ctx, p->levels[i].roots);
		cuda_free(ctx, p->levels[i].factors.low);
		cuda_free(ctx, p->levels[i].factors.high);
		powers_free(ctx, &p->levels[i].powers);
	}
	free(p);
}

void cuda_ntt_close(struct cuda_ntt *ntt)
{
	struct plan *p, *next;
	struct scale *s, *next_scale;

	if (!ntt)
		return;
	for (p = ntt->plans; p; p = next) {
		next = p->next;
		plan_free(ntt->ctx, p);
	}
	for (s = ntt->scales; s; s = next_scale) {
		next_scale = s->next;
		powers_free(ntt->ctx, &s->powers);
		free(s);
	}
	free(ntt);
}

static int fill_powers(struct cuda_ctx *ctx, CUdeviceptr *out, uint32_t n, const struct fr *base,
		       uint32_t stride, const struct fr *first)
{
	int r = cuda_alloc(ctx, out, (uint64_t)n * sizeof(struct fr));

	if (r)
		return r;
	return CUDA_RUN(ctx, fr_powers, n, THREADS, out, &n, (void *)base, &stride, (void *)first);
}

static int powers_init(struct cuda_ctx *ctx, struct powers *p, unsigned int log_n,
		       const struct fr *base, const struct fr *factor)
{
	uint32_t low = 1u << (log_n < NTT_LOW_BITS ? log_n : NTT_LOW_BITS);
	uint32_t high = log_n > NTT_LOW_BITS ? 1u << (log_n - NTT_LOW_BITS) : 1;
	int r;

	r = fill_powers(ctx, &p->low, low, base, 1, &fr_one);
	return r ? r : fill_powers(ctx, &p->high, high, base, 1u << NTT_LOW_BITS, factor);
}

/* x^(2^n) */
static void square_times(struct fr *r, const struct fr *x, unsigned int n)
{
	*r = *x;
	while (n--)
		fr_sqr(r, r);
}

static void order_root(struct fr *r, const struct fr *root, unsigned int log_n)
{
	square_times(r, root, 32 - log_n);
}

/*
 * Widths of the levels from the top: single stages for what 3 does not divide,
 * then passes of 9 or 6; short transforms are all single stages.
 */
static int split(unsigned int log_n, unsigned char widths[MAX_LEVELS])
{
	unsigned int left = log_n;
	int n = 0;

	if (log_n >= 12) {
		while (left % 3)
			widths[n++] = 1, left--;
		/* left = 9x + 6y with the fewest passes */
		while (left >= 9 && left != 12)
			widths[n++] = 9, left -= 9;
		while (left >= 6)
			widths[n++] = 6, left -= 6;
		while (left)
			widths[n++] = 1, left--;
		return n;
	}
	while (left)
		widths[n++] = 1, left--;
	return n;
}

static int fill_consts(struct cuda_ctx *ctx, CUdeviceptr *out, uint32_t n, const struct fr *w,
		       uint32_t stride)
{
	int r = cuda_alloc(ctx, out, (uint64_t)n * CONST_BYTES);

	return r ? r : CUDA_RUN(ctx, ntt_powers, n, THREADS, out, &n, (void *)w, &stride);
}

/*
 * One table for a block of up to 2^direct_log points, which stays in the cache
 * beside the data; the powers in two for a longer one.  w of order M; g of 2 M, or 1.
 */
static int factors_init(struct cuda_ntt *ntt, struct factors *f, bool odd, int width, int log_d,
			const struct fr *w, const struct fr *g)
{
	int bits = width + log_d + (odd ? 1 : 0), low = bits < NTT_LOW_BITS ? bits : NTT_LOW_BITS, r;
	uint32_t n = 1u << (width + log_d);
	const struct fr *x = odd ? g : w;

	f->odd = odd ? 1 : 0;
	if ((unsigned int)(width + log_d) <= ntt->direct_log) {
		r = cuda_alloc(ntt->ctx, &f->low, (uint64_t)n * CONST_BYTES);
		return r ? r : CUDA_RUN(ntt->ctx, ntt_direct, n, THREADS, &f->low, &width, &log_d,
					(void *)w, (void *)g);
	}
	r = fill_consts(ntt->ctx, &f->low, 1u << low, x, 1);
	return r ? r : fill_consts(ntt->ctx, &f->high, 1u << (bits - low), x, 1u << NTT_LOW_BITS);
}

/* The tables of one level: ntt.cuh has what they hold, and why. */
static int level_init(struct cuda_ntt *ntt, const struct plan *p, struct level *l)
{
	int below = (int)p->log_n - l->above - l->width, r;
	struct fr w, g = fr_one, roots_w, roots_g = fr_one;
	struct cuda_ctx *ctx = ntt->ctx;
	uint32_t n = 1u << l->width;

	square_times(&w, &p->omega, (unsigned int)l->above);
	if (p->odd)
		square_times(&g, &p->half_step, (unsigned int)l->above);
	if (l->width == 1)
		return powers_init(ctx, &l->powers, (unsigned int)below, &w, &g);
	square_times(&roots_w, &w, (unsigned int)below);
	if (!below)
		roots_g = g;
	l->plain = below || !p->odd;
	r = cuda_alloc(ctx, &l->roots, n * CONST_BYTES);
	if (!r)
		r = CUDA_RUN(ctx, ntt_roots, n, THREADS, &l->roots, &l->width, &roots_w, &roots_g);
	return r || !below ? r : factors_init(ntt, &l->factors, p->odd, l->width, below, &w, &g);
}

/* odd: of a forward dit only, log_n < 32 */
static int plan_get(struct cuda_ntt *ntt, unsigned int log_n, const struct fr *root, bool inverse,
		    bool odd, struct plan **out)
{
	unsigned char widths[MAX_LEVELS];
	struct fr omega, half_step = fr_one;
	struct plan *p;
	int above = 0, i, r = 0;

	order_root(&omega, root, log_n);
	if (inverse)
		fr_inv_vartime(&omega, &omega);
	if (odd)
		order_root(&half_step, root, log_n + 1);
	for (p = ntt->plans; p; p = p->next)
		if (p->log_n == log_n && p->odd == odd && fr_equal(&p->omega, &omega) &&
		    (!odd || fr_equal(&p->half_step, &half_step))) {
			*out = p;
			return 0;
		}
	p = calloc(1, sizeof(*p));
	if (!p)
		return -ENOMEM;
	p->log_n = log_n;
	p->omega = omega;
	p->odd = odd;
	p->half_step = half_step;
	p->n_levels = split(log_n, widths);
	for (i = 0; i < p->n_levels && !r; i++) {
		p->levels[i].above = above;
		p->levels[i].width = widths[i];
		above += widths[i];
		r = level_init(ntt, p, &p->levels[i]);
	}
	if (r) {
		plan_free(ntt->ctx, p);
		return r;
	}
	p->next = ntt->plans;
	ntt->plans = p;
	*out = p;
	return 0;
}

static int run_level(struct cuda_ntt *ntt, const struct plan *p, CUdeviceptr data,
		     const struct level *l, bool dit)
{
	int log_n = (int)p->log_n, above = l->above, width = l->width, plain = l->plain;
	int below = log_n - above - width;
	struct factors factors = l->factors;
	struct powers powers = l->powers;
	CUdeviceptr roots = l->roots;
	uint32_t n = 1u << log_n, half = 1u << below;

	if (width == 1)
		return cuda_launch(ntt->ctx, dit ? KERNEL_ntt_dit_stage : KERNEL_ntt_dif_stage,
				   (n / 2 + THREADS - 1) / THREADS, THREADS, 0,
				   (void *[]){ &data, &n, &half, &powers });
	if (!below)
		return cuda_launch(ntt->ctx, dit ? KERNEL_ntt_dit_rows : KERNEL_ntt_dif_rows,
				   n / NTT_TILE, NTT_THREADS, 0,
				   (void *[]){ &data, &width, &roots, &plain });
	return cuda_launch(ntt->ctx, dit ? KERNEL_ntt_dit_columns : KERNEL_ntt_dif_columns,
			   n / NTT_TILE, NTT_THREADS, 0,
			   (void *[]){ &data, &log_n, &above, &width, &roots, &factors });
}

static int run_plan(struct cuda_ntt *ntt, const struct plan *p, CUdeviceptr data,
		    enum cuda_ntt_order order)
{
	int i, r = 0;

	for (i = 0; i < p->n_levels && !r; i++)
		r = order == CUDA_NTT_DIF ?
		    run_level(ntt, p, data, &p->levels[i], false) :
		    run_level(ntt, p, data, &p->levels[p->n_levels - 1 - i], true);
	return r;
}

int cuda_ntt_run(struct cuda_ntt *ntt, CUdeviceptr data, unsigned int log_n,
		 const struct fr *root, bool inverse, enum cuda_ntt_order order)
{
	struct plan *p = NULL;
	int r;

	if (log_n > CUDA_NTT_MAX_LOG)
		return -EINVAL;
	r = plan_get(ntt, log_n, root, inverse, false, &p);
	return r ? r : run_plan(ntt, p, data, order);
}

static int scale_get(struct cuda_ntt *ntt, unsigned int log_n, const struct fr *base,
		     const struct fr *factor, struct scale **out)
{
	struct scale *s;
	int r;

	for (s = ntt->scales; s; s = s->next)
		if (s->log_n == log_n && fr_equal(&s->base, base) && fr_equal(&s->factor, factor)) {
			*out = s;
			return 0;
		}
	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	r = powers_init(ntt->ctx, &s->powers, log_n, base, factor);
	if (r) {
		powers_free(ntt->ctx, &s->powers);
		free(s);
		return r;
	}
	s->log_n = log_n;
	s->base = *base;
	s->factor = *factor;
	s->next = ntt->scales;
	ntt->scales = s;
	*out = s;
	return 0;
}

int cuda_ntt_scale_reversed(struct cuda_ntt *ntt, CUdeviceptr data, unsigned int log_n,
			    const struct fr *base, const struct fr *factor)
{
	uint32_t n = 1u << log_n;
	int bits = (int)log_n, r;
	struct scale *s;

	r = scale_get(ntt, log_n, base, factor, &s);
	if (r)
		return r;
	return CUDA_RUN(ntt->ctx, fr_scale_reversed, n, THREADS, &data, &n, &bits, &s->powers);
}

int cuda_ntt_reverse(struct cuda_ntt *ntt, CUdeviceptr data, unsigned int log_n)
{
	uint32_t n = 1u << log_n;
	int bits = (int)log_n;

	return CUDA_RUN(ntt->ctx, fr_reverse, n, THREADS, &data, &n, &bits);
}

/*
 * Values on the domain to 2^log_n times the values on its coset by g of order
 * 2^(log_n + 1), natural order both.
 */
static int to_coset(struct cuda_ntt *ntt, CUdeviceptr data, unsigned int log_n,
		    const struct fr *root)
{
	struct plan *from = NULL, *to = NULL;
	int r;

	r = plan_get(ntt, log_n, root, true, false, &from);
	if (!r)
		r = plan_get(ntt, log_n, root, false, true, &to);
	if (!r)
		r = run_plan(ntt, from, data, CUDA_NTT_DIF);
	return r ? r : run_plan(ntt, to, data, CUDA_NTT_DIT);
}

/*
 * h from n^2 (A B)(g w^i) in a and n C in h (COSET: unused, but for where it
 * goes), n_inv = 1/n: the factors that the inverse transforms left out.
 */
static int h_of_values(struct cuda_ctx *ctx, CUdeviceptr a, CUdeviceptr b, CUdeviceptr h,
		       uint32_t n, struct fr *n_inv, bool minus_c)
{
	static const struct fr canonical = { { 1 } };	/* 2^-256 */
	struct fr factor;

	fr_mul(&factor, n_inv, &canonical);
	if (minus_c)
		return CUDA_RUN(ctx, fr_quotient_odd, n, THREADS, &a, &b, &h, &n, n_inv, &factor,
				&h);
	fr_mul(&factor, &factor, n_inv);
	return CUDA_RUN(ctx, fr_product_scalars, n, THREADS, &a, &b, &n, &factor, &h);
}

/* h = (C - x^-i D) / 2 from n C in h and n^2 A B on the coset in a, b. */
static int h_of_powers(struct cuda_ntt *ntt, CUdeviceptr a, CUdeviceptr b, CUdeviceptr h,
		       unsigned int log_n, const struct fr *n_inv)
{
	static const struct fr canonical = { { 1 } };
	struct fr g_inv, square, factor, two;
	struct cuda_ctx *ctx = ntt->ctx;
	uint32_t n = 1u << log_n;
	struct scale *s = NULL;
	int bits = (int)log_n, r;

	order_root(&g_inv, &FR_ROOT_7, log_n + 1);
	fr_inv_vartime(&g_inv, &g_inv);
	fr_sqr(&square, n_inv);
	r = CUDA_RUN(ctx, fr_product, n, THREADS, &a, &b, &n, &a);
	if (!r)
		r = cuda_ntt_run(ntt, a, log_n, &FR_ROOT_7, true, CUDA_NTT_DIF);
	if (!r)
		r = scale_get(ntt, log_n, &g_inv, &square, &s);
	if (r)
		return r;
	fr_from_u64(&two, 2);
	fr_inv_vartime(&two, &two);
	fr_mul(&factor, n_inv, &two);
	fr_mul(&factor, &factor, &canonical);
	return CUDA_RUN(ctx, fr_quotient_powers, n, THREADS, &h, &a, &n, &bits, &factor, &s->powers,
			&h);
}

/*
 * The derivation is in gpu/cpu/quotient.c: with g of order 2n, h = (C - D)/2,
 * where C and D have degree below n and agree with a b on the domain and on
 * its coset by g.  No inverse transform divides by n: the last products do.
 */
int cuda_quotient(struct cuda_ntt *ntt, CUdeviceptr a, CUdeviceptr b, CUdeviceptr h,
		  unsigned int log_n, enum gpu_h_basis basis)
{
	const struct fr *root = basis == GPU_H_ODD_COSET ? &FR_ROOT_5 : &FR_ROOT_7;
	uint32_t n = 1u << log_n;
	struct fr n_inv;
	int r = 0;

	if (log_n >= CUDA_NTT_MAX_LOG)
		return -EINVAL;
	fr_from_u64(&n_inv, n);
	fr_inv_vartime(&n_inv, &n_inv);

	if (basis != GPU_H_COSET)
		r = CUDA_RUN(ntt->ctx, fr_product, n, THREADS, &a, &b, &n, &h);
	if (!r && basis == GPU_H_ODD_COSET)
		r = to_coset(ntt, h, log_n, root);
	if (!r && basis == GPU_H_POWERS)
		r = cuda_ntt_run(ntt, h, log_n, root, true, CUDA_NTT_DIF);
	if (!r)
		r = to_coset(ntt, a, log_n, root);
	if (!r)
		r = to_coset(ntt, b, log_n, root);
	if (r)
		return r;
	if (basis == GPU_H_POWERS)
		return h_of_powers(ntt, a, b, h, log_n, &n_inv);
	return h_of_values(ntt->ctx, a, b, h, n, &n_inv, basis == GPU_H_ODD_COSET);
}
