/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * ntt_pass_impl.h - ntt_pass.h over any vector of eight elements
 *
 * Included once behind each of ifma_fr.h and port_fr.h.
 *
 * The short transform is decimation in time: rows come in by bit-reversed
 * index, so the sums leave in order, and every level adds at most one r to
 * the range of the values.  The first three levels are apart because half of
 * their factors are one.
 */
#include <string.h>

#include "gpu/cpu/ntt_pass.h"

static void tw_fill(void *tw, const struct fr *factors, size_t n)
{
	struct tw *t = tw;
	size_t i;

	for (i = 0; i < n; i++)
		tw_from_fr(&t[i], &factors[i]);
}

FV_INLINE void butterfly(struct fv *a, struct fv *b, const struct tw *w)
{
	struct fv t;

	fv_mul_tw(&t, b, w);
	fv_sub(b, a, &t);
	fv_add(a, a, &t);
}

FV_INLINE void butterfly_one(struct fv *a, struct fv *b)
{
	struct fv t = *b;

	fv_sub(b, a, &t);
	fv_add(a, a, &t);
}

/* Levels 1 to 3 on x[0..8); w8[j] = (root of order 8)^j at stride 128 of tw */
static void first_levels(struct fv *x, const struct tw *tw)
{
	const struct tw *w1 = &tw[128], *w2 = &tw[256], *w3 = &tw[384];

	butterfly_one(&x[0], &x[1]);
	butterfly_one(&x[2], &x[3]);
	butterfly_one(&x[4], &x[5]);
	butterfly_one(&x[6], &x[7]);
	butterfly_one(&x[0], &x[2]);
	butterfly(&x[1], &x[3], w2);
	butterfly_one(&x[4], &x[6]);
	butterfly(&x[5], &x[7], w2);
	butterfly_one(&x[0], &x[4]);
	butterfly(&x[1], &x[5], w1);
	butterfly(&x[2], &x[6], w2);
	butterfly(&x[3], &x[7], w3);
}

/* One level: pairs m apart; n values */
static void level_1(struct fv *x, size_t n, size_t m, const struct tw *tw)
{
	const size_t s = 512 / m;
	size_t j, b;

	for (j = 0; j < m; j++)
		for (b = j; b < n; b += 2 * m)
			butterfly(&x[b], &x[b + m], &tw[j * s]);
}

/* Two levels, m and 2m */
static void level_2(struct fv *x, size_t n, size_t m, const struct tw *tw)
{
	const size_t s = 256 / m;
	size_t j, b;

	for (j = 0; j < m; j++) {
		const struct tw *w0 = &tw[2 * j * s], *w1 = &tw[j * s], *w2 = &tw[(j + m) * s];

		for (b = j; b < n; b += 4 * m) {
			butterfly(&x[b], &x[b + m], w0);
			butterfly(&x[b + 2 * m], &x[b + 3 * m], w0);
			butterfly(&x[b], &x[b + 2 * m], w1);
			butterfly(&x[b + m], &x[b + 3 * m], w2);
		}
	}
}

/* Three levels, m, 2m and 4m */
static void level_3(struct fv *x, size_t n, size_t m, const struct tw *tw)
{
	const size_t s = 128 / m;
	size_t j, b;

	for (j = 0; j < m; j++) {
		const struct tw *w = &tw[j * s], *w0 = &tw[4 * j * s];
		const struct tw *w1 = &tw[2 * j * s], *w2 = &tw[2 * (j + m) * s];

		for (b = j; b < n; b += 8 * m) {
			struct fv *y = &x[b];

			butterfly(&y[0], &y[m], w0);
			butterfly(&y[2 * m], &y[3 * m], w0);
			butterfly(&y[4 * m], &y[5 * m], w0);
			butterfly(&y[6 * m], &y[7 * m], w0);
			butterfly(&y[0], &y[2 * m], w1);
			butterfly(&y[m], &y[3 * m], w2);
			butterfly(&y[4 * m], &y[6 * m], w1);
			butterfly(&y[5 * m], &y[7 * m], w2);
			butterfly(&y[0], &y[4 * m], &w[0]);
			butterfly(&y[m], &y[5 * m], &w[m * s]);
			butterfly(&y[2 * m], &y[6 * m], &w[2 * m * s]);
			butterfly(&y[3 * m], &y[7 * m], &w[3 * m * s]);
		}
	}
}

