/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * ntt.cuh - number-theoretic transforms over Fr: the kernels
 *
 * A transform of N = 2^n points is done in passes of k <= 9 bits.  A pass takes
 * 2^k points that lie D apart through shared memory, so the data crosses device
 * memory once a pass.  Two orders:
 *
 *   dif   natural order in, bit-reversed out; passes from the top bits down
 *   dit   bit-reversed in, natural out; passes from the low bits up
 *
 * so a transform and its inverse need no permutation between them.
 *
 * A pass at level s (s bits above it) works on blocks of M = 2^(n-s) points,
 * D = M / 2^k: point j D + t of a block, j < 2^k, t < D.  dif transforms over j
 * with the root of order 2^k, leaving frequency rev(j) at place j, and then
 * multiplies by w_M^(t rev(j)); dit does both inversely ordered.
 *
 * dit also evaluates at the odd powers of g = w_2N, on the coset of the domain that
 * the quotient takes.  The radix-2 stage that joins even and odd terms,
 * E(x^2) + x O(x^2), in blocks of 2h points has x = w_4h^(2m+1) instead of w_2h^m, m < h.
 * Of a pass, whose stages have h = 2^b D and m = i D + t, i < 2^b,
 *
 *	x = w_(2^(b+1))^i w_4h^(2t+1)
 *
 * and what does not depend on i commutes with the stages below: point j may have
 * it in advance for every bit b that is set in j.  The product of these is
 * w_2M^((2t+1) rev(j)), so passes with D > 1 have the coset in the factors that they
 * multiply by anyway, and a pass with D = 1 has it in the roots of its stages,
 * which are no longer 1 anywhere.
 *
 * A thread block holds NTT_TILE points: 2^k of j by C = NTT_TILE / 2^k columns,
 * consecutive t, or where D = 1 consecutive blocks.  A thread holds 8 points and
 * does three radix-2 stages on them in registers between exchanges.
 *
 * Size of code: a product is 3 KB, and a multiprocessor fetches instructions
 * quickly only from the 32 KB next to it and at all well from 128 KB.  So rounds,
 * stages and factors are loops at run time around few products; what the loops
 * index moves through registers instead.
 */
#ifndef CUZK_GPU_CUDA_NTT_CUH
#define CUZK_GPU_CUDA_NTT_CUH

#include "gpu/cuda/shoup.cuh"
#include "gpu/cuda/tiles.h"


static __device__ __forceinline__ fr_t load_fr(const fr_t *p)
{
	const uint4 *q = (const uint4 *)p;
	uint4 a = q[0], b = q[1];

	return fr_t{ { a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w } };
}

static __device__ __forceinline__ void store_fr(fr_t *p, const fr_t &v)
{
	uint4 *q = (uint4 *)p;

	q[0] = uint4{ v.l[0], v.l[1], v.l[2], v.l[3] };
	q[1] = uint4{ v.l[4], v.l[5], v.l[6], v.l[7] };
}

static __device__ __forceinline__ struct fr_const load_const(const struct fr_const *p)
{
	return fr_const{ load_fr(&p->w), load_fr(&p->quotient) };
}

/*
 * Powers of one element by a low and a high table: x^e = low[e mod 2^13]
 * high[e / 2^13].  high may carry a factor common to all.
 */
struct power_table {
	const fr_t *low, *high;
};

static __device__ __forceinline__ fr_t power(const struct power_table &t, uint32_t e)
{
	return fe_mul(load_fr(&t.low[e & ((1u << NTT_LOW_BITS) - 1)]),
		      load_fr(&t.high[e >> NTT_LOW_BITS]));
}

/* place of slot e (0..7) of thread u in a round over bits lo, lo + 1, lo + 2 */
static __device__ __forceinline__ uint32_t ntt_place(uint32_t u, int lo, uint32_t e)
{
	return (u >> lo) << (lo + 3) | e << lo | (u & ((1u << lo) - 1));
}

/*
 * Where point i of a tile lies in shared memory, so that no two lanes of a warp
 * meet in a bank: the bits of a place above the lowest five that differ between
 * lanes are folded into those.  Columns: lanes have 5 consecutive bits of i, or 4
 * and bit 7, or the lowest and bits 4 to 7.  Rows: the 5 lowest, or 3 and bits 6 and
 * 7, or bits 3 to 7.
 */
