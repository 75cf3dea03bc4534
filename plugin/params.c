/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* params.c - the parameters that an engine declares and [engine NAME] sets */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plugin/config.h"
#include "plugin/params.h"

#define WHY 200

/* 0 or -EINVAL with why: "is not ...". */
static int check_value(const struct cuzk_param *p, const char *value, char why[WHY])
{
	const char *unit = "";
	uint64_t size;
	int64_t v = 0;
	bool yes;
	int r;

	switch (p->type) {
	case CUZK_PARAM_BOOL:
		if (!config_bool(value, &yes))
			return 0;
		snprintf(why, WHY, "is not yes or no");
		return -EINVAL;
	case CUZK_PARAM_INT:
		r = config_int(value, &v);
		if (r == -EINVAL) {
			snprintf(why, WHY, "is not a number");
			return r;
		}
		break;
	case CUZK_PARAM_SIZE:
		r = config_size(value, &size);
		if (r == -EINVAL) {
			snprintf(why, WHY, "is not a size (a number, with K, M, G or T behind)");
			return r;
		}
		v = size;
		unit = " bytes";
		break;
	case CUZK_PARAM_PATH:
		if (*value == '/')
			return 0;
		snprintf(why, WHY, "is not an absolute path");
		return -EINVAL;
	default:
		return 0;
	}
	if (!r && v >= p->min && v <= p->max)
		return 0;
	snprintf(why, WHY, "is out of range (%lld to %lld%s)", (long long)p->min,
		 (long long)p->max, unit);
	return -EINVAL;
}

static const struct params_given *find_given(const struct params_given *given, int n,
					     const char *name)
{
	int i;

	for (i = 0; i < n; i++) {
		if (!strcmp(given[i].name, name))
			return &given[i];
	}
	return NULL;
}

static const struct cuzk_param *find_declared(const struct cuzk_param *declared,
					      const char *name)
{
	for (; declared && declared->name; declared++) {
		if (!strcmp(declared->name, name))
			return declared;
	}
	return NULL;
}

/* The value of p and whom to blame for it; NULL: unset. */
static const char *choose(const struct cuzk_param *p, const struct params_given *g,
			  const char *params_dir, const char **place)
{
	*place = "default";
	if (g) {
		*place = g->place;
		return g->value;
	}
	if (params_dir && p->type == CUZK_PARAM_PATH && !strcmp(p->name, "params_dir")) {
		*place = "[global] params_dir";
		return params_dir;
	}
	return p->def;
}

int params_check(const struct cuzk_param *declared, const struct params_given *given, int n,
		 const char *params_dir, struct cuzk_option **options,
		 void (*report)(void *ctx, const char *line), void *ctx)
{
	const struct cuzk_param *p;
	struct cuzk_option *list;
	char why[WHY], line[1024];
	int i, count = 0, r = 0;

	for (p = declared; p && p->name; p++)
		count++;
	list = calloc(count + 1, sizeof(*list));
	if (!list)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		if (find_declared(declared, given[i].name))
			continue;
		snprintf(line, sizeof(line), "%s: the engine has no parameter %s", given[i].place,
			 given[i].name);
		report(ctx, line);
		r = -EINVAL;
	}
	for (p = declared, i = 0; p && p->name; p++) {
		const struct params_given *g = find_given(given, n, p->name);
		const char *place, *value = choose(p, g, params_dir, &place);

		if (!value)
			continue;
		if (check_value(p, value, why) < 0) {
			snprintf(line, sizeof(line), "%s: %s: '%s' %s", place, p->name, value, why);
			report(ctx, line);
			r = -EINVAL;
		}
		list[i++] = (struct cuzk_option){ p->name, value };
	}
	if (r < 0)
		free(list);
	else
		*options = list;
	return r;
}
