/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * u-supervise.c - instances that hang, crash, lie or do not start, and what is done about it
 *
 * Tests fault class "silent CPU fallback, GPU unused".
 * Tests fault class "locks and deadlocks".
 * Tests fault class "poisoned context, hang".
 */
#include <sys/stat.h>

#include "t/instance.h"

static char dir[] = "/tmp/u-supervise-XXXXXX";

/* A parameter "token = FILE" whose file exists: one fault, then none. */
static const char *one_fault(const char *more)
{
	static char text[512];
	static unsigned int n;
	int fd;

	snprintf(text, sizeof(text), "%s/token%u", dir, n);
	fd = open(text, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	if (fd >= 0)
		close(fd);
	snprintf(text, sizeof(text), "token = %s/token%u\n%s", dir, n++, more);
	return text;
}

/* After the fault: another child, which proves. */
static void check_recovery(struct record *r, uint64_t fault_ms)
{
	unsigned int good = r->n_good;
	uint64_t ready;
	bool proved;

	ok(wait_ready(r), "another child is ready");
	ready = now_ms() - fault_ms;
	ok(ready < 5000, "within 5 s of the fault: %llu ms", (unsigned long long)ready);
	proved = admit(r, 900, 1) && !instance_prove(r->inst, 900, 3, 900, false) &&
		 WAIT_FOR(r, r->n_good > good);
	ok(proved, "and proves");
}

static void test_hang(const char *how, const char *engine)
{
	struct record *r = open_record("null", "", one_fault(engine));
	struct instance_status s;
	uint64_t begin;

	ok(wait_ready(r) && admit(r, 1, 1), "%s", how);
	begin = now_ms();
	instance_prove(r->inst, 1, 0, 11, false);
	instance_prove(r->inst, 1, 1, 12, false);
	ok(WAIT_FOR(r, r->n_died) && r->death == INSTANCE_DEATH_STUCK &&
	   r->n_states[INSTANCE_STUCK] == 1, "ended as stuck: %s", r->reason);
	ok(strstr(r->reason, "partition 0 stuck in stage ntt") == r->reason,
	   "the reason names partition and stage");
	ok(now_ms() - begin < 3000, "limit and grace are kept: %d ms", (int)(now_ms() - begin));
	ok(r->n_flight == 2 && r->flight[0].tag == 11 && r->flight[0].started &&
	   r->flight[1].tag == 12 && !r->flight[1].started,
	   "what it had comes back; the waiting one bears no guilt");
	ok(instance_prove(r->inst, 1, 0, 13, false) == -EAGAIN, "its tasks are gone");
	check_recovery(r, now_ms());
	instance_status(r->inst, &s);
	ok(s.faults == 1 && s.starts == 2, "one fault is on the record");
	close_record(r);
}

/* A main loop that does not act on a limit is to be ended by the watchdog; one that does, is not. */
static void test_alive(void)
{
	struct record *r = open_record("null", "", one_fault("hang_every = 1\n"));
	struct instance_flight flight;
	uint64_t begin;

	ok(wait_ready(r) && admit(r, 1, 1) && instance_alive(r->inst), "idle: alive");
	instance_prove(r->inst, 1, 0, 11, false);
	ok(WAIT_FOR(r, instance_flights(r->inst, &flight, 1) == 1 &&
		       flight.stage == CUZK_STAGE_NTT) &&
	   instance_alive(r->inst), "busy: alive");
	for (begin = now_ms(); instance_alive(r->inst) && now_ms() < begin + 30000;)
		usleep(50000);
	ok(!instance_alive(r->inst), "not when its limit has passed for %d ms and nobody acts on it",
	   (int)(now_ms() - begin));
	ok(WAIT_FOR(r, r->n_died) && r->death == INSTANCE_DEATH_STUCK && instance_alive(r->inst),
	   "alive as soon as somebody does");
	check_recovery(r, now_ms());
	close_record(r);
}

/* A stage over its limit that moves is slow, not stuck. */
static void test_slow(void)
{
	struct record *r = open_record("null", "stage_limit_witness = 100ms\n",
				       "delay_ms = 4800\n");

	ok(wait_ready(r) && admit(r, 1, 1), "a slow instance with stages of 400 ms");
	instance_prove(r->inst, 1, 0, 1, false);
	ok(WAIT_FOR(r, r->n_completed || r->n_died) && r->n_good == 1,
	   "a stage over its limit that moves may go on");
	ok(r->result.stage_ns[CUZK_STAGE_NTT] > 300000000, "times of stages arrive");
	close_record(r);
}

static void test_crash(void)
{
	struct record *r = open_record("null", "", one_fault("crash_every = 1\n"));

	ok(wait_ready(r) && admit(r, 1, 1), "a crash");
	instance_prove(r->inst, 1, 4, 11, false);
	ok(WAIT_FOR(r, r->n_died) && r->death == INSTANCE_DEATH_CRASHED && r->n_flight == 1 &&
	   r->flight[0].partition == 4 && r->flight[0].started && !r->n_completed,
	   "is told with the partition: %s", r->reason);
	ok(!strcmp(r->reason, "killed by signal SEGV"), "and the signal");
	check_recovery(r, now_ms());
	close_record(r);
}

static void test_exit(void)
{
	struct record *r = open_record("null", "", one_fault("exit_every = 1\n"));

	ok(wait_ready(r) && admit(r, 1, 1), "an engine that calls exit");
	instance_prove(r->inst, 1, 0, 11, false);
	ok(WAIT_FOR(r, r->n_died) && r->death == INSTANCE_DEATH_CRASHED && r->n_flight == 1,
	   "is a crash: %s", r->reason);
	check_recovery(r, now_ms());
	close_record(r);
}

static void test_killed(void)
{
	struct record *r = open_record("null", "", "delay_ms = 5000\n");

	ok(wait_ready(r) && admit(r, 1, 1), "a kill from outside");
	instance_prove(r->inst, 1, 0, 11, false);
	WAIT_FOR(r, r->n_heartbeats);
	signal_child(r, SIGKILL);
	ok(WAIT_FOR(r, r->n_died) && r->death == INSTANCE_DEATH_KILLED && r->n_flight == 1 &&
	   !strncmp(r->reason, "killed by signal KILL, as the kernel", 36), "comes back: %s",
	   r->reason);
	ok(wait_ready(r), "and it restarts");
	close_record(r);
}

/* A process that is stopped answers nothing, not even SIGTERM. */
static void test_stopped(void)
{
	struct record *r = open_record("null", "stage_limit = 300ms\n", "");

	ok(wait_ready(r) && admit(r, 1, 1), "a process that is stopped");
	signal_child(r, SIGSTOP);
	instance_prove(r->inst, 1, 0, 11, false);
	ok(WAIT_FOR(r, r->n_died || r->n_completed) && r->n_died &&
	   r->death == INSTANCE_DEATH_STUCK && r->n_flight == 1 && !r->flight[0].started,
	   "is ended by SIGKILL: %s", r->reason);
	check_recovery(r, now_ms());
	close_record(r);
}

static void test_sticky(void)
{
	struct record *r = open_record("null", "", one_fault("sticky_every = 1\n"));

	ok(wait_ready(r) && admit(r, 1, 1), "a lost device");
	instance_prove(r->inst, 1, 0, 11, false);
	instance_prove(r->inst, 1, 1, 12, false);
	ok(WAIT_FOR(r, r->n_died) && r->death == INSTANCE_DEATH_STICKY,
	   "ends the child: %s", r->reason);
	ok(r->n_completed == 1 && r->tag == 11 && r->result.cls == CUZK_ERROR_DEVICE &&
	   r->result.sticky && r->n_flight == 1 && r->flight[0].tag == 12,
	   "the partition that met it failed, the other comes back");
	check_recovery(r, now_ms());
	close_record(r);
}

static void test_invalid(void)
{
	struct record *r = open_record("null", "", one_fault("invalid_every = 1\ndelay_ms = 100\n"));
	struct instance_status s;

	ok(wait_ready(r) && admit(r, 1, 1), "a proof that does not verify");
	instance_prove(r->inst, 1, 0, 11, false);
	instance_prove(r->inst, 1, 1, 12, false);
	ok(WAIT_FOR(r, r->n_died) && r->death == INSTANCE_DEATH_RECYCLED && !r->n_flight,
	   "recycles the child when it has finished what it had: %s", r->reason);
	ok(r->n_completed == 2 && r->n_good == 1, "one failed, the other is right");
	instance_status(r->inst, &s);
	ok(s.invalid == 1 && s.faults == 1, "and is a fault");
	check_recovery(r, now_ms());
	instance_recycle(r->inst);
	ok(WAIT_FOR(r, r->n_died == 2) && wait_ready(r), "a recycle on request");
	instance_status(r->inst, &s);
	ok(s.faults == 1 && s.starts == 3, "is none");
	close_record(r);
}

static void test_twice(void)
{
	struct record *r = open_record("null", "", one_fault("twice_every = 1\n"));

	ok(wait_ready(r) && admit(r, 1, 1), "an engine that completes twice");
	instance_prove(r->inst, 1, 0, 11, false);
	ok(WAIT_FOR(r, r->n_died) && r->death == INSTANCE_DEATH_PROTOCOL && r->n_good == 1 &&
	   r->n_completed == 1, "is heard once and ended: %s", r->reason);
	check_recovery(r, now_ms());
	close_record(r);
}

static void test_wrong(void)
{
	struct record *r = open_record("null", "", "wrong_every = 2\n");

	ok(wait_ready(r) && admit(r, 1, 1), "an engine that lies");
	instance_prove(r->inst, 1, 0, 1, false);
	instance_prove(r->inst, 1, 1, 2, false);
	ok(WAIT_FOR(r, r->n_completed == 2) && r->n_good == 1 && !r->result.status,
	   "gives one wrong proof of two (which this host cannot see)");
	close_record(r);
}

static void test_errors(void)
{
	static const struct {
		const char *name;
		uint32_t cls;
	} classes[] = {
		{ "input", CUZK_ERROR_INPUT }, { "params", CUZK_ERROR_PARAMS },
		{ "device", CUZK_ERROR_DEVICE }, { "resource", CUZK_ERROR_RESOURCE },
		{ "deadline", CUZK_ERROR_DEADLINE }, { "internal", CUZK_ERROR_INTERNAL },
	};
	char text[128];
	unsigned int i;

	for (i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
		struct record *r;

		snprintf(text, sizeof(text), "fail_every = 1\nfail_class = %s\n", classes[i].name);
		r = open_record("null", "", text);
		ok(wait_ready(r) && admit(r, 1, 1) && !instance_prove(r->inst, 1, 0, 1, false) &&
		   WAIT_FOR(r, r->n_completed) && r->result.cls == classes[i].cls && !r->n_died,
		   "a failure of class %s arrives as one", classes[i].name);
		close_record(r);
	}
}

static void test_admission(const char *how, const char *engine, enum instance_death death)
{
	struct record *r = open_record("null", "admit_limit = 300ms\n", engine);
	int fd;

	ok(wait_ready(r), "admission that %s", how);
	fd = make_request(r, 66);
	instance_admit(r->inst, 1, fd, false);
	instance_admit(r->inst, 2, fd, false);
	close(fd);
	ok(WAIT_FOR(r, r->n_died) && r->death == death, "ends the child: %s", r->reason);
	check_recovery(r, now_ms());
	close_record(r);
}

/* Faults before it is ready, again and again. */
static void test_start(const char *how, const char *engine, enum instance_death death)
{
	struct record *r = open_record("null", "quarantine_faults = 3\nstart_limit = 300ms\n",
				       engine);
	struct instance_status s;

	ok(WAIT_FOR(r, r->state == INSTANCE_QUARANTINED) && r->death == death && r->n_died == 3,
	   "%s: three times, then quarantine: %s", how, r->reason);
	instance_status(r->inst, &s);
	ok(s.faults == 3 && s.recent_faults == 3 && !s.pid && *s.reason &&
	   instance_admit(r->inst, 1, 0, false) == -EAGAIN, "%s: it stays down", how);
	if (death == INSTANCE_DEATH_PROBE) {
		instance_restart(r->inst);
		ok(WAIT_FOR(r, r->n_died == 6), "an operator may ask for more of it");
	}
	close_record(r);
}

static void test_load(const char *what, const char *library, const char *global,
		      const char *engine, enum instance_death death, const char *reason)
{
	struct record *r = open_record(library, global, engine);

	ok(WAIT_FOR(r, r->n_died && r->state != INSTANCE_STARTING) && r->death == death &&
	   strstr(r->reason, reason), "%s: %s", what, r->reason);
	ok(r->state == (death == INSTANCE_DEATH_LOAD ? INSTANCE_QUARANTINED : INSTANCE_FAILED),
	   "%s: %s", what, instance_state_name(r->state));
	close_record(r);
}

/* The commented skeleton loads and opens; that it cannot prove is its self-test's word. */
static void test_skeleton(void)
{
	char cwd[2048], lib[3072];

	if (!getcwd(cwd, sizeof(cwd)))
		return;
	snprintf(lib, sizeof(lib), "%s/.libs/skeleton.so",
		 *build_dir() == '/' ? build_dir() : cwd);
	test_load("the skeleton", lib, "", "window = 12\n", INSTANCE_DEATH_SELF_TEST,
		  "self-test: skeleton: this is the skeleton, it cannot prove");
}

static const char *script(const char *name, const char *text)
{
	static char global[512];
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "we");
	if (f) {
		fprintf(f, "#!/bin/sh\n%s\n", text);
		fclose(f);
	}
	chmod(path, 0700);
	snprintf(global, sizeof(global), "start_limit = 300ms\ninstance_program = %s\n", path);
	return global;
}

