/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* service-open.c - the parts of the service are made, and taken apart */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "plugin/budget.h"
#include "plugin/http.h"
#include "plugin/listen.h"
#include "plugin/log.h"
#include "plugin/notify.h"
#include "plugin/pem.h"
#include "plugin/service.h"

static int on_rpc(sd_event_source *source, int fd, uint32_t events, void *ctx)
{
	rpc_process(((struct service *)ctx)->rpc);
	return 0;
}

static int on_journal(sd_event_source *source, int fd, uint32_t events, void *ctx)
{
	journal_process(((struct service *)ctx)->journal);
	return 0;
}

static int on_instance(sd_event_source *source, int fd, uint32_t events, void *ctx)
{
	instance_process(((struct worker *)ctx)->inst);
	return 0;
}

static bool is_alive(void *ctx, const char **why)
{
	static char text[128];
	struct service *svc = ctx;
	uint32_t i;

	for (i = 0; i < svc->n_workers; i++) {
		if (instance_alive(svc->workers[i].inst))
			continue;
		snprintf(text, sizeof(text), "%s is stuck and could not be ended",
			 instance_name(svc->workers[i].inst));
		*why = text;
		return false;
	}
	return true;
}

/* ---- opening and closing ---- */

static void on_connection(void *ctx, int fd, uint32_t uid)
{
	rpc_add_connection(((struct service *)ctx)->rpc, fd, uid);
}

static void on_http_connection(void *ctx, int fd, uint32_t uid)
{
	http_add_connection(((struct service *)ctx)->http, fd);
}

static int http_page(void *ctx, const char *path, FILE *body, const char **type)
{
	struct service *svc = ctx;
	const struct job *job;
	char line[256];

	if (!strcmp(path, "/metrics")) {
		*type = "text/plain; version=0.0.4; charset=utf-8";
		metrics_text(svc, body);
		return 200;
	}
	if (!strcmp(path, "/status")) {
		*type = "application/json";
		status_json(svc, body);
		return 200;
	}
	if (!strncmp(path, "/trace/", 7)) {
		job = jobs_find_id(&svc->jobs, path + 7);
		if (!job)
			return 404;
		*type = "application/json";
		trace_json(svc, job, body);
		return 200;
	}
	if (!strcmp(path, "/healthz")) {
		status_line(svc, line, sizeof(line));
		fprintf(body, "%s\n", line);
		return svc->ready && !svc->draining ? 200 : 503;
	}
	return 404;
}

static bool keep_socket(void *ctx, int fd)
{
	return notify_store(((struct service *)ctx)->notify, fd, LISTEN_KEPT);
}

static void take_kept(void *ctx, const char *name, int fd)
{
	keep_inherit(&((struct service *)ctx)->keep, name, fd);
}

static int open_sockets(struct service *svc)
{
	const struct config_global *g = &svc->config->global;
	int err;

	svc->rpc_listen.accept = on_connection;
	svc->rpc_listen.ctx = svc;
	svc->http_listen.accept = on_http_connection;
	svc->http_listen.ctx = svc;
	err = listener_open(&svc->listener, svc->event);
	if (err)
		return err;
	/* what was kept is in the budget of the instances */
	listener_inherit_other(svc->listener, KEEP_PREFIX, take_kept, svc);
	err = listener_inherit(svc->listener, "metrics", &svc->http_listen);
	if (err >= 0)
		err = listener_inherit(svc->listener, NULL, &svc->rpc_listen);
	if (err < 0)
		return err;
	err = 0;
	if (g->listen)
		err = listener_unix(svc->listener, g->listen, g->listen_mode, g->listen_group,
				    &svc->rpc_listen);
	if (!err && g->listen_tcp && !g->tls_cert)
		err = listener_tcp(svc->listener, g->listen_tcp, &svc->rpc_listen);
	if (!err && g->metrics_listen && g->metrics_listen[0] == '/')
		err = listener_unix(svc->listener, g->metrics_listen, g->listen_mode,
				    g->listen_group, &svc->http_listen);
	else if (!err && g->metrics_listen)
		err = listener_tcp(svc->listener, g->metrics_listen, &svc->http_listen);
	if (err)
		return err;
	if (listener_forget(svc->listener)) {
		notify_unstore(svc->notify, LISTEN_KEPT);
		notify_barrier(svc->notify);
	}
	if (!g->insecure && listener_any(svc->listener, &svc->rpc_listen, true)) {
		log_error("a TCP socket of the service manager is served in clear: that wants "
			  "insecure = yes");
		svc->exit_status = EXIT_CONFIG;
		return -EPERM;
	}
	if (!g->listen_tcp && !listener_any(svc->listener, &svc->rpc_listen, false)) {
		log_error("no listen, no listen_tcp and no socket of the service manager: nobody "
			  "could ask for a proof");
		svc->exit_status = EXIT_CONFIG;
		return -EDESTADDRREQ;
	}
	listener_keep(svc->listener, keep_socket, svc);
	return 0;
}

