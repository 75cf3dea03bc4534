/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* ntt.c - transforms as chains of cache-sized passes */
/*
 * With n = R_0 R_1 ... R_(P-1), S_t = R_(t+1) ... R_(P-1) and N_t = R_t S_t, an
 * index is j = sum j_t S_t.  The chain from natural order (Cooley-Tukey):
 * pass t transforms along digit t, then multiplies output k_t at the inner
 * index u < S_t by w_(N_t)^(u k_t).  It leaves sum of k_t * R_0..R_(t-1), the
 * number of the output, in the place of (k_0, k_1, ...).  The chain to natural
 * order is its transpose: t from P-1 down; after pass t output m_t is multiplied by
 * w_(N_(t-1))^(k_(t-1) (m_t S_t + u)), the factors that pass t-1 needs.
 * The factors are powers along k_t or m_t, so no table of n roots is needed.
 * Factors of the surroundings (coset, 1/n) are powers too and ride along.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/cpu/ntt_plan.h"

#define N_TABLES 4	/* two roots, two directions */

struct ntt_table {
	struct fr root;		/* of order 2^NTT_MAX_LOG_R; zero: empty */
	void *tw;
};

struct ntt {
	struct tpool *pool;
	struct ctl *ctl;
	enum cpu_isa isa;
	const struct ntt_impl *impl;
	unsigned int next_table;	/* to be replaced when all are taken */
	struct ntt_table tables[N_TABLES];
	char *buffers;			/* one per thread */
	uint16_t brev[1 << NTT_MAX_LOG_R];
};

static const struct ntt_impl *impl_of(enum cpu_isa isa)
{
	switch (isa) {
	case CPU_ISA_PORTABLE:
		return &ntt_impl_port;
	case CPU_ISA_IFMA:
#ifdef CUZK_X86
		if (cpu_isa_has_ifma())
			return &ntt_impl_ifma;
#endif
		break;
	}
	return NULL;
}

static size_t table_size(const struct ntt *ntt)
{
	return ((ntt->impl->tw_size << (NTT_MAX_LOG_R - 1)) + 63) & ~(size_t)63;
}

int ntt_open(struct ntt **out, struct tpool *pool, enum cpu_isa isa, struct ctl *ctl)
{
	const struct ntt_impl *impl = impl_of(isa);
	struct ntt *ntt;
	unsigned int i, j;

	if (!impl)
		return -EINVAL;
	ntt = calloc(1, sizeof(*ntt));
	if (!ntt)
		return -ENOMEM;
	ntt->pool = pool;
	ntt->ctl = ctl;
	ntt->isa = isa;
	ntt->impl = impl;
	ntt->buffers = aligned_alloc(64, impl->buffer_size * tpool_threads(pool));
	if (!ntt->buffers)
		goto err_close;
	for (i = 0; i < N_TABLES; i++) {
		ntt->tables[i].tw = aligned_alloc(64, table_size(ntt));
		if (!ntt->tables[i].tw)
			goto err_close;
	}
	for (i = 0; i < 1 << NTT_MAX_LOG_R; i++)
		for (j = 0; j < NTT_MAX_LOG_R; j++)
			ntt->brev[i] |= (i >> j & 1) << (NTT_MAX_LOG_R - 1 - j);
	*out = ntt;
	return 0;

err_close:
	ntt_close(ntt);
	return -ENOMEM;
}

void ntt_close(struct ntt *ntt)
{
	unsigned int i;

	if (!ntt)
		return;
	for (i = 0; i < N_TABLES; i++)
		free(ntt->tables[i].tw);
	free(ntt->buffers);
	free(ntt);
}

uint64_t ntt_bytes(const struct ntt *ntt)
{
	return sizeof(*ntt) + N_TABLES * table_size(ntt) +
	       ntt->impl->buffer_size * tpool_threads(ntt->pool);
}

enum cpu_isa ntt_isa(const struct ntt *ntt)
{
	return ntt->isa;
}

struct ctl *ntt_ctl(const struct ntt *ntt)
{
	return ntt->ctl;
}

const struct ntt_impl *ntt_impl(const struct ntt *ntt)
{
	return ntt->impl;
}

void ntt_root(struct fr *out, const struct fr *root32, unsigned int log_n)
{
	fr_pow_u64(out, root32, 1ull << (32 - log_n));
}

/* factors[i] = ratio^i */
static void powers(struct fr *factors, const struct fr *ratio, size_t n)
{
	size_t i;

	factors[0] = fr_one;
	for (i = 1; i < n; i++)
		fr_mul(&factors[i], &factors[i - 1], ratio);
}

