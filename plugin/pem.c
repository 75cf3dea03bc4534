/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* pem.c - certificates and keys as texts */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
