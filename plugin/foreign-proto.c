/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* foreign-proto.c - reads the C prototypes by which foreign engines are described */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "plugin/foreign-proto.h"

#define OP(op) (1u << OP_##op)
#define REQUEST (OP(CHECK) | OP(PROVE) | OP(VERIFY))
#define ALL_BUT_ERROR (OP(CLOSE) | OP(SELF_TEST) | REQUEST | OP(CANCEL) | OP(LAST_ERROR))

/* Which types a role takes. */
enum shape {
	SHAPE_ANY,	/* any but void */
	SHAPE_INT,
	SHAPE_CTX,	/* void *, const or not */
	SHAPE_CTX_OUT,	/* void ** */
	SHAPE_STRING,	/* const char * */
	SHAPE_BYTES,	/* const void *, const char *, const uint8_t * */
	SHAPE_LIST,	/* const void * const *, and so on */
	SHAPE_SIZES,	/* const size_t * */
	SHAPE_SIZE_OUT,	/* size_t * */
	SHAPE_ROOM,	/* void *, char *, uint8_t * */
	SHAPE_TEXT_ROOM,	/* char * */
};

static const struct {
	const char *name;
	enum shape shape;
	unsigned int ops;
} roles[ROLE_COUNT] = {
	[ROLE_ZERO] = { "zero", SHAPE_ANY, ~0u },
	[ROLE_CTX] = { "ctx", SHAPE_CTX, ALL_BUT_ERROR },
	[ROLE_CTX_OUT] = { "ctx_out", SHAPE_CTX_OUT, OP(OPEN) },
	[ROLE_DEVICE] = { "device", SHAPE_STRING, OP(OPEN) },
	[ROLE_THREADS] = { "threads", SHAPE_INT, OP(OPEN) | OP(PROVE) },
	[ROLE_VRAM_BUDGET] = { "vram_budget", SHAPE_INT, OP(OPEN) },
	[ROLE_HOST_BUDGET] = { "host_budget", SHAPE_INT, OP(OPEN) },
	[ROLE_KIND] = { "kind", SHAPE_INT, REQUEST },
	[ROLE_REGISTERED_PROOF] = { "registered_proof", SHAPE_INT, REQUEST },
	[ROLE_SECTOR_SIZE] = { "sector_size", SHAPE_INT, REQUEST },
	[ROLE_SECTOR_NUMBER] = { "sector_number", SHAPE_INT, REQUEST },
	[ROLE_MINER_ID] = { "miner_id", SHAPE_INT, REQUEST },
	[ROLE_PROVER_ID] = { "prover_id", SHAPE_BYTES, REQUEST },
	[ROLE_PARTITION_INDEX] = { "partition_index", SHAPE_INT, REQUEST },
	[ROLE_PARTITION] = { "partition", SHAPE_INT, OP(PROVE) | OP(VERIFY) | OP(CANCEL) },
	[ROLE_VANILLA_PROOF] = { "vanilla_proof", SHAPE_BYTES, REQUEST },
	[ROLE_VANILLA_PROOF_SIZE] = { "vanilla_proof_size", SHAPE_INT, REQUEST },
	[ROLE_VANILLA_PROOFS] = { "vanilla_proofs", SHAPE_LIST, REQUEST },
	[ROLE_VANILLA_PROOF_SIZES] = { "vanilla_proof_sizes", SHAPE_SIZES, REQUEST },
	[ROLE_N_VANILLA_PROOFS] = { "n_vanilla_proofs", SHAPE_INT, REQUEST },
	[ROLE_RANDOMNESS] = { "randomness", SHAPE_BYTES, REQUEST },
	[ROLE_COMM_R_OLD] = { "comm_r_old", SHAPE_BYTES, REQUEST },
	[ROLE_COMM_R_NEW] = { "comm_r_new", SHAPE_BYTES, REQUEST },
	[ROLE_COMM_D_NEW] = { "comm_d_new", SHAPE_BYTES, REQUEST },
	[ROLE_PROOF_OUT] = { "proof_out", SHAPE_ROOM, OP(PROVE) },
	[ROLE_PROOF] = { "proof", SHAPE_BYTES, OP(VERIFY) },
	[ROLE_PROOF_SIZE] = { "proof_size", SHAPE_INT, OP(PROVE) | OP(VERIFY) },
	[ROLE_PROOF_SIZE_OUT] = { "proof_size_out", SHAPE_SIZE_OUT, OP(PROVE) },
	[ROLE_ERROR] = { "error", SHAPE_TEXT_ROOM, OP(OPEN) | OP(SELF_TEST) | REQUEST },
	[ROLE_ERROR_SIZE] = { "error_size", SHAPE_INT, OP(OPEN) | OP(SELF_TEST) | REQUEST },
};

static const char *const op_names[OP_COUNT] = {
	"open", "close", "self_test", "check", "prove", "verify", "cancel", "last_error"
};

const char *proto_op_name(enum proto_op op)
{
	return op_names[op];
}

enum proto_op proto_op_find(const char *name, size_t len)
{
	enum proto_op op;