/* root of order 2^NTT_MAX_LOG_R */
static int table_get(struct ntt *ntt, const struct fr *root, const void **tw)
{
	struct ntt_table *table;
	struct fr *factors;
	unsigned int i;

	for (i = 0; i < N_TABLES; i++) {
		if (fr_equal(&ntt->tables[i].root, root)) {
			*tw = ntt->tables[i].tw;
			return 0;
		}
	}
	factors = malloc(sizeof(*factors) << (NTT_MAX_LOG_R - 1));
	if (!factors)
		return -ENOMEM;
	table = &ntt->tables[ntt->next_table++ % N_TABLES];
	powers(factors, root, 1 << (NTT_MAX_LOG_R - 1));
	ntt->impl->tw_fill(table->tw, factors, 1 << (NTT_MAX_LOG_R - 1));
	free(factors);
	table->root = *root;
	*tw = table->tw;
	return 0;
}

int ntt_plan_init(struct ntt_plan *plan, struct ntt *ntt, unsigned int log_n,
		  const struct fr *root32, bool inverse)
{
	struct fr root = *root32, short_root;
	unsigned int i, left = log_n;

	if (log_n < NTT_PLAN_MIN_LOG_N || log_n > NTT_MAX_LOG_N)
		return -EINVAL;
	if (inverse)
		fr_inv_vartime(&root, &root);
	plan->ntt = ntt;
	plan->log_n = log_n;
	plan->n_pass = log_n <= 2 * NTT_MAX_LOG_R ? 2 :
		       (log_n + NTT_MAX_LOG_R - 1) / NTT_MAX_LOG_R;
	for (i = 0; i < plan->n_pass; i++) {
		plan->log_r[i] = left / (plan->n_pass - i);
		left -= plan->log_r[i];
	}
	ntt_root(&plan->root, &root, log_n);
	ntt_root(&short_root, &root, NTT_MAX_LOG_R);
	return table_get(ntt, &short_root, &plan->tw);
}

struct loop {
	struct ntt *ntt;
	size_t n, grain, weight;
	void (*fn)(void *arg, size_t begin, size_t end, void *buffer);
	void *arg;
};

static void loop_piece(void *arg, size_t i, unsigned int thread)
{
	struct loop *loop = arg;
	size_t begin = i * loop->grain, end = begin + loop->grain;

	if (ctl_stop(loop->ntt->ctl, thread))
		return;
	if (end > loop->n)
		end = loop->n;
	loop->fn(loop->arg, begin, end,
		 loop->ntt->buffers + thread * loop->ntt->impl->buffer_size);
	ctl_done(loop->ntt->ctl, thread, (end - begin) * loop->weight);
}

int ntt_for(struct ntt *ntt, size_t n, size_t grain, size_t weight,
	    void (*fn)(void *arg, size_t begin, size_t end, void *buffer), void *arg)
{
	struct loop loop = { ntt, n, grain, weight, fn, arg };

	tpool_run(ntt->pool, loop_piece, &loop, (n + grain - 1) / grain);
	return ctl_stop(ntt->ctl, 0) ? -ECANCELED : 0;
}

static void run_groups(void *arg, size_t begin, size_t end, void *buffer)
{
	const struct ntt_pass *pass = arg;

	pass->impl->run(pass, begin, end, buffer);
}

/* Pieces of about 2^17 elements, a few milliseconds, but some for every thread. */
static int pass_run(struct ntt *ntt, struct ntt_pass *pass)
{
	size_t n = ntt_pass_groups(pass);
	size_t grain = ((size_t)1 << 14) >> pass->log_r;
	size_t share = n / (8 * tpool_threads(ntt->pool));

	if (tpool_threads(ntt->pool) > 1 && grain > share)
		grain = share;
	if (grain == 0)
		grain = 1;
	return ntt_for(ntt, n, grain, (size_t)NTT_LANES << pass->log_r, run_groups, pass);
}

static void pass_init(struct ntt_pass *pass, const struct ntt_plan *plan, unsigned int t)
{
	memset(pass, 0, sizeof(*pass));
	pass->impl = plan->ntt->impl;
	pass->brev = plan->ntt->brev;
	pass->tw = plan->tw;
	pass->log_r = plan->log_r[t];
	pass->start_base = pass->start_lane = pass->step_base = pass->step_lane = fr_one;
}

/* log2 of R_from * ... * R_(to-1) */
static unsigned int log_span(const struct ntt_plan *plan, unsigned int from, unsigned int to)
{
	unsigned int sum = 0;

	while (from < to)
		sum += plan->log_r[from++];
	return sum;
}

static void pass_outer(struct ntt_pass *pass, unsigned int log_radix, size_t src, size_t dst)
{
	pass->outer[pass->n_outer].radix = (size_t)1 << log_radix;
	pass->outer[pass->n_outer].src = src;
	pass->outer[pass->n_outer].dst = dst;
	pass->n_outer++;
}

