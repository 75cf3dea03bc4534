/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * digest.c - canonical SHA-256 digests of systems and witnesses
 *
 * The caller's thread writes the bytes and hashes the blocks, a second one
 * hashes the whole stream.
 */
#include <errno.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

#include "engine/cs/digest.h"
#include "engine/cs/eval.h"
#include "engine/cs/hashpipe.h"
#include "engine/cs/wire.h"

#define SLOT_SIZE (512 * 1024)

static void put_u32(uint8_t *p, uint32_t v)
{
	p[0] = v;
	p[1] = v >> 8;
	p[2] = v >> 16;
	p[3] = v >> 24;
}

static bool sha256(const void *p, size_t n, uint8_t out[32])
{
	return EVP_Digest(p, n, out, NULL, EVP_sha256(), NULL) == 1;
}

/* A stream that is hashed whole and in blocks. */
struct stream {
	struct hashpipe *pipe;
	struct hashpipe_slot *slot;
	size_t slot_size;
	EVP_MD_CTX *ctx;
	uint8_t (*block)[32];
	size_t n_blocks, size_blocks;
	int err;
};

static int stream_open(struct stream *s, size_t n_blocks, size_t slot_size)
{
	memset(s, 0, sizeof(*s));
	s->slot_size = slot_size;
	s->size_blocks = n_blocks;
	s->block = calloc(n_blocks + 1, sizeof(*s->block));
	s->ctx = EVP_MD_CTX_new();
	if (!s->block || !s->ctx) {
		s->err = -ENOMEM;
	} else if (EVP_DigestInit_ex(s->ctx, EVP_sha256(), NULL) != 1) {
		s->err = -EIO;
	} else {
		s->err = hashpipe_open(&s->pipe, 1, slot_size);
		if (!s->err)
			s->slot = hashpipe_get(s->pipe);
	}
	return s->err;
}

static void stream_flush(struct stream *s)
{
	if (!s->slot->len[0])
		return;
	if (EVP_DigestUpdate(s->ctx, s->slot->buf[0], s->slot->len[0]) != 1)
		s->err = -EIO;
	hashpipe_put(s->pipe);
	s->slot = hashpipe_get(s->pipe);
}

/* room for n bytes, to be filled at once */
static uint8_t *stream_room(struct stream *s, size_t n)
{
	uint8_t *p;

	if (s->slot->len[0] + n > s->slot_size)
		stream_flush(s);
	p = s->slot->buf[0] + s->slot->len[0];
	s->slot->len[0] += n;
	return p;
}

static void stream_end_block(struct stream *s)
{
	stream_flush(s);
	if (s->n_blocks == s->size_blocks ||
	    EVP_DigestFinal_ex(s->ctx, s->block[s->n_blocks++], NULL) != 1 ||
	    EVP_DigestInit_ex(s->ctx, EVP_sha256(), NULL) != 1)
		s->err = -EIO;
}

/* The blocks become the caller's on success. */
static int stream_close(struct stream *s, uint8_t whole[32], uint8_t (**block)[32], size_t *n)
{
	uint8_t out[1][32];
	int err = s->err, ret;

	if (s->pipe) {
		stream_flush(s);
		ret = hashpipe_close(s->pipe, out);
		if (!err)
			err = ret;
	}
	EVP_MD_CTX_free(s->ctx);
	if (err) {
		free(s->block);
		return err;
	}
	memcpy(whole, out[0], 32);
	*block = s->block;
	*n = s->n_blocks;
	return 0;
}

struct shape_job {
	const struct cs *cs;
	uint8_t (*coeff_bytes)[32];
	struct wire *wires;
	struct wire_term *tmp;
	size_t max_row;
};

static void shape_job_fini(struct shape_job *job)
{
	uint32_t i;

	for (i = 0; job->wires && i < job->cs->n_templates; i++)
		wire_fini(&job->wires[i]);
	free(job->wires);
	free(job->coeff_bytes);
	free(job->tmp);
}

