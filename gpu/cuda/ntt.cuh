/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * ntt.cuh - number-theoretic transforms over Fr: the kernels
 *
 * A transform of 2^n points is done in passes of K <= 9 bits.  A pass takes
 * 2^K points that lie D apart through shared memory, so the data crosses device
 * memory once a pass.  Two orders:
 *
 *   dif   natural order in, bit-reversed out; passes from the top bits down
 *   dit   bit-reversed in, natural out; passes from the low bits up
 *
 * so a transform and its inverse need no permutation between them.
 *
 * A pass at level s (s bits above it) works on blocks of M = 2^(n-s) points,
 * D = M / 2^K: point j D + t of a block, j < 2^K, t < D.  dif transforms over j
 * with the root of order 2^K, leaving frequency rev(j) at place j, and then
 * multiplies by w_M^(t rev(j)); dit does both inversely ordered.
 *
 * A thread block holds NTT_TILE points: 2^K of j by C = NTT_TILE / 2^K columns,
 * consecutive t, or where D = 1 consecutive blocks.  A thread holds 8 points and
 * does up to three radix-2 stages on them in registers between exchanges.
 */
#ifndef CUZK_GPU_CUDA_NTT_CUH
#define CUZK_GPU_CUDA_NTT_CUH

#include "gpu/cuda/field.cuh"

#define NTT_TILE 2048
#define NTT_THREADS (NTT_TILE / 8)
#define NTT_LOW_BITS 13		/* of a power's exponent, in the low table */

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

/* place of slot e (0..7) of thread u in a round over bits [lo, lo + m) of K */
template <int K, int LO, int M>
static __device__ __forceinline__ uint32_t ntt_place(uint32_t u, uint32_t e)
{
	uint32_t other = u | (e >> M) << (K - 3);

	return (other >> LO) << (LO + M) | (e & ((1u << M) - 1)) << LO | (other & ((1u << LO) - 1));
}

/*
 * Where point i of a tile lies in shared memory, so that no two lanes of a warp
 * meet in a bank.  Columns leave four words free after every 32: their lanes are
 * consecutive or four words at a stride of 32.  Rows fold the upper bits into
 * the lower five: their lanes are consecutive, eight at strides of 64, or at a
 * stride of eight.
 */
template <bool ROWS> static __device__ __forceinline__ uint32_t ntt_at(uint32_t i)
{
	return ROWS ? i ^ (i >> 5 & 7) ^ (i >> 3 & 0x18) : i + (i >> 5) * 4;
}

#define NTT_SHARED (NTT_TILE + NTT_TILE / 32 * 4)

/*
 * Stages of bits [LO, LO + M): x[e] is the point at ntt_place<K, LO, M>(u, e).
 * roots[i] = w^i, w of order 2^K, i < 2^(K-1).
 */
template <int K, int LO, int M, bool DIT>
static __device__ __forceinline__ void ntt_stages(fr_t x[8], uint32_t u, const fr_t *roots)
{
#pragma unroll
	for (int i = 0; i < M; i++) {
		const int eb = DIT ? i : M - 1 - i;	/* bit of the slot */
		const int b = LO + eb;			/* bit of the place */

#pragma unroll
		for (int e = 0; e < 8; e++) {
			if (e >> eb & 1)
				continue;
			const int f = e | 1 << eb;
			uint32_t exponent = (ntt_place<K, LO, M>(u, e) & ((1u << b) - 1)) << (K - 1 - b);
			/* known at compile time where the low bits are all slots' */
			const bool trivial = LO == 0 && (e & ((1 << eb) - 1)) == 0;

			if (DIT) {
				fr_t t = trivial ? x[f] : fe_mul(x[f], load_fr(&roots[exponent]));

				x[f] = fe_sub(x[e], t);
				x[e] = fe_add(x[e], t);
			} else {
				fr_t t = fe_sub(x[e], x[f]);

				x[e] = fe_add(x[e], x[f]);
				x[f] = trivial ? t : fe_mul(t, load_fr(&roots[exponent]));
			}
		}
	}
}