	for (op = 0; op < OP_COUNT; op++) {
		if (strlen(op_names[op]) == len && !strncmp(op_names[op], name, len))
			break;
	}
	return op;
}

bool proto_has(const struct proto *proto, enum proto_role role)
{
	unsigned int i;

	for (i = 0; i < proto->n_args; i++) {
		if (proto->args[i].role == role)
			return true;
	}
	return false;
}

/* ---- words ---- */

struct words {
	const char *p;
	char word[PROTO_SYMBOL_MAX];	/* the current one; "" at the end */
	bool too_long;
};

static void next_word(struct words *w)
{
	size_t n = 0;

	while (isspace((unsigned char)*w->p))
		w->p++;
	while (isalnum((unsigned char)w->p[n]) || w->p[n] == '_')
		n++;
	if (!n && *w->p)
		n = 1;
	if (n >= sizeof(w->word)) {
		w->too_long = true;
		n = sizeof(w->word) - 1;
	}
	memcpy(w->word, w->p, n);
	w->word[n] = '\0';
	w->p += n;
}

static bool take(struct words *w, const char *word)
{
	if (strcmp(w->word, word))
		return false;
	next_word(w);
	return true;
}

static bool is_name(const char *word)
{
	return isalpha((unsigned char)*word) || *word == '_';
}

__attribute__((format(printf, 2, 3)))
static int refuse(char why[PROTO_WHY], const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, PROTO_WHY, fmt, ap);
	va_end(ap);
	return -EINVAL;
}

/* ---- types ---- */

/* unsigned, short, long, int in C's usual orders; LP64. */
static bool parse_integer(struct words *w, enum proto_base *base)
{
	bool is_unsigned = take(w, "unsigned"), is_signed = !is_unsigned && take(w, "signed");

	if ((is_unsigned || is_signed) && take(w, "char")) {
		*base = is_unsigned ? BASE_U8 : BASE_I8;
	} else if (take(w, "short")) {
		take(w, "int");
		*base = is_unsigned ? BASE_U16 : BASE_I16;
	} else if (take(w, "long")) {
		take(w, "long");
		take(w, "int");
		*base = is_unsigned ? BASE_U64 : BASE_I64;
	} else if (take(w, "int") || is_unsigned || is_signed) {
		*base = is_unsigned ? BASE_U32 : BASE_I32;
	} else {
		return false;
	}
	return true;
}

static bool parse_base(struct words *w, enum proto_base *base)
{
	static const struct {
		const char *word;
		enum proto_base base;
	} bases[] = {
		{ "void", BASE_VOID }, { "bool", BASE_BOOL }, { "char", BASE_CHAR },
		{ "int8_t", BASE_I8 }, { "uint8_t", BASE_U8 }, { "int16_t", BASE_I16 },
		{ "uint16_t", BASE_U16 }, { "int32_t", BASE_I32 }, { "uint32_t", BASE_U32 },
		{ "int64_t", BASE_I64 }, { "uint64_t", BASE_U64 }, { "size_t", BASE_SIZE },
		{ "ssize_t", BASE_I64 },
	};
	unsigned int i;

	for (i = 0; i < sizeof(bases) / sizeof(bases[0]); i++) {
		if (take(w, bases[i].word)) {
			*base = bases[i].base;
			return true;
		}
	}
	return parse_integer(w, base);
}

static int parse_type(struct words *w, struct proto_type *type, char why[PROTO_WHY])
{
	bool is_const;

	memset(type, 0, sizeof(*type));
	is_const = take(w, "const");
	if (!parse_base(w, &type->base))
		return refuse(why, "'%s' is not a type that can be passed", w->word);
	is_const |= take(w, "const");
	while (take(w, "*")) {
		if (++type->stars > 2)
			return refuse(why, "more than two *");
		type->is_const = is_const;
		is_const = take(w, "const");
	}
	return 0;
}

static bool is_bytes(enum proto_base base)
{
	return base == BASE_VOID || base == BASE_CHAR || base == BASE_U8;
}

static bool fits(const struct proto_type *t, enum shape shape)
{
	switch (shape) {
	case SHAPE_ANY:
		return t->stars || t->base != BASE_VOID;
	case SHAPE_INT:
		return !t->stars && t->base != BASE_VOID && t->base != BASE_BOOL;
	case SHAPE_CTX:
		return t->stars == 1 && t->base == BASE_VOID;
	case SHAPE_CTX_OUT:
		return t->stars == 2 && t->base == BASE_VOID && !t->is_const;
	case SHAPE_STRING:
		return t->stars == 1 && t->base == BASE_CHAR && t->is_const;
	case SHAPE_BYTES:
		return t->stars == 1 && is_bytes(t->base) && t->is_const;
	case SHAPE_LIST:
		return t->stars == 2 && is_bytes(t->base) && t->is_const;
	case SHAPE_SIZES:
		return t->stars == 1 && t->base == BASE_SIZE && t->is_const;
	case SHAPE_SIZE_OUT:
		return t->stars == 1 && t->base == BASE_SIZE && !t->is_const;
	case SHAPE_ROOM:
		return t->stars == 1 && is_bytes(t->base) && !t->is_const;
	case SHAPE_TEXT_ROOM:
		return t->stars == 1 && t->base == BASE_CHAR && !t->is_const;
	}
	return false;
}

