/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* u-bincode.c - the bounded bincode reader and base64 */
#include "lib/base64.h"
#include "lib/bincode.h"
#include "t/tap.h"

static void test_bincode(void)
{
	static const uint8_t data[] = {
		1, 2, 3, 4,  8, 7, 6, 5, 4, 3, 2, 1,  2, 0, 0, 0, 0, 0, 0, 0,  9, 9,
	};
	uint8_t big[8] = { 0, 0, 0, 0, 0, 0, 0, 0x10 };	/* 2^60 */
	struct bincode b;
	size_t mark, outer;
	int i;

	bincode_open(&b, data, sizeof(data), "blob");
	ok(bincode_u32(&b, "x") == 0x04030201 && bincode_u64(&b, "y") == 0x0102030405060708ull,
	   "integers are little-endian");
	ok(bincode_count(&b, 2, 1, "list") == 2, "a count that fits");
	ok(bincode_bytes(&b, 2, "z") == data + 20 && bincode_end(&b) == 0, "bytes, and the end");
	bincode_u32(&b, "more");
	ok(b.failed && strstr(b.error, "blob.more") && strstr(b.error, "byte 22 of 22"),
	   "beyond the end: %s", b.error);

	bincode_open(&b, data, sizeof(data), "blob");
	ok(bincode_end(&b) < 0 && strstr(b.error, "22 bytes too many"), "rest: %s", b.error);

	bincode_open(&b, big, sizeof(big), "blob");
	outer = bincode_enter_at(&b, "sectors", 12);
	mark = bincode_enter(&b, "path");
	ok(bincode_count(&b, 1ull << 60, 32, "hashes") == 0 && b.failed &&
	   strstr(b.error, "blob.sectors[12].path.hashes"),
	   "a count of 2^60 that was even expected: %s", b.error);
	bincode_leave(&b, mark);
	bincode_leave(&b, outer);
	ok(strstr(b.path.s, "hashes"), "the path stays where it broke");

	bincode_open(&b, big, sizeof(big), "blob");
	for (i = 0; i < 100; i++)
		bincode_enter(&b, "a-long-name");
	bincode_u64(&b, "x");
	bincode_u64(&b, "y");
	ok(b.failed && strlen(b.error) < sizeof(b.error), "a long path is cut, not overrun");
}

static void test_base64(void)
{
	static const struct { const char *text; int len; } cases[] = {
		{ "", 0 }, { "Zg==", 1 }, { "Zm8=", 2 }, { "Zm9v", 3 }, { "Zm9vYg==", 4 },
		{ "Zg", 1 }, { "Zm8", 2 },		/* without padding */
		{ "Zh==", -1 }, { "Zm9=", -1 },		/* bits that no byte holds */
		{ "Z", -1 }, { "Z===", -1 }, { "=", -1 }, { "====", -1 }, { "Zg=", -1 },
		{ "Zm9v=", -1 }, { "Zg==Zg==", -1 }, { "Zm 9", -1 }, { "Zm9v\n", -1 },
		{ "+/+/", 3 }, { "-_-_", 3 }, { "\xff\xff\xff\xff", -1 },
	};
	uint8_t out[64], all[256], piece[7];
	struct base64_reader r;
	size_t i, n, good = 0, len;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		int ret = base64_decode(out, &n, cases[i].text, strlen(cases[i].text), NULL);

		if (ret == 0 ? cases[i].len == (int)n && (n == 0 || n > 4 ||
			       cases[i].text[0] != 'Z' || !memcmp(out, "foob", n)) :
		    cases[i].len < 0)
			good++;
		else
			diag("wrong: %s", cases[i].text);
	}
	ok(good == i, "texts of every kind");
	ok(base64_decode(out, &n, "Zm9v*m9v", 8, &len) < 0 && len == 4,
	   "the wrong character is named");
	base64_open(&r, "Zm9vYmFyYmF6cXV4cXV1eA", 22);
	for (len = 0; base64_read(&r, piece, sizeof(piece), &n) == 0 && n; len += n)
		memcpy(all + len, piece, n);
	ok(len == 16 && !memcmp(all, "foobarbazquxquux", 16), "by pieces");
}

int main(void)
{
	test_bincode();
	test_base64();
	return tap_done();
}
