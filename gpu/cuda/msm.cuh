/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * msm.cuh - multi-scalar multiplication: the kernels
 *
 * Pippenger's method with signed digits, a group of windows at a time:
 *
 *   msm_digits     scalars -> (bucket, point index and sign) pairs
 *   sort.cuh       pairs by bucket
 *   msm_starts     where each bucket's list begins
 *   rounds until no list has points, but all have left their sums:
 *     msm_round_counts, scan, msm_round_pairs    who is added to whom
 *     msm_add_forward, msm_invert, msm_add_backward
 *   of many buckets, halvings: the same additions, of neighbours, and msm_evens
 *   msm_buckets    running sums of the buckets of each window, in pieces
 *   msm_fold       the pieces' to the windows'
 *
 * Points are added in affine coordinates, 5M + 1S and a share of an inversion
 * instead of 8M + 2S: each round adds neighbours of a list, all additions of a
 * round share inversions by Montgomery's trick.  Forward multiplies up the
 * denominators of a thread's additions, invert inverts the threads' products,
 * backward peels them off.  Lists of any length give equal work to every
 * thread, so scalars that crowd one bucket cost nothing extra.
 *
 * A value names a point: index in the low 31 bits, top bit set for its
 * negative.  Every pointer is to device memory.
 */
#ifndef CUZK_GPU_CUDA_MSM_CUH
#define CUZK_GPU_CUDA_MSM_CUH

#include "gpu/cuda/pair.cuh"
#include "gpu/cuda/tiles.h"

#define MSM_SIGN 0x80000000u
#define MSM_INDEX 0x7fffffffu
#define MSM_LEFT 0x80000000u	/* in a pair list: the partner is what its list left */

struct scalar_t {
	uint32_t l[8];
};

static __device__ __forceinline__ scalar_t load_scalar(const scalar_t *p)
{
	const uint4 *q = (const uint4 *)p;
	uint4 a = q[0], b = q[1];

	return scalar_t{ { a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w } };
}

/*
 * Signed digits of c bits: with K = sum over windows of 2^(c-1) at their lowest bit, a
 * digit of s is the window's bits of s + K, minus 2^(c-1); no carry runs between windows.
 * s is first brought to at most (r-1)/2 by negation, so 255 bits of windows are
 * enough.  bias holds K in 9 words.
 *
 * Writes count windows from first_bit on of all n scalars: pair i of window w at
 * w * n + i.  Bucket of a digit d != 0: |d| - 1, behind first_key and those
 * of the windows before it; digit 0 gets none, the bucket behind the last.
 * index, if not NULL, gives the point of scalar i.
 */
extern "C" __global__ __launch_bounds__(256)
void msm_digits(const scalar_t *scalars, const uint32_t *index, uint32_t n, int c, int first_bit,
		int count, const uint32_t *bias, uint32_t first_key, uint32_t none, uint32_t *keys,
		uint32_t *values)
{
	uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
	uint32_t s[10], neg, half = 1u << (c - 1);
	scalar_t t;

	if (i >= n)
		return;
	t = load_scalar(&scalars[i]);
	{	/* d = r - t; take it where it is the smaller, i.e. d < t */
		uint32_t d[8];
		uint64_t borrow = 0;
		int less = 0;

#pragma unroll
		for (int j = 0; j < 8; j++) {
			uint64_t x = (uint64_t)fr_modulus::mod(j) - t.l[j] - borrow;

			d[j] = (uint32_t)x;
			borrow = x >> 63;
		}
#pragma unroll
		for (int j = 0; j < 8; j++)
			less = d[j] == t.l[j] ? less : d[j] < t.l[j];
		neg = less ? MSM_SIGN : 0;
		uint64_t carry = 0;
#pragma unroll
		for (int j = 0; j < 8; j++) {
			carry += (uint64_t)(less ? d[j] : t.l[j]) + bias[j];
			s[j] = (uint32_t)carry;
			carry >>= 32;
		}
		s[8] = (uint32_t)carry + bias[8];
		s[9] = 0;
	}
	uint32_t point = index ? index[i] : i;

	for (int w = 0; w < count; w++) {
		int bit = first_bit + w * c, word = bit >> 5;
		uint32_t lo = 0, hi = 0, v, key;
		int d;

		/* constant indices keep s in registers */
#pragma unroll
		for (int j = 0; j < 9; j++)
			if (word == j) {
				lo = s[j];
				hi = s[j + 1];
			}
		v = __funnelshift_r(lo, hi, bit & 31) & ((half << 1) - 1);
		d = (int)v - (int)half;
		if (d == 0)
			key = none;
		else
			key = first_key + (uint32_t)w * half +
			      (uint32_t)(d < 0 ? -d : d) - 1;
		keys[(size_t)w * n + i] = key;
		values[(size_t)w * n + i] = point | (neg ^ (d < 0 ? MSM_SIGN : 0));
	}
}

