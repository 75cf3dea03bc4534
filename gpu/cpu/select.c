/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* select.c - which points the witness asks for, and with what scalars */
/*
 * The variables of a sum come inputs first, then aux, those without a point
 * left out (unless the parameters are dense).  Bits that are 1 become bits of
 * a map over the points; inputs and full values become (index, scalar).
 * The aux variables are walked in pieces, by all threads; where a piece's
 * output begins depends on the system only and is found at load.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/cpu/cpu.h"

#define PIECE_WORDS 1024	/* of a map: 65536 variables */

static size_t map_words(const struct cs *cs)
{
	return ((size_t)cs->n_aux + 63) / 64;
}

static size_t n_pieces(const struct cs *cs)
{
	return (map_words(cs) + PIECE_WORDS - 1) / PIECE_WORDS;
}

static uint64_t density_bytes(const struct cs *cs)
{
	return (2 * n_pieces(cs) + 1) * sizeof(uint32_t);
}

static inline uint64_t density_word(const struct cpu_density *d, size_t i)
{
	return d->map ? d->map[i] : ~UINT64_C(0);
}

static int density_init(struct cpu_density *d, const struct cs *cs, const uint64_t *map)
{
	size_t n_words = map_words(cs), i;
	uint32_t full = 0;

	d->map = map;
	d->n = 0;
	d->rank = malloc(density_bytes(cs));
	if (!d->rank)
		return -ENOMEM;
	d->full_rank = d->rank + n_pieces(cs);
	for (i = 0; i < n_words; i++) {
		if (i % PIECE_WORDS == 0) {
			d->rank[i / PIECE_WORDS] = d->n;
			d->full_rank[i / PIECE_WORDS] = full;
		}
		d->n += __builtin_popcountll(density_word(d, i));
		full += __builtin_popcountll(density_word(d, i) & cs->full_map[i]);
	}
	if (!map)
		d->n = cs->n_aux;
	d->full_rank[n_pieces(cs)] = full;
	return 0;
}

int cpu_cs_load(struct gpu *gpu, const struct cs *cs, struct gpu_cs **out)
{
	uint64_t bytes = sizeof(struct gpu_cs) + 3 * density_bytes(cs);
	struct gpu_cs *g;
	int err;

	err = cpu_reserve(gpu, bytes);
	if (err)
		return err;
	g = calloc(1, sizeof(*g));
	if (!g) {
		cpu_release(gpu, bytes);
		return -ENOMEM;
	}
	g->cs = cs;
	g->bytes = bytes;
	err = density_init(&g->all, cs, NULL);
	if (!err)
		err = density_init(&g->a, cs, cs->a_aux_density);
	if (!err)
		err = density_init(&g->b, cs, cs->b_aux_density);
	if (err) {
		cpu_cs_unload(gpu, g);
		return err;
	}
	*out = g;
	return 0;
}

void cpu_cs_unload(struct gpu *gpu, struct gpu_cs *g)
{
	if (!g)
		return;
	cpu_release(gpu, g->bytes);
	free(g->all.rank);
	free(g->a.rank);
	free(g->b.rank);
	free(g);
}

/* The aux variables of a sum, and the inputs: NULL for none or, with all_inputs, for all. */
struct variables {
	const struct cpu_density *aux;
	const uint64_t *inputs;
	bool all_inputs;
	uint32_t n_inputs;	/* that have points */
};

static struct variables variables_of(const struct gpu_cs *cs, const struct gpu_srs *srs,
				     enum cpu_vector vector)
{
	struct variables v = { .aux = &cs->all };

	if (vector == CPU_VECTOR_L)
		return v;
	if (srs->dense || vector == CPU_VECTOR_A) {
		v.all_inputs = true;
		v.n_inputs = cs->cs->n_inputs;
	} else {
		v.inputs = cs->cs->b_input_density;
		v.n_inputs = cs->cs->n_b_input;
	}
	if (!srs->dense)
		v.aux = vector == CPU_VECTOR_A ? &cs->a : &cs->b;
	return v;
}

uint64_t cpu_selection_points(const struct gpu_cs *cs, const struct gpu_srs *srs,
			      enum cpu_vector vector)
{
	struct variables v = variables_of(cs, srs, vector);

	return (uint64_t)v.n_inputs + v.aux->n;
}

struct filling {
	const struct cs *cs;
	const struct cs_witness *w;
	struct variables v;
	struct cpu_selection *out;
};

/* Full variables before those of a word; the word is the first of a piece. */
static uint32_t full_before(const struct cs *cs, size_t word)
{
	return cs->full_rank[word / 8];
}

