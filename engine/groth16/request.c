/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* request.c - a request from a file, for the engine's commands */
#include <errno.h>
#include <stdlib.h>

#include "engine/groth16/file.h"
#include "engine/groth16/request.h"
#include "lib/request_json.h"

struct request_file {
	struct cuzk_request req;
	struct request_json *json;
	struct cuzk_blob proofs[];
};

static struct cuzk_blob blob(const struct request_bytes *bytes)
{
	return (struct cuzk_blob){ .data = bytes->data, .len = bytes->len };
}

int request_read(const char *path, struct cuzk_request **out, struct cuzk_error *err)
{
	struct request_json *json;
	struct request_file *r;
	struct file_map map;
	char text[512];
	size_t i;
	int ret;

	ret = file_map(&map, path, CUZK_ERROR_INPUT, err);
	if (ret)
		return ret;
	ret = request_json_parse((const char *)map.data, map.size, &json, text, sizeof(text));
	file_unmap(&map);
	if (ret)
		return error_set(err, ret == -ENOMEM ? CUZK_ERROR_RESOURCE : CUZK_ERROR_INPUT, ret,
				 "%s: %s", path, text);
	r = calloc(1, sizeof(*r) + json->n_vanilla_proofs * sizeof(r->proofs[0]));
	if (!r) {
		free(json);
		return error_nomem(err, "the request");
	}
	r->json = json;
	for (i = 0; i < json->n_vanilla_proofs; i++)
		r->proofs[i] = blob(&json->vanilla_proofs[i]);
	r->req = (struct cuzk_request){
		.size = sizeof(r->req),
		.kind = json->proof_kind,
		.partition_index = json->partition_index,
		.registered_proof = json->registered_proof,
		.sector_size = json->sector_size,
		.sector_number = json->sector_number,
		.miner_id = json->miner_id,
		.vanilla_proof = blob(&json->vanilla_proof),
		.vanilla_proofs = r->proofs,
		.n_vanilla_proofs = json->n_vanilla_proofs,
		.randomness = blob(&json->randomness),
		.comm_r_old = blob(&json->comm_r_old),
		.comm_r_new = blob(&json->comm_r_new),
		.comm_d_new = blob(&json->comm_d_new),
	};
	*out = &r->req;
	return 0;
}

void request_free(struct cuzk_request *req)
{
	struct request_file *r = (struct request_file *)req;

	if (!r)
		return;
	free(r->json);
	free(r);
}