static int shape_job_init(struct shape_job *job, const struct cs *cs, uint64_t nnz[3])
{
	uint32_t i, k, row, max_lc = 0;
	int err;

	memset(job, 0, sizeof(*job));
	job->cs = cs;
	job->max_row = 64;
	job->wires = calloc(cs->n_templates + 1, sizeof(*job->wires));
	job->coeff_bytes = calloc(cs->n_coeffs + 1, sizeof(*job->coeff_bytes));
	if (!job->wires || !job->coeff_bytes)
		return -ENOMEM;
	for (i = 0; i < cs->n_coeffs; i++)
		fr_to_bytes_le(job->coeff_bytes[i], &cs->coeffs[i]);
	for (i = 0; i < cs->n_templates; i++) {
		struct wire *w = &job->wires[i];

		err = wire_init(w, cs, &cs->templates[i], job->coeff_bytes);
		if (err)
			return err;
		if (w->max_lc > max_lc)
			max_lc = w->max_lc;
		for (row = 0; row < cs->templates[i].n_rows; row++)
			if (w->row[row + 1] - w->row[row] > job->max_row)
				job->max_row = w->row[row + 1] - w->row[row];
	}
	nnz[0] = cs->n_inputs;
	nnz[1] = nnz[2] = 0;
	for (i = 0; i < cs->n_instances; i++)
		for (k = 0; k < 3; k++)
			nnz[k] += job->wires[cs->instances[i].tmpl].nnz[k];
	job->tmp = calloc(2 * (size_t)max_lc + 1, sizeof(*job->tmp));
	return job->tmp ? 0 : -ENOMEM;
}

static void shape_rows(struct shape_job *job, struct stream *s)
{
	const struct cs *cs = job->cs;
	uint64_t total = 0;
	uint32_t i, row;

	for (i = 0; i < cs->n_instances && !s->err; i++) {
		const struct cs_instance *inst = &cs->instances[i];
		const struct wire *w = &job->wires[inst->tmpl];

		for (row = 0; row < cs->templates[inst->tmpl].n_rows; row++) {
			uint8_t *p = stream_room(s, w->row[row + 1] - w->row[row]);

			wire_row(w, cs, inst, row, job->coeff_bytes, job->tmp, p);
			if (++total % CS_DIGEST_BLOCK == 0)
				stream_end_block(s);
		}
	}
	for (i = 0; i < cs->n_inputs && !s->err; i++) {
		uint8_t *p = stream_room(s, 12 + WIRE_TERM);

		memset(p, 0, 12 + WIRE_TERM);
		put_u32(p, 1);
		put_u32(p + 5, i);
		p[9] = 1;
		if (++total % CS_DIGEST_BLOCK == 0)
			stream_end_block(s);
	}
	if (total % CS_DIGEST_BLOCK && !s->err)
		stream_end_block(s);
}

int cs_digest_shape(const struct cs *cs, struct cs_shape_digest *out)
{
	struct cs_shape_digest d = {
		.n_constraints = cs->n_rows, .n_constraints_inputs = cs->n_rows + cs->n_inputs,
		.domain = UINT64_C(1) << cs->log_domain, .n_inputs = cs->n_inputs,
		.n_aux = cs->n_aux, .a_aux = cs->n_a_aux, .b_input = cs->n_b_input,
		.b_aux = cs->n_b_aux,
	};
	size_t n_blocks = (d.n_constraints_inputs + CS_DIGEST_BLOCK - 1) / CS_DIGEST_BLOCK;
	struct shape_job job;
	struct stream s;
	int err;

	err = shape_job_init(&job, cs, d.nnz);
	if (err)
		goto err_free_job;
	err = stream_open(&s, n_blocks, job.max_row > SLOT_SIZE ? job.max_row : SLOT_SIZE);
	if (!err)
		shape_rows(&job, &s);
	err = stream_close(&s, d.matrix, &d.block, &d.n_blocks);
	if (err)
		goto err_free_job;
	if (!sha256(cs->a_aux_density, (cs->n_aux + 7) / 8, d.a_aux_density) ||
	    !sha256(cs->b_aux_density, (cs->n_aux + 7) / 8, d.b_aux_density) ||
	    !sha256(cs->b_input_density, (cs->n_inputs + 7) / 8, d.b_input_density)) {
		free(d.block);
		err = -EIO;
		goto err_free_job;
	}
	*out = d;
err_free_job:
	shape_job_fini(&job);
	return err;
}

