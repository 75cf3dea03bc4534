/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* instance-child.c - starts, ends, reaps and restarts the process of an instance */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "plugin/instance-private.h"

/* What the child keeps of the environment, besides the device it may see. */
static const char *const kept[] = {
	"PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "LD_LIBRARY_PATH", "ASAN_OPTIONS",
	"LSAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS",
};

#define N_KEPT (sizeof(kept) / sizeof(kept[0]))

struct environment {
	char *env[N_KEPT + 3];
	unsigned int n;
};

static int environment_add(struct environment *e, const char *name, const char *value)
{
	if (asprintf(&e->env[e->n], "%s=%s", name, value) < 0) {
		e->env[e->n] = NULL;
		return -ENOMEM;
	}
	e->n++;
	return 0;
}

static void environment_fini(struct environment *e)
{
	while (e->n)
		free(e->env[--e->n]);
}

static int environment_init(struct environment *e, const struct instance *inst)
{
	unsigned int i;
	int r = 0;

	memset(e, 0, sizeof(*e));
	for (i = 0; !r && i < N_KEPT; i++) {
		const char *value = getenv(kept[i]);

		if (value)
			r = environment_add(e, kept[i], value);
	}
	if (!r)
		r = environment_add(e, "CUDA_DEVICE_ORDER", "PCI_BUS_ID");
	if (!r)
		r = environment_add(e, "CUDA_VISIBLE_DEVICES", inst->visible);
	if (r < 0)
		environment_fini(e);
	return r;
}

/*
 * The forked child of a process with threads: system calls only until exec.
 * sock and null are above the descriptors that are filled here.
 */
static void __attribute__((noreturn))
run_child(const struct instance *inst, char *const *env, int sock, int null, pid_t parent)
{
	char *const argv[] = { (char *)"cuzk-instance", (char *)inst->name, NULL };
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent)
		_exit(126);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	setpgid(0, 0);
	if (dup2(null, 0) < 0 || dup2(2, 1) < 0 || dup2(sock, WIRE_FD) < 0 ||
	    close_range(WIRE_FD + 1, ~0u, 0) < 0)
		_exit(126);
	execve(inst->program, argv, env);
	_exit(127);
}

static int make_socket(int pair[2])
{
	int raw[2], i;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, raw) < 0)
		return -errno;
	for (i = 0; i < 2; i++) {
		pair[i] = fcntl(raw[i], F_DUPFD_CLOEXEC, WIRE_FD + 1);
		close(raw[i]);
	}
	if (pair[0] >= 0 && pair[1] >= 0)
		return 0;
	close(pair[0]);
	close(pair[1]);
	return -EMFILE;
}

static int watch(struct instance *inst, int fd, uint32_t events)
{
	struct epoll_event ev = { .events = events, .data.fd = fd };

	return epoll_ctl(inst->epoll, EPOLL_CTL_ADD, fd, &ev) < 0 ? -errno : 0;
}

static int start_process(struct instance *inst, int sock, int null)
{
	struct environment e;
	pid_t parent = getpid(), pid;
	int r, pidfd;

	if (access(inst->program, X_OK) < 0)
		return -errno;
	r = environment_init(&e, inst);
	if (r < 0)
		return r;
	pid = fork();
	if (!pid)
		run_child(inst, e.env, sock, null, parent);
	r = pid < 0 ? -errno : 0;
	environment_fini(&e);
	if (r < 0)
		return r;
	pidfd = pidfd_open(pid, 0);
	r = pidfd < 0 ? -errno : watch(inst, pidfd, EPOLLIN);
	if (r < 0) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		if (pidfd >= 0)
			close(pidfd);
		return r;
	}
	inst->pid = pid;
	inst->pidfd = pidfd;
	return 0;
}

static int spawn(struct instance *inst)
{
	int pair[2] = { -1, -1 }, null, r;

	null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (null < 0)
		return -errno;
	r = make_socket(pair);
	if (r < 0)
		goto out_null;
	r = watch(inst, pair[0], EPOLLIN);
	if (!r)
		r = start_process(inst, pair[1], null);
	close(pair[1]);
	if (r < 0)
		close(pair[0]);
	else
		inst->sock = pair[0];
out_null:
	close(null);
	return r;
}

/* ---- the end ---- */

void instance_drop_socket(struct instance *inst)
{
	struct instance_out *o;

	if (inst->sock >= 0)
		close(inst->sock);
	inst->sock = -1;
	inst->watch_out = false;
	while ((o = inst->out)) {
		inst->out = o->next;
		if (o->fd >= 0)
			close(o->fd);
		free(o);
	}
	inst->out_tail = &inst->out;
}