/* starts[k] = first i with keys[i] >= k, for k = 0..n_keys */
extern "C" __global__ __launch_bounds__(256)
void msm_starts(const uint32_t *keys, uint32_t n, uint32_t n_keys, uint32_t *starts)
{
	uint32_t k = blockIdx.x * blockDim.x + threadIdx.x;
	uint32_t lo = 0, hi = n;

	if (k > n_keys)
		return;
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (keys[mid] < k)
			lo = mid + 1;
		else
			hi = mid;
	}
	starts[k] = lo;
}

/*
 * F is fp_t, or fp2_half in G2, where two lanes do the work of one: t below is the
 * same for both.
 */
template <class F> static __device__ __forceinline__ uint32_t thread_of()
{
	return (blockIdx.x * blockDim.x + threadIdx.x) / f_memory<F>::LANES;
}

template <class F> static __device__ __forceinline__ affine<F> affine_inf()
{
	return affine<F>{ f_const<F>::zero(), f_const<F>::zero() };
}

/*
 * A round's i-th point is named by a word like a value: in the first round by the
 * caller's, later by its place.
 */
static __device__ __forceinline__ uint32_t point_name(const uint32_t *values, uint32_t i)
{
	return values ? values[i] : i;
}

/*
 * Points by place: coordinates of point i at x[i * step] and y[i * step].  Where they
 * lie in one array of points, step is 2.  Between rounds x and y lie apart, step 1:
 * forward reads no more than it needs.
 */
template <class F> struct point_list {
	stored<F> *x, *y;
	uint32_t step;
};

template <class F>
static __device__ __forceinline__ F load_x(const point_list<F> &points, uint32_t name)
{
	return f_memory<F>::load(points.x[(uint64_t)(name & MSM_INDEX) * points.step]);
}

template <class F>
static __device__ __forceinline__ F load_y(const point_list<F> &points, uint32_t name)
{
	F y = f_memory<F>::load(points.y[(uint64_t)(name & MSM_INDEX) * points.step]);

	return name & MSM_SIGN ? f_neg(y) : y;
}

template <class F>
static __device__ __forceinline__ affine<F> load_point(const point_list<F> &points, uint32_t name)
{
	return affine<F>{ load_x<F>(points, name), load_y<F>(points, name) };
}

template <class F>
static __device__ __forceinline__ void store_point(const point_list<F> &out, uint32_t i,
		const affine<F> &p)
{
	f_memory<F>::store(out.x[(uint64_t)i * out.step], p.x);
	f_memory<F>::store(out.y[(uint64_t)i * out.step], p.y);
}

/*
 * counts[k] = how many points list k has after this round.  The last of an odd number is
 * left in buckets[k], and added to the last of the next odd one: no point is ever passed
 * on, and what is left in the end is the list's sum.  left_before[k], left_after[k]:
 * whether there is one.  left_before is NULL in the first round, and an empty list's sum is
 * infinity.
 */
