/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* bench-memory.c - what memory a process has, and who holds it */
#include <errno.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tools/bench-memory.h"

/* One "Name:  123 kB" of a file of /proc. */
struct field {
	const char *name;
	uint64_t *bytes;
};

static int read_fields(pid_t pid, const char *file, const struct field *fields)
{
	char path[64], line[256];
	const struct field *f;
	unsigned long long kb;
	FILE *in;

	if (pid)
		snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
	else
		snprintf(path, sizeof(path), "/proc/self/%s", file);
	in = fopen(path, "re");
	if (!in)
		return -errno;
	while (fgets(line, sizeof(line), in)) {
		for (f = fields; f->name; f++) {
			size_t len = strlen(f->name);

			if (!strncmp(line, f->name, len) && line[len] == ':' &&
			    sscanf(line + len + 1, "%llu kB", &kb) == 1)
				*f->bytes += kb << 10;
		}
	}
	fclose(in);
	return 0;
}

int memory_exact(pid_t pid, struct memory *m)
{
	struct memory v = { 0 };
	const struct field fields[] = {
		{ "Rss", &v.resident }, { "Anonymous", &v.anonymous }, { "Locked", &v.locked },
		{ NULL },
	};
	int ret;

	ret = read_fields(pid, "smaps_rollup", fields);
	if (ret)
		return ret;
	if (!v.resident)
		return -ESRCH;	/* it is ending */
	v.file = v.resident - v.anonymous;
	*m = v;
	return 0;
}

int memory_quick(pid_t pid, struct memory *m)
{
	struct memory v = { 0 };
	const struct field fields[] = {
		{ "RssAnon", &v.anonymous }, { "RssFile", &v.file }, { "RssShmem", &v.file },
		{ "VmLck", &v.locked }, { NULL },
	};
	int ret;

	ret = read_fields(pid, "status", fields);
	if (ret)
		return ret;
	v.resident = v.anonymous + v.file;
	if (!v.resident)
		return -ESRCH;
	*m = v;
	return 0;
}

void memory_return(void)
{
	malloc_trim(0);
}

void memory_forget(const void *data, size_t size)
{
	uintptr_t page = sysconf(_SC_PAGESIZE), start = (uintptr_t)data & ~(page - 1);

	if (size)
		madvise((void *)start, (uintptr_t)data + size - start, MADV_DONTNEED);
}

void holders_init(struct holders *h)
{
	memset(h, 0, sizeof(*h));
	pthread_mutex_init(&h->lock, NULL);
}

void holders_set(struct holders *h, uint64_t bytes, const char *fmt, ...)
{
	char name[sizeof(h->holder[0].name)];
	va_list ap;
	size_t i;

	va_start(ap, fmt);
	vsnprintf(name, sizeof(name), fmt, ap);
	va_end(ap);
	pthread_mutex_lock(&h->lock);
	for (i = 0; i < h->n && strcmp(h->holder[i].name, name); i++)
		;
	if (bytes && i < HOLDERS_MAX) {
		memcpy(h->holder[i].name, name, sizeof(name));
		h->holder[i].bytes = bytes;
		if (i == h->n)
			h->n++;
	} else if (!bytes && i < h->n) {
		memmove(&h->holder[i], &h->holder[i + 1], (h->n - i - 1) * sizeof(h->holder[0]));
		h->n--;
	}
	pthread_mutex_unlock(&h->lock);
}

void holders_stage(struct holders *h, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	pthread_mutex_lock(&h->lock);
	vsnprintf(h->stage, sizeof(h->stage), fmt, ap);
	pthread_mutex_unlock(&h->lock);
	va_end(ap);
}

void holders_copy(struct holders *to, struct holders *from)
{
	pthread_mutex_lock(&from->lock);
	memcpy(to->holder, from->holder, sizeof(to->holder));
	memcpy(to->stage, from->stage, sizeof(to->stage));
	to->n = from->n;
	pthread_mutex_unlock(&from->lock);
}
