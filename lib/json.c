/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* json.c - a pull reader for JSON (RFC 8259), in memory or by pieces */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "lib/json.h"

void json_init(struct json *j, const char *text, size_t len)
{
	memset(j, 0, sizeof(*j));
	j->start = j->p = text;
	j->end = text + len;
}

void json_init_pieces(struct json *j, json_read_fn read, void *ctx, char *buf, size_t buf_size)
{
	json_init(j, buf, 0);
	j->read = read;
	j->ctx = ctx;
	j->buf = buf;
	j->buf_size = buf_size;
	j->pieces = true;
}

int json_fail(struct json *j, const char *what)
{
	if (!j->error) {
		j->error = what;
		j->error_at = j->p;
	}
	return -EBADMSG;
}

void json_error(const struct json *j, char *buf, size_t size)
{
	unsigned long line = 1;
	const char *p, *line_start = j->start;

	if (j->pieces) {
		snprintf(buf, size, "byte %llu: %s",
			 j->error ? (unsigned long long)(j->base + (j->error_at - j->start)) : 0,
			 j->error ? j->error : "no error");
		return;
	}
	for (p = j->start; p < j->error_at; p++)
		if (*p == '\n') {
			line++;
			line_start = p + 1;
		}
	snprintf(buf, size, "line %lu, column %lu: %s", line,
		 j->error ? (unsigned long)(j->error_at - line_start) + 1 : 1,
		 j->error ? j->error : "no error");
}

/* Reads more behind what is in memory and moves it to the front. False: none, or it is broken. */
static bool fill(struct json *j)
{
	const char *from = j->keep ? j->keep : j->p, *why = NULL;
	size_t kept = j->end - from, n = 0;

	if (!j->read || j->error)
		return false;
	if (j->buf_size - kept < JSON_READ_MIN) {
		json_fail(j, "a name, string or number is too long");
		return false;
	}
	memmove(j->buf, from, kept);
	j->base += from - j->start;
	j->p = j->buf + (j->p - from);
	j->start = j->buf;
	j->end = j->buf + kept;
	if (j->keep)
		j->keep = j->buf;
	if (j->read(j->ctx, j->buf + kept, j->buf_size - kept, &n, &why) < 0) {
		j->broken = why;
		n = 0;
	}
	j->end += n;
	if (!n)
		j->read = NULL;
	return n != 0;
}

/* Where more has to come: the text fails here if it is broken. */
static bool more(struct json *j)
{
	if (fill(j))
		return true;
	if (j->broken)
		json_fail(j, j->broken);
	return false;
}

/* As many as n bytes from p on, or all that there are: perhaps they are not needed. */
static inline void want(struct json *j, size_t n)
{
	while ((size_t)(j->end - j->p) < n && fill(j))
		;
}

static inline bool at_end(struct json *j)
{
	return j->p == j->end && !more(j);
}

static void skip_space(struct json *j)
{
	while (!at_end(j) && (*j->p == ' ' || *j->p == '\n' || *j->p == '\t' || *j->p == '\r'))
		j->p++;
}

enum json_type json_peek(struct json *j)
{
	if (j->error)
		return JSON_BAD;
	skip_space(j);
	if (at_end(j))
		return JSON_BAD;
	switch (*j->p) {
	case '{':
		return JSON_OBJECT;
	case '[':
		return JSON_ARRAY;
	case '"':
		return JSON_STRING;
	case 't':
	case 'f':
		return JSON_BOOL;
	case 'n':
		return JSON_NULL;
	case '-':
	case '0' ... '9':
		return JSON_NUMBER;
	default:
		return JSON_BAD;
	}
}

uint64_t json_tell(struct json *j)
{
	skip_space(j);
	return j->base + (j->p - j->start);
}

void json_seek(struct json *j, uint64_t at, json_read_fn read)
{
	j->start = j->p = j->end = j->buf;
	j->base = at;
	j->read = read;
	j->broken = NULL;
}

