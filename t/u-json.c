/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* u-json.c - the JSON pull reader */
#include <errno.h>

#include "lib/json.h"
#include "t/tap.h"

static bool valid(const char *text)
{
	struct json j;

	json_init(&j, text, strlen(text));
	json_skip(&j);
	return json_end(&j) == 0;
}

static void test_walk(void)
{
	static const char text[] = " { \"n\": 18446744073709551615, \"a\":[1, 2 ,3],\n"
				   "\"s\":\"x\\n\\u00e9\\ud83d\\ude00\", \"t\": true, \"z\": null } ";
	struct json j;
	struct json_str key, s = { 0 };
	uint64_t n = 0, sum = 0, v = 0;
	bool t = false;
	char buf[32];

	json_init(&j, text, sizeof(text) - 1);
	json_object(&j);
	while (json_key(&j, &key) > 0) {
		if (json_str_is(&key, "n")) {
			json_u64(&j, &n);
		} else if (json_str_is(&key, "a")) {
			json_array(&j);
			while (json_next(&j) > 0)
				if (json_u64(&j, &v) == 0)
					sum += v;
		} else if (json_str_is(&key, "s")) {
			json_string(&j, &s);
		} else if (json_str_is(&key, "t")) {
			json_bool(&j, &t);
		} else {
			json_null(&j);
		}
	}
	ok(json_end(&j) == 0, "a document of every type is read");
	ok(n == UINT64_MAX && sum == 6 && t, "numbers, array and bool");
	ok(json_str_copy(&s, buf, sizeof(buf)) == 8 && !strcmp(buf, "x\n\xc3\xa9\xf0\x9f\x98\x80"),
	   "escapes are undone");
	ok(json_str_copy(&s, buf, 8) == -ENOSPC, "no room for the string");
}

static void test_errors(void)
{
	static const char *const bad[] = {
		"", " ", "{", "[", "{]", "[}", "[1", "[1,", "[1,]", "{\"a\"}", "{\"a\":}", "{\"a\":1,}",
		"{a:1}", "01", "-", "1.", "1e", "1e+", "tru", "nul", "\"", "\"\\", "\"\\u12\"", "\"\\x\"",
		"\"\x01\"", "1 1", "[1 2]", "{\"a\" 1}", "+1", ".5", "\"a\nb\"",
	};
	static const char *const good[] = {
		"{}", "[]", "0", "-0.5e-7", "\"\"", "[[],{}]", "{\"a\":{\"b\":[null,false]}}", "1E5",
	};
	static const struct { const char *text; bool fine; } numbers[] = {
		{ "18446744073709551615", true }, { "18446744073709551616", false },
		{ "99999999999999999999999", false }, { "-1", false }, { "1.0", false },
		{ "1e3", false }, { "\"1\"", false }, { "0", true },
	};
	char deep[JSON_DEPTH_MAX * 2 + 3], text[128];
	struct json j;
	uint64_t v;
	size_t i, n = 0;

	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		if (valid(bad[i]))
			diag("accepted: %s", bad[i]);
		else
			n++;
	ok(n == i, "malformed texts are refused");
	for (n = i = 0; i < sizeof(good) / sizeof(*good); i++)
		n += valid(good[i]);
	ok(n == i, "well-formed texts are accepted");
	for (n = i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		json_init(&j, numbers[i].text, strlen(numbers[i].text));
		n += (json_u64(&j, &v) == 0) == numbers[i].fine;
	}
	ok(n == i, "whole numbers are taken up to 2^64-1 and nothing else is");

	memset(deep, '[', JSON_DEPTH_MAX);
	memset(deep + JSON_DEPTH_MAX, ']', JSON_DEPTH_MAX);
	deep[2 * JSON_DEPTH_MAX] = 0;
	ok(valid(deep), "the greatest depth is read");
	memset(deep, '[', JSON_DEPTH_MAX + 1);
	memset(deep + JSON_DEPTH_MAX + 1, ']', JSON_DEPTH_MAX + 1);
	deep[2 * JSON_DEPTH_MAX + 2] = 0;
	ok(!valid(deep), "one level more is refused");

	json_init(&j, "{\n \"a\": x}", 10);
	json_skip(&j);
	json_error(&j, text, sizeof(text));
	ok(!strcmp(text, "line 2, column 7: expected a value"), "the error names its place: %s", text);
}

