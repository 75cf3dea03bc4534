/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* g-basic.c - gadgets of a few rows: allocation, equality, sums, bits, packing */
#include <assert.h>
#include <string.h>

#include "engine/circuits/gadgets.h"

static void record_alloc(struct rec *r, uint64_t n, const struct rec_bit *args, size_t n_args)
{
	while (n-- > 0)
		rec_aux(r, &fr_zero);
}

uint32_t gadget_alloc(struct synth *s, unsigned int n, const struct fr *v)
{
	static const struct cs_gadget gadget = { "alloc", GADGET_ALLOC, record_alloc };
	struct cs_instance pos;

	if (!n)
		return 0;
	if (synth_use(s, &gadget, n, NULL, 0, &pos))
		memcpy(synth_full(s, &pos), v, n * sizeof(*v));
	return pos.aux_base;
}

static void record_alloc_input(struct rec *r, uint64_t param, const struct rec_bit *args,
			       size_t n_args)
{
	rec_inputize(r, rec_aux(r, &fr_zero));
}

uint32_t gadget_alloc_input(struct synth *s, const struct fr *v)
{
	static const struct cs_gadget gadget = {
		"alloc input", GADGET_ALLOC_INPUT, record_alloc_input
	};
	struct cs_instance pos;

	if (synth_use(s, &gadget, 0, NULL, 0, &pos))
		*synth_full(s, &pos) = *synth_inputs(s, &pos) = *v;
	return pos.aux_base;
}

static void record_equal(struct rec *r, uint64_t param, const struct rec_bit *args, size_t n_args)
{
	rec_equal(r, args[0].ref, args[1].ref);
}

void gadget_equal(struct synth *s, uint32_t a, uint32_t b)
{
	static const struct cs_gadget gadget = { "equal", GADGET_EQUAL, record_equal };
	uint32_t args[2] = { a, b };
	struct cs_instance pos;

	synth_use(s, &gadget, 0, args, 2, &pos);
}

static void record_add(struct rec *r, uint64_t param, const struct rec_bit *args, size_t n_args)
{
	rec_sum(r, args[0].ref, args[1].ref);
}

uint32_t gadget_add(struct synth *s, uint32_t a, uint32_t b)
{
	static const struct cs_gadget gadget = { "add", GADGET_ADD, record_add };
	uint32_t args[2] = { a, b };
	struct cs_instance pos;
	struct fr x, y;

	if (synth_use(s, &gadget, 0, args, 2, &pos)) {
		synth_get(s, a, &x);
		synth_get(s, b, &y);
		fr_add(synth_full(s, &pos), &x, &y);
	}
	return pos.aux_base;
}

static void record_mul(struct rec *r, uint64_t param, const struct rec_bit *args, size_t n_args)
{
	rec_mul(r, args[0].ref, args[1].ref);
}

uint32_t gadget_mul(struct synth *s, uint32_t a, uint32_t b)
{
	static const struct cs_gadget gadget = { "mul", GADGET_MUL, record_mul };
	uint32_t args[2] = { a, b };
	struct cs_instance pos;
	struct fr x, y;

	if (synth_use(s, &gadget, 0, args, 2, &pos)) {
		synth_get(s, a, &x);
		synth_get(s, b, &y);
		fr_mul(synth_full(s, &pos), &x, &y);
	}
	return pos.aux_base;
}

static void record_to_bits(struct rec *r, uint64_t param, const struct rec_bit *args,
			   size_t n_args)
{
	struct rec_bit bits[255];
	struct scalar v;
	struct fr x;
	int i;

	rec_value(r, args[0].ref, &x);
	fr_to_scalar(&v, &x);
	for (i = 0; i < 255; i++)
		bits[i] = rec_alloc_bit(r, v.l[i / 64] >> (i % 64) & 1);
	for (i = 0; i < 255; i++)
		rec_add_pow2(r, &r->c, bits[i].ref, i, false);
	rec_add_int(r, &r->c, args[0].ref, -1);
	rec_row(r);
}

uint32_t gadget_to_bits(struct synth *s, uint32_t v)
{
	static const struct cs_gadget gadget = { "to_bits", GADGET_TO_BITS, record_to_bits };
	struct cs_instance pos;
	struct bit_writer bw;
	struct scalar bits;
	struct fr x;
	int i;

	if (synth_use(s, &gadget, 0, &v, 1, &pos)) {
		synth_get(s, v, &x);
		fr_to_scalar(&bits, &x);
		bit_writer_init(&bw, s->w->bits, pos.aux_base);
		for (i = 0; i < 4; i++)
			bit_writer_put(&bw, bits.l[i], i < 3 ? 64 : 63);
		bit_writer_fini(&bw);
	}
	return pos.aux_base;
}

/* sum of 2^i * bit i, i < 254 */
static void packed_value(const struct synth *s, const uint32_t *bits, unsigned int n,
			 struct fr *out)
{
	struct scalar v = { { 0 } };
	unsigned int i;

	for (i = 0; i < n; i++)
		v.l[i / 64] |= (uint64_t)synth_get_bit(s, bits[i]) << (i % 64);
	fr_from_scalar(out, &v);
}

static void record_pack(struct rec *r, uint64_t param, const struct rec_bit *args, size_t n)
{
	rec_pack(r, args, n);
}

uint32_t gadget_pack(struct synth *s, const uint32_t *bits, unsigned int n)
{
	static const struct cs_gadget gadget = { "pack", GADGET_PACK, record_pack };
	struct cs_instance pos;

	assert(n <= 254);
	if (synth_use(s, &gadget, 0, bits, n, &pos))
		packed_value(s, bits, n, synth_full(s, &pos));
	return pos.aux_base;
}

/* args: bits, computed, root */
static void record_path_end(struct rec *r, uint64_t param, const struct rec_bit *args, size_t n)
{
	rec_pack_input(r, args, n - 2);
	rec_equal(r, args[n - 2].ref, args[n - 1].ref);
}

void gadget_path_end(struct synth *s, const uint32_t *bits, unsigned int n, uint32_t computed,
		     uint32_t root)
{
	static const struct cs_gadget gadget = { "root", GADGET_PATH_END, record_path_end };
	struct cs_instance pos;
	uint32_t args[256];

	assert(n <= 254);
	memcpy(args, bits, n * sizeof(*args));
	args[n] = computed;
	args[n + 1] = root;
	if (synth_use(s, &gadget, 0, args, n + 2, &pos))
		packed_value(s, bits, n, synth_inputs(s, &pos));
}

static void record_uint64(struct rec *r, uint64_t param, const struct rec_bit *args, size_t n)
{
	struct rec_bit bits[64];
	int i;

	for (i = 0; i < 64; i++)
		bits[i] = rec_alloc_bit(r, false);
	rec_pack_input(r, bits, 64);
}

uint32_t gadget_uint64(struct synth *s, uint64_t v)
{
	static const struct cs_gadget gadget = { "uint64", GADGET_UINT64, record_uint64 };
	struct cs_instance pos;
	struct bit_writer bw;

	if (synth_use(s, &gadget, 0, NULL, 0, &pos)) {
		bit_writer_init(&bw, s->w->bits, pos.aux_base);
		bit_writer_put(&bw, v, 64);
		bit_writer_fini(&bw);
		fr_from_u64(synth_inputs(s, &pos), v);
	}
	return pos.aux_base;
}
