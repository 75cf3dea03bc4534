/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* verify.c - Groth16 verification (filecoin-spec 1.6) */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "engine/groth16/verify.h"
#include "lib/bls12_381/pairing.h"

/*
 * The sum of in_i ic_i is made by buckets of 8-bit digits.  Most inputs of
 * Filecoin's circuits are node numbers of 30 bits: digits of 0 cost nothing.
 * With few inputs, 2^(8w) ic_i are kept for all w, which leaves one round of
 * buckets; with many that is too much memory and there is a round for each w.
 */
#define DIGITS 32
#define BUCKETS 256
#define TABLE_INPUTS_MAX 1024u	/* 3 MiB */

struct pvk {
	uint32_t n;			/* inputs without ONE */
	struct g1_affine alpha, ic0;
	struct g2_prepared beta, gamma, delta;
	struct fp12 alpha_beta;
	unsigned int n_digits;		/* kept for each input: DIGITS or 1 */
	struct g1_affine *ic;		/* [i * n_digits + w] = 2^(8w) ic_(i+1) */
};

/* All 2^(8w) multiples of one point. */
static void fill_row(struct g1_affine *row, const struct g1_affine *base)
{
	struct g1 shifted[DIGITS];
	unsigned int w, k;

	g1_from_affine(&shifted[0], base);
	for (w = 1; w < DIGITS; w++) {
		shifted[w] = shifted[w - 1];
		for (k = 0; k < 8; k++)
			g1_double(&shifted[w], &shifted[w]);
	}
	g1_batch_to_affine(row, shifted, DIGITS);
}

int pvk_open(struct pvk **out, const struct vk *vk)
{
	struct pvk *pvk;
	uint32_t i;

	pvk = calloc(1, sizeof(*pvk));
	if (!pvk)
		return -ENOMEM;
	pvk->n = vk->n_ic - 1;
	pvk->n_digits = pvk->n <= TABLE_INPUTS_MAX ? DIGITS : 1;
	pvk->ic = malloc(((size_t)pvk->n * pvk->n_digits + 1) * sizeof(*pvk->ic));
	if (!pvk->ic) {
		free(pvk);
		return -ENOMEM;
	}
	for (i = 0; i < pvk->n; i++)
		if (pvk->n_digits == 1)
			pvk->ic[i] = vk->ic[i + 1];
		else
			fill_row(&pvk->ic[(size_t)i * DIGITS], &vk->ic[i + 1]);
	pvk->alpha = vk->alpha_g1;
	pvk->ic0 = vk->ic[0];
	g2_prepare(&pvk->beta, &vk->beta_g2);
	g2_prepare(&pvk->gamma, &vk->gamma_g2);
	g2_prepare(&pvk->delta, &vk->delta_g2);
	pairing(&pvk->alpha_beta, &vk->alpha_g1, &vk->beta_g2);
	*out = pvk;
	return 0;
}

void pvk_close(struct pvk *pvk)
{
	if (!pvk)
		return;
	free(pvk->ic);
	free(pvk);
}

uint32_t pvk_inputs(const struct pvk *pvk)
{
	return pvk->n;
}

static unsigned int digit(const struct scalar *s, unsigned int w)
{
	return s->l[w / 8] >> w % 8 * 8 & 0xff;
}

/* sum of k * bucket[k], k up to top */
static void sum_buckets(struct g1 *sum, const struct g1 *bucket, unsigned int top)
{
	struct g1 running;
	unsigned int k;

	g1_set_infinity(&running);
	g1_set_infinity(sum);
	for (k = top; k > 0; k--) {
		g1_add(&running, &running, &bucket[k]);
		g1_add(sum, sum, &running);
	}
}

static void input_sum_rounds(struct g1 *acc, const struct pvk *pvk, const struct scalar *in)
{
	struct g1 bucket[BUCKETS], sum;
	unsigned int d, k, top;
	int w;
	uint32_t i;

	g1_set_infinity(acc);
	for (w = DIGITS - 1; w >= 0; w--) {
		for (k = 0; k < 8; k++)
			g1_double(acc, acc);
		for (k = 0; k < BUCKETS; k++)
			g1_set_infinity(&bucket[k]);
		for (top = i = 0; i < pvk->n; i++) {
			d = digit(&in[i], w);
			if (!d)
				continue;
			if (d > top)
				top = d;
			g1_add_affine(&bucket[d], &bucket[d], &pvk->ic[i]);
		}
		sum_buckets(&sum, bucket, top);
		g1_add(acc, acc, &sum);
	}
}

