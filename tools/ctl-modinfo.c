/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* ctl-modinfo.c - cuzkctl modinfo: what an engine says of itself, without running it */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/modinfo.h"
#include "tools/ctl.h"

static const char *explain(int err)
{
	switch (err) {
	case -ENOEXEC:
		return "not a shared object for this machine";
	case -ENODATA:
		return "no engine: it has no section .cuzk.modinfo";
	case -EBADMSG:
		return "damaged: offsets or strings do not fit the file";
	default:
		return strerror(-err);
	}
}

static void print_text(const struct modinfo *info)
{
	const char *e, *eq;

	for (e = modinfo_next(info, NULL); e; e = modinfo_next(info, e)) {
		eq = strchr(e, '=');
		if (eq)
			printf("%-12.*s %s\n", (int)(eq - e), e, eq + 1);
	}
}

static void print_json(const struct modinfo *info)
{
	static const char *const keys[] = { "name", "version", "licence", "description", "abi" };
	const char *e, *value;
	size_t i;
	int n = 0;

	putchar('{');
	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		value = modinfo_get(info, keys[i]);
		if (!value)
			continue;
		printf("%s\"%s\":", n++ ? "," : "", keys[i]);
		ctl_quote(value);
	}
	printf("%s\"params\":[", n ? "," : "");
	for (e = modinfo_next(info, NULL), n = 0; e; e = modinfo_next(info, e)) {
		if (strncmp(e, "param=", 6))
			continue;
		if (n++)
			putchar(',');
		ctl_quote(e + 6);
	}
	printf("]}\n");
}

int ctl_modinfo(int argc, char **argv)
{
	const char *path = NULL;
	bool json = false;
	const struct ctl_option options[] = { { "--json", NULL, &json }, { NULL } };
	struct modinfo info;
	int err;

	if (ctl_parse("modinfo", argc, argv, options, NULL, &path, 1) < 0)
		return CTL_USAGE;
	if (!path)
		return ctl_usage("modinfo", "a file is needed");
	err = modinfo_read(&info, path);
	if (err)
		return ctl_fail("modinfo", "%s: %s", path, explain(err));
	if (json)
		print_json(&info);
	else
		print_text(&info);
	modinfo_free(&info);
	return 0;
}
