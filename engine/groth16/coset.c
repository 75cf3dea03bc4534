/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* coset.c - reads parameters that are rearranged for four transforms a proof */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "engine/groth16/binfile.h"
#include "engine/groth16/coset.h"
#include "lib/blake2b.h"
#include "lib/bls12_381/encoding.h"

#define CHUNK ((size_t)64 << 20)	/* bytes between two signs of life */

static int bad(struct cuzk_error *err, const char *path, const char *what)
{
	return error_set(err, CUZK_ERROR_PARAMS, -EBADMSG, "%s: %s", path, what);
}

void coset_vk_digest(const struct params *params, uint8_t digest[32])
{
	struct blake2b b;

	blake2b_init(&b, 32, NULL, 0);
	/* the key ends where the count of h stands */
	blake2b_update(&b, params->data, params->section[PARAMS_H].offset - 4);
	blake2b_final(&b, digest);
}

static int check_header(struct coset *c, const char *path, const struct params *params,
			struct cuzk_error *err)
{
	uint64_t n_h = (uint64_t)params->section[PARAMS_H].count + 1, size;
	const uint8_t *h = c->data;
	uint8_t digest[32];

	if (c->size < COSET_HEADER || memcmp(h, COSET_MAGIC, 8))
		return bad(err, path, "it does not begin as rearranged parameters do");
	c->n_inputs = load_be32(h + 8);
	c->n_h = load_be32(h + 12);
	c->n_l = load_be32(h + 16);
	if (load_be32(h + 20))
		return bad(err, path, "offset 20: a number that must be 0 is not");
	coset_vk_digest(params, digest);
	if (load_be64(h + 24) != params->size || memcmp(h + 32, digest, sizeof(digest)) ||
	    params_h_basis(params) != GPU_H_POWERS || c->n_inputs != params->vk.n_ic ||
	    c->n_h != n_h || c->n_l != params->section[PARAMS_L].count)
		return error_set(err, CUZK_ERROR_PARAMS, -ESTALE,
				 "%s: it was made of other parameters: make it again", path);
	size = COSET_HEADER +
	       ((uint64_t)c->n_inputs + c->n_h + c->n_l) * G1_UNCOMPRESSED_SIZE;
	if (c->size != size)
		return error_set(err, CUZK_ERROR_PARAMS, -EBADMSG,
				 "%s: %zu bytes, its counts make %" PRIu64, path, c->size, size);
	return 0;
}

static int read_inputs(struct coset *c, const char *path, struct cuzk_error *err)
{
	struct g1_affine *points = malloc(c->n_inputs * sizeof(*points));
	enum point_status status;
	uint32_t i;
	int ret;

	if (!points)
		return error_nomem(err, "the inputs' points");
	for (i = 0; i < c->n_inputs; i++) {
		status = g1_from_uncompressed(&points[i], c->data + COSET_HEADER +
					      (size_t)i * G1_UNCOMPRESSED_SIZE, POINT_ALLOW_INFINITY);
		if (status) {
			ret = error_set(err, CUZK_ERROR_PARAMS, -EBADMSG, "%s: input %u: the point %s",
					path, i, point_status_str(status));
			goto out;
		}
	}
	ret = g1_fixed_open(&c->inputs, points, c->n_inputs);
	if (ret)
		error_nomem(err, "the inputs' points");
out:
	free(points);
	return ret;
}

int coset_parse(struct coset *c, const char *name, const void *data, size_t size,
		const struct params *params, struct cuzk_error *err)
{
	int ret;

	memset(c, 0, sizeof(*c));
	c->data = data;
	c->size = size;
	ret = check_header(c, name, params, err);
	return ret ? ret : read_inputs(c, name, err);
}

int coset_open(struct coset *c, const char *path, const struct params *params,
	       struct cuzk_error *err)
{
	struct file_map map;
	int ret;

	ret = file_map(&map, path, CUZK_ERROR_PARAMS, err);
	if (ret)
		return ret;
	ret = coset_parse(c, path, map.data, map.size, params, err);
	if (ret)
		file_unmap(&map);
	else
		c->map = map;
	return ret;
}

void coset_close(struct coset *c)
{
	g1_fixed_close(c->inputs);
	if (c->map.data)
		file_unmap(&c->map);
	memset(c, 0, sizeof(*c));
}

void coset_srs_desc(const struct coset *c, struct gpu_srs_desc *desc)
{
	const uint8_t *points = c->data + COSET_HEADER;

	points += (size_t)c->n_inputs * G1_UNCOMPRESSED_SIZE;
	desc->h_basis = GPU_H_COSET;
	desc->l = points;
	desc->h = points + (size_t)c->n_l * G1_UNCOMPRESSED_SIZE;
	desc->n_h = c->n_h;
}

int coset_bad_point(const struct coset *c, const char *params, int level, uint64_t bad,
		    struct cuzk_error *err)
{
	const uint64_t l = COSET_HEADER + (uint64_t)c->n_inputs * G1_UNCOMPRESSED_SIZE;
	const struct params points = {
		.data = c->data,
		.section[PARAMS_H] = { l + (uint64_t)c->n_l * G1_UNCOMPRESSED_SIZE, c->n_h },
		.section[PARAMS_L] = { l, c->n_l },
	};
	char path[4096 + sizeof(COSET_SUFFIX)];

	snprintf(path, sizeof(path), "%s" COSET_SUFFIX, params);
	return params_bad_point(&points, path, level, bad, err);
}

int coset_check(const struct coset *c, const char *path, const struct progress *progress,
		struct cuzk_error *err)
{
	uint8_t digest[64];
	struct blake2b b;
	size_t at, n;

	blake2b_init(&b, sizeof(digest), NULL, 0);
	for (at = COSET_HEADER; at < c->size; at += n) {
		progress_tell(progress, "digest", at, c->size);
		n = c->size - at < CHUNK ? c->size - at : CHUNK;
		blake2b_update(&b, c->data + at, n);
	}
	blake2b_final(&b, digest);
	if (memcmp(digest, c->data + 64, sizeof(digest)))
		return bad(err, path, "its digest is not the one that it names: make it again");
	return 0;
}

int coset_add_inputs(struct gpu_sums *sums, const struct g1_fixed *points, const struct fr *inputs,
		     size_t n)
{
	struct scalar *k = malloc((n + 1) * sizeof(*k));
	struct g1 sum;
	size_t i;
	int ret;

	if (!k)
		return -ENOMEM;
	fr_to_scalar(&k[0], &fr_one);
	for (i = 0; i < n; i++)
		fr_to_scalar(&k[i + 1], &inputs[i]);
	ret = g1_fixed_sum(&sum, points, k, n + 1);
	free(k);
	if (ret)
		return ret;
	g1_add_affine(&sum, &sum, &sums->l);
	g1_to_affine(&sums->l, &sum);
	return 0;
}
