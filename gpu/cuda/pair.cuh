/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * pair.cuh - Fp2 in two lanes
 *
 * Sums in G2 are made by pairs of neighbouring lanes: the even one holds c0 of
 * every element, the odd one c1.  A coordinate of a product is a sum of two products
 * in Fp, reduced together, so that a lane takes 432 wide products where one
 * lane alone takes 864 by Karatsuba: the same work, half the registers and half
 * the time from operands to result.
 *
 * Lanes of a pair take the same way always: what is asked of an element is
 * answered to both.
 */
#ifndef CUZK_GPU_CUDA_PAIR_CUH
#define CUZK_GPU_CUDA_PAIR_CUH

#include "gpu/cuda/curve.cuh"

struct alignas(16) fp2_half {
	fp_t c;
};

static __device__ __forceinline__ bool pair_odd() { return threadIdx.x & 1; }

static __device__ __forceinline__ uint32_t pair_other(uint32_t x)
{
	return __shfl_xor_sync(3u << (threadIdx.x & 30), x, 1);
}

/* The pair's other coordinate. */
static __device__ __forceinline__ fp_t pair_other(const fp_t &a)
{
	fp_t r;

#pragma unroll
	for (int i = 0; i < fp_t::N; i++)
		r.l[i] = pair_other(a.l[i]);
	return r;
}

static __device__ __forceinline__ fp_t fp_select(bool which, const fp_t &a, const fp_t &b)
{
	fp_t r;

#pragma unroll
	for (int i = 0; i < fp_t::N; i++)
		r.l[i] = which ? a.l[i] : b.l[i];
	return r;
}

/* a b + c d, with one row of the reduction for a row of both: below p + 2p^2 / 2^384 */
static __device__ __forceinline__ fp_t fp_mul_add(const fp_t &a, const fp_t &b, const fp_t &c,
						  const fp_t &d)
{
	const int N = fp_t::N;
	uint32_t even[N], odd[N];

#pragma unroll
	for (int i = 0; i < N; i++) {
		uint32_t *lo = i % 2 ? odd : even, *hi = i % 2 ? even : odd;

		fe_row_product<fp_modulus>(lo, hi, a.l, b.l[i], i == 0);
		/* hi takes all of it: the sum is below 2^(32(N+1)) */
		fe_row_mad<N>(hi, c.l + 1, d.l[i]);
		fe_row_mad<N>(lo, c.l, d.l[i]);
		hi[N - 1] = addc(hi[N - 1], 0);
		fe_row_clear<fp_modulus>(lo, hi);
		hi[N - 1] = addc(hi[N - 1], 0);
	}
	return fe_join<fp_modulus>(even, odd);
}

static __device__ __forceinline__ fp2_half f_add(const fp2_half &a, const fp2_half &b)
{
	return fp2_half{ fe_add(a.c, b.c) };
}

static __device__ __forceinline__ fp2_half f_sub(const fp2_half &a, const fp2_half &b)
{
	return fp2_half{ fe_sub(a.c, b.c) };
}

static __device__ __forceinline__ fp2_half f_neg(const fp2_half &a)
{
	return fp2_half{ fe_neg(a.c) };
}

/* Of both lanes. */
static __device__ __forceinline__ bool pair_all(bool x)
{
	return pair_other((uint32_t)x) && x;
}

static __device__ __forceinline__ bool f_is_zero(const fp2_half &a)
{
	return pair_all(fe_is_zero(a.c));
}

static __device__ __forceinline__ bool f_equal(const fp2_half &a, const fp2_half &b)
{
	return pair_all(fe_equal(a.c, b.c));
}

/* a0 b0 - a1 b1 and a1 b0 + a0 b1 */
static __device__ __noinline__ fp2_half x_mul(fp2_half a, fp2_half b)
{
	bool odd = pair_odd();
	fp_t other = pair_other(b.c);

	return fp2_half{ fp_mul_add(a.c, fp_select(odd, other, b.c), pair_other(a.c),
				    fp_select(odd, b.c, fe_neg(other))) };
}

/* (a0 + a1)(a0 - a1) and 2 a1 a0 */
static __device__ __noinline__ fp2_half x_sqr(fp2_half a)
{
	bool odd = pair_odd();
	fp_t other = pair_other(a.c);

	return fp2_half{ fe_mul(fe_add(a.c, fp_select(odd, a.c, other)),
				fp_select(odd, other, fe_sub(a.c, other))) };
}

static __device__ __forceinline__ fp2_half f_mul(const fp2_half &a, const fp2_half &b)
{
	return x_mul(a, b);
}

static __device__ __forceinline__ fp2_half f_sqr(const fp2_half &a) { return x_sqr(a); }

template <> struct f_const<fp2_half> {
	static __device__ __forceinline__ fp2_half zero()
	{
		return fp2_half{ fe_zero<fp_modulus>() };
	}
	static __device__ __forceinline__ fp2_half one()
	{
		return fp2_half{ fp_select(pair_odd(), fe_zero<fp_modulus>(),
					   fe_one<fp_modulus>()) };
	}
};

static __device__ __forceinline__ fp2_half f_inv(const fp2_half &a)
{
	fp_t n = fe_sqr(a.c);

	n = f_inv(fe_add(n, pair_other(n)));
	return fp2_half{ fe_mul(fp_select(pair_odd(), fe_neg(a.c), a.c), n) };
}

/* ---- elements in memory ---- */

/* What an element is there, and the lanes that hold it. */
template <class F> struct f_memory {
	typedef F type;
	static const uint32_t LANES = 1;
	static __device__ __forceinline__ F load(const F &a) { return a; }
	static __device__ __forceinline__ void store(F &to, const F &a) { to = a; }
};

template <> struct f_memory<fp2_half> {
	typedef fp2_t type;
	static const uint32_t LANES = 2;
	static __device__ __forceinline__ fp2_half load(const fp2_t &a)
	{
		return fp2_half{ (&a.c0)[threadIdx.x & 1] };
	}
	static __device__ __forceinline__ void store(fp2_t &to, const fp2_half &a)
	{
		(&to.c0)[threadIdx.x & 1] = a.c;
	}
};

template <class F> using stored = typename f_memory<F>::type;
template <class F> using affine_at = affine<stored<F>>;
template <class F> using xyzz_at = xyzz<stored<F>>;

template <class F>
static __device__ __forceinline__ void store_affine(affine_at<F> &to, const affine<F> &p)
{
	f_memory<F>::store(to.x, p.x);
	f_memory<F>::store(to.y, p.y);
}

template <class F>
static __device__ __forceinline__ xyzz<F> load_xyzz(const xyzz_at<F> &p)
{
	return xyzz<F>{ f_memory<F>::load(p.x), f_memory<F>::load(p.y), f_memory<F>::load(p.zz),
			f_memory<F>::load(p.zzz) };
}

template <class F>
static __device__ __forceinline__ void store_xyzz(xyzz_at<F> &to, const xyzz<F> &p)
{
	f_memory<F>::store(to.x, p.x);
	f_memory<F>::store(to.y, p.y);
	f_memory<F>::store(to.zz, p.zz);
	f_memory<F>::store(to.zzz, p.zzz);
}

#endif
