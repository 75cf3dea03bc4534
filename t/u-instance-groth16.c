/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * u-instance-groth16.c - the real engine in an instance: a proof, a kill, a damaged input
 *
 * Parameters for a 2 KiB WinningPoSt are made for this test, in seconds.  The
 * engine verifies each proof before it gives it out; what is tested here is the
 * way from a request's memory file to a proof and back, through faults.
 */
#include <sys/stat.h>

#include "t/instance.h"

#define PROOFS 4

static char dir[] = "/tmp/u-instance-groth16-XXXXXX";
static uint8_t vanilla[1 << 17];
static size_t vanilla_len;

static const uint8_t randomness[32] = {
	0x1f, 0x89, 0x35, 0xd3, 0x01, 0x2a, 0x3b, 0x63, 0xfd, 0xeb, 0x83, 0x11, 0xfb, 0x60, 0x20,
	0xae, 0xb1, 0xe8, 0x2b, 0x2e, 0x5f, 0xe6, 0xcd, 0x96, 0xfa, 0x2e, 0x70, 0x96, 0xf4, 0x0b,
	0xcc, 0x17,
};

static int pack(uint64_t miner)
{
	struct cuzk_blob proof = { vanilla, vanilla_len };
	struct cuzk_request rq = {
		.size = sizeof(rq), .kind = CUZK_KIND_WINNING_POST, .sector_size = 2048,
		.registered_proof = 0, .miner_id = miner, .vanilla_proofs = &proof,
		.n_vanilla_proofs = 1, .randomness = { randomness, sizeof(randomness) },
	};
	int fd = -1;

	request_pack(&rq, &fd);
	return fd;
}

static bool admit_winning(struct record *r, uint64_t task)
{
	unsigned int before = r->n_admitted, refused = r->n_refused;
	int fd = pack(488), err;

	err = instance_admit(r->inst, task, fd, false);
	close(fd);
	return !err && WAIT_FOR(r, r->n_admitted > before || r->n_refused > refused) &&
	       r->n_admitted > before;
}

static bool prove(struct record *r, uint64_t task, uint64_t tag)
{
	unsigned int before = r->n_completed;
	uint64_t end = now_ms() + 120000;

	if (instance_prove(r->inst, task, 0, tag, false))
		return false;
	while (r->n_completed == before && !r->n_died && now_ms() < end)
		turn(r);
	return r->n_completed > before && !r->result.status;
}

static const struct cuzk_circuit *circuit(const struct record *r, const char *id)
{
	int i;

	for (i = 0; i < r->circuits_len; i++) {
		if (!strcmp(r->circuits[i].id, id))
			return &r->circuits[i];
	}
	return NULL;
}

static void test_proofs(struct record *r)
{
	struct instance_status s;
	uint8_t first[CUZK_PARTITION_PROOF_SIZE];
	uint64_t rss[PROOFS] = { 0 };
	unsigned int i, good = 0, same = 0;

	ok(admit_winning(r, 1) && r->plan.n_partitions == 1 &&
	   !strcmp(r->plan.circuit, "winning-2k"), "a real request is admitted: %s",
	   r->refusal.text);
	ok(!prove(r, 1, 9) && r->result.cls == CUZK_ERROR_RESOURCE,
	   "a budget too small is said, not exceeded: %s", r->result.text);
	instance_set_host_budget(r->inst, 1ull << 31);
	for (i = 0; i < PROOFS; i++) {
		uint64_t until;

		good += prove(r, 1, 10 + i);
		if (i)
			same += !memcmp(first, r->result.proof, sizeof(first));
		memcpy(first, r->result.proof, sizeof(first));
		/* the child reports its memory once a second */
		for (until = now_ms() + 1300; now_ms() < until;)
			turn(r);
		instance_status(r->inst, &s);
		rss[i] = s.resident;
	}
	ok(good == PROOFS, "%u proofs, verified: %s", good, r->result.text);
	ok(!same, "no two are equal: each has randomness of its own");
	ok(r->result.stage_ns[CUZK_STAGE_MSM_H] && r->result.stage_ns[CUZK_STAGE_VERIFY],
	   "times of stages arrive");
	ok(r->n_heartbeats > PROOFS, "heartbeats too: %u", r->n_heartbeats);
	/* allocators settle during the first ones */
	ok(s.host_peak >= s.host_reserved && s.host_reserved > 40 << 20 && s.n_memory >= 2,
	   "reservations have names: %u of %llu KiB", s.n_memory,
	   (unsigned long long)s.host_reserved >> 10);
	ok(rss[PROOFS - 1] && rss[PROOFS - 1] <= rss[1] + rss[1] / 10,
	   "resident memory stays: %llu, %llu, %llu, %llu KiB", (unsigned long long)rss[0] >> 10,
	   (unsigned long long)rss[1] >> 10, (unsigned long long)rss[2] >> 10,
	   (unsigned long long)rss[3] >> 10);
}

