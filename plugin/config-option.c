/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* config-option.c - one option: parse, print, compare, copy */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>

#include "plugin/config-table.h"

static const struct {
	const char *name;
	int priority;
} levels[] = {
	{ "err", LOG_ERR }, { "warning", LOG_WARNING }, { "notice", LOG_NOTICE },
	{ "info", LOG_INFO }, { "debug", LOG_DEBUG },
};

#define N_LEVELS (sizeof(levels) / sizeof(levels[0]))

bool config_option_is_text(const struct config_option *opt)
{
	return opt->type >= TYPE_STRING;
}

static bool *field_bool(const struct config_option *opt, void *base)
{
	return (bool *)((char *)base + opt->offset);
}

static uint64_t *field_number(const struct config_option *opt, void *base)
{
	return (uint64_t *)((char *)base + opt->offset);
}

static char **field_text(const struct config_option *opt, void *base)
{
	return (char **)((char *)base + opt->offset);
}

static int why_not(char why[CONFIG_WHY], const char *text)
{
	snprintf(why, CONFIG_WHY, "%s", text);
	return -EINVAL;
}

static int parse_level(const char *text, uint64_t *value)
{
	unsigned int i;

	for (i = 0; i < N_LEVELS; i++) {
		if (!strcmp(levels[i].name, text)) {
			*value = levels[i].priority;
			return 0;
		}
	}
	return -EINVAL;
}

static int parse_mode(const char *text, uint64_t *value)
{
	uint64_t v = 0;

	if (!*text || strlen(text) > 4)
		return -EINVAL;
	for (; *text; text++) {
		if (*text < '0' || *text > '7')
			return -EINVAL;
		v = v * 8 + (*text - '0');
	}
	*value = v;
	return 0;
}

static int parse_kinds(const char *text, uint64_t *value)
{
	uint64_t set = 0;

	if (!strcmp(text, "all")) {
		*value = CONFIG_KINDS_ALL;
		return 0;
	}
	if (!strcmp(text, "none")) {
		*value = 0;
		return 0;
	}
	while (*text) {
		size_t len = strcspn(text, " ,");
		unsigned int kind;

		for (kind = 1; kind < CUZK_KIND_COUNT; kind++) {
			const char *name = config_kind_name(kind);

			if (strlen(name) == len && !strncmp(name, text, len))
				break;
		}
		if (kind == CUZK_KIND_COUNT)
			return -EINVAL;
		set |= CONFIG_KIND(kind);
		text += len;
		text += strspn(text, " ,");
	}
	*value = set;
	return set ? 0 : -EINVAL;
}

static int parse_number(const struct config_option *opt, const char *text, uint64_t *value,
			char why[CONFIG_WHY])
{
	int64_t v;
	int r;

	switch (opt->type) {
	case TYPE_INT:
		r = config_int(text, &v);
		if (!r && v < 0)
			r = -ERANGE;
		*value = v;
		if (r == -EINVAL)
			return why_not(why, "is not a number");
		break;
	case TYPE_SIZE:
		r = config_size(text, value);
		if (r == -EINVAL)
			return why_not(why, "is not a size (a number, with K, M, G or T behind)");
		break;
	case TYPE_DURATION:
		r = config_duration(text, value);
		if (r == -EINVAL)
			return why_not(why, "is not a time (a number, with ms, s, min, h or d "
				       "behind)");
		break;
	case TYPE_MODE:
		r = parse_mode(text, value);
		if (r == -EINVAL)
			return why_not(why, "is not an octal file mode");
		break;
	case TYPE_LEVEL:
		if (parse_level(text, value) < 0)
			return why_not(why, "is not one of err, warning, notice, info, debug");
		return 0;
	case TYPE_KINDS:
		if (parse_kinds(text, value) < 0)
			return why_not(why, "is not a list of porep, update, window-post and "
				       "winning-post, nor all, nor none");
		return 0;
	case TYPE_ENGINE:
		if (!strcmp(text, "plugin"))
			*value = CONFIG_ENGINE_PLUGIN;
		else if (!strcmp(text, "foreign"))
			*value = CONFIG_ENGINE_FOREIGN;
		else
			return why_not(why, "is not plugin or foreign");
		return 0;
	default:
		return why_not(why, "has no type");
	}
	if (!r && *value >= opt->min && *value <= opt->max)
		return 0;
	if (opt->type == TYPE_MODE)
		snprintf(why, CONFIG_WHY, "is out of range (0%llo to 0%llo)",
			 (unsigned long long)opt->min, (unsigned long long)opt->max);
	else
		snprintf(why, CONFIG_WHY, "is out of range (%llu to %llu%s)",
			 (unsigned long long)opt->min, (unsigned long long)opt->max,
			 opt->type == TYPE_DURATION ? " ms" :
			 opt->type == TYPE_SIZE ? " bytes" : "");
	return -EINVAL;
}

