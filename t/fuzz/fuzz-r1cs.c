/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* fuzz-r1cs.c - circom's .r1cs */
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
	struct flat_cs *f;
	struct r1cs r;

	if (r1cs_parse(&r, "f", data, size, &err)) {
		check(&err);
		return 0;
	}
	if (r1cs_to_cs(&r, &f, &err))
		check(&err);
	else
		flat_cs_close(f);
	return 0;
}
