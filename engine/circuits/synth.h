/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * synth.h - one pass over a circuit, for its shape or for a witness
 *
 * A circuit is a function that uses gadgets one after another.  In the shape
 * pass each use appends an instance to a builder.  In a witness pass each use
 * takes the next instance of the finished system, whose bases say where the
 * values go, and computes them from its arguments' values.  Gadgets return
 * variables; values are read back from the witness, so a circuit passes only
 * variables and private inputs.  Passes over different ranges of instances
 * may run at the same time on one witness.
 *
 * Errors are sticky in err: a gadget after one does nothing.
 */
#ifndef CUZK_CIRCUITS_SYNTH_H
#define CUZK_CIRCUITS_SYNTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/cs/build.h"
#include "lib/cs.h"

struct synth {
	int err;
	struct cs_builder *b;		/* shape pass, or NULL */
	const struct cs *cs;		/* witness pass */
	struct cs_witness *w;
	uint32_t next;			/* instance */
};

/* Uses a gadget; true when values are to be computed (witness pass, no error). */
bool synth_use(struct synth *s, const struct cs_gadget *gadget, uint64_t param,
	       const uint32_t *args, size_t n_args, struct cs_instance *pos);

/* The last aux of the instance just used: what most gadgets' result is. */
uint32_t synth_last_aux(const struct synth *s, const struct cs_instance *pos);

/* Names where the following instances are, "challenge 3/path_d"; shape pass only. */
__attribute__((format(printf, 2, 3)))
void synth_scope(struct synth *s, const char *fmt, ...);

/* Values, in a witness pass.  Bits of a word shared by two threads are or-ed atomically. */
void synth_get(const struct synth *s, uint32_t arg, struct fr *v);
bool synth_get_bit(const struct synth *s, uint32_t arg);
void synth_put_bit(struct synth *s, uint32_t aux, bool v);

static inline struct fr *synth_full(struct synth *s, const struct cs_instance *pos)
{
	return &s->w->full[pos->full_base];
}

static inline struct fr *synth_inputs(struct synth *s, const struct cs_instance *pos)
{
	return &s->w->inputs[pos->input_base];
}

/* Writes consecutive bits of a bitmap that is zero there. */
struct bit_writer {
	uint64_t *word, acc;
	unsigned int fill;
	bool shared;		/* the word under way may have other bits */
};

void bit_writer_init(struct bit_writer *bw, uint64_t *map, uint64_t pos);
void bit_writer_fini(struct bit_writer *bw);

/* the n <= 64 low bits of v, whose others are zero */
static inline void bit_writer_put(struct bit_writer *bw, uint64_t v, unsigned int n)
{
	bw->acc |= v << bw->fill;
	if (bw->fill + n < 64) {
		bw->fill += n;
		return;
	}
	if (bw->shared)
		__atomic_fetch_or(bw->word, bw->acc, __ATOMIC_RELAXED);
	else
		*bw->word = bw->acc;
	bw->shared = false;
	bw->word++;
	bw->acc = bw->fill ? v >> (64 - bw->fill) : 0;
	bw->fill = bw->fill + n - 64;
}

#endif
