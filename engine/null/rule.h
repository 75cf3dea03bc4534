/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * rule.h - what the null engine proves
 *
 * digest  SHA-256 of "cuzk-null-1", kind, partition_index, registered_proof,
 *         sector_size, sector_number, miner_id (8 bytes each, little endian), and
 *         of each blob its length (8 bytes) and bytes: vanilla_proof, the count
 *         of vanilla_proofs and each of them, randomness, comm_r_old, comm_r_new,
 *         comm_d_new
 * proof   of partition p: for i in 0..5 SHA-256(digest | p | i), p and i 4 bytes
 *         little endian
 */
#ifndef CUZK_ENGINE_NULL_RULE_H
#define CUZK_ENGINE_NULL_RULE_H

#include <stdbool.h>
#include <stdint.h>

#include "plugin/api/cuzk_engine.h"

void null_digest(const struct cuzk_request *request, uint8_t digest[32]);
void null_proof(const uint8_t digest[32], uint32_t partition,
		uint8_t proof[CUZK_PARTITION_PROOF_SIZE]);

#endif
