/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * curve.cuh - Fp2 and the two groups on the device
 *
 * Everything above is written once for a coordinate field F, fp_t for G1 and
 * fp2_t for G2.  Affine points are (x, y), infinity is (0, 0): the bytes of
 * struct g1_affine and g2_affine.  Sums that cannot be batched use XYZZ
 * coordinates (x = X/ZZ, y = Y/ZZZ, ZZ^3 = ZZZ^2; ZZ = 0 is infinity), formulas
 * of hyperelliptic.org/EFD g1p/auto-shortw-xyzz.
 */
#ifndef CUZK_GPU_CUDA_CURVE_CUH
#define CUZK_GPU_CUDA_CURVE_CUH

#include "gpu/cuda/inverse.cuh"

/* c0 + c1 u, u^2 = -1 */
struct alignas(16) fp2_t {
	fp_t c0, c1;
};

static __device__ __forceinline__ fp_t f_mul(const fp_t &a, const fp_t &b) { return fe_mul(a, b); }
static __device__ __forceinline__ fp_t f_sqr(const fp_t &a) { return fe_sqr(a); }
static __device__ __forceinline__ fp_t f_add(const fp_t &a, const fp_t &b) { return fe_add(a, b); }
static __device__ __forceinline__ fp_t f_sub(const fp_t &a, const fp_t &b) { return fe_sub(a, b); }
static __device__ __forceinline__ fp_t f_neg(const fp_t &a) { return fe_neg(a); }
static __device__ __forceinline__ bool f_is_zero(const fp_t &a) { return fe_is_zero(a); }
static __device__ __forceinline__ bool f_equal(const fp_t &a, const fp_t &b) { return fe_equal(a, b); }

static __device__ __forceinline__ fp2_t f_add(const fp2_t &a, const fp2_t &b)
{
	return fp2_t{ fe_add(a.c0, b.c0), fe_add(a.c1, b.c1) };
}

static __device__ __forceinline__ fp2_t f_sub(const fp2_t &a, const fp2_t &b)
{
	return fp2_t{ fe_sub(a.c0, b.c0), fe_sub(a.c1, b.c1) };
}

static __device__ __forceinline__ fp2_t f_neg(const fp2_t &a)
{
	return fp2_t{ fe_neg(a.c0), fe_neg(a.c1) };
}

static __device__ __forceinline__ bool f_is_zero(const fp2_t &a)
{
	return fe_is_zero(a.c0) && fe_is_zero(a.c1);
}

static __device__ __forceinline__ bool f_equal(const fp2_t &a, const fp2_t &b)
{
	return fe_equal(a.c0, b.c0) && fe_equal(a.c1, b.c1);
}

/* Karatsuba: three products */
static __device__ __forceinline__ fp2_t f_mul(const fp2_t &a, const fp2_t &b)
{
	fp_t t0 = fe_mul(a.c0, b.c0);
	fp_t t1 = fe_mul(a.c1, b.c1);
	fp_t t2 = fe_mul(fe_add(a.c0, a.c1), fe_add(b.c0, b.c1));

	return fp2_t{ fe_sub(t0, t1), fe_sub(fe_sub(t2, t0), t1) };
}

/* (c0 + c1)(c0 - c1) + 2 c0 c1 u */
static __device__ __forceinline__ fp2_t f_sqr(const fp2_t &a)
{
	fp_t t0 = fe_mul(fe_add(a.c0, a.c1), fe_sub(a.c0, a.c1));
	fp_t t1 = fe_mul(a.c0, a.c1);

	return fp2_t{ t0, fe_double(t1) };
}

template <class F> struct f_const;
template <> struct f_const<fp_t> {
	static __device__ __forceinline__ fp_t zero() { return fe_zero<fp_modulus>(); }
	static __device__ __forceinline__ fp_t one() { return fe_one<fp_modulus>(); }
};
template <> struct f_const<fp2_t> {
	static __device__ __forceinline__ fp2_t zero()
	{
		return fp2_t{ fe_zero<fp_modulus>(), fe_zero<fp_modulus>() };
	}
	static __device__ __forceinline__ fp2_t one()
	{
		return fp2_t{ fe_one<fp_modulus>(), fe_zero<fp_modulus>() };
	}
};

template <class F> static __device__ __forceinline__ F f_double(const F &a) { return f_add(a, a); }

static __device__ fp2_t f_inv(const fp2_t &a)
{
	fp_t n = f_inv(fe_add(fe_sqr(a.c0), fe_sqr(a.c1)));

	return fp2_t{ fe_mul(a.c0, n), fe_neg(fe_mul(a.c1, n)) };
}

/*
 * Products as calls.  Operands and result travel in registers, as long as they are
 * taken by value, and a kernel that multiplies in many places keeps one product of
 * 7 KB where inlined ones would outgrow the instruction caches.
 */
static __device__ __noinline__ fp_t x_mul(fp_t a, fp_t b) { return fe_mul(a, b); }
static __device__ __noinline__ fp_t x_sqr(fp_t a) { return fe_sqr(a); }

static __device__ __forceinline__ fp2_t x_mul(const fp2_t &a, const fp2_t &b)
{
	fp_t t0 = x_mul(a.c0, b.c0);
	fp_t t1 = x_mul(a.c1, b.c1);
	fp_t t2 = x_mul(fe_add(a.c0, a.c1), fe_add(b.c0, b.c1));

	return fp2_t{ fe_sub(t0, t1), fe_sub(fe_sub(t2, t0), t1) };
}

