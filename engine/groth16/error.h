/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * error.h - how the engine's functions say what went wrong
 *
 * A function that can fail for a reason worth telling takes a struct
 * cuzk_error (never NULL), fills it with error_set() where the reason is
 * decided, and returns -errno.
 */
#ifndef CUZK_GROTH16_ERROR_H
#define CUZK_GROTH16_ERROR_H

#include "plugin/api/cuzk_engine.h"

/* Sets class and text (one line) and returns ret. */
__attribute__((format(printf, 4, 5)))
int error_set(struct cuzk_error *err, enum cuzk_error_class cls, int ret, const char *fmt, ...);
/* The usual one: "out of memory for WHAT", CUZK_ERROR_RESOURCE, -ENOMEM. */
int error_nomem(struct cuzk_error *err, const char *what);
/* An error of the system with what was tried: "cannot VERB PATH: strerror". */
int error_errno(struct cuzk_error *err, enum cuzk_error_class cls, int ret, const char *verb,
		const char *path);

#endif
