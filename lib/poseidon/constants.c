/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* constants.c - Poseidon's round constants and matrices (filecoin-spec section 5) */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "lib/poseidon/poseidon.h"

#define MAX_T POSEIDON_MAX_WIDTH
#define MAX_RP 57
#define HALF (POSEIDON_FULL_ROUNDS / 2)

struct table {
	struct poseidon_constants c;
	pthread_once_t once;
	struct fr keys[POSEIDON_FULL_ROUNDS * MAX_T + MAX_RP];
	struct fr mds[MAX_T * MAX_T], pre_sparse[MAX_T * MAX_T];
	struct fr sparse[MAX_RP * (2 * MAX_T - 1)];
};

static struct table table_2 = { .c = { 3, 55 }, .once = PTHREAD_ONCE_INIT };
static struct table table_4 = { .c = { 5, 56 }, .once = PTHREAD_ONCE_INIT };
static struct table table_8 = { .c = { 9, 57 }, .once = PTHREAD_ONCE_INIT };
static struct table table_11 = { .c = { 12, 57 }, .once = PTHREAD_ONCE_INIT };

/*
 * The Grain LFSR of the Poseidon paper's appendix: 80 bits of state, output
 * pairs of which the first says whether the second counts.
 */
struct grain {
	uint8_t bit[80];
	unsigned int head;
};

static unsigned int grain_step(struct grain *g)
{
	static const uint8_t taps[] = { 62, 51, 38, 23, 13, 0 };
	unsigned int i, v = 0;

	for (i = 0; i < sizeof(taps); i++)
		v ^= g->bit[(g->head + taps[i]) % 80];
	g->bit[g->head] = v;
	g->head = (g->head + 1) % 80;
	return v;
}

static unsigned int grain_bit(struct grain *g)
{
	unsigned int bit;

	while (!grain_step(g))
		grain_step(g);
	bit = grain_step(g);
	return bit;
}

static void grain_init(struct grain *g, unsigned int t, unsigned int partial_rounds)
{
	const struct { unsigned int value, bits; } head[] = {
		{ 1, 2 }, { 1, 4 }, { 255, 12 }, { t, 12 },
		{ POSEIDON_FULL_ROUNDS, 10 }, { partial_rounds, 10 }, { 0x3fffffff, 30 },
	};
	unsigned int i, j, n = 0;

	for (i = 0; i < sizeof(head) / sizeof(head[0]); i++)
		for (j = head[i].bits; j-- > 0;)
			g->bit[n++] = head[i].value >> j & 1;
	assert(n == 80);
	g->head = 0;
	for (i = 0; i < 160; i++)
		grain_step(g);
}

static void grain_fr(struct grain *g, struct fr *out)
{
	struct scalar s;
	int i;

	do {
		memset(&s, 0, sizeof(s));
		for (i = 254; i >= 0; i--)
			s.l[i / 64] |= (uint64_t)grain_bit(g) << (i % 64);
	} while (!scalar_is_canonical(&s));
	fr_from_scalar(out, &s);
}

/* x = inverse of the n*n matrix m times each of the k columns of x (row-major n*k) */
static void solve(const struct fr *m, struct fr *x, unsigned int n, unsigned int k)
{
	struct fr a[MAX_T * MAX_T], f, p, u;
	unsigned int i, j, c;

	memcpy(a, m, n * n * sizeof(*a));
	for (c = 0; c < n; c++) {
		/* minors of a Cauchy matrix and of its products here never need a swap */
		assert(!fr_is_zero(&a[c * n + c]));
		fr_inv_vartime(&p, &a[c * n + c]);
		for (j = c; j < n; j++)
			fr_mul(&a[c * n + j], &a[c * n + j], &p);
		for (j = 0; j < k; j++)
			fr_mul(&x[c * k + j], &x[c * k + j], &p);
		for (i = 0; i < n; i++) {
			if (i == c)
				continue;
			f = a[i * n + c];
			for (j = c; j < n; j++) {
				fr_mul(&u, &f, &a[c * n + j]);
				fr_sub(&a[i * n + j], &a[i * n + j], &u);
			}
			for (j = 0; j < k; j++) {
				fr_mul(&u, &f, &x[c * k + j]);
				fr_sub(&x[i * k + j], &x[i * k + j], &u);
			}
		}
	}
}

static void mat_mul(struct fr *r, const struct fr *a, const struct fr *b, unsigned int n)
{
	struct fr out[MAX_T * MAX_T], u;
	unsigned int i, j, k;

	for (i = 0; i < n; i++) {
		for (j = 0; j < n; j++) {
			struct fr *o = &out[i * n + j];

			*o = fr_zero;
			for (k = 0; k < n; k++) {
				fr_mul(&u, &a[i * n + k], &b[k * n + j]);
				fr_add(o, o, &u);
			}
		}
	}
	memcpy(r, out, n * n * sizeof(*r));
}

