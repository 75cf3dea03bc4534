/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* g1_fixed.c - sums over bases known in advance */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/bls12_381/g1_fixed.h"
#include "lib/bls12_381/limbs.h"
#include "lib/bls12_381/glv_impl.h"

struct g1_fixed {
	size_t n;
	unsigned int width;		/* of the digits: they are odd and below 2^(width - 1) */
	size_t entries;			/* 2^(width - 2): 1, 3, 5 ... times the base */
	struct g1_affine table[];	/* entries of base 0, of base 1, ... */
};

/* Bases whose points are summed together: what they select fits the L2 cache. */
#define CHUNK 128
#define DIGITS_MAX 27			/* of half a scalar, at the least width, 5 */

int g1_fixed_open(struct g1_fixed **fixed, const struct g1_affine *bases, size_t n)
{
	unsigned int width = n <= 512 ? 9 : n <= 4096 ? 6 : 5;
	size_t entries = (size_t)1 << (width - 2), i, j;
	struct g1_fixed *f = NULL;
	struct g1 *t, twice;

	if (n > SIZE_MAX / sizeof(struct g1_affine) / entries - 1)
		return -ENOMEM;
	t = malloc(entries * sizeof(*t));
	if (!t)
		return -ENOMEM;
	f = malloc(sizeof(*f) + n * entries * sizeof(f->table[0]));
	if (!f) {
		free(t);
		return -ENOMEM;
	}
	f->n = n;
	f->width = width;
	f->entries = entries;
	for (i = 0; i < n; i++) {
		g1_from_affine(&t[0], &bases[i]);
		g1_double(&twice, &t[0]);
		for (j = 1; j < entries; j++)
			g1_add(&t[j], &t[j - 1], &twice);
		g1_batch_to_affine(&f->table[i * entries], t, entries);
	}
	free(t);
	*fixed = f;
	return 0;
}

void g1_fixed_close(struct g1_fixed *fixed)
{
	free(fixed);
}

size_t g1_fixed_n(const struct g1_fixed *fixed)
{
	return fixed->n;
}

struct sum_scratch {
	struct wnaf_digit digits[CHUNK][2][DIGITS_MAX];
	int n_digits[CHUNK][2];
	uint32_t len[WNAF_MAX];
	uint32_t next[WNAF_MAX];
	uint32_t at[CHUNK * DIGITS_MAX + WNAF_MAX / 2];
	struct fp tmp[CHUNK * 2 * DIGITS_MAX + WNAF_MAX];
	struct g1_affine pts[CHUNK * 2 * DIGITS_MAX + WNAF_MAX];
};

static const struct g1_affine *entry(const struct g1_fixed *f, size_t i, int d)
{
	return &f->table[i * f->entries + (d > 0 ? d : -d) / 2];
}

/* The point of digit d of half h: d times base i, or times its image under phi. */
static void select_point(struct g1_affine *r, const struct g1_fixed *f, size_t i, int h, int d)
{
	*r = *entry(f, i, d);
	if (h)
		fp_mul(&r->x, &r->x, &FP_BETA);
	if (d < 0)
		fp_neg(&r->y, &r->y);
}

/*
 * Adds to acc[j], affine, the points whose digit is at position j, for bases
 * first..first+n-1.
 */
static void sum_chunk(struct g1_affine acc[WNAF_MAX], const struct g1_fixed *f,
		      const struct scalar *k, size_t first, size_t n, struct sum_scratch *s)
{
	uint32_t pos = 0;
	size_t i;
	int j, h;

	for (j = 0; j < WNAF_MAX; j++)
		s->len[j] = 1;
	for (i = 0; i < n; i++) {
		uint64_t half[2][2];

		split_lambda(half[0], half[1], &k[first + i]);
		for (h = 0; h < 2; h++) {
			s->n_digits[i][h] = wnaf(s->digits[i][h], half[h], 2, f->width);
			for (j = 0; j < s->n_digits[i][h]; j++) {
				struct wnaf_digit d = s->digits[i][h][j];
				const char *e = (const char *)entry(f, first + i, d.value);

				s->len[d.pos]++;
				/* the tables exceed the L2 cache */
				__builtin_prefetch(e);
				__builtin_prefetch(e + 64);
			}
		}
	}
	for (j = 0; j < WNAF_MAX; j++) {
		s->pts[pos] = acc[j];
		s->next[j] = pos + 1;
		pos += s->len[j];
	}
	for (i = 0; i < n; i++)
		for (h = 0; h < 2; h++)
			for (j = 0; j < s->n_digits[i][h]; j++) {
				struct wnaf_digit d = s->digits[i][h][j];

				select_point(&s->pts[s->next[d.pos]++], f, first + i, h, d.value);
			}
	g1_sum_runs(s->pts, s->len, WNAF_MAX, s->tmp, s->at);
	memcpy(acc, s->pts, WNAF_MAX * sizeof(*acc));
}

int g1_fixed_sum(struct g1 *r, const struct g1_fixed *fixed, const struct scalar *k, size_t n)
{
	struct g1_affine acc[WNAF_MAX];
	struct sum_scratch *s;
	struct g1 sum;
	size_t i;
	int j;

	s = malloc(sizeof(*s));
	if (!s)
		return -ENOMEM;
	if (n > fixed->n)
		n = fixed->n;
	memset(acc, 0, sizeof(acc));		/* infinity */
	for (i = 0; i < n; i += CHUNK)
		sum_chunk(acc, fixed, k, i, n - i < CHUNK ? n - i : CHUNK, s);
	free(s);
	g1_set_infinity(&sum);
	for (j = WNAF_MAX - 1; j >= 0; j--) {
		if (!g1_is_infinity(&sum))
			g1_double(&sum, &sum);
		g1_add_affine(&sum, &sum, &acc[j]);
	}
	*r = sum;
	return 0;
}
