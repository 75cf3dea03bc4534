/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * evaluate.cuh - A w, B w and C w from templates, instances and a witness
 *
 * A warp takes up to 32 instances of one template and walks some of its rows
 * with all of them: every lane reads the same terms, so nothing diverges but
 * the values.  A template with few instances is walked the other way, with one
 * instance's rows side by side.  The host cuts the system into such items
 * (evaluate.c).
 *
 * Most values are bits and most coefficients 1, -1 or small powers of two:
 * those are summed as integers.
 */
#ifndef CUZK_GPU_CUDA_EVALUATE_CUH
#define CUZK_GPU_CUDA_EVALUATE_CUH

#include "gpu/cuda/field.cuh"
#include "gpu/cuda/ntt.cuh"

#define EVAL_THREADS 128

/* A term's variable, resolved as far as the template knows it: kind in the top three bits. */
enum {
	EVAL_BIT = 0,		/* aux variable of the instance, in the bitmap */
	EVAL_FULL = 1,		/* full value of the instance */
	EVAL_PORT = 2,
	EVAL_INPUT = 3,
	EVAL_ONE = 4,
};
#define EVAL_KIND_SHIFT 29
#define EVAL_INDEX ((1u << EVAL_KIND_SHIFT) - 1)

/* What ports hold once eval_ports has run: kind in the two top bits. */
enum {
	EVAL_PORT_BIT = 0,
	EVAL_PORT_FULL = 1,
	EVAL_PORT_INPUT = 2,
};
#define EVAL_PORT_SHIFT 30
#define EVAL_PORT_INDEX ((1u << EVAL_PORT_SHIFT) - 1)

/* lib/cs.h's numbering of coefficients */
#define EVAL_COEFF_POW2 1u
#define EVAL_COEFF_MINUS 256u
#define EVAL_COEFF_OWN 0x80000000u
/* powers of two below this go to a 64-bit sum: 2^31 of them fit */
#define EVAL_SMALL_POWERS 32u
/* the field elements of -N..N are in a table */
#define EVAL_SMALL 64

struct eval_term {
	uint32_t ref, coeff;
};

struct eval_template {
	uint32_t first_lc, first_term, first_own, n_rows;
};

struct eval_instance {
	uint32_t row, aux, full, input, port, tmpl;
};

struct eval_item {
	uint32_t instance;	/* the first, in the order of templates */
	uint32_t lanes;		/* instances side by side; 0: rows of one side by side */
	uint32_t row, n_rows;
};

/* The system, and one witness; pointers are to device memory. */
struct eval_args {
	const struct eval_item *items;
	const struct eval_template *templates;
	const struct eval_instance *instances;
	const uint32_t *lc_end;
	const struct eval_term *terms;
	const uint32_t *ports;
	const uint32_t *own;
	const fr_t *coeffs;
	const fr_t *small;	/* EVAL_SMALL below zero to above */
	const uint32_t *bits;
	const fr_t *full;
	const fr_t *inputs;
};

struct eval_sum {
	int64_t low;
	fr_t full;
	bool has_full;
};

static __device__ __forceinline__ void eval_add(eval_sum &s, const fr_t &v)
{
	s.full = s.has_full ? fe_add(s.full, v) : v;
	s.has_full = true;
}

static __device__ __forceinline__ void eval_add_bit(const eval_args &e, eval_sum &s, uint32_t coeff,
						    uint32_t bit)
{
	if (coeff - EVAL_COEFF_POW2 < EVAL_SMALL_POWERS)
		s.low += (int64_t)bit << (coeff - EVAL_COEFF_POW2);
	else if (coeff - EVAL_COEFF_MINUS < EVAL_SMALL_POWERS)
		s.low -= (int64_t)bit << (coeff - EVAL_COEFF_MINUS);
	else if (bit)
		eval_add(s, load_fr(&e.coeffs[coeff]));
}

static __device__ __forceinline__ void eval_add_full(const eval_args &e, eval_sum &s,
						     uint32_t coeff, const fr_t &v)
{
	if (coeff == EVAL_COEFF_POW2)
		eval_add(s, v);
	else if (coeff == EVAL_COEFF_MINUS)
		eval_add(s, fe_neg(v));
	else
		eval_add(s, fe_mul(load_fr(&e.coeffs[coeff]), v));
}

static __device__ __forceinline__ uint32_t eval_bit(const eval_args &e, uint32_t aux)
{
	return e.bits[aux >> 5] >> (aux & 31) & 1;
}

static __device__ __forceinline__ fr_t eval_small(const eval_args &e, int64_t x)
{
	fr_t v, r2;
	uint64_t m = x < 0 ? -(uint64_t)x : (uint64_t)x;

	if (m <= EVAL_SMALL)
		return load_fr(&e.small[EVAL_SMALL + (int)x]);
	v = fe_zero<fr_modulus>();
	v.l[0] = (uint32_t)m;
	v.l[1] = (uint32_t)(m >> 32);
#pragma unroll
	for (int i = 0; i < 8; i++)
		r2.l[i] = fr_modulus::r2(i);
	v = fe_mul(v, r2);
	return x < 0 ? fe_neg(v) : v;
}