static void test_kill(struct record *r)
{
	unsigned int beats = r->n_heartbeats;

	instance_prove(r->inst, 1, 0, 50, false);
	WAIT_FOR(r, r->n_heartbeats > beats || r->tag == 50);
	signal_child(r, SIGKILL);
	ok(WAIT_FOR(r, r->n_died == 1) && r->death == INSTANCE_DEATH_KILLED &&
	   (r->n_flight == 1 || r->tag == 50), "killed while it proves: %s", r->reason);
	ok(wait_ready(r) && admit_winning(r, 1), "another child takes the request");
	r->n_died = 0;
	ok(prove(r, 1, 51), "and proves it");
}

static void test_bad(struct record *r)
{
	vanilla[vanilla_len / 2] ^= 1;
	ok(!admit_winning(r, 2) && r->refusal.cls == CUZK_ERROR_INPUT,
	   "one flipped bit is refused at admission: %s", r->refusal.text);
	vanilla[vanilla_len / 2] ^= 1;
}

static bool make_params(void)
{
	char command[8192];

	snprintf(command, sizeof(command), "'%s/cuzk-instance' --command '%s/.libs/groth16.so' "
		 "params make winning-2k --out '%s' > '%s/log' 2>&1", build_dir(), build_dir(), dir,
		 dir);
	return !system(command);
}

int main(void)
{
	char lib[4096], keys[4096];
	const struct cuzk_circuit *c;
	struct record *r;
	FILE *f;

	/* AddressSanitizer would keep 256 MiB of what the instance freed: memory would not stay */
	setenv("ASAN_OPTIONS", "quarantine_size_mb=1", 0);
	if (*build_dir() != '/')
		setenv("CUZK_BUILDDIR", getcwd(lib, sizeof(lib)), 1);
	f = fopen(data_path("winning-2k/winning-2k-1.vanilla"), "re");
	if (!f) {
		skip("golden", "no golden data");
		return tap_done();
	}
	vanilla_len = fread(vanilla, 1, sizeof(vanilla), f);
	fclose(f);
	if (!mkdtemp(dir))
		return 1;
	ok(make_params(), "an operator's command makes parameters, without a service");
	snprintf(lib, sizeof(lib), "%s/.libs/groth16.so", build_dir());
	snprintf(keys, sizeof(keys), "params_dir = %s\n", dir);
	r = open_record(lib, "heartbeat_limit = 60s\nstage_limit = 60s\n", keys);
	ok(wait_ready(r), "the real engine passes its self-test: %s", r->reason);
	c = circuit(r, "winning-2k");
	ok(c && c->state >= CUZK_PARAMS_COLD, "its parameters are found: %s", c ? c->reason : "?");
	c = circuit(r, "porep-32g");
	ok(c && c->state == CUZK_PARAMS_ABSENT && c->reason[0], "absent ones are named");
	test_proofs(r);
	test_kill(r);
	test_bad(r);
	instance_stop(r->inst);
	ok(WAIT_FOR(r, r->state == INSTANCE_STOPPED) && r->death == INSTANCE_DEATH_STOPPED,
	   "an orderly end: %s", r->reason);
	close_record(r);
	snprintf(lib, sizeof(lib), "rm -r %s", dir);
	ok(!system(lib), "clean up");
	return tap_done();
}
