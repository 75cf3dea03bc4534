/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * u-params.c - parameter files: names, reading, damage, digests, manifests
 *
 * Tests fault class "parameters wrong or absent".
 */
#include <errno.h>
#include <unistd.h>

#include <openssl/evp.h>

#include "engine/groth16/binfile.h"
#include "engine/groth16/digest.h"
#include "engine/groth16/params.h"
#include "engine/groth16/params_name.h"
#include "t/tap.h"

static uint8_t *slurp(const char *name, size_t *size)
{
	FILE *f = fopen(data_path(name), "rb");
	uint8_t *buf = malloc(1 << 20);

	if (!f || !buf) {
		printf("Bail out! cannot read %s\n", data_path(name));
		exit(1);
	}
	*size = fread(buf, 1, 1 << 20, f);
	fclose(f);
	return buf;
}

/* File names quoted by the proofs' own sources, for each kind. */
static void test_names(void)
{
	static const struct {
		const char *circuit, *name;
	} known[] = {
		{ "porep-32g",
		  "v28-stacked-proof-of-replication-merkletree-poseidon_hasher-8-8-0-sha256_hasher-"
		  "82a357d2f2ca81dc61bb45f4a762807aedee1b0a53fd6c4e77b46a01bfef7820" },
		{ "winning-32g",
		  "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-8-0-"
		  "559e581f022bb4e4ec6e719e563bf0e026ad6de42e56c18714a2c692b1b88d7e" },
		{ "window-32g",
		  "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-8-0-"
		  "0377ded656c6f524f1618760bffe4e0a1c51d5a70c4509eedae8a27555733edc" },
		{ "tiny-3", "tiny-3" },
	};
	/* the rest as the specification has them: first and last digits */
	static const struct {
		const char *circuit, *first, *last;
	} parts[] = {
		{ "update-32g", "3b7f44a9362e3985369454947bc94022", "9d18" },
		{ "porep-2k", "032d3138", "832f" },
		{ "winning-2k", "3ea05428", "ea9e" },
		{ "window-2k", "0170db1f", "96b0" },
		{ "update-2k", "fb9e095b", "0194" },
	};
	char name[PARAMS_NAME_MAX], want[PARAMS_NAME_MAX];
	const char *hex;
	size_t i;

	for (i = 0; i < sizeof(known) / sizeof(*known); i++) {
		snprintf(want, sizeof(want), "%s.params", known[i].name);
		params_name(known[i].circuit, "params", name);
		ok(!strcmp(name, want), "file name of %s", known[i].circuit);
	}
	for (i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		params_name(parts[i].circuit, "vk", name);
		hex = name + strlen(name) - strlen(".vk") - 64;
		ok(!strncmp(hex, parts[i].first, strlen(parts[i].first)) &&
		   !strncmp(hex + 60, parts[i].last, 4), "file name of %s", parts[i].circuit);
	}
	ok(params_name("update-poseidon-64g", "meta", name) > 0 &&
		   strstr(name,
			  "v28-empty-sector-update-poseidon-merkletree-poseidon_hasher-8-8-2-") ==
			   name,
	   "file name of update-poseidon-64g");
	ok(params_name("porep-33g", "params", name) == -ENOENT &&
	   params_name("tiny-", "params", name) == -ENOENT &&
	   params_name("tiny-../x", "params", name) == -ENOENT &&
	   params_name("", "params", name) == -ENOENT, "unknown circuits have no file");
}