/* The certificates of the configuration, as texts; to be freed on failure too. */
struct tls_texts {
	char *cert, *key, *ca;
};

static int tls_read(struct tls_texts *t, const struct config_global *g)
{
	int err;

	err = pem_read(g->tls_cert, &t->cert);
	if (!err)
		err = pem_read(g->tls_key, &t->key);
	if (!err && g->tls_client_ca)
		err = pem_read(g->tls_client_ca, &t->ca);
	return err;
}

static void tls_free(struct tls_texts *t)
{
	pem_free(t->cert);
	pem_free(t->key);
	pem_free(t->ca);
}

/* config_read() saw to it that TCP comes with all files for TLS, or is to be insecure. */
static int open_rpc(struct service *svc)
{
	const struct config_global *g = &svc->config->global;
	struct rpc_config config = { .message_limit = g->message_limit };
	struct tls_texts texts = { 0 };
	int err = 0;

	if (g->listen_tcp && !g->tls_cert && !g->insecure) {
		log_error("listen_tcp = %s: TCP wants tls_cert and tls_key, or insecure = yes",
			  g->listen_tcp);
		return -EINVAL;
	}
	if (!g->tls_cert != !g->tls_key) {
		log_error("tls_cert and tls_key: one is set without the other");
		return -EINVAL;
	}
	if (g->listen_tcp && g->tls_cert) {
		err = tls_read(&texts, g);
		config.tls_address = g->listen_tcp;
		config.tls_cert = texts.cert;
		config.tls_key = texts.key;
		config.tls_client_ca = texts.ca;
	}
	if (!err && config.tls_address)
		err = listener_try_tcp(config.tls_address);
	if (!err) {
		err = rpc_open(&svc->rpc, &config, &api_ops, svc);
		if (err)
			log_error("cannot serve gRPC%s%s: %s", config.tls_address ? " on " : "",
				  config.tls_address ? config.tls_address : "", strerror(-err));
	}
	if (!err && texts.cert) {
		svc->tls_expiry = pem_expiry(texts.cert);
		log_info("listening on %s, TLS%s", g->listen_tcp,
			 texts.ca ? " with client certificates" : "");
	}
	tls_free(&texts);
	return err;
}

void service_renew_tls(struct service *svc)
{
	struct tls_texts texts = { 0 };
	int err;

	if (!svc->tls_expiry)
		return;
	err = pem_check(svc->config, log_report, NULL);
	if (!err)
		err = tls_read(&texts, &svc->config->global);
	if (!err)
		err = rpc_set_tls(svc->rpc, texts.cert, texts.key, texts.ca);
	if (err)
		log_error("reload: the certificates stay as they were");
	else
		svc->tls_expiry = pem_expiry(texts.cert);
	tls_free(&texts);
}

static int open_worker(struct service *svc, uint32_t i, uint64_t share)
{
	struct worker *w = &svc->workers[i];
	const struct config_device *d = &svc->config->devices[i];
	struct instance_config config = {
		.device = d,
		.engine = config_engine(svc->config, d->engine),
		.global = &svc->config->global,
		.ordinal = i,
		.host_budget = d->host_budget ? d->host_budget : share,
		.version = PACKAGE_VERSION,
	};
	int err;

	w->svc = svc;
	w->device = d;
	w->ordinal = i;
	err = instance_open(&w->inst, &config, &worker_ops, w);
	if (err) {
		log_error("instance %s: %s", d->name, strerror(-err));
		return err;
	}
	svc->n_workers++;
	err = sd_event_add_io(svc->event, &w->source, instance_fd(w->inst), EPOLLIN, on_instance,
			      w);
	return err < 0 ? err : 0;
}

