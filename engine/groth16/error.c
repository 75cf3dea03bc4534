/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* error.c - how the engine's functions say what went wrong */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "engine/groth16/error.h"

int error_set(struct cuzk_error *err, enum cuzk_error_class cls, int ret, const char *fmt, ...)
{
	va_list ap;
	char *p;

	err->cls = cls;
	va_start(ap, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	/* names come from outside: keep it one line */
	for (p = err->text; *p; p++)
		if ((unsigned char)*p < ' ')
			*p = '?';
	return ret;
}

int error_nomem(struct cuzk_error *err, const char *what)
{
	return error_set(err, CUZK_ERROR_RESOURCE, -ENOMEM, "out of memory for %s", what);
}

int error_errno(struct cuzk_error *err, enum cuzk_error_class cls, int ret, const char *verb,
		const char *path)
{
	return error_set(err, cls, ret, "cannot %s %s: %s", verb, path, strerror(-ret));
}
