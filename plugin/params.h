/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* params.h - the parameters that an engine declares and [engine NAME] sets */
#ifndef CUZK_PLUGIN_PARAMS_H
#define CUZK_PLUGIN_PARAMS_H

#include "plugin/api/cuzk_engine.h"

/* A key of [engine NAME]; place is "file:line". */
struct params_given {
	const char *name, *value, *place;
};

/*
 * Checks what is given against what is declared and makes the list for probe(),
 * defaults included, ended by name NULL.  The list points into given and
 * declared; free() frees it.  params_dir, when not NULL, is the value of a
 * declared, not given params_dir.  Each error goes to report as
 * "file:line: message"; -EINVAL then.
 */
int params_check(const struct cuzk_param *declared, const struct params_given *given, int n,
		 const char *params_dir, struct cuzk_option **options,
		 void (*report)(void *ctx, const char *line), void *ctx);

#endif
