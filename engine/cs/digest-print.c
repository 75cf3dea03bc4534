/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* digest-print.c - digests as JSON, keys in alphabetical order */
#include <errno.h>
#include <inttypes.h>

#include "engine/cs/digest.h"

static void put_hash(FILE *f, const uint8_t h[32])
{
	int i;

	putc('"', f);
	for (i = 0; i < 32; i++)
		fprintf(f, "%02x", h[i]);
	putc('"', f);
}

static void key_hash(FILE *f, const char *key, const uint8_t h[32])
{
	fprintf(f, "  \"%s\": ", key);
	put_hash(f, h);
	fputs(",\n", f);
}

static void key_number(FILE *f, const char *key, uint64_t v)
{
	fprintf(f, "  \"%s\": %" PRIu64 ",\n", key, v);
}

static void key_blocks(FILE *f, const char *key, const uint8_t (*block)[32], size_t n)
{
	size_t i;

	fprintf(f, "  \"%s\": [\n", key);
	for (i = 0; i < n; i++) {
		fputs("    ", f);
		put_hash(f, block[i]);
		fputs(i + 1 < n ? ",\n" : "\n", f);
	}
	fputs("  ],\n", f);
}

int cs_digest_print(FILE *f, const struct cs_shape_digest *d, const struct cs_witness_digest *w)
{
	fputs("{\n", f);
	key_hash(f, "a_aux_density_sha256", d->a_aux_density);
	key_number(f, "a_aux_popcount", d->a_aux);
	if (w) {
		key_hash(f, "a_sha256", w->a);
		key_blocks(f, "aux_block_sha256", w->aux_block, w->n_aux_blocks);
		key_hash(f, "aux_sha256", w->aux);
	}
	key_hash(f, "b_aux_density_sha256", d->b_aux_density);
	key_number(f, "b_aux_popcount", d->b_aux);
	key_hash(f, "b_input_density_sha256", d->b_input_density);
	key_number(f, "b_input_popcount", d->b_input);
	if (w)
		key_hash(f, "b_sha256", w->b);
	key_number(f, "block_constraints", CS_DIGEST_BLOCK);
	key_blocks(f, "block_sha256", d->block, d->n_blocks);
	if (w)
		key_hash(f, "c_sha256", w->c);
	key_number(f, "circuit_constraints", d->n_constraints);
	key_number(f, "constraints_with_inputs", d->n_constraints_inputs);
	key_number(f, "domain", d->domain);
	if (w && w->first_bad != UINT64_MAX)
		key_number(f, "first_bad_constraint", w->first_bad);
	else if (w)
		fputs("  \"first_bad_constraint\": null,\n", f);
	if (w)
		key_hash(f, "inputs_sha256", w->inputs);
	key_hash(f, "matrix_sha256", d->matrix);
	key_number(f, "nnz_a", d->nnz[0]);
	key_number(f, "nnz_b", d->nnz[1]);
	key_number(f, "nnz_c", d->nnz[2]);
	key_number(f, "num_aux", d->n_aux);
	fprintf(f, "  \"num_inputs\": %" PRIu64 "%s\n", d->n_inputs, w ? "," : "");
	if (w)
		fprintf(f, "  \"satisfied\": %s\n", w->first_bad == UINT64_MAX ? "true" : "false");
	putc('}', f);
	return ferror(f) ? -EIO : 0;
}
