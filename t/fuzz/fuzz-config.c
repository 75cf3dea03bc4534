/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* fuzz-config.c - the INI reader; what it takes must survive its own dump */
#include <stdlib.h>

#include "plugin/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void count(void *ctx, const char *line)
{
	++*(unsigned int *)ctx;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct config *cfg = NULL, *again = NULL;
	unsigned int lines = 0;
	size_t len = 0;
	char *text = NULL;
	FILE *f;

	if (size > CONFIG_FILE_MAX)
		return 0;
	if (config_parse(&cfg, "f", (const char *)data, size, count, &lines) < 0) {
		if (!lines)
			abort();
		return 0;
	}
	f = open_memstream(&text, &len);
	config_dump(cfg, f);
	fclose(f);
	/* a dump may have longer lines than the reader takes, else it reads back */
	if (config_parse(&again, "d", text, len, count, &lines) == 0) {
		if (config_apply(cfg, again, count, &lines))
			abort();
		config_free(again);
	}
	config_free(cfg);
	free(text);
	return 0;
}
