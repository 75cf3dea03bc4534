/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* bench-blst.c - blst as a reference, opened at run time (t/build-blst.sh makes the library) */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "tools/bench-kernel.h"
#include "tools/bench.h"

static void *lib;

int blst_load(const char *path)
{
	if (!path)
		return 0;
	lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (lib && dlsym(lib, "blst_p1s_mult_pippenger"))
		return 0;
	return ctl_fail("kernels", "%s", lib ? "the library is not blst" : dlerror());
}

bool blst_loaded(void)
{
	return lib != NULL;
}

void *blst_find(const char *name)
{
	void *p = lib ? dlsym(lib, name) : NULL;

	if (lib && !p) {
		fprintf(stderr, "cuzk-bench kernels: blst has no %s\n", name);
		exit(CTL_FAILURE);
	}
	return p;
}
