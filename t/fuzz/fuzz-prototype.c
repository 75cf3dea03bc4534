/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* fuzz-prototype.c - prototypes of foreign engines; the first byte is the operation */
#include <stdlib.h>
#include <string.h>

#include "plugin/foreign.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct foreign_call call = { 0 };
	char why[PROTO_WHY] = "", *text;

	if (!size)
		return 0;
	text = malloc(size);
	if (!text)
		abort();
	memcpy(text, data + 1, size - 1);
	text[size - 1] = '\0';
	if (proto_parse(&call.proto, data[0] % OP_COUNT, text, why) < 0) {
		if (!*why)
			abort();
	} else if (foreign_call_prepare(&call) < 0) {
		abort();	/* what is read can be called */
	}
	free(text);
	return 0;
}
