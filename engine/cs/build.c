/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* build.c - builds a struct cs from uses of gadgets */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/cs/build.h"
#include "engine/cs/system.h"

/* classes of an argument in a template's key; below them: index of the port */
#define CLASS_ONE 0xfffd
#define CLASS_FALSE 0xfffe
#define CLASS_TRUE 0xffff

struct array {
	void *p;
	size_t n, size, elem;
};

struct key {
	uint32_t kind;
	uint32_t n_args;
	uint64_t param;
	size_t classes;		/* into b->classes */
};

struct cs_builder {
	int err;
	struct cs_box *box;
	uint64_t n_rows, n_aux, n_full, n_inputs;
	struct array templates, instances, coeffs, lc_end, terms, slots, ports, own, names;
	struct array keys, classes;	/* of the templates */
	/* open-addressed hashes of 1-based indices */
	uint32_t *tmpl_hash, *coeff_hash;
	size_t tmpl_hash_size, coeff_hash_size;
	uint32_t scope;
	/* ports of the instance being added: hash of variables by generation */
	struct seen {
		uint32_t var, port;
		uint64_t generation;
	} seen[4 * CS_MAX_ARGS];
	uint64_t generation;
};

static void *array_add(struct cs_builder *b, struct array *a, size_t n)
{
	void *p;

	if (a->n + n > a->size || !a->p) {
		size_t want = a->size ? a->size * 2 : 1024;

		while (want < a->n + n)
			want *= 2;
		p = reallocarray(a->p, want, a->elem);
		if (!p) {
			b->err = -ENOMEM;
			return NULL;
		}
		a->p = p;
		a->size = want;
	}
	p = (char *)a->p + a->n * a->elem;
	a->n += n;
	return p;
}

static uint64_t hash_bytes(const void *p, size_t n, uint64_t h)
{
	const uint8_t *s = p;
	size_t i;
	uint64_t v;

	for (i = 0; i + 8 <= n; i += 8) {
		memcpy(&v, s + i, 8);
		h = (h ^ v) * UINT64_C(0x9e3779b97f4a7c15);
		h ^= h >> 29;
	}
	for (v = 0; i < n; i++)
		v = v << 8 | s[i];
	h = (h ^ v) * UINT64_C(0x9e3779b97f4a7c15);
	return h ^ h >> 32;
}

/* Doubles a hash of n entries when half full: hash_of gives an entry's hash. */
static bool rehash(struct cs_builder *b, uint32_t **table, size_t *size, size_t n,
		   uint64_t (*hash_of)(struct cs_builder *b, size_t i))
{
	size_t i, k, want = *size ? *size * 2 : 4096;
	uint32_t *t;

	if (2 * (n + 1) <= *size)
		return true;
	t = calloc(want, sizeof(*t));
	if (!t) {
		b->err = -ENOMEM;
		return false;
	}
	for (i = 0; i < n; i++) {
		for (k = hash_of(b, i) & (want - 1); t[k]; k = (k + 1) & (want - 1))
			;
		t[k] = i + 1;
	}
	free(*table);
	*table = t;
	*size = want;
	return true;
}

static uint64_t coeff_hash_of(struct cs_builder *b, size_t i)
{
	return hash_bytes((struct fr *)b->coeffs.p + i, sizeof(struct fr), 1);
}

static uint32_t coeff_index(struct cs_builder *b, const struct fr *c)
{
	struct fr *coeffs, *slot;
	size_t k;

	if (!rehash(b, &b->coeff_hash, &b->coeff_hash_size, b->coeffs.n, coeff_hash_of))
		return 0;
	coeffs = b->coeffs.p;
	for (k = hash_bytes(c, sizeof(*c), 1) & (b->coeff_hash_size - 1); b->coeff_hash[k];
	     k = (k + 1) & (b->coeff_hash_size - 1))
		if (fr_equal(&coeffs[b->coeff_hash[k] - 1], c))
			return b->coeff_hash[k] - 1;
	slot = array_add(b, &b->coeffs, 1);
	if (!slot)
		return 0;
	*slot = *c;
	b->coeff_hash[k] = b->coeffs.n;
	return b->coeffs.n - 1;
}

static uint64_t key_hash(const struct key *key, const uint16_t *classes)
{
	uint64_t h = hash_bytes(&key->kind, 4, 3) ^ hash_bytes(&key->param, 8, 4);

	return hash_bytes(classes, key->n_args * sizeof(*classes), h);
}