/* In place: x[brev(j)] in, sum_j x_j w^(jk) at x[k] out */
static void short_ntt(struct fv *x, unsigned int log_r, const struct tw *tw)
{
	const size_t n = (size_t)1 << log_r;
	size_t m = 8, b;

	for (b = 0; b < n; b += 8)
		first_levels(&x[b], tw);
	switch ((log_r - 3) % 3) {
	case 1:
		level_1(x, n, m, tw);
		m *= 2;
		break;
	case 2:
		level_2(x, n, m, tw);
		m *= 4;
		break;
	}
	for (; m < n; m *= 8)
		level_3(x, n, m, tw);
}

/*
 * Rows lie a power of two apart, so the lines of all of them share a few cache
 * sets and no hardware prefetcher follows the order: ask for some rows ahead,
 * but not for more than the ways of a first-level set.
 */
#define AHEAD 8

static void prefetch_row(const struct ntt_pass *p, size_t at)
{
	const struct fr *src = p->src + at;
	int i;

	for (i = 0; i < FV_LANES; i += p->src_lane == 1 ? 2 : 1)
		__builtin_prefetch(src + i * p->src_lane);
}

static void read_rows(struct fv *x, const struct ntt_pass *p, size_t base)
{
	const size_t n = (size_t)1 << p->log_r;
	const unsigned int shift = NTT_MAX_LOG_R - p->log_r;
	const struct tw *in_tw = p->in_tw;
	size_t j;

	for (j = 0; j < n; j++) {
		size_t at = base + j * p->src_row;
		struct fv *to = &x[p->brev[j] >> shift];

		if (j + AHEAD < n)
			prefetch_row(p, at + AHEAD * p->src_row);
		fv_load(to, p->src + at, p->src_lane);
		if (p->src2) {
			struct fv t;

			fv_load(&t, p->src2 + at, p->src_lane);
			fv_mul_tidy(to, to, &t);
		} else {
			fv_center(to, to);
		}
		if (in_tw)
			fv_mul_tw(to, to, &in_tw[j]);
	}
}

/* x[k] times mid_tw[k] to where the next transform wants row k. */
static void turn_around(struct fv *x, const struct ntt_pass *p)
{
	const size_t n = (size_t)1 << p->log_r;
	const unsigned int shift = NTT_MAX_LOG_R - p->log_r;
	const struct tw *mid_tw = p->mid_tw;
	size_t k;

	for (k = 0; k < n; k++) {
		size_t other = p->brev[k] >> shift;
		struct fv t;

		if (k > other)
			continue;
		fv_mul_tw(&t, &x[k], &mid_tw[k]);
		if (k != other)
			fv_mul_tw(&x[k], &x[other], &mid_tw[other]);
		x[other] = t;
	}
}

/* The geometric factors along the lanes: of this group, and on to the next. */
struct geometry {
	struct fv start, step, start_next, step_next;
	struct fv shifts[5];
};

/* out = base * ratio^(first + lane); next = ratio^8 in all lanes */
static void geometry_side(struct fv *out, struct fv *next, const struct fr *base,
			  const struct fr *ratio, size_t first)
{
	struct fr e[FV_LANES], r8;
	int i;

	fr_pow_u64(&e[0], ratio, first);
	fr_mul(&e[0], &e[0], base);
	for (i = 1; i < FV_LANES; i++)
		fr_mul(&e[i], &e[i - 1], ratio);
	fv_factor(out, e);
	fr_pow_u64(&r8, ratio, FV_LANES);
	for (i = 0; i < FV_LANES; i++)
		e[i] = r8;
	fv_factor(next, e);
}

static void geometry_init(struct geometry *g, const struct ntt_pass *p, size_t e0, size_t lane)
{
	struct fr start_lane = p->start_lane, step_base = p->step_base;

	if (p->by_outer) {
		fr_pow_u64(&start_lane, &start_lane, e0);
		fr_pow_u64(&step_base, &step_base, e0);
	}
	fv_ahead_shifts(g->shifts);
	geometry_side(&g->start, &g->start_next, &p->start_base, &start_lane, lane);
	geometry_side(&g->step, &g->step_next, &step_base, &p->step_lane, lane);
}

/* a * b of two tidy factors, tidy */
FV_INLINE void factor_mul(struct fv *r, const struct fv *a, const struct fv *b)
{
	struct fv t;

	fv_mul_tidy(&t, a, b);
	fv_tidy(r, &t);
}

static void geometry_advance(struct geometry *g)
{
	factor_mul(&g->start, &g->start, &g->start_next);
	factor_mul(&g->step, &g->step, &g->step_next);
}

