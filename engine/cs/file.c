/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * file.c - the cache file: a system's arrays as they are in memory, mapped
 *
 * Header, then the arrays one after another, each at a multiple of 64 bytes.
 * The hash in the header covers the whole file with the hash itself as zeros.
 * What it says is checked all the same before anything uses it: a cache is
 * shared by processes and survives upgrades.
 */
#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/cs/build.h"
#include "engine/cs/check.h"
#include "engine/cs/system.h"

#define MAGIC "cuzk-cs"
#define ALIGN 64
#define N_ARRAYS 9

struct header {
	char magic[8];
	uint32_t version, byte_order;
	char tag[64];			/* the circuit's name */
	uint8_t sha256[32];
	uint64_t file_size;
	uint64_t n_rows;
	uint32_t n_inputs, n_aux, n_full, log_domain;
	uint64_t count[N_ARRAYS];
};

#define BYTE_ORDER_MARK 0x01020304

static const size_t elem_size[N_ARRAYS] = {
	sizeof(struct cs_template), sizeof(struct cs_instance), sizeof(struct fr),
	sizeof(uint32_t), sizeof(struct cs_term), sizeof(uint32_t), sizeof(uint32_t),
	sizeof(uint32_t), 1,
};

static void counts(const struct cs *cs, uint64_t count[N_ARRAYS], const void *p[N_ARRAYS])
{
	const uint64_t n[N_ARRAYS] = {
		cs->n_templates, cs->n_instances, cs->n_coeffs, cs->n_lcs,
		cs->n_terms, cs->n_slots, cs->n_ports, cs->n_own, cs->names_size,
	};
	const void *const array[N_ARRAYS] = {
		cs->templates, cs->instances, cs->coeffs, cs->lc_end,
		cs->terms, cs->slots, cs->ports, cs->own, cs->names,
	};

	memcpy(count, n, sizeof(n));
	memcpy(p, array, sizeof(array));
}

static uint64_t align(uint64_t n)
{
	return (n + ALIGN - 1) / ALIGN * ALIGN;
}

/* hash of a file image whose header is given apart, its hash zero */
static int hash_image(const struct header *h, const uint8_t *body, size_t size, uint8_t out[32])
{
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	struct header copy = *h;
	int err = 0;

	if (!ctx)
		return -ENOMEM;
	memset(copy.sha256, 0, sizeof(copy.sha256));
	if (EVP_DigestInit_ex(ctx, EVP_sha256(), NULL) != 1 ||
	    EVP_DigestUpdate(ctx, &copy, sizeof(copy)) != 1 ||
	    EVP_DigestUpdate(ctx, body, size) != 1 || EVP_DigestFinal_ex(ctx, out, NULL) != 1)
		err = -EIO;
	EVP_MD_CTX_free(ctx);
	return err;
}

static int write_all(int fd, const uint8_t *p, size_t n)
{
	while (n) {
		ssize_t k = write(fd, p, n);

		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0)
			return -errno;
		p += k;
		n -= k;
	}
	return 0;
}

static int fail(char *err, int ret, const char *path, const char *what)
{
	snprintf(err, 256, "%.160s: %s", path, what);
	return ret;
}

/* The bytes behind the header; the caller frees. */
static uint8_t *make_body(const struct cs *cs, struct header *h, size_t *size)
{
	uint64_t at = align(sizeof(*h)) - sizeof(*h);
	const void *array[N_ARRAYS];
	uint8_t *body;
	int i;

	counts(cs, h->count, array);
	*size = at;
	for (i = 0; i < N_ARRAYS; i++)
		*size += align(h->count[i] * elem_size[i]);
	body = calloc(*size, 1);
	for (i = 0; body && i < N_ARRAYS; i++) {
		if (h->count[i])
			memcpy(body + at, array[i], h->count[i] * elem_size[i]);
		at += align(h->count[i] * elem_size[i]);
	}
	return body;
}

