/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * plan.c - which points stay on the device, and in what pieces the others come
 *
 * Everything stays where everything fits beside a proof.  Otherwise the points
 * come over the bus, and what has to be decided is what the memory is for.  With
 * V = 32 bytes a row of the domain (4 GiB for 2^27) and pieces of B bytes, a
 * proof needs
 *
 *   quotient	3 V (2 V with GPU_H_COSET), and B for the first piece of h
 *   sum over h	V, 2 B, buckets of 1.3 GB, 114 bytes a pair of the lists made at once
 *   other sums	selections of the witness, 2 smaller pieces, lists
 *
 * and each proof that waits its witness W (70 MB for porep-32g).
 *
 * Why h is sent for every proof, and l, a, b1 and b2 once for several: the sum over
 * h takes 750 ms for 12.9 GB, 234 ms of a bus of 55 GB/s, and with 140 ms of
 * quotient before it the bus is idle three quarters of the time.  Sharing h among
 * k proofs would need their scalars, V each: k = 2 has 2 V + 3 V = 20 GiB while the
 * second quotient is made.  Scalars that wait in pinned host memory cost V there
 * and V over the bus each way: 4.3 + 12.9 / k GB for 12.9 GB, so at best a third,
 * for k V of the host's memory.  For l, a, b1 and b2 it is the other way round: 34.5 GB,
 * 627 ms of bus, for 118 ms of work a proof.  What waits for them are witnesses
 * of W, and from k = 6 on the work takes longer than the way: k is as many as
 * there is room for, BATCH_MAX at most.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <syslog.h>

#include "gpu/cuda/device.h"

#define WORK_MIN (64ull << 20)	/* a small proof's sums; larger ones have freed vectors */
#define BATCH_MAX 10		/* a PoRep's partitions */
#define WAITING (BATCH_MAX + 1)	/* witnesses with room: those and the next */
#define PIECES_MAX 64		/* of h; more would be mostly joining of buckets */
#define PIECE_MIN 1024		/* points */
#define KEEP_PRICE 100
#define LARGE (1ull << 30)	/* parameters whose place is worth a line in the log */
#define LOADED_AT_ONCE (1u << 19)	/* points; CHUNK of srs.c */
#define MADE_AT_ONCE (1u << 20)		/* CHUNK of base.c */

static uint64_t vector_bytes(const struct gpu_srs *srs, enum cuda_vector v)
{
	return srs->n[v] * cuda_point_size(cuda_vector_group(v));
}

static uint64_t domain_bytes(const struct gpu_srs *srs)
{
	uint64_t n = 1;

	while (n < srs->n[CUDA_VECTOR_H])
		n *= 2;
	return sizeof(struct fr) * n;
}

/* What a quotient is made in. */
static uint64_t quotient_bytes(const struct gpu_srs *srs)
{
	return (srs->h_basis == GPU_H_COSET ? 2 : 3) * domain_bytes(srs);
}

/* A bit a variable, and every 64th a field element: a guess, for the system is not known yet. */
static uint64_t witness_guess(const struct gpu_srs *srs)
{
	return srs->n[CUDA_VECTOR_L] / 8 + srs->n[CUDA_VECTOR_L] / 64 * sizeof(struct fr);
}

static uint64_t less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* While points are loaded (srs.c), or made of scalars (base.c as well): a chunk's buffers. */
static uint64_t loading_bytes(const struct gpu_srs *srs, bool made)
{
	uint64_t longest = 0, size = cuda_point_size(CUDA_G2), bytes;
	int i;

	for (i = 0; i < CUDA_VECTOR_N; i++)
		longest = srs->n[i] > longest ? srs->n[i] : longest;
	bytes = 2 * size * smaller(longest, LOADED_AT_ONCE);
	if (made)
		bytes += (2 * size + size / 2 + sizeof(struct scalar)) *
			 smaller(longest, MADE_AT_ONCE);
	return bytes;
}

/* What has to be left beside the points that stay. */
static uint64_t work_bytes(const struct gpu_srs *srs, bool made)
{
	uint64_t proof = quotient_bytes(srs) + WORK_MIN, loading = loading_bytes(srs, made);

	return proof > loading ? proof : loading;
}

