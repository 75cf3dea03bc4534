/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* fuzz-wtns.c - circom's .wtns */
#include <stdlib.h>
#include <string.h>

#include "engine/groth16/r1cs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A refusal has a class and one line. */
static void check(const struct cuzk_error *err)
{
	if (err->cls == CUZK_ERROR_NONE || !err->text[0] || strchr(err->text, '\n'))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cuzk_error err = { .text = "" };
	struct fr *wires;

	/* tiny.circom has 8 wires */
	if (wtns_parse(&wires, "f", data, size, 8, &err))
		check(&err);
	else
		free(wires);
	return 0;
}