int cs_file_write(const struct cs *cs, const char *tag, const char *path, char *err)
{
	struct header h = {
		.magic = MAGIC, .version = CS_FILE_VERSION, .byte_order = BYTE_ORDER_MARK,
		.n_rows = cs->n_rows, .n_inputs = cs->n_inputs, .n_aux = cs->n_aux,
		.n_full = cs->n_full, .log_domain = cs->log_domain,
	};
	char tmp[4096];
	uint8_t *body;
	size_t size;
	int fd, ret;

	if (snprintf(h.tag, sizeof(h.tag), "%s", tag) >= (int)sizeof(h.tag) ||
	    snprintf(tmp, sizeof(tmp), "%s.XXXXXX", path) >= (int)sizeof(tmp))
		return fail(err, -ENAMETOOLONG, path, "name is too long");
	body = make_body(cs, &h, &size);
	if (!body)
		return fail(err, -ENOMEM, path, "no memory to write it");
	h.file_size = sizeof(h) + size;
	ret = hash_image(&h, body, size, h.sha256);
	if (ret) {
		fail(err, ret, path, "cannot hash it");
		goto err_free_body;
	}
	fd = mkostemp(tmp, O_CLOEXEC);
	if (fd < 0) {
		ret = fail(err, -errno, tmp, strerror(errno));
		goto err_free_body;
	}
	ret = write_all(fd, (const uint8_t *)&h, sizeof(h));
	if (!ret)
		ret = write_all(fd, body, size);
	if (!ret && (fchmod(fd, 0644) || fsync(fd)))
		ret = -errno;
	if (close(fd) && !ret)
		ret = -errno;
	if (!ret && rename(tmp, path))
		ret = -errno;
	if (ret) {
		fail(err, ret, path, strerror(-ret));
		unlink(tmp);
	}
err_free_body:
	free(body);
	return ret;
}

/* Sets cs from a mapping; a line for what is wrong with it, or NULL. */
static const char *parse(struct cs *cs, const uint8_t *map, size_t size, const char *tag)
{
	struct header h;
	const uint8_t *p[N_ARRAYS];
	uint64_t at = align(sizeof(h));
	uint8_t hash[32];
	int i;

	memcpy(&h, map, sizeof(h));
	if (memcmp(h.magic, MAGIC, sizeof(h.magic)))
		return "not a constraint system cache";
	if (h.version != CS_FILE_VERSION || h.byte_order != BYTE_ORDER_MARK)
		return "made by another version";
	if (h.file_size != size)
		return "cut short or too long";
	if (strnlen(h.tag, sizeof(h.tag)) == sizeof(h.tag) || strcmp(h.tag, tag))
		return "of another circuit";
	for (i = 0; i < N_ARRAYS; i++) {
		if (h.count[i] > (size - at) / elem_size[i] ||
		    align(h.count[i] * elem_size[i]) > size - at)
			return "sizes do not add up";
		p[i] = map + at;
		at += align(h.count[i] * elem_size[i]);
	}
	if (at != size)
		return "sizes do not add up";
	if (h.count[0] > UINT32_MAX || h.count[1] > UINT32_MAX || h.count[2] > UINT32_MAX)
		return "sizes are out of range";
	if (hash_image(&h, map + sizeof(h), size - sizeof(h), hash))
		return "cannot hash it";
	if (memcmp(hash, h.sha256, sizeof(hash)))
		return "damaged: its hash differs";
	*cs = (struct cs){
		.n_rows = h.n_rows, .n_inputs = h.n_inputs, .n_aux = h.n_aux, .n_full = h.n_full,
		.log_domain = h.log_domain, .n_templates = h.count[0], .n_instances = h.count[1],
		.n_coeffs = h.count[2], .n_lcs = h.count[3], .n_terms = h.count[4],
		.n_slots = h.count[5], .n_ports = h.count[6], .n_own = h.count[7], .names_size = h.count[8],
		.templates = (const void *)p[0], .instances = (const void *)p[1],
		.coeffs = (const void *)p[2], .lc_end = (const void *)p[3],
		.terms = (const void *)p[4], .slots = (const void *)p[5],
		.ports = (const void *)p[6], .own = (const void *)p[7], .names = (const void *)p[8],
	};
	return cs_check(cs);
}

int cs_file_map(const char *path, const char *tag, struct cs **out, char *err)
{
	struct cs_box *box;
	const char *wrong;
	struct stat st;
	void *map;
	int fd, ret;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return fail(err, -errno, path, strerror(errno));
	if (fstat(fd, &st)) {
		ret = fail(err, -errno, path, strerror(errno));
		goto err_close;
	}
	if (st.st_size < (off_t)sizeof(struct header)) {
		ret = fail(err, -EBADMSG, path, "not a constraint system cache");
		goto err_close;
	}
	box = calloc(1, sizeof(*box));
	if (!box) {
		ret = fail(err, -ENOMEM, path, "no memory");
		goto err_close;
	}
	map = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
	if (map == MAP_FAILED) {
		ret = fail(err, -errno, path, strerror(errno));
		free(box);
		goto err_close;
	}
	wrong = parse(&box->cs, map, st.st_size, tag);
	box->map = map;
	box->map_size = st.st_size;
	if (wrong) {
		ret = fail(err, -EBADMSG, path, wrong);
		goto err_free;
	}
	ret = cs_derive(&box->cs);
	if (ret) {
		fail(err, ret, path, "no memory");
		goto err_free;
	}
	close(fd);
	*out = &box->cs;
	return 0;

err_free:
	cs_free(&box->cs);
err_close:
	close(fd);
	return ret;
}