/* How the memory of a device is divided that does not hold all points. */
struct division {
	uint64_t room;			/* without the witnesses that wait */
	uint64_t spare;			/* what a quotient leaves of it */
	bool early;			/* the first piece of h arrives beside the quotient */
	unsigned int kept;		/* of the others, in keep_order */
	uint64_t h_piece;		/* points of h sent at once */
	uint64_t cost;			/* of the sum over h, in additions */
};

/* Small ones first: their sums take less time than the way over the bus. */
static const enum cuda_vector keep_order[] = {
	CUDA_VECTOR_B1, CUDA_VECTOR_B2, CUDA_VECTOR_L, CUDA_VECTOR_A,
};

#define N_KEEP (sizeof(keep_order) / sizeof(keep_order[0]))

static bool may_stay(const struct gpu *gpu, enum cuda_vector v)
{
	return !(gpu->must_stream >> v & 1);
}

/* What the first `kept` of the others take; UINT64_MAX: one of them may not stay. */
static uint64_t kept_bytes(const struct gpu *gpu, const struct gpu_srs *srs, unsigned int kept)
{
	uint64_t sum = 0;
	unsigned int i;

	for (i = 0; i < kept; i++) {
		if (!may_stay(gpu, keep_order[i]))
			return UINT64_MAX;
		sum += vector_bytes(srs, keep_order[i]);
	}
	return sum;
}

/* The cheapest number of pieces of h, at least two. */
static void cut_h(const struct gpu *gpu, const struct gpu_srs *srs, struct division *d)
{
	uint64_t n = srs->n[CUDA_VECTOR_H], size = cuda_point_size(CUDA_G1), m, piece, taken, cost;
	uint64_t kept = kept_bytes(gpu, srs, d->kept);

	d->cost = UINT64_MAX;
	for (m = 2; m <= PIECES_MAX && kept <= d->spare; m++) {
		piece = (n + m - 1) / m;
		taken = kept + domain_bytes(srs) + 2 * piece * size;
		if (taken > d->room || (d->early && kept + piece * size > d->spare))
			continue;
		cost = cuda_pieces_cost(gpu->ctx, n, piece, d->room - taken);
		if (cost >= d->cost)
			continue;
		d->cost = cost;
		d->h_piece = piece;
	}
}

/*
 * h streamed: the pieces that make its sum the cheapest, and of the others as
 * many as stay without making it dearer by one in KEEP_PRICE.
 */
static void divide(const struct gpu *gpu, const struct gpu_srs *srs, struct division *best,
		   struct division d)
{
	uint64_t bound;

	*best = d;
	cut_h(gpu, srs, best);
	if (best->cost == UINT64_MAX) {
		/* too little for two pieces beside the sum: it is cut as it goes */
		best->early = false;
		cut_h(gpu, srs, best);
		if (best->cost == UINT64_MAX)
			best->h_piece = smaller(srs->n[CUDA_VECTOR_H], PIECE_MIN);
		return;
	}
	bound = best->cost + best->cost / KEEP_PRICE;
	for (d.kept = 1; d.kept <= N_KEEP; d.kept++) {
		cut_h(gpu, srs, &d);
		if (d.cost <= bound)
			*best = d;
	}
}

/* h on the device: of the others what fits. */
static unsigned int keep_others(const struct gpu *gpu, const struct gpu_srs *srs, uint64_t spare)
{
	unsigned int kept = 0;

	while (kept < N_KEEP && kept_bytes(gpu, srs, kept + 1) <= spare)
		kept++;
	return kept;
}

static void plan_streamed(const struct gpu *gpu, struct gpu_srs *srs, uint64_t room, bool made)
{
	uint64_t waiting, bytes = vector_bytes(srs, CUDA_VECTOR_H);
	struct division best, d = { .room = room, .early = true };
	unsigned int i, kept;

	srs->streamed = true;
	d.spare = less(room, work_bytes(srs, made));
	waiting = smaller(WAITING * witness_guess(srs), d.spare / 2);
	d.spare -= waiting;
	d.room -= waiting;
	/* the longest first: it alone is sent for every proof */
	if (bytes <= d.spare && may_stay(gpu, CUDA_VECTOR_H)) {
		srs->resident[CUDA_VECTOR_H] = true;
		kept = keep_others(gpu, srs, d.spare - bytes);
	} else {
		divide(gpu, srs, &best, d);
		srs->h_piece = best.h_piece;
		kept = best.kept;
	}
	for (i = 0; i < kept; i++)
		srs->resident[keep_order[i]] = true;
}

