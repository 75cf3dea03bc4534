/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * rpc-tls.c - certificates that can be replaced while clients come
 *
 * The library asks for them in its own threads, once for each connection that
 * begins; connections that are there keep what they began with.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <grpc/grpc_security.h>

#include "plugin/pem.h"
#include "plugin/rpc-internal.h"

struct rpc_tls {
	pthread_mutex_t lock;
	char *cert, *key, *ca;		/* lock: what the library has not seen yet, or NULL */
};

/* Under lock, or alone. */
static void forget(struct rpc_tls *tls)
{
	pem_free(tls->cert);
	pem_free(tls->key);
	pem_free(tls->ca);
	tls->cert = tls->key = tls->ca = NULL;
}

static grpc_ssl_certificate_config_reload_status
on_connection(void *ctx, grpc_ssl_server_certificate_config **config)
{
	grpc_ssl_pem_key_cert_pair pair;
	struct rpc_tls *tls = ctx;
	bool any;

	pthread_mutex_lock(&tls->lock);
	any = tls->cert;
	if (any) {
		pair.private_key = tls->key;
		pair.cert_chain = tls->cert;
		*config = grpc_ssl_server_certificate_config_create(tls->ca, &pair, 1);
		forget(tls);
	}
	pthread_mutex_unlock(&tls->lock);
	return any ? GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_NEW :
		     GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_UNCHANGED;
}

int rpc_set_tls(struct rpc *rpc, const char *cert, const char *key, const char *client_ca)
{
	struct rpc_tls *tls = rpc->tls;
	int err = 0;

	pthread_mutex_lock(&tls->lock);
	forget(tls);
	tls->cert = strdup(cert);
	tls->key = strdup(key);
	tls->ca = client_ca ? strdup(client_ca) : NULL;
	if (!tls->cert || !tls->key || (client_ca && !tls->ca)) {
		forget(tls);
		err = -ENOMEM;
	}
	pthread_mutex_unlock(&tls->lock);
	return err;
}

int rpc_tls_listen(struct rpc *rpc, const struct rpc_config *config)
{
	grpc_ssl_server_credentials_options *options;
	grpc_server_credentials *creds;
	int port, err;

	if (!config->tls_address)
		return 0;
	rpc->tls = calloc(1, sizeof(*rpc->tls));
	if (!rpc->tls)
		return -ENOMEM;
	pthread_mutex_init(&rpc->tls->lock, NULL);
	err = rpc_set_tls(rpc, config->tls_cert, config->tls_key, config->tls_client_ca);
	if (err)
		return err;
	options = grpc_ssl_server_credentials_create_options_using_config_fetcher(
		config->tls_client_ca ?
		GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY :
		GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE, on_connection, rpc->tls);
	creds = options ? grpc_ssl_server_credentials_create_with_options(options) : NULL;
	if (!creds)
		return -EINVAL;
	port = grpc_server_add_http2_port(rpc->server, config->tls_address, creds);
	grpc_server_credentials_release(creds);
	return port ? 0 : -EADDRINUSE;
}

void rpc_tls_close(struct rpc *rpc)
{
	if (!rpc->tls)
		return;
	forget(rpc->tls);
	pthread_mutex_destroy(&rpc->tls->lock);
	free(rpc->tls);
}
