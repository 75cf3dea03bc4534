/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * g-sha256.c - SHA-256 as rows, a block an instance (filecoin-spec 4.0)
 *
 * Constants fold as in bellpepper, so the initial state, padding and constant
 * message bits make templates of their own.
 */
#include <assert.h>
#include <string.h>

#include "engine/circuits/g-sha256.h"
#include "engine/circuits/gadgets.h"
#include "lib/sha256.h"

/* bits, least significant first */
struct word {
	struct rec_bit bit[32];
};

/*
 * Equations lhs = rhs of limited width are gathered into one row, each shifted
 * behind the one before, while 254 bits hold them.
 */
struct multi_eq {
	struct rec *r;
	struct rec_lc lhs, rhs;
	unsigned int used;
};

static void multi_eq_flush(struct multi_eq *m)
{
	struct rec *r = m->r;

	rec_add_lc(r, &r->a, &m->lhs, &fr_one);
	rec_add_int(r, &r->b, CS_REF(CS_REF_ONE, 0), 1);
	rec_add_lc(r, &r->c, &m->rhs, &fr_one);
	rec_row(r);
	m->lhs.n = m->rhs.n = 0;
	m->used = 0;
}

static void multi_eq_add(struct multi_eq *m, unsigned int bits, const struct rec_lc *lhs,
			 const struct rec_lc *rhs)
{
	struct scalar s = { { 0 } };
	struct fr shift;

	if (m->used + bits >= 254)
		multi_eq_flush(m);
	s.l[m->used / 64] = UINT64_C(1) << (m->used % 64);
	fr_from_scalar(&shift, &s);
	rec_add_lc(m->r, &m->lhs, lhs, &shift);
	rec_add_lc(m->r, &m->rhs, rhs, &shift);
	m->used += bits;
}

static void multi_eq_end(struct multi_eq *m)
{
	if (m->used)
		multi_eq_flush(m);
	rec_lc_fini(&m->lhs);
	rec_lc_fini(&m->rhs);
}

static struct word rotr(const struct word *w, unsigned int n)
{
	struct word out;
	unsigned int i;

	for (i = 0; i < 32; i++)
		out.bit[i] = w->bit[(i + n) % 32];
	return out;
}

static struct word shr(const struct word *w, unsigned int n)
{
	struct word out;
	unsigned int i;

	for (i = 0; i < 32; i++)
		out.bit[i] = i + n < 32 ? w->bit[i + n] : rec_const(false);
	return out;
}

static struct word xor(struct rec *r, struct word a, struct word b)
{
	struct word out;
	unsigned int i;

	for (i = 0; i < 32; i++)
		out.bit[i] = rec_xor(r, a.bit[i], b.bit[i]);
	return out;
}

/* the xor of three rotations, or of two and a shift */
static struct word sigma(struct rec *r, const struct word *w, unsigned int a, unsigned int b,
			 unsigned int c, bool shift)
{
	struct word x = xor(r, rotr(w, a), rotr(w, b));

	return xor(r, x, shift ? shr(w, c) : rotr(w, c));
}

static struct word constant(uint32_t v)
{
	struct word out;
	unsigned int i;

	for (i = 0; i < 32; i++)
		out.bit[i] = rec_const(v >> i & 1);
	return out;
}

static uint32_t word_value(const struct rec *r, const struct word *w)
{
	uint32_t v = 0;
	unsigned int i;

	for (i = 0; i < 32; i++)
		v |= (uint32_t)rec_bit_value(r, w->bit[i]) << i;
	return v;
}

static struct word add_many(struct multi_eq *m, const struct word *const *operands, unsigned int n)
{
	struct rec_lc lhs = { 0 }, rhs = { 0 };
	uint64_t sum = 0, max = n * (uint64_t)UINT32_MAX;
	bool all_const = true;
	struct word out;
	unsigned int i, k;

