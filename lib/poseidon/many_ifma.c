/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * many_ifma.c - eight Poseidon hashes at once, by AVX-512 IFMA
 *
 * Elements are kept times 2^260 instead of struct fr's 2^256, so that products
 * of states and of constants alike keep their form (ifma_fr.h).  A sum of
 * products is added up in ten digits and reduced once: with 12 products of
 * values below 16r and r it stays below 2^59 a digit and 6r in value.
 *
 * Ranges, in multiples of r: a reduction gives (-1, x), made positive by
 * adding r.  In a partial round the elements 1..t-1 grow by at most 1.1, so
 * they are reduced every 12 rounds and stay below 16.
 */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "lib/bls12_381/ifma_fr.h"
#include "lib/poseidon/many.h"
#include "lib/poseidon/poseidon.h"

#define MAX_T POSEIDON_MAX_WIDTH
#define MAX_RP 57
#define HALF (POSEIDON_FULL_ROUNDS / 2)
#define REDUCE_EVERY 12

/* A constant times 2^260, in 52-bit digits, below r. */
struct digits {
	uint64_t l[5];
};

/* struct poseidon_constants of one arity, in that form */
struct table {
	struct digits tag, to_form;
	struct digits keys[POSEIDON_FULL_ROUNDS * MAX_T + MAX_RP];
	struct digits mds[MAX_T * MAX_T], pre_sparse[MAX_T * MAX_T];
	struct digits sparse[MAX_RP * (2 * MAX_T - 1)];
};

static struct table tables[4];
static pthread_once_t once[4] = {
	PTHREAD_ONCE_INIT, PTHREAD_ONCE_INIT, PTHREAD_ONCE_INIT, PTHREAD_ONCE_INIT
};

static void split(struct digits *d, const struct fr *a)
{
	d->l[0] = a->l[0] & FV_MASK;
	d->l[1] = (a->l[0] >> 52 | a->l[1] << 12) & FV_MASK;
	d->l[2] = (a->l[1] >> 40 | a->l[2] << 24) & FV_MASK;
	d->l[3] = (a->l[2] >> 28 | a->l[3] << 36) & FV_MASK;
	d->l[4] = a->l[3] >> 16;
}

static void split_all(struct digits *d, const struct fr *a, size_t n)
{
	struct fr t;
	size_t i;

	for (i = 0; i < n; i++) {
		fv_factor_form(&t, &a[i]);
		split(&d[i], &t);
	}
}

static void fill(struct table *t, unsigned int arity)
{
	const struct poseidon_constants *c = poseidon_constants(arity);
	struct fr x = fr_one;
	unsigned int w = c->width, i;

	for (i = 0; i < 8; i++)
		fr_double(&x, &x);
	split(&t->to_form, &x);		/* 2^264 */
	poseidon_tag(POSEIDON_MERKLE, arity, &x);
	split_all(&t->tag, &x, 1);
	/* the last full round has no keys, but there are t before the first */
	split_all(t->keys, c->keys, POSEIDON_FULL_ROUNDS * w + c->partial_rounds);
	split_all(t->mds, c->mds, (size_t)w * w);
	split_all(t->pre_sparse, c->pre_sparse, (size_t)w * w);
	split_all(t->sparse, c->sparse, (size_t)c->partial_rounds * (2 * w - 1));
}

static void fill_2(void)
{
	fill(&tables[0], 2);
}

static void fill_4(void)
{
	fill(&tables[1], 4);
}

static void fill_8(void)
{
	fill(&tables[2], 8);
}

static void fill_11(void)
{
	fill(&tables[3], 11);
}

static const struct table *table(unsigned int arity)
{
	static void (*const fills[4])(void) = { fill_2, fill_4, fill_8, fill_11 };
	unsigned int i = arity == 2 ? 0 : arity == 4 ? 1 : arity == 8 ? 2 : 3;

	assert(arity == 2 || arity == 4 || arity == 8 || arity == 11);
	pthread_once(&once[i], fills[i]);
	return &tables[i];
}

