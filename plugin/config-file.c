/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* config-file.c - the files of a configuration, and the checks over all of them */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "plugin/config-reader.h"

/* ---- checks over all sections ---- */

struct config_place config_global_place(const struct config *cfg, const char *name)
{
	return cfg->files->global[config_option(SCOPE_GLOBAL, name) - config_options];
}

static struct config_place global_place(const struct reader *r, const char *name)
{
	return config_global_place(r->cfg, name);
}

static void check_required(struct reader *r, enum config_scope scope, const void *base,
			   const struct config_place *place, const char *section)
{
	unsigned int i;

	for (i = 0; i < config_n_options; i++) {
		const struct config_option *opt = &config_options[i];

		if (opt->scope == scope && !opt->def && config_option_is_text(opt) &&
		    !*(char **)((char *)base + opt->offset))
			reader_complain(r, place, "[%s] has no %s", section, opt->name);
	}
}

/* A unix socket's path has to fit its address. */
static void check_socket_path(struct reader *r, const char *name, const char *path)
{
	struct config_place place = global_place(r, name);
	size_t max = sizeof(((struct sockaddr_un *)0)->sun_path) - 1;

	if (path && path[0] == '/' && strlen(path) > max)
		reader_complain(r, &place, "%s: path too long for a socket (%zu bytes at most)",
				name, max);
}

static void check_sockets(struct reader *r)
{
	const struct config_global *g = &r->cfg->global;
	struct config_place place = global_place(r, "metrics_listen");

	check_socket_path(r, "listen", g->listen);
	check_socket_path(r, "metrics_listen", g->metrics_listen);
	if (g->metrics_listen && ((g->listen && !strcmp(g->metrics_listen, g->listen)) ||
				  (g->listen_tcp && !strcmp(g->metrics_listen, g->listen_tcp))))
		reader_complain(r, &place, "metrics_listen: %s is where clients connect to",
				g->metrics_listen);
	place = global_place(r, "listen_group");
	errno = 0;
	if (g->listen_group && !getgrnam(g->listen_group))
		reader_complain(r, &place, "listen_group: '%s' %s", g->listen_group,
				errno && errno != ENOENT ? strerror(errno) : "is no group here");
}

static void check_tls_option(struct reader *r, const char *name, const char *value)
{
	struct config_place place = global_place(r, name);

	if (value)
		reader_complain(r, &place, "%s without listen_tcp", name);
}

static void check_access(struct reader *r)
{
	const struct config_global *g = &r->cfg->global;
	struct config_place place = global_place(r, "listen_tcp");
	struct config_place insecure = global_place(r, "insecure");

	check_sockets(r);
	if (g->insecure && (g->tls_cert || g->tls_key || g->tls_client_ca)) {
		reader_complain(r, &insecure, "insecure = yes contradicts tls_cert, tls_key and "
			 "tls_client_ca");
	} else if (!g->listen_tcp && !r->errors) {	/* it may have been refused */
		check_tls_option(r, "tls_cert", g->tls_cert);
		check_tls_option(r, "tls_key", g->tls_key);
		check_tls_option(r, "tls_client_ca", g->tls_client_ca);
	} else if (g->listen_tcp && !g->insecure &&
		   !(g->tls_cert && g->tls_key && g->tls_client_ca)) {
		reader_complain(r, &place, "listen_tcp wants tls_cert, tls_key and tls_client_ca (or "
			 "insecure = yes)");
	}
}

static void check_device(struct reader *r, const struct config_device *d)
{
	char section[CONFIG_NAME_MAX + 16];
	unsigned int i;

	snprintf(section, sizeof(section), d->gpu ? "gpu %s" : "%s", d->name);
	check_required(r, d->gpu ? SCOPE_GPU : SCOPE_CPU, d, &d->place, section);
	if (d->engine && !config_engine(r->cfg, d->engine))
		reader_complain(r, &d->engine_place, "there is no [engine %s]", d->engine);
	if (!d->kinds)
		reader_complain(r, &d->place, "[%s] serves no kind of proof", section);
	if (d->reserved_for & ~d->kinds)
		reader_complain(r, &d->place, "[%s]: reserved_for names kinds that kinds does not",
			 section);
	for (i = 0; &r->cfg->devices[i] < d; i++) {
		const struct config_device *o = &r->cfg->devices[i];

		if (d->gpu && o->gpu && d->device && o->device &&
		    !strcasecmp(d->device, o->device))
			reader_complain(r, &d->place, "[%s] names the device of [gpu %s]", section,
				 o->name);
	}
}

