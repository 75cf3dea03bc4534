/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* pem.h - certificates and keys as texts */
#ifndef CUZK_PLUGIN_PEM_H
#define CUZK_PLUGIN_PEM_H

#include "plugin/config.h"

/*
 * Are tls_cert, tls_key and tls_client_ca, where they are set, files that TLS can be served
 * with: certificates, the key of the first, authorities?  report gets "file:line: message" for
 * each that is not, and for what has expired, which is not refused.  0 or -EINVAL.
 */
int pem_check(const struct config *config, config_report_fn report, void *ctx);
/* Reads a whole file of at most 1 MiB. 0 or -errno, which was logged. */
int pem_read(const char *path, char **text);
/* When the first certificate in a text expires, in seconds since 1970; 0: there is none. */
int64_t pem_expiry(const char *text);
/* Wipes it first. NULL is accepted. */
void pem_free(char *text);

#endif