static void test_programs(void)
{
	test_load("no program", "null", "instance_program = /nonexistent\n", "",
		  INSTANCE_DEATH_SPAWN, "cannot start /nonexistent: No such file");
	test_load("a program that cannot run", "null", script("a", "exit 3"), "",
		  INSTANCE_DEATH_CRASHED, "ended with status 3");
	test_load("a program that talks nonsense", "null", script("b", "echo hello >&3; sleep 9"),
		  "", INSTANCE_DEATH_PROTOCOL, "unreadable message");
	test_load("a program that says nothing", "null", script("c", "exec sleep 9"), "",
		  INSTANCE_DEATH_STUCK, "starting stuck");
	test_load("a program that ignores SIGTERM", "null",
		  script("d", "trap '' TERM; sleep 9; sleep 9"), "", INSTANCE_DEATH_STUCK,
		  "starting stuck");
	test_load("a program of another version", "null",
		  script("e", "printf 'ckzw\\100\\0\\0\\0\\11\\0\\0\\0\\0\\0\\0\\0"
			 "\\0\\0\\0\\0\\0\\0\\0\\0' >&3; sleep 9"),
		  "", INSTANCE_DEATH_LOAD, "speaks version 9 of the instance protocol, not 4");
	test_load("a program that closes its socket", "null", script("f", "exec 3>&-; sleep 9"),
		  "", INSTANCE_DEATH_CRASHED, "closed its connection");
}

