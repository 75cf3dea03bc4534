/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* u-file.c - fault class "parameters wrong or absent": a file cut off while it is mapped */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/groth16/file.h"
#include "t/tap.h"

#define SIZE (1 << 20)

static unsigned int sum(const struct file_map *map, size_t from, size_t to)
{
	unsigned int s = 0;

	for (; from < to; from++)
		s += map->data[from];
	return s;
}

/* Another mapping, of nothing that file.c knows: the signal must still end a process. */
static int other_mapping(const char *path)
{
	int fd = open(path, O_RDWR), status;
	volatile char *p;
	pid_t pid = fork();

	if (!pid) {
		p = mmap(NULL, SIZE, PROT_READ, MAP_SHARED, fd, 0);
		_exit(p[SIZE - 1] + 1);
	}
	waitpid(pid, &status, 0);
	close(fd);
	return WIFSIGNALED(status) ? WTERMSIG(status) : -1;
}

int main(void)
{
	char path[] = "u-file.XXXXXX";
	struct file_map map, good;
	struct cuzk_error err;
	char *data = malloc(SIZE);
	int fd = mkstemp(path), i;

	/* a sanitizer's handler would report the signal instead of dying by it */
	signal(SIGBUS, SIG_DFL);
	memset(data, 1, SIZE);
	if (!data || fd < 0 || write(fd, data, SIZE) != SIZE)
		return 1;
	ok(!file_map(&map, path, CUZK_ERROR_PARAMS, &err) && !file_broken(&map), "mapped");
	ok(sum(&map, 0, SIZE) == SIZE && !file_broken(&map), "and read");
	if (ftruncate(fd, SIZE / 2))
		return 1;
	ok(sum(&map, 0, SIZE / 2) == SIZE / 2 && !file_broken(&map), "cut in half: the first half is there");
	ok(sum(&map, SIZE / 2, SIZE) == 0, "the other is zeros, and no signal");
	ok(file_broken(&map), "which is noted");
	file_unmap(&map);
	if (ftruncate(fd, 4096))
		return 1;
	ok(!file_map(&good, path, CUZK_ERROR_PARAMS, &err) && sum(&good, 0, 4096) == 4096 &&
	   !file_broken(&good), "another map begins anew");
	file_unmap(&good);
	ok(other_mapping(path) == SIGBUS, "a mapping of somebody else gets its signal");
	for (i = 0; i < 2 * FILE_GUARDED && !file_map(&map, path, CUZK_ERROR_PARAMS, &err); i++)
		file_unmap(&map);
	ok(i == 2 * FILE_GUARDED && !file_map(&map, path, CUZK_ERROR_PARAMS, &err) && map.guard,
	   "places in the table are used again");
	file_unmap(&map);
	close(fd);
	unlink(path);
	free(data);
	return tap_done();
}