/* The sum of terms first..end-1; a call, since it is needed three times. */
static __device__ __noinline__ fr_t eval_lc(const eval_args &e, const eval_instance &inst,
					    uint32_t first_own, uint32_t first, uint32_t end)
{
	eval_sum s;

	s.low = 0;
	s.has_full = false;
	s.full = fe_zero<fr_modulus>();
	for (uint32_t i = first; i < end; i++) {
		eval_term t = e.terms[i];
		uint32_t index = t.ref & EVAL_INDEX, kind = t.ref >> EVAL_KIND_SHIFT;
		/* where a full value is, if it is one */
		const fr_t *full = NULL;

		if (t.coeff == 0)
			continue;
		if (kind == EVAL_BIT) {
			eval_add_bit(e, s, t.coeff, eval_bit(e, inst.aux + index));
		} else if (kind == EVAL_PORT) {
			uint32_t port = e.ports[inst.port + index];

			index = port & EVAL_PORT_INDEX;
			if (port >> EVAL_PORT_SHIFT == EVAL_PORT_BIT)
				eval_add_bit(e, s, t.coeff, eval_bit(e, index));
			else
				full = port >> EVAL_PORT_SHIFT == EVAL_PORT_FULL ? &e.full[index] :
										   &e.inputs[index];
		} else if (kind == EVAL_FULL) {
			full = &e.full[inst.full + index];
		} else if (kind == EVAL_INPUT) {
			full = &e.inputs[inst.input + index];
		} else {
			uint32_t c = t.coeff;

			if (c & EVAL_COEFF_OWN)
				c = e.own[first_own + (c & ~EVAL_COEFF_OWN)];
			if (c)
				eval_add_bit(e, s, c, 1);
		}
		if (full)
			eval_add_full(e, s, t.coeff, load_fr(full));
	}
	if (!s.has_full)
		return eval_small(e, s.low);
	return s.low ? fe_add(s.full, eval_small(e, s.low)) : s.full;
}

/* a, b, c (NULL: not wanted) at one row; where a b != c, *bad (if not NULL) takes the least. */
static __device__ __forceinline__ void eval_row(const eval_args &e, const eval_template &t,
						const eval_instance &inst, uint32_t r, fr_t *a,
						fr_t *b, fr_t *c, unsigned long long *bad)
{
	const uint32_t *end = e.lc_end + t.first_lc + 3 * r;
	uint32_t begin = r ? end[-1] : t.first_term, row = inst.row + r;
	fr_t va = eval_lc(e, inst, t.first_own, begin, end[0]);

	store_fr(&a[row], va);
	fr_t vb = eval_lc(e, inst, t.first_own, end[0], end[1]);

	store_fr(&b[row], vb);
	if (!c && !bad)
		return;
	fr_t vc = eval_lc(e, inst, t.first_own, end[1], end[2]);

	if (c)
		store_fr(&c[row], vc);
	if (bad && !fe_equal(fe_mul(va, vb), vc))
		atomicMin(bad, (unsigned long long)row);
}

extern "C" __global__ __launch_bounds__(EVAL_THREADS)
void eval_rows(struct eval_args e, uint32_t n_items, fr_t *a, fr_t *b, fr_t *c,
	       unsigned long long *bad)
{
	uint32_t i = (blockIdx.x * blockDim.x + threadIdx.x) >> 5, lane = threadIdx.x & 31;

	if (i >= n_items)
		return;
	eval_item item = e.items[i];
	eval_instance inst = e.instances[item.instance + (lane < item.lanes ? lane : 0)];
	eval_template t = e.templates[inst.tmpl];
	uint32_t step = item.lanes ? 1 : 32;

	if (item.lanes && lane >= item.lanes)
		return;
	for (uint32_t r = item.row + (item.lanes ? 0 : lane); r < item.row + item.n_rows; r += step)
		eval_row(e, t, inst, r, a, b, c, bad);
}

/* Behind the instances' rows: a is the input, then zero; b and c are zero. */
extern "C" __global__ __launch_bounds__(256)
void eval_tail(const fr_t *inputs, uint32_t n_inputs, uint32_t first, uint32_t n, fr_t *a, fr_t *b,
	       fr_t *c)
{
	uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
	fr_t zero = fe_zero<fr_modulus>();

	if (i >= n)
		return;
	store_fr(&a[first + i], i < n_inputs ? load_fr(&inputs[i]) : zero);
	store_fr(&b[first + i], zero);
	if (c)
		store_fr(&c[first + i], zero);
}

/* full variables before var; full_rank has the count before every 16th word */
static __device__ __forceinline__ uint32_t full_rank_of(const uint32_t *full_map,
							const uint32_t *full_rank, uint32_t var)
{
	uint32_t word = var >> 5, rank = full_rank[word >> 4];

	for (uint32_t i = word & ~15u; i < word; i++)
		rank += __popc(full_map[i]);
	return rank + __popc(full_map[word] & ((1u << (var & 31)) - 1));
}

/* Global variables as lib/cs.h has them (top bit: input), to kind and index, in place. */
extern "C" __global__ __launch_bounds__(256)
void eval_ports(uint32_t *ports, uint32_t n, const uint32_t *full_map, const uint32_t *full_rank)
{
	uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i >= n)
		return;
	uint32_t var = ports[i];

	if (var >> 31)
		var = (uint32_t)EVAL_PORT_INPUT << EVAL_PORT_SHIFT | (var & EVAL_PORT_INDEX);
	else if (full_map[var >> 5] >> (var & 31) & 1)
		var = (uint32_t)EVAL_PORT_FULL << EVAL_PORT_SHIFT |
		      full_rank_of(full_map, full_rank, var);
	ports[i] = var;
}

#endif
