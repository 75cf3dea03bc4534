/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* fuzz-c1.c - PoRep: the input as the envelope, and as the C1 in an envelope */
#include <stdlib.h>

#include "engine/vanilla/vanilla.h"
#include "t/vanilla-data.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void admit(const void *text, size_t len)
{
	struct cuzk_error err = { .size = sizeof(err) };
	struct cuzk_request req = {
		.size = sizeof(req), .kind = CUZK_KIND_POREP, .sector_number = 1, .miner_id = 488,
		.vanilla_proof = { text, len },
	};
	struct vanilla *v;

	if (vanilla_admit(&req, NULL, &v, NULL, &err) == 0)
		vanilla_free(v);
	else if (!err.text[0])
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t n;
	char *text = envelope(1, (const char *)data, size, 2048, &n);

	admit(data, size);
	admit(text, n);
	free(text);
	return 0;
}
