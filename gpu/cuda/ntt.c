/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* ntt.c - transforms and the quotient on the device, host side */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/cuda/ntt.h"

#define THREADS 256
#define TILE 2048u		/* NTT_TILE of ntt.cuh */
#define LOW_BITS 13		/* NTT_LOW_BITS */
#define MAX_LEVELS 32

/* Powers of base for exponents below 2^log_n; high carries factor. */
struct powers {
	CUdeviceptr low, high;	/* the kernels' struct power_table */
};

struct plan {
	struct plan *next;
	unsigned int log_n;
	struct fr omega;	/* of order 2^log_n, direction included */
	struct powers twiddle;
	CUdeviceptr roots6, roots9;
};

struct scale {
	struct scale *next;
	unsigned int log_n;
	struct fr base, factor;
	struct powers powers;
	CUdeviceptr steps;	/* of ntt_turn_body(), where the last pass has more than one bit */
};

struct cuda_ntt {
	struct cuda_ctx *ctx;
	struct plan *plans;
	struct scale *scales;
};

int cuda_ntt_open(struct cuda_ntt **out, struct cuda_ctx *ctx)
{
	struct cuda_ntt *ntt = calloc(1, sizeof(*ntt));

	if (!ntt)
		return -ENOMEM;
	ntt->ctx = ctx;
	*out = ntt;
	return 0;
}

static void powers_free(struct cuda_ctx *ctx, struct powers *p)
{
	cuda_free(ctx, p->low);
	cuda_free(ctx, p->high);
}

