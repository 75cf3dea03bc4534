/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * tiny.c - tiny-N, the smallest circuit that has everything a proof can have
 *
 * Input x; z0 = x; z_{i+1} = z_i^2 + 3, N times; c = 2 z_N in C only; input
 * y = z_N.
 */
#include "engine/circuits/gadgets.h"
#include "engine/circuits/parts.h"

static void record_head(struct rec *r, uint64_t param, const struct rec_bit *args, size_t n)
{
	uint32_t x = rec_input(r, &fr_zero), z = rec_aux(r, &fr_zero);

	rec_equal(r, x, z);
}

static void record_step(struct rec *r, uint64_t param, const struct rec_bit *args, size_t n)
{
	uint32_t z = rec_aux(r, &fr_zero);

	rec_add_int(r, &r->a, args[0].ref, 1);
	rec_add_int(r, &r->b, args[0].ref, 1);
	rec_add_int(r, &r->c, z, 1);
	rec_add_int(r, &r->c, CS_REF(CS_REF_ONE, 0), -3);
	rec_row(r);
}

static void record_tail(struct rec *r, uint64_t param, const struct rec_bit *args, size_t n)
{
	uint32_t c = rec_aux(r, &fr_zero);

	rec_add_int(r, &r->a, args[0].ref, 2);
	rec_add_int(r, &r->b, CS_REF(CS_REF_ONE, 0), 1);
	rec_add_int(r, &r->c, c, 1);
	rec_row(r);
	rec_inputize(r, args[0].ref);
}

void tiny_synth(struct synth *s, const struct circuit *c, const struct tiny_input *in)
{
	static const struct cs_gadget head = { "head", GADGET_TINY_HEAD, record_head };
	static const struct cs_gadget step = { "step", GADGET_TINY_STEP, record_step };
	static const struct cs_gadget tail = { "tail", GADGET_TINY_TAIL, record_tail };
	struct cs_instance pos;
	struct fr z, three;
	unsigned int i;
	uint32_t var;

	fr_from_u64(&three, 3);
	if (synth_use(s, &head, 0, NULL, 0, &pos))
		z = *synth_inputs(s, &pos) = *synth_full(s, &pos) = in->x;
	var = pos.aux_base;
	for (i = 0; i < c->steps; i++) {
		if (synth_use(s, &step, 0, &var, 1, &pos)) {
			fr_sqr(&z, &z);
			fr_add(&z, &z, &three);
			*synth_full(s, &pos) = z;
		}
		var = pos.aux_base;
	}
	if (synth_use(s, &tail, 0, &var, 1, &pos)) {
		fr_double(synth_full(s, &pos), &z);
		*synth_inputs(s, &pos) = z;
	}
}
