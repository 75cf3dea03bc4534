/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* pem.h - certificates and keys as texts */
#ifndef CUZK_PLUGIN_PEM_H
#define CUZK_PLUGIN_PEM_H

/* Reads a whole file of at most 1 MiB. 0 or -errno, which was logged. */
int pem_read(const char *path, char **text);
/* Wipes it first. NULL is accepted. */
void pem_free(char *text);

#endif