	for (k = 0; k < n; k++) {
		sum += word_value(m->r, operands[k]);
		for (i = 0; i < 32; i++) {
			rec_add_bit_int(m->r, &lhs, operands[k]->bit[i], INT64_C(1) << i);
			all_const &= operands[k]->bit[i].kind == REC_CONST;
		}
	}
	if (all_const) {
		rec_lc_fini(&lhs);
		return constant(sum);
	}
	for (i = 0; max; i++, max >>= 1) {
		struct rec_bit bit = rec_alloc_bit(m->r, sum >> i & 1);

		rec_add_bit_int(m->r, &rhs, bit, INT64_C(1) << i);
		if (i < 32)
			out.bit[i] = bit;
	}
	multi_eq_add(m, i, &lhs, &rhs);
	rec_lc_fini(&lhs);
	rec_lc_fini(&rhs);
	return out;
}

/* A sum that is only made when it is used: e and a of a round. */
struct deferred {
	struct word operand[8];
	unsigned int n;		/* 0: operand[0] is the value itself */
};

static struct word compute(struct multi_eq *m, const struct deferred *d, const struct word *more)
{
	const struct word *list[9];
	unsigned int i;

	if (!d->n)
		return d->operand[0];
	for (i = 0; i < d->n; i++)
		list[i] = &d->operand[i];
	if (more)
		list[i++] = more;
	return add_many(m, list, i);
}

/* args: 512 message bits, 256 state bits */
static void record_block(struct rec *r, uint64_t param, const struct rec_bit *args, size_t n)
{
	struct word w[64], cur[8], b, c, d, f, g, h;
	struct deferred a = { .n = 0 }, e = { .n = 0 };
	struct multi_eq m = { .r = r };
	const struct word *list[4];
	unsigned int i, k;

	for (i = 0; i < 16; i++)
		for (k = 0; k < 32; k++)
			w[i].bit[k] = args[32 * i + 31 - k];
	for (i = 0; i < 8; i++)
		memcpy(cur[i].bit, &args[SHA_BLOCK_BITS + 32 * i], sizeof(cur[i].bit));

	for (i = 16; i < 64; i++) {
		struct word s0 = sigma(r, &w[i - 15], 7, 18, 3, true);
		struct word s1 = sigma(r, &w[i - 2], 17, 19, 10, true);

		list[0] = &w[i - 16];
		list[1] = &s0;
		list[2] = &w[i - 7];
		list[3] = &s1;
		w[i] = add_many(&m, list, 4);
	}

	a.operand[0] = cur[0];
	b = cur[1];
	c = cur[2];
	d = cur[3];
	e.operand[0] = cur[4];
	f = cur[5];
	g = cur[6];
	h = cur[7];
	for (i = 0; i < 64; i++) {
		struct word new_e = compute(&m, &e, NULL), new_a;
		struct word s1 = sigma(r, &new_e, 6, 11, 25, false);
		struct word ch, s0, maj;

		for (k = 0; k < 32; k++)
			ch.bit[k] = rec_ch(r, new_e.bit[k], f.bit[k], g.bit[k]);
		new_a = compute(&m, &a, NULL);
		s0 = sigma(r, &new_a, 2, 13, 22, false);
		for (k = 0; k < 32; k++)
			maj.bit[k] = rec_maj(r, new_a.bit[k], b.bit[k], c.bit[k]);

		e = (struct deferred){ { h, s1, ch, constant(sha256_k[i]), w[i], d }, 6 };
		a = (struct deferred){ { h, s1, ch, constant(sha256_k[i]), w[i], s0, maj }, 7 };
		h = g;
		g = f;
		f = new_e;
		d = c;
		c = b;
		b = new_a;
	}
	compute(&m, &a, &cur[0]);
	list[0] = &cur[1];
	list[1] = &b;
	add_many(&m, list, 2);
	list[0] = &cur[2];
	list[1] = &c;
	add_many(&m, list, 2);
	list[0] = &cur[3];
	list[1] = &d;
	add_many(&m, list, 2);
	compute(&m, &e, &cur[4]);
	list[0] = &cur[5];
	list[1] = &f;
	add_many(&m, list, 2);
	list[0] = &cur[6];
	list[1] = &g;
	add_many(&m, list, 2);
	list[0] = &cur[7];
	list[1] = &h;
	add_many(&m, list, 2);
	multi_eq_end(&m);
}

