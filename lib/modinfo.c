/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* modinfo.c - what an engine says of itself, read without loading it */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/modinfo.h"

#define SECTION ".cuzk.modinfo"
#define NAMES_MAX (1 << 20)	/* bytes of the table of section names */

/* A file and its size. */
struct elf {
	int fd;
	uint64_t size;
};

/* Reads len bytes at offset; -EBADMSG when the file does not have them. */
static int read_at(const struct elf *elf, void *buf, uint64_t len, uint64_t offset)
{
	char *p = buf;

	if (offset > elf->size || len > elf->size - offset)
		return -EBADMSG;
	while (len) {
		ssize_t n = pread(elf->fd, p, len, offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			return -EBADMSG;	/* it shrank */
		p += n;
		offset += n;
		len -= n;
	}
	return 0;
}

static int read_header(const struct elf *elf, Elf64_Ehdr *eh)
{
	const unsigned char order = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB
									      : ELFDATA2MSB;

	if (elf->size < sizeof(*eh) || read_at(elf, eh, sizeof(*eh), 0) < 0 ||
	    memcmp(eh->e_ident, ELFMAG, SELFMAG) || eh->e_ident[EI_CLASS] != ELFCLASS64 ||
	    eh->e_ident[EI_DATA] != order)
		return -ENOEXEC;
	if (!eh->e_shoff || !eh->e_shnum)
		return -ENODATA;
	if (eh->e_shentsize != sizeof(Elf64_Shdr) || eh->e_shstrndx >= eh->e_shnum)
		return -EBADMSG;
	return 0;
}

static int read_section(const struct elf *elf, const Elf64_Ehdr *eh, unsigned int i,
			Elf64_Shdr *sh)
{
	uint64_t offset;

	if (__builtin_add_overflow(eh->e_shoff, (uint64_t)i * sizeof(*sh), &offset))
		return -EBADMSG;
	return read_at(elf, sh, sizeof(*sh), offset);
}

/* The whole of a section of at most max bytes, with a NUL behind it. */
static int load_section(const struct elf *elf, const Elf64_Shdr *sh, uint64_t max, char **text)
{
	char *p;
	int r;

	if (sh->sh_type == SHT_NOBITS || sh->sh_size > max)
		return -EBADMSG;
	p = malloc(sh->sh_size + 1);
	if (!p)
		return -ENOMEM;
	r = read_at(elf, p, sh->sh_size, sh->sh_offset);
	if (r < 0) {
		free(p);
		return r;
	}
	p[sh->sh_size] = '\0';
	*text = p;
	return 0;
}

static int find_section(const struct elf *elf, const Elf64_Ehdr *eh, Elf64_Shdr *found)
{
	Elf64_Shdr names, sh;
	unsigned int i;
	char *text;
	int r;

	r = read_section(elf, eh, eh->e_shstrndx, &names);
	if (r < 0)
		return r;
	r = load_section(elf, &names, NAMES_MAX, &text);
	if (r < 0)
		return r;
	for (i = 0; i < eh->e_shnum; i++) {
		r = read_section(elf, eh, i, &sh);
		if (r < 0)
			goto out;
		if (sh.sh_name < names.sh_size && !strcmp(text + sh.sh_name, SECTION)) {
			*found = sh;
			goto out;
		}
	}
	r = -ENODATA;
out:
	free(text);
	return r;
}

static int read_elf(const struct elf *elf, struct modinfo *info)
{
	Elf64_Ehdr eh;
	Elf64_Shdr sh;
	char *text;
	int r;

	r = read_header(elf, &eh);
	if (r < 0)
		return r;
	r = find_section(elf, &eh, &sh);
	if (r < 0)
		return r;
	r = load_section(elf, &sh, MODINFO_MAX, &text);
	if (r < 0)
		return r;
	if (!sh.sh_size || text[sh.sh_size - 1]) {
		free(text);
		return -EBADMSG;
	}
	info->text = text;
	info->len = sh.sh_size;
	return 0;
}

int modinfo_read(struct modinfo *info, const char *path)
{
	struct elf elf;
	struct stat st;
	int r;

	elf.fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (elf.fd < 0)
		return -errno;
	if (fstat(elf.fd, &st) < 0) {
		r = -errno;
	} else if (!S_ISREG(st.st_mode)) {
		r = S_ISDIR(st.st_mode) ? -EISDIR : -EINVAL;
	} else {
		elf.size = st.st_size;
		r = read_elf(&elf, info);
	}
	close(elf.fd);
	return r;
}

void modinfo_free(struct modinfo *info)
{
	free(info->text);
	info->text = NULL;
	info->len = 0;
}

const char *modinfo_next(const struct modinfo *info, const char *prev)
{
	const char *end = info->text + info->len;
	const char *p = prev ? prev + strlen(prev) + 1 : info->text;

	/* alignment may have put zeros between the strings */
	while (p < end && !*p)
		p++;
	return p < end ? p : NULL;
}

const char *modinfo_get(const struct modinfo *info, const char *key)
{
	size_t len = strlen(key);
	const char *p = NULL;

	while ((p = modinfo_next(info, p))) {
		if (!strncmp(p, key, len) && p[len] == '=')
			return p + len + 1;
	}
	return NULL;
}
