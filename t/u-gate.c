/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* u-gate.c - loops of a pool that stand aside while a gate is closed */
#include <unistd.h>

#include "lib/gate.h"
#include "lib/tpool.h"
#include "t/tap.h"

#define ITEMS 200

static struct gate gate;
static struct tpool *pool;
static atomic_uint done;

static void item(void *arg, size_t i, unsigned int thread)
{
	usleep(2000);
	atomic_fetch_add(&done, 1);
}

static void *loop(void *arg)
{
	tpool_run(arg, item, NULL, ITEMS);
	return NULL;
}

static void test(unsigned int threads)
{
	unsigned int before, i, moved = 0;
	uint64_t longest;
	pthread_t t;

	atomic_store(&done, 0);
	if (tpool_open(&pool, threads))
		abort();
	tpool_set_gate(pool, &gate);
	gate_longest_ns(&gate);
	pthread_create(&t, NULL, loop, pool);
	usleep(20000);
	for (i = 0; i < 5; i++) {
		gate_close(&gate);
		gate_close(&gate);
		usleep(50000);
		before = atomic_load(&done);
		usleep(50000);
		moved += atomic_load(&done) != before;
		gate_open(&gate);
		usleep(20000);
		moved += atomic_load(&done) != before;
		gate_open(&gate);
		usleep(10000);
	}
	ok(!moved && before && before < ITEMS, "%u threads: nothing moves while it is closed",
	   threads);
	pthread_join(t, NULL);
	ok(atomic_load(&done) == ITEMS, "and every item is done");
	longest = gate_longest_ns(&gate);
	ok(longest && longest < 1000000000 && !gate_longest_ns(&gate),
	   "one stood aside after %.1f ms at most", longest / 1e6);
	tpool_close(pool);
}

int main(void)
{
	gate_init(&gate);
	test(1);
	test(3);
	gate_pass(NULL);
	gate_close(NULL);
	gate_open(NULL);
	gate_close(&gate);
	gate_open(&gate);
	gate_pass(&gate);
	ok(!gate_longest_ns(&gate), "what nobody reaches is not counted");
	gate_fini(&gate);
	return tap_done();
}
