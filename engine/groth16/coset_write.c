/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* coset_write.c - writes parameters rearranged for four transforms a proof */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/groth16/binfile.h"
#include "engine/groth16/coset_write.h"
#include "lib/bls12_381/encoding.h"

#define PIECE 1024u	/* points that a thread encodes at once */

static int write_all(FILE *f, const void *data, size_t size)
{
	errno = 0;
	if (fwrite(data, 1, size, f) == size)
		return 0;
	return errno ? -errno : -EIO;
}

int coset_write_open(struct coset_writer *w, FILE *f, const struct params *params, uint32_t n_h)
{
	w->f = f;
	w->bytes = malloc(COSET_CHUNK * G1_UNCOMPRESSED_SIZE);
	if (!w->bytes)
		return -ENOMEM;
	memset(w->header, 0, sizeof(w->header));
	memcpy(w->header, COSET_MAGIC, 8);
	store_be32(w->header + 8, params->vk.n_ic);
	store_be32(w->header + 12, n_h);
	store_be32(w->header + 16, params->section[PARAMS_L].count);
	store_be64(w->header + 24, params->size);
	coset_vk_digest(params, w->header + 32);
	blake2b_init(&w->digest, 64, NULL, 0);
	return write_all(f, w->header, sizeof(w->header));
}

void coset_write_close(struct coset_writer *w)
{
	free(w->bytes);
	w->bytes = NULL;
}

int coset_write_bytes(struct coset_writer *w, const void *data, size_t size)
{
	blake2b_update(&w->digest, data, size);
	return write_all(w->f, data, size);
}

struct encode {
	uint8_t *out;
	const struct g1_affine *points;
	size_t n;
};

static void encode_piece(void *arg, size_t piece, unsigned int thread)
{
	const struct encode *e = arg;
	size_t i = piece * PIECE, end = i + PIECE < e->n ? i + PIECE : e->n;

	for (; i < end; i++)
		g1_to_uncompressed(e->out + i * G1_UNCOMPRESSED_SIZE, &e->points[i]);
}

int coset_write_points(struct coset_writer *w, struct tpool *pool, const struct g1_affine *points,
		       size_t n)
{
	struct encode e = { .out = w->bytes, .points = points };
	int ret = 0;

	for (; n && !ret; n -= e.n, e.points += e.n) {
		e.n = n < COSET_CHUNK ? n : COSET_CHUNK;
		tpool_run(pool, encode_piece, &e, (e.n + PIECE - 1) / PIECE);
		ret = coset_write_bytes(w, w->bytes, e.n * G1_UNCOMPRESSED_SIZE);
	}
	return ret;
}

int coset_write_end(struct coset_writer *w)
{
	blake2b_final(&w->digest, w->header + 64);
	if (fseeko(w->f, 0, SEEK_SET))
		return -errno;
	return write_all(w->f, w->header, sizeof(w->header));
}
