/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * build.h - builds a struct cs from uses of gadgets
 *
 * Each use names the gadget, a parameter and the variables bound to its
 * arguments.  The first use with a new pattern (which arguments are constants,
 * which are the same variable) records a template; later ones only append an
 * instance.  Errors are sticky and come out of cs_builder_finish().
 */
#ifndef CUZK_CS_BUILD_H
#define CUZK_CS_BUILD_H

#include <stddef.h>
#include <stdint.h>

#include "engine/cs/rec.h"
#include "lib/cs.h"

/* Arguments are global variables (CS_VAR_INPUT | index or aux index), or Boolean constants. */
#define CS_ARG_ONE (CS_VAR_INPUT | 0)
#define CS_ARG_FALSE 0x7ffffffeu
#define CS_ARG_TRUE 0x7fffffffu
#define CS_ARG_IS_CONST(arg) (((arg) | 1) == CS_ARG_TRUE)
#define CS_MAX_ARGS 1024
#define CS_MAX_AUX 0x7ffffff0u

struct cs_gadget {
	const char *name;	/* element of row paths */
	uint32_t kind;		/* unique; struct cs_template.kind */
	/* args in the caller's order: REC_IS of a port, or constants */
	void (*record)(struct rec *r, uint64_t param, const struct rec_bit *args, size_t n);
};

struct cs_builder;

int cs_builder_open(struct cs_builder **b);
void cs_builder_close(struct cs_builder *b);
/* Appends an instance; *pos is a copy of it. */
void cs_builder_use(struct cs_builder *b, const struct cs_gadget *gadget, uint64_t param,
		    const uint32_t *args, size_t n_args, struct cs_instance *pos);
/* Aux variables so far. */
uint32_t cs_builder_n_aux(const struct cs_builder *b);
/* Path of the instances that follow, "sector 3/challenge 1"; copied. */
void cs_builder_scope(struct cs_builder *b, const char *path);
/* The system, freed by cs_free(); the builder can only be closed then.  -ENOMEM, -E2BIG. */
int cs_builder_finish(struct cs_builder *b, struct cs **cs);

/*
 * An own allocation for a struct cs; what cs_free() frees.  cs_derive() makes
 * densities, full_map and full_rank from the rest (also for mapped files).
 */
struct cs_box {
	struct cs cs;		/* first */
	void *map;		/* the arrays are in this mapping, or NULL: malloc */
	size_t map_size;
};
int cs_derive(struct cs *cs);
void cs_free_derived(struct cs *cs);

#endif
