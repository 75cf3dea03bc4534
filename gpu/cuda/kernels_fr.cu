/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* kernels_fr.cu - entry points of the scalar-field kernels */
#include "gpu/cuda/ntt.cuh"

#define NTT_PASS(K, order, DIT, layout, ROWS)						\
extern "C" __global__ __launch_bounds__(NTT_THREADS, 2)					\
void ntt_##order##_##layout##_##K(fr_t *data, int log_n, int level, const fr_t *roots,	\
				  struct power_table twiddle)				\
{											\
	ntt_pass_body<K, DIT, ROWS>(data, log_n, level, roots, twiddle);		\
}

#define NTT_PASSES(K)					\
	NTT_PASS(K, dif, false, columns, false)		\
	NTT_PASS(K, dif, false, rows, true)		\
	NTT_PASS(K, dit, true, columns, false)		\
	NTT_PASS(K, dit, true, rows, true)

NTT_PASSES(6)
NTT_PASSES(9)

#define NTT_TURN(K)									\
extern "C" __global__ __launch_bounds__(NTT_THREADS, 2)					\
void ntt_turn_##K(fr_t *data, int log_n, const fr_t *from_roots, const fr_t *to_roots,	\
		  const fr_t *steps, struct power_table scale)				\
{											\
	ntt_turn_body<K>(data, log_n, from_roots, to_roots, steps, scale);		\
}

NTT_TURN(6)
NTT_TURN(9)

extern "C" __global__ __launch_bounds__(256)
void ntt_dif_stage(fr_t *data, uint32_t n, uint32_t half, int level, struct power_table twiddle)
{
	ntt_stage_body<false>(data, n, half, level, twiddle);
}

extern "C" __global__ __launch_bounds__(256)
void ntt_dit_stage(fr_t *data, uint32_t n, uint32_t half, int level, struct power_table twiddle)
{
	ntt_stage_body<true>(data, n, half, level, twiddle);
}

/* out[i] = a[i] b[i]; out may be either */
extern "C" __global__ __launch_bounds__(256)
void fr_product(const fr_t *a, const fr_t *b, uint32_t n, fr_t *out)
{
	uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		store_fr(&out[i], fe_mul(load_fr(&a[i]), load_fr(&b[i])));
}

/* out[i] = a[i] b[i], canonical; out may be either */
extern "C" __global__ __launch_bounds__(256)
void fr_product_scalars(const fr_t *a, const fr_t *b, uint32_t n, fr_t *out)
{
	uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		store_fr(&out[i], fe_canonical(fe_mul(load_fr(&a[i]), load_fr(&b[i]))));
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
	uint64_t e = (uint64_t)i * stride;
	fr_t r = first;

	if (i >= n)
		return;
	for (; e; e >>= 1) {
		if (e & 1)
			r = fe_mul(r, base);
		base = fe_sqr(base);
	}
	store_fr(&out[i], r);
}

/*
 * The h scalars, canonical, from C and D of the quotient (see quotient.c):
 * h = factor (c - d x^rev(i)).  factor, not in Montgomery form, takes the
 * result out of it; powers carries nothing else.
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

/* h[i] = a[i] b[i] - c[i], canonical */
extern "C" __global__ __launch_bounds__(256)
void fr_quotient_odd(const fr_t *a, const fr_t *b, const fr_t *c, uint32_t n, fr_t *h)
{
	uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		store_fr(&h[i], fe_canonical(fe_sub(fe_mul(load_fr(&a[i]), load_fr(&b[i])),
						    load_fr(&c[i]))));
}