/* Processes that an engine started do not outlive it. */
static void test_strays(void)
{
	char text[512], path[256];
	struct record *r;
	unsigned int i;
	long pid = 0;
	FILE *f;

	snprintf(text, sizeof(text), "sleep 99 & echo $! > %s/stray; kill -9 $$", dir);
	r = open_record("null", script("g", text), "");
	ok(WAIT_FOR(r, r->n_died) && r->death == INSTANCE_DEATH_KILLED, "a program with a child: %s",
	   r->reason);
	snprintf(path, sizeof(path), "%s/stray", dir);
	f = fopen(path, "re");
	if (f) {
		if (fscanf(f, "%ld", &pid) != 1)
			pid = 0;
		fclose(f);
	}
	snprintf(path, sizeof(path), "/proc/%ld/cmdline", pid);
	for (i = 0; i < 100; i++) {
		/* gone, or dead and waiting for its new parent */
		f = fopen(path, "re");
		if (!f || fgetc(f) == EOF)
			break;
		fclose(f);
		usleep(20000);
	}
	ok(pid > 1 && i < 100, "takes it along");
	if (f)
		fclose(f);
	close_record(r);
}

static void test_check(void)
{
	struct config *cfg = make_config("null", "", "delay_ms = 5\n");

	ok(!instance_check(&cfg->engines[0], &cfg->global, print_report, NULL),
	   "--check of a good engine section");
	config_free(cfg);
}