static __device__ __forceinline__ fp2_t x_sqr(const fp2_t &a)
{
	fp_t t0 = x_mul(fe_add(a.c0, a.c1), fe_sub(a.c0, a.c1));
	fp_t t1 = x_mul(a.c0, a.c1);

	return fp2_t{ t0, fe_double(t1) };
}

template <class F> struct affine {
	F x, y;
};

template <class F> struct xyzz {
	F x, y, zz, zzz;
};

typedef affine<fp_t> g1_affine_t;
typedef affine<fp2_t> g2_affine_t;
typedef xyzz<fp_t> g1_t;
typedef xyzz<fp2_t> g2_t;

template <class F> __device__ __forceinline__ bool point_is_inf(const affine<F> &p)
{
	return f_is_zero(p.x) && f_is_zero(p.y);
}

template <class F> __device__ __forceinline__ bool point_is_inf(const xyzz<F> &p)
{
	return f_is_zero(p.zz);
}

template <class F> __device__ __forceinline__ xyzz<F> xyzz_inf()
{
	F z = f_const<F>::zero();

	return xyzz<F>{ z, z, z, z };
}

template <class F> __device__ __forceinline__ xyzz<F> xyzz_from_affine(const affine<F> &p)
{
	if (point_is_inf(p))
		return xyzz_inf<F>();
	return xyzz<F>{ p.x, p.y, f_const<F>::one(), f_const<F>::one() };
}

/* The next two are calls too, for kernels where a sum is not all that is done. */
template <class F> __device__ __noinline__ xyzz<F> xyzz_double(const xyzz<F> &p)
{
	if (point_is_inf(p))
		return p;
	F u = f_double(p.y);
	F v = x_sqr(u);
	F w = x_mul(u, v);
	F s = x_mul(p.x, v);
	F xx = x_sqr(p.x);
	F m = f_add(f_double(xx), xx);
	xyzz<F> r;

	r.x = f_sub(x_sqr(m), f_double(s));
	r.y = f_sub(x_mul(m, f_sub(s, r.x)), x_mul(w, p.y));
	r.zz = x_mul(v, p.zz);
	r.zzz = x_mul(w, p.zzz);
	return r;
}

template <class F> __device__ __noinline__ xyzz<F> xyzz_add_affine(const xyzz<F> &p, const affine<F> &q)
{
	if (point_is_inf(q))
		return p;
	if (point_is_inf(p))
		return xyzz_from_affine(q);
	F h = f_sub(x_mul(q.x, p.zz), p.x);
	F t = f_sub(x_mul(q.y, p.zzz), p.y);

	if (f_is_zero(h)) {
		if (f_is_zero(t))
			return xyzz_double(p);
		return xyzz_inf<F>();
	}
	F hh = x_sqr(h);
	F hhh = x_mul(h, hh);
	F v = x_mul(p.x, hh);
	xyzz<F> r;

	r.x = f_sub(f_sub(x_sqr(t), hhh), f_double(v));
	r.y = f_sub(x_mul(t, f_sub(v, r.x)), x_mul(p.y, hhh));
	r.zz = x_mul(p.zz, hh);
	r.zzz = x_mul(p.zzz, hhh);
	return r;
}

/*
 * p += q, or p += p where twice is set, in the registers of both: q is used up.  Up
 * to the tangent both ways are the same: with H = q.x and R = q.y a sum is a
 * doubling with U = H, M = R but for the cube of H that X3 lacks.  A sum of equal
 * points is found when p is already brought to the common denominator, where it
 * is p still.  AFFINE: zz and zzz of q are 1 and not looked at.
 */
template <bool AFFINE, class F>
__device__ __forceinline__ void xyzz_accumulate(xyzz<F> &p, xyzz<F> &q, bool twice)
{
	if (!twice) {
		if (AFFINE ? f_is_zero(q.x) && f_is_zero(q.y) : f_is_zero(q.zz))
			return;
		if (point_is_inf(p)) {
			p = q;
			if (AFFINE)
				p.zz = p.zzz = f_const<F>::one();
			return;
		}
		if (!AFFINE) {
			p.x = x_mul(p.x, q.zz);
			p.y = x_mul(p.y, q.zzz);
		}
		q.x = f_sub(x_mul(q.x, p.zz), p.x);
		q.y = f_sub(x_mul(q.y, p.zzz), p.y);
		if (!AFFINE) {
			p.zz = x_mul(p.zz, q.zz);
			p.zzz = x_mul(p.zzz, q.zzz);
		}
		if (f_is_zero(q.x)) {
			twice = f_is_zero(q.y);
			if (!twice) {
				p = xyzz_inf<F>();
				return;
			}
		}
	}
	if (twice) {
		q.x = f_double(p.y);
		q.y = x_sqr(p.x);
		q.y = f_add(f_double(q.y), q.y);
	}
	q.zz = x_sqr(q.x);
	q.zzz = x_mul(q.x, q.zz);
	p.x = x_mul(p.x, q.zz);
	p.zz = x_mul(p.zz, q.zz);
	p.y = x_mul(p.y, q.zzz);
	p.zzz = x_mul(p.zzz, q.zzz);
	q.x = f_sub(x_sqr(q.y), f_double(p.x));
	if (!twice)
		q.x = f_sub(q.x, q.zzz);
	p.y = f_sub(x_mul(q.y, f_sub(p.x, q.x)), p.y);
	p.x = q.x;
}

#endif
