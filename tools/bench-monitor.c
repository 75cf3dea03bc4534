/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* bench-monitor.c - a thread that writes down the memory of processes */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/bench-memory.h"
#include "tools/bench-monitor.h"
#include "tools/bench-nvml.h"
#include "tools/bench.h"

#define ROOTS_MAX 16
#define PROCESSES_MAX 64
#define SCAN_EVERY_NS 100000000ull	/* looking for new children */

struct process {
	struct monitor_process seen;
	double cpu_before;	/* seconds, when it was first seen */
	bool ended;
};

struct monitor {
	pthread_t thread;
	FILE *csv;
	unsigned int interval_ms;
	bool nvml;

	pthread_mutex_t lock;		/* protects the rest */
	pthread_cond_t wake;
	bool stop;
	pid_t root[ROOTS_MAX];
	size_t n_roots;
	struct process process[PROCESSES_MAX];
	size_t n;
	uint64_t scanned_ns;
	uint64_t peak;			/* of the added ones together */
	uint64_t own_peak;
	void (*on_peak)(void *arg, uint64_t resident);
	void *on_peak_arg;
	double busy;
	unsigned int n_busy;
};

static struct process *find(struct monitor *m, pid_t pid)
{
	size_t i;

	for (i = 0; i < m->n; i++)
		if (m->process[i].seen.pid == pid)
			return &m->process[i];
	return NULL;
}

/* Fields of /proc/PID/stat: the parent (0: it is gone) and seconds of processor time. */
static pid_t read_stat(const char *pid, double *cpu)
{
	unsigned long long user = 0, system = 0;
	char path[300], line[512], *end;
	int parent = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%s/stat", pid);
	f = fopen(path, "re");
	if (!f)
		return 0;
	/* the name, in parentheses, may hold anything */
	if (!fgets(line, sizeof(line), f) || !(end = strrchr(line, ')')) ||
	    sscanf(end + 1, " %*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu", &parent, &user,
		   &system) != 3)
		parent = 0;
	fclose(f);
	*cpu = (double)(user + system) / sysconf(_SC_CLK_TCK);
	return parent;
}

static double cpu_of(pid_t pid)
{
	char text[16];
	double cpu = 0;

	snprintf(text, sizeof(text), "%d", (int)pid);
	read_stat(text, &cpu);
	return cpu;
}

static struct process *watch(struct monitor *m, pid_t pid)
{
	struct process *p = find(m, pid);
	char path[64];
	FILE *f;

	if (p || m->n == PROCESSES_MAX)
		return p;
	p = &m->process[m->n++];
	memset(p, 0, sizeof(*p));
	p->seen.pid = pid;
	p->cpu_before = cpu_of(pid);
	snprintf(p->seen.name, sizeof(p->seen.name), "?");
	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	f = fopen(path, "re");
	if (f) {
		if (fgets(p->seen.name, sizeof(p->seen.name), f))
			p->seen.name[strcspn(p->seen.name, "\n,\"")] = '\0';
		fclose(f);
	}
	return p;
}

/* Children of watched processes are watched; their own are found the next time at the latest. */
static void scan(struct monitor *m)
{
	struct dirent *d;
	DIR *proc;

	if (!m->n_roots || bench_ns() - m->scanned_ns < SCAN_EVERY_NS)
		return;
	m->scanned_ns = bench_ns();
	proc = opendir("/proc");
	if (!proc)
		return;
	while ((d = readdir(proc))) {
		pid_t parent;
		double cpu;

		if (d->d_name[0] < '1' || d->d_name[0] > '9')
			continue;
		parent = read_stat(d->d_name, &cpu);
		if (parent && find(m, parent))
			watch(m, atoi(d->d_name));
	}
	closedir(proc);
}

static void write_line(struct monitor *m, pid_t pid, const char *name, const struct memory *mem,
		       uint64_t gpu)
{
	if (m->csv)
		fprintf(m->csv, "%.4f,%d,%s,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
			"\n", (bench_ns() - bench_zero) / 1e9, (int)pid, name, mem->resident,
			mem->anonymous, mem->file, mem->locked, gpu);
}