template <bool ROWS> static __device__ __forceinline__ uint32_t ntt_at(uint32_t i)
{
	return ROWS ? i ^ (i >> 5 & 7) ^ (i >> 3 & 0x18) : i ^ (i >> 4 & 0xe) ^ (i >> 3 & 0x10);
}

/* x[rotl(p)] = x[p] of three bits, or back */
template <bool BACK> static __device__ __forceinline__ void ntt_rotate(fr_t x[8])
{
	fr_t y[8];

#pragma unroll
	for (int p = 0; p < 8; p++) {
		const int q = (p << 1 & 7) | p >> 2;

		if (BACK)
			y[p] = x[q];
		else
			y[q] = x[p];
	}
#pragma unroll
	for (int p = 0; p < 8; p++)
		x[p] = y[p];
}

/*
 * Three stages: x[e] is the point at ntt_place(u, lo, e).  roots[2^b + i]: of the
 * stage of bit b, i < 2^b.  plain: roots[2^b] is 1.
 *
 * A stage always pairs x[e] and x[e + 4], after which the bits of the slots move
 * up by one (dif; before which down by one, dit), so that three stages take all
 * three and leave each point in its slot.
 */
template <bool DIT>
static __device__ __forceinline__ void ntt_round(fr_t x[8], uint32_t u, int lo,
						 const struct fr_const *roots, bool plain)
{
	const uint32_t below = u & ((1u << lo) - 1);

#pragma unroll 1
	for (int stage = 0; stage < 3; stage++) {
		const int bit = DIT ? stage : 2 - stage;	/* of the slot */
		const struct fr_const *r = roots + (1u << (lo + bit)) + below;
		const bool one = plain && lo == 0;

		if (DIT)
			ntt_rotate<true>(x);
#pragma unroll
		for (int e = 0; e < 4; e++) {
			/* the bits of the slot below the stage's */
			const uint32_t under = (uint32_t)e >> (2 - bit);
			fr_t t = DIT ? x[e + 4] : fe_sub(x[e], x[e + 4]);

			if (!DIT)
				x[e] = fe_add(x[e], x[e + 4]);
			if (!one || under)
				t = mul_const(t, load_const(&r[under << lo]));
			if (DIT) {
				x[e + 4] = fe_sub(x[e], t);
				x[e] = fe_add(x[e], t);
			} else {
				x[e + 4] = t;
			}
		}
		if (!DIT)
			ntt_rotate<false>(x);
	}
}

/* Regroups points from the slots of round `from` to those of `to`, four limbs at a time. */
template <bool ROWS>
static __device__ __forceinline__ void ntt_exchange(fr_t x[8], uint32_t u, uint32_t c, int k,
						    int from, int to, uint32_t *shared)
{
#pragma unroll
	for (int half = 0; half < 2; half++) {
		__syncthreads();
#pragma unroll
		for (int e = 0; e < 8; e++) {
			uint32_t j = ntt_place(u, from, e);
			uint32_t at = ntt_at<ROWS>(ROWS ? c << k | j : j << (NTT_LOG_TILE - k) | c);

#pragma unroll
			for (int l = 0; l < 4; l++)
				shared[l * NTT_TILE + at] = x[e].l[4 * half + l];
		}
		__syncthreads();
#pragma unroll
		for (int e = 0; e < 8; e++) {
			uint32_t j = ntt_place(u, to, e);
			uint32_t at = ntt_at<ROWS>(ROWS ? c << k | j : j << (NTT_LOG_TILE - k) | c);

#pragma unroll
			for (int l = 0; l < 4; l++)
				x[e].l[4 * half + l] = shared[l * NTT_TILE + at];
		}
	}
}

/*
 * What point j D + t is multiplied by, w_M^(t rev(j)), or with odd = 1
 * w_2M^((2t+1) rev(j)): low[j D + t], or where there is a high table the product of
 * the powers low[e mod 2^13] and high[e / 2^13].
 */
struct ntt_factors {
	const struct fr_const *low, *high;
	int odd;
};

static __device__ __forceinline__ fr_t ntt_factor(const fr_t &x, const struct ntt_factors &f,
						  uint32_t j, uint32_t t, int k, int log_d)
{
	uint32_t e = (t << f.odd | f.odd) * (__brev(j) >> (32 - k));
	uint32_t at = f.high ? e & ((1u << NTT_LOW_BITS) - 1) : j << log_d | t;
	fr_t y = mul_const(x, load_const(&f.low[at]));

	return f.high ? mul_const(y, load_const(&f.high[e >> NTT_LOW_BITS])) : y;
}

