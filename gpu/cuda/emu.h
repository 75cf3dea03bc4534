/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * emu.h - runs the kernels on the host, for tests without a device
 *
 * A C++ compiler that is not nvcc sees CUDA's keywords as nothing and its
 * built-in variables as globals.  emu_launch() runs a grid block after block;
 * the threads of a block are fibers, switched at barriers, so __syncthreads()
 * and the warp primitives (all 32 lanes taking part) behave as on the device
 * and shared memory is a static.  One emulation at a time; order of threads
 * between two barriers is ascending, or descending with emu_reverse set, which
 * shows missing barriers.
 */
#ifndef CUZK_GPU_CUDA_EMU_H
#define CUZK_GPU_CUDA_EMU_H

#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include <functional>
#include <vector>

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))
#define __shared__ static
#define __restrict__
#define __launch_bounds__(...)
#define __constant__

struct emu_dim3 {
	unsigned int x, y, z;
	emu_dim3(unsigned int x_ = 1, unsigned int y_ = 1, unsigned int z_ = 1) : x(x_), y(y_), z(z_) {}
};
typedef emu_dim3 dim3;
struct uint2 { unsigned int x, y; };
struct alignas(16) uint4 { unsigned int x, y, z, w; };

inline emu_dim3 threadIdx, blockIdx, blockDim, gridDim;
inline bool emu_reverse;
static const int warpSize = 32;

#define EMU_STACK (256u << 10)

/*
 * Contexts start fibers; from then on they are switched by jumps, which unlike
 * swapcontext() make no system call.
 */
typedef void *emu_place[5];

struct emu_fiber {
	ucontext_t context;
	emu_place place;
	bool started = false, done = false;
	/* barriers this fiber has reached: of the block, of its warp, of its pair of lanes */
	unsigned long block_epoch = 0, warp_epoch = 0, pair_epoch = 0;
};

struct emu_block {
	emu_place scheduler;
	std::vector<emu_fiber> fibers;
	unsigned int current = 0;
	std::function<void()> body;
	std::vector<uint64_t> exchange;		/* one slot per thread, for shuffles */
	/* dynamic shared memory */
	std::vector<char> dynamic;
};
inline emu_block *emu;

/* On its own: the compiler takes a jump beside a place for one to it. */
[[noreturn]] __noinline__ inline void emu_jump(emu_place to)
{
	__builtin_longjmp(to, 1);
}

inline void emu_fiber_main()
{
	emu->body();
	emu->fibers[emu->current].done = true;
	emu_jump(emu->scheduler);
}

/* What the caller needs is on its stack then: neither this nor emu_resume() is inlined. */
__noinline__ inline void emu_yield()
{
	emu_fiber *f = &emu->fibers[emu->current];

	if (__builtin_setjmp(f->place) == 0)
		emu_jump(emu->scheduler);
}

__noinline__ inline void emu_resume(emu_fiber *f)
{
	if (__builtin_setjmp(emu->scheduler))
		return;
	if (f->started)
		emu_jump(f->place);
	f->started = true;
	setcontext(&f->context);
}

/* Threads that have ended do not hold up the others, as on the device. */
inline void emu_wait(unsigned int first, unsigned int last, unsigned long emu_fiber::*epoch)
{
	unsigned long mine = ++(emu->fibers[emu->current].*epoch);

	for (;;) {
		bool all = true;

		for (unsigned int i = first; i < last; i++)
			if (!emu->fibers[i].done && emu->fibers[i].*epoch < mine)
				all = false;
		if (all)
			return;
		emu_yield();
	}
}

inline void __syncthreads()
{
	emu_wait(0, (unsigned int)emu->fibers.size(), &emu_fiber::block_epoch);
}

inline void __syncwarp(unsigned int mask = 0xffffffff)
{
	unsigned int first = emu->current & ~31u;
	unsigned int last = first + 32;

	(void)mask;
	if (last > emu->fibers.size())
		last = (unsigned int)emu->fibers.size();
	emu_wait(first, last, &emu_fiber::warp_epoch);
}

inline void __threadfence() {}
inline void __threadfence_block() {}

inline uint64_t emu_exchange(uint64_t v, unsigned int lane)
{
	uint64_t r;

	emu->exchange[emu->current] = v;
	__syncwarp();
	r = emu->exchange[(emu->current & ~31u) + (lane & 31)];
	__syncwarp();
	return r;
}

template <class T> inline T __shfl_sync(unsigned int, T v, int lane, int width = 32)
{
	unsigned int me = emu->current & 31;
	uint64_t x = 0;

	memcpy(&x, &v, sizeof(v));
	x = emu_exchange(x, (me & ~(width - 1)) | (lane & (width - 1)));
	memcpy(&v, &x, sizeof(v));
	return v;
}

template <class T> inline T __shfl_down_sync(unsigned int m, T v, unsigned int d, int width = 32)
{
	unsigned int me = emu->current & 31, to = (me & (width - 1)) + d;

	return __shfl_sync(m, v, to < (unsigned int)width ? (int)to : (int)(me & (width - 1)), width);
}

template <class T> inline T __shfl_up_sync(unsigned int m, T v, unsigned int d, int width = 32)
{
	unsigned int me = emu->current & 31 & (width - 1);

	return __shfl_sync(m, v, me >= d ? (int)(me - d) : (int)me, width);
}

