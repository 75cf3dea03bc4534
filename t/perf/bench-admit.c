/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * bench-admit.c - how long a sector's output of commit phase 1 takes to admit
 *
 *	bench-admit C1.json [THREADS [ROUNDS]]
 *
 * The best of ROUNDS (default 5) calls of vanilla_admit(); the C1 is of sector 7 of miner 488, as
 * t/data/porep-32g has it.  With more threads than cores, the time of the first thread, which does
 * alone what cannot be divided, says what there is to wait for where cores are many.
 */
#include <errno.h>
#include <time.h>

#include "engine/vanilla/internal.h"
#include "t/vanilla-data.h"

static double clock_s(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return ts.tv_sec + ts.tv_nsec * 1e-9;
}

struct best {
	double wall, all, own;
};

static double smaller(double best, double x)
{
	return !best || x < best ? x : best;
}

int main(int argc, char **argv)
{
	struct cuzk_error err = { .size = sizeof(err) };
	struct cuzk_request req = {
		.size = sizeof(req), .kind = CUZK_KIND_POREP, .sector_number = 7, .miner_id = 488,
	};
	unsigned int threads = argc > 2 ? atoi(argv[2]) : 1, rounds = argc > 3 ? atoi(argv[3]) : 5;
	struct best best = { 0 };
	struct tpool *pool = NULL;
	double wall, all, own;
	size_t len, n;
	char *c1, *text;
	FILE *f;

	f = argc > 1 ? fopen(argv[1], "rb") : NULL;
	c1 = f ? read_stream(f, &len) : NULL;
	if (!c1 || tpool_open(&pool, threads)) {
		fprintf(stderr, "usage: bench-admit C1.json [THREADS [ROUNDS]]\n");
		return 2;
	}
	fclose(f);
	text = envelope(req.sector_number, c1, len, 0, &n);
	req.vanilla_proof = (struct cuzk_blob){ text, n };
	while (rounds--) {
		struct vanilla *v;

		wall = clock_s(CLOCK_MONOTONIC);
		all = clock_s(CLOCK_PROCESS_CPUTIME_ID);
		own = clock_s(CLOCK_THREAD_CPUTIME_ID);
		if (vanilla_admit(&req, pool, &v, NULL, &err)) {
			fprintf(stderr, "bench-admit: %s\n", err.text);
			return 1;
		}
		best.own = smaller(best.own, clock_s(CLOCK_THREAD_CPUTIME_ID) - own);
		best.all = smaller(best.all, clock_s(CLOCK_PROCESS_CPUTIME_ID) - all);
		best.wall = smaller(best.wall, clock_s(CLOCK_MONOTONIC) - wall);
		vanilla_free(v);
	}
	printf("%.1f MB, %u threads: wall %.1f ms, CPU of all %.1f ms, of the first %.1f ms\n",
	       len / 1e6, tpool_threads(pool), best.wall * 1e3, best.all * 1e3, best.own * 1e3);
	tpool_close(pool);
	free(c1);
	free(text);
	return 0;
}
