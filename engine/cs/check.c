/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* check.c - is a system from a file consistent? */
#include <string.h>

#include "engine/cs/build.h"
#include "engine/cs/check.h"

static const char *check_coeffs(const struct cs *cs)
{
	struct fr c = fr_one, minus;
	unsigned int k;

	if (cs->n_coeffs < CS_COEFF_OTHER || !fr_is_zero(&cs->coeffs[CS_COEFF_ZERO]))
		return "fixed coefficients are missing";
	for (k = 0; k < 255; k++, fr_double(&c, &c)) {
		fr_neg(&minus, &c);
		if (!fr_equal(&c, &cs->coeffs[CS_COEFF_ONE + k]) ||
		    !fr_equal(&minus, &cs->coeffs[CS_COEFF_MINUS_ONE + k]))
			return "fixed coefficients are wrong";
	}
	for (k = CS_COEFF_OTHER; k < cs->n_coeffs; k++) {
		struct scalar s;

		memcpy(&s, &cs->coeffs[k], sizeof(s));
		if (!scalar_is_canonical(&s))
			return "a coefficient is not reduced";
	}
	return NULL;
}

static bool ref_fits(const struct cs_template *t, uint32_t ref)
{
	uint32_t i = CS_REF_INDEX(ref);

	switch (CS_REF_KIND(ref)) {
	case CS_REF_AUX:
		return i < t->n_aux;
	case CS_REF_PORT:
		return i < t->n_ports;
	case CS_REF_INPUT:
		return i < t->n_inputs;
	default:
		return i == 0;
	}
}

static bool coeff_fits(const struct cs *cs, const struct cs_template *t,
		       const struct cs_term *term)
{
	if (!(term->coeff & CS_COEFF_OWN))
		return term->coeff < cs->n_coeffs;
	return CS_REF_KIND(term->ref) == CS_REF_ONE &&
	       (term->coeff & ~CS_COEFF_OWN) < cs->n_own - t->first_own &&
	       cs_one_coeff(cs, t, term->coeff) < cs->n_coeffs;
}

static const char *check_template(const struct cs *cs, const struct cs_template *t)
{
	uint64_t i, lcs = 3 * (uint64_t)t->n_rows, term = t->first_term;
	uint32_t full = 0;

	if (t->first_lc > cs->n_lcs || lcs > cs->n_lcs - t->first_lc ||
	    t->first_term > cs->n_terms || t->first_slot > cs->n_slots ||
	    t->n_aux > cs->n_slots - t->first_slot || t->name >= cs->names_size ||
	    t->first_own > cs->n_own)
		return "a template is out of bounds";
	/* a row's first combination is found from the one before it */
	for (i = 0; i < lcs; i++) {
		uint64_t end = cs->lc_end[t->first_lc + i];

		if (end < term || end > cs->n_terms)
			return "a row is out of bounds";
		for (; term < end; term++)
			if (!ref_fits(t, cs->terms[term].ref) ||
			    !coeff_fits(cs, t, &cs->terms[term]))
				return "a term is out of bounds";
	}
	for (i = 0; i < t->n_aux; i++) {
		uint32_t slot = cs->slots[t->first_slot + i];

		if (slot != CS_SLOT_BIT && slot != (CS_SLOT_FULL | full++))
			return "a slot is wrong";
	}
	return full == t->n_full ? NULL : "a template's full variables are miscounted";
}

const char *cs_check(const struct cs *cs)
{
	uint64_t rows = 0, aux = 0, full = 0, inputs = 1, i, k;
	const char *wrong = check_coeffs(cs);

	if (!cs->names_size || cs->names[cs->names_size - 1])
		return "names do not end";
	if (cs->n_terms > UINT32_MAX)
		return "too many terms";
	for (i = 0; !wrong && i < cs->n_templates; i++)
		wrong = check_template(cs, &cs->templates[i]);
	if (wrong)
		return wrong;
	for (i = 0; i < cs->n_instances; i++) {
		const struct cs_instance *inst = &cs->instances[i];
		const struct cs_template *t;

		if (inst->tmpl >= cs->n_templates || inst->scope >= cs->names_size ||
		    inst->row_base != rows || inst->aux_base != aux || inst->full_base != full ||
		    inst->input_base != inputs || inst->port_base > cs->n_ports)
			return "an instance is out of place";
		t = &cs->templates[inst->tmpl];
		if (t->n_ports > cs->n_ports - inst->port_base)
			return "an instance is out of place";
		for (k = 0; k < t->n_ports; k++) {
			uint32_t var = cs->ports[inst->port_base + k];

			if (CS_VAR_INDEX(var) >= (CS_VAR_IS_INPUT(var) ? inputs : aux))
				return "a port is not an earlier variable";
		}
		rows += t->n_rows;
		aux += t->n_aux;
		full += t->n_full;
		inputs += t->n_inputs;
		if (rows > UINT32_MAX || aux > CS_MAX_AUX || inputs > CS_MAX_AUX)
			return "too many rows or variables";
	}
	if (rows != cs->n_rows || aux != cs->n_aux || full != cs->n_full ||
	    inputs != cs->n_inputs)
		return "instances do not add up";
	if (cs->log_domain > 32 || UINT64_C(1) << cs->log_domain < rows + inputs ||
	    (cs->log_domain && UINT64_C(1) << (cs->log_domain - 1) >= rows + inputs))
		return "the domain is wrong";
	return NULL;
}
