/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * fuzz-bincode-update.c - SnapDeals vanilla proofs
 *
 * The first byte is the registered proof, then three commitments; the rest is
 * the vanilla proof of every partition.
 */
#include <stdlib.h>

#include "engine/vanilla/vanilla.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cuzk_error err = { .size = sizeof(err) };
	struct cuzk_blob blobs[16];
	struct cuzk_request req = {
		.size = sizeof(req), .kind = CUZK_KIND_UPDATE, .vanilla_proofs = blobs,
	};
	struct vanilla *v;
	int i;

	if (size < 97)
		return 0;
	req.registered_proof = data[0] % 6;
	req.n_vanilla_proofs = data[0] % 5 == 0 ? 1 : data[0] % 5 == 1 ? 4 : 16;
	req.comm_r_old = (struct cuzk_blob){ data + 1, 32 };
	req.comm_r_new = (struct cuzk_blob){ data + 33, 32 };
	req.comm_d_new = (struct cuzk_blob){ data + 65, 32 };
	for (i = 0; i < 16; i++)
		blobs[i] = (struct cuzk_blob){ data + 97, size - 97 };
	if (vanilla_admit(&req, NULL, &v, NULL, &err) == 0)
		vanilla_free(v);
	else if (!err.text[0])
		abort();
	return 0;
}
