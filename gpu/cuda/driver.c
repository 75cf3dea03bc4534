/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* driver.c - opens libcuda and finds what we use of it */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

#include "gpu/cuda/driver.h"

#define DRIVER_LIBRARY "libcuda.so.1"

static struct cuda_driver table;
static const struct cuda_driver *driver;
static char failure[256];

static const struct {
	const char *symbol;
	void **slot;
} symbols[] = {
#define X(field, symbol, args) { symbol, (void **)&table.field },
	CUDA_DRIVER_FUNCTIONS(X)
#undef X
};

static void driver_load(void)
{
	void *library = dlopen(DRIVER_LIBRARY, RTLD_NOW | RTLD_LOCAL);
	const char *name = "unknown error";
	int version = 0;
	CUresult res;
	size_t i;

	if (!library) {
		snprintf(failure, sizeof(failure), "no CUDA driver: %s", dlerror());
		return;
	}
	for (i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
		*symbols[i].slot = dlsym(library, symbols[i].symbol);
		if (!*symbols[i].slot) {
			snprintf(failure, sizeof(failure),
				 "the CUDA driver is too old: %s lacks %s; need %d.%d or later",
				 DRIVER_LIBRARY, symbols[i].symbol, CUDA_DRIVER_VERSION_MIN / 1000,
				 CUDA_DRIVER_VERSION_MIN % 1000 / 10);
			return;
		}
	}
	table.driver_version(&version);
	if (version < CUDA_DRIVER_VERSION_MIN) {
		snprintf(failure, sizeof(failure),
			 "the CUDA driver is too old: it speaks CUDA %d.%d, need %d.%d or later",
			 version / 1000, version % 1000 / 10, CUDA_DRIVER_VERSION_MIN / 1000,
			 CUDA_DRIVER_VERSION_MIN % 1000 / 10);
		return;
	}
	res = table.init(0);
	if (res != CUDA_SUCCESS) {
		table.error_name(res, &name);
		snprintf(failure, sizeof(failure), "the CUDA driver does not start: %s (error %d)",
			 name, res);
		return;
	}
	driver = &table;
}

const struct cuda_driver *cuda_driver_get(char *err)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, driver_load);
	if (!driver)
		snprintf(err, 256, "%s", failure);
	return driver;
}
