/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * foreign-proto.h - reads the C prototypes by which foreign engines are described
 *
 *	prototype = type SYMBOL "(" ( "void" | argument { "," argument } )? ")" [";"]
 *	argument  = type ROLE
 *	type      = ["const"] base { "*" ["const"] }		at most two "*"
 *	base      = "void" | "bool" | "char" | "size_t" | "ssize_t" | "intN_t" | "uintN_t"
 *		  | ["unsigned" | "signed"] ["short" | "long" | "long" "long"] ["int"]
 *		  | ("unsigned" | "signed") "char"
 *
 * The name of an argument is its role: it says what is passed there.  Which
 * type a role may have is checked against the table of roles.
 */
#ifndef CUZK_PLUGIN_FOREIGN_PROTO_H
#define CUZK_PLUGIN_FOREIGN_PROTO_H

#include <stdbool.h>
#include <stddef.h>

#define PROTO_ARGS_MAX 24
#define PROTO_SYMBOL_MAX 128
#define PROTO_WHY 200

enum proto_base {
	BASE_VOID, BASE_BOOL, BASE_CHAR, BASE_I8, BASE_U8, BASE_I16, BASE_U16, BASE_I32,
	BASE_U32, BASE_I64, BASE_U64, BASE_SIZE,
};

struct proto_type {
	enum proto_base base;
	unsigned int stars;
	bool is_const;		/* what the last star points to may not be written */
};

/* What is passed. */
enum proto_role {
	ROLE_ZERO,		/* 0 or NULL */
	ROLE_CTX, ROLE_CTX_OUT, ROLE_DEVICE, ROLE_THREADS, ROLE_VRAM_BUDGET, ROLE_HOST_BUDGET,
	ROLE_KIND, ROLE_REGISTERED_PROOF, ROLE_SECTOR_SIZE, ROLE_SECTOR_NUMBER, ROLE_MINER_ID,
	ROLE_PROVER_ID, ROLE_PARTITION_INDEX, ROLE_PARTITION,
	ROLE_VANILLA_PROOF, ROLE_VANILLA_PROOF_SIZE,
	ROLE_VANILLA_PROOFS, ROLE_VANILLA_PROOF_SIZES, ROLE_N_VANILLA_PROOFS,
	ROLE_RANDOMNESS, ROLE_COMM_R_OLD, ROLE_COMM_R_NEW, ROLE_COMM_D_NEW,
	ROLE_PROOF_OUT, ROLE_PROOF, ROLE_PROOF_SIZE, ROLE_PROOF_SIZE_OUT,
	ROLE_ERROR, ROLE_ERROR_SIZE,
	ROLE_COUNT
};

enum proto_op {
	OP_OPEN, OP_CLOSE, OP_SELF_TEST, OP_CHECK, OP_PROVE, OP_VERIFY, OP_CANCEL, OP_LAST_ERROR,
	OP_COUNT
};

struct proto {
	char symbol[PROTO_SYMBOL_MAX];
	struct proto_type result;
	struct {
		struct proto_type type;
		enum proto_role role;
	} args[PROTO_ARGS_MAX];
	unsigned int n_args;
};

/* Reads the prototype of an operation; -EINVAL with why. */
int proto_parse(struct proto *proto, enum proto_op op, const char *text, char why[PROTO_WHY]);

const char *proto_op_name(enum proto_op op);
/* OP_COUNT: no such operation. */
enum proto_op proto_op_find(const char *name, size_t len);

bool proto_has(const struct proto *proto, enum proto_role role);

#endif
