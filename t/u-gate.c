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

/* One step of so long, which began before the gate closed. */
struct walk {
	unsigned int step_us, late_us;
	atomic_bool begun;
};

static void *walk(void *arg)
{
	struct gate_place place = { 0 };
	struct walk *w = arg;

	usleep(w->late_us);
	if (!w->late_us)
		gate_pass(&gate, &place);
	atomic_store(&w->begun, true);
	usleep(w->step_us);
	gate_pass(&gate, &place);
	return NULL;
}

static void test_two(void)
{
	struct walk walks[] = { { 2000, 0 }, { 100000, 0 }, { 0, 250000 } };
	pthread_t t[3];
	uint64_t longest;
	int i;

	for (i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, walk, &walks[i]);
	while (!atomic_load(&walks[0].begun) || !atomic_load(&walks[1].begun))
		usleep(100);
	gate_close(&gate);
	usleep(400000);
	gate_open(&gate);
	for (i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	longest = gate_longest_ns(&gate);
	ok(longest > 80000000, "of two threads the longer step counts, which was %.1f ms",
	   longest / 1e6);
	ok(longest < 240000000, "and what only began when it was closed does not");
}

int main(void)
{
	struct gate_place place = { 0 };

	gate_init(&gate);
	test(1);
	test(3);
	test_two();
	gate_pass(NULL, &place);
	gate_close(NULL);
	gate_open(NULL);
	gate_pass(&gate, &place);
	gate_close(&gate);
	gate_open(&gate);
	gate_pass(&gate, &place);
	ok(!gate_longest_ns(&gate), "what nobody reaches is not counted");
	gate_fini(&gate);
	return tap_done();
}