/* Regroups points from one round's slots to another's, four limbs at a time. */
template <int K, int LO1, int M1, int LO2, int M2, bool ROWS>
static __device__ __forceinline__ void ntt_exchange(fr_t x[8], uint32_t u, uint32_t c, uint32_t *shared)
{
	const uint32_t C = NTT_TILE >> K;

#pragma unroll
	for (int half = 0; half < 2; half++) {
		__syncthreads();
#pragma unroll
		for (int e = 0; e < 8; e++) {
			uint32_t j = ntt_place<K, LO1, M1>(u, e);
			uint32_t at = ntt_at<ROWS>(ROWS ? c << K | j : j * C + c);

#pragma unroll
			for (int l = 0; l < 4; l++)
				shared[l * NTT_SHARED + at] = x[e].l[4 * half + l];
		}
		__syncthreads();
#pragma unroll
		for (int e = 0; e < 8; e++) {
			uint32_t j = ntt_place<K, LO2, M2>(u, e);
			uint32_t at = ntt_at<ROWS>(ROWS ? c << K | j : j * C + c);

#pragma unroll
			for (int l = 0; l < 4; l++)
				x[e].l[4 * half + l] = shared[l * NTT_SHARED + at];
		}
	}
}

/*
 * One pass.  log_n: of the whole transform; level: bits above this pass.
 * twiddle: powers of w_(2^log_n), unused where D = 1.  Rounds: bits of K from the
 * top, three at a time, the rest (1 or 2) last; dit the other way round.
 * ROWS: D = 1, a tile is C blocks of 2^K consecutive points.
 */
template <int K, bool DIT, bool ROWS>
static __device__ __forceinline__ void ntt_pass_body(fr_t *data, int log_n, int level,
		const fr_t *roots, struct power_table twiddle)
{
	const int A = 3, B = K - 3 >= 3 ? 3 : K - 3, R = K - A - B;	/* round widths, top first */
	const uint32_t C = NTT_TILE >> K;
	__shared__ uint32_t shared[4 * NTT_SHARED];
	const uint32_t per = NTT_THREADS / C;	/* threads a column */
	uint32_t c = ROWS ? threadIdx.x / per : threadIdx.x % C;
	uint32_t u = ROWS ? threadIdx.x % per : threadIdx.x / C;
	int log_d = log_n - level - K;
	uint32_t t = 0;
	fr_t *base;
	fr_t x[8];

	if (ROWS) {
		base = data + (((size_t)blockIdx.x * C + c) << K);
	} else {
		/* tiles of a block follow each other */
		size_t tile = blockIdx.x;
		size_t tiles = ((size_t)1 << log_d) / C;

		t = (uint32_t)(tile % tiles) * C + c;
		base = data + (tile / tiles << (log_d + K)) + t;
	}

#define PLACE(LO, M, e) ntt_place<K, LO, M>(u, e)
	if (!DIT) {
#pragma unroll
		for (int e = 0; e < 8; e++)
			x[e] = load_fr(base + ((size_t)PLACE(K - A, A, e) << log_d));
		ntt_stages<K, K - A, A, false>(x, u, roots);
		ntt_exchange<K, K - A, A, R, B, ROWS>(x, u, c, shared);
		ntt_stages<K, R, B, false>(x, u, roots);
		if (R) {
			ntt_exchange<K, R, B, 0, R, ROWS>(x, u, c, shared);
			ntt_stages<K, 0, R, false>(x, u, roots);
		}
	} else {
#pragma unroll
		for (int e = 0; e < 8; e++) {
			uint32_t j = R ? PLACE(0, R, e) : PLACE(R, B, e);

			x[e] = load_fr(base + ((size_t)j << log_d));
			if (!ROWS)
				x[e] = fe_mul(x[e], power(twiddle,
					t * (__brev(j) >> (32 - K)) << level));
		}
		if (R) {
			ntt_stages<K, 0, R, true>(x, u, roots);
			ntt_exchange<K, 0, R, R, B, ROWS>(x, u, c, shared);
		}
		ntt_stages<K, R, B, true>(x, u, roots);
		ntt_exchange<K, R, B, K - A, A, ROWS>(x, u, c, shared);
		ntt_stages<K, K - A, A, true>(x, u, roots);
	}
#pragma unroll
	for (int e = 0; e < 8; e++) {
		uint32_t j = DIT ? PLACE(K - A, A, e) : R ? PLACE(0, R, e) : PLACE(R, B, e);

		if (!DIT && !ROWS)
			x[e] = fe_mul(x[e], power(twiddle, t * (__brev(j) >> (32 - K)) << level));
		store_fr(base + ((size_t)j << log_d), x[e]);
	}
#undef PLACE
}

