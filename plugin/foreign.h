/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * foreign.h - engines that were never written for cuzk_engine.h, through libffi
 *
 * [engine NAME] with type = foreign names a library and, per operation, a symbol
 * with its C prototype (foreign-proto.h, cuzk-foreign(7)).  The table made here
 * looks like that of any engine; the process has one foreign engine at most.
 */
#ifndef CUZK_PLUGIN_FOREIGN_H
#define CUZK_PLUGIN_FOREIGN_H

#include <ffi.h>

#include "plugin/api/cuzk_engine.h"
#include "plugin/foreign-proto.h"
#include "plugin/loader.h"
#include "plugin/params.h"

/*
 * Loads library and prepares the calls that given (the keys of [engine NAME])
 * describe.  why on failure: "file:line: message".
 */
int foreign_open(const char *library, const char *library_place,
		 const struct params_given *given, int n, struct cuzk_engine_ops *ops,
		 char why[LOADER_WHY]);

/* ---- foreign-call.c: one prepared call ---- */

struct foreign_call {
	bool set;
	struct proto proto;
	void (*fn)(void);
	ffi_cif cif;
	ffi_type *types[PROTO_ARGS_MAX];
};

/* The value of each role; numbers in n, pointers in p. */
union foreign_value {
	uint64_t n;
	const void *p;
};

/* Prepares the call for call->proto. -EINVAL. */
int foreign_call_prepare(struct foreign_call *call);

struct foreign_result {
	bool good;		/* by the kind of status that it returns */
	int64_t status;		/* an integer result */
	void *pointer;		/* a pointer result */
};

/* The operations of this process's foreign engine, and the table that leads to them. */
extern struct foreign_call foreign_calls[OP_COUNT];
extern const struct cuzk_engine_ops foreign_ops;

void foreign_call_run(struct foreign_call *call, const union foreign_value values[ROLE_COUNT],
		      struct foreign_result *result);

#endif
