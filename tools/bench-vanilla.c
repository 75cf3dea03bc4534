/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* bench-vanilla.c - cuzk-bench vanilla: a made-up request that can be proved, as JSON */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base64.h"
#include "tools/bench-engine.h"
#include "tools/bench.h"
#include "tools/file.h"

#define NAME "vanilla"

static void put_base64(FILE *f, const struct cuzk_blob *b)
{
	enum { PIECE = 3 * 1024 };	/* no padding inside */
	char text[BASE64_LENGTH(PIECE)];
	size_t i, n;

	putc('"', f);
	for (i = 0; i < b->len; i += n) {
		n = b->len - i < PIECE ? b->len - i : PIECE;
		base64_encode(text, (const uint8_t *)b->data + i, n);
		fwrite(text, 1, BASE64_LENGTH(n), f);
	}
	putc('"', f);
}

static void put_bytes(FILE *f, const char *name, const struct cuzk_blob *b)
{
	if (!b->len)
		return;
	fprintf(f, ",\n  \"%s\": ", name);
	put_base64(f, b);
}

static void put(FILE *f, const char *kind, uint64_t seed, const struct cuzk_request *req)
{
	static const char *const kinds[CUZK_KIND_COUNT] = {
		[CUZK_KIND_POREP] = "POREP_SEAL_COMMIT",
		[CUZK_KIND_UPDATE] = "SNAP_DEALS_UPDATE",
		[CUZK_KIND_WINDOW_POST] = "WINDOW_POST_PARTITION",
		[CUZK_KIND_WINNING_POST] = "WINNING_POST",
	};
	size_t i;

	fprintf(f, "{\n  \"requestId\": \"%s-%" PRIu64 "\",\n  \"proofKind\": \"%s\",\n"
		"  \"sectorSize\": \"%" PRIu64 "\",\n  \"registeredProof\": \"%u\",\n"
		"  \"sectorNumber\": \"%" PRIu64 "\",\n  \"minerId\": \"%" PRIu64 "\"", kind, seed,
		kinds[req->kind], req->sector_size, (unsigned int)req->registered_proof,
		req->sector_number, req->miner_id);
	put_bytes(f, "vanillaProof", &req->vanilla_proof);
	if (req->n_vanilla_proofs) {
		fprintf(f, ",\n  \"vanillaProofs\": [");
		for (i = 0; i < req->n_vanilla_proofs; i++) {
			fprintf(f, "%s\n    ", i ? "," : "");
			put_base64(f, &req->vanilla_proofs[i]);
		}
		fprintf(f, "\n  ]");
	}
	put_bytes(f, "randomness", &req->randomness);
	put_bytes(f, "commROld", &req->comm_r_old);
	put_bytes(f, "commRNew", &req->comm_r_new);
	put_bytes(f, "commDNew", &req->comm_d_new);
	fprintf(f, "\n}\n");
}

int bench_vanilla(struct bench *b, int argc, char **argv)
{
	const char *kind = NULL, *seed_text = NULL, *out = NULL;
	const struct ctl_option options[] = { { "--seed", &seed_text }, { "--out", &out }, { NULL } };
	struct cuzk_error err = { .size = sizeof(err) };
	struct vanilla_sample *sample;
	struct vanilla *vanilla;
	uint64_t seed = 1;
	char *text = NULL;
	size_t len = 0;
	FILE *f;
	int ret;

	(void)b;
	if (ctl_parse(NAME, argc, argv, options, NULL, &kind, 1) < 0 ||
	    bench_number(NAME, "--seed", seed_text, 0, UINT64_MAX, &seed))
		return CTL_USAGE;
	if (!kind || !out)
		return ctl_usage(NAME, "KIND and --out FILE are needed");
	ret = bench_sample(NAME, kind, seed, &sample);
	if (ret)
		return ret;
	/* what is written can be proved */
	if (vanilla_admit(&sample->req, NULL, &vanilla, NULL, &err)) {
		vanilla_sample_free(sample);
		return ctl_fail(NAME, "%s", err.text);
	}
	vanilla_free(vanilla);
	f = open_memstream(&text, &len);
	if (f)
		put(f, kind, seed, &sample->req);
	vanilla_sample_free(sample);
	if (!f || fclose(f))
		ret = ctl_fail(NAME, "no memory");
	else if ((ret = ctl_file_write(out, text, len)))
		ret = ctl_fail(NAME, "%s: %s", out, strerror(-ret));
	free(text);
	return ret;
}
