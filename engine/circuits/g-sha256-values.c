/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * g-sha256-values.c - the witness of a SHA-256 block, 32 bits at a time
 *
 * g-sha256.c says which bits exist; here a word carries, besides its value,
 * which of its bits are constants and which are negated variables, and each
 * operation puts the bits that it allocates into the bitmap in one go.
 */
#include "engine/circuits/g-sha256.h"
#include "engine/circuits/gadgets.h"
#include "lib/sha256.h"

struct vword {
	uint32_t v;	/* value of the Boolean */
	uint32_t k;	/* constant */
	uint32_t n;	/* not: the variable is the Boolean's opposite */
};

/* Appends the bits of v that mask selects, lowest first. */
static inline void put_masked(struct bit_writer *bw, uint64_t v, uint64_t mask, unsigned int n)
{
	uint64_t out = 0;
	unsigned int k = 0;

	v &= mask;
	if (!(mask & (mask + 1))) {	/* a run from bit 0: all, none, or a shift's */
		bit_writer_put(bw, v, n);
		return;
	}
	for (; mask; mask &= mask - 1)
		out |= (v >> __builtin_ctzll(mask) & 1) << k++;
	bit_writer_put(bw, out, n);
}

static inline uint32_t rotr32(uint32_t v, unsigned int n)
{
	return v >> n | v << (32 - n);
}

static inline struct vword vrotr(struct vword a, unsigned int n)
{
	return (struct vword){ rotr32(a.v, n), rotr32(a.k, n), rotr32(a.n, n) };
}

static inline struct vword vshr(struct vword a, unsigned int n)
{
	return (struct vword){ a.v >> n, a.k >> n | ~(UINT32_MAX >> n), a.n >> n };
}

static inline struct vword vnot(struct vword a)
{
	return (struct vword){ ~a.v, a.k, ~a.n & ~a.k };
}

static inline struct vword vconst(uint32_t v)
{
	return (struct vword){ v, UINT32_MAX, 0 };
}

/* what rec_xor allocates: the variables' xor where neither is constant */
static inline struct vword vxor(struct bit_writer *bw, struct vword a, struct vword b)
{
	uint32_t m = ~(a.k | b.k);

	put_masked(bw, a.v ^ a.n ^ b.v ^ b.n, m, __builtin_popcount(m));
	return (struct vword){
		a.v ^ b.v,
		a.k & b.k,
		(m & (a.n ^ b.n)) | (a.k & ~b.k & (b.n ^ a.v)) | (b.k & ~a.k & (a.n ^ b.v)),
	};
}

static inline struct vword sigma(struct bit_writer *bw, struct vword w, unsigned int a,
				 unsigned int b, unsigned int c, bool shift)
{
	struct vword x = vxor(bw, vrotr(w, a), vrotr(w, b));

	return vxor(bw, x, shift ? vshr(w, c) : vrotr(w, c));
}

/* rec_and: its value, and in *alloc where it allocates */
static inline struct vword vand(struct vword a, struct vword b, uint32_t *alloc)
{
	*alloc = ~(a.k | b.k);
	return (struct vword){
		a.v & b.v,
		(a.k & b.k) | (a.k & ~a.v) | (b.k & ~b.v),
		(a.k & ~b.k & a.v & b.n) | (b.k & ~a.k & b.v & a.n),
	};
}

static inline void take(struct vword *out, uint32_t mask, struct vword w)
{
	out->v |= w.v & mask;
	out->k |= w.k & mask;
	out->n |= w.n & mask;
}

/* rec_ch, its cases in its order */
static struct vword vch(struct bit_writer *bw, struct vword a, struct vword b, struct vword c)
{
	uint32_t rest = UINT32_MAX, m, al, alloc, value;
	struct vword out = { 0 }, t;

	if (!(a.k | b.k | c.k)) {
		value = (a.v & b.v) | (~a.v & c.v);
		bit_writer_put(bw, value, 32);
		return (struct vword){ value, 0, 0 };
	}
	m = a.k & b.k & c.k;
	take(&out, m, vconst((a.v & b.v) | (~a.v & c.v)));
	rest &= ~m;
	m = rest & a.k & ~a.v;
	take(&out, m, c);
	rest &= ~m;
	alloc = value = 0;

	m = rest & b.k & ~b.v;
	t = vand(vnot(a), c, &al);
	alloc |= m & al;
	value |= m & t.v;
	take(&out, m, t);
	rest &= ~m;

	m = rest & c.k & ~c.v;
	t = vand(a, b, &al);
	alloc |= m & al;
	value |= m & t.v;
	take(&out, m, t);
	rest &= ~m;

	m = rest & c.k & c.v;
	t = vand(a, vnot(b), &al);
	alloc |= m & al;
	value |= m & t.v;
	take(&out, m, vnot(t));
	rest &= ~m;

	m = rest & b.k & b.v;
	t = vand(vnot(a), vnot(c), &al);
	alloc |= m & al;
	value |= m & t.v;
	take(&out, m, vnot(t));
	rest &= ~m;

	t = (struct vword){ (a.v & b.v) | (~a.v & c.v), 0, 0 };
	alloc |= rest;
	value |= rest & t.v;
	take(&out, rest, t);
	put_masked(bw, value, alloc, __builtin_popcount(alloc));
	return out;
}

/* bit i of v to bit 2i */
static inline uint64_t spread(uint32_t v)
{
	uint64_t x = v;

	x = (x | x << 16) & UINT64_C(0x0000ffff0000ffff);
	x = (x | x << 8) & UINT64_C(0x00ff00ff00ff00ff);
	x = (x | x << 4) & UINT64_C(0x0f0f0f0f0f0f0f0f);
	x = (x | x << 2) & UINT64_C(0x3333333333333333);
	return (x | x << 1) & UINT64_C(0x5555555555555555);
}

