/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * field.cuh - Fr and Fp of BLS12-381 on the device
 *
 * Elements are in Montgomery form, fully reduced, in little-endian 32-bit
 * limbs: the same bytes as struct fr and struct fp of lib/bls12_381.
 *
 * The product is schoolbook by rows, with Montgomery reduction after each
 * row.  Products of even and odd limbs go to two accumulators one limb apart,
 * so that every multiply-add pair (low half, high half) is one chain with a
 * single carry and becomes one IMAD.WIDE; dropping the lowest limb after a row
 * swaps the two accumulators instead of moving one.  Both moduli leave a spare
 * bit on top, which bounds the accumulators by 2 * modulus (Fr: 2r < 2^256,
 * Fp: 2p < 2^384), so one conditional subtraction ends a product.
 *
 * Compiled for the host (kernel tests without a device), only the dozen
 * instructions at the bottom of it are written in C; all else is what runs on
 * the device.
 */
#ifndef CUZK_GPU_CUDA_FIELD_CUH
#define CUZK_GPU_CUDA_FIELD_CUH

#include <stdint.h>

#ifndef __CUDACC__
#include "gpu/cuda/emu.h"
#endif

/*
 * -1/r mod 2^32 in memory: were it an immediate, ptxas would make the factor of a
 * row a negation and split each product with it into two instructions.
 */
#ifdef __CUDACC__
static __constant__ uint32_t fr_m0 = 0xffffffff;
#else
static const uint32_t fr_m0 = 0xffffffff;
#endif

struct fr_modulus {
	static const int N = 8;
	static const bool SPARSE = true;	/* low limbs 1 and 2^32 - 1 */
	static __device__ __forceinline__ uint32_t m0() { return fr_m0; }
	static __host__ __device__ constexpr uint32_t mod(int i)
	{
		constexpr uint32_t m[N] = {
			0x00000001, 0xffffffff, 0xfffe5bfe, 0x53bda402,
			0x09a1d805, 0x3339d808, 0x299d7d48, 0x73eda753
		};
		return m[i];
	}
	static __host__ __device__ constexpr uint32_t one(int i)
	{
		constexpr uint32_t m[N] = {
			0xfffffffe, 0x00000001, 0x00034802, 0x5884b7fa,
			0xecbc4ff5, 0x998c4fef, 0xacc5056f, 0x1824b159
		};
		return m[i];
	}
	static __host__ __device__ constexpr uint32_t r2(int i)
	{
		constexpr uint32_t m[N] = {
			0xf3f29c6d, 0xc999e990, 0x87925c23, 0x2b6cedcb,
			0x7254398f, 0x05d31496, 0x9f59ff11, 0x0748d9d9
		};
		return m[i];
	}
};

struct fp_modulus {
	static const int N = 12;
	static const uint32_t M0 = 0xfffcfffd;	/* -1/p mod 2^32 */
	static const bool SPARSE = false;
	static __device__ __forceinline__ uint32_t m0() { return M0; }
	static __host__ __device__ constexpr uint32_t mod(int i)
	{
		constexpr uint32_t m[N] = {
			0xffffaaab, 0xb9feffff, 0xb153ffff, 0x1eabfffe,
			0xf6b0f624, 0x6730d2a0, 0xf38512bf, 0x64774b84,
			0x434bacd7, 0x4b1ba7b6, 0x397fe69a, 0x1a0111ea
		};
		return m[i];
	}
	static __host__ __device__ constexpr uint32_t one(int i)
	{
		constexpr uint32_t m[N] = {
			0x0002fffd, 0x76090000, 0xc40c0002, 0xebf4000b,
			0x53c758ba, 0x5f489857, 0x70525745, 0x77ce5853,
			0xa256ec6d, 0x5c071a97, 0xfa80e493, 0x15f65ec3
		};
		return m[i];
	}
	static __host__ __device__ constexpr uint32_t r2(int i)
	{
		constexpr uint32_t m[N] = {
			0x1c341746, 0xf4df1f34, 0x09d104f1, 0x0a76e6a6,
			0x4c95b6d5, 0x8de5476c, 0x939d83c0, 0x67eb88a9,
			0xb519952d, 0x9a793e85, 0x92cae3aa, 0x11988fe5
		};
		return m[i];
	}
};

#ifdef __CUDA_ARCH__

/*
 * One instruction each.  The carry flag lives from one statement to the next:
 * volatile keeps their order, and no other instruction that ptxas may put in
 * between touches it.
 */
