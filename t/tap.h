/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * tap.h - the Test Anything Protocol for the unit tests
 *
 * A program calls ok() any number of times and returns tap_done(), which
 * prints the plan; it exits 1 when a test failed or none ran.
 */
#ifndef CUZK_T_TAP_H
#define CUZK_T_TAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int tap_count, tap_failed;

__attribute__((format(printf, 2, 3)))
static inline bool ok(bool pass, const char *fmt, ...)
{
	va_list ap;

	printf("%sok %d - ", pass ? "" : "not ", ++tap_count);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	if (!pass)
		tap_failed++;
	fflush(stdout);
	return pass;
}

__attribute__((format(printf, 1, 2)))
static inline void diag(const char *fmt, ...)
{
	va_list ap;

	printf("# ");
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	fflush(stdout);
}

/* Marks one test as skipped; a failure where CUZK_TEST_REQUIRE names what is missing. */
static inline void skip(const char *what, const char *why)
{
	const char *required = getenv("CUZK_TEST_REQUIRE");

	if (required && strstr(required, what))
		ok(false, "%s is required: %s", what, why);
	else
		printf("ok %d # SKIP %s: %s\n", ++tap_count, what, why);
	fflush(stdout);
}

static inline int tap_done(void)
{
	printf("1..%d\n", tap_count);
	return tap_failed || !tap_count;
}

/* Path of a file under t/data; a static buffer. */
static inline const char *data_path(const char *name)
{
	static char path[4096];
	const char *src = getenv("CUZK_SRCDIR");

	snprintf(path, sizeof(path), "%s/t/data/%s", src ? src : ".", name);
	return path;
}

#endif
