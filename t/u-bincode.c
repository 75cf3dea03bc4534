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

/* Texts long enough to be decoded many characters at a time. */
static void test_long_base64(void)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_";
	uint8_t bytes[150], out[BASE64_BOUND(200)], *exact;
	char text[200];
	struct base64_reader r;
	size_t i, k, n, bad, good = 0, all = 0;

	for (i = 0; i < sizeof(bytes); i++)
		bytes[i] = i * i * 7 + i / 3;
	base64_encode(text, bytes, sizeof(bytes));
	for (i = 0; i < sizeof(text); i++)	/* half of it in the other alphabet */
		if (i % 2)
			text[i] = text[i] == '+' ? '-' : text[i] == '/' ? '_' : text[i];
	for (i = 3; i <= sizeof(bytes); i += 3) {
		/* memory that ends there, for the sanitizers */
		exact = malloc(i + 1);
		base64_open(&r, text, sizeof(text));
		good += base64_read(&r, exact, i, &n) == 0 && n == i && !memcmp(exact, bytes, i);
		free(exact);
		k = base64_seek(&r, i + 1);
		good += i == sizeof(bytes) || (k == 1 && base64_read(&r, out, 40, &n) == 0 &&
					       !memcmp(out, bytes + i, n));
		all += 2;
	}
	ok(good == all, "as many bytes as wanted, from anywhere");
	for (good = all = i = 0; i < sizeof(text); i++) {
		for (k = 0; k < 256; k++, all++) {
			const char saved = text[i];

			/* at the end it is padding */
			if (k == '=' && i == sizeof(text) - 1) {
				good++;
				continue;
			}
			bool fine = k && strchr(digits, k);

			text[i] = k;
			if (base64_decode(out, &n, text, sizeof(text), &bad) == 0)
				good += fine;
			else
				good += !fine && bad == i;
			text[i] = saved;
		}
	}
	ok(good == all, "any wrong character anywhere is named");
	text[150] = '*';
	base64_open(&r, text, sizeof(text));
	ok(base64_read(&r, out, sizeof(out), &n) == 0 && n == 111 && !memcmp(out, bytes, n) &&
	   base64_read(&r, out, sizeof(out), &n) < 0 && r.pos == 150,
	   "what stands before it comes first");
	for (good = i = 0; i < 64; i++) {
		memset(text, digits[i], 64);
		good += base64_decode(out, &n, text, 64, NULL) == 0 && out[0] >> 2 == (int)i &&
			out[47] % 64 == (int)i && out[24] >> 2 == (int)i;
	}
	ok(good == 64, "every character has its value");
}

int main(void)
{
	test_long_base64();
	test_bincode();
	test_base64();
	return tap_done();
}