static __device__ __forceinline__ uint32_t add_cc(uint32_t a, uint32_t b)
{
	uint32_t r;
	asm volatile("add.cc.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
	return r;
}

static __device__ __forceinline__ uint32_t addc_cc(uint32_t a, uint32_t b)
{
	uint32_t r;
	asm volatile("addc.cc.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
	return r;
}

static __device__ __forceinline__ uint32_t addc(uint32_t a, uint32_t b)
{
	uint32_t r;
	asm volatile("addc.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
	return r;
}

static __device__ __forceinline__ uint32_t sub_cc(uint32_t a, uint32_t b)
{
	uint32_t r;
	asm volatile("sub.cc.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
	return r;
}

static __device__ __forceinline__ uint32_t subc_cc(uint32_t a, uint32_t b)
{
	uint32_t r;
	asm volatile("subc.cc.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
	return r;
}

static __device__ __forceinline__ uint32_t subc(uint32_t a, uint32_t b)
{
	uint32_t r;
	asm volatile("subc.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
	return r;
}

static __device__ __forceinline__ uint32_t mad_lo_cc(uint32_t a, uint32_t b, uint32_t c)
{
	uint32_t r;
	asm volatile("mad.lo.cc.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
	return r;
}

static __device__ __forceinline__ uint32_t madc_lo_cc(uint32_t a, uint32_t b, uint32_t c)
{
	uint32_t r;
	asm volatile("madc.lo.cc.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
	return r;
}

static __device__ __forceinline__ uint32_t madc_hi_cc(uint32_t a, uint32_t b, uint32_t c)
{
	uint32_t r;
	asm volatile("madc.hi.cc.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
	return r;
}

static __device__ __forceinline__ uint32_t madc_hi(uint32_t a, uint32_t b, uint32_t c)
{
	uint32_t r;
	asm volatile("madc.hi.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
	return r;
}

#else

/* The same on the host, the flag in a variable. */
static uint32_t emu_carry;

static inline uint32_t emu_low(uint64_t sum)
{
	emu_carry = (uint32_t)(sum >> 32) & 1;
	return (uint32_t)sum;
}

static inline uint32_t add_cc(uint32_t a, uint32_t b) { return emu_low((uint64_t)a + b); }
static inline uint32_t addc_cc(uint32_t a, uint32_t b) { return emu_low((uint64_t)a + b + emu_carry); }
static inline uint32_t addc(uint32_t a, uint32_t b) { return a + b + emu_carry; }
static inline uint32_t sub_cc(uint32_t a, uint32_t b) { return emu_low((uint64_t)a - b); }
static inline uint32_t subc_cc(uint32_t a, uint32_t b) { return emu_low((uint64_t)a - b - emu_carry); }
static inline uint32_t subc(uint32_t a, uint32_t b) { return a - b - emu_carry; }

static inline uint32_t mad_lo_cc(uint32_t a, uint32_t b, uint32_t c)
{
	return emu_low((uint64_t)(a * b) + c);
}

static inline uint32_t madc_lo_cc(uint32_t a, uint32_t b, uint32_t c)
{
	return emu_low((uint64_t)(a * b) + c + emu_carry);
}

static inline uint32_t madc_hi_cc(uint32_t a, uint32_t b, uint32_t c)
{
	return emu_low(((uint64_t)a * b >> 32) + c + emu_carry);
}

static inline uint32_t madc_hi(uint32_t a, uint32_t b, uint32_t c)
{
	return (uint32_t)((uint64_t)a * b >> 32) + c + emu_carry;
}

#endif /* __CUDA_ARCH__ */

template <class M> struct alignas(16) felem {
	static const int N = M::N;
	uint32_t l[N];
};

typedef felem<fr_modulus> fr_t;
typedef felem<fp_modulus> fp_t;

template <class M> __device__ __forceinline__ felem<M> fe_zero()
{
	felem<M> r;
#pragma unroll
	for (int i = 0; i < M::N; i++)
		r.l[i] = 0;
	return r;
}

template <class M> __device__ __forceinline__ felem<M> fe_one()
{
	felem<M> r;
#pragma unroll
	for (int i = 0; i < M::N; i++)
		r.l[i] = M::one(i);
	return r;
}

template <class M> __device__ __forceinline__ bool fe_is_zero(const felem<M> &a)
{
	uint32_t x = 0;
#pragma unroll
	for (int i = 0; i < M::N; i++)
		x |= a.l[i];
	return x == 0;
}

template <class M> __device__ __forceinline__ bool fe_equal(const felem<M> &a, const felem<M> &b)
{
	uint32_t x = 0;
#pragma unroll
	for (int i = 0; i < M::N; i++)
		x |= a.l[i] ^ b.l[i];
	return x == 0;
}

/* a - modulus where a >= modulus; a < 2 * modulus */
template <class M> __device__ __forceinline__ void fe_reduce_once(felem<M> &a)
{
	uint32_t d[M::N];
	uint32_t borrow;

	d[0] = sub_cc(a.l[0], M::mod(0));
#pragma unroll
	for (int i = 1; i < M::N; i++)
		d[i] = subc_cc(a.l[i], M::mod(i));
	borrow = subc(0, 0);
#pragma unroll
	for (int i = 0; i < M::N; i++)
		a.l[i] = borrow ? a.l[i] : d[i];
}

template <class M>
__device__ __forceinline__ felem<M> fe_add(const felem<M> &a, const felem<M> &b)
{
	felem<M> r;

	r.l[0] = add_cc(a.l[0], b.l[0]);
#pragma unroll
	for (int i = 1; i < M::N - 1; i++)
		r.l[i] = addc_cc(a.l[i], b.l[i]);
	r.l[M::N - 1] = addc(a.l[M::N - 1], b.l[M::N - 1]);
	fe_reduce_once(r);
	return r;
}

template <class M>
__device__ __forceinline__ felem<M> fe_sub(const felem<M> &a, const felem<M> &b)
{
	felem<M> r;
	uint32_t borrow;

	r.l[0] = sub_cc(a.l[0], b.l[0]);
#pragma unroll
	for (int i = 1; i < M::N; i++)
		r.l[i] = subc_cc(a.l[i], b.l[i]);
	borrow = subc(0, 0);
	r.l[0] = add_cc(r.l[0], M::mod(0) & borrow);
#pragma unroll
	for (int i = 1; i < M::N - 1; i++)
		r.l[i] = addc_cc(r.l[i], M::mod(i) & borrow);
	r.l[M::N - 1] = addc(r.l[M::N - 1], M::mod(M::N - 1) & borrow);
	return r;
}

/* acc[0..N) += a[0], a[2], ... times b, as pairs; the carry out stays in the flag */
template <int N>
__device__ __forceinline__ void fe_row_mad(uint32_t *acc, const uint32_t *a, uint32_t b)
{
	acc[0] = mad_lo_cc(a[0], b, acc[0]);
	acc[1] = madc_hi_cc(a[0], b, acc[1]);
#pragma unroll
	for (int j = 2; j < N; j += 2) {
		acc[j] = madc_lo_cc(a[j], b, acc[j]);
		acc[j + 1] = madc_hi_cc(a[j], b, acc[j + 1]);
	}
}

/* the rest of a row of multiples of the modulus, from its third limb on */
template <class M>
__device__ __forceinline__ void fe_row_mod_rest(uint32_t *acc, int first, uint32_t m)
{
#pragma unroll
	for (int j = 2; j < M::N; j += 2) {
		acc[j] = madc_lo_cc(M::mod(first + j), m, acc[j]);
		acc[j + 1] = madc_hi_cc(M::mod(first + j), m, acc[j + 1]);
	}
}

/*
 * The multiple of the modulus that clears lo[0]; its carry out stays in the
 * flag.  Where the two lowest limbs are 1 and 2^32 - 1, m is -lo[0], and their
 * products are m and (lo[0], m - 1): additions, an eighth of the row.
 */
template <class M> __device__ __forceinline__ void fe_row_clear(uint32_t *lo, uint32_t *hi)
{
	uint32_t m = lo[0] * M::m0();

	if (M::SPARSE) {
		hi[0] = add_cc(hi[0], lo[0]);
		hi[1] = addc_cc(hi[1], m ? m - 1 : 0);
	} else {
		hi[0] = mad_lo_cc(M::mod(1), m, hi[0]);
		hi[1] = madc_hi_cc(M::mod(1), m, hi[1]);
	}
	fe_row_mod_rest<M>(hi, 1, m);
	/* the top carry of hi is lost only if the sum passed 2^(32(N+1)): it cannot */
	if (M::SPARSE) {
		lo[0] = add_cc(lo[0], m);
		lo[1] = addc_cc(lo[1], 0);
	} else {
		lo[0] = mad_lo_cc(M::mod(0), m, lo[0]);
		lo[1] = madc_hi_cc(M::mod(0), m, lo[1]);
	}
	fe_row_mod_rest<M>(lo, 0, m);
}

/*
 * One row's product: adds a * b to the two accumulators, of which lo starts at the
 * lowest limb and hi one limb above.
 */
template <class M>
__device__ __forceinline__ void fe_row_product(uint32_t *lo, uint32_t *hi, const uint32_t *a,
					       uint32_t b, bool first)
{
	const int N = M::N;

	if (first) {
#pragma unroll
		for (int j = 0; j < N; j += 2) {
			uint64_t x = (uint64_t)a[j] * b, y = (uint64_t)a[j + 1] * b;

			lo[j] = (uint32_t)x;
			lo[j + 1] = (uint32_t)(x >> 32);
			hi[j] = (uint32_t)y;
			hi[j + 1] = (uint32_t)(y >> 32);
		}
	} else {
		/*
		 * hi was the low accumulator of the row before: its limb 0 is
		 * cleared, limb 1 belongs to lo[0], the rest moves down by two.
		 */
		lo[0] = add_cc(lo[0], hi[1]);
#pragma unroll
		for (int j = 0; j < N - 2; j += 2) {
			hi[j] = madc_lo_cc(a[j + 1], b, hi[j + 2]);
			hi[j + 1] = madc_hi_cc(a[j + 1], b, hi[j + 3]);
		}
		hi[N - 2] = madc_lo_cc(a[N - 1], b, 0);
		hi[N - 1] = madc_hi(a[N - 1], b, 0);
		fe_row_mad<M::N>(lo, a, b);
		hi[N - 1] = addc(hi[N - 1], 0);
	}
}

/*
 * One row: the product, then the multiple of the modulus that clears the lowest
 * limb.  On return the value is divided by 2^32, with the roles swapped.
 */
template <class M>
__device__ __forceinline__ void fe_row(uint32_t *lo, uint32_t *hi, const uint32_t *a, uint32_t b,
				       bool first)
{
	fe_row_product<M>(lo, hi, a, b, first);
	fe_row_clear<M>(lo, hi);
	hi[M::N - 1] = addc(hi[M::N - 1], 0);
}

/* After the last row odd was low: its limb 0 is zero; the value is even + odd / 2^32. */
template <class M>
__device__ __forceinline__ felem<M> fe_join(const uint32_t *even, const uint32_t *odd)
{
	const int N = M::N;
	felem<M> r;

	r.l[0] = add_cc(even[0], odd[1]);
#pragma unroll
	for (int i = 1; i < N - 1; i++)
		r.l[i] = addc_cc(even[i], odd[i + 1]);
	r.l[N - 1] = addc(even[N - 1], 0);
	fe_reduce_once(r);
	return r;
}

template <class M>
__device__ __forceinline__ felem<M> fe_mul(const felem<M> &a, const felem<M> &b)
{
	const int N = M::N;
	uint32_t even[N], odd[N];

	fe_row<M>(even, odd, a.l, b.l[0], true);
	fe_row<M>(odd, even, a.l, b.l[1], false);
#pragma unroll
	for (int i = 2; i < N; i += 2) {
		fe_row<M>(even, odd, a.l, b.l[i], false);
		fe_row<M>(odd, even, a.l, b.l[i + 1], false);
	}
	return fe_join<M>(even, odd);
}

/* acc += a * b[0], b[2], ... of n limbs, n even; returns the carry */
static __device__ __forceinline__ uint32_t fe_chain(uint32_t *acc, uint32_t a, const uint32_t *b, int n)
{
	acc[0] = mad_lo_cc(a, b[0], acc[0]);
	acc[1] = madc_hi_cc(a, b[0], acc[1]);
#pragma unroll
	for (int j = 2; j < n; j += 2) {
		acc[j] = madc_lo_cc(a, b[j], acc[j]);
		acc[j + 1] = madc_hi_cc(a, b[j], acc[j + 1]);
	}
	return addc(0, 0);
}

/*
 * The 2N limbs of a^2: products of unlike limbs once, in two accumulators by the
 * parity of their place, doubled, and the squares of the limbs added.
 */
template <class M> __device__ __forceinline__ void fe_wide_sqr(uint32_t *t, const uint32_t *a)
{
	const int N = M::N;
	uint32_t odd[2 * N];

#pragma unroll
	for (int i = 0; i < 2 * N; i++)
		t[i] = odd[i] = 0;
#pragma unroll
	for (int i = 0; i < N - 1; i++) {
		/* places 2i + 1, 2i + 3, ... and 2i + 2, 2i + 4, ... */
		int n1 = (N - i) / 2 * 2, n2 = (N - 1 - i) / 2 * 2;
		uint32_t carry;

		/* a chain that ends on an untouched pair carries nothing out */
		carry = fe_chain(&odd[2 * i + 1], a[i], &a[i + 1], n1);
		if (2 * i + 1 + n1 < 2 * N)
			odd[2 * i + 1 + n1] += carry;
		if (n2) {
			carry = fe_chain(&t[2 * i + 2], a[i], &a[i + 2], n2);
			if (2 * i + 2 + n2 < 2 * N)
				t[2 * i + 2 + n2] += carry;
		}
	}
	t[1] = odd[1];
	t[2] = add_cc(t[2], odd[2]);
#pragma unroll
	for (int i = 3; i < 2 * N - 1; i++)
		t[i] = addc_cc(t[i], odd[i]);
	t[2 * N - 1] = addc(t[2 * N - 1], odd[2 * N - 1]);
#pragma unroll
	for (int i = 2 * N - 1; i > 1; i--)
		t[i] = __funnelshift_l(t[i - 1], t[i], 1);
	t[1] <<= 1;
	t[0] = mad_lo_cc(a[0], a[0], 0);
	t[1] = madc_hi_cc(a[0], a[0], t[1]);
#pragma unroll
	for (int i = 1; i < N - 1; i++) {
		t[2 * i] = madc_lo_cc(a[i], a[i], t[2 * i]);
		t[2 * i + 1] = madc_hi_cc(a[i], a[i], t[2 * i + 1]);
	}
	t[2 * N - 2] = madc_lo_cc(a[N - 1], a[N - 1], t[2 * N - 2]);
	t[2 * N - 1] = madc_hi(a[N - 1], a[N - 1], t[2 * N - 1]);
}

/* one row of a Montgomery reduction alone, the accumulators as in fe_row */
template <class M> __device__ __forceinline__ void fe_row_reduce(uint32_t *lo, uint32_t *hi)
{
	const int N = M::N;
	uint32_t m;

	lo[0] = add_cc(lo[0], hi[1]);
	m = lo[0] * M::m0();
#pragma unroll
	for (int j = 0; j < N - 2; j += 2) {
		hi[j] = madc_lo_cc(M::mod(j + 1), m, hi[j + 2]);
		hi[j + 1] = madc_hi_cc(M::mod(j + 1), m, hi[j + 3]);
	}
	hi[N - 2] = madc_lo_cc(M::mod(N - 1), m, 0);
	hi[N - 1] = madc_hi(M::mod(N - 1), m, 0);
	lo[0] = mad_lo_cc(M::mod(0), m, lo[0]);
	lo[1] = madc_hi_cc(M::mod(0), m, lo[1]);
	fe_row_mod_rest<M>(lo, 0, m);
	hi[N - 1] = addc(hi[N - 1], 0);
}

/* 222 wide products instead of 288; not worth it where the modulus is sparse */
template <class M> __device__ __forceinline__ felem<M> fe_sqr(const felem<M> &a)
{
	const int N = M::N;
	uint32_t t[2 * N], odd[N];
	felem<M> r;

	if (M::SPARSE)
		return fe_mul(a, a);
	fe_wide_sqr<M>(t, a.l);
#pragma unroll
	for (int i = 0; i < N; i++)
		odd[i] = 0;
#pragma unroll
	for (int i = 0; i < N; i += 2) {
		fe_row_reduce<M>(t, odd);
		fe_row_reduce<M>(odd, t);
	}
	r.l[0] = add_cc(t[0], odd[1]);
#pragma unroll
	for (int i = 1; i < N - 1; i++)
		r.l[i] = addc_cc(t[i], odd[i + 1]);
	r.l[N - 1] = addc(t[N - 1], 0);
	r.l[0] = add_cc(r.l[0], t[N]);
#pragma unroll
	for (int i = 1; i < N - 1; i++)
		r.l[i] = addc_cc(r.l[i], t[N + i]);
	r.l[N - 1] = addc(r.l[N - 1], t[2 * N - 1]);
	fe_reduce_once(r);
	return r;
}


template <class M> __device__ __forceinline__ felem<M> fe_double(const felem<M> &a)
{
	return fe_add(a, a);
}

template <class M> __device__ __forceinline__ felem<M> fe_neg(const felem<M> &a)
{
	return fe_sub(fe_zero<M>(), a);
}

/* out of Montgomery form */
template <class M> __device__ __forceinline__ felem<M> fe_canonical(const felem<M> &a)
{
	felem<M> one = fe_zero<M>();

	one.l[0] = 1;
	return fe_mul(a, one);
}

/* a^e by squaring, most significant bit first; time depends on e */
template <class M>
__device__ felem<M> fe_pow(const felem<M> &a, const uint32_t *e, int n_limbs)
{
	felem<M> r = fe_one<M>();

	for (int i = 32 * n_limbs - 1; i >= 0; i--) {
		r = fe_sqr(r);
		if (e[i / 32] >> (i % 32) & 1)
			r = fe_mul(r, a);
	}
	return r;
}

#endif