static int open_nested(struct json *j, bool object)
{
	uint64_t bit;

	if (json_peek(j) != (object ? JSON_OBJECT : JSON_ARRAY))
		return json_fail(j, object ? "expected an object" : "expected an array");
	if (j->depth == JSON_DEPTH_MAX)
		return json_fail(j, "nested too deeply");
	bit = 1ull << j->depth++;
	j->is_object = object ? j->is_object | bit : j->is_object & ~bit;
	j->has_member &= ~bit;
	j->p++;
	return 0;
}

int json_object(struct json *j)
{
	return open_nested(j, true);
}

int json_array(struct json *j)
{
	return open_nested(j, false);
}

/* To the next member: 1 there is one, 0 closed. */
static int next_member(struct json *j, bool object)
{
	uint64_t bit;

	if (j->error)
		return -EBADMSG;
	if (!j->depth)
		return json_fail(j, "no object or array is open");
	bit = 1ull << (j->depth - 1);
	if (!!(j->is_object & bit) != object)
		return json_fail(j, object ? "expected an object" : "expected an array");
	skip_space(j);
	if (at_end(j))
		return json_fail(j, "the text ends inside an object or array");
	if (*j->p == (object ? '}' : ']')) {
		j->p++;
		j->depth--;
		return 0;
	}
	if (j->has_member & bit) {
		if (*j->p != ',')
			return json_fail(j, "expected a comma");
		j->p++;
	}
	j->has_member |= bit;
	return 1;
}

int json_next(struct json *j)
{
	return next_member(j, false);
}

