/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * u-instance.c - an instance at work on the null engine
 *
 * Tests fault class "wrong GPU".
 */
#include <dirent.h>
#include <sys/stat.h>

#include "plugin/instance-private.h"
#include "t/instance.h"

static void test_prove(void)
{
	struct record *r = open_record("null", "", "");
	struct instance_status s;
	uint32_t p;

	ok(instance_state(r->inst) == INSTANCE_STARTING && !r->n_states[INSTANCE_STARTING],
	   "opening calls nothing back");
	ok(instance_admit(r->inst, 1, 0, false) == -EAGAIN && instance_prove(r->inst, 1, 0, 1, false) == -EAGAIN,
	   "no work before it is ready");
	ok(wait_ready(r), "it becomes ready");
	ok(r->n_states[INSTANCE_STARTING] == 1 && r->n_states[INSTANCE_READY] == 1 &&
	   r->circuits_len == 4 && r->circuits[0].state == CUZK_PARAMS_COLD,
	   "states and circuits are told");
	instance_status(r->inst, &s);
	ok(!strcmp(s.engine_name, "null") && s.caps & CUZK_CAP_CANCEL && s.pid > 0 && s.starts == 1,
	   "status knows engine and process");

	ok(admit(r, 7, 1) && r->plan.n_partitions == 10 && !strcmp(r->plan.circuit, "null-porep"),
	   "a request is admitted");
	ok(instance_admit(r->inst, 7, 0, false) == -EEXIST, "a task number in use is refused");
	for (p = 0; p < 10; p++)
		ok(!instance_prove(r->inst, 7, p, 100 + p, false), "partition %u is sent", p);
	ok(instance_prove(r->inst, 7, 0, 100, false) == -EEXIST, "a tag in use is refused");
	ok(instance_prove(r->inst, 8, 0, 200, false) == -ENOENT, "an unknown task is refused");
	ok(instance_state(r->inst) == INSTANCE_BUSY, "it is busy");
	ok(WAIT_FOR(r, r->n_completed == 10) && r->n_good == 10, "ten proofs, each right");
	ok(instance_state(r->inst) == INSTANCE_READY, "it is ready again");

	ok(!instance_prove(r->inst, 7, 10, 300, false) && WAIT_FOR(r, r->n_completed == 11) &&
	   r->result.status == -EINVAL && r->result.cls == CUZK_ERROR_INTERNAL && r->tag == 300,
	   "a partition that does not exist fails: %s", r->result.text);
	instance_task_free(r->inst, 7);
	ok(instance_prove(r->inst, 7, 0, 400, false) == -ENOENT, "a freed task is gone");
	ok(admit(r, 7, 2), "and its number may be used again");

	instance_stop(r->inst);
	ok(WAIT_FOR(r, r->state == INSTANCE_STOPPED) && r->n_died == 1 &&
	   r->death == INSTANCE_DEATH_STOPPED && !r->n_flight, "it stops: %s", r->reason);
	instance_status(r->inst, &s);
	ok(!s.pid && !s.faults && s.completed == 10 && s.failed == 1, "the record is clean");
	instance_restart(r->inst);
	ok(wait_ready(r), "and starts again");
	close_record(r);
}

static void test_admission(void)
{
	struct record *r = open_record("null", "", "refuse_sector = 13\nabsent = update\n");
	struct cuzk_request rq = { .size = sizeof(rq), .kind = CUZK_KIND_UPDATE };
	struct cuzk_blob proof = { "x", 1 };
	int fd;

	ok(wait_ready(r) && r->circuits[1].state == CUZK_PARAMS_ABSENT && r->circuits[1].reason[0],
	   "a kind without parameters is said at start: %s", r->circuits[1].reason);
	ok(!admit(r, 1, 13) && r->n_refused == 1 && r->refusal_status == -EINVAL &&
	   r->refusal.cls == CUZK_ERROR_INPUT, "a bad request is refused: %s", r->refusal.text);
	rq.vanilla_proofs = &proof;
	rq.n_vanilla_proofs = 1;
	request_pack(&rq, &fd);
	instance_admit(r->inst, 2, fd, false);
	close(fd);
	ok(WAIT_FOR(r, r->n_refused == 2) && r->refusal.cls == CUZK_ERROR_PARAMS,
	   "so is one without parameters: %s", r->refusal.text);
	fd = open("/dev/null", O_RDONLY);
	instance_admit(r->inst, 3, fd, false);
	close(fd);
	ok(WAIT_FOR(r, r->n_refused == 3) && r->refusal.cls == CUZK_ERROR_INTERNAL,
	   "a file that is no request is refused: %s", r->refusal.text);
	ok(admit(r, 4, 1) && r->n_admitted == 1, "a good one is admitted after them");

	/* freed before the answer: no callback */
	fd = make_request(r, 5);
	instance_admit(r->inst, 5, fd, false);
	close(fd);
	instance_task_free(r->inst, 5);
	ok(admit(r, 6, 6) && r->n_admitted == 2, "a task that was freed early is not told");
	close_record(r);
}

