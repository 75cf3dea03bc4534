/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * submit-check.h - a request as plugin/submit.c reads it, beside protobuf-c's reading
 *
 * submit_differs() gives the message in pieces of the sizes that cut() says.
 */
#ifndef CUZK_T_SUBMIT_CHECK_H
#define CUZK_T_SUBMIT_CHECK_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/proto/cuzk.pb-c.h"
#include "plugin/request.h"
#include "plugin/submit.h"

#define SUBMIT_PIECES 64

static bool same_bytes(const struct cuzk_blob *a, const ProtobufCBinaryData *b)
{
	return a->len == b->len && (!b->len || !memcmp(a->data, b->data, b->len));
}

/* A field number that the encoding does not allow, 0 or above 2^29 - 1, but protobuf-c takes. */
static bool has_wild_tag(const uint8_t *data, size_t size)
{
	size_t pos = 0;

	while (pos < size) {
		uint64_t v[2] = { 0, 0 };
		int k, shift;

		for (k = 0; k < 2; k++) {
			for (shift = 0; pos < size && shift < 64; shift += 7) {
				v[k] |= (uint64_t)(data[pos] & 0x7f) << shift;
				if (!(data[pos++] & 0x80))
					break;
			}
			if (k == 0 && (v[0] >> 3 > 0x1fffffff || v[0] >> 3 == 0))
				return true;
			if (k == 0 && (v[0] & 7) != 0 && (v[0] & 7) != 2)
				break;
		}
		if ((v[0] & 7) == 1)
			pos += 8;
		else if ((v[0] & 7) == 5)
			pos += 4;
		else if ((v[0] & 7) == 2 && v[1] < size)
			pos += v[1];
		else if ((v[0] & 7) != 0)
			return false;
	}
	return false;
}

/* What differs between the two; NULL: nothing. */
static const char *submit_compare(const struct submission *sub,
				  const Cuzk__V1__SubmitProofRequest *m)
{
	uint8_t digest[SUBMIT_DIGEST_SIZE];
	const char *what = NULL;
	struct request_map map;
	size_t i;

	if (request_map(&map, sub->fd))
		return "the request file cannot be mapped";
	if (sub->kind != (uint32_t)m->proof_kind || sub->sector_size != m->sector_size ||
	    sub->registered_proof != m->registered_proof || sub->miner_id != m->miner_id ||
	    sub->sector_number != m->sector_number || sub->partition_index != m->partition_index)
		what = "a number of the submission";
	else if (m->priority ? sub->priority != (uint32_t)m->priority :
		 sub->priority != submission_default_priority(sub->kind))
		what = "the priority";
	else if (map.request.kind != sub->kind || map.request.miner_id != m->miner_id ||
		 map.request.sector_size != m->sector_size ||
		 map.request.registered_proof != m->registered_proof ||
		 map.request.sector_number != m->sector_number ||
		 map.request.partition_index != m->partition_index)
		what = "a number of the request file";
	else if (!same_bytes(&map.request.vanilla_proof, &m->vanilla_proof) ||
		 !same_bytes(&map.request.randomness, &m->randomness) ||
		 !same_bytes(&map.request.comm_r_old, &m->comm_r_old) ||
		 !same_bytes(&map.request.comm_r_new, &m->comm_r_new) ||
		 !same_bytes(&map.request.comm_d_new, &m->comm_d_new))
		what = "a field of bytes";
	else if (map.request.n_vanilla_proofs != m->n_vanilla_proofs)
		what = "the count of vanilla proofs";
	for (i = 0; !what && i < m->n_vanilla_proofs; i++)
		if (!same_bytes(&map.request.vanilla_proofs[i], &m->vanilla_proofs[i]))
			what = "a vanilla proof";
	if (!what && (submission_digest(&map.request, digest) ||
		      memcmp(digest, sub->digest, sizeof(digest))))
		what = "the digest of the file";
	request_unmap(&map);
	return what;
}

/* Reads data in pieces; what protobuf-c takes, we take with the same meaning. */
static const char *submit_differs(const uint8_t *data, size_t size, size_t (*cut)(void *ctx),
				  void *ctx, bool *taken)
{
	Cuzk__V1__SubmitProofRequest *m;
	char text[SUBMIT_ERROR_TEXT] = "";
	struct iovec iov[SUBMIT_PIECES];
	struct submission *sub;
	const char *what = NULL;
	size_t pos = 0;
	int n = 0, err;

	while (pos < size) {
		size_t len = n == SUBMIT_PIECES - 1 ? size - pos : cut(ctx);

		if (len > size - pos)
			len = size - pos;
		iov[n].iov_base = (void *)(data + pos);
		iov[n].iov_len = len;
		pos += len;
		n++;
	}
	err = submission_read(&sub, iov, n, 0, text);
	*taken = !err;
	m = cuzk__v1__submit_proof_request__unpack(NULL, size, data);
	if (err && !text[0])
		what = "an error without a text";
	else if (m && err && strncmp(text, "proof_kind", 10) && strncmp(text, "priority", 8) &&
		 !has_wild_tag(data, size))
		what = "refused, though it is a valid message";
	else if (m && !err)
		what = submit_compare(sub, m);
	if (!err)
		submission_free(sub);
	if (m)
		cuzk__v1__submit_proof_request__free_unpacked(m, NULL);
	return what;
}

#endif
