/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* g-update.c - the gadgets that only SnapDeals has (filecoin-spec 4.3) */
#include <assert.h>
#include <string.h>

#include "engine/circuits/g-update.h"
#include "engine/circuits/gadgets.h"

#define ONE CS_REF(CS_REF_ONE, 0)

static void record_select(struct rec *r, uint64_t n, const struct rec_bit *args, size_t n_args)
{
	uint32_t v = rec_aux(r, &fr_zero);
	struct rec_bit bits[64];
	uint64_t i;

	rec_inputize(r, v);
	for (i = 0; i < n; i++)
		bits[i] = rec_alloc_bit(r, false);
	for (i = 0; i < n; i++)
		rec_add_pow2(r, &r->a, bits[i].ref, i, false);
	rec_add_int(r, &r->b, ONE, 1);
	rec_add_int(r, &r->c, v, 1);
	rec_row(r);
}

uint32_t gadget_update_select(struct synth *s, unsigned int n, uint64_t v)
{
	static const struct cs_gadget gadget = {
		"partition and h", GADGET_UPDATE_SELECT, record_select
	};
	struct cs_instance pos;
	unsigned int i;

	if (synth_use(s, &gadget, n, NULL, 0, &pos)) {
		fr_from_u64(synth_full(s, &pos), v);
		*synth_inputs(s, &pos) = *synth_full(s, &pos);
		for (i = 0; i < n; i++)
			synth_put_bit(s, pos.aux_base + 1 + i, v >> i & 1);
	}
	return pos.aux_base + 1;
}

/* param: digests of a partition << 32 | index; args: partition, comm_r_new */
static void record_digest(struct rec *r, uint64_t param, const struct rec_bit *args, size_t n)
{
	uint32_t per_partition = param >> 32, j = param, index, in[2], hash;
	struct fr v, x;
	unsigned int i;
	struct scalar s;
	struct rec_bit bits[255];

	fr_from_u64(&x, per_partition);
	rec_value(r, args[0].ref, &v);
	fr_mul(&v, &v, &x);
	fr_from_u64(&x, j);
	fr_add(&v, &v, &x);
	index = rec_aux(r, &v);
	rec_add_int(r, &r->a, args[0].ref, per_partition);
	rec_add_int(r, &r->a, ONE, j);
	rec_add_int(r, &r->b, ONE, 1);
	rec_add_int(r, &r->c, index, 1);
	rec_row(r);

	in[0] = args[1].ref;
	in[1] = index;
	hash = record_poseidon(r, POSEIDON_CUSTOM, 2, in);
	rec_value(r, hash, &v);
	fr_to_scalar(&s, &v);
	for (i = 0; i < 255; i++)
		bits[i] = rec_alloc_bit(r, s.l[i / 64] >> (i % 64) & 1);
	for (i = 0; i < 255; i++)
		rec_add_pow2(r, &r->a, bits[i].ref, i, false);
	rec_add_int(r, &r->b, ONE, 1);
	rec_add_int(r, &r->c, hash, 1);
	rec_row(r);
}

uint32_t gadget_update_digest(struct synth *s, uint32_t partition, uint32_t comm_r_new,
			      uint32_t per_partition, uint32_t j)
{
	static const struct cs_gadget gadget = {
		"challenge digest", GADGET_UPDATE_DIGEST, record_digest
	};
	uint32_t args[2] = { partition, comm_r_new }, i;
	struct cs_instance pos;

	if (synth_use(s, &gadget, (uint64_t)per_partition << 32 | j, args, 2, &pos)) {
		struct fr *full = synth_full(s, &pos), in[2], x;
		struct bit_writer bw;
		struct scalar v;
		size_t n;

		synth_get(s, partition, &in[1]);
		fr_from_u64(&x, per_partition);
		fr_mul(&in[1], &in[1], &x);
		fr_from_u64(&x, j);
		fr_add(&in[1], &in[1], &x);
		synth_get(s, comm_r_new, &in[0]);
		full[0] = in[1];
		n = poseidon_trace(POSEIDON_CUSTOM, 2, in, full + 1);
		fr_to_scalar(&v, &full[n]);
		bit_writer_init(&bw, s->w->bits, synth_last_aux(s, &pos) - 254);
		for (i = 0; i < 4; i++)
			bit_writer_put(&bw, v.l[i], i < 3 ? 64 : 63);
		bit_writer_fini(&bw);
	}
	return synth_last_aux(s, &pos) - 254;
}

