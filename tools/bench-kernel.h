/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * bench-kernel.h - one kernel, measured beside a reference
 *
 * The reference is blst where its library is at hand.  Both sides alternate;
 * results are compared first, and a kernel whose result was not compared with
 * anything, or differs, has no figures.
 */
#ifndef CUZK_TOOLS_BENCH_KERNEL_H
#define CUZK_TOOLS_BENCH_KERNEL_H

#include <stdbool.h>
#include <stddef.h>

#include "tools/bench-peak.h"

enum check {
	CHECK_EQUAL,
	CHECK_DIFFERS,
	CHECK_NONE,		/* there is nothing to compare with */
};

struct kernel {
	const char *name;
	/* n operations of ours or of the reference's */
	void (*run)(void *arg, bool ref, int n);
	enum check (*check)(void *arg);
	void *arg;
	int n;			/* operations of one measurement */
	bool has_ref;
	bool wall;		/* several threads: on the clock, the reference on one */
	double fp, fr;		/* products that one operation cannot do without; 0: not known */
};

struct kernels {
	struct peak peak;
	const char *only;	/* part of a name; NULL: all */
	int rounds;
	bool portable;		/* without the processor's special instructions */
	unsigned int log_n, log_g2, threads;
	unsigned int wrong;
};

/* Whether name is asked for. */
bool kernel_chosen(const struct kernels *set, const char *name);
void kernel_measure(struct kernels *set, const struct kernel *k);

/* The tables. 0 or an exit status. */
int kernels_arith(struct kernels *set);
int kernels_bulk(struct kernels *set);

/* bench-blst.c: dlopen()s the library; NULL path: there is none.  0 or -ENOENT, said. */
int blst_load(const char *path);
bool blst_loaded(void);
/* NULL without the library; ends the program when the library has no such function. */
void *blst_find(const char *name);

#endif
