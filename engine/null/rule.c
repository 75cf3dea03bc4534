/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* rule.c - what the null engine proves */
#include "engine/null/rule.h"
#include "lib/sha256.h"

static void put_number(struct sha256 *h, uint64_t v, unsigned int bytes)
{
	uint8_t le[8];
	unsigned int i;

	for (i = 0; i < bytes; i++)
		le[i] = v >> (8 * i);
	sha256_update(h, le, bytes);
}

static void put_blob(struct sha256 *h, const struct cuzk_blob *blob)
{
	put_number(h, blob->len, 8);
	if (blob->len)
		sha256_update(h, blob->data, blob->len);
}

void null_digest(const struct cuzk_request *rq, uint8_t digest[32])
{
	struct sha256 h;
	uint64_t i;

	sha256_init(&h);
	sha256_update(&h, "cuzk-null-1", 11);
	put_number(&h, rq->kind, 8);
	put_number(&h, rq->partition_index, 8);
	put_number(&h, rq->registered_proof, 8);
	put_number(&h, rq->sector_size, 8);
	put_number(&h, rq->sector_number, 8);
	put_number(&h, rq->miner_id, 8);
	put_blob(&h, &rq->vanilla_proof);
	put_number(&h, rq->n_vanilla_proofs, 8);
	for (i = 0; i < rq->n_vanilla_proofs; i++)
		put_blob(&h, &rq->vanilla_proofs[i]);
	put_blob(&h, &rq->randomness);
	put_blob(&h, &rq->comm_r_old);
	put_blob(&h, &rq->comm_r_new);
	put_blob(&h, &rq->comm_d_new);
	sha256_final(&h, digest);
}

void null_proof(const uint8_t digest[32], uint32_t partition,
		uint8_t proof[CUZK_PARTITION_PROOF_SIZE])
{
	struct sha256 h;
	unsigned int i;

	for (i = 0; i < CUZK_PARTITION_PROOF_SIZE / SHA256_SIZE; i++) {
		sha256_init(&h);
		sha256_update(&h, digest, 32);
		put_number(&h, partition, 4);
		put_number(&h, i, 4);
		sha256_final(&h, proof + i * SHA256_SIZE);
	}
}
