/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * arena.h - hands out pieces of one range of device memory
 *
 * The range is allocated from the driver once, when the device is opened;
 * afterwards nothing on the way of a proof allocates.  Best fit by address-ordered
 * list; the handful of pieces that a proof holds keeps it short.  Knows no
 * device: addresses are numbers.  One thread at a time.
 */
#ifndef CUZK_GPU_CUDA_ARENA_H
#define CUZK_GPU_CUDA_ARENA_H

#include <stdint.h>

#define ARENA_ALIGN 512u

struct arena;

/* 0 or -ENOMEM */
int cuda_arena_open(struct arena **arena, uint64_t base, uint64_t size);
void cuda_arena_close(struct arena *arena);
/* 0 and *at, or -ENOMEM. bytes = 0 gives a distinct piece of ARENA_ALIGN. */
int cuda_arena_alloc(struct arena *arena, uint64_t bytes, uint64_t *at);
/* at must come from cuda_arena_alloc; 0 is accepted. */
void cuda_arena_free(struct arena *arena, uint64_t at);
uint64_t cuda_arena_size(const struct arena *arena);
uint64_t cuda_arena_used(const struct arena *arena);
uint64_t cuda_arena_peak(const struct arena *arena);
/* the largest piece that cuda_arena_alloc would give now */
uint64_t cuda_arena_largest(const struct arena *arena);

#endif