/*
 * Every key moves from in front of its round's S-boxes to behind those of the
 * round before, through the inverse matrix; in the partial rounds all but
 * element 0's part moves on to the round before that.
 */
static void make_keys(struct table *tb, unsigned int t, unsigned int rp)
{
	const unsigned int rounds = POSEIDON_FULL_ROUNDS + rp, last = HALF + rp;
	struct fr raw[(POSEIDON_FULL_ROUNDS + MAX_RP) * MAX_T], acc[MAX_T], partial[MAX_RP];
	struct fr *out = tb->keys;
	struct grain g;
	unsigned int i, j;

	grain_init(&g, t, rp);
	for (i = 0; i < rounds * t; i++)
		grain_fr(&g, &raw[i]);

	memcpy(out, raw, t * sizeof(*out));
	out += t;
	for (i = 1; i < HALF; i++, out += t) {
		memcpy(out, &raw[i * t], t * sizeof(*out));
		solve(tb->mds, out, t, 1);
	}
	memcpy(acc, &raw[last * t], t * sizeof(*acc));
	for (i = 0; i < rp; i++) {
		solve(tb->mds, acc, t, 1);
		partial[i] = acc[0];
		acc[0] = fr_zero;
		for (j = 0; j < t; j++)
			fr_add(&acc[j], &acc[j], &raw[(last - 1 - i) * t + j]);
	}
	solve(tb->mds, acc, t, 1);
	memcpy(out, acc, t * sizeof(*out));
	out += t;
	for (i = rp; i-- > 0;)
		*out++ = partial[i];
	for (i = 1; i < HALF; i++, out += t) {
		memcpy(out, &raw[(last + i) * t], t * sizeof(*out));
		solve(tb->mds, out, t, 1);
	}
}

/* M = M' * M'' with M' the identity but for the minor, M'' sparse; rp times. */
static void make_sparse(struct table *tb, unsigned int t, unsigned int rp)
{
	struct fr m[MAX_T * MAX_T], prime[MAX_T * MAX_T], hat[MAX_T * MAX_T], w[MAX_T];
	unsigned int i, j, r;

	memcpy(m, tb->mds, t * t * sizeof(*m));
	for (r = rp; r-- > 0;) {
		struct fr *s = &tb->sparse[r * (2 * t - 1)];

		for (i = 1; i < t; i++) {
			w[i - 1] = m[i * t];
			for (j = 1; j < t; j++)
				hat[(i - 1) * (t - 1) + j - 1] = m[i * t + j];
		}
		solve(hat, w, t - 1, 1);
		s[0] = m[0];
		memcpy(&s[1], w, (t - 1) * sizeof(*s));
		memcpy(&s[t], &m[1], (t - 1) * sizeof(*s));

		memcpy(prime, m, t * t * sizeof(*m));
		for (i = 1; i < t; i++)
			prime[i] = prime[i * t] = fr_zero;
		prime[0] = fr_one;
		mat_mul(m, tb->mds, prime, t);
	}
	memcpy(tb->pre_sparse, m, t * t * sizeof(*m));
}

static void table_init(struct table *tb)
{
	const unsigned int t = tb->c.width, rp = tb->c.partial_rounds;
	struct fr inv[2 * MAX_T], tmp[2 * MAX_T];
	unsigned int i, j;

	/* Cauchy: 1 / (i + t + j) */
	for (i = 0; i < 2 * t - 1; i++)
		fr_from_u64(&inv[i], t + i);
	fr_batch_inv_vartime(inv, 2 * t - 1, tmp);
	for (i = 0; i < t; i++)
		for (j = 0; j < t; j++)
			tb->mds[i * t + j] = inv[i + j];
	make_keys(tb, t, rp);
	make_sparse(tb, t, rp);
	tb->c.keys = tb->keys;
	tb->c.mds = tb->mds;
	tb->c.pre_sparse = tb->pre_sparse;
	tb->c.sparse = tb->sparse;
}

static void init_2(void)
{
	table_init(&table_2);
}

static void init_4(void)
{
	table_init(&table_4);
}

static void init_8(void)
{
	table_init(&table_8);
}

static void init_11(void)
{
	table_init(&table_11);
}

const struct poseidon_constants *poseidon_constants(unsigned int arity)
{
	switch (arity) {
	case 2:
		pthread_once(&table_2.once, init_2);
		return &table_2.c;
	case 4:
		pthread_once(&table_4.once, init_4);
		return &table_4.c;
	case 8:
		pthread_once(&table_8.once, init_8);
		return &table_8.c;
	case 11:
		pthread_once(&table_11.once, init_11);
		return &table_11.c;
	default:
		return NULL;
	}
}