static uint64_t tmpl_hash_of(struct cs_builder *b, size_t i)
{
	const struct key *key = (struct key *)b->keys.p + i;

	return key_hash(key, (uint16_t *)b->classes.p + key->classes);
}

static uint32_t add_name(struct cs_builder *b, const char *s)
{
	size_t n = strlen(s) + 1, at = b->names.n;
	char *p;

	if (at > UINT32_MAX - n) {
		b->err = -E2BIG;
		return 0;
	}
	p = array_add(b, &b->names, n);
	if (!p)
		return 0;
	memcpy(p, s, n);
	return at;
}

int cs_builder_open(struct cs_builder **out)
{
	struct cs_builder *b = calloc(1, sizeof(*b));
	struct fr c = fr_one, minus;
	int k;

	if (!b)
		return -ENOMEM;
	b->templates.elem = sizeof(struct cs_template);
	b->instances.elem = sizeof(struct cs_instance);
	b->coeffs.elem = sizeof(struct fr);
	b->lc_end.elem = sizeof(uint32_t);
	b->terms.elem = sizeof(struct cs_term);
	b->slots.elem = sizeof(uint32_t);
	b->ports.elem = sizeof(uint32_t);
	b->own.elem = sizeof(uint32_t);
	b->names.elem = 1;
	b->keys.elem = sizeof(struct key);
	b->classes.elem = sizeof(uint16_t);
	b->n_inputs = 1;
	add_name(b, "");
	coeff_index(b, &fr_zero);
	for (k = 0; k < 255; k++, fr_double(&c, &c))
		coeff_index(b, &c);
	for (k = 0, c = fr_one; k < 255; k++, fr_double(&c, &c)) {
		fr_neg(&minus, &c);
		coeff_index(b, &minus);
	}
	b->box = calloc(1, sizeof(*b->box));
	if (b->err || !b->box) {
		cs_builder_close(b);
		return -ENOMEM;
	}
	assert(b->coeffs.n == CS_COEFF_OTHER);
	*out = b;
	return 0;
}

void cs_builder_close(struct cs_builder *b)
{
	if (!b)
		return;
	free(b->templates.p);
	free(b->instances.p);
	free(b->coeffs.p);
	free(b->lc_end.p);
	free(b->terms.p);
	free(b->slots.p);
	free(b->ports.p);
	free(b->own.p);
	free(b->names.p);
	free(b->keys.p);
	free(b->classes.p);
	free(b->tmpl_hash);
	free(b->coeff_hash);
	free(b->box);
	free(b);
}

void cs_builder_scope(struct cs_builder *b, const char *path)
{
	b->scope = *path ? add_name(b, path) : 0;
}

/* Classes of the arguments and the distinct variables among them. */
static unsigned int classify(struct cs_builder *b, const uint32_t *args, size_t n,
			     uint16_t *classes, uint32_t *ports)
{
	const size_t mask = sizeof(b->seen) / sizeof(b->seen[0]) - 1;
	unsigned int n_ports = 0;
	size_t i, k;

	b->generation++;
	for (i = 0; i < n; i++) {
		if (args[i] == CS_ARG_ONE) {
			classes[i] = CLASS_ONE;
			continue;
		}
		if (CS_ARG_IS_CONST(args[i])) {
			classes[i] = args[i] == CS_ARG_TRUE ? CLASS_TRUE : CLASS_FALSE;
			continue;
		}
		k = (args[i] ^ args[i] >> 20) & mask;
		while (b->seen[k].generation == b->generation && b->seen[k].var != args[i])
			k = (k + 1) & mask;
		if (b->seen[k].generation != b->generation) {
			b->seen[k] = (struct seen){ args[i], n_ports, b->generation };
			ports[n_ports++] = args[i];
		}
		classes[i] = b->seen[k].port;
	}
	return n_ports;
}

/*
 * An earlier template whose rows, terms and slots equal those just stored, own
 * coefficients aside.
 */