/* base^(2^log) */
static void pow_2k(struct fr *out, const struct fr *base, unsigned int log)
{
	fr_pow_u64(out, base, 1ull << log);
}

/* Tables of ratio^(i * 2^log_stride), i < R; freed by the caller. */
static void *ratio_table(const struct ntt_plan *plan, const struct fr *ratio,
			 unsigned int log_stride, unsigned int log_r)
{
	size_t n = (size_t)1 << log_r;
	struct fr step, *factors = malloc(n * sizeof(*factors));
	void *tw = aligned_alloc(64, (n * plan->ntt->impl->tw_size + 63) & ~(size_t)63);

	if (factors && tw) {
		pow_2k(&step, ratio, log_stride);
		powers(factors, &step, n);
		plan->ntt->impl->tw_fill(tw, factors, n);
		free(factors);
		return tw;
	}
	free(factors);
	free(tw);
	return NULL;
}

/* Pass t but the last: lanes are the inner index. */
static int pass_inner(const struct ntt_plan *plan, unsigned int t, const struct fr *src,
		      struct fr *work, const struct ntt_around *around)
{
	unsigned int log_s = log_span(plan, t + 1, plan->n_pass);
	unsigned int log_before = log_span(plan, 0, t);
	struct ntt_pass pass;
	void *in_tw = NULL;
	int err;

	pass_init(&pass, plan, t);
	pass.src = t == 0 ? src : work;
	pass.dst = work;
	pass.src_row = pass.dst_row = (size_t)1 << log_s;
	pass.src_lane = pass.dst_lane = 1;
	pass.lanes = (size_t)1 << log_s;
	pass_outer(&pass, log_before, (size_t)1 << (log_s + plan->log_r[t]),
		   (size_t)1 << (log_s + plan->log_r[t]));
	pass.out = NTT_OUT_GEOMETRIC;
	pow_2k(&pass.step_lane, &plan->root, log_before);	/* of order N_t */
	if (around->post)
		pow_2k(&pass.step_base, around->post, log_before);
	if (t == 0) {
		pass.src2 = around->src2;
		if (around->scale)
			pass.start_base = *around->scale;
		if (around->pre) {
			pass.start_lane = *around->pre;
			in_tw = ratio_table(plan, around->pre, log_s, plan->log_r[0]);
			if (!in_tw)
				return -ENOMEM;
			pass.in_tw = in_tw;
		}
	}
	err = pass_run(plan->ntt, &pass);
	free(in_tw);
	return err;
}

int ntt_chain_first(const struct ntt_plan *plan, const struct fr *src, struct fr *work,
		    const struct ntt_around *around)
{
	unsigned int t;
	int err;

	for (t = 0; t + 1 < plan->n_pass; t++) {
		err = pass_inner(plan, t, src, work, around);
		if (err)
			return err;
	}
	return 0;
}

int ntt_chain_last(const struct ntt_plan *plan, const struct fr *work, struct fr *dst,
		   const struct ntt_around *around)
{
	unsigned int t, last = plan->n_pass - 1, log_r = plan->log_r[last];
	struct ntt_pass pass;
	void *out_tw = NULL;
	int err;

	/* neighbours in memory are transformed; lanes are k_0, neighbours in dst */
	pass_init(&pass, plan, last);
	pass.src = work;
	pass.src_row = 1;
	pass.src_lane = (size_t)1 << log_span(plan, 1, plan->n_pass);
	pass.dst = dst;
	pass.dst_row = (size_t)1 << (plan->log_n - log_r);
	pass.dst_lane = 1;
	pass.lanes = (size_t)1 << plan->log_r[0];
	for (t = last - 1; t > 0; t--)
		pass_outer(&pass, plan->log_r[t], (size_t)1 << log_span(plan, t + 1, plan->n_pass),
			   (size_t)1 << log_span(plan, 0, t));
	pass.out = NTT_OUT_PLAIN;
	pass.add = around->add;
	if (around->post) {
		pass.out = NTT_OUT_TABLE;
		out_tw = ratio_table(plan, around->post, plan->log_n - log_r, log_r);
		if (!out_tw)
			return -ENOMEM;
		pass.out_tw = out_tw;
	}
	err = pass_run(plan->ntt, &pass);
	free(out_tw);
	return err;
}

/* Pass t of a chain from digits to natural order. */
static void pass_back(struct ntt_pass *pass, const struct ntt_plan *plan, unsigned int t,
		      struct fr *data)
{
	unsigned int log_s = log_span(plan, t + 1, plan->n_pass);
	unsigned int log_row = log_s + plan->log_r[t], log_before, log_rows;
	struct fr w;

