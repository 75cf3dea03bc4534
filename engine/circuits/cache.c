/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* cache.c - constraint systems kept in files, so that they are built once and shared */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/circuits/cache.h"
#include "engine/cs/system.h"

#define DEFAULT_DIR "/var/cache/cuzk"

const char *cache_dir(const char *option)
{
	static char first[4096];	/* the same text for every caller */
	const char *env = getenv("CACHE_DIRECTORY");
	struct stat st;
	size_t len;

	if (option && *option)
		return option;
	len = env ? strcspn(env, ":") : 0;
	if (len && env[len]) {
		if (len >= sizeof(first))
			return NULL;
		memcpy(first, env, len);
		return first;
	}
	if (len)
		return env;
	/* the service's own is closed to other users, who do without */
	if (stat(DEFAULT_DIR, &st) || !S_ISDIR(st.st_mode) ||
	    access(DEFAULT_DIR, R_OK | W_OK | X_OK))
		return NULL;
	return DEFAULT_DIR;
}

int cache_path(const char *dir, const struct circuit *c, char *buf, size_t size)
{
	int n = snprintf(buf, size, "%s/%s.cs", dir, c->name);

	return n < 0 || (size_t)n >= size ? -ENAMETOOLONG : 0;
}

int cache_load(const char *dir, const struct circuit *c, struct cs **cs, bool *mapped, char *note)
{
	char path[4096], wrong[256] = "";
	int ret;

	*note = '\0';
	*mapped = false;
	/* a toy's file would be larger than what it saves */
	if (!dir || c->kind == CIRCUIT_TINY)
		return circuit_build(c, cs);
	if (cache_path(dir, c, path, sizeof(path))) {
		snprintf(note, CACHE_NOTE, "cache folder %.64s...: its name is too long", dir);
		return circuit_build(c, cs);
	}
	ret = cs_file_map(path, c->name, cs, wrong);
	if (!ret) {
		*mapped = true;
		return 0;
	}
	if (ret != -ENOENT)
		snprintf(note, CACHE_NOTE, "%s: it is built and written again", wrong);
	ret = circuit_build(c, cs);
	if (ret)
		return ret;
	if (mkdir(dir, 0755) && errno != EEXIST)
		snprintf(note, CACHE_NOTE, "cache folder %.256s: %s", dir, strerror(errno));
	else if (cs_file_write(*cs, c->name, path, wrong))
		snprintf(note, CACHE_NOTE, "constraint system not cached: %s", wrong);
	return 0;
}
