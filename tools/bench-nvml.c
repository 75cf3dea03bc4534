/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* bench-nvml.c - NVIDIA's devices through their library, if it is there */
#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>

#include "tools/bench-nvml.h"

/* Of nvml.h, whose layout is stable. */
struct nvml_memory {
	unsigned long long total, free, used;
};

struct nvml_utilization {
	unsigned int gpu, memory;	/* percent */
};

static int (*get_count)(unsigned int *n);
static int (*get_handle)(unsigned int i, void **device);
static int (*get_memory)(void *device, struct nvml_memory *memory);
static int (*get_utilization)(void *device, struct nvml_utilization *utilization);

static bool find(void *lib, const char *name, void *fn)
{
	*(void **)fn = dlsym(lib, name);
	return *(void **)fn != NULL;
}

bool nvml_open(void)
{
	void *lib = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
	unsigned int n;
	int (*init)(void);

	return lib && find(lib, "nvmlInit_v2", &init) &&
	       find(lib, "nvmlDeviceGetCount_v2", &get_count) &&
	       find(lib, "nvmlDeviceGetHandleByIndex_v2", &get_handle) &&
	       find(lib, "nvmlDeviceGetMemoryInfo", &get_memory) &&
	       find(lib, "nvmlDeviceGetUtilizationRates", &get_utilization) && !init() &&
	       !get_count(&n) && n > 0;
}

void nvml_read(uint64_t *used, double *busy)
{
	struct nvml_utilization utilization;
	struct nvml_memory memory;
	unsigned int n = 0, i;
	void *device;

	*used = 0;
	*busy = 0;
	if (get_count(&n))
		return;
	for (i = 0; i < n; i++) {
		if (get_handle(i, &device))
			continue;
		if (!get_memory(device, &memory))
			*used += memory.used;
		if (!get_utilization(device, &utilization))
			*busy += utilization.gpu / 100. / n;
	}
}
