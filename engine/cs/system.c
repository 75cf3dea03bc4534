/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* system.c - constraint systems and witnesses as objects */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "engine/cs/build.h"
#include "engine/cs/eval.h"
#include "engine/cs/system.h"

void cs_free(struct cs *cs)
{
	struct cs_box *box = (struct cs_box *)cs;

	if (!cs)
		return;
	cs_free_derived(cs);
	if (box->map) {
		munmap(box->map, box->map_size);
	} else {
		free((void *)cs->templates);
		free((void *)cs->instances);
		free((void *)cs->coeffs);
		free((void *)cs->lc_end);
		free((void *)cs->terms);
		free((void *)cs->slots);
		free((void *)cs->ports);
		free((void *)cs->own);
		free((void *)cs->names);
	}
	free(box);
}

size_t cs_size(const struct cs *cs)
{
	size_t words = (cs->n_aux + 63) / 64 + 1, i, touched = 0;
	const size_t page = 4096 / 8;
	uint64_t last = UINT64_MAX;

	/* full_map's pages of zeros are not there */
	for (i = 0; i < words - 1; i++) {
		if (cs->full_map[i] && i / page != last) {
			last = i / page;
			touched += 4096;
		}
	}
	return sizeof(struct cs_box) + cs->n_templates * sizeof(*cs->templates) +
	       cs->n_instances * sizeof(*cs->instances) + cs->n_coeffs * sizeof(*cs->coeffs) +
	       cs->n_lcs * sizeof(*cs->lc_end) + cs->n_terms * sizeof(*cs->terms) +
	       cs->n_slots * sizeof(*cs->slots) + cs->n_ports * sizeof(*cs->ports) +
	       cs->n_own * sizeof(*cs->own) +
	       cs->names_size + 2 * words * 8 + touched + (cs->n_inputs + 63) / 64 * 8 + words / 8 * 4;
}

int cs_witness_init(struct cs_witness *w, const struct cs *cs)
{
	w->inputs = calloc(cs->n_inputs, sizeof(*w->inputs));
	w->bits = calloc(((size_t)cs->n_aux + 63) / 64 + 1, sizeof(*w->bits));
	w->full = calloc((size_t)cs->n_full + 1, sizeof(*w->full));
	if (!w->inputs || !w->bits || !w->full) {
		cs_witness_fini(w);
		return -ENOMEM;
	}
	w->inputs[0] = fr_one;
	return 0;
}

void cs_witness_fini(struct cs_witness *w)
{
	free(w->inputs);
	free(w->bits);
	free(w->full);
	memset(w, 0, sizeof(*w));
}

/* Where a full aux variable is in witness.full. */
static uint32_t full_index(const struct cs *cs, uint32_t i)
{
	uint32_t rank = cs->full_rank[i / 512], k;

	for (k = i / 512 * 8; k < i / 64; k++)
		rank += __builtin_popcountll(cs->full_map[k]);
	return rank + __builtin_popcountll(cs->full_map[i / 64] & ((UINT64_C(1) << (i % 64)) - 1));
}

void cs_witness_get(const struct cs *cs, const struct cs_witness *w, uint32_t var, struct fr *v)
{
	uint32_t i = CS_VAR_INDEX(var);
	uint64_t bit = UINT64_C(1) << (i % 64);

	if (CS_VAR_IS_INPUT(var)) {
		*v = w->inputs[i];
	} else if (cs->full_map[i / 64] & bit) {
		*v = w->full[full_index(cs, i)];
	} else {
		/* a witness pass may be setting others of the word */
		*v = __atomic_load_n(&w->bits[i / 64], __ATOMIC_RELAXED) & bit ? fr_one : fr_zero;
	}
}

void cs_witness_alter(const struct cs *cs, struct cs_witness *w, uint32_t var)
{
	uint32_t i = CS_VAR_INDEX(var);
	uint64_t bit = UINT64_C(1) << (i % 64);
	struct fr *v;

	if (!CS_VAR_IS_INPUT(var) && !(cs->full_map[i / 64] & bit)) {
		w->bits[i / 64] ^= bit;
		return;
	}
	v = CS_VAR_IS_INPUT(var) ? &w->inputs[i] : &w->full[full_index(cs, i)];
	fr_add(v, v, &fr_one);
}

void cs_row_path(const struct cs *cs, uint64_t row, char *buf, size_t size)
{
	const struct cs_instance *inst;
	const struct cs_template *t;
	const char *scope;

	if (row >= cs->n_rows) {
		snprintf(buf, size, "input %llu", (unsigned long long)(row - cs->n_rows));
		return;
	}
	inst = &cs->instances[cs_find_instance(cs, row)];
	t = &cs->templates[inst->tmpl];
	scope = cs->names + inst->scope;
	snprintf(buf, size, "%s%s%s/row %llu of %u", scope, *scope ? "/" : "", cs->names + t->name,
		 (unsigned long long)(row - inst->row_base), t->n_rows);
}
