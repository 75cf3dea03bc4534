/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* derive.c - densities and the map of full variables, from templates and instances */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "engine/cs/build.h"

/* Where a template's variables occur, and which of its aux are full; bitmaps. */
struct occurrence {
	uint64_t *a_aux, *b_aux, *full;		/* own aux */
	uint64_t *a_port, *b_port;
	uint64_t *b_input;
	bool b_one;
};

static void set_bit(uint64_t *map, uint32_t i)
{
	map[i / 64] |= UINT64_C(1) << (i % 64);
}

static size_t words(uint64_t bits)
{
	return (bits + 63) / 64;
}

static void mark(struct occurrence *o, const struct cs *cs, const struct cs_template *t,
		 const struct cs_term *term, unsigned int matrix)
{
	uint32_t i = CS_REF_INDEX(term->ref);

	if (cs_one_coeff(cs, t, term->coeff) == CS_COEFF_ZERO)
		return;
	switch (CS_REF_KIND(term->ref)) {
	case CS_REF_AUX:
		set_bit(matrix ? o->b_aux : o->a_aux, i);
		break;
	case CS_REF_PORT:
		set_bit(matrix ? o->b_port : o->a_port, i);
		break;
	case CS_REF_INPUT:
		if (matrix)
			set_bit(o->b_input, i);
		break;
	case CS_REF_ONE:
		if (matrix)
			o->b_one = true;
		break;
	}
}

static int occurrence_init(struct occurrence *o, const struct cs *cs, const struct cs_template *t)
{
	size_t wa = words(t->n_aux), wp = words(t->n_ports), wi = words(t->n_inputs), i;
	uint64_t *p = calloc(3 * wa + 2 * wp + wi + 1, sizeof(*p));
	uint32_t term = t->first_term, row, k;

	if (!p)
		return -ENOMEM;
	*o = (struct occurrence){ p, p + wa, p + 2 * wa, p + 3 * wa, p + 3 * wa + wp,
				  p + 3 * wa + 2 * wp, false };
	for (i = 0; i < t->n_aux; i++)
		if (cs->slots[t->first_slot + i] & CS_SLOT_FULL)
			set_bit(o->full, i);
	for (row = 0; row < t->n_rows; row++) {
		for (k = 0; k < 3; k++) {
			uint32_t end = cs->lc_end[t->first_lc + 3 * (uint64_t)row + k];

			for (; term < end; term++)
				if (k < 2)
					mark(o, cs, t, &cs->terms[term], k);
		}
	}
	return 0;
}

/* dst |= src << at; reads n_bits of src, whose spare bits are zero */
static void or_shifted(uint64_t *dst, uint64_t at, const uint64_t *src, uint32_t n_bits)
{
	unsigned int shift = at % 64;
	size_t i, n = words(n_bits);

	dst += at / 64;
	for (i = 0; i < n; i++) {
		/* leaves the pages of a map that is mostly zero alone: they cost no memory */
		if (!src[i])
			continue;
		dst[i] |= src[i] << shift;
		if (shift && src[i] >> (64 - shift))
			dst[i + 1] |= src[i] >> (64 - shift);
	}
}

static void apply(const struct cs *cs, const struct cs_instance *inst, const struct occurrence *o,
		  uint64_t *a_aux, uint64_t *b_aux, uint64_t *full, uint64_t *b_input)
{
	const struct cs_template *t = &cs->templates[inst->tmpl];
	const uint32_t *port = &cs->ports[inst->port_base];
	uint32_t i;

	or_shifted(a_aux, inst->aux_base, o->a_aux, t->n_aux);
	or_shifted(b_aux, inst->aux_base, o->b_aux, t->n_aux);
	or_shifted(full, inst->aux_base, o->full, t->n_aux);
	or_shifted(b_input, inst->input_base, o->b_input, t->n_inputs);
	if (o->b_one)
		b_input[0] |= 1;
	for (i = 0; i < t->n_ports; i++) {
		uint32_t v = CS_VAR_INDEX(port[i]);
		bool a = o->a_port[i / 64] >> (i % 64) & 1, b = o->b_port[i / 64] >> (i % 64) & 1;

		if (CS_VAR_IS_INPUT(port[i])) {
			if (b)
				set_bit(b_input, v);
			continue;
		}
		if (a)
			set_bit(a_aux, v);
		if (b)
			set_bit(b_aux, v);
	}
}

static uint32_t popcount(const uint64_t *map, size_t n)
{
	uint32_t sum = 0;
	size_t i;

	for (i = 0; i < n; i++)
		sum += __builtin_popcountll(map[i]);
	return sum;
}

/*
 * full_map is zero but for the pages of the Poseidon gadgets.  Mapped apart it
 * takes memory only where it is not, whatever malloc would do.
 */
static uint64_t *map_zeros(size_t n)
{
	void *p = mmap(NULL, n * 8, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

void cs_free_derived(struct cs *cs)
{
	free((void *)cs->a_aux_density);
	free((void *)cs->b_aux_density);
	free((void *)cs->b_input_density);
	free((void *)cs->full_rank);
	if (cs->full_map)
		munmap((void *)cs->full_map, (words(cs->n_aux) + 1) * 8);
}

int cs_derive(struct cs *cs)
{
	size_t wa = words(cs->n_aux), wi = words(cs->n_inputs), i, n_ranks = wa / 8 + 1;
	struct occurrence *occ = calloc(cs->n_templates + 1, sizeof(*occ));
	uint64_t *a_aux = calloc(wa + 1, 8), *b_aux = calloc(wa + 1, 8);
	uint64_t *full = map_zeros(wa + 1), *b_input = calloc(wi + 1, 8);
	uint32_t *rank = calloc(n_ranks, sizeof(*rank)), sum = 0;
	int err = -ENOMEM;

	if (!occ || !a_aux || !b_aux || !full || !b_input || !rank)
		goto err_free;
	for (i = 0; i < cs->n_templates; i++)
		if (occurrence_init(&occ[i], cs, &cs->templates[i]))
			goto err_free;
	for (i = 0; i < cs->n_instances; i++)
		apply(cs, &cs->instances[i], &occ[cs->instances[i].tmpl], a_aux, b_aux, full,
		      b_input);
	for (i = 0; i < wa; i++) {
		if (i % 8 == 0)
			rank[i / 8] = sum;
		sum += __builtin_popcountll(full[i]);
	}
	cs->a_aux_density = a_aux;
	cs->b_aux_density = b_aux;
	cs->b_input_density = b_input;
	cs->full_map = full;
	cs->full_rank = rank;
	cs->n_a_aux = popcount(a_aux, wa);
	cs->n_b_aux = popcount(b_aux, wa);
	cs->n_b_input = popcount(b_input, wi);
	err = 0;
err_free:
	for (i = 0; occ && i < cs->n_templates; i++)
		free(occ[i].a_aux);
	free(occ);
	if (err) {
		free(a_aux);
		free(b_aux);
		if (full)
			munmap(full, (wa + 1) * 8);
		free(b_input);
		free(rank);
	}
	return err;
}
