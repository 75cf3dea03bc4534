/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * shoup.cuh - products in Fr by constants that lie in tables
 *
 * x w mod r is x w - q r with q = floor(x w / r).  With quotient = floor(w 2^256 / r)
 * made once, floor(x quotient / 2^256) is that q or one less (V. Shoup, NTL).  Of x w
 * and q r then only the lower halves matter, of x quotient the upper one, and q r
 * has no products by the two lowest limbs of r, 1 and 2^32 - 1: 86 wide products
 * instead of the 113 of fe_mul().  w is not in Montgomery form, so the form of x stays.
 */
#ifndef CUZK_GPU_CUDA_SHOUP_CUH
#define CUZK_GPU_CUDA_SHOUP_CUH

#include "gpu/cuda/field.cuh"

#ifdef __CUDA_ARCH__
static __device__ __forceinline__ uint32_t madc_lo(uint32_t a, uint32_t b, uint32_t c)
{
	uint32_t r;
	asm volatile("madc.lo.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
	return r;
}
#else
static inline uint32_t madc_lo(uint32_t a, uint32_t b, uint32_t c)
{
	return a * b + c + emu_carry;
}
#endif

struct fr_const {
	fr_t w, quotient;
};

/* limb i of 2^256 - r */
static __host__ __device__ constexpr uint32_t fr_minus(int i)
{
	return i ? ~fr_modulus::mod(i) : 0xffffffff;
}

/*
 * Of x y, columns 6 to 15: out[i] = column 8 + i, at most one too small in all
 * for what the columns below would carry, with a chance of 2^-29.
 */
static __device__ __forceinline__ void fr_upper(uint32_t out[8], const uint32_t *x, const uint32_t *y)
{
	uint32_t acc[2][18];	/* products that start in even columns, and in odd ones */

#pragma unroll
	for (int i = 0; i < 18; i++)
		acc[0][i] = acc[1][i] = 0;
#pragma unroll
	for (int i = 0; i < 8; i++) {
#pragma unroll
		for (int odd = 0; odd < 2; odd++) {
			uint32_t *a = acc[odd];
			const int low = i > 6 ? i : 6, first = low + ((low ^ odd) & 1);

#pragma unroll
			for (int c = first; c <= i + 7; c += 2) {
				a[c] = c == first ? mad_lo_cc(x[c - i], y[i], a[c]) :
						    madc_lo_cc(x[c - i], y[i], a[c]);
				a[c + 1] = madc_hi_cc(x[c - i], y[i], a[c + 1]);
			}
			/* the pair on top of the other half of them is new and takes all */
			if (((i ^ odd) & 1) == 0 && first <= i + 6)
				a[i + 8] = addc(0, 0);
		}
	}
	add_cc(acc[0][7], acc[1][7]);
#pragma unroll
	for (int i = 0; i < 7; i++)
		out[i] = addc_cc(acc[0][8 + i], acc[1][8 + i]);
	out[7] = addc(acc[0][15], acc[1][15]);
}

/* columns 0 to 7 of x y, y one limb, the lowest in column i, added to even and odd */
static __device__ __forceinline__ void fr_lower_row(uint32_t *even, uint32_t *odd, const uint32_t *x,
						    uint32_t y, int i)
{
	const int first = i + (i & 1), second = i + 1 - (i & 1);

#pragma unroll
	for (int c = first; c < 8; c += 2) {
		even[c] = c == first ? mad_lo_cc(x[c - i], y, even[c]) :
				       madc_lo_cc(x[c - i], y, even[c]);
		even[c + 1] = madc_hi_cc(x[c - i], y, even[c + 1]);
	}
#pragma unroll
	for (int c = second; c < 7; c += 2) {
		odd[c] = c == second ? mad_lo_cc(x[c - i], y, odd[c]) :
				       madc_lo_cc(x[c - i], y, odd[c]);
		odd[c + 1] = madc_hi_cc(x[c - i], y, odd[c + 1]);
	}
	if (second == 7)
		odd[7] += x[7 - i] * y;
	else
		odd[7] = madc_lo(x[7 - i], y, odd[7]);
}

/* x w, reduced; of x below 2 r */
static __device__ __forceinline__ fr_t mul_const(const fr_t &x, const struct fr_const &k)
{
	uint32_t q[8], even[8], odd[8];
	fr_t r;

	fr_upper(q, x.l, k.quotient.l);
	/* -q and 2^32 q: what the two lowest limbs of -r give */
#pragma unroll
	for (int i = 0; i < 8; i++) {
		even[i] = ~q[i];
		odd[i] = i ? q[i - 1] : 1;
	}
#pragma unroll
	for (int i = 0; i < 8; i++)
		fr_lower_row(even, odd, x.l, k.w.l[i], i);
#pragma unroll
	for (int i = 2; i < 8; i++)
		fr_lower_row(even, odd, q, fr_minus(i), i);
	r.l[0] = add_cc(even[0], odd[0]);
#pragma unroll
	for (int i = 1; i < 7; i++)
		r.l[i] = addc_cc(even[i], odd[i]);
	r.l[7] = addc(even[7], odd[7]);
	fe_reduce_once(r);
	return r;
}

/* limbs of -1/r mod 2^256 */
static __device__ __forceinline__ uint32_t fr_inverse_limb(int i)
{
	const uint32_t m[8] = { 0xffffffff, 0xfffffffe, 0xfffe5bfd, 0x53ba5bff,
		0x0004ec06, 0x181b2c17, 0xd7bf2839, 0x3d443ab0 };

	return m[i];
}

/* m, in Montgomery form, as a constant: w 2^256 = quotient r + m, so quotient = -m/r mod 2^256 */
static __device__ __forceinline__ struct fr_const make_const(const fr_t &m)
{
	uint32_t odd[8] = {};
	struct fr_const k = { fe_canonical(m), fe_zero<fr_modulus>() };

#pragma unroll
	for (int i = 0; i < 8; i++)
		fr_lower_row(k.quotient.l, odd, m.l, fr_inverse_limb(i), i);
	k.quotient.l[0] = add_cc(k.quotient.l[0], odd[0]);
#pragma unroll
	for (int i = 1; i < 7; i++)
		k.quotient.l[i] = addc_cc(k.quotient.l[i], odd[i]);
	k.quotient.l[7] = addc(k.quotient.l[7], odd[7]);
	return k;
}

#endif
