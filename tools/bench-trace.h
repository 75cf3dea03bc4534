/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * bench-trace.h - spans of time, in the JSON that Perfetto and chrome://tracing open
 *
 * The same format as the service's own (/job/ID/trace).  Any thread; every
 * function accepts a NULL trace and then does nothing.
 */
#ifndef CUZK_TOOLS_BENCH_TRACE_H
#define CUZK_TOOLS_BENCH_TRACE_H

#include <stdint.h>

struct trace;

int trace_open(struct trace **out);
/* Rows are numbered by the caller; name is copied. */
__attribute__((format(printf, 3, 4)))
void trace_row(struct trace *t, unsigned int row, const char *fmt, ...);
/* start and end are of bench_ns().  Longer names are cut. */
__attribute__((format(printf, 6, 7)))
void trace_span(struct trace *t, unsigned int row, const char *category, uint64_t start,
		uint64_t end, const char *fmt, ...);
/* Writes the file, whole or not at all, and frees the trace.  path NULL: only frees. */
int trace_close(struct trace *t, const char *path);

#endif
