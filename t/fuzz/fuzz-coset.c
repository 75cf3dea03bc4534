/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * fuzz-coset.c - rearranged parameters, of parameters that are good
 *
 * The first bytes of the header depend on the parameters: they are put right,
 * so that what comes behind is reached, unless the input's first byte is odd.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/groth16/binfile.h"
#include "engine/groth16/coset.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Parameters without points but two of ic; h of one point, l of one. */
static void make_params(struct params *p)
{
	static struct g1_affine ic[2];
	static uint8_t bytes[64] = "a verifying key";

	memset(p, 0, sizeof(*p));
	p->data = bytes;
	p->size = sizeof(bytes);
	p->vk.n_ic = 2;
	p->vk.ic = ic;
	p->section[PARAMS_H].offset = 36;
	p->section[PARAMS_H].count = 1;
	p->section[PARAMS_L].count = 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cuzk_error err = { .text = "" };
	struct gpu_srs_desc desc = { 0 };
	struct params params;
	struct coset c;
	uint8_t *copy = malloc(size + 1);

	if (!copy)
		return 0;
	memcpy(copy, data, size);
	make_params(&params);
	if (size >= COSET_HEADER && !(data[0] & 1)) {
		memcpy(copy, COSET_MAGIC, 8);
		store_be32(copy + 8, 2);
		store_be32(copy + 12, 2);
		store_be32(copy + 16, 1);
		store_be32(copy + 20, 0);
		store_be64(copy + 24, params.size);
		coset_vk_digest(&params, copy + 32);
	}
	if (coset_parse(&c, "f", copy, size, &params, &err)) {
		if (err.cls == CUZK_ERROR_NONE || !err.text[0] || strchr(err.text, '\n'))
			abort();
	} else {
		coset_srs_desc(&c, &desc);
		if ((const uint8_t *)desc.h + 96 * desc.n_h != copy + size)
			abort();
		coset_check(&c, "f", NULL, &err);
		coset_close(&c);
	}
	free(copy);
	return 0;
}
