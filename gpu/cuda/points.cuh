/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * points.cuh - points read, checked, written, and made from scalars
 *
 * Encodings are gpu.h's: Montgomery affine, (0, 0) for infinity, or zcash's
 * uncompressed one: big-endian coordinates, of Fp2 the coefficient of u first,
 * and three flags in the top bits of the first byte.
 */
#ifndef CUZK_GPU_CUDA_POINTS_CUH
#define CUZK_GPU_CUDA_POINTS_CUH

#include "gpu/cuda/curve.cuh"

#define POINTS_CHECK_CURVE 1
#define POINTS_CHECK_FINITE 2
#define POINTS_CHECK_ORDER 4

#define BASE_WINDOWS 32		/* of 8 bits */
#define BASE_ENTRIES 255	/* multiples of a window's base in the table */
#define BASE_PER_THREAD 16

static __device__ __forceinline__ uint32_t swap_bytes(uint32_t x)
{
	return x << 24 | (x & 0xff00) << 8 | (x >> 8 & 0xff00) | x >> 24;
}

/* 48 bytes, big-endian, to Montgomery form; false: not below p */
static __device__ __forceinline__ bool f_decode(fp_t &r, const uint32_t *in)
{
	uint64_t borrow = 0;
	fp_t v, r2;

#pragma unroll
	for (int i = 0; i < 12; i++) {
		v.l[i] = swap_bytes(in[11 - i]);
		borrow = ((uint64_t)v.l[i] - fp_modulus::mod(i) - borrow) >> 63;
		r2.l[i] = fp_modulus::r2(i);
	}
	r = fe_mul(v, r2);
	return borrow;
}

static __device__ __forceinline__ bool f_decode(fp2_t &r, const uint32_t *in)
{
	bool good = f_decode(r.c1, in);

	return f_decode(r.c0, in + 12) && good;
}

static __device__ __forceinline__ void fp_encode(uint32_t *out, const fp_t &a)
{
	fp_t v = fe_canonical(a);

#pragma unroll
	for (int i = 0; i < 12; i++)
		out[i] = swap_bytes(v.l[11 - i]);
}

static __device__ __forceinline__ void f_encode(uint32_t *out, const fp_t &a) { fp_encode(out, a); }
static __device__ __forceinline__ void f_encode(uint32_t *out, const fp2_t &a)
{
	fp_encode(out, a.c1);
	fp_encode(out + 12, a.c0);
}

/* The curve's b: 4, and 4 + 4u. */
static __device__ __forceinline__ fp_t f_add_b(const fp_t &x)
{
	fp_t four = fe_double(fe_double(fe_one<fp_modulus>()));

	return fe_add(x, four);
}

static __device__ __forceinline__ fp2_t f_add_b(const fp2_t &x)
{
	return fp2_t{ f_add_b(x.c0), f_add_b(x.c1) };
}

static __device__ __forceinline__ bool f_below_p(const fp_t &a)
{
	uint64_t borrow = 0;

#pragma unroll
	for (int i = 0; i < 12; i++)
		borrow = ((uint64_t)a.l[i] - fp_modulus::mod(i) - borrow) >> 63;
	return borrow;
}

static __device__ __forceinline__ bool f_below_p(const fp2_t &a)
{
	return f_below_p(a.c0) && f_below_p(a.c1);
}

template <class F> __device__ __forceinline__ bool point_on_curve(const affine<F> &p)
{
	return f_equal(x_sqr(p.y), f_add_b(x_mul(x_sqr(p.x), p.x)));
}

/* r p = infinity */
template <class F> __device__ __forceinline__ bool point_of_order_r(const affine<F> &p)
{
	xyzz<F> acc = xyzz_inf<F>();

	for (int i = 254; i >= 0; i--) {
		acc = xyzz_double(acc);
		if (fr_modulus::mod(i / 32) >> (i % 32) & 1)
			acc = xyzz_add_affine(acc, p);
	}
	return point_is_inf(acc);
}

/* Place of point i: i, or where places go by reversed bits (bits != 0), that. */
static __device__ __forceinline__ uint32_t point_place(uint32_t i, int bits)
{
	return bits ? __brev(i) >> (32 - bits) : i;
}

/*
 * in[i] (zcash: bytes, otherwise Montgomery) to out[place of first + i], i < n.
 * *bad takes the least first + i of a point that does not pass.
 */