static void print_plan(struct gpu *gpu, const struct gpu_srs *srs, uint64_t device, uint64_t host)
{
	static const char *const names[CUDA_VECTOR_N] = { "h", "l", "a", "b1", "b2" };
	char line[512];
	int i, len;

	len = snprintf(line, sizeof(line), "gpu %s: parameters: %llu MiB on the device, %llu MiB "
		       "pinned on the host;", gpu->ctx->name, (unsigned long long)device >> 20,
		       (unsigned long long)host >> 20);
	for (i = 0; i < CUDA_VECTOR_N; i++)
		len += snprintf(line + len, sizeof(line) - (size_t)len, " %s %s%s", names[i],
				srs->resident[i] ? "stays" : "is streamed",
				i + 1 < CUDA_VECTOR_N ? "," : "");
	if (!srs->resident[CUDA_VECTOR_H])
		snprintf(line + len, sizeof(line) - (size_t)len, "; h in pieces of %llu MiB",
			 (unsigned long long)(srs->h_piece * cuda_point_size(CUDA_G1)) >> 20);
	device_log(gpu, srs->streamed || device >= LARGE ? LOG_INFO : LOG_DEBUG, line);
}

int cuda_plan(struct gpu *gpu, struct gpu_srs *srs, bool made)
{
	uint64_t room = cuda_arena_largest(gpu->ctx->arena), all = 0, host = 0;
	uint64_t vectors = quotient_bytes(srs);
	char line[256];
	int i;

	for (i = 0; i < CUDA_VECTOR_N; i++)
		all += vector_bytes(srs, i);
	if (vectors > room) {
		snprintf(line, sizeof(line), "gpu %s: proofs with these parameters take at least "
			 "%llu MiB of device memory, vram_budget leaves %llu MiB", gpu->ctx->name,
			 (unsigned long long)vectors >> 20, (unsigned long long)room >> 20);
		device_log(gpu, LOG_ERR, line);
		return -ENOMEM;
	}
	if (!gpu->must_stream && all + work_bytes(srs, made) + CUDA_VECTOR_N * ARENA_ALIGN <= room)
		for (i = 0; i < CUDA_VECTOR_N; i++)
			srs->resident[i] = true;
	else
		plan_streamed(gpu, srs, room, made);
	for (i = 0; i < CUDA_VECTOR_N; i++)
		host += srs->resident[i] ? 0 : vector_bytes(srs, i);
	if (device_host_reserve(gpu, host)) {
		snprintf(line, sizeof(line), "gpu %s: %llu MiB of parameters do not fit the device "
			 "and host_budget leaves %llu MiB for them", gpu->ctx->name,
			 (unsigned long long)host >> 20,
			 (unsigned long long)device_host_left(gpu) >> 20);
		device_log(gpu, LOG_ERR, line);
		return -ENOMEM;
	}
	srs->host_bytes = host;
	print_plan(gpu, srs, all - host, host);
	return 0;
}

unsigned int cuda_prove_batch(struct gpu *gpu, const struct gpu_cs *cs, const struct gpu_srs *srs)
{
	uint64_t witness = cuda_witness_bytes(cs), room, vectors = quotient_bytes(srs), n;
	const struct gpu_job *job;

	if (!srs->streamed)
		return 1;
	if (srs->batch)
		return srs->batch;
	room = cuda_arena_size(gpu->ctx->arena) - cuda_arena_used(gpu->ctx->arena);
	for (job = gpu->jobs; job; job = job->next)
		room += cuda_witness_bytes(job->cs);
	if (!srs->resident[CUDA_VECTOR_H])
		vectors += srs->h_piece * cuda_point_size(CUDA_G1);
	/* one more is started while these wait */
	n = less(room, vectors) / witness;
	return (unsigned int)(n < 2 ? 1 : smaller(n - 1, BATCH_MAX));
}