template <class F>
static __device__ __forceinline__ void msm_round_counts_body(const uint32_t *starts,
		uint32_t n_keys, const point_list<F> &points, const uint32_t *values,
		const uint8_t *left_before, uint8_t *left_after, affine_at<F> *buckets,
		uint32_t *counts)
{
	uint32_t k = thread_of<F>();
	uint32_t end, len;
	bool odd, was_left;

	if (k >= n_keys)
		return;
	end = starts[k + 1];
	len = end - starts[k];
	odd = len & 1;
	was_left = left_before && left_before[k];
	if (odd && !was_left)
		store_affine(buckets[k], load_point<F>(points, point_name(values, end - 1)));
	else if (len == 0 && !left_before)
		store_affine(buckets[k], affine_inf<F>());
	left_after[k] = odd != was_left;
	counts[k] = len / 2 + (odd && was_left);
}

/*
 * keys, starts: of this round's points; next: exclusive scan of counts.
 * Slot j of the next round adds points pairs[j] and pairs[j] + 1, or where MSM_LEFT is set
 * pairs[j] and what is left; it belongs to list next_keys[j].
 */
extern "C" __global__ __launch_bounds__(256)
void msm_round_pairs(const uint32_t *keys, uint32_t n, uint32_t n_keys, const uint32_t *starts,
		     const uint32_t *next, uint32_t *pairs, uint32_t *next_keys)
{
	uint32_t first = (blockIdx.x * blockDim.x + threadIdx.x) * MSM_PAIRS_PER_THREAD;
	uint32_t k[MSM_PAIRS_PER_THREAD], begin[MSM_PAIRS_PER_THREAD];
	uint32_t end[MSM_PAIRS_PER_THREAD], to[MSM_PAIRS_PER_THREAD];
	uint32_t behind[MSM_PAIRS_PER_THREAD];

	if (first >= n)
		return;
	/* all loads before the stores, which might be to the same memory */
	if (n - first >= MSM_PAIRS_PER_THREAD) {
		uint4 v = *(const uint4 *)(keys + first);

		k[0] = v.x;
		k[1] = v.y;
		k[2] = v.z;
		k[3] = v.w;
	} else {
#pragma unroll
		for (int j = 0; j < MSM_PAIRS_PER_THREAD; j++)
			k[j] = first + j < n ? keys[first + j] : n_keys;
	}
#pragma unroll
	for (int j = 0; j < MSM_PAIRS_PER_THREAD; j++) {
		bool listed = k[j] < n_keys;

		begin[j] = listed ? starts[k[j]] : 0;
		end[j] = listed ? starts[k[j] + 1] : 0;
		to[j] = listed ? next[k[j]] : 0;
		behind[j] = listed ? next[k[j] + 1] : 0;
	}
#pragma unroll
	for (int j = 0; j < MSM_PAIRS_PER_THREAD; j++) {
		uint32_t i = first + j, t = i - begin[j], slot = to[j] + t / 2;

		/* a last one without a partner has a slot if there is one for it */
		if ((t & 1) || i >= end[j] || slot >= behind[j])
			continue;
		pairs[slot] = i | (i + 1 < end[j] ? 0 : MSM_LEFT);
		next_keys[slot] = k[j];
	}
}

/* Slots that add point second + i to point i, i < n, in two names each. */
extern "C" __global__ __launch_bounds__(256)
void msm_join_pairs(uint32_t n, uint32_t second, uint32_t *values, uint32_t *pairs)
{
	uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i >= n)
		return;
	values[2 * (size_t)i] = i;
	values[2 * (size_t)i + 1] = second + i;
	pairs[i] = 2 * i;
}

/* Slots that add points 2i and 2i + 1. */
extern "C" __global__ __launch_bounds__(256)
void msm_neighbours(uint32_t n, uint32_t *pairs)
{
	uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		pairs[i] = 2 * i;
}

enum msm_case { MSM_ADD, MSM_DOUBLE, MSM_FIRST, MSM_SECOND, MSM_CANCEL };