/*
 * Where one transform ends and another begins: the last pass of a dif, point i
 * times factor base^rev(i), the first pass of a dit.  Both work on blocks of
 * 2^K consecutive points and meet in the same places, so nothing is exchanged
 * or stored between.  Of the exponent rev(i) the place in the block gives the
 * top bits: steps[j] = base^(rev(j) 2^(log_n - K)), and the block the rest.
 */
template <int K>
static __device__ __forceinline__ void ntt_turn_body(fr_t *data, int log_n, const fr_t *from_roots,
		const fr_t *to_roots, const fr_t *steps, struct power_table scale)
{
	const int A = 3, B = K - 3 >= 3 ? 3 : K - 3, R = K - A - B;
	const uint32_t C = NTT_TILE >> K;
	__shared__ uint32_t shared[4 * NTT_SHARED];
	const uint32_t per = NTT_THREADS / C;
	uint32_t c = threadIdx.x / per, u = threadIdx.x % per;
	uint32_t block = blockIdx.x * C + c;
	fr_t *base = data + ((size_t)block << K);
	fr_t x[8], factor;

#define PLACE(LO, M, e) ntt_place<K, LO, M>(u, e)
#pragma unroll
	for (int e = 0; e < 8; e++)
		x[e] = load_fr(base + PLACE(K - A, A, e));
	ntt_stages<K, K - A, A, false>(x, u, from_roots);
	ntt_exchange<K, K - A, A, R, B, true>(x, u, c, shared);
	ntt_stages<K, R, B, false>(x, u, from_roots);
	if (R) {
		ntt_exchange<K, R, B, 0, R, true>(x, u, c, shared);
		ntt_stages<K, 0, R, false>(x, u, from_roots);
	}

	factor = power(scale, log_n > K ? __brev(block) >> (32 - (log_n - K)) : 0);
#pragma unroll
	for (int e = 0; e < 8; e++) {
		uint32_t j = R ? PLACE(0, R, e) : PLACE(R, B, e);

		x[e] = fe_mul(fe_mul(x[e], load_fr(&steps[j])), factor);
	}

	if (R) {
		ntt_stages<K, 0, R, true>(x, u, to_roots);
		ntt_exchange<K, 0, R, R, B, true>(x, u, c, shared);
	}
	ntt_stages<K, R, B, true>(x, u, to_roots);
	ntt_exchange<K, R, B, K - A, A, true>(x, u, c, shared);
	ntt_stages<K, K - A, A, true>(x, u, to_roots);
#pragma unroll
	for (int e = 0; e < 8; e++)
		store_fr(base + PLACE(K - A, A, e), x[e]);
#undef PLACE
}

/*
 * One radix-2 stage, a butterfly a thread: for the levels that passes of 9 and 6
 * leave over, and for short transforms.  half: distance of the pair; level:
 * bits above it; twiddle: powers of w_n.
 */
template <bool DIT>
static __device__ __forceinline__ void ntt_stage_body(fr_t *data, uint32_t n, uint32_t half,
		int level, struct power_table twiddle)
{
	uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
	uint32_t j = i & (half - 1);
	fr_t *p, a, b, w;

	if (i >= n / 2)
		return;
	p = data + 2 * (size_t)(i - j) + j;
	a = load_fr(p);
	b = load_fr(p + half);
	w = power(twiddle, j << level);
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
