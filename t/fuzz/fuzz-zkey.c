/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* fuzz-zkey.c - snarkjs' .zkey */
#include <stdlib.h>
#include <string.h>

#include "engine/groth16/convert.h"

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
	char *params = NULL;
	size_t params_size;
	struct zkey z;
	FILE *out;

	if (zkey_parse(&z, "f", data, size, &err)) {
		check(&err);
		return 0;
	}
	if (zkey_to_cs(&z, &f, &err))
		check(&err);
	else
		flat_cs_close(f);
	out = open_memstream(&params, &params_size);
	if (out) {
		if (convert_zkey_to_params(&z, "f", out, &err))
			check(&err);
		fclose(out);
		free(params);
	}
	zkey_fini(&z);
	return 0;
}
