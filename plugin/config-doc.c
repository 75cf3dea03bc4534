/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* config-doc.c - the table of options as help, as a file and as manual page */
#include <stdlib.h>

#include "plugin/config-table.h"

void config_help(FILE *f)
{
	enum config_scope scope;
	unsigned int i;

	for (scope = 0; scope < SCOPE_COUNT; scope++) {
		fprintf(f, "%s%s\n", scope ? "\n" : "", config_scope_title(scope));
		for (i = 0; i < config_n_options; i++) {
			const struct config_option *opt = &config_options[i];

			if (opt->scope != scope)
				continue;
			fprintf(f, "  %-20s %s", opt->name, opt->help);
			if (!opt->def)
				fputs(" (must be set)", f);
			else if (*opt->def)
				fprintf(f, " (%s)", opt->def);
			fputc('\n', f);
		}
		if (scope == SCOPE_ENGINE)
			fprintf(f, "  %-20s %s\n", "...",
				"what the engine declares: cuzkctl modinfo FILE");
	}
}

static void dump_value(const char *name, const char *value, FILE *f)
{
	/* behind a blank it would begin a comment */
	fprintf(f, *value == ';' ? "%s =%s\n" : "%s = %s\n", name, value);
}

static void dump_option(const struct config_option *opt, const void *base, FILE *f)
{
	char *text = NULL;
	size_t len = 0;
	FILE *t = open_memstream(&text, &len);

	if (!t)
		return;
	config_option_print(opt, base, t);
	if (!fclose(t))
		dump_value(opt->name, text, f);
	free(text);
}

static void dump_section(enum config_scope scope, const void *base, FILE *f)
{
	unsigned int i;

	for (i = 0; i < config_n_options; i++) {
		const struct config_option *opt = &config_options[i];

		if (opt->scope != scope)
			continue;
		dump_option(opt, base, f);
	}
}

void config_dump(const struct config *cfg, FILE *f)
{
	unsigned int i, k;

	fputs("[global]\n", f);
	dump_section(SCOPE_GLOBAL, &cfg->global, f);
	for (i = 0; i < cfg->n_engines; i++) {
		const struct config_engine *e = &cfg->engines[i];

		fprintf(f, "\n[engine %s]\n", e->name);
		dump_section(SCOPE_ENGINE, e, f);
		for (k = 0; k < e->n_params; k++)
			dump_value(e->params[k].name, e->params[k].value, f);
	}
	for (i = 0; i < cfg->n_devices; i++) {
		const struct config_device *d = &cfg->devices[i];

		fprintf(f, d->gpu ? "\n[gpu %s]\n" : "\n[%s]\n", d->name);
		dump_section(d->gpu ? SCOPE_GPU : SCOPE_CPU, d, f);
	}
}

/* roff: a hyphen that is one, and no line that begins with a control character. */
static void man_text(const char *text, FILE *f)
{
	if (*text == '.' || *text == '\'')
		fputs("\\&", f);
	for (; *text; text++) {
		if (*text == '-')
			fputs("\\-", f);
		else if (*text == '\\')
			fputs("\\e", f);
		else
			fputc(*text, f);
	}
}

static const char *type_text(enum config_type type)
{
	switch (type) {
	case TYPE_BOOL:
		return "yes or no";
	case TYPE_INT:
		return "number";
	case TYPE_SIZE:
		return "size";
	case TYPE_DURATION:
		return "time";
	case TYPE_MODE:
		return "octal mode";
	case TYPE_LEVEL:
		return "level";
	case TYPE_KINDS:
		return "kinds";
	case TYPE_PATH:
		return "path";
	case TYPE_ADDRESS:
		return "HOST:PORT";
	case TYPE_ENDPOINT:
		return "HOST:PORT or path";
	default:
		return "text";
	}
}

static void man_option(const struct config_option *opt, FILE *f)
{
	fputs(".TP\n.BR ", f);
	man_text(opt->name, f);
	fputs(" \" = \"\n", f);
	man_text(opt->help, f);
	fputs(".\n", f);
	man_text(type_text(opt->type), f);
	if (!opt->def) {
		fputs("; must be set", f);
	} else if (*opt->def) {
		fputs("; default ", f);
		man_text(opt->def, f);
	}
	if (opt->hot)
		fputs("; changes with a reload", f);
	fputs(".\n", f);
}

void config_man(FILE *f)
{
	enum config_scope scope;
	unsigned int i;

	for (scope = 0; scope < SCOPE_COUNT; scope++) {
		fputs(".SS ", f);
		man_text(config_scope_title(scope), f);
		fputc('\n', f);
		for (i = 0; i < config_n_options; i++) {
			if (config_options[i].scope == scope)
				man_option(&config_options[i], f);
		}
	}
}