/* r = a + key + k*r, digits carried */
FV_INLINE void add_constant(struct fv *r, const struct fv *a, const struct digits *key, uint64_t k)
{
	struct fv t;
	int i;

	FV_UNROLL for (i = 0; i < 5; i++)
		t.l[i] = _mm512_add_epi64(a->l[i], fv_set1(key->l[i]));
	fv_carry_plus(r, &t, k);
}

/* c += a * b; a's digits below 2^52 */
FV_INLINE void accumulate(__m512i c[10], const struct fv *a, const struct digits *b)
{
	int i;

	FV_UNROLL for (i = 0; i < 5; i++)
		fv_madd_row(c, i, a, fv_set1(b->l[i]));
}

/* c / 2^260, made positive; digits carried */
FV_INLINE void reduce_sum(struct fv *r, __m512i c[10])
{
	struct fv t;
	int i;

	FV_UNROLL for (i = 0; i < 5; i++)
		fv_redc_digit(c, i);
	FV_UNROLL for (i = 0; i < 5; i++)
		t.l[i] = c[i + 5];
	fv_tidy(r, &t);
}

/* Where the values of a trace go (trace.h): the next one's place in each lane. */
struct trace {
	struct fr *next;
	size_t stride;
};

/*
 * Appends x, positive and below 16r with carried digits, in struct fr's form:
 * x / 2^4 mod r.  As r is 1 mod 2^32, x + k*r ends in four zeros for k = -x
 * mod 2^4; the quotient is below 2r.
 */
FV_INLINE void emit(struct trace *tr, const struct fv *x)
{
	const uint64_t digit[5] = { FV_R0, FV_R1, FV_R2, FV_R3, FV_R4 };
	struct fv t = *x, u;
	__m512i k;
	int i;

	if (!tr)
		return;
	k = _mm512_and_si512(_mm512_sub_epi64(_mm512_setzero_si512(), x->l[0]), fv_set1(15));
	FV_UNROLL for (i = 0; i < 5; i++)
		t.l[i] = _mm512_madd52lo_epu64(t.l[i], k, fv_set1(digit[i]));
	FV_UNROLL for (i = 0; i < 4; i++)
		t.l[i + 1] = _mm512_madd52hi_epu64(t.l[i + 1], k, fv_set1(digit[i]));
	fv_carry(&t, &t);
	FV_UNROLL for (i = 0; i < 4; i++)
		u.l[i] = fv_or_mask(_mm512_srli_epi64(t.l[i], 4), _mm512_slli_epi64(t.l[i + 1], 48));
	u.l[4] = _mm512_srli_epi64(t.l[4], 4);
	fv_center(&u, &u);
	fv_canon(&u, &u);
	fv_store(tr->next++, tr->stride, &u);
}

/* x^5, lazy, in (-r, 1.2r) for x below 16r; traces x (unless fresh), x^2, x^4 */
FV_INLINE void quintic(struct fv *r, const struct fv *x, struct trace *tr, bool fresh)
{
	struct fv t;

	if (!fresh)
		emit(tr, x);
	fv_mul_tidy(&t, x, x);
	fv_tidy(&t, &t);
	emit(tr, &t);
	fv_mul_tidy(&t, &t, &t);
	fv_tidy(&t, &t);
	emit(tr, &t);
	fv_mul_tidy(r, &t, x);
}

/* S-boxes of a full round, and the keys behind them */
FV_INLINE void full_boxes(struct fv *s, const struct digits *keys, unsigned int t,
			  struct trace *tr, bool first)
{
	unsigned int i;

	for (i = 0; i < t; i++) {
		/* the first round's first element is a constant */
		struct trace *tri = first && i == 0 ? NULL : tr;

		quintic(&s[i], &s[i], tri, first);
		if (keys)
			add_constant(&s[i], &s[i], &keys[i], 1);
		else
			fv_tidy(&s[i], &s[i]);
		emit(tri, &s[i]);
	}
}

