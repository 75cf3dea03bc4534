/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* u-request-json.c - requests in protobuf's JSON mapping */
#include <errno.h>

#include "lib/request_json.h"
#include "t/tap.h"

static struct request_json *req;
static char err[256];

static int parse(const char *text)
{
	req = NULL;
	err[0] = '\0';
	return request_json_parse(text, strlen(text), &req, err, sizeof(err));
}

static bool equal(struct request_bytes b, const char *text)
{
	return b.len == strlen(text) && !memcmp(b.data, text, b.len);
}

static void test_forms(void)
{
	int ret = parse("{\"requestId\":\"a\\u00e9\\/\",\"proof_kind\":\"WINDOW_POST_PARTITION\","
			"\"sectorSize\":\"34359738368\",\"registered_proof\":13,\"priority\":4,"
			"\"minerId\":18446744073709551615,\"sectorNumber\":null,"
			"\"vanillaProofs\":[\"Zm9v\",\"\",\"YmE\"],\"vanilla_proof\":\"-_8\\/\","
			"\"partitionIndex\":\"4294967295\",\"randomness\":\"AAE=\","
			"\"commROld\":\"QQ==\","
			"\"comm_r_new\":\"Qg\",\"commDNew\":\"Qw==\"}");

	if (!ok(ret == 0, "both kinds of names, numbers as text, nulls")) {
		diag("%s", err);
		return;
	}
	ok(!strcmp(req->request_id, "a\xc3\xa9/") && req->proof_kind == 3 && req->priority == 4 &&
	   req->sector_size == 34359738368 && req->registered_proof == 13 &&
	   req->miner_id == UINT64_MAX && req->sector_number == 0 &&
	   req->partition_index == UINT32_MAX, "names, enums and numbers");
	ok(req->n_vanilla_proofs == 3 && equal(req->vanilla_proofs[0], "foo") &&
	   equal(req->vanilla_proofs[1], "") && equal(req->vanilla_proofs[2], "ba"),
	   "a list of bytes");
	ok(equal(req->vanilla_proof, "\xfb\xff\x3f") && req->randomness.len == 2 &&
	   equal(req->comm_r_old, "A") && equal(req->comm_r_new, "B") &&
	   equal(req->comm_d_new, "C"), "bytes, either alphabet, with and without padding");
	free(req);
	ret = parse(" {} ");
	ok(ret == 0 && !strcmp(req->request_id, "") && !req->n_vanilla_proofs &&
	   !req->vanilla_proof.len, "nothing set");
	free(req);
	ret = parse("{\"proofKind\":4,\"priority\":\"NORMAL\",\"vanillaProofs\":null}");
	ok(ret == 0 && req->proof_kind == 4 && req->priority == 2,
	   "an enum by number, one by name");
	free(req);
}

static void test_refused(void)
{
	static const struct { const char *text, *says; } cases[] = {
		{ "", "expected an object" }, { "[]", "expected an object" }, { "{", "ends" },
		{ "{} {}", "more text" }, { "{\"minerID\":1}", "unknown field minerID" },
		{ "{\"minerId\":1,\"minerId\":1}", "minerId: given twice" },
		{ "{\"minerId\":1,\"miner_id\":1}", "minerId: given twice" },
		{ "{\"minerId\":-1}", "whole number" }, { "{\"minerId\":1.5}", "whole number" },
		{ "{\"minerId\":\"\"}", "minerId: not a whole number" },
		{ "{\"minerId\":\"0x5\"}", "minerId: not a whole number" },
		{ "{\"minerId\":\" 5\"}", "minerId: not a whole number" },
		{ "{\"minerId\":\"5 \"}", "minerId: not a whole number" },
		{ "{\"minerId\":18446744073709551616}", "out of range" },
		{ "{\"minerId\":\"18446744073709551616\"}", "in range" },
		{ "{\"partitionIndex\":4294967296}", "partitionIndex: number out of range" },
		{ "{\"minerId\":true}", "expected a number" },
		{ "{\"proofKind\":5}", "proofKind: number out of range" },
		{ "{\"proofKind\":\"POREP\"}", "proofKind: unknown name" },
		{ "{\"randomness\":\"A\"}", "randomness: not base64 at character 1 of 1" },
		{ "{\"randomness\":\"A*AA\"}", "randomness: not base64 at character 1 of 4" },
		{ "{\"randomness\":[1]}", "expected a string" },
		{ "{\"vanillaProofs\":\"Zm9v\"}", "expected an array" },
		{ "{\"vanillaProofs\":[1]}", "expected a string" },
		{ "{\"vanillaProofs\":[\"Zm9v\"],\"vanilla_proofs\":[]}", "given twice" },
		{ "{\"requestId\":\"a\\u0000b\"}", "requestId" },
		{ "{\"requestId\":\"\xff\"}", "UTF-8" },
	};
	size_t i, good = 0, n;
	char *many, *p;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		int ret = parse(cases[i].text);

		if (ret == -EINVAL && strstr(err, cases[i].says) && *err && !strchr(err, '\n'))
			good++;
		else
			diag("%s: %d %s", cases[i].text, ret, err);
		free(req);
	}
	ok(good == i, "%zu wrong requests are refused", i);

	n = REQUEST_JSON_MAX_PROOFS + 1;
	many = malloc(3 * n + 64);
	p = many + sprintf(many, "{\"vanillaProofs\":[");
	for (i = 0; i < n; i++)
		p += sprintf(p, "\"\",");
	sprintf(p - 1, "]}");
	ok(parse(many) == -EINVAL && strstr(err, "too many"), "too many proofs: %s", err);
	memcpy(p - 4, "]}", 3);
	ok(parse(many) == 0 && req->n_vanilla_proofs == n - 1, "the most that are taken");
	free(req);
	free(many);
}

int main(void)
{
	test_forms();
	test_refused();
	return tap_done();
}
