/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* file.c - whole files: mapped for reading, replaced atomically when written */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/groth16/file.h"

/* ---- files that are cut off while they are mapped ---- */

static struct guard {
	_Atomic uintptr_t start, end;	/* start 0: free; 1: being set up */
	atomic_bool broken;
} guards[FILE_GUARDED];
static struct sigaction before;
static pthread_once_t guard_once = PTHREAD_ONCE_INIT;

/* System calls only: zeros take the place of the missing page and all behind it. */
static void on_bus_error(int sig, siginfo_t *info, void *context)
{
	uintptr_t addr = (uintptr_t)info->si_addr & ~(uintptr_t)4095;
	int i, saved = errno;

	for (i = 0; i < FILE_GUARDED; i++) {
		struct guard *g = &guards[i];

		if (g->start <= 1 || addr < g->start || addr >= g->end)
			continue;
		g->broken = true;
		if (mmap((void *)addr, g->end - addr, PROT_READ,
			 MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED) {
			errno = saved;
			return;
		}
	}
	/* not ours: the instruction is run again, with what was there before us */
	sigaction(SIGBUS, &before, NULL);
	errno = saved;
}

static void guard_install(void)
{
	struct sigaction sa = { .sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO };

	sigemptyset(&sa.sa_mask);
	sigaction(SIGBUS, &sa, &before);
}

static void guard_add(struct file_map *map)
{
	int i;

	pthread_once(&guard_once, guard_install);
	for (i = 0; map->size && i < FILE_GUARDED; i++) {
		struct guard *g = &guards[i];
		uintptr_t none = 0;

		if (!atomic_compare_exchange_strong(&g->start, &none, 1))
			continue;
		g->broken = false;
		g->end = ((uintptr_t)map->data + map->size + 4095) & ~(uintptr_t)4095;
		g->start = (uintptr_t)map->data;
		map->guard = i + 1;
		return;
	}
}

bool file_broken(const struct file_map *map)
{
	return map->guard && guards[map->guard - 1].broken;
}

int file_map(struct file_map *map, const char *path, enum cuzk_error_class cls,
	     struct cuzk_error *err)
{
	struct stat st;
	void *data = "";	/* of an empty file: a place, for arithmetic on it */
	int fd, ret;

	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return error_errno(err, cls, -errno, "open", path);
	if (fstat(fd, &st)) {
		ret = error_errno(err, cls, -errno, "examine", path);
		goto err_close;
	}
	if (!S_ISREG(st.st_mode)) {
		ret = error_set(err, cls, -EINVAL, "%s is not a regular file", path);
		goto err_close;
	}
	if (st.st_size) {
		data = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (data == MAP_FAILED) {
			ret = error_errno(err, cls, -errno, "map", path);
			goto err_close;
		}
	}
	close(fd);
	map->data = data;
	map->size = st.st_size;
	map->dev = st.st_dev;
	map->ino = st.st_ino;
	map->mtime_ns = st.st_mtim.tv_sec * 1000000000ull + st.st_mtim.tv_nsec;
	map->guard = 0;
	guard_add(map);
	return 0;

err_close:
	close(fd);
	return ret;
}

void file_unmap(struct file_map *map)
{
	if (map->guard)
		guards[map->guard - 1].start = 0;
	if (map->size)
		munmap((void *)map->data, map->size);
	memset(map, 0, sizeof(*map));
}

void file_forget(const struct file_map *map)
{
	if (map->size)
		madvise((void *)map->data, map->size, MADV_DONTNEED);
}

/* A device or a pipe cannot be replaced: it is written to, and has no tmp. */
static int open_in_place(struct file_new *file, const char *path, struct cuzk_error *err)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return error_errno(err, CUZK_ERROR_RESOURCE, -errno, "write", path);
	file->path = strdup(path);
	file->f = file->path ? fdopen(fd, "w") : NULL;
	if (file->f)
		return 0;
	close(fd);
	free(file->path);
	file->path = NULL;
	return error_nomem(err, "a stream");
}

int file_create(struct file_new *file, const char *path, struct cuzk_error *err)
{
	struct stat st;
	int fd, ret;

	memset(file, 0, sizeof(*file));
	if (!strcmp(path, "-"))
		return error_set(err, CUZK_ERROR_INPUT, -EINVAL,
				 "-: standard output is for the report, name a file");
	if (!stat(path, &st) && !S_ISREG(st.st_mode))
		return open_in_place(file, path, err);
	file->path = strdup(path);
	if (!file->path || asprintf(&file->tmp, "%s.XXXXXX", path) < 0) {
		file->tmp = NULL;
		ret = error_nomem(err, "a file name");
		goto err_free;
	}
	fd = mkostemp(file->tmp, O_CLOEXEC);
	if (fd < 0) {
		ret = error_errno(err, CUZK_ERROR_RESOURCE, -errno, "create", file->tmp);
		goto err_free;
	}
	fchmod(fd, 0644);
	file->f = fdopen(fd, "w");
	if (!file->f) {
		ret = error_nomem(err, "a stream");
		close(fd);
		unlink(file->tmp);
		goto err_free;
	}
	return 0;

err_free:
	free(file->path);
	free(file->tmp);
	memset(file, 0, sizeof(*file));
	return ret;
}

int file_commit(struct file_new *file, struct cuzk_error *err)
{
	const char *name = file->tmp ? file->tmp : file->path;
	int ret = 0;

	if (fflush(file->f) || ferror(file->f) || (file->tmp && fsync(fileno(file->f))))
		ret = error_errno(err, CUZK_ERROR_RESOURCE, errno ? -errno : -EIO, "write", name);
	if (fclose(file->f) && !ret)
		ret = error_errno(err, CUZK_ERROR_RESOURCE, -errno, "write", name);
	file->f = NULL;
	if (!ret && file->tmp && rename(file->tmp, file->path))
		ret = error_errno(err, CUZK_ERROR_RESOURCE, -errno, "rename to", file->path);
	if (ret && file->tmp)
		unlink(file->tmp);
	free(file->path);
	free(file->tmp);
	file->path = file->tmp = NULL;
	return ret;
}

void file_discard(struct file_new *file)
{
	if (!file->f)
		return;
	fclose(file->f);
	if (file->tmp)
		unlink(file->tmp);
	free(file->path);
	free(file->tmp);
	memset(file, 0, sizeof(*file));
}
