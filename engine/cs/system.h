/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * system.h - constraint systems and witnesses as objects: free, look up,
 * evaluate, transpose, store in a file
 *
 * The data itself is lib/cs.h's.  Systems come from circuit_build()
 * (engine/circuits/circuit.h), from cs_file_map() or from an R1CS reader.
 */
#ifndef CUZK_CS_SYSTEM_H
#define CUZK_CS_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/cs.h"
#include "lib/tpool.h"

/* Frees a built or unmaps a mapped system; NULL is fine. */
void cs_free(struct cs *cs);
/* Bytes that cs holds in memory. */
size_t cs_size(const struct cs *cs);

/* Zeroed values, inputs[0] = 1.  -ENOMEM. */
int cs_witness_init(struct cs_witness *w, const struct cs *cs);
void cs_witness_fini(struct cs_witness *w);

/* Value of a global variable (CS_VAR_INPUT or aux index), Montgomery. */
void cs_witness_get(const struct cs *cs, const struct cs_witness *w, uint32_t var, struct fr *v);

/* For tests and for those who debug circuits: a bit flips, another value gets one more. */
void cs_witness_alter(const struct cs *cs, struct cs_witness *w, uint32_t var);

/*
 * Values of A, B, C at rows first..first+n-1, the x_i * 0 = 0 ones behind the
 * last instance included; any of a, b, c may be NULL.  One thread, term by
 * term: the oracle for the backends, and fast enough for digests.
 */
void cs_eval_rows(const struct cs *cs, const struct cs_witness *w, uint64_t first, uint64_t n,
		  struct fr *a, struct fr *b, struct fr *c);

/* First row with A*B != C, or UINT64_MAX. */
uint64_t cs_first_bad_row(const struct cs *cs, const struct cs_witness *w, struct tpool *pool);

/*
 * For people who debug circuits: "porep-2k/challenge 1/.../row 17 of 530" for a
 * row, by gadget names.  Always NUL-terminated.
 */
void cs_row_path(const struct cs *cs, uint64_t row, char *buf, size_t size);

/*
 * For parameter generation: with l[row] given for all 2^log_domain rows,
 * at[v] = sum over rows of A's coefficient of v times l[row], likewise bt, ct;
 * v runs over the inputs, then aux (n_inputs + n_aux elements each).  The
 * x_i * 0 = 0 rows are included.  -ENOMEM.
 */
int cs_transpose_eval(const struct cs *cs, struct tpool *pool, const struct fr *l,
		      struct fr *at, struct fr *bt, struct fr *ct);

/*
 * The cache file: a versioned header with a SHA-256 of the file, then the
 * arrays as they are in memory, mapped read-only.  The densities are made
 * again at load.  tag is the circuit's name.  write replaces path at once
 * (rename).  map gives -EBADMSG and one line in err (256 bytes) for a file that
 * is not exactly what write makes for that tag; -ENOENT, -EACCES, -ENOMEM...
 * from the system.  The version changes with lib/cs.h and with any circuit.
 */
#define CS_FILE_VERSION 1
int cs_file_write(const struct cs *cs, const char *tag, const char *path, char *err);
int cs_file_map(const char *path, const char *tag, struct cs **cs, char *err);

#endif
