/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * g-merkle.c - levels of Merkle paths: put the node among its siblings, hash
 *
 * The insertion is a list of picks (cond ? a : b), the same for rows and
 * values; see filecoin-spec 4.0, insert_2, insert_4, insert_8.
 */
#include <assert.h>
#include <string.h>

#include "engine/circuits/gadgets.h"

enum pick_cond { B0, B1, B2, NOR, AND };
/* operands: the node, siblings, the pick before */
enum pick_operand { X, E0, E1, E2, E3, E4, E5, E6, P };

struct pick {
	uint8_t cond, a, b;
	bool out;		/* the next child */
};

static const struct pick picks_2[] = {
	{ B0, E0, X, true },
	{ B0, X, E0, true },
};

static const struct pick picks_4[] = {
	{ B0, E0, X }, { B1, E0, P, true },
	{ B0, X, E0 }, { B1, E1, P, true },
	{ B0, E2, X }, { B1, P, E1, true },
	{ B0, X, E2 }, { B1, P, E2, true },
};

static const struct pick picks_8[] = {
	{ NOR, X, E0 }, { B2, E0, P, true },
	{ B0, X, E0 }, { B1, E1, P }, { B2, E1, P, true },
	{ B0, E2, X }, { B1, P, E1 }, { B2, E2, P, true },
	{ AND, X, E2 }, { B2, E3, P, true },
	{ NOR, X, E4 }, { B2, P, E3, true },
	{ B0, X, E4 }, { B1, E5, P }, { B2, P, E4, true },
	{ B0, E6, X }, { B1, P, E5 }, { B2, P, E5, true },
	{ AND, X, E6 }, { B2, P, E6, true },
};

#define N_PICKS(list) (sizeof(list) / sizeof((list)[0]))
#define MAX_PICKS N_PICKS(picks_8)

static unsigned int picks_of(unsigned int arity, const struct pick **list)
{
	switch (arity) {
	case 2:
		*list = picks_2;
		return N_PICKS(picks_2);
	case 4:
		*list = picks_4;
		return N_PICKS(picks_4);
	default:
		assert(arity == 8);
		*list = picks_8;
		return N_PICKS(picks_8);
	}
}

static unsigned int log2_of(unsigned int arity)
{
	return __builtin_ctz(arity);
}

static void record_insert(struct rec *r, unsigned int arity, uint32_t x,
			  const struct rec_bit *bits, const uint32_t *siblings, uint32_t *out)
{
	uint32_t operand[P + 1] = { x }, cond[AND + 1] = { 0 };
	const struct pick *list;
	unsigned int n = picks_of(arity, &list), i;

	memcpy(&operand[E0], siblings, (arity - 1) * sizeof(*siblings));
	for (i = 0; i < log2_of(arity); i++)
		cond[B0 + i] = bits[i].ref;
	if (arity == 8) {
		cond[NOR] = rec_and(r, rec_not(bits[0]), rec_not(bits[1])).ref;
		cond[AND] = rec_and(r, bits[0], bits[1]).ref;
	}
	for (i = 0; i < n; i++) {
		operand[P] = rec_pick(r, cond[list[i].cond], operand[list[i].a],
				      operand[list[i].b]);
		if (list[i].out)
			*out++ = operand[P];
	}
}

/*
 * The picks' values in order to full and the children to out; returns how
 * many.  The two condition bits of arity 8 are aux and aux + 1.
 */
static unsigned int insert_values(struct synth *s, unsigned int arity, const struct fr *x,
				  unsigned int index, const struct fr *siblings, uint32_t aux,
				  struct fr *full, struct fr *out)
{
	const bool cond[] = {
		[B0] = index & 1, [B1] = index & 2, [B2] = index & 4,
		[NOR] = !(index & 3), [AND] = (index & 3) == 3,
	};
	const struct fr *operand[P + 1] = { x };
	const struct pick *list;
	unsigned int n = picks_of(arity, &list), i;

	for (i = 0; i < arity - 1; i++)
		operand[E0 + i] = &siblings[i];
	if (arity == 8) {
		synth_put_bit(s, aux, cond[NOR]);
		synth_put_bit(s, aux + 1, cond[AND]);
	}
	for (i = 0; i < n; i++) {
		full[i] = *operand[cond[list[i].cond] ? list[i].a : list[i].b];
		operand[P] = &full[i];
		if (list[i].out)
			*out++ = full[i];
	}
	return n;
}

/* args: the node; aux: bits, siblings, picks, hash (without hash: param's bit 8) */
#define NO_HASH 0x100

static void record_level(struct rec *r, uint64_t param, const struct rec_bit *args, size_t n)
{
	unsigned int arity = param & 0xff, i;
	uint32_t siblings[7], out[8];
	struct rec_bit bits[3];

	for (i = 0; i < log2_of(arity); i++)
		bits[i] = rec_alloc_bit(r, false);
	for (i = 0; i < arity - 1; i++)
		siblings[i] = rec_aux(r, &fr_zero);
	record_insert(r, arity, args[0].ref, bits, siblings, out);
	if (!(param & NO_HASH))
		record_poseidon(r, POSEIDON_MERKLE, arity, out);
}

/* bits, siblings and picks of a level; the children to out */
static struct fr *level_values(struct synth *s, const struct cs_instance *pos, unsigned int arity,
			       uint32_t cur, unsigned int index, const struct fr *siblings,
			       struct fr *out)
{
	unsigned int log = log2_of(arity), i;
	struct fr *full = synth_full(s, pos), x;