static void check_all(struct reader *r)
{
	const struct config *cfg = r->cfg;
	const struct config_place nowhere = { cfg->files->names[0], 0 };
	char section[CONFIG_NAME_MAX + 16];
	unsigned int i;

	check_access(r);
	for (i = 0; i < cfg->n_engines; i++) {
		const struct config_engine *e = &cfg->engines[i];

		snprintf(section, sizeof(section), "engine %s", e->name);
		check_required(r, SCOPE_ENGINE, e, &e->place, section);
	}
	for (i = 0; i < cfg->n_devices; i++)
		check_device(r, &cfg->devices[i]);
	if (!cfg->n_devices)
		reader_complain(r, &nowhere, "no [cpu] and no [gpu NAME] section: nothing could prove");
	if (cfg->global.restart_delay > cfg->global.restart_delay_max) {
		struct config_place place = global_place(r, "restart_delay");

		reader_complain(r, &place, "restart_delay exceeds restart_delay_max");
	}
}

/* ---- files ---- */

static int reader_begin(struct reader *r, config_report_fn report, void *ctx)
{
	struct config *cfg = calloc(1, sizeof(*cfg));
	unsigned int i;

	*r = (struct reader){ .cfg = cfg, .report = report, .ctx = ctx };
	if (!cfg)
		return -ENOMEM;
	cfg->files = calloc(1, sizeof(*cfg->files));
	if (cfg->files)
		cfg->files->global = calloc(config_n_options, sizeof(*cfg->files->global));
	if (!cfg->files || !cfg->files->global)
		goto err_free;
	for (i = 0; i < config_n_options; i++)
		cfg->files->global[i].file = "default";
	if (!reader_set_defaults(SCOPE_GLOBAL, &cfg->global))
		return 0;
err_free:
	config_free(cfg);
	return -ENOMEM;
}

static int reader_end(struct reader *r, int ret, struct config **cfg)
{
	if (!ret)
		check_all(r);
	if (!ret && r->errors)
		ret = -EINVAL;
	if (ret < 0)
		config_free(r->cfg);
	else
		*cfg = r->cfg;
	return ret;
}

static int cannot_read(struct reader *r, const char *path, int err)
{
	struct config_place place = { path, 0 };

	reader_complain(r, &place, "cannot read: %s", strerror(-err));
	return err;
}

static int read_file(struct reader *r, const char *path)
{
	struct config_place place = { path, 0 };
	struct stat st;
	char *text;
	size_t len = 0;
	ssize_t n;
	int fd, ret;

	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return cannot_read(r, path, -errno);
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		reader_complain(r, &place, "not a regular file");
		ret = -EINVAL;
		goto err_close;
	}
	text = malloc(CONFIG_FILE_MAX + 1);
	if (!text) {
		ret = -ENOMEM;
		goto err_close;
	}
	do {
		n = read(fd, text + len, CONFIG_FILE_MAX + 1 - len);
		if (n > 0)
			len += n;
	} while (len <= CONFIG_FILE_MAX && (n > 0 || (n < 0 && errno == EINTR)));
	if (n < 0) {
		ret = cannot_read(r, path, -errno);
	} else if (len > CONFIG_FILE_MAX) {
		reader_complain(r, &place, "file over %d bytes", CONFIG_FILE_MAX);
		ret = -EINVAL;
	} else {
		ret = reader_read(r, path, text, len);
	}
	free(text);
err_close:
	close(fd);
	return ret;
}

static int is_drop_in(const struct dirent *d)
{
	size_t len = strlen(d->d_name);

	return d->d_name[0] != '.' && len > 4 && !strcmp(d->d_name + len - 4, ".ini");
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int read_drop_ins(struct reader *r, const char *path)
{
	const char *slash = strrchr(path, '/');
	struct dirent **names;
	char dir[4096], file[4096 + 260];
	int n, i, ret = 0;

	snprintf(dir, sizeof(dir), "%.*sconf.d", slash ? (int)(slash + 1 - path) : 0, path);
	n = scandir(dir, &names, is_drop_in, by_name);
	if (n < 0)
		return errno == ENOENT ? 0 : cannot_read(r, dir, -errno);
	for (i = 0; i < n; i++) {
		snprintf(file, sizeof(file), "%s/%s", dir, names[i]->d_name);
		if (!ret)
			ret = read_file(r, file);
		free(names[i]);
	}
	free(names);
	return ret;
}

int config_read(struct config **cfg, const char *path, config_report_fn report, void *ctx)
{
	struct reader r;
	int ret;

	ret = reader_begin(&r, report, ctx);
	if (ret < 0)
		return ret;
	ret = read_file(&r, path);
	if (!ret)
		ret = read_drop_ins(&r, path);
	return reader_end(&r, ret, cfg);
}

int config_parse(struct config **cfg, const char *name, const char *text, size_t len,
		 config_report_fn report, void *ctx)
{
	struct reader r;
	int ret;

	ret = reader_begin(&r, report, ctx);
	if (ret < 0)
		return ret;
	ret = reader_read(&r, name, text, len);
	return reader_end(&r, ret, cfg);
}
