/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* pem.c - certificates and keys as texts */
#include <errno.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "plugin/log.h"
#include "plugin/pem.h"

#define PEM_MAX (1 << 20)

int pem_read(const char *path, char **text)
{
	FILE *f = fopen(path, "re");
	size_t len;
	char *buf;
	int err;

	if (!f) {
		err = -errno;
		log_error("%s: %s", path, strerror(-err));
		return err;
	}
	buf = malloc(PEM_MAX + 1);
	err = buf ? 0 : -ENOMEM;
	len = buf ? fread(buf, 1, PEM_MAX, f) : 0;
	if (buf && (ferror(f) || !feof(f)))
		err = ferror(f) ? -EIO : -EFBIG;
	fclose(f);
	if (!err) {
		buf[len] = '\0';
		if (!strstr(buf, "-----BEGIN "))
			err = -EBADMSG;
	}
	if (err) {
		log_error("%s: %s", path, err == -EBADMSG ? "not a PEM file" : strerror(-err));
		free(buf);
		return err;
	}
	*text = buf;
	return 0;
}

void pem_free(char *text)
{
	if (!text)
		return;
	explicit_bzero(text, strlen(text));
	free(text);
}

int64_t pem_expiry(const char *text)
{
	BIO *bio = BIO_new_mem_buf(text, -1);
	X509 *cert = bio ? PEM_read_bio_X509(bio, NULL, NULL, NULL) : NULL;
	struct tm tm;
	int64_t at = 0;

	if (cert && ASN1_TIME_to_tm(X509_get0_notAfter(cert), &tm))
		at = timegm(&tm);
	X509_free(cert);
	BIO_free(bio);
	ERR_clear_error();
	return at;
}

/* ---- checks ---- */

struct check {
	const struct config *config;
	config_report_fn report;
	void *ctx;
	int err;
};

static void tell(const struct check *c, const char *option, const char *path, const char *what)
{
	struct config_place place = config_global_place(c->config, option);
	char line[1024];

	snprintf(line, sizeof(line), "%s:%u: %s: %s: %s", place.file ? place.file : "?", place.line,
		 option, path, what);
	c->report(c->ctx, line);
}

static void complain(struct check *c, const char *option, const char *path, const char *what)
{
	tell(c, option, path, what);
	c->err = -EINVAL;
}

/* A key that wants a password is none that a service can read. */
static int no_password(char *buf, int size, int rwflag, void *arg)
{
	return -1;
}

static BIO *open_pem(struct check *c, const char *option, const char *path)
{
	BIO *bio = BIO_new_file(path, "re");

	if (!bio)
		complain(c, option, path, errno ? strerror(errno) : "cannot be read");
	return bio;
}

/* Every certificate in the file has to be one; the first is given back. */
static X509 *check_certs(struct check *c, const char *option, const char *path)
{
	BIO *bio = open_pem(c, option, path);
	X509 *first = NULL, *cert;

	if (!bio)
		return NULL;
	while ((cert = PEM_read_bio_X509(bio, NULL, no_password, NULL))) {
		/* who comes by the unix socket needs none */
		if (X509_cmp_current_time(X509_get0_notAfter(cert)) < 0)
			tell(c, option, path, "a certificate has expired");
		if (first)
			X509_free(cert);
		else
			first = cert;
	}
	if (!first)
		complain(c, option, path, "no certificate in PEM form");
	else if (ERR_GET_REASON(ERR_peek_last_error()) != PEM_R_NO_START_LINE)
		complain(c, option, path, "a certificate is damaged");
	ERR_clear_error();
	BIO_free(bio);
	return first;
}

static void check_key(struct check *c, const char *path, X509 *cert)
{
	BIO *bio = open_pem(c, "tls_key", path);
	EVP_PKEY *key;

	if (!bio)
		return;
	key = PEM_read_bio_PrivateKey(bio, NULL, no_password, NULL);
	if (!key)
		complain(c, "tls_key", path, "no private key in PEM form without a password");
	else if (cert && !X509_check_private_key(cert, key))
		complain(c, "tls_key", path, "not the key of the first certificate of tls_cert");
	ERR_clear_error();
	EVP_PKEY_free(key);
	BIO_free(bio);
}

int pem_check(const struct config *config, config_report_fn report, void *ctx)
{
	struct check c = { .config = config, .report = report, .ctx = ctx };
	const struct config_global *g = &config->global;
	X509 *cert = NULL;

	if (g->tls_cert)
		cert = check_certs(&c, "tls_cert", g->tls_cert);
	if (g->tls_key)
		check_key(&c, g->tls_key, cert);
	X509_free(cert);
	if (g->tls_client_ca)
		X509_free(check_certs(&c, "tls_client_ca", g->tls_client_ca));
	return c.err;
}
