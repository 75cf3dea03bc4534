/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * input.h - what the circuits take: private and public values as plain data
 *
 * The vanilla-proof readers fill these; circuit_witness() reads them and
 * keeps no reference.  Field elements are in Montgomery form.  All arrays stay
 * the caller's.  A count that does not fit the circuit is refused with
 * -EINVAL; values are not checked here (a wrong one makes a witness that does
 * not satisfy the system).  Public inputs are derived from these by the
 * circuit, in allocation order.
 */
#ifndef CUZK_CIRCUITS_INPUT_H
#define CUZK_CIRCUITS_INPUT_H

#include <stddef.h>
#include <stdint.h>

#include "lib/bls12_381/fr.h"

/*
 * A Merkle path from the leaf up.  The base, sub and top parts of a Sub or
 * Top proof are simply one after another.  A level of arity n has n-1
 * siblings, in order with the path's own node left out; index is that node's
 * place, 0..n-1.  The arities are the circuit's: 8 or 4 or 2 by the tree's
 * shape, 2 for TreeD.
 */
struct path_input {
	size_t n_levels;
	size_t n_siblings;		/* of all levels: sum of arity-1 */
	const uint8_t *index;		/* n_levels */
	const struct fr *siblings;	/* n_siblings, level after level */
};

struct tiny_input {
	struct fr x;
};

/* WinningPoSt and WindowPoSt */
struct post_challenge_input {
	struct fr leaf;
	struct path_input path;		/* TreeR, root comm_r_last */
};

struct post_sector_input {
	struct fr comm_r, comm_c, comm_r_last;
	size_t n_challenges;		/* window 10; winning 1 */
	const struct post_challenge_input *challenges;
};

/*
 * One partition.  The reader unrolls winning's 66 challenges to 66 sectors of
 * one challenge and pads window's last partition by repeating its last sector,
 * so that n_sectors is the circuit's.
 */
struct post_input {
	size_t n_sectors;
	const struct post_sector_input *sectors;
};

/* PoRep: one partition of StackedDrg */
#define POREP_DRG_PARENTS 6
#define POREP_EXP_PARENTS 8

struct porep_column_input {
	size_t n_rows;			/* layers */
	const struct fr *rows;		/* labels of one node, layer 1 first */
	struct path_input path;		/* TreeC, root comm_c */
};

struct porep_challenge_input {
	uint64_t challenge;		/* node */
	struct fr data_leaf;
	struct path_input path_d;	/* TreeD, root comm_d */
	struct porep_column_input drg[POREP_DRG_PARENTS];
	struct porep_column_input exp[POREP_EXP_PARENTS];
	struct path_input path_r;	/* TreeR of the challenge, root comm_r_last */
	struct path_input path_c;	/* TreeC of the challenge's own column (c_x) */
};

struct porep_input {
	struct fr replica_id, comm_d, comm_r, comm_r_last, comm_c;
	size_t n_challenges;
	const struct porep_challenge_input *challenges;
};

/* SnapDeals (EmptySectorUpdate) and its Poseidon variant: one partition */
struct update_challenge_input {
	struct fr leaf_r_old, leaf_d_new, leaf_r_new;
	struct path_input path_r_old, path_d_new, path_r_new;	/* whole paths to the root */
};

struct update_input {
	uint64_t partition;		/* k */
	uint64_t h_select;		/* one of 6 bits: 1 << index of h among the sector's six */
	struct fr comm_r_old, comm_d_new, comm_r_new;
	struct fr comm_c, root_r_old, root_r_new;
	size_t n_apex_leafs;		/* 8 or 128; 0 for the Poseidon variant */
	const struct fr *apex_leafs;
	size_t n_challenges;
	const struct update_challenge_input *challenges;
};

/* One partition's input, by the circuit's kind (circuit.h). */
union circuit_input {
	const struct tiny_input *tiny;
	const struct post_input *post;
	const struct porep_input *porep;
	const struct update_input *update;
};

#endif