/* param: the six h, 8 bits each; args: six h bits, then the challenge's bits */
static void record_high_bits(struct rec *r, uint64_t hs, const struct rec_bit *args, size_t n)
{
	uint32_t z[UPDATE_HS], sum;
	struct fr v, x;
	unsigned int i;

	for (i = 0; i < UPDATE_HS; i++) {
		unsigned int h = hs >> (8 * i) & 0xff;
		uint32_t high = rec_pack(r, args + n - h, h);

		z[i] = rec_mul(r, high, args[i].ref);
	}
	v = fr_zero;
	for (i = 0; i < UPDATE_HS; i++) {
		rec_value(r, z[i], &x);
		fr_add(&v, &v, &x);
	}
	sum = rec_aux(r, &v);
	for (i = 0; i < UPDATE_HS; i++)
		rec_add_int(r, &r->a, z[i], 1);
	rec_add_int(r, &r->b, ONE, 1);
	rec_add_int(r, &r->c, sum, 1);
	rec_row(r);
}

uint32_t gadget_update_high_bits(struct synth *s, uint64_t hs, const uint32_t *h_bits,
				 const uint32_t *c_bits, unsigned int n)
{
	static const struct cs_gadget gadget = {
		"high bits", GADGET_UPDATE_HIGH_BITS, record_high_bits
	};
	uint32_t args[UPDATE_HS + 64];
	struct cs_instance pos;
	unsigned int i, k;

	assert(n <= 64);
	memcpy(args, h_bits, UPDATE_HS * sizeof(*args));
	memcpy(args + UPDATE_HS, c_bits, n * sizeof(*args));
	if (synth_use(s, &gadget, hs, args, UPDATE_HS + n, &pos)) {
		struct fr *full = synth_full(s, &pos);
		uint64_t sum = 0;

		for (i = 0; i < UPDATE_HS; i++, full += 2) {
			unsigned int h = hs >> (8 * i) & 0xff;
			uint64_t high = 0, z;

			for (k = 0; k < h; k++)
				high |= (uint64_t)synth_get_bit(s, c_bits[n - h + k]) << k;
			z = synth_get_bit(s, h_bits[i]) ? high : 0;
			fr_from_u64(&full[0], high);
			fr_from_u64(&full[1], z);
			sum += z;
		}
		fr_from_u64(full, sum);
	}
	return synth_last_aux(s, &pos);
}

/* args: rho; aux: leaf_r_old, leaf_d_new, their product with rho, leaf_r_new */
static void record_encode(struct rec *r, uint64_t param, const struct rec_bit *args, size_t n)
{
	uint32_t r_old = rec_aux(r, &fr_zero), d_new = rec_aux(r, &fr_zero);
	uint32_t t = rec_mul(r, d_new, args[0].ref);

	rec_sum(r, r_old, t);
}

uint32_t gadget_update_encode(struct synth *s, uint32_t rho, const struct fr *leaf_r_old,
			      const struct fr *leaf_d_new, const struct fr *leaf_r_new)
{
	static const struct cs_gadget gadget = { "encode", GADGET_UPDATE_ENCODE, record_encode };
	struct cs_instance pos;
	struct fr x;

	if (synth_use(s, &gadget, 0, &rho, 1, &pos)) {
		struct fr *full = synth_full(s, &pos);

		synth_get(s, rho, &x);
		full[0] = *leaf_r_old;
		full[1] = *leaf_d_new;
		fr_mul(&full[2], leaf_d_new, &x);
		full[3] = *leaf_r_new;
	}
	return pos.aux_base;
}

/* param: log2 of how many; args: bits, then the choices */
static void record_choose(struct rec *r, uint64_t log, const struct rec_bit *args, size_t n)
{
	uint32_t v[UPDATE_MAX_APEX];
	size_t half, i;

	for (i = 0; i < n - log; i++)
		v[i] = args[log + i].ref;
	for (half = (n - log) / 2; half; half /= 2) {
		log--;
		for (i = 0; i < half; i++)
			v[i] = rec_pick(r, args[log].ref, v[half + i], v[i]);
	}
}

uint32_t gadget_update_choose(struct synth *s, const uint32_t *from, unsigned int log,
			      const uint32_t *bits)
{
	static const struct cs_gadget gadget = { "choose", GADGET_UPDATE_CHOOSE, record_choose };
	uint32_t args[8 + UPDATE_MAX_APEX], n = 1u << log, half, i;
	struct fr v[UPDATE_MAX_APEX], *full;
	struct cs_instance pos;

	assert(log <= 7);
	memcpy(args, bits, log * sizeof(*args));
	memcpy(args + log, from, n * sizeof(*args));
	if (synth_use(s, &gadget, log, args, log + n, &pos)) {
		full = synth_full(s, &pos);
		for (i = 0; i < n; i++)
			synth_get(s, from[i], &v[i]);
		for (half = n / 2; half; half /= 2) {
			bool high = synth_get_bit(s, bits[--log]);

			for (i = 0; i < half; i++)
				*full++ = v[i] = v[high ? half + i : i];
		}
	}
	return synth_last_aux(s, &pos);
}
