/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * g-poseidon.c - the Poseidon hash as rows (filecoin-spec section 5)
 *
 * S-boxes cost three rows (x^2, x^4, x^5 less the next key) and one more that
 * turns the linear combination under way into a variable; everything linear is
 * free and grows the combinations.
 */
#include <assert.h>
#include <string.h>

#include "engine/circuits/gadgets.h"

#define HALF (POSEIDON_FULL_ROUNDS / 2)
#define ONE CS_REF(CS_REF_ONE, 0)

/*
 * lc becomes the variable lc^5 + post.  pre is added to lc inside the rows;
 * with fresh, lc is a variable (plus pre) and needs no row of its own.
 */
static void sbox(struct rec *r, struct rec_lc *lc, bool fresh, const struct fr *pre,
		 const struct fr *post)
{
	struct rec_lc x = { 0 };
	struct fr v, l2, l4, l5, minus;
	uint32_t var, ref;

	rec_lc_value(r, lc, &v);
	if (fresh) {
		rec_add_lc(r, &x, lc, &fr_one);
		rec_add(r, &x, ONE, pre);
		fr_add(&v, &v, pre);
	} else {
		var = rec_aux(r, &v);
		rec_add_lc(r, &r->a, lc, &fr_one);
		rec_add_int(r, &r->b, ONE, 1);
		rec_add_int(r, &r->c, var, 1);
		rec_row(r);
		rec_add_int(r, &x, var, 1);
	}
	fr_sqr(&l2, &v);
	fr_sqr(&l4, &l2);
	fr_mul(&l5, &l4, &v);
	if (post)
		fr_add(&l5, &l5, post);

	ref = rec_aux(r, &l2);
	rec_add_lc(r, &r->a, &x, &fr_one);
	rec_add_lc(r, &r->b, &x, &fr_one);
	rec_add_int(r, &r->c, ref, 1);
	rec_row(r);

	var = rec_aux(r, &l4);
	rec_add_int(r, &r->a, ref, 1);
	rec_add_int(r, &r->b, ref, 1);
	rec_add_int(r, &r->c, var, 1);
	rec_row(r);

	ref = rec_aux(r, &l5);
	rec_add_lc(r, &r->a, &x, &fr_one);
	rec_add_int(r, &r->b, var, 1);
	rec_add_int(r, &r->c, ref, 1);
	if (post) {
		fr_neg(&minus, post);
		rec_add(r, &r->c, ONE, &minus);
	}
	rec_row(r);

	rec_lc_fini(&x);
	lc->n = 0;
	rec_add_int(r, lc, ref, 1);
}

static void mix(struct rec *r, struct rec_lc *s, unsigned int t, const struct fr *m)
{
	struct rec_lc out[POSEIDON_MAX_WIDTH];
	unsigned int i, j;

	memset(out, 0, sizeof(out));
	for (j = 0; j < t; j++) {
		for (i = 0; i < t; i++)
			rec_add_lc(r, &out[j], &s[i], &m[i * t + j]);
		rec_merge(&out[j]);
	}
	for (j = 0; j < t; j++) {
		rec_lc_fini(&s[j]);
		s[j] = out[j];
	}
}

static void mix_sparse(struct rec *r, struct rec_lc *s, unsigned int t, const struct fr *sparse)
{
	struct rec_lc first = { 0 };
	unsigned int i;

	for (i = 0; i < t; i++)
		rec_add_lc(r, &first, &s[i], &sparse[i]);
	rec_merge(&first);
	for (i = 1; i < t; i++) {
		rec_add_lc(r, &s[i], &s[0], &sparse[t + i - 1]);
		rec_merge(&s[i]);
	}
	rec_lc_fini(&s[0]);
	s[0] = first;
}

