/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * blst.h - blst as a reference, opened at run time
 *
 * build-blst.sh makes the library.  Its fields, points and Fp12 have our
 * layouts, so pointers to ours can be passed.
 */
#ifndef CUZK_T_BLST_H
#define CUZK_T_BLST_H

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *blst_lib;
static char blst_why_not[256];

/* False, with the reason in blst_why_not, when blst cannot be had. */
static inline bool blst_open(void)
{
	const char *src = getenv("CUZK_SRCDIR");
	char cmd[4096], out[4096] = "", *line;
	FILE *f;
	int rc;

	snprintf(cmd, sizeof(cmd), "'%s/t/build-blst.sh' 2>&1", src ? src : ".");
	f = popen(cmd, "r");
	if (!f) {
		snprintf(blst_why_not, sizeof(blst_why_not), "cannot run build-blst.sh");
		return false;
	}
	while (fgets(out, sizeof(out), f))
		;
	rc = pclose(f);
	line = strchr(out, '\n');
	if (line)
		*line = 0;
	if (rc) {
		snprintf(blst_why_not, sizeof(blst_why_not), "%.200s", out);
		return false;
	}
	blst_lib = dlopen(out, RTLD_NOW | RTLD_LOCAL);
	if (!blst_lib)
		snprintf(blst_why_not, sizeof(blst_why_not), "%.200s", dlerror());
	return blst_lib;
}

static inline void *blst_symbol(const char *name)
{
	void *p = dlsym(blst_lib, name);

	if (!p) {
		fprintf(stderr, "blst has no %s\n", name);
		exit(1);
	}
	return p;
}

#define BLST(type, name, params) type (*name) params = (type (*) params)blst_symbol(#name)

#endif