static const char *shape_text(enum shape shape)
{
	static const char *const texts[] = {
		"a value", "an integer", "void *", "void **", "const char *",
		"const uint8_t * (or char, void)", "const uint8_t *const * (or char, void)",
		"const size_t *", "size_t *", "uint8_t * (or char, void)", "char *",
	};

	return texts[shape];
}

/* ---- the whole ---- */

static int parse_argument(struct words *w, struct proto *proto, enum proto_op op,
			  char why[PROTO_WHY])
{
	struct proto_type type;
	enum proto_role role;
	int r;

	if (proto->n_args == PROTO_ARGS_MAX)
		return refuse(why, "more than %d arguments", PROTO_ARGS_MAX);
	r = parse_type(w, &type, why);
	if (r < 0)
		return r;
	if (!is_name(w->word))
		return refuse(why, "argument %u has no name; its name says what is passed",
			      proto->n_args + 1);
	for (role = 0; role < ROLE_COUNT && strcmp(roles[role].name, w->word); role++)
		;
	if (role == ROLE_COUNT)
		return refuse(why, "'%.40s' is not the name of anything that can be passed",
			      w->word);
	if (!(roles[role].ops & 1u << op))
		return refuse(why, "%s cannot be passed to %s", w->word, op_names[op]);
	if (!fits(&type, roles[role].shape))
		return refuse(why, "%s must be %s", w->word, shape_text(roles[role].shape));
	if (role != ROLE_ZERO && proto_has(proto, role))
		return refuse(why, "%s is passed twice", w->word);
	proto->args[proto->n_args].type = type;
	proto->args[proto->n_args++].role = role;
	next_word(w);
	return 0;
}

static int parse_arguments(struct words *w, struct proto *proto, enum proto_op op,
			   char why[PROTO_WHY])
{
	struct words ahead = *w;
	int r;

	if (take(w, ")"))
		return 0;
	if (take(&ahead, "void") && take(&ahead, ")")) {
		*w = ahead;
		return 0;
	}
	do {
		r = parse_argument(w, proto, op, why);
		if (r < 0)
			return r;
	} while (take(w, ","));
	return take(w, ")") ? 0 : refuse(why, "expected , or ) before '%s'", w->word);
}

/* What an operation must give back and be given. */
static int check_op(const struct proto *p, enum proto_op op, char why[PROTO_WHY])
{
	const struct proto_type *t = &p->result;
	bool is_status = !t->stars && t->base != BASE_VOID;
	bool is_void = !t->stars && t->base == BASE_VOID;

	if (proto_has(p, ROLE_ERROR) != proto_has(p, ROLE_ERROR_SIZE))
		return refuse(why, "error and error_size go together");
	switch (op) {
	case OP_OPEN:
		if (proto_has(p, ROLE_CTX_OUT) ? !is_status : !fits(t, SHAPE_CTX))
			return refuse(why, "open must return void *, or a status and take "
				      "ctx_out");
		return 0;
	case OP_CLOSE:
	case OP_CANCEL:
		if (!is_status && !is_void)
			return refuse(why, "%s must return void or a status", op_names[op]);
		return 0;
	case OP_LAST_ERROR:
		if (!fits(t, SHAPE_STRING))
			return refuse(why, "last_error must return const char *");
		return 0;
	default:
		break;
	}
	if (!is_status)
		return refuse(why, "%s must return a status: an integer (0: good) or bool (true: "
			      "good)", op_names[op]);
	if (op == OP_PROVE && !proto_has(p, ROLE_PROOF_OUT))
		return refuse(why, "prove must take proof_out");
	if (op == OP_VERIFY && !proto_has(p, ROLE_PROOF))
		return refuse(why, "verify must take proof");
	return 0;
}

int proto_parse(struct proto *proto, enum proto_op op, const char *text, char why[PROTO_WHY])
{
	struct words w = { .p = text };
	int r;

	memset(proto, 0, sizeof(*proto));
	next_word(&w);
	r = parse_type(&w, &proto->result, why);
	if (r < 0)
		return r;
	if (!is_name(w.word))
		return refuse(why, "expected the symbol's name before '%s'", w.word);
	memcpy(proto->symbol, w.word, sizeof(proto->symbol));
	next_word(&w);
	if (!take(&w, "("))
		return refuse(why, "expected ( before '%s'", w.word);
	r = parse_arguments(&w, proto, op, why);
	if (r < 0)
		return r;
	take(&w, ";");
	if (w.too_long)
		return refuse(why, "name over %d bytes", PROTO_SYMBOL_MAX - 1);
	if (*w.word)
		return refuse(why, "'%s' behind the prototype", w.word);
	return check_op(proto, op, why);
}
