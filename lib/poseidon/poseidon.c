/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* poseidon.c - the Poseidon hash, one at a time */
#include <assert.h>
#include <string.h>

#include "lib/poseidon/poseidon.h"

static void quintic(struct fr *x)
{
	struct fr x2, x4;

	fr_sqr(&x2, x);
	fr_sqr(&x4, &x2);
	fr_mul(x, x, &x4);
}

static void mix(struct fr *s, const struct fr *m, unsigned int t)
{
	struct fr out[POSEIDON_MAX_WIDTH], u;
	unsigned int i, j;

	for (j = 0; j < t; j++) {
		fr_mul(&out[j], &s[0], &m[j]);
		for (i = 1; i < t; i++) {
			fr_mul(&u, &s[i], &m[i * t + j]);
			fr_add(&out[j], &out[j], &u);
		}
	}
	memcpy(s, out, t * sizeof(*s));
}

void poseidon_tag(enum poseidon_tag tag, unsigned int arity, struct fr *out)
{
	fr_from_u64(out, tag == POSEIDON_CUSTOM ? UINT64_C(1) << 40 : (UINT64_C(1) << arity) - 1);
}

void poseidon_hash_tag(enum poseidon_tag tag, unsigned int arity, const struct fr *in,
		       struct fr *out)
{
	const struct poseidon_constants *c = poseidon_constants(arity);
	const struct fr *key, *sp;
	struct fr s[POSEIDON_MAX_WIDTH], u, corner;
	unsigned int i, r, t;

	assert(c);
	t = c->width;
	key = c->keys;
	poseidon_tag(tag, arity, &s[0]);
	memcpy(&s[1], in, arity * sizeof(*s));
	for (i = 0; i < t; i++)
		fr_add(&s[i], &s[i], key++);
	for (r = 0; r < POSEIDON_FULL_ROUNDS / 2; r++) {
		for (i = 0; i < t; i++) {
			quintic(&s[i]);
			fr_add(&s[i], &s[i], key++);
		}
		mix(s, r == POSEIDON_FULL_ROUNDS / 2 - 1 ? c->pre_sparse : c->mds, t);
	}
	for (r = 0, sp = c->sparse; r < c->partial_rounds; r++, sp += 2 * t - 1) {
		quintic(&s[0]);
		fr_add(&s[0], &s[0], key++);
		corner = s[0];
		fr_mul(&s[0], &s[0], &sp[0]);
		for (i = 1; i < t; i++) {
			fr_mul(&u, &s[i], &sp[i]);
			fr_add(&s[0], &s[0], &u);
			fr_mul(&u, &corner, &sp[t + i - 1]);
			fr_add(&s[i], &s[i], &u);
		}
	}
	for (r = 0; r < POSEIDON_FULL_ROUNDS / 2; r++) {
		for (i = 0; i < t; i++) {
			quintic(&s[i]);
			if (r < POSEIDON_FULL_ROUNDS / 2 - 1)
				fr_add(&s[i], &s[i], key++);
		}
		mix(s, c->mds, t);
	}
	*out = s[1];
}

void poseidon_hash(unsigned int arity, const struct fr *in, struct fr *out)
{
	poseidon_hash_tag(POSEIDON_MERKLE, arity, in, out);
}
