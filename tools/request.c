/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* request.c - a request out of its JSON file */
#include <stdlib.h>
#include <string.h>

#include "tools/ctl.h"
#include "tools/file.h"
#include "tools/request.h"

static ProtobufCBinaryData binary(const struct request_bytes *b)
{
	return (ProtobufCBinaryData){ .len = b->len, .data = (uint8_t *)b->data };
}

int request_load(const char *command, const char *path, struct request_file *l)
{
	Cuzk__V1__SubmitProofRequest *m = &l->message;
	char text[256];
	void *data;
	size_t len, i;
	int err;

	err = ctl_file_read(path, REQUEST_JSON_MAX, &data, &len);
	if (err)
		return ctl_fail(command, "%s: %s", path, strerror(-err));
	err = request_json_parse(data, len, &l->parsed, text, sizeof(text));
	free(data);
	if (err)
		return ctl_fail(command, "%s: %s", path, text);
	l->vanilla_proofs = calloc(l->parsed->n_vanilla_proofs + 1, sizeof(*l->vanilla_proofs));
	if (!l->vanilla_proofs) {
		free(l->parsed);
		return ctl_fail(command, "no memory");
	}
	for (i = 0; i < l->parsed->n_vanilla_proofs; i++)
		l->vanilla_proofs[i] = binary(&l->parsed->vanilla_proofs[i]);
	cuzk__v1__submit_proof_request__init(m);
	m->request_id = (char *)l->parsed->request_id;
	m->proof_kind = (Cuzk__V1__ProofKind)l->parsed->proof_kind;
	m->priority = (Cuzk__V1__Priority)l->parsed->priority;
	m->partition_index = l->parsed->partition_index;
	m->sector_size = l->parsed->sector_size;
	m->registered_proof = l->parsed->registered_proof;
	m->sector_number = l->parsed->sector_number;
	m->miner_id = l->parsed->miner_id;
	m->vanilla_proof = binary(&l->parsed->vanilla_proof);
	m->n_vanilla_proofs = l->parsed->n_vanilla_proofs;
	m->vanilla_proofs = l->vanilla_proofs;
	m->randomness = binary(&l->parsed->randomness);
	m->comm_r_old = binary(&l->parsed->comm_r_old);
	m->comm_r_new = binary(&l->parsed->comm_r_new);
	m->comm_d_new = binary(&l->parsed->comm_d_new);
	return 0;
}

void request_unload(struct request_file *l)
{
	free(l->vanilla_proofs);
	free(l->parsed);
}