int json_key(struct json *j, struct json_str *key)
{
	int ret = next_member(j, true);

	if (ret <= 0)
		return ret;
	if (json_peek(j) != JSON_STRING)
		return json_fail(j, "expected a key");
	ret = json_string(j, key);
	if (ret)
		return ret;
	/* the key is still wanted when the colon is not in memory yet */
	j->keep = key->s;
	skip_space(j);
	key->s = j->keep;
	j->keep = NULL;
	if (j->p == j->end || *j->p != ':')
		return json_fail(j, "expected a colon");
	j->p++;
	return 1;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

#ifdef __SSE2__
/* 0xff for each byte that needs a look. */
static inline __m128i special(const char *p)
{
	__m128i v = _mm_loadu_si128((const __m128i *)p);

	/* signed: below a space are control characters, and what is not ASCII */
	return _mm_or_si128(_mm_cmplt_epi8(v, _mm_set1_epi8(' ')),
			    _mm_or_si128(_mm_cmpeq_epi8(v, _mm_set1_epi8('"')),
					 _mm_cmpeq_epi8(v, _mm_set1_epi8('\\'))));
}

/* Behind the bytes of a string that need no look, sixteen at a time, or 64 in a long one. */
static const char *skip_plain(const char *p, const char *end)
{
	unsigned int found;

	for (; end - p >= 16; p += 16) {
		found = _mm_movemask_epi8(special(p));
		if (found)
			return p + __builtin_ctz(found);
		for (; end - p >= 80; p += 64)
			if (_mm_movemask_epi8(_mm_or_si128(
					_mm_or_si128(special(p + 16), special(p + 32)),
					_mm_or_si128(special(p + 48), special(p + 64)))))
				break;
	}
	return p;
}
#else
/* Behind the bytes of a string that need no look, eight at a time. */
static const char *skip_plain(const char *p, const char *end)
{
	const uint64_t ones = 0x0101010101010101ull, highs = 0x8080808080808080ull;

	for (; end - p >= 8; p += 8) {
		uint64_t w, quote, slash;

		memcpy(&w, p, 8);
		quote = w ^ ones * '"';
		slash = w ^ ones * '\\';
		/* a byte below 0x20, one of the two, or not ASCII; some false alarms */
		if (((w - ones * 0x20) | (quote - ones) | (slash - ones) | w) & highs)
			break;
	}
	return p;
}
#endif

/* Length of the character of two to four bytes at p (Unicode, table 3-7); 0: none. */
static size_t utf8_len(const char *s, const char *end)
{
	const unsigned char *p = (const unsigned char *)s;
	unsigned char lo = 0x80, hi = 0xbf;
	size_t i, n;

	if (*p >= 0xc2 && *p <= 0xdf) {
		n = 2;
	} else if (*p >= 0xe0 && *p <= 0xef) {
		n = 3;
		lo = *p == 0xe0 ? 0xa0 : lo;
		hi = *p == 0xed ? 0x9f : hi;
	} else if (*p >= 0xf0 && *p <= 0xf4) {
		n = 4;
		lo = *p == 0xf0 ? 0x90 : lo;
		hi = *p == 0xf4 ? 0x8f : hi;
	} else {
		return 0;
	}
	if ((size_t)(end - s) < n || p[1] < lo || p[1] > hi)
		return 0;
	for (i = 2; i < n; i++)
		if (p[i] < 0x80 || p[i] > 0xbf)
			return 0;
	return n;
}

/* The quote that ends the string at j->p; j->end: it is not in memory; NULL: it is wrong. */
static const char *string_end(struct json *j, bool *escaped, const char **bad, const char **why)
{
	const char *p = j->p + 1;
	size_t n;
	int i;

	for (*escaped = false;; p++) {
		p = skip_plain(p, j->end);
		if (p == j->end || *p == '"')
			return p;
		*bad = p;
		if ((unsigned char)*p < 0x20) {
			*why = "control character in a string";
			return NULL;
		}
		if ((unsigned char)*p >= 0x80) {
			n = utf8_len(p, j->end);
			if (!n && j->end - p < 4 && (j->read || j->broken))
				return j->end;
			if (!n) {
				*why = "a string is not UTF-8";
				return NULL;
			}
			p += n - 1;
			continue;
		}
		if (*p != '\\')
			continue;
		*escaped = true;
		if (++p == j->end)
			return p;
		if (*p == 'u') {
			for (i = 0; i < 4; i++) {
				if (++p == j->end)
					return p;
				if (hex_digit(*p) < 0) {
					*bad = p;
					*why = "bad \\u escape";
					return NULL;
				}
			}
		} else if (!strchr("\"\\/bfnrt", *p) || !*p) {
			*bad = p;
			*why = "bad escape";
			return NULL;
		}
	}
}

int json_string(struct json *j, struct json_str *str)
{
	const char *p, *bad = NULL, *why = NULL;
	bool escaped;

	if (json_peek(j) != JSON_STRING)
		return json_fail(j, "expected a string");
	while ((p = string_end(j, &escaped, &bad, &why)) == j->end)
		if (!more(j))
			return json_fail(j, "the text ends inside a string");
	if (!p) {
		j->p = bad;
		return json_fail(j, why);
	}
	/* the same limit however the pieces fell */
	if (j->pieces && (size_t)(p + 1 - j->p) > j->buf_size - JSON_READ_MIN)
		return json_fail(j, "a name, string or number is too long");
	str->s = j->p + 1;
	str->len = p - str->s;
	str->escaped = escaped;
	j->p = p + 1;
	return 0;
}

static bool is_digit(struct json *j, const char *p)
{
	if (p == j->end && j->broken)
		json_fail(j, j->broken);
	return p < j->end && *p >= '0' && *p <= '9';
}

/* by pieces, a number must be shorter */
#define NUMBER_MAX 128

/* Behind the number at j->p, or NULL. */
static const char *number_end(struct json *j)
{
	const char *p;

	want(j, NUMBER_MAX);
	p = j->p;
	if (p < j->end && *p == '-')
		p++;
	if (!is_digit(j, p))
		return NULL;
	if (*p == '0')
		p++;
	else
		while (is_digit(j, p))
			p++;
	if (p < j->end && *p == '.') {
		if (!is_digit(j, ++p))
			return NULL;
		while (is_digit(j, p))
			p++;
	}
	if (p < j->end && (*p | 0x20) == 'e') {
		p++;
		if (p < j->end && (*p == '+' || *p == '-'))
			p++;
		if (!is_digit(j, p))
			return NULL;
		while (is_digit(j, p))
			p++;
	}
	return j->error || (j->pieces && p - j->p >= NUMBER_MAX) ? NULL : p;
}

int json_u64(struct json *j, uint64_t *out)
{
	const char *p, *end;
	uint64_t v = 0;

	if (json_peek(j) != JSON_NUMBER)
		return json_fail(j, "expected a number");
	end = number_end(j);
	if (!end)
		return json_fail(j, "bad number");
	for (p = j->p; p < end; p++) {
		if (*p < '0' || *p > '9')
			return json_fail(j, "expected a whole number of at least 0");
		if (__builtin_mul_overflow(v, (uint64_t)10, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(*p - '0'), &v))
			return json_fail(j, "number out of range");
	}
	*out = v;
	j->p = end;
	return 0;
}

static int word(struct json *j, const char *s)
{
	size_t len = strlen(s);

	while ((size_t)(j->end - j->p) < len && more(j))
		;
	if ((size_t)(j->end - j->p) < len || memcmp(j->p, s, len))
		return json_fail(j, "expected a value");
	j->p += len;
	return 0;
}

/* The usual form, without white space.  NULL: not that; nothing was consumed. */
static const char *bytes_fast(const char *s, uint8_t *out, size_t n)
{
	const unsigned char *p = (const unsigned char *)s;
	size_t i;

	if (*p++ != '[')
		return NULL;
	for (i = 0; i < n; i++) {
		unsigned int v = *p++ - '0', d = *p - '0';

		if (v > 9)
			return NULL;
		if (d <= 9 && v) {
			v = 10 * v + d;
			d = *++p - '0';
			if (d <= 9) {
				v = 10 * v + d;
				p++;
			}
		}
		if (v > 255 || *p++ != (i + 1 < n ? ',' : ']'))
			return NULL;
		out[i] = v;
	}
	return (const char *)p;
}

int json_bytes(struct json *j, uint8_t *out, size_t n)
{
	const char *p = NULL;
	uint64_t v;
	size_t i;

	if (json_peek(j) != JSON_ARRAY)
		return json_fail(j, "expected an array of bytes");
	/* "[" and n times "255," at most */
	if (n && n < JSON_BUF_MIN / 4) {
		want(j, 4 * n + 1);
		if ((size_t)(j->end - j->p) > 4 * n)
			p = bytes_fast(j->p, out, n);
		if (p) {
			j->p = p;
			return 0;
		}
	}
	json_array(j);
	for (i = 0; i < n; i++) {
		if (json_next(j) == 0)
			return json_fail(j, "an array has too few bytes");
		if (json_u64(j, &v) < 0)
			return -EBADMSG;
		if (v > 255)
			return json_fail(j, "expected a number from 0 to 255");
		out[i] = v;
	}
	if (json_next(j) > 0)
		return json_fail(j, "an array has too many bytes");
	return j->error ? -EBADMSG : 0;
}

int json_bool(struct json *j, bool *v)
{
	bool t;
	int ret;

	if (json_peek(j) != JSON_BOOL)
		return json_fail(j, "expected true or false");
	t = *j->p == 't';
	ret = word(j, t ? "true" : "false");
	if (ret == 0)
		*v = t;
	return ret;
}

int json_null(struct json *j)
{
	if (json_peek(j) != JSON_NULL)
		return json_fail(j, "expected null");
	return word(j, "null");
}

int json_skip(struct json *j)
{
	unsigned int base = j->depth;
	struct json_str str;
	const char *end;
	bool b;
	int ret;

	do {
		/* inside a nested value: to its next member, or out of it */
		if (j->depth > base) {
			if (j->is_object & 1ull << (j->depth - 1))
				ret = json_key(j, &str);
			else
				ret = json_next(j);
			if (ret < 0)
				return ret;
			if (ret == 0)
				continue;
		}
		switch (json_peek(j)) {
		case JSON_OBJECT:
			ret = json_object(j);
			break;
		case JSON_ARRAY:
			ret = json_array(j);
			break;
		case JSON_STRING:
			ret = json_string(j, &str);
			break;
		case JSON_NUMBER:
			end = number_end(j);
			if (!end)
				return json_fail(j, "bad number");
			j->p = end;
			ret = 0;
			break;
		case JSON_BOOL:
			ret = json_bool(j, &b);
			break;
		case JSON_NULL:
			ret = json_null(j);
			break;
		default:
			ret = json_fail(j, "expected a value");
		}
		if (ret)
			return ret;
	} while (j->depth > base);
	return 0;
}

int json_end(struct json *j)
{
	if (j->error)
		return -EBADMSG;
	skip_space(j);
	if (j->error)
		return -EBADMSG;
	if (j->depth)
		return json_fail(j, "the text ends inside an object or array");
	if (j->p != j->end)
		return json_fail(j, "more text behind the value");
	return 0;
}

bool json_str_is(const struct json_str *str, const char *s)
{
	return str->len == strlen(s) && !memcmp(str->s, s, str->len);
}

static unsigned int hex4(const char *p)
{
	return hex_digit(p[0]) << 12 | hex_digit(p[1]) << 8 | hex_digit(p[2]) << 4 |
	       hex_digit(p[3]);
}

static size_t put_utf8(char *out, uint32_t c)
{
	if (c < 0x80) {
		out[0] = c;
		return 1;
	}
	if (c < 0x800) {
		out[0] = 0xc0 | c >> 6;
		out[1] = 0x80 | (c & 0x3f);
		return 2;
	}
	if (c < 0x10000) {
		out[0] = 0xe0 | c >> 12;
		out[1] = 0x80 | (c >> 6 & 0x3f);
		out[2] = 0x80 | (c & 0x3f);
		return 3;
	}
	out[0] = 0xf0 | c >> 18;
	out[1] = 0x80 | (c >> 12 & 0x3f);
	out[2] = 0x80 | (c >> 6 & 0x3f);
	out[3] = 0x80 | (c & 0x3f);
	return 4;
}

int json_str_copy(const struct json_str *str, char *buf, size_t size)
{
	const char *p = str->s, *end = str->s + str->len;
	size_t n = 0;

	while (p < end) {
		uint32_t c = (unsigned char)*p++;

		/* room for the longest character and the NUL */
		if (size < 5 || n > size - 5) {
			if (n + 1 >= size)
				return -ENOSPC;
			if (c == '\\')
				return -ENOSPC;
		}
		if (c != '\\') {
			buf[n++] = c;
			continue;
		}
		switch (c = (unsigned char)*p++) {
		case 'b':
			c = '\b';
			break;
		case 'f':
			c = '\f';
			break;
		case 'n':
			c = '\n';
			break;
		case 'r':
			c = '\r';
			break;
		case 't':
			c = '\t';
			break;
		case 'u':
			c = hex4(p);
			p += 4;
			if (c >= 0xd800 && c < 0xdc00 && end - p >= 6 && p[0] == '\\' &&
			    p[1] == 'u') {
				uint32_t low = hex4(p + 2);

				if (low >= 0xdc00 && low < 0xe000) {
					c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
					p += 6;
				}
			}
			if (c == 0 || (c >= 0xd800 && c < 0xe000))
				return -EBADMSG;
			break;
		}
		n += put_utf8(buf + n, c);
	}
	if (n >= size)
		return -ENOSPC;
	buf[n] = '\0';
	return n;
}
