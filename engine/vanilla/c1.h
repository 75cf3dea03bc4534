/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* c1.h - the reader of commit phase 1's output, shared by its two halves */
#ifndef CUZK_VANILLA_C1_H
#define CUZK_VANILLA_C1_H

#include "engine/vanilla/internal.h"
#include "lib/base64.h"
#include "lib/json.h"

struct c1_ahead;

struct c1_reader {
	struct vanilla *v;
	struct c1 *c1;
	struct json j;
	struct base64_reader base64;
	unsigned int drop;			/* bytes to leave out of what comes next */
	size_t step;				/* bytes that come next, at most */
	struct c1_ahead *ahead;			/* NULL: all is read in order */
	struct field_path path;
	bool have_roots[3];			/* of root_c, root_r, root_d */
	bool no_memory;
	char what[160];				/* what json_fail was told */

	/* of the challenge that is being read, as bytes */
	uint8_t rows[N_COLUMNS][MAX_LAYERS][32];
	struct {
		uint64_t layer, node;
		uint8_t parents[N_HASHED_PARENTS][32];
	} labels[MAX_LAYERS + 1];		/* the last one: encoding_proof */

	char buf[64 << 10];
};

/* The first failure stands, with the path where it was. */
__attribute__((format(printf, 2, 3)))
void c1_fail(struct c1_reader *r, const char *fmt, ...);
/* Back to a mark of the path; after a failure the path stays where it broke. */
void c1_leave(struct c1_reader *r, size_t mark);

/*
 * Goes to the next member that names has; its index, or -1 behind the last,
 * where all but those in optional must have been seen.  The path has the
 * member's name until c1_leave(mark).
 */
int c1_member(struct c1_reader *r, const char *const *names, unsigned int optional,
	      unsigned int *seen, size_t *mark);
/* Before element i of n: true, and the path has its index until c1_leave(mark). */
bool c1_element(struct c1_reader *r, unsigned int i, unsigned int n, size_t *mark);
void c1_fr(struct c1_reader *r, struct fr *x, uint8_t bytes[32]);

/* One challenge's proof, c1_challenge.c */
void c1_challenge(struct c1_reader *r, struct porep_challenge_input *in,
		  struct porep_extra *extra);

/* Reading starts at byte at of the inner text, and ends in the group of byte end - 1. */
void c1_text(struct c1_reader *r, const struct base64_reader *text, uint64_t at, uint64_t end);
/* The memory of part, which has been zero. -ENOMEM. */
int c1_partition_open(const struct sector_shape *shape, struct porep_partition *part);
void c1_partition_close(struct porep_partition *part);

/*
 * Reading ahead, c1_ahead.c: r stands before the partitions, whose shape is known.  The pool's
 * threads read what looks like the challenges from there on, each into its place in v->porep.  NULL
 * where there is nothing to gain.  This changes neither what is accepted nor what is said about
 * it: only what was read without a fault, from just where r comes to, counts.
 */
struct c1_ahead *c1_ahead_open(struct c1_reader *r, struct tpool *pool);
/* r is before a challenge: was it read into that place?  Then r is behind it now. */
bool c1_ahead_take(struct c1_reader *r, unsigned int partition, unsigned int challenge);
/* Also frees what was opened for partitions that v does not have. */
void c1_ahead_close(struct c1_ahead *a);

#endif