/* Of two neighbouring lanes alone: the others of the warp may be elsewhere. */
inline uint64_t emu_exchange_pair(uint64_t v)
{
	unsigned int first = emu->current & ~1u;
	uint64_t r;

	emu->exchange[emu->current] = v;
	emu_wait(first, first + 2, &emu_fiber::pair_epoch);
	r = emu->exchange[emu->current ^ 1];
	emu_wait(first, first + 2, &emu_fiber::pair_epoch);
	return r;
}

template <class T> inline T __shfl_xor_sync(unsigned int m, T v, unsigned int x, int width = 32)
{
	if (m == 3u << (emu->current & 30) && x == 1)
		return (T)emu_exchange_pair((uint64_t)v);
	return __shfl_sync(m, v, (int)((emu->current & 31) ^ x), width);
}

inline unsigned int __ballot_sync(unsigned int, bool p)
{
	unsigned int first = emu->current & ~31u, r = 0;

	emu->exchange[emu->current] = p;
	__syncwarp();
	for (unsigned int i = 0; i < 32 && first + i < emu->fibers.size(); i++)
		if (!emu->fibers[first + i].done)
			r |= (unsigned int)(emu->exchange[first + i] & 1) << i;
	__syncwarp();
	return r;
}

inline bool __any_sync(unsigned int m, bool p) { return __ballot_sync(m, p) != 0; }
inline bool __all_sync(unsigned int m, bool p) { return __ballot_sync(m, !p) == 0; }

inline unsigned int __match_any_sync(unsigned int, unsigned int v)
{
	unsigned int first = emu->current & ~31u, r = 0;

	emu->exchange[emu->current] = v;
	__syncwarp();
	for (unsigned int i = 0; i < 32 && first + i < emu->fibers.size(); i++)
		if (!emu->fibers[first + i].done && emu->exchange[first + i] == v)
			r |= 1u << i;
	__syncwarp();
	return r;
}

inline int __popc(unsigned int x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __clz(int x) { return x ? __builtin_clz((unsigned int)x) : 32; }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline unsigned int __brev(unsigned int x)
{
	unsigned int r = 0;

	for (int i = 0; i < 32; i++)
		r |= (x >> i & 1) << (31 - i);
	return r;
}
inline unsigned int __funnelshift_l(unsigned int lo, unsigned int hi, unsigned int s)
{
	return (unsigned int)(((((uint64_t)hi << 32) | lo) << (s & 31)) >> 32);
}
inline unsigned int __funnelshift_r(unsigned int lo, unsigned int hi, unsigned int s)
{
	return (unsigned int)((((uint64_t)hi << 32) | lo) >> (s & 31));
}
template <class T> inline T __ldg(const T *p) { return *p; }

template <class T, class U> inline T atomicAdd(T *p, U v) { T o = *p; *p = (T)(o + v); return o; }
template <class T, class U> inline T atomicMax(T *p, U v) { T o = *p; if ((T)v > o) *p = (T)v; return o; }
template <class T, class U> inline T atomicMin(T *p, U v) { T o = *p; if ((T)v < o) *p = (T)v; return o; }
template <class T, class U> inline T atomicOr(T *p, U v) { T o = *p; *p = (T)(o | v); return o; }
template <class T, class U> inline T atomicExch(T *p, U v) { T o = *p; *p = (T)v; return o; }
template <class T, class U, class V> inline T atomicCAS(T *p, U c, V v)
{
	T o = *p;

	if (o == (T)c)
		*p = (T)v;
	return o;
}

/* extern __shared__ T name[]: use EMU_DYNAMIC_SHARED(T, name) in kernels */
#define EMU_DYNAMIC_SHARED(T, name) T *name = (T *)emu->dynamic.data()

template <class K, class... A>
inline void emu_launch(emu_dim3 grid, emu_dim3 block, size_t shared, K kernel, A... args)
{
	unsigned int n = block.x * block.y * block.z;
	emu_block b;

	b.fibers.resize(n);
	b.exchange.resize(n);
	b.dynamic.resize(shared);
	b.body = [&] { kernel(args...); };
	/* stacks outlive the launch: touching fresh pages would be most of its time */
	static std::vector<char *> stacks;
	while (stacks.size() < n)
		stacks.push_back((char *)malloc(EMU_STACK));
	emu = &b;
	blockDim = block;
	gridDim = grid;
	for (unsigned int z = 0; z < grid.z; z++)
	for (unsigned int y = 0; y < grid.y; y++)
	for (unsigned int x = 0; x < grid.x; x++) {
		unsigned int left = n;

		for (unsigned int i = 0; i < n; i++) {
			emu_fiber &f = b.fibers[i];

			getcontext(&f.context);
			f.context.uc_stack.ss_sp = stacks[i];
			f.context.uc_stack.ss_size = EMU_STACK;
			f.context.uc_link = NULL;
			f.started = f.done = false;
			f.block_epoch = f.warp_epoch = f.pair_epoch = 0;
			makecontext(&f.context, emu_fiber_main, 0);
		}
		while (left) {
			left = 0;
			for (unsigned int i = 0; i < n; i++) {
				unsigned int t = emu_reverse ? n - 1 - i : i;

				if (b.fibers[t].done)
					continue;
				b.current = t;
				blockIdx = emu_dim3(x, y, z);
				threadIdx = emu_dim3(t % block.x, t / block.x % block.y,
						     t / (block.x * block.y));
				emu_resume(&b.fibers[t]);
				if (!b.fibers[t].done)
					left++;
			}
		}
	}
	emu = NULL;
}

#endif
