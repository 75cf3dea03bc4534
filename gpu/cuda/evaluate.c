/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* evaluate.c - constraint systems and witnesses on the device, and their values */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/cuda/device.h"

#define THREADS 256
#define EVAL_THREADS 128	/* evaluate.cuh */
#define ROWS_SHARED 32		/* rows of an item that has instances side by side */
#define ROWS_ALONE 256		/* of one that has rows side by side */
#define LANES_MIN 8		/* instances that are worth being walked together */
#define SMALL 64		/* EVAL_SMALL */
/* what an index of evaluate.cuh's terms and ports holds */
#define TERM_INDEX_MAX (1u << 29)
#define PORT_INDEX_MAX (1u << 30)

enum term_kind { TERM_BIT, TERM_FULL, TERM_PORT, TERM_INPUT, TERM_ONE };

#define TERM(kind, index) ((uint32_t)(kind) << 29 | (index))

struct template {
	uint32_t first_lc, first_term, first_own, n_rows;
};

struct instance {
	uint32_t row, aux, full, input, port, tmpl;
};

struct item {
	uint32_t instance, lanes, row, n_rows;
};

/* Host tables on their way to the device. */
struct tables {
	struct cs_term *terms;
	struct template *templates;
	struct instance *instances;	/* by template */
	uint32_t *first;		/* of a template among them */
	struct item *items;
	uint64_t n_items;
};

static void tables_free(struct tables *t)
{
	free(t->terms);
	free(t->templates);
	free(t->instances);
	free(t->first);
	free(t->items);
}

static int resolve_term(const struct cs *cs, const struct cs_template *t, const struct cs_term *in,
			struct cs_term *out)
{
	uint32_t i = CS_REF_INDEX(in->ref), slot;

	out->coeff = in->coeff;
	switch (CS_REF_KIND(in->ref)) {
	case CS_REF_AUX:
		slot = cs->slots[t->first_slot + i];
		if (slot & CS_SLOT_FULL)
			out->ref = TERM(TERM_FULL, slot & ~CS_SLOT_FULL);
		else
			out->ref = TERM(TERM_BIT, i);
		i = slot & CS_SLOT_FULL ? slot & ~CS_SLOT_FULL : i;
		break;
	case CS_REF_PORT:
		out->ref = TERM(TERM_PORT, i);
		break;
	case CS_REF_INPUT:
		out->ref = TERM(TERM_INPUT, i);
		break;
	default:
		out->ref = TERM(TERM_ONE, 0);
	}
	return i < TERM_INDEX_MAX ? 0 : -EINVAL;
}

/* Templates that share terms share slots too: a term means the same in all of them. */
static int resolve_terms(const struct cs *cs, struct tables *t)
{
	uint64_t i;
	uint32_t k;
	int r;

	for (k = 0; k < cs->n_templates; k++) {
		const struct cs_template *from = &cs->templates[k];
		uint64_t end;

		t->templates[k] = (struct template){ from->first_lc, from->first_term,
						     from->first_own, from->n_rows };
		if (!from->n_rows)
			continue;
		end = cs->lc_end[from->first_lc + 3 * (uint64_t)from->n_rows - 1];
		for (i = from->first_term; i < end; i++) {
			r = resolve_term(cs, from, &cs->terms[i], &t->terms[i]);
			if (r)
				return r;
		}
	}
	return 0;
}

static void sort_instances(const struct cs *cs, struct tables *t)
{
	uint32_t i, at = 0;

	/* first[k + 1] counts, then begins, then has moved on to the next one's begin */
	for (i = 0; i < cs->n_instances; i++)
		t->first[cs->instances[i].tmpl + 1]++;
	for (i = 0; i <= cs->n_templates; i++) {
		at += t->first[i];
		t->first[i] = at;
	}
	for (i = 0; i < cs->n_instances; i++) {
		const struct cs_instance *in = &cs->instances[i];

		t->instances[t->first[in->tmpl]++] = (struct instance){
			in->row_base, in->aux_base, in->full_base, in->input_base,
			(uint32_t)in->port_base, in->tmpl,
		};
	}
	for (i = cs->n_templates; i > 0; i--)
		t->first[i] = t->first[i - 1];
	t->first[0] = 0;
}

/* Items of one template to t->items, or with NULL there counted only. */
static void cut_template(const struct cs *cs, struct tables *t, uint32_t k)
{
	uint32_t n = t->first[k + 1] - t->first[k], n_rows = cs->templates[k].n_rows;
	bool together = n >= LANES_MIN;
	uint32_t step = together ? 32 : 1, rows = together ? ROWS_SHARED : ROWS_ALONE, i, r;

	for (i = 0; i < n; i += step)
		for (r = 0; r < n_rows; r += rows, t->n_items++) {
			if (!t->items)
				continue;
			t->items[t->n_items] = (struct item){
				.instance = t->first[k] + i,
				.lanes = !together ? 0 : n - i < 32 ? n - i : 32,
				.row = r,
				.n_rows = n_rows - r < rows ? n_rows - r : rows,
			};
		}
}