/* rec_maj: the general case allocates two bits, maj before b and c */
static struct vword vmaj(struct bit_writer *bw, struct vword a, struct vword b, struct vword c)
{
	uint32_t rest = UINT32_MAX, m, al, alloc, value, maj;
	struct vword out = { 0 }, t;
	unsigned int i;

	maj = (a.v & b.v) | (a.v & c.v) | (b.v & c.v);
	if (!(a.k | b.k | c.k)) {
		bit_writer_put(bw, spread(maj) | spread(b.v & c.v) << 1, 64);
		return (struct vword){ maj, 0, 0 };
	}
	const struct {
		uint32_t when;
		struct vword x, y;
		bool negate;
	} cases[] = {
		{ a.k & ~a.v, b, c, false },
		{ b.k & ~b.v, a, c, false },
		{ c.k & ~c.v, a, b, false },
		{ c.k & c.v, vnot(a), vnot(b), true },
		{ b.k & b.v, vnot(a), vnot(c), true },
		{ a.k & a.v, vnot(b), vnot(c), true },
	};

	m = a.k & b.k & c.k;
	take(&out, m, vconst(maj));
	rest &= ~m;
	alloc = value = 0;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		m = rest & cases[i].when;
		t = vand(cases[i].x, cases[i].y, &al);
		alloc |= m & al;
		value |= m & t.v;
		take(&out, m, cases[i].negate ? vnot(t) : t);
		rest &= ~m;
	}
	take(&out, rest, (struct vword){ maj, 0, 0 });
	value |= rest & maj;
	alloc |= rest;
	put_masked(bw, spread(value) | spread(rest & b.v & c.v) << 1,
		   spread(alloc) | spread(rest) << 1,
		   __builtin_popcount(alloc) + __builtin_popcount(rest));
	return out;
}

/* UInt32::addmany of n operands whose values add up to sum; k: constant bits of all */
static inline struct vword vsum(struct bit_writer *bw, uint64_t sum, uint32_t k, unsigned int n)
{
	if (k == UINT32_MAX)
		return vconst(sum);
	bit_writer_put(bw, sum, 64 - __builtin_clzll(n * (uint64_t)UINT32_MAX));
	return (struct vword){ sum, 0, 0 };
}

static inline struct vword vadd2(struct bit_writer *bw, struct vword a, struct vword b)
{
	return vsum(bw, (uint64_t)a.v + b.v, a.k & b.k, 2);
}

static struct vword load(const struct synth *s, const uint32_t *bits, bool reversed)
{
	struct vword w = { 0 };
	unsigned int i;

	for (i = 0; i < 32; i++) {
		uint32_t arg = bits[reversed ? 31 - i : i];

		w.v |= (uint32_t)synth_get_bit(s, arg) << i;
		w.k |= (uint32_t)CS_ARG_IS_CONST(arg) << i;
	}
	return w;
}

void sha256_block_values(struct synth *s, const uint32_t *args, const struct cs_instance *pos)
{
	struct vword w[64], cur[8], a, b, c, d, e, f, g, h;
	uint64_t sum_a, sum_e;		/* deferred, with the constant bits of all operands */
	uint32_t k_a, k_e;
	struct bit_writer bw;
	unsigned int i;

	for (i = 0; i < 16; i++)
		w[i] = load(s, &args[32 * i], true);
	for (i = 0; i < 8; i++)
		cur[i] = load(s, &args[SHA_BLOCK_BITS + 32 * i], false);
	bit_writer_init(&bw, s->w->bits, pos->aux_base);
	for (i = 16; i < 64; i++) {
		struct vword s0 = sigma(&bw, w[i - 15], 7, 18, 3, true);
		struct vword s1 = sigma(&bw, w[i - 2], 17, 19, 10, true);

		w[i] = vsum(&bw, (uint64_t)w[i - 16].v + s0.v + w[i - 7].v + s1.v,
			    w[i - 16].k & s0.k & w[i - 7].k & s1.k, 4);
	}
	a = cur[0];
	b = cur[1];
	c = cur[2];
	d = cur[3];
	e = cur[4];
	f = cur[5];
	g = cur[6];
	h = cur[7];
	sum_a = sum_e = k_a = k_e = 0;
	for (i = 0; i < 64; i++) {
		struct vword s1, ch, s0, maj;
		uint64_t t1;
		uint32_t k1;

		if (i)
			e = vsum(&bw, sum_e, k_e, 6);
		s1 = sigma(&bw, e, 6, 11, 25, false);
		ch = vch(&bw, e, f, g);
		if (i)
			a = vsum(&bw, sum_a, k_a, 7);
		s0 = sigma(&bw, a, 2, 13, 22, false);
		maj = vmaj(&bw, a, b, c);

		t1 = (uint64_t)h.v + s1.v + ch.v + sha256_k[i] + w[i].v;
		k1 = h.k & s1.k & ch.k & w[i].k;
		sum_e = t1 + d.v;
		k_e = k1 & d.k;
		sum_a = t1 + s0.v + maj.v;
		k_a = k1 & s0.k & maj.k;
		h = g;
		g = f;
		f = e;
		d = c;
		c = b;
		b = a;
	}
	vsum(&bw, sum_a + cur[0].v, k_a & cur[0].k, 8);
	vadd2(&bw, cur[1], b);
	vadd2(&bw, cur[2], c);
	vadd2(&bw, cur[3], d);
	vsum(&bw, sum_e + cur[4].v, k_e & cur[4].k, 7);
	vadd2(&bw, cur[5], f);
	vadd2(&bw, cur[6], g);
	vadd2(&bw, cur[7], h);
	bit_writer_fini(&bw);
}
