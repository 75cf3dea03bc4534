/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* fuzz-submit.c - SubmitProofRequest; the first byte says how the rest is cut into pieces */
#include "t/submit-check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t cut(void *ctx)
{
	uint32_t *state = ctx;

	*state = *state * 1664525 + 1013904223;
	return *state >> 27;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char text[SUBMIT_ERROR_TEXT];
	struct submission *sub;
	struct iovec iov;
	uint32_t state;
	bool taken;

	if (!size)
		return 0;
	state = data[0];
	if (submit_differs(data + 1, size - 1, cut, &state, &taken))
		abort();
	iov.iov_base = (void *)(data + 1);
	iov.iov_len = size - 1;
	if (!submission_read(&sub, &iov, 1, 1, text))
		submission_free(sub);
	return 0;
}