/* in_i ic_(i+1) over all i */
static void input_sum(struct g1 *acc, const struct pvk *pvk, const struct scalar *in)
{
	struct g1 bucket[BUCKETS];
	unsigned int d, k, w, top = 0;
	uint32_t i;

	if (pvk->n_digits == 1) {
		input_sum_rounds(acc, pvk, in);
		return;
	}
	for (k = 0; k < BUCKETS; k++)
		g1_set_infinity(&bucket[k]);
	for (i = 0; i < pvk->n; i++)
		for (w = 0; w < DIGITS; w++) {
			d = digit(&in[i], w);
			if (!d)
				continue;
			if (d > top)
				top = d;
			g1_add_affine(&bucket[d], &bucket[d], &pvk->ic[(size_t)i * DIGITS + w]);
		}
	sum_buckets(acc, bucket, top);
}

int pvk_verify(const struct pvk *pvk, const struct proof *proof, const struct fr *inputs, size_t n)
{
	struct g1_affine minus_l, minus_c;
	struct miller_pair pairs[] = {
		{ .p = &proof->a, .q = &proof->b },
		{ .p = &minus_l, .prepared = &pvk->gamma },
		{ .p = &minus_c, .prepared = &pvk->delta },
	};
	struct scalar *in;
	struct fp12 f;
	struct g1 l;
	size_t i;

	if (n != pvk->n)
		return -EINVAL;
	in = malloc((n + 1) * sizeof(*in));
	if (!in)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		fr_to_scalar(&in[i], &inputs[i]);
	input_sum(&l, pvk, in);
	free(in);
	g1_add_affine(&l, &l, &pvk->ic0);
	g1_neg(&l, &l);
	g1_to_affine(&minus_l, &l);
	g1_affine_neg(&minus_c, &proof->c);
	miller_loop_n(&f, pairs, 3);
	final_exp(&f, &f);
	return fp12_equal(&f, &pvk->alpha_beta);
}

/* 128 random bits, not 0. */
static int random_weight(struct scalar *z)
{
	memset(z, 0, sizeof(*z));
	do {
		if (getrandom(z->l, 16, 0) < 0 && errno != EINTR)
			return -errno;
	} while (!(z->l[0] | z->l[1]));
	return 0;
}

/*
 * With weights z_j, z = sum z_j: the product over j of e(z_j A_j, B_j) times
 * e(-z alpha, beta) e(-(z ic_0 + sum_i (sum_j z_j in_ji) ic_i), gamma)
 * e(-sum z_j C_j, delta) is 1.
 */
int pvk_verify_batch(const struct pvk *pvk, const struct proof *proofs, size_t n_proofs,
		     const struct fr *inputs, size_t n)
{
	struct miller_pair *pairs = calloc(n_proofs + 3, sizeof(*pairs));
	struct g1_affine *points = calloc(n_proofs + 3, sizeof(*points));
	struct scalar *in = calloc(n + 1, sizeof(*in)), z;
	struct fr *sums = calloc(n + 1, sizeof(*sums)), zf, t, z_sum = fr_zero;
	struct g1 c, l, p;
	size_t i, j;
	int ret;

	if (n != pvk->n) {
		ret = -EINVAL;
		goto out;
	}
	if (!pairs || !points || !in || !sums) {
		ret = -ENOMEM;
		goto out;
	}
	g1_set_infinity(&c);
	for (j = 0; j < n_proofs; j++) {
		ret = random_weight(&z);
		if (ret)
			goto out;
		fr_from_scalar(&zf, &z);
		fr_add(&z_sum, &z_sum, &zf);
		for (i = 0; i < n; i++) {
			fr_mul(&t, &zf, &inputs[j * n + i]);
			fr_add(&sums[i], &sums[i], &t);
		}
		g1_mul_vartime(&p, &proofs[j].c, &z);
		g1_add(&c, &c, &p);
		g1_mul_vartime(&p, &proofs[j].a, &z);
		g1_to_affine(&points[j], &p);
		pairs[j] = (struct miller_pair){ .p = &points[j], .q = &proofs[j].b };
	}
	for (i = 0; i < n; i++)
		fr_to_scalar(&in[i], &sums[i]);
	input_sum(&l, pvk, in);
	fr_to_scalar(&z, &z_sum);
	g1_mul_vartime(&p, &pvk->ic0, &z);
	g1_add(&l, &l, &p);
	g1_neg(&l, &l);
	g1_to_affine(&points[j], &l);
	pairs[j] = (struct miller_pair){ .p = &points[j], .prepared = &pvk->gamma };
	g1_neg(&c, &c);
	g1_to_affine(&points[j + 1], &c);
	pairs[j + 1] = (struct miller_pair){ .p = &points[j + 1], .prepared = &pvk->delta };
	g1_mul_vartime(&p, &pvk->alpha, &z);
	g1_neg(&p, &p);
	g1_to_affine(&points[j + 2], &p);
	pairs[j + 2] = (struct miller_pair){ .p = &points[j + 2], .prepared = &pvk->beta };
	ret = pairing_product_is_one(pairs, n_proofs + 3);
out:
	free(pairs);
	free(points);
	free(in);
	free(sums);
	return ret;
}