static void aux_values(const struct cs *cs, const struct cs_witness *w, struct stream *s)
{
	const struct fr *full = w->full;
	uint32_t i;

	for (i = 0; i < cs->n_aux && !s->err; i++) {
		uint8_t *p = stream_room(s, 32);

		if (cs->full_map[i / 64] >> (i % 64) & 1) {
			fr_to_bytes_le(p, full++);
		} else {
			memset(p, 0, 32);
			p[0] = w->bits[i / 64] >> (i % 64) & 1;
		}
		if ((i + 1) % CS_DIGEST_BLOCK == 0)
			stream_end_block(s);
	}
	if (i % CS_DIGEST_BLOCK && !s->err)
		stream_end_block(s);
}

#define CHUNK 512

static void row_values(const struct cs *cs, const struct cs_witness *w, struct hashpipe *pipe,
		       uint64_t *bad)
{
	struct hashpipe_slot *slot = hashpipe_get(pipe);
	struct cs_sum sums[3 * CHUNK];
	uint32_t i, at, n, j, k;

	for (i = 0; i < cs->n_instances; i++) {
		uint32_t rows = cs->templates[cs->instances[i].tmpl].n_rows;

		for (at = 0; at < rows; at += n) {
			n = rows - at < CHUNK ? rows - at : CHUNK;
			if (slot->len[0] + 32 * (size_t)n > SLOT_SIZE) {
				hashpipe_put(pipe);
				slot = hashpipe_get(pipe);
			}
			cs_eval_instance(cs, w, i, at, n, sums);
			for (j = 0; j < n; j++) {
				for (k = 0; k < 3; k++, slot->len[k - 1] += 32)
					cs_sum_bytes(&sums[3 * j + k], slot->buf[k] + slot->len[k]);
				if (*bad == UINT64_MAX && !cs_sum_satisfied(&sums[3 * j]))
					*bad = cs->instances[i].row_base + (uint64_t)at + j;
			}
		}
	}
	for (i = 0; i < cs->n_inputs; i++) {
		if (slot->len[0] + 32 > SLOT_SIZE) {
			hashpipe_put(pipe);
			slot = hashpipe_get(pipe);
		}
		fr_to_bytes_le(slot->buf[0] + slot->len[0], &w->inputs[i]);
		for (k = 1; k < 3; k++)
			memset(slot->buf[k] + slot->len[k], 0, 32);
		for (k = 0; k < 3; k++)
			slot->len[k] += 32;
	}
	hashpipe_put(pipe);
}

static int digest_inputs(const struct cs *cs, const struct cs_witness *w, uint8_t out[32])
{
	uint8_t (*bytes)[32] = calloc(cs->n_inputs, sizeof(*bytes));
	uint32_t i;
	int err = 0;

	if (!bytes)
		return -ENOMEM;
	for (i = 0; i < cs->n_inputs; i++)
		fr_to_bytes_le(bytes[i], &w->inputs[i]);
	if (!sha256(bytes, cs->n_inputs * sizeof(*bytes), out))
		err = -EIO;
	free(bytes);
	return err;
}

int cs_digest_witness(const struct cs *cs, const struct cs_witness *w,
		      struct cs_witness_digest *out)
{
	struct cs_witness_digest d = { .first_bad = UINT64_MAX };
	uint8_t abc[3][32];
	struct hashpipe *pipe;
	struct stream s;
	int err;

	err = digest_inputs(cs, w, d.inputs);
	if (err)
		return err;
	err = stream_open(&s, ((size_t)cs->n_aux + CS_DIGEST_BLOCK - 1) / CS_DIGEST_BLOCK,
			  SLOT_SIZE);
	if (!err)
		aux_values(cs, w, &s);
	err = stream_close(&s, d.aux, &d.aux_block, &d.n_aux_blocks);
	if (err)
		return err;
	err = hashpipe_open(&pipe, 3, SLOT_SIZE);
	if (err)
		goto err_free_blocks;
	row_values(cs, w, pipe, &d.first_bad);
	err = hashpipe_close(pipe, abc);
	if (err)
		goto err_free_blocks;
	memcpy(d.a, abc[0], 32);
	memcpy(d.b, abc[1], 32);
	memcpy(d.c, abc[2], 32);
	*out = d;
	return 0;

err_free_blocks:
	free(d.aux_block);
	return err;
}

void cs_shape_digest_fini(struct cs_shape_digest *d)
{
	free(d->block);
	memset(d, 0, sizeof(*d));
}

void cs_witness_digest_fini(struct cs_witness_digest *d)
{
	free(d->aux_block);
	memset(d, 0, sizeof(*d));
}
