/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* foreign-load.c - loads a foreign engine and prepares its calls */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "plugin/foreign.h"

#define PARTS_MAX 3	/* of one prototype: prove, prove_2, prove_3 */
#define PROTO_TEXT 1024

static const struct params_given *find_given(const struct params_given *given, int n,
					     const char *name)
{
	int i;

	for (i = 0; i < n; i++) {
		if (!strcmp(given[i].name, name))
			return &given[i];
	}
	return NULL;
}

/* The text of a prototype from its up to three keys; NULL: the operation is not given. */
static const struct params_given *collect(const struct params_given *given, int n,
					  enum proto_op op, char text[PROTO_TEXT])
{
	const struct params_given *first = find_given(given, n, proto_op_name(op)), *more;
	char name[64];
	int part;

	if (!first)
		return NULL;
	snprintf(text, PROTO_TEXT, "%s", first->value);
	for (part = 2; part <= PARTS_MAX; part++) {
		size_t len = strlen(text);

		snprintf(name, sizeof(name), "%s_%d", proto_op_name(op), part);
		more = find_given(given, n, name);
		if (more)
			snprintf(text + len, PROTO_TEXT - len, " %s", more->value);
	}
	return first;
}

static int load_call(void *handle, const struct params_given *given, int n, enum proto_op op,
		     char why[LOADER_WHY])
{
	struct foreign_call *call = &foreign_calls[op];
	const struct params_given *key;
	char text[PROTO_TEXT], reason[LOADER_WHY];
	void *symbol;
	int r;

	key = collect(given, n, op, text);
	if (!key)
		return 0;
	r = proto_parse(&call->proto, op, text, reason);
	if (!r)
		r = loader_symbol(handle, call->proto.symbol, &symbol, reason);
	if (!r) {
		call->fn = (void (*)(void))symbol;
		r = foreign_call_prepare(call);
		if (r < 0)
			snprintf(reason, sizeof(reason), "libffi cannot make this call");
	}
	if (r < 0)
		snprintf(why, LOADER_WHY, "%.150s: %.40s: %.800s", key->place, key->name, reason);
	return r;
}

static int check_calls(const char *place, const struct params_given *given, int n,
		       char why[LOADER_WHY])
{
	const struct params_given *unverified = find_given(given, n, "unverified");
	bool accepted = unverified && !strcmp(unverified->value, "yes");

	if (!foreign_calls[OP_PROVE].set)
		snprintf(why, LOADER_WHY, "%s: a foreign engine needs prove = PROTOTYPE", place);
	else if (!foreign_calls[OP_VERIFY].set && !accepted)
		snprintf(why, LOADER_WHY, "%s: a foreign engine needs verify = PROTOTYPE (or "
			 "unverified = yes, which lets wrong proofs out)", place);
	else
		return 0;
	return -EINVAL;
}

int foreign_open(const char *library, const char *place, const struct params_given *given, int n,
		 struct cuzk_engine_ops *ops, char why[LOADER_WHY])
{
	char reason[LOADER_WHY];
	enum proto_op op;
	void *handle;
	int r;

	r = loader_dlopen(library, &handle, reason);
	if (r < 0) {
		snprintf(why, LOADER_WHY, "%.150s: %.800s", place, reason);
		return r;
	}
	for (op = 0; op < OP_COUNT; op++) {
		r = load_call(handle, given, n, op, why);
		if (r < 0)
			return r;
	}
	r = check_calls(place, given, n, why);
	if (r < 0)
		return r;
	*ops = foreign_ops;
	if (foreign_calls[OP_CANCEL].set)
		ops->caps |= CUZK_CAP_CANCEL;
	return loader_check(ops, ops, library, why);
}