struct source {
	const char *text;
	size_t len, step;
};

static int read_source(void *ctx, char *buf, size_t max, size_t *len, const char **why)
{
	struct source *s = ctx;

	if (s->text[0] == '!') {
		*why = "the source is broken";
		return -1;
	}
	*len = s->len < s->step ? s->len : s->step;
	*len = *len < max ? *len : max;
	memcpy(buf, s->text, *len);
	s->text += *len;
	s->len -= *len;
	return 0;
}

/* The members of text, read with json_bytes and json_u64, by pieces of step bytes. */
static bool walk_pieces(const char *text, size_t step, uint8_t bytes[4], uint64_t *n)
{
	struct source source = { text, strlen(text), step };
	char buf[JSON_BUF_MIN];
	struct json j;
	struct json_str key;

	json_init_pieces(&j, read_source, &source, buf, sizeof(buf));
	json_object(&j);
	while (json_key(&j, &key) > 0) {
		if (json_str_is(&key, "bytes"))
			json_bytes(&j, bytes, 4);
		else if (json_str_is(&key, "number"))
			json_u64(&j, n);
		else
			json_skip(&j);
	}
	return json_end(&j) == 0;
}

static void test_pieces(void)
{
	static const char text[] = "{\"bytes\":[0,255,10,7],\"other\" : [\"\xc3\xa9\\u00e9\", null ,{}],"
				   "\n\"number\"   :\t 123456789, \"x\":true}  ";
	static const char *const wrong[] = {
		"[1,2,3]", "[1,2,3,4,5]", "[1,2,3,256]", "[1,2,3,-4]", "[1,2,3,04]", "[1,2,3,4.0]",
		"[1,2,3,\"4\"]", "[1,2,,4]", "[1,2,3,4", "1", "[1,2,3,1000]",
	};
	/* a number that is cut off has no end */
	static const int where[15] = { 0, 1, 2, 2, 4, 4, 6, 6, 8, 8, 10, 11, 11, 11, 11 };
	struct source source;
	char buf[JSON_BUF_MIN], error[128], want[64], longish[2 * JSON_BUF_MIN];
	uint8_t bytes[4];
	struct json j;
	uint64_t n;
	size_t i, good = 0;

	for (i = 1; i < sizeof(text); i++) {
		memset(bytes, 1, 4);
		n = 0;
		good += walk_pieces(text, i, bytes, &n) && n == 123456789 &&
			!memcmp(bytes, "\x00\xff\x0a\x07", 4);
	}
	ok(good == i - 1, "pieces of every size give the same");
	for (i = good = 0; i < sizeof(text) - 3; i++) {
		char cut[sizeof(text)];

		memcpy(cut, text, i);
		cut[i] = 0;
		good += !walk_pieces(cut, 5, bytes, &n);
	}
	ok(good == i, "a text cut anywhere is refused");
	for (i = good = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		json_init(&j, wrong[i], strlen(wrong[i]));
		good += json_bytes(&j, bytes, 4) < 0;
	}
	ok(good == i, "arrays that are not four bytes are refused");
	json_init(&j, "[ 1,2 , 3,4]", 12);
	ok(json_bytes(&j, bytes, 4) == 0 && bytes[3] == 4, "white space in an array of bytes");

	source = (struct source){ "!", 1, 1 };
	json_init_pieces(&j, read_source, &source, buf, sizeof(buf));
	json_skip(&j);
	json_error(&j, error, sizeof(error));
	ok(!strcmp(error, "byte 0: the source is broken"), "the source's error: %s", error);

	/* what breaks behind a number or an array is no fault of theirs */
	memset(longish, ' ', sizeof(longish));
	memcpy(longish, "[[1,2,3,4],567]", 15);
	for (i = good = 0; i < 15; i++) {
		longish[i] = '!';
		source = (struct source){ longish, sizeof(longish), 1 };
		json_init_pieces(&j, read_source, &source, buf, sizeof(buf));
		json_array(&j);
		if (json_next(&j) > 0 && json_bytes(&j, bytes, 4) == 0 && json_next(&j) > 0)
			json_u64(&j, &n);
		json_next(&j);
		json_error(&j, error, sizeof(error));
		snprintf(want, sizeof(want), "byte %d: the source is broken", where[i]);
		if (!strcmp(error, want))
			good++;
		else
			diag("%zu: %s", i, error);
		longish[i] = "[[1,2,3,4],567]"[i];
	}
	ok(good == i, "a source that breaks is named where it is needed");

	memset(longish, 'x', sizeof(longish));
	longish[0] = '"';
	source = (struct source){ longish, sizeof(longish), 100 };
	json_init_pieces(&j, read_source, &source, buf, sizeof(buf));
	ok(json_skip(&j) < 0, "a string longer than the buffer is refused");
	for (i = 1, n = 0; i < sizeof(buf); i++) {
		/* the longest that is read in pieces of any size, and one byte more */
		memset(longish, 'x', sizeof(longish));
		longish[0] = longish[sizeof(buf) - JSON_READ_MIN - 1] = '"';
		source = (struct source){ longish, sizeof(buf) - JSON_READ_MIN, i };
		json_init_pieces(&j, read_source, &source, buf, sizeof(buf));
		n += json_skip(&j) == 0;
		longish[sizeof(buf) - JSON_READ_MIN - 1] = 'x';
		longish[sizeof(buf) - JSON_READ_MIN] = '"';
		source = (struct source){ longish, sizeof(buf) - JSON_READ_MIN + 1, i };
		json_init_pieces(&j, read_source, &source, buf, sizeof(buf));
		n += json_skip(&j) < 0;
	}
	ok(n == 2 * (i - 1), "the longest that is read does not depend on the pieces");
}

