/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * u-witness-32g.c - the 32 GiB-shaped golden proofs: first and last partition
 * of PoRep and Update equal the reference's, value by value; PoRep's others
 * satisfy the system
 */
#include "engine/vanilla/vanilla.h"
#include "t/cs-data.h"

static void partition(const struct circuit *c, const struct cs *cs, const struct vanilla *v,
		      uint32_t k, struct tpool *pool)
{
	struct cs_witness_digest wd;
	struct cs_witness w;
	char err[256] = "", golden[128];
	double start;
	int ret;

	start = pool ? wall_seconds() : thread_seconds();
	ret = circuit_witness(c, cs, vanilla_circuit_input(v, k), pool, &w, err);
	diag("%s partition %u: %.2f s %s", c->name, k,
	     (pool ? wall_seconds() : thread_seconds()) - start,
	     pool ? "on the clock, 2 threads" : "of one core");
	if (!ok(ret == 0, "%s partition %u has a witness%s%s", c->name, k, *err ? ": " : "", err))
		return;
	start = wall_seconds();
	if (ok(cs_digest_witness(cs, &w, &wd) == 0, "its digests are made")) {
		snprintf(golden, sizeof(golden), "%s/witness-%s-%u.json", c->name, c->name, k);
		diag("digests: %.1f s on the clock", wall_seconds() - start);
		ok(witness_equal(golden, &wd), "it equals %s", golden);
		cs_witness_digest_fini(&wd);
	}
	cs_witness_fini(&w);
}

/* The partitions between those with golden digests satisfy every row. */
static void satisfied(const struct circuit *c, const struct cs *cs, const struct vanilla *v,
		      uint32_t k, struct tpool *pool)
{
	double start = wall_seconds();
	char err[256] = "", path[256];
	struct cs_witness w;
	uint64_t bad;

	if (!ok(circuit_witness(c, cs, vanilla_circuit_input(v, k), pool, &w, err) == 0,
		"%s partition %u has a witness%s%s", c->name, k, *err ? ": " : "", err))
		return;
	bad = cs_first_bad_row(cs, &w, pool);
	if (!ok(bad == UINT64_MAX, "it satisfies all %llu rows", (unsigned long long)cs->n_rows)) {
		cs_row_path(cs, bad, path, sizeof(path));
		diag("first bad row: %s", path);
	}
	diag("%.1f s on the clock", wall_seconds() - start);
	cs_witness_fini(&w);
}

static void check(const struct cuzk_request *req, uint32_t first, uint32_t last,
		  struct tpool *pool)
{
	struct cuzk_error err = { .size = sizeof(err) };
	struct vanilla *v;
	struct circuit c;
	struct cs *cs;
	double start;
	uint32_t k;

	if (!ok(vanilla_admit(req, pool, &v, NULL, &err) == 0, "admitted: %s", err.text))
		return;
	start = thread_seconds();
	if (ok(circuit_find(vanilla_circuit(v), &c) == 0 && circuit_build(&c, &cs) == 0,
	       "%s is built", vanilla_circuit(v))) {
		diag("%s: built in %.2f s, %.1f MiB", c.name, thread_seconds() - start,
		     cs_size(cs) / 1048576.);
		partition(&c, cs, v, first, NULL);
		partition(&c, cs, v, last, pool);
		for (k = first + 1; c.kind == CIRCUIT_POREP && k < last; k++)
			satisfied(&c, cs, v, k, pool);
		cs_free(cs);
	}
	vanilla_free(v);
}

static void porep(struct tpool *pool)
{
	struct cuzk_request req = {
		.size = sizeof(req), .kind = CUZK_KIND_POREP, .registered_proof = 8,
		.sector_size = 32ull << 30, .sector_number = 7, .miner_id = 488,
	};
	size_t len;
	char *text = read_porep_32g(&len);

	if (!text) {
		skip("xz", "cannot unpack porep-32g/c1.json.xz");
		return;
	}
	req.vanilla_proof = (struct cuzk_blob){ text, len };
	check(&req, 0, 9, pool);
	free(text);
}

static void update(struct tpool *pool)
{
	struct cuzk_blob blobs[16] = { { 0 } };
	uint8_t comm[3][32];
	struct cuzk_request req = {
		.size = sizeof(req), .kind = CUZK_KIND_UPDATE, .registered_proof = 3,
		.vanilla_proofs = blobs, .n_vanilla_proofs = 16,
		.comm_r_old = { comm[0], 32 }, .comm_r_new = { comm[1], 32 },
		.comm_d_new = { comm[2], 32 },
	};
	unsigned int i;

	if (!read_update_32g(blobs, comm)) {
		skip("xz", "cannot unpack update-32g/vanilla.tar.xz");
		return;
	}
	check(&req, 0, 15, pool);
	for (i = 0; i < 16; i++)
		free((void *)blobs[i].data);
}

int main(void)
{
	struct tpool *pool;

	if (!ok(tpool_open(&pool, 2) == 0, "a pool of two threads"))
		return tap_done();
	porep(pool);
	update(pool);
	tpool_close(pool);
	return tap_done();
}
