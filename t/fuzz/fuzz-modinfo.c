/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* fuzz-modinfo.c - the ELF reader */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/modinfo.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct modinfo info;
	const char *p = NULL;
	char path[64];
	size_t total = 0;

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (!modinfo_read(&info, path)) {
		while ((p = modinfo_next(&info, p)))
			total += strlen(p);
		if (total > size)
			abort();
		modinfo_get(&info, "name");
		modinfo_free(&info);
	}
	close(fd);
	return 0;
}
