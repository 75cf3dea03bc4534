/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* gpu-visible.c - how to make one GPU the only one that a process sees */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "plugin/instance-private.h"

/* "65:00.0" and "00000000:65:00.0" to the driver's "0000:65:00.0". */
static int normal_address(const char *device, char *address, size_t size)
{
	unsigned int domain = 0, bus, slot, fn;

	if (sscanf(device, "%8x:%2x:%2x.%1u", &domain, &bus, &slot, &fn) != 4) {
		domain = 0;
		if (sscanf(device, "%2x:%2x.%1u", &bus, &slot, &fn) != 3)
			return -EINVAL;
	}
	snprintf(address, size, "%04x:%02x:%02x.%u", domain, bus, slot, fn);
	return 0;
}

/* The value of "GPU UUID:" in the driver's information file. */
static int read_uuid(const char *path, char *value, size_t size)
{
	char line[256];
	int r = -ENOENT;
	FILE *f;

	f = fopen(path, "re");
	if (!f)
		return -errno;
	while (r < 0 && fgets(line, sizeof(line), f)) {
		char *p = line;

		if (strncmp(p, "GPU UUID:", 9))
			continue;
		for (p += 9; isblank((unsigned char)*p); p++)
			;
		p[strcspn(p, " \t\r\n")] = '\0';
		if (strncmp(p, "GPU-", 4) || strlen(p) >= size)
			break;
		strcpy(value, p);
		r = 0;
	}
	fclose(f);
	return r;
}

int gpu_visible(const char *device, const char *proc, char *value, size_t size)
{
	char address[32], path[512];

	if (!strncmp(device, "GPU-", 4) || !strncmp(device, "MIG-", 4)) {
		if (strlen(device) >= size)
			return -ENAMETOOLONG;
		strcpy(value, device);
		return 0;
	}
	if (normal_address(device, address, sizeof(address)) < 0)
		return -ENOENT;
	snprintf(path, sizeof(path), "%s/%s/information", proc, address);
	return read_uuid(path, value, size);
}