/* What lists left, and whose a slot is: for those that are marked. */
template <class F> struct msm_leavings {
	const affine_at<F> *buckets;
	const uint32_t *keys;
};

/* A slot's points: by name, or the second by its place. */
template <class F> struct msm_slot {
	uint32_t first, second;
	const affine_at<F> *left;
};

template <class F>
static __device__ __forceinline__ struct msm_slot<F> msm_slot_load(const uint32_t *values,
		const uint32_t *pairs, const msm_leavings<F> &leavings, uint32_t slot)
{
	uint32_t pair = pairs[slot], i = pair & ~MSM_LEFT;
	struct msm_slot<F> s;

	s.first = point_name(values, i);
	s.second = 0;
	s.left = NULL;
	if (pair & MSM_LEFT)
		s.left = &leavings.buckets[leavings.keys[slot]];
	else
		s.second = point_name(values, i + 1);
	return s;
}

template <class F>
static __device__ __forceinline__ F second_x(const point_list<F> &points, const msm_slot<F> &s)
{
	return s.left ? f_memory<F>::load(s.left->x) : load_x<F>(points, s.second);
}

template <class F>
static __device__ __forceinline__ F second_y(const point_list<F> &points, const msm_slot<F> &s)
{
	return s.left ? f_memory<F>::load(s.left->y) : load_y<F>(points, s.second);
}

/* What slot's addition is, and its denominator (1 where there is none). */
template <class F>
static __device__ __forceinline__ enum msm_case msm_classify(const point_list<F> &points,
		const msm_slot<F> &s, F &x1, F &x2, F &d)
{
	x1 = load_x<F>(points, s.first);
	x2 = second_x<F>(points, s);
	/* x = 0 may be infinity; only then is y looked at */
	if (f_is_zero(x1) && f_is_zero(load_y<F>(points, s.first)))
		return MSM_SECOND;
	if (f_is_zero(x2) && f_is_zero(second_y<F>(points, s)))
		return MSM_FIRST;
	d = f_sub(x2, x1);
	if (f_is_zero(d)) {
		F y1 = load_y<F>(points, s.first);

		d = f_double(y1);
		if (f_equal(y1, second_y<F>(points, s)) && !f_is_zero(d))
			return MSM_DOUBLE;
		return MSM_CANCEL;
	}
	return MSM_ADD;
}

/*
 * Thread t of T takes slots t, t + T, t + 2T ...: neighbours in a warp touch
 * neighbouring slots.  prefix[slot] = product of the thread's denominators
 * before it, totals[t] = of all.
 */
template <class F>
static __device__ __forceinline__ void msm_add_forward_body(const point_list<F> &points,
		const uint32_t *values, const uint32_t *pairs, const msm_leavings<F> &leavings,
		uint32_t n_slots, uint32_t n_threads, stored<F> *prefix, stored<F> *totals)
{
	uint32_t t = thread_of<F>();
	F acc = f_const<F>::one(), x1, x2, d;

	if (t >= n_threads)
		return;
	for (uint32_t slot = t; slot < n_slots; slot += n_threads) {
		msm_slot<F> s = msm_slot_load<F>(values, pairs, leavings, slot);
		enum msm_case what = msm_classify<F>(points, s, x1, x2, d);

		f_memory<F>::store(prefix[slot], acc);
		if (what == MSM_ADD || what == MSM_DOUBLE)
			acc = f_mul(acc, d);
	}
	f_memory<F>::store(totals[t], acc);
}

/* totals[t] -> 1 / totals[t], none of them zero; scratch as large */
template <class F>
static __device__ __forceinline__ void msm_invert_body(stored<F> *totals, uint32_t n,
		uint32_t n_threads, stored<F> *scratch)
{
	uint32_t t = thread_of<F>();
	F acc = f_const<F>::one();
	uint32_t i, last;

	if (t >= n_threads || t >= n)
		return;
	for (i = t; i < n; i += n_threads) {
		f_memory<F>::store(scratch[i], acc);
		acc = f_mul(acc, f_memory<F>::load(totals[i]));
	}
	last = t + (n - 1 - t) / n_threads * n_threads;
	acc = f_inv(acc);
	for (i = last;; i -= n_threads) {
		F x = f_memory<F>::load(totals[i]);

		f_memory<F>::store(totals[i], f_mul(acc, f_memory<F>::load(scratch[i])));
		acc = f_mul(acc, x);
		if (i < n_threads)
			break;
	}
}