void cuda_ntt_close(struct cuda_ntt *ntt)
{
	struct plan *p, *next;
	struct scale *s, *next_scale;

	if (!ntt)
		return;
	for (p = ntt->plans; p; p = next) {
		next = p->next;
		powers_free(ntt->ctx, &p->twiddle);
		cuda_free(ntt->ctx, p->roots6);
		cuda_free(ntt->ctx, p->roots9);
		free(p);
	}
	for (s = ntt->scales; s; s = next_scale) {
		next_scale = s->next;
		powers_free(ntt->ctx, &s->powers);
		cuda_free(ntt->ctx, s->steps);
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
	uint32_t low = 1u << (log_n < LOW_BITS ? log_n : LOW_BITS);
	uint32_t high = log_n > LOW_BITS ? 1u << (log_n - LOW_BITS) : 1;
	int r;

	r = fill_powers(ctx, &p->low, low, base, 1, &fr_one);
	return r ? r : fill_powers(ctx, &p->high, high, base, 1u << LOW_BITS, factor);
}

static void order_root(struct fr *r, const struct fr *root, unsigned int log_n)
{
	unsigned int i;

	*r = *root;
	for (i = log_n; i < 32; i++)
		fr_sqr(r, r);
}

static int plan_get(struct cuda_ntt *ntt, unsigned int log_n, const struct fr *root, bool inverse,
		    struct plan **out)
{
	struct cuda_ctx *ctx = ntt->ctx;
	struct fr omega, w;
	struct plan *p;
	int r;

	order_root(&omega, root, log_n);
	if (inverse)
		fr_inv_vartime(&omega, &omega);
	for (p = ntt->plans; p; p = p->next)
		if (p->log_n == log_n && fr_equal(&p->omega, &omega)) {
			*out = p;
			return 0;
		}
	p = calloc(1, sizeof(*p));
	if (!p)
		return -ENOMEM;
	p->log_n = log_n;
	p->omega = omega;
	/* in the list at once: what is allocated is freed with it */
	p->next = ntt->plans;
	ntt->plans = p;
	r = powers_init(ctx, &p->twiddle, log_n, &omega, &fr_one);
	if (!r && log_n >= 6) {
		order_root(&w, root, 6);
		if (inverse)
			fr_inv_vartime(&w, &w);
		r = fill_powers(ctx, &p->roots6, 1u << 5, &w, 1, &fr_one);
	}
	if (!r && log_n >= 9) {
		order_root(&w, root, 9);
		if (inverse)
			fr_inv_vartime(&w, &w);
		r = fill_powers(ctx, &p->roots9, 1u << 8, &w, 1, &fr_one);
	}
	if (r) {
		/* no later call may find it half made */
		ntt->plans = p->next;
		powers_free(ctx, &p->twiddle);
		cuda_free(ctx, p->roots6);
		cuda_free(ctx, p->roots9);
		free(p);
		return r;
	}
	*out = p;
	return 0;
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

static int run_level(struct cuda_ntt *ntt, const struct plan *p, CUdeviceptr data, int level,
		     int width, bool dit)
{
	static const enum cuda_kernel passes[2][2][2] = {	/* [dit][rows][nine] */
		{ { KERNEL_ntt_dif_columns_6, KERNEL_ntt_dif_columns_9 },
		  { KERNEL_ntt_dif_rows_6, KERNEL_ntt_dif_rows_9 } },
		{ { KERNEL_ntt_dit_columns_6, KERNEL_ntt_dit_columns_9 },
		  { KERNEL_ntt_dit_rows_6, KERNEL_ntt_dit_rows_9 } },
	};
	int log_n = (int)p->log_n, below = log_n - level - width;
	struct powers twiddle = p->twiddle;
	uint32_t n = 1u << log_n;

	if (width == 1) {
		uint32_t half = 1u << below;

		return cuda_launch(ntt->ctx, dit ? KERNEL_ntt_dit_stage : KERNEL_ntt_dif_stage,
				   (n / 2 + THREADS - 1) / THREADS, THREADS, 0,
				   (void *[]){ &data, &n, &half, &level, &twiddle });
	}
	return cuda_launch(ntt->ctx, passes[dit][below == 0][width == 9], n / TILE, THREADS, 0,
			   (void *[]){ &data, &log_n, &level,
				       (void *)(width == 9 ? &p->roots9 : &p->roots6), &twiddle });
}

/* The first n levels from the top, from the upper down (dif) or up to the uppermost (dit). */
static int run_levels(struct cuda_ntt *ntt, const struct plan *p, CUdeviceptr data,
		      const unsigned char *widths, int n, enum cuda_ntt_order order)
{
	int i, level = 0, r = 0;

	if (order == CUDA_NTT_DIF) {
		for (i = 0; i < n && !r; level += widths[i++])
			r = run_level(ntt, p, data, level, widths[i], false);
		return r;
	}
	for (i = 0; i < n; i++)
		level += widths[i];
	for (i = n; i-- > 0 && !r;) {
		level -= widths[i];
		r = run_level(ntt, p, data, level, widths[i], true);
	}
	return r;
}

int cuda_ntt_run(struct cuda_ntt *ntt, CUdeviceptr data, unsigned int log_n,
		 const struct fr *root, bool inverse, enum cuda_ntt_order order)
{
	unsigned char widths[MAX_LEVELS];
	struct plan *p = NULL;
	int n, r;

	if (log_n > CUDA_NTT_MAX_LOG)
		return -EINVAL;
	r = plan_get(ntt, log_n, root, inverse, &p);
	if (r)
		return r;
	n = split(log_n, widths);
	return run_levels(ntt, p, data, widths, n, order);
}

/* steps[j] = base^(rev(j) 2^(log_n - width)), j < 2^width */
static int fill_steps(struct cuda_ctx *ctx, CUdeviceptr *steps, unsigned int log_n,
		      const struct fr *base, int width)
{
	uint32_t n = 1u << width;
	int r;

	r = fill_powers(ctx, steps, n, base, 1u << (log_n - width), &fr_one);
	return r ? r : CUDA_RUN(ctx, fr_reverse, n, THREADS, steps, &n, &width);
}

static int scale_get(struct cuda_ntt *ntt, unsigned int log_n, const struct fr *base,
		     const struct fr *factor, struct scale **out)
{
	unsigned char widths[MAX_LEVELS];
	int n = split(log_n, widths), r;
	struct scale *s;

	for (s = ntt->scales; s; s = s->next)
		if (s->log_n == log_n && fr_equal(&s->base, base) && fr_equal(&s->factor, factor)) {
			*out = s;
			return 0;
		}
	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	r = powers_init(ntt->ctx, &s->powers, log_n, base, factor);
	if (!r && n && widths[n - 1] > 1)
		r = fill_steps(ntt->ctx, &s->steps, log_n, base, widths[n - 1]);
	if (r) {
		powers_free(ntt->ctx, &s->powers);
		cuda_free(ntt->ctx, s->steps);
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

/* Values on the domain to values on the coset of g, natural order both. */
static int to_coset(struct cuda_ntt *ntt, CUdeviceptr data, unsigned int log_n,
		    const struct fr *root, const struct fr *g, const struct fr *n_inv)
{
	struct plan *from = NULL, *to = NULL;
	unsigned char widths[MAX_LEVELS];
	int n = split(log_n, widths), bits = (int)log_n, nine, r;
	struct scale *s = NULL;

	r = plan_get(ntt, log_n, root, true, &from);
	if (!r)
		r = plan_get(ntt, log_n, root, false, &to);
	if (!r)
		r = scale_get(ntt, log_n, g, n_inv, &s);
	if (r)
		return r;
	if (!s->steps) {
		r = run_levels(ntt, from, data, widths, n, CUDA_NTT_DIF);
		if (!r)
			r = cuda_ntt_scale_reversed(ntt, data, log_n, g, n_inv);
		return r ? r : run_levels(ntt, to, data, widths, n, CUDA_NTT_DIT);
	}
	r = run_levels(ntt, from, data, widths, n - 1, CUDA_NTT_DIF);
	if (r)
		return r;
	nine = widths[n - 1] == 9;
	r = cuda_launch(ntt->ctx, nine ? KERNEL_ntt_turn_9 : KERNEL_ntt_turn_6,
			(1u << log_n) / TILE, THREADS, 0,
			(void *[]){ &data, &bits, nine ? &from->roots9 : &from->roots6,
				    nine ? &to->roots9 : &to->roots6, &s->steps, &s->powers });
	return r ? r : run_levels(ntt, to, data, widths, n - 1, CUDA_NTT_DIT);
}

/*
 * The derivation is in gpu/cpu/quotient.c: with g of order 2n, h = (C - D)/2,
 * where C and D have degree below n and agree with a b on the domain and on
 * its coset by g.
 */
int cuda_quotient(struct cuda_ntt *ntt, CUdeviceptr a, CUdeviceptr b, CUdeviceptr h,
		  unsigned int log_n, enum gpu_h_basis basis)
{
	const struct fr *root = basis == GPU_H_ODD_COSET ? &FR_ROOT_5 : &FR_ROOT_7;
	static const struct fr canonical = { { 1 } };	/* 2^-256 */
	struct cuda_ctx *ctx = ntt->ctx;
	struct fr g, g_inv, n_inv, factor, two;
	uint32_t n = 1u << log_n;
	struct scale *s = NULL;
	int bits = (int)log_n, r;

	if (log_n >= CUDA_NTT_MAX_LOG)
		return -EINVAL;
	order_root(&g, root, log_n + 1);
	fr_inv_vartime(&g_inv, &g);
	fr_from_u64(&n_inv, n);
	fr_inv_vartime(&n_inv, &n_inv);

	if (basis == GPU_H_COSET) {
		r = to_coset(ntt, a, log_n, root, &g, &n_inv);
		if (!r)
			r = to_coset(ntt, b, log_n, root, &g, &n_inv);
		return r ? r : CUDA_RUN(ctx, fr_product_scalars, n, THREADS, &a, &b, &n, &h);
	}
	r = CUDA_RUN(ctx, fr_product, n, THREADS, &a, &b, &n, &h);
	if (!r && basis == GPU_H_ODD_COSET)
		r = to_coset(ntt, h, log_n, root, &g, &n_inv);
	else if (!r)
		r = cuda_ntt_run(ntt, h, log_n, root, true, CUDA_NTT_DIF);
	if (!r)
		r = to_coset(ntt, a, log_n, root, &g, &n_inv);
	if (!r)
		r = to_coset(ntt, b, log_n, root, &g, &n_inv);
	if (r)
		return r;
	if (basis == GPU_H_ODD_COSET)
		return CUDA_RUN(ctx, fr_quotient_odd, n, THREADS, &a, &b, &h, &n, &h);
	r = CUDA_RUN(ctx, fr_product, n, THREADS, &a, &b, &n, &a);
	if (!r)
		r = cuda_ntt_run(ntt, a, log_n, root, true, CUDA_NTT_DIF);
	if (!r)
		r = scale_get(ntt, log_n, &g_inv, &fr_one, &s);
	if (r)
		return r;
	fr_from_u64(&two, 2);
	fr_inv_vartime(&two, &two);
	fr_mul(&factor, &n_inv, &two);
	fr_mul(&factor, &factor, &canonical);
	return CUDA_RUN(ctx, fr_quotient_powers, n, THREADS, &h, &a, &n, &bits, &factor, &s->powers,
			&h);
}
