/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * make-sample.c - prints a made-up request in protobuf's JSON mapping
 *
 *	make-sample KIND REGISTERED SECTORS SEED
 *
 * KIND is a number of enum cuzk_proof_kind; SECTORS counts for WindowPoSt only
 * (0: a full partition).
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/vanilla/sample.h"
#include "lib/base64.h"

static void put(const char *name, const struct cuzk_blob *blob)
{
	char *text;

	if (!blob->len)
		return;
	text = malloc(BASE64_LENGTH(blob->len));
	if (!text)
		exit(1);
	base64_encode(text, blob->data, blob->len);
	printf("%s\"%.*s\"", name, (int)BASE64_LENGTH(blob->len), text);
	free(text);
}

int main(int argc, char **argv)
{
	const struct cuzk_request *r;
	struct vanilla_sample *s;
	uint64_t i;

	if (argc != 5)
		return 2;
	if (vanilla_sample_make(atoi(argv[1]), atoi(argv[2]), atoi(argv[3]), atoi(argv[4]), &s)) {
		fprintf(stderr, "make-sample: cannot make it\n");
		return 1;
	}
	r = &s->req;
	printf("{\"requestId\":\"sample-%s-%s-%s-%s\",\"proofKind\":%u,\"sectorSize\":\"%" PRIu64
	       "\",\"registeredProof\":\"%" PRIu64 "\",\"sectorNumber\":\"%" PRIu64
	       "\",\"minerId\":\"%" PRIu64 "\"", argv[1], argv[2], argv[3], argv[4], r->kind,
	       r->sector_size, r->registered_proof, r->sector_number, r->miner_id);
	put(",\"vanillaProof\":", &r->vanilla_proof);
	put(",\"randomness\":", &r->randomness);
	put(",\"commROld\":", &r->comm_r_old);
	put(",\"commRNew\":", &r->comm_r_new);
	put(",\"commDNew\":", &r->comm_d_new);
	if (r->n_vanilla_proofs) {
		printf(",\"vanillaProofs\":[");
		for (i = 0; i < r->n_vanilla_proofs; i++)
			put(i ? "," : "", &r->vanilla_proofs[i]);
		putchar(']');
	}
	printf("}\n");
	vanilla_sample_free(s);
	return ferror(stdout) || fflush(stdout) ? 1 : 0;
}