template <class F>
static __device__ __forceinline__ void msm_add_backward_body(const point_list<F> &points,
		const uint32_t *values, const uint32_t *pairs, const msm_leavings<F> &leavings,
		uint32_t n_slots, uint32_t n_threads, const stored<F> *prefix, const stored<F> *totals,
		const point_list<F> &out)
{
	uint32_t t = thread_of<F>();
	uint32_t slot;
	F inv;

	if (t >= n_threads || t >= n_slots)
		return;
	inv = f_memory<F>::load(totals[t]);
	slot = t + (n_slots - 1 - t) / n_threads * n_threads;
	for (;; slot -= n_threads) {
		msm_slot<F> s = msm_slot_load<F>(values, pairs, leavings, slot);
		F x1, x2, d, lambda, y1;
		enum msm_case what = msm_classify<F>(points, s, x1, x2, d);

		if (what == MSM_ADD || what == MSM_DOUBLE) {
			affine<F> r;

			lambda = f_mul(inv, f_memory<F>::load(prefix[slot]));
			inv = f_mul(inv, d);
			y1 = load_y<F>(points, s.first);
			if (what == MSM_ADD) {
				d = f_sub(second_y<F>(points, s), y1);
			} else {
				d = f_sqr(x1);
				d = f_add(f_double(d), d);
			}
			lambda = f_mul(lambda, d);
			r.x = f_sub(f_sub(f_sqr(lambda), x1), x2);
			r.y = f_sub(f_mul(lambda, f_sub(x1, r.x)), y1);
			store_point(out, slot, r);
		} else if (what == MSM_CANCEL) {
			store_point(out, slot, affine_inf<F>());
		} else if (what == MSM_FIRST) {
			store_point(out, slot, load_point<F>(points, s.first));
		} else {
			store_point(out, slot, affine<F>{ x2, second_y<F>(points, s) });
		}
		if (slot < n_threads)
			break;
	}
}

/* out[i] = points[2i] for i < n */
template <class F>
static __device__ __forceinline__ void msm_evens_body(const point_list<F> &points, uint32_t n,
		const point_list<F> &out)
{
	uint32_t i = thread_of<F>();

	if (i < n)
		store_point(out, i, load_point<F>(points, 2 * i));
}

/* Four coordinates a thread of a block, put aside in shared memory. */
template <class F> struct msm_aside {
	uint32_t w[4 * sizeof(F) / 4][ADD_THREADS];
};

static __device__ __forceinline__ void msm_exchange(uint32_t (*w)[ADD_THREADS], fp_t &a)
{
#pragma unroll
	for (int i = 0; i < fp_t::N; i++) {
		uint32_t t = w[i][threadIdx.x];

		w[i][threadIdx.x] = a.l[i];
		a.l[i] = t;
	}
}

static __device__ __forceinline__ void msm_exchange(uint32_t (*w)[ADD_THREADS], fp2_half &a)
{
	msm_exchange(w, a.c);
}

template <class F>
static __device__ __forceinline__ void msm_exchange(struct msm_aside<F> &aside, xyzz<F> &p)
{
	const int words = sizeof(F) / 4;

	msm_exchange(aside.w, p.x);
	msm_exchange(aside.w + words, p.y);
	msm_exchange(aside.w + 2 * words, p.zz);
	msm_exchange(aside.w + 3 * words, p.zzz);
}

/*
 * The sum of (b + 1) * bucket[b] over the buckets of each window, first in pieces
 * of `piece` buckets a thread: sums[t] takes the place within the piece for b,
 * runs[t] is the plain sum.  pieces a window, window after window.  Of the two
 * points one is always aside, so that registers hold what is being added.
 */
