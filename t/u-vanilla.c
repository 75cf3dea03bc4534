/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* u-vanilla.c - golden vanilla proofs are admitted, and their public inputs are equal */
#include <errno.h>
#include <sys/resource.h>

#include "engine/vanilla/vanilla.h"
#include "t/vanilla-data.h"

static double cpu_seconds(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return u.ru_utime.tv_sec + u.ru_utime.tv_usec * 1e-6;
}

/* The inputs of all partitions equal the file, which has nothing else. */
static bool inputs_equal(const struct vanilla *v, const char *name)
{
	size_t len, at = 0, n, i;
	uint8_t *want = (uint8_t *)read_data(name, &len), bytes[32];
	struct fr *inputs;
	uint32_t k;
	bool equal = want != NULL;

	for (k = 0; equal && k < vanilla_partitions(v); k++) {
		if (vanilla_public_inputs(v, k, &inputs, &n) < 0 || at + 32 * n > len) {
			equal = false;
			break;
		}
		for (i = 0; i < n && equal; i++, at += 32) {
			fr_to_bytes_le(bytes, &inputs[i]);
			equal = !memcmp(bytes, want + at, 32);
			if (!equal)
				diag("partition %u input %zu differs", k, i);
		}
		free(inputs);
	}
	free(want);
	return equal && at == len;
}

static void admit(const struct cuzk_request *req, struct tpool *pool, const char *circuit,
		  uint32_t partitions, const char *inputs)
{
	struct cuzk_error err = { .size = sizeof(err) };
	struct cuzk_plan plan = { .size = sizeof(plan) };
	struct vanilla *v;
	double start = cpu_seconds();
	int ret = vanilla_admit(req, pool, &v, &plan, &err);

	if (!ok(ret == 0, "%s is admitted", circuit)) {
		diag("%s", err.text);
		return;
	}
	diag("%.3f s of CPU, %.1f MiB held", cpu_seconds() - start, plan.host_bytes / 1048576.);
	ok(!strcmp(plan.circuit, circuit) && !strcmp(vanilla_circuit(v), circuit) &&
	   plan.n_partitions == partitions && vanilla_partitions(v) == partitions,
	   "its circuit is %s of %u", plan.circuit, plan.n_partitions);
	ok(inputs_equal(v, inputs), "%s: the public inputs are the reference's", circuit);
	vanilla_free(v);
}

static void golden(const char *request, const char *circuit, const char *inputs)
{
	struct golden g;

	golden_open(&g, request);
	admit(&g.req, NULL, circuit, 1, inputs);
	golden_close(&g);
}

/* A WindowPoSt with fewer sectors is filled up with its last one. */
static void test_padding(void)
{
	struct cuzk_error err = { .size = sizeof(err) };
	struct post_input post;
	struct vanilla *v;
	struct golden g;
	struct fr *inputs = NULL;
	size_t n = 0;

	golden_open(&g, "requests/window-2k.json");
	g.req.n_vanilla_proofs = 1;
	if (ok(vanilla_admit(&g.req, NULL, &v, NULL, &err) == 0, "one sector of two is admitted")) {
		post = *vanilla_circuit_input(v, 0).post;
		vanilla_public_inputs(v, 0, &inputs, &n);
		ok(post.n_sectors == 2 &&
		   fr_equal(&post.sectors[0].comm_r, &post.sectors[1].comm_r) &&
		   post.sectors[0].challenges == post.sectors[1].challenges &&
		   n == 22 && !memcmp(inputs, inputs + 11, 11 * sizeof(*inputs)),
		   "input and public inputs repeat it");
		free(inputs);
		vanilla_free(v);
	}
	golden_close(&g);
}

static void test_porep_32g(struct tpool *pool)
{
	size_t len, n;
	char *c1 = read_command("xz -dc '%s' 2>/dev/null", "porep-32g/c1.json.xz", &len), *text;
	struct cuzk_request req = {
		.size = sizeof(req), .kind = CUZK_KIND_POREP, .registered_proof = 8,
		.sector_size = 32ull << 30, .sector_number = 7, .miner_id = 488,
	};

	if (!c1) {
		skip("xz", "cannot unpack porep-32g/c1.json.xz");
		return;
	}
	text = envelope(7, c1, len, 32ull << 30, &n);
	free(c1);
	req.vanilla_proof = (struct cuzk_blob){ text, n };
	admit(&req, pool, "porep-32g", 10, "porep-32g/porep-32g.inputs");
	free(text);
}

static bool hex32(const char *json, const char *name, uint8_t out[32])
{
	char key[40];
	const char *p;
	unsigned int v;
	int i;

	snprintf(key, sizeof(key), "\"%s\": \"", name);
	p = strstr(json, key);
	for (i = 0; p && i < 32; i++) {
		if (sscanf(p + strlen(key) + 2 * i, "%2x", &v) != 1)
			return false;
		out[i] = v;
	}
	return p != NULL;
}

static void test_update_32g(struct tpool *pool)
{
	struct cuzk_blob blobs[16] = { { 0 } };
	uint8_t comm_r_old[32], comm_r_new[32], comm_d_new[32];
	struct cuzk_request req = {
		.size = sizeof(req), .kind = CUZK_KIND_UPDATE, .registered_proof = 3,
		.vanilla_proofs = blobs, .n_vanilla_proofs = 16,
		.comm_r_old = { comm_r_old, 32 }, .comm_r_new = { comm_r_new, 32 },
		.comm_d_new = { comm_d_new, 32 },
	};
	size_t len;
	char *json = read_data("update-32g/update-32g.json", &len), cmd[128];
	int i;

	ok(json && hex32(json, "comm_r_old", comm_r_old) && hex32(json, "comm_r_new", comm_r_new) &&
	   hex32(json, "comm_d_new", comm_d_new), "update-32g has its commitments");
	free(json);
	for (i = 0; i < 16; i++) {
		snprintf(cmd, sizeof(cmd),
			 "xz -dc '%%s' 2>/dev/null | "
			 "tar -xO 'update-32g-%d.vanilla' 2>/dev/null", i);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		blobs[i].data = read_command(cmd, "update-32g/vanilla.tar.xz", &blobs[i].len);
#pragma GCC diagnostic pop
	}
	if (blobs[0].data)
		admit(&req, pool, "update-32g", 16, "update-32g/update-32g.inputs");
	else
		skip("xz", "cannot unpack update-32g/vanilla.tar.xz");
	for (i = 0; i < 16; i++)
		free((void *)blobs[i].data);
}

int main(void)
{
	struct tpool *pool = NULL;

	golden("requests/winning-2k.json", "winning-2k", "winning-2k/winning-2k.inputs");
	golden("requests/winning-32g.json", "winning-32g", "winning-32g/winning-32g.inputs");
	golden("requests/window-2k.json", "window-2k", "window-2k/window-2k.inputs");
	golden("requests/porep-2k.json", "porep-2k", "porep-2k/porep-2k.inputs");
	golden("requests/update-2k.json", "update-2k", "update-2k/update-2k.inputs");
	test_padding();
	ok(tpool_open(&pool, 2) == 0, "a pool of two threads");
	test_porep_32g(pool);
	test_update_32g(pool);
	tpool_close(pool);
	return tap_done();
}