static int tables_make(const struct cs *cs, struct tables *t)
{
	uint32_t k;
	int r;

	t->terms = calloc(cs->n_terms + 1, sizeof(*t->terms));
	t->templates = calloc(cs->n_templates + 1, sizeof(*t->templates));
	t->instances = calloc(cs->n_instances + 1, sizeof(*t->instances));
	t->first = calloc(cs->n_templates + 2, sizeof(*t->first));
	if (!t->terms || !t->templates || !t->instances || !t->first)
		return -ENOMEM;
	r = resolve_terms(cs, t);
	if (r)
		return r;
	sort_instances(cs, t);
	for (k = 0; k < cs->n_templates; k++)
		cut_template(cs, t, k);
	if (t->n_items > UINT32_MAX / 32)
		return -EINVAL;
	t->items = calloc(t->n_items + 1, sizeof(*t->items));
	if (!t->items)
		return -ENOMEM;
	t->n_items = 0;
	for (k = 0; k < cs->n_templates; k++)
		cut_template(cs, t, k);
	return 0;
}

static int load_array(struct gpu *gpu, CUdeviceptr *to, const void *from, uint64_t n, size_t size)
{
	int r = cuda_alloc(gpu->ctx, to, n * size);

	return r ? r : cuda_upload(gpu->upload, *to, from, n * size);
}

static int load_small(struct gpu *gpu, CUdeviceptr *to)
{
	struct fr small[2 * SMALL + 1];
	int i;

	small[SMALL] = fr_zero;
	for (i = 1; i <= SMALL; i++) {
		fr_add(&small[SMALL + i], &small[SMALL + i - 1], &fr_one);
		fr_neg(&small[SMALL - i], &small[SMALL + i]);
	}
	return load_array(gpu, to, small, 2 * SMALL + 1, sizeof(small[0]));
}

static uint64_t map_words(const struct cs *cs)
{
	return ((uint64_t)cs->n_aux + 63) / 64;
}

static int load_tables(struct gpu *gpu, struct gpu_cs *g, const struct tables *t)
{
	const struct cs *cs = g->cs;
	struct eval_args *a = &g->args;
	uint32_t n_ports = (uint32_t)cs->n_ports;
	const struct {
		CUdeviceptr *to;
		const void *from;
		uint64_t n;
		size_t size;
	} arrays[] = {
		{ &a->items, t->items, t->n_items, sizeof(*t->items) },
		{ &a->templates, t->templates, cs->n_templates, sizeof(*t->templates) },
		{ &a->instances, t->instances, cs->n_instances, sizeof(*t->instances) },
		{ &a->lc_end, cs->lc_end, cs->n_lcs, sizeof(*cs->lc_end) },
		{ &a->terms, t->terms, cs->n_terms, sizeof(*t->terms) },
		{ &a->ports, cs->ports, cs->n_ports, sizeof(*cs->ports) },
		{ &a->own, cs->own, cs->n_own, sizeof(*cs->own) },
		{ &a->coeffs, cs->coeffs, cs->n_coeffs, sizeof(*cs->coeffs) },
		{ &g->full_map, cs->full_map, map_words(cs), sizeof(*cs->full_map) },
		{ &g->full_rank, cs->full_rank, ((uint64_t)cs->n_aux + 511) / 512, 4 },
		{ &g->a_density, cs->a_aux_density, cs->a_aux_density ? map_words(cs) : 0, 8 },
		{ &g->b_density, cs->b_aux_density, cs->b_aux_density ? map_words(cs) : 0, 8 },
	};
	unsigned int i;
	int r;

	g->n_items = (uint32_t)t->n_items;
	for (i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++) {
		r = load_array(gpu, arrays[i].to, arrays[i].from, arrays[i].n, arrays[i].size);
		if (r)
			return r;
	}
	r = load_small(gpu, &a->small);
	if (r)
		return r;
	return CUDA_RUN(gpu->ctx, eval_ports, n_ports, THREADS, &a->ports, &n_ports, &g->full_map,
			&g->full_rank);
}