uint32_t record_poseidon(struct rec *r, enum poseidon_tag tag, unsigned int arity,
			 const uint32_t *in)
{
	const struct poseidon_constants *c = poseidon_constants(arity);
	const struct fr *key, *pre, *sparse;
	struct rec_lc s[POSEIDON_MAX_WIDTH];
	unsigned int i, round, t;
	struct fr v, x4;
	uint32_t out;

	assert(c);
	t = c->width;
	memset(s, 0, sizeof(s));
	pre = c->keys;
	key = c->keys + t;

	/* the tag is a constant, and so is its first S-box */
	poseidon_tag(tag, arity, &v);
	fr_add(&v, &v, &pre[0]);
	fr_sqr(&x4, &v);
	fr_sqr(&x4, &x4);
	fr_mul(&v, &v, &x4);
	fr_add(&v, &v, key++);
	rec_add(r, &s[0], ONE, &v);
	for (i = 1; i < t; i++) {
		rec_add_int(r, &s[i], in[i - 1], 1);
		sbox(r, &s[i], true, &pre[i], key++);
	}
	mix(r, s, t, c->mds);
	for (round = 1; round < HALF; round++) {
		for (i = 0; i < t; i++)
			sbox(r, &s[i], false, NULL, key++);
		mix(r, s, t, round == HALF - 1 ? c->pre_sparse : c->mds);
	}
	for (round = 0, sparse = c->sparse; round < c->partial_rounds; round++) {
		sbox(r, &s[0], false, NULL, key++);
		mix_sparse(r, s, t, sparse);
		sparse += 2 * t - 1;
	}
	for (round = 0; round < HALF; round++) {
		for (i = 0; i < t; i++)
			sbox(r, &s[i], false, NULL, round < HALF - 1 ? key++ : NULL);
		mix(r, s, t, c->mds);
	}
	rec_lc_value(r, &s[1], &v);
	out = rec_aux(r, &v);
	rec_add_lc(r, &r->a, &s[1], &fr_one);
	rec_add_int(r, &r->b, ONE, 1);
	rec_add_int(r, &r->c, out, 1);
	rec_row(r);
	for (i = 0; i < t; i++)
		rec_lc_fini(&s[i]);
	return out;
}

static void record_hash(struct rec *r, uint64_t tag, const struct rec_bit *args, size_t n)
{
	uint32_t in[POSEIDON_MAX_ARITY];
	size_t i;

	for (i = 0; i < n; i++)
		in[i] = args[i].ref;
	record_poseidon(r, tag, n, in);
}

uint32_t gadget_poseidon(struct synth *s, enum poseidon_tag tag, unsigned int arity,
			 const uint32_t *in)
{
	static const struct cs_gadget gadget = { "poseidon", GADGET_POSEIDON, record_hash };
	struct fr v[POSEIDON_MAX_ARITY];
	struct cs_instance pos;
	unsigned int i;

	if (synth_use(s, &gadget, tag, in, arity, &pos)) {
		for (i = 0; i < arity; i++)
			synth_get(s, in[i], &v[i]);
		poseidon_trace(tag, arity, v, synth_full(s, &pos));
	}
	return synth_last_aux(s, &pos);
}

static void record_sector(struct rec *r, uint64_t param, const struct rec_bit *args, size_t n)
{
	uint32_t comm_r_last = rec_aux(r, &fr_zero), comm_c = rec_aux(r, &fr_zero);
	uint32_t comm_r = rec_aux(r, &fr_zero), in[2] = { comm_c, comm_r_last };

	rec_inputize(r, comm_r);
	rec_equal(r, comm_r, record_poseidon(r, POSEIDON_MERKLE, 2, in));
}

uint32_t gadget_sector(struct synth *s, const struct fr *comm_r_last, const struct fr *comm_c,
		       const struct fr *comm_r)
{
	static const struct cs_gadget gadget = { "comm_r", GADGET_SECTOR, record_sector };
	struct cs_instance pos;

	if (synth_use(s, &gadget, 0, NULL, 0, &pos)) {
		struct fr in[2] = { *comm_c, *comm_r_last }, *full = synth_full(s, &pos);

		full[0] = *comm_r_last;
		full[1] = *comm_c;
		full[2] = *comm_r;
		*synth_inputs(s, &pos) = *comm_r;
		poseidon_trace(POSEIDON_MERKLE, 2, in, full + 3);
	}
	return pos.aux_base;
}
