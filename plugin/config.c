/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* config.c - what can be done with a configuration once it is read */
#include <stdlib.h>
#include <string.h>

#include "plugin/config-table.h"

static void free_texts(enum config_scope scope, void *base)
{
	unsigned int i;

	for (i = 0; i < config_n_options; i++) {
		const struct config_option *opt = &config_options[i];

		if (opt->scope == scope && config_option_is_text(opt))
			free(*(char **)((char *)base + opt->offset));
	}
}

void config_free(struct config *cfg)
{
	unsigned int i, k;

	if (!cfg)
		return;
	free_texts(SCOPE_GLOBAL, &cfg->global);
	for (i = 0; i < cfg->n_engines; i++) {
		struct config_engine *e = &cfg->engines[i];

		free_texts(SCOPE_ENGINE, e);
		for (k = 0; k < e->n_params; k++) {
			free(e->params[k].name);
			free(e->params[k].value);
		}
		free(e->params);
		free(e->name);
	}
	free(cfg->engines);
	for (i = 0; i < cfg->n_devices; i++) {
		struct config_device *d = &cfg->devices[i];

		free_texts(d->gpu ? SCOPE_GPU : SCOPE_CPU, d);
		free(d->name);
	}
	free(cfg->devices);
	if (cfg->files) {
		for (i = 0; i < cfg->files->n_names; i++)
			free(cfg->files->names[i]);
		free(cfg->files->names);
		free(cfg->files->global);
	}
	free(cfg->files);
	free(cfg);
}

const struct config_engine *config_engine(const struct config *cfg, const char *name)
{
	unsigned int i;

	for (i = 0; i < cfg->n_engines; i++) {
		if (!strcmp(cfg->engines[i].name, name))
			return &cfg->engines[i];
	}
	return NULL;
}

/* ---- reload ---- */

struct applier {
	config_report_fn report;
	void *ctx;
	int cold;
};

static void cold(struct applier *a, const char *section, const char *what)
{
	char line[256];

	snprintf(line, sizeof(line), "[%s] %s: changed, takes effect at the next start", section,
		 what);
	a->report(a->ctx, line);
	a->cold++;
}

static void apply_section(struct applier *a, enum config_scope scope, const char *section,
			  void *base, const void *next)
{
	unsigned int i;

	for (i = 0; i < config_n_options; i++) {
		const struct config_option *opt = &config_options[i];

		if (opt->scope != scope || config_option_equal(opt, base, next))
			continue;
		if (!opt->hot || config_option_copy(opt, base, next) < 0)
			cold(a, section, opt->name);
	}
}

static bool params_equal(const struct config_engine *a, const struct config_engine *b)
{
	unsigned int i, k;

	if (a->n_params != b->n_params)
		return false;
	for (i = 0; i < a->n_params; i++) {
		for (k = 0; k < b->n_params && strcmp(a->params[i].name, b->params[k].name); k++)
			;
		if (k == b->n_params || strcmp(a->params[i].value, b->params[k].value))
			return false;
	}
	return true;
}

static void device_title(const struct config_device *d, char *title, size_t size)
{
	snprintf(title, size, d->gpu ? "gpu %s" : "%s", d->name);
}

static const struct config_device *find_device(const struct config *cfg,
					       const struct config_device *d)
{
	unsigned int i;

	for (i = 0; i < cfg->n_devices; i++) {
		if (cfg->devices[i].gpu == d->gpu && !strcmp(cfg->devices[i].name, d->name))
			return &cfg->devices[i];
	}
	return NULL;
}

static void apply_engines(struct applier *a, struct config *cfg, const struct config *next)
{
	char title[CONFIG_NAME_MAX + 16];
	unsigned int i;

	for (i = 0; i < cfg->n_engines; i++) {
		struct config_engine *e = &cfg->engines[i];
		const struct config_engine *n = config_engine(next, e->name);

		snprintf(title, sizeof(title), "engine %s", e->name);
		if (!n) {
			cold(a, title, "removed");
			continue;
		}
		apply_section(a, SCOPE_ENGINE, title, e, n);
		if (!params_equal(e, n))
			cold(a, title, "parameters");
	}
	for (i = 0; i < next->n_engines; i++) {
		snprintf(title, sizeof(title), "engine %s", next->engines[i].name);
		if (!config_engine(cfg, next->engines[i].name))
			cold(a, title, "added");
	}
}

static void apply_devices(struct applier *a, struct config *cfg, const struct config *next)
{
	char title[CONFIG_NAME_MAX + 16];
	unsigned int i;

	for (i = 0; i < cfg->n_devices; i++) {
		struct config_device *d = &cfg->devices[i];
		const struct config_device *n = find_device(next, d);

		device_title(d, title, sizeof(title));
		if (n)
			apply_section(a, d->gpu ? SCOPE_GPU : SCOPE_CPU, title, d, n);
		else
			cold(a, title, "removed");
	}
	for (i = 0; i < next->n_devices; i++) {
		device_title(&next->devices[i], title, sizeof(title));
		if (!find_device(cfg, &next->devices[i]))
			cold(a, title, "added");
	}
}

int config_apply(struct config *cfg, const struct config *next, config_report_fn report,
		 void *ctx)
{
	struct applier a = { .report = report, .ctx = ctx };

	apply_section(&a, SCOPE_GLOBAL, "global", &cfg->global, &next->global);
	apply_engines(&a, cfg, next);
	apply_devices(&a, cfg, next);
	return a.cold;
}
