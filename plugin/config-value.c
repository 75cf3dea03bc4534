/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* config-value.c - syntax of numbers, sizes and durations */
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "plugin/config.h"

int config_bool(const char *text, bool *value)
{
	if (!strcmp(text, "yes"))
		*value = true;
	else if (!strcmp(text, "no"))
		*value = false;
	else
		return -EINVAL;
	return 0;
}

/* Decimal digits at *text, which moves behind them. */
static int parse_digits(const char **text, uint64_t *value)
{
	const char *p = *text;
	uint64_t v = 0;

	if (!isdigit((unsigned char)*p))
		return -EINVAL;
	for (; isdigit((unsigned char)*p); p++) {
		if (__builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(*p - '0'), &v))
			return -ERANGE;
	}
	*text = p;
	*value = v;
	return 0;
}

int config_int(const char *text, int64_t *value)
{
	bool negative = *text == '-';
	uint64_t v;
	int r;

	text += negative;
	r = parse_digits(&text, &v);
	if (r < 0)
		return r;
	if (*text)
		return -EINVAL;
	if (v > (uint64_t)INT64_MAX)
		return -ERANGE;
	*value = negative ? -(int64_t)v : (int64_t)v;
	return 0;
}

struct suffix {
	const char *text;
	uint64_t factor;
};

static int parse_suffixed(const char *text, const struct suffix *suffixes, uint64_t *value)
{
	uint64_t v;
	int r;

	r = parse_digits(&text, &v);
	if (r < 0)
		return r;
	while (*text == ' ')
		text++;
	for (; suffixes->text; suffixes++) {
		if (strcmp(text, suffixes->text))
			continue;
		if (__builtin_mul_overflow(v, suffixes->factor, &v) || v > (uint64_t)INT64_MAX)
			return -ERANGE;
		*value = v;
		return 0;
	}
	return -EINVAL;
}

int config_size(const char *text, uint64_t *value)
{
	static const struct suffix sizes[] = {
		{ "", 1 }, { "K", 1ull << 10 }, { "M", 1ull << 20 }, { "G", 1ull << 30 },
		{ "T", 1ull << 40 }, { NULL }
	};

	return parse_suffixed(text, sizes, value);
}

int config_duration(const char *text, uint64_t *ms)
{
	static const struct suffix durations[] = {
		{ "", 1000 }, { "ms", 1 }, { "s", 1000 }, { "min", 60 * 1000 },
		{ "h", 3600 * 1000 }, { "d", 24 * 3600 * 1000 }, { NULL }
	};

	return parse_suffixed(text, durations, ms);
}
