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

int main(void)
{
	test_walk();
	test_errors();
	return tap_done();
}