void sha256_initial_state(uint32_t state[SHA_STATE_BITS])
{
	unsigned int i;

	for (i = 0; i < SHA_STATE_BITS; i++)
		state[i] = sha256_iv[i / 32] >> (i % 32) & 1 ? CS_ARG_TRUE : CS_ARG_FALSE;
}

void gadget_sha256_block(struct synth *s, const uint32_t msg[SHA_BLOCK_BITS],
			 uint32_t state[SHA_STATE_BITS])
{
	static const struct cs_gadget gadget = { "sha256 block", GADGET_SHA256_BLOCK, record_block };
	/* bits of the sums that end a block: 8, 2, 2, 2, 7, 2, 2, 2 operands */
	static const uint8_t sum_bits[8] = { 35, 33, 33, 33, 35, 33, 33, 33 };
	uint32_t args[SHA_BLOCK_BITS + SHA_STATE_BITS], at;
	struct cs_instance pos;
	unsigned int i, k;

	memcpy(args, msg, SHA_BLOCK_BITS * sizeof(*args));
	memcpy(&args[SHA_BLOCK_BITS], state, SHA_STATE_BITS * sizeof(*args));
	if (synth_use(s, &gadget, 0, args, SHA_BLOCK_BITS + SHA_STATE_BITS, &pos))
		sha256_block_values(s, args, &pos);
	/*
	 * A message that is constant and a constant state never meet here, so
	 * every result is a sum with variables.
	 */
	at = synth_last_aux(s, &pos) + 1;
	for (i = 8; i-- > 0;) {
		at -= sum_bits[i];
		for (k = 0; k < 32; k++)
			state[32 * i + k] = at + k;
	}
}

void gadget_sha256(struct synth *s, const uint32_t *msg, size_t n, uint32_t out[SHA_STATE_BITS])
{
	uint32_t state[SHA_STATE_BITS], block[SHA_BLOCK_BITS];
	size_t total = (n + 1 + 64 + SHA_BLOCK_BITS - 1) / SHA_BLOCK_BITS * SHA_BLOCK_BITS, at, i;

	sha256_initial_state(state);
	for (at = 0; at < total; at += SHA_BLOCK_BITS) {
		for (i = 0; i < SHA_BLOCK_BITS; i++) {
			size_t p = at + i;
			bool one = p == n ||
				   (p >= total - 64 && (uint64_t)n >> (total - 1 - p) & 1);

			block[i] = p < n ? msg[p] : one ? CS_ARG_TRUE : CS_ARG_FALSE;
		}
		gadget_sha256_block(s, block, state);
	}
	for (i = 0; i < SHA_STATE_BITS; i++)
		out[i] = state[32 * (i / 32) + 31 - i % 32];
}

/* bit i of a little-endian field element is this one of the 256 in SHA-256's order */
static unsigned int byte_reversed(unsigned int i)
{
	return 8 * (i / 8) + 7 - i % 8;
}

void gadget_sha256_field(struct synth *s, uint32_t v, uint32_t out[256])
{
	uint32_t bits = gadget_to_bits(s, v), i;

	for (i = 0; i < 255; i++)
		out[byte_reversed(i)] = bits + i;
	out[byte_reversed(255)] = CS_ARG_FALSE;
}

uint32_t gadget_sha256_pack(struct synth *s, const uint32_t hash[SHA_STATE_BITS])
{
	uint32_t bits[254], i;

	for (i = 0; i < 254; i++)
		bits[i] = hash[byte_reversed(i)];
	return gadget_pack(s, bits, 254);
}

uint32_t gadget_sha256_node(struct synth *s, uint32_t left, uint32_t right)
{
	uint32_t msg[512], hash[SHA_STATE_BITS];

	gadget_sha256_field(s, left, msg);
	gadget_sha256_field(s, right, msg + 256);
	gadget_sha256(s, msg, 512, hash);
	return gadget_sha256_pack(s, hash);
}