/*
 * One pass of k bits, 6 or 9.  log_n: of the whole transform; level: bits above
 * this pass.  ROWS: D = 1, no factors, a tile is C blocks of 2^k consecutive
 * points.  Rounds: three bits of k each, dif from the top, dit from the bottom.
 * Rows go between device memory and the round of the lowest bits, where a thread
 * has 8 neighbours, through the order of the highest, where a warp has them.
 */
template <bool DIT, bool ROWS>
static __device__ __forceinline__ void ntt_pass_body(fr_t *data, int log_n, int level, int k,
		const struct fr_const *roots, bool plain,
		const struct ntt_factors &f)
{
	__shared__ uint32_t shared[4 * NTT_TILE];
	const int log_c = NTT_LOG_TILE - k, log_d = ROWS ? 0 : log_n - level - k;
	const uint32_t c = ROWS ? threadIdx.x >> (k - 3) : threadIdx.x & ((1u << log_c) - 1);
	const uint32_t u = ROWS ? threadIdx.x & ((1u << (k - 3)) - 1) : threadIdx.x >> log_c;
	int lo = DIT && !ROWS ? 0 : k - 3;
	uint32_t t = 0;
	fr_t *base;
	fr_t x[8];

	if (ROWS) {
		base = data + (((size_t)blockIdx.x << log_c | c) << k);
	} else {
		/* tiles of a block follow each other */
		const int log_tiles = log_d - log_c;

		t = (blockIdx.x & ((1u << log_tiles) - 1)) << log_c | c;
		base = data + ((size_t)(blockIdx.x >> log_tiles) << (log_d + k)) + t;
	}
#pragma unroll
	for (int e = 0; e < 8; e++)
		x[e] = load_fr(base + ((size_t)ntt_place(u, lo, e) << log_d));
	if (DIT && !ROWS) {
#pragma unroll 1
		for (uint32_t e = 0; e < 8; e++) {
			fr_t y = ntt_factor(x[0], f, u << 3 | e, t, k, log_d);

#pragma unroll
			for (int i = 0; i < 7; i++)
				x[i] = x[i + 1];
			x[7] = y;
		}
	}
	if (DIT && ROWS) {
		ntt_exchange<ROWS>(x, u, c, k, lo, 0, shared);
		lo = 0;
	}
#pragma unroll 1
	for (int left = k;;) {
		const int next = DIT ? lo + 3 : lo ? lo - 3 : k - 3;

		ntt_round<DIT>(x, u, lo, roots, plain);
		left -= 3;
		if (!left && (DIT || !ROWS))
			break;
		ntt_exchange<ROWS>(x, u, c, k, lo, next, shared);
		lo = next;
		if (!left)
			break;
	}
	if (!DIT && !ROWS) {
#pragma unroll 1
		for (uint32_t e = 0; e < 8; e++) {
			const uint32_t j = u << 3 | e;

			store_fr(base + ((size_t)j << log_d), ntt_factor(x[0], f, j, t, k, log_d));
#pragma unroll
			for (int i = 0; i < 7; i++)
				x[i] = x[i + 1];
		}
	} else {
#pragma unroll
		for (int e = 0; e < 8; e++)
			store_fr(base + ((size_t)ntt_place(u, lo, e) << log_d), x[e]);
	}
}

/*
 * One radix-2 stage, a butterfly a thread: for the levels that passes of 9 and 6
 * leave over, and for short transforms.  half: distance of the pair; roots:
 * powers of w_(2 half), times the stage's constant.
 */
template <bool DIT>
static __device__ __forceinline__ void ntt_stage_body(fr_t *data, uint32_t n, uint32_t half,
		struct power_table roots)
{
	uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
	uint32_t j = i & (half - 1);
	fr_t *p, a, b, w;

	if (i >= n / 2)
		return;
	p = data + 2 * (size_t)(i - j) + j;
	a = load_fr(p);
	b = load_fr(p + half);
	w = power(roots, j);
	if (DIT) {
		b = fe_mul(b, w);
		store_fr(p, fe_add(a, b));
		store_fr(p + half, fe_sub(a, b));
	} else {
		store_fr(p, fe_add(a, b));
		store_fr(p + half, fe_mul(fe_sub(a, b), w));
	}
}

#endif
