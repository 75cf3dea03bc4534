/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* config-reader.h - the state of reading files; private to config-read.c and config-file.c */
#ifndef CUZK_PLUGIN_CONFIG_READER_H
#define CUZK_PLUGIN_CONFIG_READER_H

#include "plugin/config-table.h"

/* A section or key of the file being read. */
struct seen {
	char *section, *key;	/* key "" for the section itself */
	unsigned int line;
};

struct reader {
	struct config *cfg;
	config_report_fn report;
	void *ctx;
	unsigned int errors;	/* of all files */
	int fatal;		/* -ENOMEM */

	/* of one file */
	const char *file;
	const char *text, *end;
	unsigned int line;
	struct seen *seen;
	size_t n_seen, room_seen;

	/* of one section */
	char section[CONFIG_NAME_MAX + 16];	/* "" before the first */
	bool ignore;			/* its head was refused: skip its keys */
	enum config_scope scope;
	void *base;
};

__attribute__((format(printf, 3, 4)))
void reader_complain(struct reader *r, const struct config_place *place, const char *fmt, ...);
/* Sets every option of a scope that has a default. -ENOMEM. */
int reader_set_defaults(enum config_scope scope, void *base);
/* Reads one file's text; name is copied. Mistakes are reported; -ENOMEM. */
int reader_read(struct reader *r, const char *name, const char *text, size_t len);

#endif