static const struct cs_template *find_twin(const struct cs_builder *b, const struct cs_template *t,
					   size_t n_terms)
{
	const struct cs_template *u = b->templates.p;
	const uint32_t *lc_end = b->lc_end.p, *slots = b->slots.p;
	const struct cs_term *terms = b->terms.p;
	uint64_t i, k, lcs = 3 * (uint64_t)t->n_rows;

	for (k = 0; k < b->templates.n; k++, u++) {
		if (u->kind != t->kind || u->n_rows != t->n_rows || u->n_aux != t->n_aux ||
		    u->n_ports != t->n_ports || u->n_inputs != t->n_inputs || !lcs ||
		    lc_end[u->first_lc + lcs - 1] - u->first_term != n_terms ||
		    memcmp(&terms[u->first_term], &terms[t->first_term],
			   n_terms * sizeof(*terms)) ||
		    memcmp(&slots[u->first_slot], &slots[t->first_slot],
			   t->n_aux * sizeof(*slots)))
			continue;
		for (i = 0; i < lcs; i++)
			if (lc_end[u->first_lc + i] - u->first_term !=
			    lc_end[t->first_lc + i] - t->first_term)
				break;
		if (i == lcs)
			return u;
	}
	return NULL;
}

static void store_template(struct cs_builder *b, const struct rec *r, const struct cs_gadget *g,
			   uint64_t param, unsigned int n_ports)
{
	struct cs_template t = {
		.n_rows = r->n_rows, .n_aux = r->n_aux, .n_inputs = r->n_inputs,
		.n_ports = n_ports, .n_full = r->n_full, .kind = g->kind, .param = param,
		.first_lc = b->lc_end.n, .first_term = b->terms.n, .first_slot = b->slots.n,
		.first_own = b->own.n, .name = add_name(b, g->name),
	}, *slot;
	uint32_t *lc_end = array_add(b, &b->lc_end, 3 * (size_t)r->n_rows), full = 0, *own;
	struct cs_term *terms = array_add(b, &b->terms, r->terms.n);
	uint32_t *slots = array_add(b, &b->slots, r->n_aux);
	const struct cs_template *twin;
	size_t i;

	if (!lc_end || !terms || !slots)
		return;
	if (t.first_term + r->terms.n > UINT32_MAX) {
		b->err = -E2BIG;
		return;
	}
	for (i = 0; i < 3 * (size_t)r->n_rows; i++)
		lc_end[i] = t.first_term + r->rows[i / 3].end[i % 3];
	for (i = 0; i < r->terms.n; i++) {
		terms[i].ref = r->terms.terms[i].ref;
		terms[i].coeff = coeff_index(b, &r->terms.terms[i].coeff);
		if (terms[i].ref != CS_REF(CS_REF_ONE, 0) || terms[i].coeff < CS_COEFF_OTHER)
			continue;
		own = array_add(b, &b->own, 1);
		if (!own)
			return;
		*own = terms[i].coeff;
		terms[i].coeff = CS_COEFF_OWN | (b->own.n - 1 - t.first_own);
	}
	for (i = 0; i < r->n_aux; i++)
		slots[i] = r->is_bit[i] ? CS_SLOT_BIT : CS_SLOT_FULL | full++;
	twin = find_twin(b, &t, r->terms.n);
	if (twin) {
		b->lc_end.n = t.first_lc;
		b->terms.n = t.first_term;
		b->slots.n = t.first_slot;
		t.first_lc = twin->first_lc;
		t.first_term = twin->first_term;
		t.first_slot = twin->first_slot;
	}
	slot = array_add(b, &b->templates, 1);
	if (slot)
		*slot = t;
}

static void record_template(struct cs_builder *b, const struct cs_gadget *g, uint64_t param,
			    const uint16_t *classes, size_t n_args, unsigned int n_ports)
{
	struct rec_bit args[CS_MAX_ARGS];
	struct rec r;
	size_t i;

	for (i = 0; i < n_args; i++) {
		switch (classes[i]) {
		case CLASS_FALSE:
		case CLASS_TRUE:
			args[i] = rec_const(classes[i] == CLASS_TRUE);
			break;
		case CLASS_ONE:
			args[i] = (struct rec_bit){ REC_IS, false, CS_REF(CS_REF_ONE, 0) };
			break;
		default:
			args[i] = (struct rec_bit){ REC_IS, false,
						    CS_REF(CS_REF_PORT, classes[i]) };
		}
	}
	rec_init(&r, NULL);
	g->record(&r, param, args, n_args);
	if (r.err)
		b->err = r.err;
	else
		store_template(b, &r, g, param, n_ports);
	rec_fini(&r);
}

