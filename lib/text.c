/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* text.c - words of foreign origin, made fit for logs, JSON and protocol buffers */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "lib/text.h"

/* Bytes of the valid sequence at p, 0: there is none.  A NUL ends every sequence. */
static size_t sequence(const uint8_t *p)
{
	/* what the second byte may be keeps out long forms, surrogates and what is above U+10FFFF */
	uint8_t low = 0x80, high = 0xbf;
	size_t len, i;

	if (p[0] < 0x80)
		return 1;
	if (p[0] < 0xc2 || p[0] > 0xf4)
		return 0;
	len = p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
	if (p[0] == 0xe0)
		low = 0xa0;
	else if (p[0] == 0xed)
		high = 0x9f;
	else if (p[0] == 0xf0)
		low = 0x90;
	else if (p[0] == 0xf4)
		high = 0x8f;
	for (i = 1; i < len; i++, low = 0x80, high = 0xbf)
		if (p[i] < low || p[i] > high)
			return 0;
	return len;
}

void text_clean(char *text)
{
	uint8_t *p = (uint8_t *)text;

	while (*p) {
		size_t len = sequence(p);

		if (!len)
			*p++ = '?';
		else if (*p < ' ' || *p == 127)
			*p++ = ' ';
		else if (*p == 0xc2 && p[1] < 0xa0)
			p = (uint8_t *)memset(p, ' ', 2) + 2;
		else
			p += len;
	}
}
