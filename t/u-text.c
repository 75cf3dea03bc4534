/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* u-text.c - words of foreign origin, against the C library's idea of UTF-8 */
#include <locale.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "lib/text.h"
#include "t/tap.h"

static const struct {
	const char *in, *out;
} cases[] = {
	{ "", "" },
	{ "plain \"words\" \\ ~", "plain \"words\" \\ ~" },
	{ "a\tb\nc\r\x1b[31m\x7f", "a b c  [31m " },
	{ "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80" },
	{ "\xe9t\xe9", "?t?" },			/* Latin-1 */
	{ "x\xc3", "x?" },			/* cut */
	{ "x\xe2\x82", "x??" },
	{ "x\xf0\x9f\x98", "x???" },
	{ "\xc0\xaf \xe0\x80\xaf \xf0\x80\x80\xaf", "?? ??? ????" },	/* long forms */
	{ "\xed\xa0\x80 \xed\x9f\xbf", "??? \xed\x9f\xbf" },	/* a surrogate */
	{ "\xf4\x90\x80\x80 \xf4\x8f\xbf\xbf \xf5\xff\xfe", "???? \xf4\x8f\xbf\xbf ???" },
	{ "\xc2\x9b" "31m \xc2\x85 \xc2\xa0", "  31m    \xc2\xa0" },	/* C1 */
	{ "\x80\xbf", "??" },
};

/* Is it UTF-8 without control characters, for mbrtowc()? */
static bool is_clean(const char *text)
{
	size_t len = strlen(text);

	while (len) {
		mbstate_t state = { 0 };
		wchar_t c;
		size_t n = mbrtowc(&c, text, len, &state);

		if (n > len || c < 32 || (c > 126 && c < 160) || c > 0x10ffff ||
		    (c >= 0xd800 && c < 0xe000))
			return false;
		text += n;
		len -= n;
	}
	return true;
}

static void test_random(void)
{
	unsigned int i, k, same = 0, dirty = 0, longer = 0, again = 0;

	srand(1);
	for (i = 0; i < 200000; i++) {
		char text[12], before[12], once[12];
		size_t len = rand() % 11;

		for (k = 0; k < len; k++)
			do {
				text[k] = rand() % 4 ? (char)(0x80 | rand()) : (char)rand();
			} while (!text[k]);
		text[len] = '\0';
		strcpy(before, text);
		text_clean(text);
		strcpy(once, text);
		dirty += !is_clean(text);
		longer += strlen(text) != len;
		same += is_clean(before) != !strcmp(before, text);
		text_clean(text);
		again += strcmp(text, once) != 0;
	}
	ok(!dirty, "noise is UTF-8 afterwards");
	ok(!same, "and left alone exactly where it was before");
	ok(!longer && !again, "of the same length, and nothing more is to clean");
}

int main(void)
{
	unsigned int i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[64];

		strcpy(text, cases[i].in);
		text_clean(text);
		ok(!strcmp(text, cases[i].out), "'%s'", cases[i].out);
	}
	if (setlocale(LC_CTYPE, "C.UTF-8"))
		test_random();
	else
		skip("locale", "there is no C.UTF-8 here");
	return tap_done();
}