static void test_cancel(void)
{
	struct record *r = open_record("null", "", "delay_ms = 3000\n");
	uint64_t begin;

	ok(wait_ready(r) && admit(r, 1, 1), "a slow instance");
	instance_prove(r->inst, 1, 0, 1, false);
	instance_prove(r->inst, 1, 1, 2, false);
	ok(WAIT_FOR(r, r->n_heartbeats > 2), "heartbeats come");
	begin = now_ms();
	instance_cancel(r->inst, 2);
	ok(WAIT_FOR(r, r->n_completed == 1) && r->tag == 2 && r->result.status == -ECANCELED &&
	   r->result.cls == CUZK_ERROR_CANCELLED, "a waiting partition is cancelled");
	instance_cancel(r->inst, 1);
	instance_cancel(r->inst, 1);
	instance_cancel(r->inst, 99);
	ok(WAIT_FOR(r, r->n_completed == 2) && r->tag == 1 && r->result.status == -ECANCELED,
	   "a running one too; twice is no error, nor is an unknown one");
	ok(now_ms() - begin < 2500, "both within %d ms", (int)(now_ms() - begin));
	close_record(r);
}

static void test_params(void)
{
	struct record *r = open_record("null", "", "params_bytes = 3M\nbad = winning-post\n");

	ok(wait_ready(r), "an instance with parameters");
	instance_preload(r->inst, "null-porep", 41);
	ok(WAIT_FOR(r, r->n_loaded == 1) && r->cookie == 41 && !r->load_status && !r->was &&
	   r->load_bytes == 3 << 20 && r->circuits[0].state == CUZK_PARAMS_HOT, "preload");
	instance_preload(r->inst, "null-porep", 42);
	ok(WAIT_FOR(r, r->n_loaded == 2) && r->was, "preload of what is loaded");
	instance_evict(r->inst, "null-porep", 43);
	ok(WAIT_FOR(r, r->n_loaded == 3) && r->was && r->circuits[0].state == CUZK_PARAMS_COLD,
	   "evict");
	instance_preload(r->inst, "null-winning-post", 44);
	ok(WAIT_FOR(r, r->n_loaded == 4) && r->load_status < 0 &&
	   r->load_error.cls == CUZK_ERROR_PARAMS, "preload of damaged ones: %s",
	   r->load_error.text);
	close_record(r);
}

static void test_memory(void)
{
	struct record *r = open_record("null", "", "reserve = 2M\n");
	struct instance_status s;

	ok(wait_ready(r) && admit(r, 1, 1), "an instance with 1 MiB whose partitions want 2");
	instance_prove(r->inst, 1, 0, 1, false);
	ok(WAIT_FOR(r, r->n_completed == 1) && r->result.cls == CUZK_ERROR_RESOURCE,
	   "memory beyond the budget is refused: %s", r->result.text);
	instance_set_host_budget(r->inst, 4 << 20);
	instance_prove(r->inst, 1, 0, 2, false);
	ok(WAIT_FOR(r, r->n_completed == 2) && r->n_good == 1, "with a larger budget it proves");
	ok(WAIT_FOR(r, (instance_status(r->inst, &s), s.host_peak == 2 << 20)) &&
	   s.n_memory == 1 && !strcmp(s.memory[0].name, "null partition") && !s.host_reserved &&
	   s.resident > 100000, "reservations have names, peaks and come back to 0");
	close_record(r);
}