/* Index of the template with this pattern, recorded if it is new. */
static size_t find_template(struct cs_builder *b, const struct cs_gadget *g, uint64_t param,
			    const uint16_t *classes, size_t n_args, unsigned int n_ports)
{
	struct key want = { g->kind, n_args, param, 0 }, *key;
	uint16_t *copy;
	size_t k;

	if (!rehash(b, &b->tmpl_hash, &b->tmpl_hash_size, b->keys.n, tmpl_hash_of))
		return 0;
	for (k = key_hash(&want, classes) & (b->tmpl_hash_size - 1); b->tmpl_hash[k];
	     k = (k + 1) & (b->tmpl_hash_size - 1)) {
		key = (struct key *)b->keys.p + b->tmpl_hash[k] - 1;
		if (key->kind == want.kind && key->param == param && key->n_args == n_args &&
		    !memcmp((uint16_t *)b->classes.p + key->classes, classes,
			    n_args * sizeof(*classes)))
			return b->tmpl_hash[k] - 1;
	}
	want.classes = b->classes.n;
	copy = array_add(b, &b->classes, n_args);
	key = array_add(b, &b->keys, 1);
	if (!copy || !key)
		return 0;
	memcpy(copy, classes, n_args * sizeof(*classes));
	*key = want;
	b->tmpl_hash[k] = b->keys.n;
	record_template(b, g, param, classes, n_args, n_ports);
	return b->keys.n - 1;
}

void cs_builder_use(struct cs_builder *b, const struct cs_gadget *gadget, uint64_t param,
		    const uint32_t *args, size_t n_args, struct cs_instance *pos)
{
	uint16_t classes[CS_MAX_ARGS];
	uint32_t vars[CS_MAX_ARGS], *ports;
	const struct cs_template *t;
	struct cs_instance *inst;
	unsigned int n_ports;
	size_t tmpl;

	memset(pos, 0, sizeof(*pos));
	assert(n_args <= CS_MAX_ARGS);
	if (b->err)
		return;
	n_ports = classify(b, args, n_args, classes, vars);
	tmpl = find_template(b, gadget, param, classes, n_args, n_ports);
	if (b->err)
		return;
	t = (struct cs_template *)b->templates.p + tmpl;
	*pos = (struct cs_instance){
		.tmpl = tmpl, .row_base = b->n_rows, .aux_base = b->n_aux,
		.full_base = b->n_full, .input_base = b->n_inputs, .scope = b->scope,
		.port_base = b->ports.n,
	};
	inst = array_add(b, &b->instances, 1);
	ports = array_add(b, &b->ports, n_ports);
	if (!inst || !ports)
		return;
	memcpy(ports, vars, n_ports * sizeof(*ports));
	*inst = *pos;
	b->n_rows += t->n_rows;
	b->n_aux += t->n_aux;
	b->n_full += t->n_full;
	b->n_inputs += t->n_inputs;
	if (b->n_rows > UINT32_MAX || b->n_aux > CS_MAX_AUX || b->n_inputs > CS_MAX_AUX)
		b->err = -E2BIG;
}

uint32_t cs_builder_n_aux(const struct cs_builder *b)
{
	return b->n_aux;
}

/* Hands an array over, cut to its size. */
static void *take(struct array *a)
{
	void *p = a->p;

	if (p && a->n) {
		p = reallocarray(p, a->n, a->elem);
		if (!p)
			p = a->p;
	}
	a->p = NULL;
	return p;
}

int cs_builder_finish(struct cs_builder *b, struct cs **out)
{
	struct cs *cs = &b->box->cs;
	int err = b->err;

	if (err)
		return err;
	*cs = (struct cs){
		.n_rows = b->n_rows, .n_inputs = b->n_inputs, .n_aux = b->n_aux,
		.n_full = b->n_full, .n_templates = b->templates.n,
		.n_instances = b->instances.n, .n_coeffs = b->coeffs.n,
		.n_lcs = b->lc_end.n, .n_terms = b->terms.n, .n_slots = b->slots.n,
		.n_ports = b->ports.n, .n_own = b->own.n, .names_size = b->names.n,
	};
	while (UINT64_C(1) << cs->log_domain < cs->n_rows + cs->n_inputs)
		cs->log_domain++;
	cs->templates = take(&b->templates);
	cs->instances = take(&b->instances);
	cs->coeffs = take(&b->coeffs);
	cs->lc_end = take(&b->lc_end);
	cs->terms = take(&b->terms);
	cs->slots = take(&b->slots);
	cs->ports = take(&b->ports);
	cs->own = take(&b->own);
	cs->names = take(&b->names);
	err = cs_derive(cs);
	b->box = NULL;
	b->err = -EINVAL;
	if (err) {
		cs_free(cs);
		return err;
	}
	*out = cs;
	return 0;
}