void instance_kill(struct instance *inst, enum instance_death death, bool now, const char *fmt,
		   ...)
{
	char reason[INSTANCE_REASON];
	uint64_t t = instance_now_ms();
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(reason, sizeof(reason), fmt, ap);
	va_end(ap);
	if (!inst->death_known) {
		inst->death_known = true;
		inst->death = death;
		memcpy(inst->death_reason, reason, sizeof(reason));
	}
	if (!inst->pid)
		return;
	pidfd_send_signal(inst->pidfd, now ? SIGKILL : SIGTERM, NULL, 0);
	inst->kill_ms = now ? INSTANCE_NEVER : t + inst->limits.kill_grace;
	inst->give_up_ms = now ? t + INSTANCE_GIVE_UP_MS : INSTANCE_NEVER;
	inst->stop_ms = INSTANCE_NEVER;
	instance_set_state(inst, INSTANCE_STUCK, inst->death_reason);
}

unsigned int instance_recent_faults(const struct instance *inst)
{
	uint64_t now = instance_now_ms(), i, kept_faults;
	unsigned int n = 0;

	kept_faults = inst->n_faults < INSTANCE_FAULTS_MAX ? inst->n_faults : INSTANCE_FAULTS_MAX;
	for (i = 1; i <= kept_faults; i++) {
		if (now - inst->faults[(inst->n_faults - i) % INSTANCE_FAULTS_MAX] >
		    inst->limits.quarantine_window)
			break;
		n++;
	}
	return n;
}

static uint64_t restart_delay(const struct instance *inst)
{
	uint64_t delay = inst->limits.restart_delay;
	unsigned int i;

	for (i = 1; i < inst->faults_in_row && delay < inst->limits.restart_delay_max; i++)
		delay *= 2;
	return delay < inst->limits.restart_delay_max ? delay : inst->limits.restart_delay_max;
}

static void note_fault(struct instance *inst)
{
	inst->faults[inst->n_faults++ % INSTANCE_FAULTS_MAX] = instance_now_ms();
	inst->counts.faults++;
	inst->faults_in_row++;
}

/* What becomes of an instance whose child ended so. */
static void choose_next_state(struct instance *inst, enum instance_death death,
			      const char *reason)
{
	bool fault = death != INSTANCE_DEATH_STOPPED &&
		     (death != INSTANCE_DEATH_RECYCLED || inst->recycle_fault);
	uint64_t now = instance_now_ms();

	if (fault)
		note_fault(inst);
	inst->restart_ms = INSTANCE_NEVER;
	if (inst->stop_wanted || death == INSTANCE_DEATH_STOPPED) {
		instance_set_state(inst, INSTANCE_STOPPED, fault ? reason : "");
	} else if (death == INSTANCE_DEATH_LOAD ||
		   (fault && instance_recent_faults(inst) >= inst->limits.quarantine_faults)) {
		instance_set_state(inst, INSTANCE_QUARANTINED, reason);
	} else {
		inst->restart_ms = fault ? now + restart_delay(inst) : now;
		instance_set_state(inst, INSTANCE_FAILED, reason);
	}
}

/* The child is gone, or given up: hands back what it had and decides what comes. */
static void bury(struct instance *inst, enum instance_death death, const char *reason)
{
	struct instance_flight flights[INSTANCE_FLIGHT_MAX];
	unsigned int n = inst->n_flights;
	char why[INSTANCE_REASON];

	memcpy(flights, inst->flights, n * sizeof(*flights));
	snprintf(why, sizeof(why), "%s", reason);
	instance_drop_socket(inst);
	inst->pid = 0;
	inst->hello = false;
	inst->n_flights = 0;
	inst->n_tasks = 0;
	inst->n_admitting = 0;
	inst->aux = (struct instance_aux){ 0 };
	inst->kill_ms = inst->give_up_ms = inst->stop_ms = INSTANCE_NEVER;
	inst->counts.host_reserved = 0;
	inst->counts.resident = 0;
	inst->counts.n_memory = 0;
	choose_next_state(inst, death, why);
	inst->death_known = false;
	inst->death = INSTANCE_DEATH_CRASHED;
	inst->stop_sent = inst->stop_wanted = inst->recycle_wanted = inst->recycle_fault = false;
	inst->ops->died(inst->ctx, inst, death, why, flights, n);
}

static void describe_exit(const siginfo_t *info, char *text, size_t size)
{
	if (info->si_code == CLD_EXITED && info->si_status == 127)
		snprintf(text, size, "the instance program could not be executed");
	else if (info->si_code == CLD_EXITED)
		snprintf(text, size, "ended with status %d", info->si_status);
	else if (info->si_status == SIGKILL)
		snprintf(text, size, "killed by signal KILL, as the kernel does when there is no "
			 "memory");
	else
		snprintf(text, size, "killed by signal %s%s",
			 sigabbrev_np(info->si_status) ? sigabbrev_np(info->si_status) : "?",
			 info->si_code == CLD_DUMPED ? ", core dumped" : "");
}