static bool name_ok(const char *text)
{
	const char *p;

	for (p = text; *p; p++) {
		if (!isalnum((unsigned char)*p) && !strchr("._-", *p))
			return false;
	}
	return *text && *text != '.' && p - text <= CONFIG_NAME_MAX;
}

/* HOST:PORT, [HOST]:PORT; the host may be empty. */
static bool address_ok(const char *text)
{
	const char *colon = strrchr(text, ':');
	int64_t port;
	size_t host;

	if (!colon || config_int(colon + 1, &port) < 0 || port < 1 || port > 65535)
		return false;
	host = colon - text;
	if (memchr(text, ':', host) && (text[0] != '[' || text[host - 1] != ']'))
		return false;
	return !memchr(text, ' ', host) && !memchr(text, '/', host);
}

/* [DDDD:]BB:DD.F in hexadecimal */
static bool pci_ok(const char *text)
{
	static const char *const forms[] = { "xxxx:xx:xx.x", "xxxxxxxx:xx:xx.x", "xx:xx.x" };
	unsigned int i;

	for (i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		const char *f = forms[i], *p = text;

		while (*f && (*f == 'x' ? isxdigit((unsigned char)*p) : *f == *p))
			f++, p++;
		if (!*f && !*p)
			return true;
	}
	return false;
}

static bool device_ok(const char *text)
{
	const char *p;

	if (pci_ok(text))
		return true;
	if (strncmp(text, "GPU-", 4) && strncmp(text, "MIG-", 4))
		return false;
	for (p = text + 4; *p; p++) {
		if (!isalnum((unsigned char)*p) && !strchr("-/", *p))
			return false;
	}
	return p - text >= 12;
}

static int check_text(const struct config_option *opt, const char *text, char why[CONFIG_WHY])
{
	if (!*text)
		return opt->optional ? 0 : why_not(why, "must not be empty");
	if (strlen(text) > opt->max)
		return why_not(why, "is too long");
	switch (opt->type) {
	case TYPE_PATH:
		return *text == '/' ? 0 : why_not(why, "is not an absolute path");
	case TYPE_ADDRESS:
		return address_ok(text) ? 0 : why_not(why, "is not an address HOST:PORT");
	case TYPE_ENDPOINT:
		if (*text == '/' || address_ok(text))
			return 0;
		return why_not(why, "is not an address HOST:PORT, nor an absolute path");
	case TYPE_NAME:
		return name_ok(text) ? 0 : why_not(why, "is not a name");
	case TYPE_LIBRARY:
		if (*text == '/' || name_ok(text))
			return 0;
		return why_not(why, "is neither an absolute path nor a bare name");
	case TYPE_DEVICE:
		if (device_ok(text))
			return 0;
		return why_not(why, "is not a GPU's UUID (GPU-..., MIG-...) nor its PCI address");
	default:
		return 0;
	}
}