/* The full values of a piece. */
static void fill_full(void *arg, size_t piece, unsigned int thread)
{
	const struct filling *f = arg;
	const struct cpu_density *d = f->v.aux;
	size_t i = piece * PIECE_WORDS, end = i + PIECE_WORDS;
	size_t at = f->v.n_inputs + d->full_rank[piece];
	uint32_t rank = d->rank[piece] + f->v.n_inputs;
	const struct fr *full = f->w->full + full_before(f->cs, i);

	if (end > map_words(f->cs))
		end = map_words(f->cs);
	for (; i < end; i++) {
		uint64_t word = f->cs->full_map[i], dense = density_word(d, i);

		for (; word; word &= word - 1, full++) {
			uint64_t low = word & -word;

			if (!(dense & low))
				continue;
			f->out->index[at] = rank + __builtin_popcountll(dense & (low - 1));
			fr_to_scalar(&f->out->scalars[at++], full);
		}
		rank += __builtin_popcountll(dense);
	}
}

static void fill_inputs(const struct filling *f)
{
	size_t i, at = 0;

	for (i = 0; i < f->cs->n_inputs; i++) {
		if (!f->v.all_inputs && !(f->v.inputs && f->v.inputs[i / 64] >> i % 64 & 1))
			continue;
		f->out->index[at] = at;
		fr_to_scalar(&f->out->scalars[at++], &f->w->inputs[i]);
	}
}

/* Appends the low n bits of word to a map that is zero from bit *at on. */
static inline void append_bits(uint64_t *map, size_t *at, uint64_t word, unsigned int n)
{
	unsigned int shift = *at % 64;

	if (n == 0)
		return;
	map[*at / 64] |= word << shift;
	if (shift + n > 64)
		map[*at / 64 + 1] |= word >> (64 - shift);
	*at += n;
}

/* Bits of word at the places that mask has, together at the bottom. */
static uint64_t extract(uint64_t word, uint64_t mask)
{
	uint64_t out = 0;
	unsigned int n = 0;

	word &= mask;
	if (!word)
		return 0;
	while (mask) {
		/* a run of ones at a time */
		unsigned int skip = __builtin_ctzll(mask), run;

		mask >>= skip;
		word >>= skip;
		if (mask == ~UINT64_C(0))
			return out | word << n;
		run = __builtin_ctzll(~mask);
		out |= (word & ((UINT64_C(1) << run) - 1)) << n;
		n += run;
		mask >>= run;
		word >>= run;
	}
	return out;
}

static void fill_ones(const struct filling *f)
{
	size_t i, n = map_words(f->cs), at = f->v.n_inputs;

	for (i = 0; i < n; i++) {
		uint64_t dense = density_word(f->v.aux, i);

		append_bits(f->out->ones, &at, extract(f->w->bits[i], dense),
			    __builtin_popcountll(dense));
	}
}

int cpu_select(struct gpu *gpu, const struct gpu_cs *cs, const struct gpu_srs *srs,
	       const struct cs_witness *w, enum cpu_vector vector, struct cpu_selection *out)
{
	struct filling f = { cs->cs, w, variables_of(cs, srs, vector), out };
	size_t pieces = n_pieces(cs->cs);
	uint64_t map_bytes, scalar_bytes;
	char *mem;

	memset(out, 0, sizeof(*out));
	out->n_ones = f.v.n_inputs + f.v.aux->n;
	out->n = f.v.n_inputs + f.v.aux->full_rank[pieces];
	/* the last word of the variables may reach over the end of the map */
	map_bytes = (out->n_ones / 64 + 2) * sizeof(uint64_t);
	scalar_bytes = out->n * sizeof(struct scalar);
	out->bytes = scalar_bytes + map_bytes + out->n * sizeof(uint32_t);
	mem = cpu_alloc(gpu, out->bytes);
	if (!mem)
		return -ENOMEM;
	out->scalars = (struct scalar *)mem;
	out->ones = (uint64_t *)(mem + scalar_bytes);
	out->index = (uint32_t *)(mem + scalar_bytes + map_bytes);
	memset(out->ones, 0, map_bytes);
	fill_inputs(&f);
	fill_ones(&f);
	tpool_run(gpu->pool, fill_full, &f, pieces);
	return 0;
}

void cpu_selection_fini(struct gpu *gpu, struct cpu_selection *selection)
{
	cpu_free(gpu, selection->scalars, selection->bytes);
	selection->scalars = NULL;
}
