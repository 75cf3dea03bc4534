/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * config-read.c - reads INI files strictly
 *
 * inih splits the lines; what it lets pass in silence (repeats, continuation
 * lines, lines that it cuts, sections that it cuts, text behind a section) is
 * refused before it sees it, in read_line(), which inih calls for each line.
 * A refused line is replaced by an empty one, so that the rest of the file is
 * still checked.
 */
#include <ctype.h>
#include <errno.h>
#include <ini.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "plugin/config-reader.h"

#define COMPLAIN_HERE(r, ...)							\
	reader_complain(r, &(struct config_place){ (r)->file, (r)->line }, __VA_ARGS__)

void reader_complain(struct reader *r, const struct config_place *place, const char *fmt, ...)
{
	char message[512], text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(message, sizeof(message), fmt, ap);
	va_end(ap);
	if (r->errors++ >= CONFIG_ERRORS_MAX)
		return;
	if (place->line)
		snprintf(text, sizeof(text), "%.400s:%u: %s", place->file, place->line, message);
	else
		snprintf(text, sizeof(text), "%.400s: %s", place->file, message);
	r->report(r->ctx, text);
	if (r->errors == CONFIG_ERRORS_MAX) {
		snprintf(text, sizeof(text), "%.400s: too many errors", place->file);
		r->report(r->ctx, text);
	}
}

/* ---- repeats ---- */

/* The line where (section, key) was seen in this file, or 0 and remembers it. */
static unsigned int remember(struct reader *r, const char *section, const char *key)
{
	struct seen *s;
	size_t i;

	for (i = 0; i < r->n_seen; i++) {
		if (!strcmp(r->seen[i].section, section) && !strcmp(r->seen[i].key, key))
			return r->seen[i].line;
	}
	if (r->n_seen == r->room_seen) {
		size_t room = r->room_seen ? 2 * r->room_seen : 64;

		s = reallocarray(r->seen, room, sizeof(*s));
		if (!s)
			goto nomem;
		r->seen = s;
		r->room_seen = room;
	}
	s = &r->seen[r->n_seen];
	s->section = strdup(section);
	s->key = strdup(key);
	s->line = r->line;
	if (s->section && s->key) {
		r->n_seen++;
		return 0;
	}
	free(s->section);
	free(s->key);
nomem:
	r->fatal = -ENOMEM;
	return 0;
}

static void forget_all(struct reader *r)
{
	size_t i;

	for (i = 0; i < r->n_seen; i++) {
		free(r->seen[i].section);
		free(r->seen[i].key);
	}
	free(r->seen);
	r->seen = NULL;
	r->n_seen = r->room_seen = 0;
}

/* ---- sections ---- */

