/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* u-urgent.c - a partition that is proved beside others in one instance */
#include "t/instance.h"

#define URGENT 100	/* tag; those of the others are smaller */

/* An instance with task 1, and task 2 for the same request. */
static struct record *start(const char *engine)
{
	struct record *r = open_record("null", "stage_limit_params = 300ms\n"
				       "stage_limit_witness = 300ms\n", engine);

	if (!wait_ready(r) || !admit(r, 1, 7) || !admit(r, 2, 7))
		ok(false, "an instance with two tasks: %s", r->reason);
	return r;
}

static bool is_started(struct record *r, uint64_t tag)
{
	struct instance_flight f[INSTANCE_FLIGHT_MAX];
	int n = instance_flights(r->inst, f, INSTANCE_FLIGHT_MAX), i;

	for (i = 0; i < n; i++)
		if (f[i].tag == tag)
			return f[i].started;
	return false;
}

/* Partition 0 of task 1 is being proved, partition 1 of task 2 is sent as urgent. */
static struct record *start_both(const char *engine)
{
	struct record *r = start(engine);

	instance_prove(r->inst, 1, 0, 1, false);
	if (!WAIT_FOR(r, is_started(r, 1)) ||
	    instance_prove(r->inst, 2, 1, URGENT, true))
		ok(false, "both are sent");
	return r;
}

static void test_beside(void)
{
	uint64_t t = now_ms();
	struct record *r = start_both("delay_ms = 3000\nurgent_delay_ms = 100\n");
	struct instance_status s;

	ok(instance_takes_urgent(r->inst), "the engine takes urgent partitions");
	ok(WAIT_FOR(r, r->n_completed == 1) && r->tag == URGENT && r->n_good == 1,
	   "the urgent one is done first, and right");
	instance_status(r->inst, &s);
	ok(now_ms() - t < 2500 && s.flights == 1 && is_started(r, 1),
	   "after %llu ms, while the other is under way", (unsigned long long)(now_ms() - t));
	ok(WAIT_FOR(r, r->n_completed == 2) && r->tag == 1 && r->n_good == 2,
	   "which ends as well");
	ok(now_ms() - t >= 3000, "no sooner than it can");
	instance_stop(r->inst);
	ok(WAIT_FOR(r, r->state == INSTANCE_STOPPED) && r->death == INSTANCE_DEATH_STOPPED,
	   "an orderly end: %s", r->reason);
	close_record(r);
}

/* Its limits are 300 ms, with 500 for the heartbeat: as it stands aside it may rest longer. */
static void test_aside(void)
{
	struct record *r = start_both("delay_ms = 600\nurgent_delay_ms = 4800\n");

	ok(WAIT_FOR(r, r->n_completed == 2 || r->n_died) && !r->n_died && r->n_good == 2,
	   "what stands aside is not taken for stuck: %s", r->reason);
	close_record(r);
}

static void test_hang(void)
{
	struct record *r = start_both("delay_ms = 60000\nurgent_delay_ms = 0\n"
				      "hang_every = 2\nhang_beats = yes\n");

	ok(WAIT_FOR(r, r->n_died == 1) && r->death == INSTANCE_DEATH_STUCK && r->n_flight == 2 &&
	   r->flight[0].started && r->flight[1].started,
	   "an urgent one that hangs takes both down: %s", r->reason);
	close_record(r);
}

static void test_crash(void)
{
	struct record *r = start_both("delay_ms = 1000\nurgent_delay_ms = 50\ncrash_every = 2\n");

	ok(WAIT_FOR(r, r->n_died == 1) && r->death == INSTANCE_DEATH_CRASHED && r->n_flight == 2 &&
	   r->flight[0].started && r->flight[1].started,
	   "after a crash both are given back: %s", r->reason);
	ok(wait_ready(r) && admit(r, 3, 7) && !instance_prove(r->inst, 3, 4, 5, true) &&
	   WAIT_FOR(r, r->n_completed == 1) && r->n_good == 1, "the next child proves again");
	close_record(r);
}

static void test_cancel(void)
{
	struct record *r = start_both("delay_ms = 1500\nurgent_delay_ms = 60000\n");

	WAIT_FOR(r, is_started(r, URGENT));
	/* behind it waits another, which has not begun */
	instance_prove(r->inst, 2, 2, URGENT + 1, true);
	instance_cancel(r->inst, URGENT + 1);
	ok(WAIT_FOR(r, r->n_completed == 1) && r->tag == URGENT + 1 &&
	   r->result.status == -ECANCELED, "one that waits is cancelled");
	instance_cancel(r->inst, URGENT);
	ok(WAIT_FOR(r, r->n_completed == 2) && r->tag == URGENT && r->result.status == -ECANCELED &&
	   r->result.cls == CUZK_ERROR_CANCELLED, "one that is proved too: %s", r->result.text);
	ok(WAIT_FOR(r, r->n_completed == 3) && r->n_good == 1, "the other goes on");
	close_record(r);
}

/* An engine that cannot do it just now: first in the queue. */
static void test_refused(void)
{
	struct record *r = start("delay_ms = 400\nrefuse_urgent = yes\n");

	instance_prove(r->inst, 1, 0, 1, false);
	instance_prove(r->inst, 1, 1, 2, false);
	instance_prove(r->inst, 1, 2, 3, false);
	WAIT_FOR(r, is_started(r, 1));
	instance_prove(r->inst, 2, 3, URGENT, true);
	/* the engine has 1; the owner has offered 2 in vain */
	ok(WAIT_FOR(r, r->n_completed == 1) && r->tag == 1, "what the engine has is done first");
	ok(WAIT_FOR(r, r->n_completed == 2) && r->tag == URGENT && r->n_good == 2,
	   "then the urgent one, before what waited");
	ok(WAIT_FOR(r, r->n_completed == 4) && r->n_good == 4, "and all are right");
	close_record(r);
}

/* Admission of what is urgent does not wait for another's. */
static void test_admit(void)
{
	struct record *r = open_record("null", "", "hang_admit_sector = 5\n");
	int slow, fast;

	wait_ready(r);
	slow = make_request(r, 5);
	fast = make_request(r, 6);
	instance_admit(r->inst, 1, slow, false);
	instance_admit(r->inst, 2, fast, true);
	close(slow);
	close(fast);
	ok(WAIT_FOR(r, r->n_admitted == 1) && !instance_prove(r->inst, 2, 3, URGENT, true) &&
	   WAIT_FOR(r, r->n_completed == 1) && r->n_good == 1,
	   "an urgent request is admitted and proved while another hangs in admission");
	close_record(r);
}

int main(void)
{
	test_beside();
	test_aside();
	test_hang();
	test_crash();
	test_cancel();
	test_refused();
	test_admit();
	return tap_done();
}
