/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* fuzz-vk.c - verifying keys, in both formats, and proofs */
#include <stdlib.h>
#include <string.h>

#include "engine/groth16/snarkjs.h"
#include "engine/groth16/verify.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A refusal has a class and one line. */
static void check(const struct cuzk_error *err)
{
	if (err->cls == CUZK_ERROR_NONE || !err->text[0] || strchr(err->text, '\n'))
		abort();
}

/* A key that was read can be prepared, and written as it was. */
static void use_key(const struct vk *vk, const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(VK_SIZE(vk->n_ic));
	struct pvk *pvk;

	if (!copy)
		return;
	vk_write(copy, vk);
	if (data && (size != VK_SIZE(vk->n_ic) || memcmp(copy, data, size)))
		abort();
	free(copy);
	if (pvk_open(&pvk, vk) == 0)
		pvk_close(pvk);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cuzk_error err = { .text = "" };
	uint8_t copy[PROOF_SIZE];
	struct proof proof;
	struct fr *inputs;
	struct vk vk;
	size_t n;

	if (vk_read(&vk, "f", data, size, NULL, &err)) {
		check(&err);
	} else {
		use_key(&vk, data, size);
		vk_fini(&vk);
	}
	if (snarkjs_get_vkey(&vk, "f", (const char *)data, size, &err)) {
		check(&err);
	} else {
		use_key(&vk, NULL, 0);
		vk_fini(&vk);
	}
	if (snarkjs_get_proof(&proof, "f", (const char *)data, size, &err))
		check(&err);
	if (snarkjs_get_public(&inputs, &n, "f", (const char *)data, size, &err))
		check(&err);
	else
		free(inputs);
	if (size >= PROOF_SIZE) {
		if (proof_read(&proof, data, &err)) {
			check(&err);
		} else {
			proof_write(copy, &proof);
			if (memcmp(copy, data, PROOF_SIZE))
				abort();
		}
	}
	return 0;
}
