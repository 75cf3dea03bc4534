/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* digest.c - digests of parameter files and the manifest that lists them */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <openssl/evp.h>

#include "engine/groth16/digest.h"
#include "lib/json.h"

#define CHUNK (16u << 20)
#define READ_CHUNK (1u << 20)
#define MANIFEST_MAX (16u << 20)
#define CACHE_MAX 1024u		/* verdicts kept */

static void to_hex(const unsigned char *md, char hex[DIGEST_HEX])
{
	int i;

	for (i = 0; i < 16; i++)
		sprintf(hex + 2 * i, "%02x", md[i]);
}

int digest_map(const struct file_map *map, const struct progress *progress, char hex[DIGEST_HEX])
{
	unsigned char md[64];
	EVP_MD_CTX *ctx;
	size_t off, n;
	int ret = -EIO;

	ctx = EVP_MD_CTX_new();
	if (!ctx)
		return -ENOMEM;
	if (!EVP_DigestInit_ex(ctx, EVP_blake2b512(), NULL))
		goto out;
	for (off = 0; off < map->size; off += n) {
		n = map->size - off < CHUNK ? map->size - off : CHUNK;
		if (!EVP_DigestUpdate(ctx, map->data + off, n))
			goto out;
		progress_tell(progress, "digest", off + n, map->size);
	}
	if (!EVP_DigestFinal_ex(ctx, md, NULL))
		goto out;
	to_hex(md, hex);
	ret = 0;
out:
	EVP_MD_CTX_free(ctx);
	return ret;
}

int digest_path(const char *path, bool (*go_on)(void *arg), void *arg, char hex[DIGEST_HEX])
{
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	unsigned char md[64], *buf = malloc(READ_CHUNK);
	int fd = open(path, O_RDONLY | O_CLOEXEC), ret = fd < 0 ? -errno : 0;
	off_t off = 0;
	ssize_t n = 1;

	if (!ret && (!ctx || !buf))
		ret = -ENOMEM;
	if (!ret && !EVP_DigestInit_ex(ctx, EVP_blake2b512(), NULL))
		ret = -EIO;
	while (!ret && n) {
		if (!go_on(arg)) {
			ret = -ECANCELED;
			break;
		}
		n = pread(fd, buf, READ_CHUNK, off);
		if (n < 0)
			ret = -errno;
		else if (!EVP_DigestUpdate(ctx, buf, n))
			ret = -EIO;
		else
			posix_fadvise(fd, off, n, POSIX_FADV_DONTNEED);
		off += n;
	}
	if (!ret && !EVP_DigestFinal_ex(ctx, md, NULL))
		ret = -EIO;
	if (!ret)
		to_hex(md, hex);
	if (fd >= 0)
		close(fd);
	free(buf);
	EVP_MD_CTX_free(ctx);
	return ret;
}

/* A verdict is a line "DEV INODE SIZE MTIME_NS DIGEST". */
struct verdict {
	uint64_t dev, ino, size, mtime_ns;
	char hex[DIGEST_HEX];
};

static bool verdict_parse(const char *line, struct verdict *v)
{
	int end = 0;

	return sscanf(line, "%" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %32[0-9a-f]%n",
		      &v->dev, &v->ino, &v->size, &v->mtime_ns, v->hex, &end) == 5 &&
	       strlen(v->hex) == 32 && (line[end] == '\n' || !line[end]);
}

static size_t cache_read(const char *cache, struct verdict *v)
{
	char line[256];
	size_t n = 0;
	FILE *f = fopen(cache, "re");

	if (!f)
		return 0;
	while (n < CACHE_MAX && fgets(line, sizeof(line), f))
		n += verdict_parse(line, &v[n]);
	fclose(f);
	return n;
}

static void cache_write(const char *cache, const struct verdict *v, size_t n)
{
	struct cuzk_error ignored;
	struct file_new file;
	size_t i;

	if (file_create(&file, cache, &ignored))
		return;
	for (i = 0; i < n; i++)
		fprintf(file.f, "%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %s\n", v[i].dev,
			v[i].ino, v[i].size, v[i].mtime_ns, v[i].hex);
	file_commit(&file, &ignored);
}

int digest_map_cached(const struct file_map *map, const char *cache,
		      const struct progress *progress, char hex[DIGEST_HEX])
{
	struct verdict *v, mine = { map->dev, map->ino, map->size, map->mtime_ns };
	size_t i, n, kept = 0;
	int ret;

	if (!cache)
		return digest_map(map, progress, hex);
	v = calloc(CACHE_MAX + 1, sizeof(*v));
	if (!v)
		return -ENOMEM;
	n = cache_read(cache, v);
	for (i = 0; i < n; i++)
		if (v[i].dev == mine.dev && v[i].ino == mine.ino && v[i].size == mine.size &&
		    v[i].mtime_ns == mine.mtime_ns) {
			memcpy(hex, v[i].hex, DIGEST_HEX);
			free(v);
			return 0;
		}
	ret = digest_map(map, progress, hex);
	if (ret == 0) {
		/* hashing may have taken minutes: somebody else may have written meanwhile */
		n = cache_read(cache, v);
		for (i = n == CACHE_MAX; i < n; i++)
			if (v[i].dev != mine.dev || v[i].ino != mine.ino)
				v[kept++] = v[i];
		memcpy(mine.hex, hex, DIGEST_HEX);
		v[kept++] = mine;
		cache_write(cache, v, kept);
	}
	free(v);
	return ret;
}

/* The entry's "digest"; 1 when it has one. */
static int entry_digest(struct json *j, char hex[DIGEST_HEX])
{
	struct json_str key, str;
	int found = 0;

	if (json_object(j))
		return -EBADMSG;
	while (json_key(j, &key) > 0) {
		if (!json_str_is(&key, "digest")) {
			json_skip(j);
			continue;
		}
		if (json_string(j, &str))
			break;
		if (str.len != 32 || strspn(str.s, "0123456789abcdef") < 32)
			return json_fail(j, "a digest is 32 lower-case hex digits");
		memcpy(hex, str.s, 32);
		hex[32] = '\0';
		found = 1;
	}
	return j->error ? -EBADMSG : found;
}

int manifest_find(const char *manifest, const char *name, char hex[DIGEST_HEX],
		  struct cuzk_error *err)
{
	char where[128], found_hex[DIGEST_HEX];
	struct file_map map;
	struct json_str key;
	struct json j;
	bool found = false;
	int ret;

	ret = file_map(&map, manifest, CUZK_ERROR_PARAMS, err);
	if (ret)
		return ret == -ENOENT ? -EINVAL : ret;
	if (map.size > MANIFEST_MAX) {
		ret = error_set(err, CUZK_ERROR_PARAMS, -EFBIG, "manifest %s: larger than %u bytes",
				manifest, MANIFEST_MAX);
		goto out;
	}
	json_init(&j, (const char *)map.data, map.size);
	json_object(&j);
	while (json_key(&j, &key) > 0) {
		if (!json_str_is(&key, name))
			json_skip(&j);
		else if (found)
			json_fail(&j, "repeated name");
		else
			found = entry_digest(&j, found_hex) > 0;
	}
	if (json_end(&j)) {
		json_error(&j, where, sizeof(where));
		ret = error_set(err, CUZK_ERROR_PARAMS, -EBADMSG, "manifest %s: %s", manifest,
				where);
	} else if (!found) {
		ret = -ENOENT;
	} else {
		memcpy(hex, found_hex, DIGEST_HEX);
	}
out:
	file_unmap(&map);
	return ret;
}
