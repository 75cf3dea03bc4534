/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* budget.c - the host memory that the instances may reserve together */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "plugin/budget.h"

/* kept: bytes of our memfds, which count as used and will be reserved again. */
static uint64_t meminfo_available(uint64_t kept)
{
	FILE *f = fopen("/proc/meminfo", "re");
	uint64_t kib = UINT64_MAX;
	char line[256];

	if (!f)
		return UINT64_MAX;
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "MemAvailable: %" SCNu64 " kB", &kib) == 1)
			break;
	fclose(f);
	return kib == UINT64_MAX ? kib : (kib << 10) + kept;
}

static uint64_t read_number(const char *dir, const char *name)
{
	uint64_t value = UINT64_MAX;
	char path[1024];
	FILE *f;

	if (snprintf(path, sizeof(path), "/sys/fs/cgroup%s/%s", dir, name) >= (int)sizeof(path))
		return UINT64_MAX;
	f = fopen(path, "re");
	if (!f)
		return UINT64_MAX;
	if (fscanf(f, "%" SCNu64, &value) != 1)	/* "max" */
		value = UINT64_MAX;
	fclose(f);
	return value;
}

/* The number behind a name in one of the files that have a line for each; 0: not there. */
static uint64_t read_line(const char *dir, const char *name, const char *key)
{
	uint64_t value = 0, v;
	char path[1024], line[256], word[64];
	FILE *f;

	if (snprintf(path, sizeof(path), "/sys/fs/cgroup%s/%s", dir, name) >= (int)sizeof(path))
		return 0;
	f = fopen(path, "re");
	if (!f)
		return 0;
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "%63s %" SCNu64, word, &v) == 2 && !strcmp(word, key))
			value = v;
	fclose(f);
	return value;
}

/* A version of control groups: where its memory controller is and what it calls things. */
struct hierarchy {
	const char *line, *root, *max, *used, *cache;
};

static const struct hierarchy hierarchies[] = {
	{ "0::", "", "memory.max", "memory.current", "inactive_file" },
	/* "no limit" is a number near 2^63 there */
	{ ":memory:", "/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
	  "total_inactive_file" },
};

/*
 * What one group leaves.  Files that were read and are not in use do not count: the
 * kernel drops them first, and a container that is started again finds its
 * parameters there.  Other page cache does, which errs on the safe side.
 */
static uint64_t group_available(const struct hierarchy *h, const char *group, uint64_t kept)
{
	uint64_t max, used, cache;
	char dir[768];

	if (snprintf(dir, sizeof(dir), "%s%s", h->root, group) >= (int)sizeof(dir))
		return UINT64_MAX;
	max = read_number(dir, h->max);
	if (max >= UINT64_MAX >> 2)
		return UINT64_MAX;
	used = read_number(dir, h->used);
	if (used == UINT64_MAX)
		return max;
	cache = read_line(dir, "memory.stat", h->cache);
	used -= cache < used ? cache : used;
	/* a group made after a restart was never charged for what was kept over it */
	if (used >= kept)
		used -= kept;
	return used < max ? max - used : 0;
}

/*
 * The least that a group and those above it leave.  A container may not see its group by the name
 * that the kernel gives; the root of what it sees is the group then.
 */
static uint64_t groups_available(const struct hierarchy *h, char *group, uint64_t kept)
{
	uint64_t least = group_available(h, "", kept), left;
	char *slash;

	group[strcspn(group, "\n")] = '\0';
	while ((slash = strrchr(group, '/'))) {
		left = group_available(h, group, kept);
		if (left < least)
			least = left;
		*slash = '\0';
	}
	return least;
}

static uint64_t cgroup_available(uint64_t kept)
{
	FILE *f = fopen("/proc/self/cgroup", "re");
	uint64_t least = UINT64_MAX, left;
	char line[512], *group;
	size_t i;

	if (!f)
		return UINT64_MAX;
	while (fgets(line, sizeof(line), f)) {
		for (i = 0; i < sizeof(hierarchies) / sizeof(hierarchies[0]); i++) {
			group = strstr(line, hierarchies[i].line);
			if (!group || (!i && group != line))
				continue;
			left = groups_available(&hierarchies[i],
						group + strlen(hierarchies[i].line), kept);
			if (left < least)
				least = left;
			break;
		}
	}
	fclose(f);
	return least;
}

uint64_t budget_available(uint64_t kept)
{
	uint64_t machine = meminfo_available(kept), group = cgroup_available(kept);

	return machine < group ? machine : group;
}

uint64_t budget_total(const struct config *config, uint64_t kept)
{
	uint64_t total = config->global.host_memory;

	if (total)
		return total;
	total = budget_available(kept);
	if (total == UINT64_MAX)
		return 0;
	total -= total / 10;
	return total ? total : BUDGET_NOTHING;
}

uint64_t budget_requests(const struct config *config, uint64_t available)
{
	uint64_t most = available / 20;

	if (config->global.host_memory || available == UINT64_MAX)
		return config->global.queue_bytes;
	if (most < config->global.message_limit)
		most = config->global.message_limit;
	return most < config->global.queue_bytes ? most : config->global.queue_bytes;
}

uint64_t budget_share(uint64_t total, uint64_t others, uint32_t n)
{
	uint64_t share;

	if (!total || !n)
		return 0;
	share = total > others ? (total - others) / n : 0;
	return share ? share : BUDGET_NOTHING;
}