int config_option_set(const struct config_option *opt, void *base, const char *text,
		      char why[CONFIG_WHY])
{
	uint64_t number;
	char *copy = NULL;
	bool yes;
	int r;

	if (config_option_is_text(opt)) {
		r = check_text(opt, text, why);
		if (r < 0)
			return r;
		if (*text) {
			copy = strdup(text);
			if (!copy)
				return -ENOMEM;
		}
		free(*field_text(opt, base));
		*field_text(opt, base) = copy;
		return 0;
	}
	if (opt->type == TYPE_BOOL) {
		if (config_bool(text, &yes) < 0)
			return why_not(why, "is not yes or no");
		*field_bool(opt, base) = yes;
		return 0;
	}
	r = parse_number(opt, text, &number, why);
	if (!r)
		*field_number(opt, base) = number;
	return r;
}

static void print_size(uint64_t v, FILE *f)
{
	static const char suffixes[] = "\0KMGT";
	unsigned int i = 0;

	while (v && !(v & 1023) && i < 4) {
		v >>= 10;
		i++;
	}
	fprintf(f, "%llu", (unsigned long long)v);
	if (i)
		fputc(suffixes[i], f);
}

static void print_kinds(uint64_t set, FILE *f)
{
	const char *sep = "";
	unsigned int kind;

	if (set == CONFIG_KINDS_ALL || !set) {
		fputs(set ? "all" : "none", f);
		return;
	}
	for (kind = 1; kind < CUZK_KIND_COUNT; kind++) {
		if (set & CONFIG_KIND(kind)) {
			fprintf(f, "%s%s", sep, config_kind_name(kind));
			sep = " ";
		}
	}
}

void config_option_print(const struct config_option *opt, const void *base, FILE *f)
{
	void *b = (void *)base;	/* read only below */
	uint64_t v;
	unsigned int i;

	if (config_option_is_text(opt)) {
		fputs(*field_text(opt, b) ? *field_text(opt, b) : "", f);
		return;
	}
	if (opt->type == TYPE_BOOL) {
		fputs(*field_bool(opt, b) ? "yes" : "no", f);
		return;
	}
	v = *field_number(opt, b);
	switch (opt->type) {
	case TYPE_SIZE:
		print_size(v, f);
		break;
	case TYPE_DURATION:
		if (v % 1000)
			fprintf(f, "%llums", (unsigned long long)v);
		else
			fprintf(f, "%llus", (unsigned long long)v / 1000);
		break;
	case TYPE_MODE:
		fprintf(f, "0%llo", (unsigned long long)v);
		break;
	case TYPE_LEVEL:
		for (i = 0; i < N_LEVELS; i++) {
			if ((uint64_t)levels[i].priority == v)
				fputs(levels[i].name, f);
		}
		break;
	case TYPE_KINDS:
		print_kinds(v, f);
		break;
	case TYPE_ENGINE:
		fputs(v == CONFIG_ENGINE_FOREIGN ? "foreign" : "plugin", f);
		break;
	default:
		fprintf(f, "%llu", (unsigned long long)v);
	}
}

bool config_option_equal(const struct config_option *opt, const void *a, const void *b)
{
	const char *s, *t;

	if (config_option_is_text(opt)) {
		s = *field_text(opt, (void *)a);
		t = *field_text(opt, (void *)b);
		return s && t ? !strcmp(s, t) : s == t;
	}
	if (opt->type == TYPE_BOOL)
		return *field_bool(opt, (void *)a) == *field_bool(opt, (void *)b);
	return *field_number(opt, (void *)a) == *field_number(opt, (void *)b);
}

int config_option_copy(const struct config_option *opt, void *dst, const void *src)
{
	char *text, *copy = NULL;

	if (config_option_is_text(opt)) {
		text = *field_text(opt, (void *)src);
		if (text) {
			copy = strdup(text);
			if (!copy)
				return -ENOMEM;
		}
		free(*field_text(opt, dst));
		*field_text(opt, dst) = copy;
	} else if (opt->type == TYPE_BOOL) {
		*field_bool(opt, dst) = *field_bool(opt, (void *)src);
	} else {
		*field_number(opt, dst) = *field_number(opt, (void *)src);
	}
	return 0;
}
