/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* fuzz-params.c - parameter files */
#include <stdlib.h>
#include <string.h>

#include "engine/groth16/params.h"

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
	struct gpu_srs_desc desc;
	struct params p;

	if (params_parse(&p, "f", data, size, &err)) {
		check(&err);
		return 0;
	}
	params_srs_desc(&p, &desc);
	if (params_check_points(&p, "f", 2, NULL, NULL, &err))
		check(&err);
	params_close(&p);
	return 0;
}