template <class F>
static __device__ __forceinline__ void msm_buckets_body(const affine_at<F> *buckets,
		uint32_t n_buckets, uint32_t n_windows, uint32_t piece, xyzz_at<F> *sums,
		xyzz_at<F> *runs)
{
	__shared__ struct msm_aside<F> aside;
	uint32_t pieces = (n_buckets + piece - 1) / piece;
	uint32_t t = thread_of<F>();
	uint32_t window = t / pieces, lo = t % pieces * piece, hi;
	xyzz<F> p = xyzz_inf<F>(), q = xyzz_inf<F>();

	if (window >= n_windows)
		return;
	msm_exchange(aside, p);
	p = xyzz_inf<F>();
	hi = lo + piece < n_buckets ? lo + piece : n_buckets;
#pragma unroll 1
	for (uint32_t b = hi; b-- > lo;) {
		const affine_at<F> *bucket = &buckets[(size_t)window * n_buckets + b];

		q.x = f_memory<F>::load(bucket->x);
		q.y = f_memory<F>::load(bucket->y);
		xyzz_accumulate<true>(p, q, false);
		q = p;
		msm_exchange(aside, p);
		xyzz_accumulate<false>(p, q, false);
		msm_exchange(aside, p);
	}
	store_xyzz(runs[t], p);
	msm_exchange(aside, p);
	store_xyzz(sums[t], p);
}

/*
 * Halves the pieces of each row, one row a window.  n pieces of 2^log_piece buckets
 * weigh 0 to n - 1: piece i + n / 2 is added to piece i, and its run is due n / 2
 * times besides.  That is kept in shifts, which double at each halving to come:
 *
 *   sum of i runs[i] = sum of i (runs[i] + runs[i + n/2]), i < n/2,
 *		      + n/2 times the sum of runs[n/2], ... runs[n - 1]
 *
 * A thread makes one point: a sum, a run or a shift, so a halving takes three
 * additions of time.  There are no shifts before the first.  The last, of n = 2,
 * leaves the rows' sums in sums_out, and in runs_out those without weights.
 */
template <class F>
static __device__ __forceinline__ void msm_fold_body(const xyzz_at<F> *sums, const xyzz_at<F> *runs,
		const xyzz_at<F> *shifts, uint32_t n, int log_piece, uint32_t n_rows,
		xyzz_at<F> *sums_out, xyzz_at<F> *runs_out, xyzz_at<F> *shifts_out)
{
	uint32_t t = thread_of<F>();
	uint32_t half = n / 2, what = t / (half * n_rows), place = t % (half * n_rows);
	size_t low = (size_t)(place / half) * n + place % half, high = low + half;
	bool last = n == 2;
	/* of a shift: two shifts, doubled, and the run; at last doubled on, and the sums */
	int steps = what < 2 ? 1 : last ? 3 + log_piece + 2 : 3;
	const xyzz_at<F> *column = what == 0 ? sums : what == 1 ? runs : shifts;
	int step = 0;
	xyzz<F> p, q;

	if (what > 2 || (last && what == 0))
		return;
	if (column) {
		p = load_xyzz<F>(column[low]);
	} else {
		p = load_xyzz<F>(runs[high]);
		step = 3;
	}
#pragma unroll 1
	for (; step < steps; step++) {
		const xyzz_at<F> *from = NULL;

		if (step == 0)
			from = &column[high];
		else if (step == 2)
			from = &runs[high];
		else if (step >= 3 + log_piece)
			from = &sums[step == 3 + log_piece ? low : high];
		if (from)
			q = load_xyzz<F>(*from);
		xyzz_accumulate<false>(p, q, !from);
	}
	if (what == 1)
		store_xyzz(runs_out[place], p);
	else if (last || what == 0)
		store_xyzz(sums_out[place], p);
	else
		store_xyzz(shifts_out[place], p);
}

#endif
