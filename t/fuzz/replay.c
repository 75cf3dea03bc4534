/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * replay.c - gives every file of some folders to a fuzz target
 *
 * Stands in for libFuzzer's main, so that `make check` replays the corpora
 * with any compiler.  run.sh, which fuzzes, defines CUZK_LIBFUZZER.
 */
#ifndef CUZK_LIBFUZZER

#include <dirent.h>
#include <stdint.h>

#include "t/tap.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool replay_file(const char *path)
{
	FILE *f = fopen(path, "rb");
	uint8_t *data;
	long size;

	if (!f)
		return false;
	fseek(f, 0, SEEK_END);
	size = ftell(f);
	rewind(f);
	/* as large as the file, so that a sanitizer sees what reads beyond */
	data = malloc(size > 0 ? size : 1);
	if (size < 0 || !data || fread(data, 1, size, f) != (size_t)size) {
		fclose(f);
		free(data);
		return false;
	}
	fclose(f);
	LLVMFuzzerTestOneInput(data, size);
	free(data);
	return true;
}

static void replay_folder(const char *folder)
{
	DIR *dir = opendir(folder);
	struct dirent *e;
	char path[4096];
	size_t n = 0, good = 0;

	while (dir && (e = readdir(dir))) {
		if (e->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, e->d_name);
		good += replay_file(path);
		n++;
	}
	if (dir)
		closedir(dir);
	ok(n && good == n, "%zu files of %s", n, folder);
}

int main(int argc, char **argv)
{
	const char *name = strrchr(argv[0], '/'), *src = getenv("CUZK_SRCDIR");
	char folder[4096];
	int i;

	/* without arguments: the corpus of its own name */
	name = name ? name + 1 : argv[0];
	if (!strncmp(name, "lt-", 3))
		name += 3;
	snprintf(folder, sizeof(folder), "%s/t/fuzz/corpus/%s", src ? src : ".",
		 name + (strncmp(name, "fuzz-", 5) ? 0 : 5));
	if (argc < 2)
		replay_folder(folder);
	for (i = 1; i < argc; i++)
		replay_folder(argv[i]);
	return tap_done();
}

#endif