int reader_set_defaults(enum config_scope scope, void *base)
{
	char why[CONFIG_WHY];
	unsigned int i;
	int r;

	for (i = 0; i < config_n_options; i++) {
		const struct config_option *opt = &config_options[i];

		if (opt->scope != scope || !opt->def)
			continue;
		r = config_option_set(opt, base, opt->def, why);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Grows an array of n elements of size by one zeroed element; NULL: no memory. */
static void *append(void **array, unsigned int n, size_t size)
{
	char *p = reallocarray(*array, n + 1, size);

	if (!p)
		return NULL;
	*array = p;
	memset(p + n * size, 0, size);
	return p + n * size;
}

static void *engine_section(struct reader *r, const char *name)
{
	struct config *cfg = r->cfg;
	struct config_engine *e;
	unsigned int i;

	for (i = 0; i < cfg->n_engines; i++) {
		if (!strcmp(cfg->engines[i].name, name))
			return &cfg->engines[i];
	}
	if (cfg->n_engines == CONFIG_ENGINES_MAX) {
		COMPLAIN_HERE(r, "more than %d [engine] sections", CONFIG_ENGINES_MAX);
		return NULL;
	}
	e = append((void **)&cfg->engines, cfg->n_engines, sizeof(*e));
	if (!e)
		goto nomem;
	e->name = strdup(name);
	if (!e->name)
		goto nomem;
	cfg->n_engines++;
	e->place = e->library_place = (struct config_place){ r->file, r->line };
	if (!reader_set_defaults(SCOPE_ENGINE, e))
		return e;
nomem:
	r->fatal = -ENOMEM;
	return NULL;
}

static void *device_section(struct reader *r, const char *name, bool gpu)
{
	struct config *cfg = r->cfg;
	struct config_device *d;
	unsigned int i;

	for (i = 0; i < cfg->n_devices; i++) {
		if (cfg->devices[i].gpu == gpu && !strcmp(cfg->devices[i].name, name))
			return &cfg->devices[i];
	}
	if (cfg->n_devices == CONFIG_DEVICES_MAX) {
		COMPLAIN_HERE(r, "more than %d [cpu] and [gpu] sections", CONFIG_DEVICES_MAX);
		return NULL;
	}
	d = append((void **)&cfg->devices, cfg->n_devices, sizeof(*d));
	if (!d)
		goto nomem;
	d->name = strdup(name);
	if (!d->name)
		goto nomem;
	cfg->n_devices++;
	d->gpu = gpu;
	d->place = d->engine_place = (struct config_place){ r->file, r->line };
	if (!reader_set_defaults(gpu ? SCOPE_GPU : SCOPE_CPU, d))
		return d;
nomem:
	r->fatal = -ENOMEM;
	return NULL;
}

/* NAME of "engine NAME", else NULL. */
static const char *section_name(const char *section, const char *kind)
{
	size_t len = strlen(kind);

	return !strncmp(section, kind, len) && section[len] == ' ' ? section + len + 1 : NULL;
}

static bool section_name_ok(const char *name)
{
	const char *p;

	for (p = name; *p; p++) {
		if (!isalnum((unsigned char)*p) && !strchr("._-", *p))
			return false;
	}
	return *name && *name != '.' && p - name <= CONFIG_NAME_MAX;
}

static void begin_section(struct reader *r, const char *section)
{
	unsigned int before;
	const char *name;

	r->ignore = true;
	r->base = NULL;
	if (strlen(section) >= sizeof(r->section)) {
		COMPLAIN_HERE(r, "section name too long (a NAME has at most %d bytes)",
			      CONFIG_NAME_MAX);
		strcpy(r->section, "?");
		return;
	}
	strcpy(r->section, section);
	name = section_name(section, "engine");
	if (!name)
		name = section_name(section, "gpu");
	if (name ? !section_name_ok(name) : strcmp(section, "global") && strcmp(section, "cpu")) {
		COMPLAIN_HERE(r, "unknown section [%s] (there are [global], [engine NAME], [cpu] "
			      "and [gpu NAME])", section);
		return;
	}
	before = remember(r, section, "");
	if (before) {
		COMPLAIN_HERE(r, "section [%s] is repeated (first at line %u)", section, before);
		return;
	}
	if (!strcmp(section, "global")) {
		r->scope = SCOPE_GLOBAL;
		r->base = &r->cfg->global;
	} else if (!strcmp(section, "cpu")) {
		r->scope = SCOPE_CPU;
		r->base = device_section(r, "cpu", false);
	} else if (section[0] == 'e') {
		r->scope = SCOPE_ENGINE;
		r->base = engine_section(r, name);
	} else {
		r->scope = SCOPE_GPU;
		r->base = device_section(r, name, true);
	}
	r->ignore = !r->base;
}

/* ---- keys ---- */

static void set_param(struct reader *r, struct config_engine *e, const char *name,
		      const char *value)
{
	struct config_param *p = NULL;
	unsigned int i;
	char *copy;

	for (i = 0; i < e->n_params; i++) {
		if (!strcmp(e->params[i].name, name))
			p = &e->params[i];
	}
	copy = strdup(value);
	if (!copy)
		goto nomem;
	if (!p) {
		if (e->n_params == CONFIG_PARAMS_MAX) {
			COMPLAIN_HERE(r, "more than %d parameters", CONFIG_PARAMS_MAX);
			free(copy);
			return;
		}
		p = append((void **)&e->params, e->n_params, sizeof(*p));
		if (!p)
			goto err_free_copy;
		p->name = strdup(name);
		if (!p->name)
			goto err_free_copy;
		e->n_params++;
	}
	free(p->value);
	p->value = copy;
	p->place = (struct config_place){ r->file, r->line };
	return;

err_free_copy:
	free(copy);
nomem:
	r->fatal = -ENOMEM;
}

static void note_place(struct reader *r, const struct config_option *opt)
{
	struct config_place here = { r->file, r->line };

	if (opt->scope == SCOPE_GLOBAL)
		r->cfg->files->global[opt - config_options] = here;
	else if (opt->type == TYPE_LIBRARY)
		((struct config_engine *)r->base)->library_place = here;
	else if (opt->type == TYPE_NAME)
		((struct config_device *)r->base)->engine_place = here;
}

/* inih's handler; read_line() has looked at the line already. */
static int handle_key(void *arg, const char *section, const char *name, const char *value)
{
	struct reader *r = arg;
	const struct config_option *opt;
	char why[CONFIG_WHY] = "";
	unsigned int before;
	int ret;

	(void)section;	/* the reader's copy is never cut */
	if (r->ignore)
		return 1;
	before = remember(r, r->section, name);
	if (before) {
		COMPLAIN_HERE(r, "%s is repeated in [%s] (first at line %u)", name, r->section,
			      before);
		return 1;
	}
	opt = config_option(r->scope, name);
	if (!opt && r->scope == SCOPE_ENGINE) {
		set_param(r, r->base, name, value);
		return 1;
	}
	if (!opt) {
		COMPLAIN_HERE(r, "unknown key %s in [%s]", name, r->section);
		return 1;
	}
	ret = config_option_set(opt, r->base, value, why);
	if (ret == -EINVAL)
		COMPLAIN_HERE(r, "%s: '%s' %s", name, value, why);
	else if (ret < 0)
		r->fatal = ret;
	else
		note_place(r, opt);
	return 1;
}

/* ---- lines ---- */

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* What follows the ] of a section: nothing or a comment. */
static bool tail_ok(const char *p)
{
	const char *start = p;

	while (is_blank(*p))
		p++;
	return !*p || (p > start && (*p == ';' || *p == '#'));
}

static bool check_section(struct reader *r, char *line)
{
	char *close = strchr(line, ']');

	if (!close) {
		COMPLAIN_HERE(r, "section without a closing ]");
		r->ignore = true;
		return false;
	}
	if (!tail_ok(close + 1)) {
		COMPLAIN_HERE(r, "text behind the section");
		r->ignore = true;
		return false;
	}
	*close = '\0';
	begin_section(r, line + 1);
	return true;
}

static bool check_key(struct reader *r, const char *line)
{
	size_t len = strcspn(line, "=:"), i;

	if (!line[len]) {
		COMPLAIN_HERE(r, "neither a section nor key = value");
		return false;
	}
	if (line[len] == ':') {
		COMPLAIN_HERE(r, "a key and its value are joined by =, not by :");
		return false;
	}
	while (len && is_blank(line[len - 1]))
		len--;
	if (!len) {
		COMPLAIN_HERE(r, "no key before =");
		return false;
	}
	for (i = 0; i < len; i++) {
		if (!isalnum((unsigned char)line[i]) && line[i] != '_' && line[i] != '-') {
			COMPLAIN_HERE(r, "key with a character that is no letter, digit, _ or -");
			return false;
		}
	}
	if (len > CONFIG_NAME_MAX) {
		COMPLAIN_HERE(r, "key over %d bytes", CONFIG_NAME_MAX);
		return false;
	}
	if (!r->section[0]) {
		COMPLAIN_HERE(r, "key %.*s before the first section", (int)len, line);
		return false;
	}
	return true;
}

/* May inih have the line? Complains otherwise. */
static bool check_line(struct reader *r, const char *text, size_t len)
{
	char line[CONFIG_LINE_MAX + 1];
	const char *p;
	size_t i;

	if (len > CONFIG_LINE_MAX) {
		COMPLAIN_HERE(r, "line of %zu bytes, at most %d are read", len, CONFIG_LINE_MAX);
		return false;
	}
	for (i = 0; i < len; i++) {
		if ((unsigned char)text[i] < ' ' && !is_blank(text[i])) {
			COMPLAIN_HERE(r, "control character in column %zu", i + 1);
			return false;
		}
	}
	memcpy(line, text, len);
	line[len] = '\0';
	for (p = line; is_blank(*p); p++)
		;
	if (!*p || *p == '#' || *p == ';')
		return true;
	if (p > line) {
		COMPLAIN_HERE(r, "indented line: a value cannot be continued");
		return false;
	}
	return *p == '[' ? check_section(r, line) : check_key(r, line);
}

/* inih's reader: the next line, as fgets() would give it. */
static char *read_line(char *str, int num, void *stream)
{
	struct reader *r = stream;
	const char *start = r->text, *stop;
	size_t len;

	if (start >= r->end || r->fatal || r->errors > CONFIG_ERRORS_MAX)
		return NULL;
	stop = memchr(start, '\n', r->end - start);
	len = stop ? stop - start : r->end - start;
	r->text = stop ? stop + 1 : r->end;
	r->line++;
	if (num < CONFIG_LINE_MAX + 2 && len + 2 > (size_t)num) {
		COMPLAIN_HERE(r, "line of %zu bytes, this inih reads %d", len, num - 2);
		len = 0;
	} else if (!check_line(r, start, len)) {
		len = 0;
	}
	memcpy(str, start, len);
	str[len] = '\n';
	str[len + 1] = '\0';
	return str;
}

int reader_read(struct reader *r, const char *name, const char *text, size_t len)
{
	struct config_files *files = r->cfg->files;
	char **names = reallocarray(files->names, files->n_names + 1, sizeof(*names));
	char *copy = strdup(name);

	if (names)
		files->names = names;
	if (!names || !copy) {
		free(copy);
		return -ENOMEM;
	}
	names[files->n_names++] = copy;
	r->file = copy;
	r->text = text;
	r->end = text + len;
	r->line = 0;
	r->section[0] = '\0';
	r->ignore = false;
	if (ini_parse_stream(read_line, r, handle_key, r) < 0)
		r->fatal = -ENOMEM;
	forget_all(r);
	return r->fatal;
}