int cuda_cs_load(struct gpu *gpu, const struct cs *cs, struct gpu_cs **out)
{
	struct tables t = { NULL };
	struct gpu_cs *g;
	int r;

	if (cs->n_terms >= UINT32_MAX || cs->n_lcs >= UINT32_MAX || cs->n_ports >= UINT32_MAX ||
	    cs->n_aux >= PORT_INDEX_MAX || cs->n_inputs >= PORT_INDEX_MAX ||
	    cs->log_domain >= CUDA_NTT_MAX_LOG)
		return -EINVAL;
	r = cuda_ctx_enter(gpu->ctx);
	if (r)
		return r;
	g = calloc(1, sizeof(*g));
	if (!g)
		return -ENOMEM;
	g->cs = cs;
	r = tables_make(cs, &t);
	if (!r)
		r = load_tables(gpu, g, &t);
	if (!r)
		r = cuda_wait(gpu->ctx);
	tables_free(&t);
	if (r) {
		cuda_cs_unload(gpu, g);
		return r;
	}
	device_memory(gpu);
	*out = g;
	return 0;
}

void cuda_cs_unload(struct gpu *gpu, struct gpu_cs *g)
{
	struct cuda_ctx *ctx = gpu->ctx;

	if (!g)
		return;
	cuda_free(ctx, g->args.items);
	cuda_free(ctx, g->args.templates);
	cuda_free(ctx, g->args.instances);
	cuda_free(ctx, g->args.lc_end);
	cuda_free(ctx, g->args.terms);
	cuda_free(ctx, g->args.ports);
	cuda_free(ctx, g->args.own);
	cuda_free(ctx, g->args.coeffs);
	cuda_free(ctx, g->args.small);
	cuda_free(ctx, g->full_map);
	cuda_free(ctx, g->full_rank);
	cuda_free(ctx, g->a_density);
	cuda_free(ctx, g->b_density);
	free(g);
}

uint64_t cuda_witness_bytes(const struct gpu_cs *g)
{
	const struct cs *cs = g->cs;

	return map_words(cs) * sizeof(uint64_t) +
	       ((uint64_t)cs->n_full + cs->n_inputs) * sizeof(struct fr) + 3 * ARENA_ALIGN;
}

int cuda_witness_load(struct gpu *gpu, const struct gpu_cs *g, const struct cs_witness *w,
		      struct device_witness *out)
{
	const struct cs *cs = g->cs;
	int r;

	memset(out, 0, sizeof(*out));
	out->host_inputs = malloc(cs->n_inputs * sizeof(struct fr));
	if (!out->host_inputs)
		return -ENOMEM;
	memcpy(out->host_inputs, w->inputs, cs->n_inputs * sizeof(struct fr));
	r = load_array(gpu, &out->bits, w->bits, map_words(cs), sizeof(*w->bits));
	if (!r)
		r = load_array(gpu, &out->full, w->full, cs->n_full, sizeof(*w->full));
	if (!r)
		r = load_array(gpu, &out->inputs, w->inputs, cs->n_inputs, sizeof(*w->inputs));
	if (r)
		cuda_witness_free(gpu, out);
	return r;
}

void cuda_witness_free(struct gpu *gpu, struct device_witness *w)
{
	cuda_free(gpu->ctx, w->bits);
	cuda_free(gpu->ctx, w->full);
	cuda_free(gpu->ctx, w->inputs);
	free(w->host_inputs);
	memset(w, 0, sizeof(*w));
}

int cuda_evaluate(struct gpu *gpu, const struct gpu_cs *g, const struct device_witness *w,
		  CUdeviceptr a, CUdeviceptr b, CUdeviceptr c, uint64_t *bad_row)
{
	const struct cs *cs = g->cs;
	struct eval_args args = g->args;
	uint32_t first = (uint32_t)cs->n_rows, n_inputs = cs->n_inputs;
	uint32_t n_tail = (uint32_t)((UINT64_C(1) << cs->log_domain) - cs->n_rows);
	uint64_t none = UINT64_MAX;
	CUdeviceptr bad = 0;
	int r = 0;

	args.bits = w->bits;
	args.full = w->full;
	args.inputs = w->inputs;
	if (bad_row) {
		r = cuda_alloc(gpu->ctx, &bad, sizeof(none));
		if (!r)
			r = cuda_copy_up(gpu->ctx, bad, &none, sizeof(none));
	}
	if (!r)
		r = CUDA_RUN(gpu->ctx, eval_rows, 32 * (uint64_t)g->n_items, EVAL_THREADS, &args,
			     (void *)&g->n_items, &a, &b, &c, &bad);
	if (!r)
		r = CUDA_RUN(gpu->ctx, eval_tail, n_tail, THREADS, &args.inputs, &n_inputs, &first,
			     &n_tail, &a, &b, &c);
	if (!r)
		r = bad_row ? cuda_copy_down(gpu->ctx, bad_row, bad, sizeof(*bad_row)) :
			      cuda_wait(gpu->ctx);
	cuda_free(gpu->ctx, bad);
	return r;
}