struct lines {
	char text[4096];
};

static void collect(void *ctx, const char *line)
{
	struct lines *l = ctx;
	size_t len = strlen(l->text);

	snprintf(l->text + len, sizeof(l->text) - len, "%s\n", line);
}

static void test_check_bad(void)
{
	struct config *cfg = make_config("null", "", "delay_ms = x\nnonsense = 1\nlanes = 65\n"
					 "ignore_cancel = maybe\ntoken = tok\nreserve = 1X\n");
	struct lines l = { "" };

	ok(instance_check(&cfg->engines[0], &cfg->global, collect, &l) == -EINVAL &&
	   !strcmp(l.text,
		   "t.conf:11: the engine has no parameter nonsense\n"
		   "t.conf:10: delay_ms: 'x' is not a number\n"
		   "t.conf:12: lanes: '65' is out of range (1 to 64)\n"
		   "t.conf:15: reserve: '1X' is not a size (a number, with K, M, G or T behind)\n"
		   "t.conf:14: token: 'tok' is not an absolute path\n"
		   "t.conf:13: ignore_cancel: 'maybe' is not yes or no\n"),
	   "--check names each wrong parameter with its line");
	config_free(cfg);
	cfg = make_config("/nonexistent.so", "", "");
	l.text[0] = '\0';
	ok(instance_check(&cfg->engines[0], &cfg->global, collect, &l) == -EINVAL &&
	   !strcmp(l.text, "t.conf:9: /nonexistent.so: No such file or directory\n"),
	   "--check of a library that is not there");
	config_free(cfg);
}

