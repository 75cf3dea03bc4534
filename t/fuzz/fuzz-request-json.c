/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* fuzz-request-json.c - requests as JSON */
#include <stdlib.h>

#include "lib/request_json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct request_json *req;
	char err[256] = "";
	uint8_t sum = 0;
	size_t i;

	if (request_json_parse((const char *)data, size, &req, err, sizeof(err)) < 0) {
		if (!err[0])
			abort();
		return 0;
	}
	/* all that it points to can be read */
	for (i = 0; i < req->n_vanilla_proofs; i++)
		if (req->vanilla_proofs[i].len)
			sum ^= req->vanilla_proofs[i].data[req->vanilla_proofs[i].len - 1];
	for (i = 0; req->request_id[i]; i++)
		sum ^= req->request_id[i];
	if (sum & req->n_vanilla_proofs & 0x100)	/* never: a byte has no such bit */
		abort();
	free(req);
	return 0;
}