static void mix_one(struct fv *r, const struct fv *s, const struct digits *m, unsigned int t,
		    unsigned int j)
{
	__m512i c[10];
	unsigned int i;

	for (i = 0; i < 10; i++)
		c[i] = _mm512_setzero_si512();
	for (i = 0; i < t; i++)
		accumulate(c, &s[i], &m[i * t + j]);
	reduce_sum(r, c);
}

static void mix(struct fv *s, const struct digits *m, unsigned int t)
{
	struct fv out[MAX_T];
	unsigned int j;

	for (j = 0; j < t; j++)
		mix_one(&out[j], s, m, t, j);
	for (j = 0; j < t; j++)
		s[j] = out[j];
}

FV_INLINE void partial_round(struct fv *s, const struct digits *key, const struct digits *sp,
			     unsigned int t, struct trace *tr)
{
	__m512i c[10];
	struct fv first;
	unsigned int i, d;

	quintic(&s[0], &s[0], tr, false);
	add_constant(&s[0], &s[0], key, 1);
	emit(tr, &s[0]);
	first = s[0];
	for (i = 0; i < 10; i++)
		c[i] = _mm512_setzero_si512();
	for (i = 0; i < t; i++)
		accumulate(c, &s[i], &sp[i]);
	reduce_sum(&s[0], c);
	for (i = 1; i < t; i++) {
		/* s[i] counts from 2^260 on, so it is as if it had been multiplied */
		for (d = 0; d < 5; d++) {
			c[d] = _mm512_setzero_si512();
			c[d + 5] = s[i].l[d];
		}
		accumulate(c, &first, &sp[t + i - 1]);
		reduce_sum(&s[i], c);
	}
}

/* The hashes to x, times 2^260, positive and below 16r. */
FV_INLINE void hash_8(unsigned int arity, const struct fr *in, struct fv *out, struct trace *tr)
{
	const struct table *tab = table(arity);
	const struct digits *keys = tab->keys, *sp = tab->sparse;
	const unsigned int t = arity + 1, n_partial = poseidon_constants(arity)->partial_rounds;
	__m512i c[10];
	struct fv s[MAX_T], x;
	unsigned int i, r;

	for (i = 0; i < 5; i++)
		x.l[i] = fv_set1(tab->tag.l[i]);
	add_constant(&s[0], &x, keys++, 0);
	for (i = 1; i < t; i++) {
		fv_load(&x, in + i - 1, arity);
		for (r = 0; r < 10; r++)
			c[r] = _mm512_setzero_si512();
		accumulate(c, &x, &tab->to_form);
		reduce_sum(&x, c);
		add_constant(&s[i], &x, keys++, 0);
	}
	for (r = 0; r < HALF; r++, keys += t) {
		full_boxes(s, keys, t, tr, r == 0);
		mix(s, r == HALF - 1 ? tab->pre_sparse : tab->mds, t);
	}
	for (r = 0; r < n_partial; r++, sp += 2 * t - 1) {
		partial_round(s, keys++, sp, t, tr);
		for (i = 1; r % REDUCE_EVERY == REDUCE_EVERY - 1 && i < t; i++)
			fv_reduce(&s[i], &s[i]);
	}
	for (r = 0; r < HALF; r++, keys += t) {
		full_boxes(s, r < HALF - 1 ? keys : NULL, t, tr, false);
		if (r < HALF - 1)
			mix(s, tab->mds, t);
	}
	mix_one(out, s, tab->mds, t, 1);
}

void poseidon_hash_8_ifma(unsigned int arity, const struct fr *in, struct fr *out)
{
	struct trace tr = { out, 1 };
	struct fv x;

	hash_8(arity, in, &x, NULL);
	emit(&tr, &x);
}

void poseidon_trace_8_ifma(unsigned int arity, const struct fr *in, struct fr *full, size_t stride)
{
	struct trace tr = { full, stride };
	struct fv x;

	hash_8(arity, in, &x, &tr);
	emit(&tr, &x);
}