static void test_read(void)
{
	struct cuzk_error err;
	struct params p;
	size_t size;
	uint8_t *data = slurp("toy/tiny-3.params", &size), *vk, *out = malloc(4096);
	size_t vk_size;
	int ret;

	ret = params_parse(&p, "tiny-3.params", data, size, &err);
	if (!ok(ret == 0, "tiny-3.params is read"))
		diag("%s", err.text);
	ok(p.vk.n_ic == 3 && p.section[PARAMS_H].count == 15 && p.section[PARAMS_L].count == 5 &&
	   p.section[PARAMS_A].count == 7 && p.section[PARAMS_B_G1].count == 4 &&
	   p.section[PARAMS_B_G2].count == 4, "its counts");
	ok(params_h_basis(&p) == GPU_H_POWERS, "its h points are powers");
	ok(params_check_points(&p, "tiny-3.params", 2, NULL, NULL, &err) == 0,
	   "its points are good");
	vk = slurp("toy/tiny-3.vk", &vk_size);
	vk_write(out, &p.vk);
	ok(vk_size == VK_SIZE(3) && !memcmp(out, vk, vk_size), "its key is written as tiny-3.vk");
	params_close(&p);
	free(data);
	free(vk);
	free(out);
}

/* Cut at every section edge and one byte before and behind; damage in each section. */
static void test_damage(void)
{
	static const char *const names[] = { "h", "l", "a", "b_g1", "b_g2" };
	struct cuzk_error err;
	struct params p, q;
	size_t size, edges[8], n_edges = 0, i, bad = 0;
	uint8_t *data = slurp("toy/tiny-3.params", &size), *copy;
	char want[64];

	params_parse(&p, "f", data, size, &err);
	edges[n_edges++] = VK_FIXED_SIZE;
	for (i = 0; i < PARAMS_SECTIONS; i++)
		edges[n_edges++] = p.section[i].offset;
	for (i = 0; i < n_edges; i++) {
		static const int around[] = { -5, -4, -1, 0, 1 };
		size_t k;

		for (k = 0; k < 5; k++) {
			/* a copy of that size, so that ASan sees a read behind it */
			copy = malloc(edges[i] + around[k]);
			memcpy(copy, data, edges[i] + around[k]);
			if (params_parse(&q, "f", copy, edges[i] + around[k], &err) == 0) {
				params_close(&q);
				bad++;
			} else if (err.cls != CUZK_ERROR_PARAMS || strncmp(err.text, "f: ", 3)) {
				diag("%d %s", err.cls, err.text);
				bad++;
			}
			free(copy);
		}
	}
	ok(bad == 0, "a file cut at or near any section edge is refused as parameters");
	copy = malloc(size + 1);
	memcpy(copy, data, size);
	copy[size] = 0;
	ok(params_parse(&q, "f", copy, size + 1, &err) == -EINVAL &&
		   !strcmp(err.text, "f: 1 bytes behind the last section"),
	   "a byte too many: %s", err.text);

	for (i = 0; i < PARAMS_SECTIONS; i++) {
		size_t at = p.section[i].offset + 96 + 7;

		copy[at] ^= 1;
		snprintf(want, sizeof(want), "section %s: point %d of", names[i],
			 i == PARAMS_B_G2 ? 0 : 1);
		if (params_parse(&q, "f", copy, size, &err) == 0) {
			ok(params_check_points(&q, "f", 1, NULL, NULL, &err) == -EBADMSG &&
			   err.cls == CUZK_ERROR_PARAMS && strstr(err.text, want),
			   "a flipped bit is found: %s", err.text);
			params_close(&q);
		}
		copy[at] ^= 1;
	}
	copy[100] ^= 1;
	ok(params_parse(&q, "f", copy, size, &err) == -EINVAL &&
		   strstr(err.text, "verifying key: beta_g1"),
	   "a flipped bit in the key is found: %s", err.text);
	copy[100] ^= 1;
	memset(copy + 864, 0xff, 4);
	ok(params_parse(&q, "f", copy, size, &err) == -EINVAL, "a count of 2^32-1: %s", err.text);
	memset(copy + p.section[PARAMS_H].offset - 4, 0xff, 4);
	memcpy(copy + 864, data + 864, 4);
	ok(params_parse(&q, "f", copy, size, &err) == -EINVAL, "a count of 2^32-1: %s", err.text);
	params_close(&p);
	free(copy);
	free(data);
}