	synth_get(s, cur, &x);
	for (i = 0; i < log; i++)
		synth_put_bit(s, pos->aux_base + i, index >> i & 1);
	memcpy(full, siblings, (arity - 1) * sizeof(*full));
	full += arity - 1;
	return full + insert_values(s, arity, &x, index, siblings, pos->aux_base + log + arity - 1,
				    full, out);
}

static void append_bits(const struct cs_instance *pos, unsigned int n, uint32_t *bits,
			unsigned int *n_bits)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		bits[(*n_bits)++] = pos->aux_base + i;
}

static const struct cs_gadget level_gadget = { "level", GADGET_LEVEL, record_level };

uint32_t gadget_level(struct synth *s, unsigned int arity, uint32_t cur, unsigned int index,
		      const struct fr *siblings, uint32_t *bits, unsigned int *n_bits)
{
	struct cs_instance pos;
	struct fr in[8], *full;

	if (synth_use(s, &level_gadget, arity, &cur, 1, &pos)) {
		full = level_values(s, &pos, arity, cur, index, siblings, in);
		poseidon_trace(POSEIDON_MERKLE, arity, in, full);
	}
	append_bits(&pos, log2_of(arity), bits, n_bits);
	return synth_last_aux(s, &pos);
}

void gadget_level_many(struct synth *s, unsigned int n, unsigned int arity, uint32_t *cur,
		       const unsigned int *index, const struct fr *const *siblings,
		       uint32_t (*bits)[64], unsigned int *n_bits)
{
	struct fr in[8 * GADGET_LANES], *full[GADGET_LANES];
	unsigned int i, used = 0, first = *n_bits;
	struct cs_instance pos;

	assert(n <= GADGET_LANES);
	for (i = 0; i < n; i++) {
		if (synth_use(&s[i], &level_gadget, arity, &cur[i], 1, &pos)) {
			full[used] = level_values(&s[i], &pos, arity, cur[i], index[i],
						  siblings[i], &in[used * arity]);
			used++;
		}
		*n_bits = first;
		append_bits(&pos, log2_of(arity), bits[i], n_bits);
		cur[i] = synth_last_aux(&s[i], &pos);
	}
	poseidon_trace_many(arity, in, full, used);
}

void gadget_insert(struct synth *s, uint32_t cur, unsigned int index, const struct fr *sibling,
		   uint32_t out[2], uint32_t *bits, unsigned int *n_bits)
{
	static const struct cs_gadget gadget = { "insert", GADGET_INSERT, record_level };
	struct cs_instance pos;
	struct fr in[2];

	if (synth_use(s, &gadget, 2 | NO_HASH, &cur, 1, &pos))
		level_values(s, &pos, 2, cur, index, sibling, in);
	append_bits(&pos, 1, bits, n_bits);
	out[1] = synth_last_aux(s, &pos);
	out[0] = out[1] - 1;
}

/* args: the node, bits, siblings; aux: picks, hash */
static void record_level_given(struct rec *r, uint64_t param, const struct rec_bit *args,
			       size_t n)
{
	unsigned int arity = param & 0xff, log = log2_of(arity), i;
	uint32_t siblings[7], out[8];

	for (i = 0; i < arity - 1; i++)
		siblings[i] = args[1 + log + i].ref;
	record_insert(r, arity, args[0].ref, args + 1, siblings, out);
	if (!(param & NO_HASH))
		record_poseidon(r, POSEIDON_MERKLE, arity, out);
}

static void level_given(struct synth *s, const struct cs_gadget *gadget, uint64_t param,
			uint32_t cur, const uint32_t *bits, const uint32_t *siblings,
			struct cs_instance *pos)
{
	unsigned int arity = param & 0xff, log = log2_of(arity), i, index = 0;
	struct fr x, e[7], in[8], *full;
	uint32_t args[1 + 3 + 7];

	args[0] = cur;
	memcpy(&args[1], bits, log * sizeof(*bits));
	memcpy(&args[1 + log], siblings, (arity - 1) * sizeof(*siblings));
	if (!synth_use(s, gadget, param, args, 1 + log + arity - 1, pos))
		return;
	synth_get(s, cur, &x);
	for (i = 0; i < log; i++)
		index |= synth_get_bit(s, bits[i]) << i;
	for (i = 0; i < arity - 1; i++)
		synth_get(s, siblings[i], &e[i]);
	full = synth_full(s, pos);
	full += insert_values(s, arity, &x, index, e, pos->aux_base, full, in);
	if (!(param & NO_HASH))
		poseidon_trace(POSEIDON_MERKLE, arity, in, full);
}

uint32_t gadget_level_given(struct synth *s, unsigned int arity, uint32_t cur,
			    const uint32_t *bits, const uint32_t *siblings)
{
	static const struct cs_gadget gadget = { "level", GADGET_LEVEL_GIVEN, record_level_given };
	struct cs_instance pos;

	level_given(s, &gadget, arity, cur, bits, siblings, &pos);
	return synth_last_aux(s, &pos);
}

void gadget_insert_given(struct synth *s, uint32_t cur, uint32_t bit, uint32_t sibling,
			 uint32_t out[2])
{
	static const struct cs_gadget gadget = {
		"insert", GADGET_INSERT_GIVEN, record_level_given
	};
	struct cs_instance pos;

	level_given(s, &gadget, 2 | NO_HASH, cur, &bit, &sibling, &pos);
	out[1] = synth_last_aux(s, &pos);
	out[0] = out[1] - 1;
}
