/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* prover.c - from the five sums to a proof (filecoin-spec 2.4) */
#include <errno.h>
#include <string.h>

#include "engine/groth16/prover.h"
#include "engine/groth16/random.h"

int blinding_random(struct blinding *b)
{
	struct blinding v;
	int ret;

	ret = random_scalar(&v.r);
	if (!ret)
		ret = random_scalar(&v.s);
	if (!ret)
		*b = v;
	explicit_bzero(&v, sizeof(v));
	return ret;
}

int blinding_parse(struct blinding *b, const char *text)
{
	const char *comma = strchr(text, ',');
	char first[80];
	struct fr r, s;

	if (!comma || comma - text >= (ptrdiff_t)sizeof(first))
		return -EINVAL;
	memcpy(first, text, comma - text);
	first[comma - text] = '\0';
	if (fr_from_dec(&r, first) || fr_from_dec(&s, comma + 1))
		return -EINVAL;
	fr_to_scalar(&b->r, &r);
	fr_to_scalar(&b->s, &s);
	return 0;
}

void blinding_offset(struct blinding *out, const struct blinding *b, uint32_t i)
{
	struct fr v, offset;

	fr_from_u64(&offset, i);
	fr_from_scalar(&v, &b->r);
	fr_add(&v, &v, &offset);
	fr_to_scalar(&out->r, &v);
	fr_from_scalar(&v, &b->s);
	fr_add(&v, &v, &offset);
	fr_to_scalar(&out->s, &v);
}

static void add_mul(struct g1 *sum, const struct g1_affine *p, const struct scalar *k)
{
	struct g1 t;

	g1_mul_vartime(&t, p, k);
	g1_add(sum, sum, &t);
}

void prover_assemble(struct proof *proof, const struct vk *vk, const struct gpu_sums *sums,
		     const struct blinding *b)
{
	struct fr r, s;
	struct scalar rs;
	struct g1 a, c;
	struct g2 b2, t2;

	fr_from_scalar(&r, &b->r);
	fr_from_scalar(&s, &b->s);
	fr_mul(&r, &r, &s);
	fr_to_scalar(&rs, &r);

	/* A = alpha + a + r delta */
	g1_mul_vartime(&a, &vk->delta_g1, &b->r);
	g1_add_affine(&a, &a, &vk->alpha_g1);
	g1_add_affine(&a, &a, &sums->a);

	/* B = beta + b2 + s delta */
	g2_mul_vartime(&t2, &vk->delta_g2, &b->s);
	g2_add_affine(&b2, &t2, &vk->beta_g2);
	g2_add_affine(&b2, &b2, &sums->b2);

	/* C = s (a + alpha) + r (b1 + beta) + rs delta + h + l */
	g1_mul_vartime(&c, &vk->delta_g1, &rs);
	add_mul(&c, &sums->a, &b->s);
	add_mul(&c, &vk->alpha_g1, &b->s);
	add_mul(&c, &sums->b1, &b->r);
	add_mul(&c, &vk->beta_g1, &b->r);
	g1_add_affine(&c, &c, &sums->h);
	g1_add_affine(&c, &c, &sums->l);

	g1_to_affine(&proof->a, &a);
	g2_to_affine(&proof->b, &b2);
	g1_to_affine(&proof->c, &c);
	explicit_bzero(&r, sizeof(r));
	explicit_bzero(&s, sizeof(s));
	explicit_bzero(&rs, sizeof(rs));
}
