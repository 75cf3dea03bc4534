/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* synth.c - one pass over a circuit, for its shape or for a witness */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "engine/circuits/synth.h"
#include "engine/cs/system.h"

bool synth_use(struct synth *s, const struct cs_gadget *gadget, uint64_t param,
	       const uint32_t *args, size_t n_args, struct cs_instance *pos)
{
	*pos = (struct cs_instance){ 0 };
	if (s->err)
		return false;
	if (s->b) {
		cs_builder_use(s->b, gadget, param, args, n_args, pos);
		return false;
	}
	/* the system is another circuit's: our caller's mistake, but a file may have caused it */
	if (s->next >= s->cs->n_instances ||
	    s->cs->templates[s->cs->instances[s->next].tmpl].kind != gadget->kind ||
	    s->cs->templates[s->cs->instances[s->next].tmpl].param != param) {
		s->err = -EINVAL;
		return false;
	}
	*pos = s->cs->instances[s->next++];
	return true;
}

uint32_t synth_last_aux(const struct synth *s, const struct cs_instance *pos)
{
	if (s->err)
		return 0;
	if (s->b)
		return cs_builder_n_aux(s->b) - 1;
	return pos->aux_base + s->cs->templates[pos->tmpl].n_aux - 1;
}

void synth_scope(struct synth *s, const char *fmt, ...)
{
	char path[256];
	va_list ap;

	if (!s->b)
		return;
	va_start(ap, fmt);
	vsnprintf(path, sizeof(path), fmt, ap);
	va_end(ap);
	cs_builder_scope(s->b, path);
}

void synth_get(const struct synth *s, uint32_t arg, struct fr *v)
{
	if (CS_ARG_IS_CONST(arg))
		*v = arg == CS_ARG_TRUE ? fr_one : fr_zero;
	else
		cs_witness_get(s->cs, s->w, arg, v);
}

bool synth_get_bit(const struct synth *s, uint32_t arg)
{
	if (CS_ARG_IS_CONST(arg))
		return arg == CS_ARG_TRUE;
	return __atomic_load_n(&s->w->bits[arg / 64], __ATOMIC_RELAXED) >> (arg % 64) & 1;
}

void synth_put_bit(struct synth *s, uint32_t aux, bool v)
{
	if (v)
		__atomic_fetch_or(&s->w->bits[aux / 64], UINT64_C(1) << (aux % 64),
				  __ATOMIC_RELAXED);
}

void bit_writer_init(struct bit_writer *bw, uint64_t *map, uint64_t pos)
{
	*bw = (struct bit_writer){ .word = map + pos / 64, .fill = pos % 64, .shared = true };
}

void bit_writer_fini(struct bit_writer *bw)
{
	if (bw->acc)
		__atomic_fetch_or(bw->word, bw->acc, __ATOMIC_RELAXED);
}