template <class F>
__device__ __forceinline__ void points_load_body(const void *in, uint32_t n, uint64_t first,
						 int zcash, int checks, int reverse_bits,
						 affine<F> *out, unsigned long long *bad)
{
	uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
	affine<F> p;
	bool good = true;

	if (i >= n)
		return;
	if (zcash) {
		const uint32_t *bytes = (const uint32_t *)in + (uint64_t)i * (sizeof(p) / 4);

		if ((bytes[0] & 0xe0) == 0x40) {
			uint32_t rest = bytes[0] & ~0x40u;

			for (unsigned int k = 1; k < sizeof(p) / 4; k++)
				rest |= bytes[k];
			good = rest == 0;
			p.x = p.y = f_const<F>::zero();
		} else {
			/* any other flag makes x larger than p */
			good = f_decode(p.x, bytes);
			good = f_decode(p.y, bytes + sizeof(F) / 4) && good;
			/* (0, 0) is on no curve, and here it is not infinity */
			good = good && !point_is_inf(p);
		}
	} else {
		p = ((const affine<F> *)in)[i];
		good = f_below_p(p.x) && f_below_p(p.y);
	}
	if (good && checks) {
		if (point_is_inf(p))
			good = !(checks & POINTS_CHECK_FINITE);
		else
			good = point_on_curve(p) &&
			       (!(checks & POINTS_CHECK_ORDER) || point_of_order_r(p));
	}
	if (!good)
		atomicMin(bad, (unsigned long long)(first + i));
	out[point_place((uint32_t)first + i, reverse_bits)] = p;
}

template <class F>
__device__ __forceinline__ void points_encode_body(const affine<F> *in, uint32_t n, uint32_t *out)
{
	uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i >= n)
		return;
	affine<F> p = in[i];
	uint32_t *bytes = out + (uint64_t)i * (sizeof(p) / 4);

	if (point_is_inf(p)) {
		bytes[0] = 0x40;
		for (unsigned int k = 1; k < sizeof(p) / 4; k++)
			bytes[k] = 0;
		return;
	}
	f_encode(bytes, p.x);
	f_encode(bytes + sizeof(F) / 4, p.y);
}

/*
 * out[place of first + i] = scalars[i] * base, i < n, by a table of d 2^(8w)
 * base, d = 1..255.  A thread makes every n_threads-th point, at most
 * BASE_PER_THREAD of them, and shares one inversion among them: 1/ZZZ by
 * Montgomery's trick, 1/ZZ = (ZZ/ZZZ)^2.
 */
template <class F>
__device__ __forceinline__ void base_mul_body(const affine<F> *table, const uint32_t *scalars,
					      uint32_t n, uint64_t first, uint32_t n_threads,
					      int reverse_bits, xyzz<F> *sums, F *prefix,
					      affine<F> *out)
{
	uint32_t t = blockIdx.x * blockDim.x + threadIdx.x, last = t;
	F product = f_const<F>::one();

	if (t >= n_threads || t >= n)
		return;
	for (uint32_t i = t; i < n; i += n_threads) {
		xyzz<F> acc = xyzz_inf<F>();

		for (uint32_t w = 0; w < BASE_WINDOWS; w++) {
			uint32_t d = scalars[8 * (uint64_t)i + w / 4] >> (8 * (w % 4)) & 0xff;

			if (d)
				acc = xyzz_add_affine(acc, table[w * BASE_ENTRIES + d - 1]);
		}
		sums[i] = acc;
		prefix[i] = product;
		if (!point_is_inf(acc))
			product = x_mul(product, acc.zzz);
		last = i;
	}
	product = f_inv(product);
	for (uint32_t i = last;; i -= n_threads) {
		xyzz<F> p = sums[i];
		affine<F> r = { f_const<F>::zero(), f_const<F>::zero() };

		if (!point_is_inf(p)) {
			F inv = x_mul(product, prefix[i]);

			product = x_mul(product, p.zzz);
			r.y = x_mul(p.y, inv);
			r.x = x_mul(p.x, x_sqr(x_mul(p.zz, inv)));
		}
		out[point_place((uint32_t)first + i, reverse_bits)] = r;
		if (i == t)
			break;
	}
}

#endif
