/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* kernels_fr.cu - entry points of the scalar-field kernels */
#include "gpu/cuda/ntt.cuh"

#define NTT_BLOCKS 5		/* a multiprocessor: of 96 registers a thread */

#define NTT_COLUMNS(order, DIT)								\
extern "C" __global__ __launch_bounds__(NTT_THREADS, NTT_BLOCKS)					\
void ntt_##order##_columns(fr_t *data, int log_n, int level, int k, const struct fr_const *roots,	\
			   struct ntt_factors factors)					\
{											\
	ntt_pass_body<DIT, false>(data, log_n, level, k, roots, true, factors);	\
}

/* level leaves k bits */
#define NTT_ROWS(order, DIT)								\
extern "C" __global__ __launch_bounds__(NTT_THREADS, NTT_BLOCKS)					\
void ntt_##order##_rows(fr_t *data, int k, const struct fr_const *roots, int plain)		\
{											\
	ntt_pass_body<DIT, true>(data, k, 0, k, roots, plain, ntt_factors());	\
}

NTT_COLUMNS(dif, false)
NTT_COLUMNS(dit, true)
NTT_ROWS(dif, false)
NTT_ROWS(dit, true)

extern "C" __global__ __launch_bounds__(256)
void ntt_dif_stage(fr_t *data, uint32_t n, uint32_t half, struct power_table roots)
{
	ntt_stage_body<false>(data, n, half, roots);
}

extern "C" __global__ __launch_bounds__(256)
void ntt_dit_stage(fr_t *data, uint32_t n, uint32_t half, struct power_table roots)
{
	ntt_stage_body<true>(data, n, half, roots);
}

/* r base^e, by squaring */
static __device__ __forceinline__ fr_t fr_pow(fr_t base, uint64_t e, fr_t r)
{
	for (; e; e >>= 1) {
		if (e & 1)
			r = fe_mul(r, base);
		base = fe_sqr(base);
	}
	return r;
}

static __device__ __forceinline__ void store_const(struct fr_const *out, const fr_t &x)
{
	struct fr_const k = make_const(x);

	store_fr(&out->w, k.w);
	store_fr(&out->quotient, k.quotient);
}

/* roots of the stages of a pass of k bits: [2^b + i] = (g w^i)^(2^(k-1-b)), w of order 2^k */
extern "C" __global__ __launch_bounds__(256)
void ntt_roots(struct fr_const *out, int k, fr_t w, fr_t g)
{
	uint32_t at = blockIdx.x * blockDim.x + threadIdx.x;
	int b = 31 - __clz((int)(at | 1));

	if (at >> k)
		return;
	store_const(&out[at], fr_pow(fr_pow(w, at & ((1u << b) - 1), g), 1u << (k - 1 - b),
				     fe_one<fr_modulus>()));
}

/* the one table of struct ntt_factors: [j D + t] = (g w^t)^rev(j), j < 2^k */
extern "C" __global__ __launch_bounds__(256)
void ntt_direct(struct fr_const *out, int k, int log_d, fr_t w, fr_t g)
{
	uint32_t at = blockIdx.x * blockDim.x + threadIdx.x;
	uint32_t t = at & ((1u << log_d) - 1), j = at >> log_d;

	if (j >> k)
		return;
	store_const(&out[at], fr_pow(fr_pow(w, t, g), __brev(j) >> (32 - k), fe_one<fr_modulus>()));
}

/* one of its two: [i] = w^(i stride), i < n */
extern "C" __global__ __launch_bounds__(256)
void ntt_powers(struct fr_const *out, uint32_t n, fr_t w, uint32_t stride)
{
	uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		store_const(&out[i], fr_pow(w, (uint64_t)i * stride, fe_one<fr_modulus>()));
}

/* out[i] = a[i] b[i]; out may be either */
extern "C" __global__ __launch_bounds__(256)
void fr_product(const fr_t *a, const fr_t *b, uint32_t n, fr_t *out)
{
	uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		store_fr(&out[i], fe_mul(load_fr(&a[i]), load_fr(&b[i])));
}

/*
 * out[i] = factor a[i] b[i], canonical; out may be either.  factor, not in
 * Montgomery form, takes the result out of it.
 */
extern "C" __global__ __launch_bounds__(256)
void fr_product_scalars(const fr_t *a, const fr_t *b, uint32_t n, fr_t factor, fr_t *out)
{
	uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		store_fr(&out[i], fe_mul(fe_mul(load_fr(&a[i]), load_fr(&b[i])), factor));
}

/* data[i] *= x^rev(i), in bit-reversed order of log_n bits; log_n = 0: one point */
extern "C" __global__ __launch_bounds__(256)
void fr_scale_reversed(fr_t *data, uint32_t n, int log_n, struct power_table powers)
{
	uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n) {
		uint32_t e = log_n ? __brev(i) >> (32 - log_n) : 0;

		store_fr(&data[i], fe_mul(load_fr(&data[i]), power(powers, e)));
	}
}

/* swaps to natural order and back */
extern "C" __global__ __launch_bounds__(256)
void fr_reverse(fr_t *data, uint32_t n, int log_n)
{
	uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
	uint32_t j = log_n ? __brev(i) >> (32 - log_n) : 0;

	if (i < n && i < j) {
		fr_t a = load_fr(&data[i]), b = load_fr(&data[j]);

		store_fr(&data[i], b);
		store_fr(&data[j], a);
	}
}

/* powers[i] = base^(i stride) first, i < n; one thread each, by squaring */
extern "C" __global__ __launch_bounds__(256)
void fr_powers(fr_t *out, uint32_t n, fr_t base, uint32_t stride, fr_t first)
{
	uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		store_fr(&out[i], fr_pow(base, (uint64_t)i * stride, first));
}

/*
 * The h scalars, canonical, from C and D of the quotient (see quotient.c):
 * h = factor (c - d y x^rev(i)), y x^e from powers.  factor, not in Montgomery
 * form, takes the result out of it.
 */
extern "C" __global__ __launch_bounds__(256)
void fr_quotient_powers(const fr_t *c, const fr_t *d, uint32_t n, int log_n, fr_t factor,
			struct power_table powers, fr_t *h)
{
	uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n) {
		uint32_t e = log_n ? __brev(i) >> (32 - log_n) : 0;
		fr_t x = fe_mul(load_fr(&d[i]), power(powers, e));

		store_fr(&h[i], fe_mul(fe_sub(load_fr(&c[i]), x), factor));
	}
}

/* h[i] = factor (y a[i] b[i] - c[i]), canonical by factor as above */
extern "C" __global__ __launch_bounds__(256)
void fr_quotient_odd(const fr_t *a, const fr_t *b, const fr_t *c, uint32_t n, fr_t y, fr_t factor,
		     fr_t *h)
{
	uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n) {
		fr_t ab = fe_mul(fe_mul(load_fr(&a[i]), load_fr(&b[i])), y);

		store_fr(&h[i], fe_mul(fe_sub(ab, load_fr(&c[i])), factor));
	}
}