/* The engines say what they miss, file by file; this is why they miss all of them. */
static void check_params_dir(const struct service *svc)
{
	static const char *const hidden[] = { "/home/", "/root/", "/run/user/" };
	const char *dir = svc->config->global.params_dir, *hint = "";
	size_t i;
	int err;

	/* the default is for engines that want some */
	if (!dir || !config_global_place(svc->config, "params_dir").line ||
	    !access(dir, R_OK | X_OK))
		return;
	err = errno;
	for (i = 0; i < sizeof(hidden) / sizeof(hidden[0]); i++)
		if (!strncmp(dir, hidden[i], strlen(hidden[i])))
			hint = " (the unit hides home folders: see its drop-in params.conf)";
	log_warning("params_dir %s: %s%s", dir, strerror(err), hint);
}

static int open_workers(struct service *svc)
{
	const struct config *c = svc->config;
	uint64_t share, others = 0, promised;
	uint32_t i, n = 0;
	int err;

	for (i = 0; i < c->n_devices; i++) {
		n += !c->devices[i].host_budget;
		others += c->devices[i].host_budget;
	}
	svc->host_total = budget_total(c, keep_bytes(&svc->keep));
	svc->host_free = budget_available(keep_bytes(&svc->keep));
	share = budget_share(svc->host_total, others, n);
	if (share)
		log_info("memory: %" PRIu64 " MiB for each instance without a host_budget",
			 share >> 20);
	promised = share * n + others;
	if (promised > budget_available(keep_bytes(&svc->keep)))
		log_warning("memory: host_memory and host_budget promise %" PRIu64
			    " MiB, there are %" PRIu64 " MiB", promised >> 20,
			    budget_available(keep_bytes(&svc->keep)) >> 20);
	for (i = 0; i < c->n_devices; i++) {
		err = open_worker(svc, i, share);
		if (err)
			return err;
	}
	return 0;
}

static int open_parts(struct service *svc)
{
	int err;

	svc->started_us = now_us();
	svc->started_wall_us = wall_us();
	svc->next_tag = 1;
	svc->next_cookie = 1;
	list_init(&svc->loadings);
	err = jobs_init(&svc->jobs);
	if (err) {
		log_error("%s", strerror(-err));
		return err;
	}
	err = learn_init(&svc->learn);
	if (err) {
		jobs_fini(&svc->jobs);
		log_error("%s", strerror(-err));
		return err;
	}
	svc->opened = true;
	err = notify_open(&svc->notify, svc->event, is_alive, svc);
	if (!err)
		err = service_add_sources(svc);
	keep_init(&svc->keep, svc->notify);
	if (!err)
		err = http_open(&svc->http, svc->event, http_page, svc);
	if (err) {
		log_error("cannot start: %s", strerror(-err));
		return err;
	}
	err = pem_check(svc->config, log_report, NULL);
	if (!err)
		err = service_open_journal(svc);
	if (!err)
		err = open_sockets(svc);
	/* a port that was served in clear before is free now */
	if (!err)
		err = open_rpc(svc);
	if (err)
		return err;
	err = sd_event_add_io(svc->event, &svc->rpc_source, rpc_fd(svc->rpc), EPOLLIN, on_rpc, svc);
	if (err >= 0)
		err = sd_event_add_io(svc->event, &svc->journal_source, journal_fd(svc->journal),
				      EPOLLIN, on_journal, svc);
	if (err < 0) {
		log_error("cannot start: %s", strerror(-err));
		return err;
	}
	check_params_dir(svc);
	err = open_workers(svc);
	service_show(svc);
	return err;
}

int service_open(struct service *svc)
{
	int err = open_parts(svc);

	/* what the configuration names cannot be used now, unless it was said to be worse */
	if (err && !svc->exit_status)
		svc->exit_status = EXIT_NOT_READY;
	return err;
}

void service_close(struct service *svc)
{
	uint32_t i;

	if (!svc->opened)
		return;
	listener_close(svc->listener);
	api_release_all(svc);
	svc->abandoned = !rpc_close(svc->rpc);
	http_close(svc->http);
	for (i = 0; i < svc->n_workers; i++) {
		sd_event_source_disable_unref(svc->workers[i].source);
		instance_close(svc->workers[i].inst);
	}
	sd_event_source_disable_unref(svc->rpc_source);
	sd_event_source_disable_unref(svc->journal_source);
	journal_close(svc->journal);
	sd_event_source_disable_unref(svc->sched_source);
	sd_event_source_disable_unref(svc->timer);
	sd_event_source_disable_unref(svc->tick);
	for (i = 0; i < svc->n_workers; i++)
		svc->workers[i].n_running = svc->workers[i].n_urgent = 0;
	jobs_fini(&svc->jobs);
	learn_fini(&svc->learn);
	warm_close(svc);
	keep_fini(&svc->keep);
	notify_close(svc->notify);
}