int main(void)
{
	char path[128];

	if (!mkdtemp(dir))
		return 1;
	test_hang("a hang", "hang_every = 1\n");
	test_hang("a hang with heartbeats", "hang_every = 1\nhang_beats = yes\n");
	test_hang("a hang that ignores cancel", "hang_every = 1\nignore_cancel = yes\n");
	test_alive();
	test_slow();
	test_crash();
	test_exit();
	test_killed();
	test_stopped();
	test_sticky();
	test_invalid();
	test_twice();
	test_wrong();
	test_errors();
	test_admission("hangs", "hang_admit_sector = 66\n", INSTANCE_DEATH_STUCK);
	test_admission("crashes", "crash_admit_sector = 66\n", INSTANCE_DEATH_CRASHED);
	test_start("a wrong known answer", "fail_self_test = yes\n", INSTANCE_DEATH_SELF_TEST);
	test_start("a self-test that hangs", "hang_self_test = yes\n", INSTANCE_DEATH_STUCK);
	test_start("no device", "fail_probe = yes\n", INSTANCE_DEATH_PROBE);
	test_start("a crash in probe", "abort_probe = yes\n", INSTANCE_DEATH_CRASHED);
	test_start("a hang in probe", "hang_probe = yes\n", INSTANCE_DEATH_STUCK);
	test_load("no library", "/nonexistent.so", "", "", INSTANCE_DEATH_LOAD,
		  "t.conf:9: /nonexistent.so: No such file");
	test_load("a wrong parameter", "null", "", "delay_ms = x\n", INSTANCE_DEATH_LOAD,
		  "t.conf:9: engine e: parameters are wrong");
	test_skeleton();
	test_programs();
	test_strays();
	test_check();
	test_check_bad();
	snprintf(path, sizeof(path), "rm -r %s", dir);
	ok(!system(path), "clean up");
	return tap_done();
}