/* The child keeps nothing that it does not need. */
static void test_privileges(void)
{
	struct record *r;
	struct instance_status s;
	char path[64], text[4096] = "";
	unsigned int fds = 0;
	struct dirent *d;
	ssize_t n;
	DIR *dir;
	int fd;

	setenv("CUZK_SECRET", "1", 1);
	r = open_record("null", "", "");
	ok(wait_ready(r), "an instance to look at");
	instance_status(r->inst, &s);
	snprintf(path, sizeof(path), "/proc/%d/fd", s.pid);
	dir = opendir(path);
	while (dir && (d = readdir(dir)))
		fds += d->d_name[0] != '.';
	if (dir)
		closedir(dir);
	ok(fds == 5, "%u descriptors: standard three, socket, eventfd", fds);
	snprintf(path, sizeof(path), "/proc/%d/oom_score_adj", s.pid);
	fd = open(path, O_RDONLY);
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	ok(n > 0 && atoi(text) >= 500, "it goes first when memory ends (%d)", atoi(text));
	snprintf(path, sizeof(path), "/proc/%d/environ", s.pid);
	fd = open(path, O_RDONLY);
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	ok(n > 0 && !memmem(text, n, "CUZK_SECRET", 11) &&
	   memmem(text, n, "CUDA_VISIBLE_DEVICES=\0", 22), "its environment is clean, no GPU is visible");
	ok(n > 0 && memmem(text, n, "CUDA_DEVICE_ORDER=PCI_BUS_ID\0", 29),
	   "and they would be counted in the order of their addresses");
	close_record(r);
}

/* However a GPU is named, the child sees it and no other. */
static void test_visible(void)
{
	static const char info[] = "Model: \t\t NVIDIA H200\nIRQ:   \t\t 37\n"
		"GPU UUID: \t GPU-01234567-89ab-cdef-0123-456789abcdef\nVideo BIOS: \t ?\n";
	char dir[] = "/tmp/u-instance-XXXXXX", path[256], value[64] = "";
	FILE *f;

	if (!mkdtemp(dir))
		return;
	snprintf(path, sizeof(path), "%s/0000:65:00.0", dir);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/0000:65:00.0/information", dir);
	f = fopen(path, "we");
	fputs(info, f);
	fclose(f);
	ok(!gpu_visible("GPU-11111111-2222", dir, value, sizeof(value)) &&
	   !strcmp(value, "GPU-11111111-2222"), "a UUID is taken as it is");
	ok(!gpu_visible("0000:65:00.0", dir, value, sizeof(value)) &&
	   !strcmp(value, "GPU-01234567-89ab-cdef-0123-456789abcdef"), "an address is looked up");
	ok(!gpu_visible("65:00.0", dir, value, sizeof(value)) &&
	   !gpu_visible("00000000:65:00.0", dir, value, sizeof(value)), "in each of its forms");
	ok(gpu_visible("66:00.0", dir, value, sizeof(value)) == -ENOENT, "another is not there");
	ok(gpu_visible("65:00.0", dir, value, 8) == -ENOENT, "a short buffer gets nothing");
	snprintf(path, sizeof(path), "rm -r %s", dir);
	ok(!system(path), "clean up");
}

/* The child does not outlive the service. */
static void test_orphan(void)
{
	int pipefd[2], status;
	pid_t pid, child = 0;
	uint64_t end;

	if (pipe(pipefd) < 0)
		return;
	fflush(stdout);
	pid = fork();
	if (!pid) {
		struct record *r = open_record("null", "", "");
		struct instance_status s;

		wait_ready(r);
		instance_status(r->inst, &s);
		if (write(pipefd[1], &s.pid, sizeof(s.pid)) < 0)
			_exit(1);
		_exit(0);
	}
	close(pipefd[1]);
	if (read(pipefd[0], &child, sizeof(child)) < 0)
		child = 0;
	close(pipefd[0]);
	waitpid(pid, &status, 0);
	for (end = now_ms() + 10000; child && !kill(child, 0) && now_ms() < end;)
		usleep(10000);
	ok(child > 0 && kill(child, 0) < 0, "a child without its service is gone");
}

static void test_rate(void)
{
	enum { JOBS = 2000, WINDOW = 64 };
	struct record *r = open_record("null", "", "partitions_porep = 1\nlanes = 2\n");
	unsigned int sent = 0, proved = 0;
	uint64_t begin;
	double rate;
	int fd;

	ok(wait_ready(r), "an instance for many jobs");
	fd = make_request(r, 1);
	begin = now_ms();
	while (r->n_completed < JOBS && now_ms() < begin + 60000) {
		while (sent < JOBS && sent - r->n_completed < WINDOW)
			instance_admit(r->inst, ++sent, fd, false);
		for (; proved < r->n_admitted; proved++)
			instance_prove(r->inst, proved + 1, 0, proved + 1, false);
		turn(r);
	}
	close(fd);
	rate = r->n_completed * 1000.0 / (now_ms() - begin + 1);
	ok(r->n_completed == JOBS && r->n_good == JOBS, "%u jobs, %u right, %.0f a second",
	   r->n_completed, r->n_good, rate);
	close_record(r);
}

int main(void)
{
	test_prove();
	test_admission();
	test_cancel();
	test_params();
	test_memory();
	test_privileges();
	test_visible();
	test_orphan();
	test_rate();
	return tap_done();
}
