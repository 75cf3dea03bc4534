/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * fuzz-bincode-post.c - PoSt vanilla proofs
 *
 * The first byte says which registered proof of which kind; the rest is one
 * vanilla proof, checked against the golden randomness.
 */
#include <stdlib.h>

#include "engine/vanilla/vanilla.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t randomness[32] = {
		0x1f, 0x89, 0x35, 0xd3, 0x01, 0x2a, 0x3b, 0x63, 0xfd, 0xeb, 0x83, 0x11, 0xfb, 0x60,
		0x20, 0xae, 0xb1, 0xe8, 0x2b, 0x2e, 0x5f, 0xe6, 0xcd, 0x96, 0xfa, 0x2e, 0x70, 0x96,
		0xf4, 0x0b, 0xcc, 0x17,
	};
	struct cuzk_error err = { .size = sizeof(err) };
	struct cuzk_blob blob = { data + 1, size - 1 };
	struct cuzk_request req = {
		.size = sizeof(req), .randomness = { randomness, 32 },
		.vanilla_proofs = &blob, .n_vanilla_proofs = 1,
	};
	struct vanilla *v;

	if (!size)
		return 0;
	req.registered_proof = data[0] % 16;
	req.kind = req.registered_proof < 5 ? CUZK_KIND_WINNING_POST : CUZK_KIND_WINDOW_POST;
	if (vanilla_admit(&req, NULL, &v, NULL, &err) == 0)
		vanilla_free(v);
	else if (!err.text[0])
		abort();
	return 0;
}