/* A key cut anywhere, and with any byte changed: all of it is checked. */
static void test_vk_damage(void)
{
	struct cuzk_error err;
	struct vk vk;
	size_t size, i, bad = 0;
	uint8_t *data = slurp("toy/tiny-3.vk", &size), *copy;

	for (i = 0; i < size; i++) {
		copy = malloc(i + 1);
		memcpy(copy, data, i);
		if (vk_read(&vk, "f", copy, i, NULL, &err) != -EINVAL ||
		    err.cls != CUZK_ERROR_PARAMS || strncmp(err.text, "f: verifying key: ", 18))
			bad++;
		free(copy);
	}
	ok(bad == 0, "a key cut at any of %zu places is refused", size);
	for (i = 0; i < size; i++) {
		data[i] ^= 1 << i % 8;
		if (vk_read(&vk, "f", data, size, NULL, &err) == 0) {
			vk_fini(&vk);
			bad++;
		} else if (err.cls != CUZK_ERROR_PARAMS || strchr(err.text, '\n')) {
			bad++;
		}
		data[i] ^= 1 << i % 8;
	}
	ok(bad == 0, "and with a bit of any byte changed: %s", err.text);
	free(data);
}

static int write_text(const char *path, const char *text, struct cuzk_error *err)
{
	struct file_new file;

	if (file_create(&file, path, err))
		return -1;
	fputs(text, file.f);
	return file_commit(&file, err);
}

/* BLAKE2b-512 of "abc" (RFC 7693), and a manifest. */
static void test_digest(void)
{
	static const char text[] =
		"{\"a.params\":{\"cid\":\"x\",\"digest\":\"00112233445566778899aabbccddeeff\","
		"\"sector_size\":2048},\"b.params\":{\"digest\":\"x\"}}";
	const char *dir = getenv("CUZK_BUILDDIR");
	char path[4096], manifest[4200], cache[4200], hex[DIGEST_HEX];
	struct cuzk_error err;
	struct file_map map;
	FILE *f;
	int ret;

	snprintf(path, sizeof(path), "%s/u-params.XXXXXX", dir ? dir : ".");
	if (!mkdtemp(path)) {
		ok(false, "a temporary folder");
		return;
	}
	snprintf(manifest, sizeof(manifest), "%s/m.json", path);
	snprintf(cache, sizeof(cache), "%s/verdicts", path);
	ok(write_text(manifest, "abc", &err) == 0 &&
	   file_map(&map, manifest, CUZK_ERROR_PARAMS, &err) == 0, "a file is written and mapped");
	ok(digest_map_cached(&map, cache, NULL, hex) == 0 &&
	   !strcmp(hex, "ba80a53f981c4d0d6a2797b69f12f6e9"), "BLAKE2b of abc, 16 bytes");
	/* the second time from the cache: proved by changing what it says */
	f = fopen(cache, "r+");
	fseek(f, -2, SEEK_END);
	fputc('0', f);
	fclose(f);
	ok(digest_map_cached(&map, cache, NULL, hex) == 0 &&
	   !strcmp(hex, "ba80a53f981c4d0d6a2797b69f12f6e0"), "the verdict is remembered");
	map.mtime_ns++;
	ok(digest_map_cached(&map, cache, NULL, hex) == 0 &&
	   !strcmp(hex, "ba80a53f981c4d0d6a2797b69f12f6e9"), "and not for a file that changed");
	file_unmap(&map);

	write_text(manifest, text, &err);
	ret = manifest_find(manifest, "a.params", hex, &err);
	ok(ret == 0 && !strcmp(hex, "00112233445566778899aabbccddeeff"),
	   "the manifest lists a file");
	ok(manifest_find(manifest, "c.params", hex, &err) == -ENOENT, "and not another");
	ok(manifest_find(manifest, "b.params", hex, &err) == -EBADMSG &&
		   err.cls == CUZK_ERROR_PARAMS,
	   "a digest of the wrong form: %s", err.text);
	unlink(manifest);
	unlink(cache);
	ok(manifest_find(manifest, "a.params", hex, &err) == -EINVAL, "no manifest: %s", err.text);
	rmdir(path);
}

int main(void)
{
	test_names();
	test_read();
	test_damage();
	test_vk_damage();
	test_digest();
	return tap_done();
}