static void test_utf8(void)
{
	static const char *const bad[] = {
		"\"\x80\"", "\"\xc0\x80\"", "\"\xc3\"", "\"\xe0\x80\x80\"", "\"\xed\xa0\x80\"",
		"\"\xf0\x80\x80\x80\"", "\"\xf4\x90\x80\x80\"", "\"\xf5\x80\x80\x80\"", "\"\xff\"",
		"\"\xe2\x82",
	};
	static const char *const good[] = {
		"\"\xc3\xa9\"", "\"\xe2\x82\xac\"", "\"\xf0\x9f\x98\x80\"", "\"12345678\xc3\xa9\"",
	};
	size_t i, n = 0;

	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		n += !valid(bad[i]);
	ok(n == i, "strings that are not UTF-8 are refused");
	for (n = i = 0; i < sizeof(good) / sizeof(*good); i++)
		n += valid(good[i]);
	ok(n == i, "UTF-8 is accepted");
}

/* Strings long enough to be looked at many bytes at a time. */
static void test_long_strings(void)
{
	static const char bad[] = "\"\x01\x1f\n\x80\xff";
	char text[403];
	struct json_str s;
	struct json j;
	size_t i, k, n = 0, good = 0, all = 0;

	for (i = 0; i < 200; i++) {
		memset(text, 'x', sizeof(text));
		text[0] = text[1 + i] = '"';
		json_init(&j, text, sizeof(text));
		n += json_string(&j, &s) == 0 && s.len == i && !s.escaped;
		memcpy(text + 1 + i, "\\\"", 2);
		text[3 + i + i] = '"';
		json_init(&j, text, 4 + i + i);
		n += json_string(&j, &s) == 0 && s.len == i + 2 + i && s.escaped;
	}
	ok(n == 2 * i, "a string of any length ends at its quote, and not at an escaped one");
	for (i = 0; i < 200; i++) {
		for (k = 0; k < sizeof(bad) - 1; k++, all++) {
			memset(text, ' ' + i % 2 * ('~' - ' '), sizeof(text));
			text[0] = text[300] = '"';
			text[1 + i] = bad[k];
			json_init(&j, text, 301);
			good += (json_string(&j, &s) == 0) == !k &&
				j.p - text == (k ? 1 : 2) + (long)i;
		}
	}
	ok(good == all, "a byte that no string holds is found wherever it is");
}

int main(void)
{
	test_walk();
	test_long_strings();
	test_errors();
	test_pieces();
	test_utf8();
	return tap_done();
}