	pass_init(pass, plan, t);
	pass->src = pass->dst = data;
	pass->src_row = pass->dst_row = (size_t)1 << log_s;
	if (t == 0) {
		pass->out = NTT_OUT_PLAIN;
		pass->src_lane = pass->dst_lane = 1;
		pass->lanes = (size_t)1 << log_s;
		return;
	}
	log_before = log_span(plan, 0, t - 1);
	log_rows = log_row + plan->log_r[t - 1];
	pass->out = NTT_OUT_GEOMETRIC;
	pow_2k(&w, &plan->root, log_before);	/* of order N_(t-1) */
	if (t == plan->n_pass - 1) {
		/* lanes are k_(t-1) */
		pass->src_lane = pass->dst_lane = (size_t)1 << log_row;
		pass->lanes = (size_t)1 << plan->log_r[t - 1];
		pass->step_lane = w;
	} else {
		pass->src_lane = pass->dst_lane = 1;
		pass->lanes = (size_t)1 << log_s;
		pass->by_outer = true;
		pass->start_lane = w;
		pow_2k(&pass->step_base, &w, log_s);
		pass_outer(pass, plan->log_r[t - 1], (size_t)1 << log_row, (size_t)1 << log_row);
	}
	pass_outer(pass, log_before, (size_t)1 << log_rows, (size_t)1 << log_rows);
}

int ntt_chain_around(const struct ntt_plan *last, const struct ntt_plan *plan, struct fr *work,
		     const struct ntt_around *around)
{
	unsigned int t = plan->n_pass - 1, log_r = plan->log_r[t];
	struct ntt_pass pass;
	void *mid_tw;
	int err;

	/* the same rows are transformed by both: one pass does it */
	mid_tw = ratio_table(plan, around->post, plan->log_n - log_r, log_r);
	if (!mid_tw)
		return -ENOMEM;
	pass_back(&pass, plan, t, work);
	pass.first_tw = last->tw;
	pass.mid_tw = mid_tw;
	err = pass_run(plan->ntt, &pass);
	free(mid_tw);
	while (!err && t-- > 0) {
		pass_back(&pass, plan, t, work);
		err = pass_run(plan->ntt, &pass);
	}
	return err;
}

void ntt_small(struct fr *data, unsigned int log_n, const struct fr *root)
{
	const size_t n = (size_t)1 << log_n;
	struct fr w_level = *root;
	size_t i, j, m, half;

	/* decimation in frequency, then the bits are put in order */
	for (half = n / 2; half; half /= 2) {
		struct fr w = fr_one;

		for (j = 0; j < half; j++) {
			for (i = j; i < n; i += 2 * half) {
				struct fr t;

				fr_sub(&t, &data[i], &data[i + half]);
				fr_add(&data[i], &data[i], &data[i + half]);
				fr_mul(&data[i + half], &t, &w);
			}
			fr_mul(&w, &w, &w_level);
		}
		fr_sqr(&w_level, &w_level);
	}
	for (i = 1, j = 0; i < n; i++) {
		for (m = n / 2; j & m; m /= 2)
			j ^= m;
		j ^= m;
		if (i < j) {
			struct fr t = data[i];

			data[i] = data[j];
			data[j] = t;
		}
	}
}

/* data[i] *= base * ratio^i */
static void scale_small(struct fr *data, size_t n, const struct fr *base, const struct fr *ratio)
{
	struct fr f = *base;
	size_t i;

	for (i = 0; i < n; i++) {
		fr_mul(&data[i], &data[i], &f);
		fr_mul(&f, &f, ratio);
	}
}

int ntt_run(struct ntt *ntt, struct fr *data, struct fr *scratch, unsigned int log_n,
	    bool inverse, const struct fr *root32, const struct fr *shift)
{
	struct ntt_around around = { 0 };
	struct fr scale, unshift, root;
	struct ntt_plan plan;
	int err;

	if (log_n > NTT_MAX_LOG_N)
		return -EINVAL;
	fr_from_u64(&scale, 1ull << log_n);
	fr_inv_vartime(&scale, &scale);
	if (shift)
		fr_inv_vartime(&unshift, shift);
	if (log_n < NTT_PLAN_MIN_LOG_N) {
		ntt_root(&root, root32, log_n);
		if (inverse)
			fr_inv_vartime(&root, &root);
		if (!inverse && shift)
			scale_small(data, (size_t)1 << log_n, &fr_one, shift);
		ntt_small(data, log_n, &root);
		if (inverse)
			scale_small(data, (size_t)1 << log_n, &scale, shift ? &unshift : &fr_one);
		return 0;
	}
	err = ntt_plan_init(&plan, ntt, log_n, root32, inverse);
	if (err)
		return err;
	if (inverse) {
		around.scale = &scale;
		around.post = shift ? &unshift : NULL;
	} else {
		around.pre = shift;
	}
	err = ntt_chain_first(&plan, data, scratch, &around);
	if (err)
		return err;
	return ntt_chain_last(&plan, scratch, data, &around);
}
