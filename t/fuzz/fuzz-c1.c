/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * fuzz-c1.c - PoRep: the input as the envelope, and as the C1 in an envelope
 *
 * Three threads have to say the same as one.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/vanilla/vanilla.h"
#include "t/vanilla-data.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void admit_by(struct tpool *pool, const void *text, size_t len, struct cuzk_error *err)
{
	struct cuzk_request req = {
		.size = sizeof(req), .kind = CUZK_KIND_POREP, .sector_number = 1, .miner_id = 488,
		.vanilla_proof = { text, len },
	};
	struct vanilla *v;

	if (vanilla_admit(&req, pool, &v, NULL, err) == 0)
		vanilla_free(v);
	else if (!err->text[0])
		abort();
}

static void admit(const void *text, size_t len)
{
	struct cuzk_error one = { .size = sizeof(one) }, three = { .size = sizeof(three) };
	static struct tpool *pool;

	if (!pool && tpool_open(&pool, 3))
		abort();
	admit_by(NULL, text, len, &one);
	admit_by(pool, text, len, &three);
	if (strcmp(one.text, three.text))
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
