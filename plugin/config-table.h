/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * config-table.h - the table of all options; private to config*.c
 */
#ifndef CUZK_PLUGIN_CONFIG_TABLE_H
#define CUZK_PLUGIN_CONFIG_TABLE_H

#include "plugin/config.h"

enum config_scope {
	SCOPE_GLOBAL,	/* [global]: struct config_global */
	SCOPE_ENGINE,	/* [engine NAME]: struct config_engine */
	SCOPE_CPU,	/* [cpu]: struct config_device */
	SCOPE_GPU,	/* [gpu NAME]: struct config_device */
	SCOPE_COUNT
};

enum config_type {
	TYPE_BOOL,	/* bool; all other numbers are uint64_t */
	TYPE_INT,
	TYPE_SIZE,
	TYPE_DURATION,
	TYPE_MODE,	/* octal */
	TYPE_LEVEL,	/* syslog priority by name */
	TYPE_KINDS,	/* set of proof kinds */
	TYPE_ENGINE,	/* enum config_engine_type */
	TYPE_STRING,	/* char *; the types below too */
	TYPE_PATH,	/* absolute */
	TYPE_ADDRESS,	/* HOST:PORT */
	TYPE_ENDPOINT,	/* HOST:PORT, or the path of a unix socket */
	TYPE_NAME,	/* of an [engine] section */
	TYPE_LIBRARY,	/* absolute, or a bare name */
	TYPE_DEVICE,	/* UUID or PCI address */
};

struct config_option {
	const char *name;
	enum config_scope scope;
	enum config_type type;
	bool hot;		/* a reload may change it */
	bool optional;		/* an empty value means none */
	size_t offset;
	const char *def;	/* NULL: must be set; "": none */
	uint64_t min, max;
	const char *help;	/* one line */
};

extern const struct config_option config_options[];
extern const unsigned int config_n_options;

/* NULL: no such option in that scope. */
const struct config_option *config_option(enum config_scope scope, const char *name);

/*
 * Parses text and stores it into the struct of the option's scope.  -EINVAL
 * with why filled: "is not ...", to follow the value.  -ENOMEM.
 */
#define CONFIG_WHY 160
int config_option_set(const struct config_option *opt, void *base, const char *text,
		      char why[CONFIG_WHY]);
/* Writes the value of opt as it would be read back. */
void config_option_print(const struct config_option *opt, const void *base, FILE *f);
bool config_option_equal(const struct config_option *opt, const void *a, const void *b);
/* Copies a value that is equal in type; -ENOMEM leaves dst alone. */
int config_option_copy(const struct config_option *opt, void *dst, const void *src);
bool config_option_is_text(const struct config_option *opt);

/* Names of files and where each [global] row was set. */
struct config_files {
	char **names;
	unsigned int n_names;
	struct config_place *global;	/* by row of config_options */
};

const char *config_scope_title(enum config_scope scope);

#endif