bool instance_wait(struct instance *inst, siginfo_t *info, int flags)
{
	if (waitid(P_PIDFD, inst->pidfd, info, WEXITED | WNOWAIT | flags) < 0 || !info->si_pid)
		return false;
	/* its number is its own until it is waited for */
	kill(-info->si_pid, SIGKILL);
	waitid(P_PIDFD, inst->pidfd, info, WEXITED);
	return true;
}

void instance_reap(struct instance *inst)
{
	enum instance_death death = INSTANCE_DEATH_CRASHED;
	char text[INSTANCE_REASON];
	siginfo_t info = { 0 };
	bool orderly;

	if (!instance_wait(inst, &info, WNOHANG))
		return;
	close(inst->pidfd);
	inst->pidfd = -1;
	if (inst->given_up) {
		inst->given_up = false;	/* it was buried before */
		return;
	}
	/* its last words may still be in the socket */
	if (inst->sock >= 0)
		instance_receive(inst);
	orderly = info.si_code == CLD_EXITED && !info.si_status &&
		  (inst->stop_sent || inst->mode == WIRE_MODE_CHECK);
	describe_exit(&info, text, sizeof(text));
	if (orderly && !inst->death_known) {
		death = inst->recycle_wanted && !inst->stop_wanted ? INSTANCE_DEATH_RECYCLED
								   : INSTANCE_DEATH_STOPPED;
		bury(inst, death, inst->recycle_fault ? inst->reason : "");
	} else if (inst->death_known) {
		bury(inst, inst->death, inst->death_reason);
	} else {
		if (info.si_code != CLD_EXITED && info.si_status == SIGKILL)
			death = INSTANCE_DEATH_KILLED;
		bury(inst, death, text);
	}
}

/* SIGKILL did not help: the process hangs in a driver. */
void instance_give_up(struct instance *inst)
{
	char text[INSTANCE_REASON];

	snprintf(text, sizeof(text), "process %d cannot be killed: %.400s", (int)inst->pid,
		 inst->death_reason);
	inst->given_up = true;
	bury(inst, inst->death, text);
	inst->restart_ms = INSTANCE_NEVER;
	instance_set_state(inst, INSTANCE_QUARANTINED, text);
}

void instance_try_stop(struct instance *inst)
{
	bool wanted = inst->stop_wanted || inst->recycle_wanted;

	if (!wanted || inst->death_known)
		return;
	if (!inst->pid) {
		if (inst->stop_wanted) {
			inst->stop_wanted = inst->recycle_wanted = false;
			inst->restart_ms = INSTANCE_NEVER;
			instance_set_state(inst, INSTANCE_STOPPED, "");
		}
		return;
	}
	instance_set_state(inst, INSTANCE_STOPPING, NULL);
	if (inst->n_flights || inst->stop_sent)
		return;
	instance_send(inst, WIRE_STOP, 0, 0, NULL, 0, -1);
	inst->stop_sent = true;
	inst->stop_ms = instance_now_ms() + INSTANCE_STOP_MS;
}

/* The machine or the service is short of something, which is no fault of the instance. */
static bool is_shortage(int err)
{
	return err == -EMFILE || err == -ENFILE || err == -ENOMEM || err == -EAGAIN ||
	       err == -ENOBUFS;
}

void instance_spawn(struct instance *inst)
{
	char text[INSTANCE_REASON];
	uint64_t now = instance_now_ms();
	int r;

	inst->restart_ms = INSTANCE_NEVER;
	if (inst->given_up) {
		instance_set_state(inst, INSTANCE_QUARANTINED,
				   "the process before still cannot be killed");
		return;
	}
	inst->invalid_in_child = 0;
	inst->counts.starts++;
	r = spawn(inst);
	if (r < 0) {
		snprintf(text, sizeof(text), "cannot start %.300s: %s", inst->program,
			 strerror(-r));
		if (is_shortage(r)) {
			inst->restart_ms = now + inst->limits.restart_delay_max;
			/* said once: it may have failed before, of something else */
			inst->state_told &= !strncmp(inst->reason, text, sizeof(text) - 1);
			instance_set_state(inst, INSTANCE_FAILED, text);
			return;
		}
		bury(inst, INSTANCE_DEATH_SPAWN, text);
		return;
	}
	inst->aux = (struct instance_aux){ .active = true, .since_ms = now, .moved_ms = now };
	instance_set_state(inst, INSTANCE_STARTING, NULL);
}