/* Four chains of powers, so that one product need not wait for the last. */
static void write_geometric(const struct fv *x, const struct ntt_pass *p, size_t base,
			    const struct geometry *g)
{
	const size_t n = (size_t)1 << p->log_r;
	struct fr *dst = p->dst + base;
	struct fv f[4], s2, s4, t;
	struct fv_ahead step;
	size_t k;
	int i;

	factor_mul(&s2, &g->step, &g->step);
	factor_mul(&s4, &s2, &s2);
	fv_ahead_init(&step, &s4, g->shifts);
	f[0] = g->start;
	factor_mul(&f[1], &f[0], &g->step);
	factor_mul(&f[2], &f[0], &s2);
	factor_mul(&f[3], &f[1], &s2);
	for (k = 0; k < n; k += 4) {
		for (i = 0; i < 4; i++) {
			fv_mul(&t, &x[k + i], &f[i]);
			fv_tidy(&t, &t);
			fv_store(dst + (k + i) * p->dst_row, p->dst_lane, &t);
			fv_mul_ahead(&t, &f[i], &step);
			fv_tidy(&f[i], &t);
		}
	}
}

static void write_plain(const struct fv *x, const struct ntt_pass *p, size_t base)
{
	const size_t n = (size_t)1 << p->log_r;
	const struct tw *out_tw = p->out == NTT_OUT_TABLE ? p->out_tw : NULL;
	size_t k;

	for (k = 0; k < n; k++) {
		size_t at = base + k * p->dst_row;
		struct fv t = x[k], u;

		if (out_tw)
			fv_mul_tw(&t, &t, &out_tw[k]);
		if (p->add) {
			if (!out_tw)
				fv_reduce(&t, &t);	/* to keep the sum in range */
			fv_load(&u, p->add + at, p->dst_lane);
			fv_add(&t, &t, &u);
			fv_reduce(&t, &t);
		} else if (out_tw) {
			fv_canon(&t, &t);
		} else {
			fv_reduce(&t, &t);
		}
		fv_store(p->dst + at, p->dst_lane, &t);
	}
}

static void pass_run(const struct ntt_pass *p, size_t begin, size_t end, void *buffer)
{
	const size_t per_outer = p->lanes / FV_LANES;
	struct geometry geo;
	struct fv *x = buffer;
	bool fresh = true;
	size_t g;

	for (g = begin; g < end; g++) {
		size_t lane = g % per_outer * FV_LANES, rest = g / per_outer;
		size_t src = lane * p->src_lane, dst = lane * p->dst_lane, e0 = 0;
		unsigned int i;

		for (i = 0; i < p->n_outer; i++) {
			size_t e = rest % p->outer[i].radix;

			rest /= p->outer[i].radix;
			src += e * p->outer[i].src;
			dst += e * p->outer[i].dst;
			if (i == 0)
				e0 = e;
		}
		if (p->out == NTT_OUT_GEOMETRIC) {
			if (fresh || lane == 0)
				geometry_init(&geo, p, e0, lane);
			else
				geometry_advance(&geo);
			fresh = false;
		}
		read_rows(x, p, src);
		if (p->mid_tw) {
			short_ntt(x, p->log_r, p->first_tw);
			turn_around(x, p);
		}
		short_ntt(x, p->log_r, p->tw);
		if (p->out == NTT_OUT_GEOMETRIC)
			write_geometric(x, p, dst, &geo);
		else
			write_plain(x, p, dst);
	}
}

static void product_minus(struct scalar *h, const struct fr *a, const struct fr *b,
			  const struct fr *c, size_t n)
{
	/* the struct fr with words 1, 0, 0, 0 is 2^-256: out of Montgomery form */
	struct fr factors[2] = { {{ FV_PRODUCT_FACTOR }}, {{ 1 }} };
	struct tw w[2];
	size_t i;

	tw_fill(w, factors, 2);
	for (i = 0; i < n; i += FV_LANES) {
		struct fv x, y, t;

		fv_load(&x, a + i, 1);
		fv_load(&y, b + i, 1);
		fv_mul_tidy(&t, &x, &y);
		fv_mul_tw(&t, &t, &w[0]);
		if (c) {
			fv_load(&x, c + i, 1);
			fv_mul_tw(&x, &x, &w[1]);
			fv_sub(&t, &t, &x);
		}
		fv_reduce(&t, &t);
		fv_store((struct fr *)h + i, 1, &t);
	}
}