static void sample(struct monitor *m)
{
	uint64_t gpu = 0, sum = 0;
	struct memory mem;
	double busy = 0;
	size_t i;

	if (m->nvml) {
		nvml_read(&gpu, &busy);
		m->busy += busy;
		m->n_busy++;
	}
	if (!memory_quick(0, &mem)) {
		write_line(m, getpid(), "cuzk-bench", &mem, gpu);
		if (m->on_peak && mem.resident > m->own_peak) {
			m->own_peak = mem.resident;
			m->on_peak(m->on_peak_arg, mem.resident);
		}
	}
	scan(m);
	for (i = 0; i < m->n; i++) {
		struct process *p = &m->process[i];

		if (p->ended || memory_quick(p->seen.pid, &mem)) {
			p->ended = true;
			continue;
		}
		if (mem.resident > p->seen.peak)
			p->seen.peak = mem.resident;
		sum += mem.resident;
		write_line(m, p->seen.pid, p->seen.name, &mem, 0);
	}
	if (sum > m->peak)
		m->peak = sum;
}

static void *run(void *arg)
{
	struct monitor *m = arg;
	struct timespec until;

	pthread_mutex_lock(&m->lock);
	while (!m->stop) {
		sample(m);
		clock_gettime(CLOCK_MONOTONIC, &until);
		until.tv_nsec += m->interval_ms % 1000 * 1000000l;
		until.tv_sec += m->interval_ms / 1000 + until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		while (!m->stop && !pthread_cond_timedwait(&m->wake, &m->lock, &until))
			;
	}
	sample(m);
	pthread_mutex_unlock(&m->lock);
	return NULL;
}

int monitor_open(struct monitor **out, const char *csv, unsigned int interval_ms)
{
	struct monitor *m = calloc(1, sizeof(*m));
	pthread_condattr_t attr;
	int ret;

	if (!m)
		return -ENOMEM;
	m->interval_ms = interval_ms;
	pthread_mutex_init(&m->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&m->wake, &attr);
	pthread_condattr_destroy(&attr);
	if (csv) {
		m->csv = fopen(csv, "we");
		if (!m->csv) {
			ret = -errno;
			free(m);
			return ret;
		}
		fprintf(m->csv, "seconds,pid,process,resident,anonymous,file,locked,gpu\n");
	}
	m->nvml = nvml_open();
	ret = -pthread_create(&m->thread, NULL, run, m);
	if (ret) {
		if (m->csv)
			fclose(m->csv);
		free(m);
		return ret;
	}
	*out = m;
	return 0;
}

int monitor_close(struct monitor *m)
{
	int ret = 0;

	pthread_mutex_lock(&m->lock);
	m->stop = true;
	pthread_cond_signal(&m->wake);
	pthread_mutex_unlock(&m->lock);
	pthread_join(m->thread, NULL);
	if (m->csv && (ferror(m->csv) | fclose(m->csv)))
		ret = errno ? -errno : -EIO;
	pthread_cond_destroy(&m->wake);
	pthread_mutex_destroy(&m->lock);
	free(m);
	return ret;
}

void monitor_add(struct monitor *m, pid_t pid)
{
	pthread_mutex_lock(&m->lock);
	if (m->n_roots < ROOTS_MAX && !find(m, pid) && watch(m, pid)) {
		m->root[m->n_roots++] = pid;
		m->scanned_ns = 0;
		scan(m);
	}
	pthread_mutex_unlock(&m->lock);
}

void monitor_on_peak(struct monitor *m, void (*fn)(void *arg, uint64_t resident), void *arg)
{
	pthread_mutex_lock(&m->lock);
	m->on_peak = fn;
	m->on_peak_arg = arg;
	m->own_peak = 0;
	pthread_mutex_unlock(&m->lock);
}

size_t monitor_processes(struct monitor *m, struct monitor_process *out, size_t max)
{
	size_t i, n;

	pthread_mutex_lock(&m->lock);
	n = m->n;
	for (i = 0; i < n && i < max; i++) {
		out[i] = m->process[i].seen;
		out[i].cpu = cpu_of(out[i].pid) - m->process[i].cpu_before;
	}
	pthread_mutex_unlock(&m->lock);
	return n;
}

uint64_t monitor_peak(struct monitor *m)
{
	uint64_t peak;

	pthread_mutex_lock(&m->lock);
	peak = m->peak;
	pthread_mutex_unlock(&m->lock);
	return peak;
}

double monitor_gpu_busy(struct monitor *m)
{
	double busy = -1;

	pthread_mutex_lock(&m->lock);
	if (m->n_busy)
		busy = m->busy / m->n_busy;
	m->busy = m->n_busy = 0;
	pthread_mutex_unlock(&m->lock);
	return busy;
}
