/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * u-vanilla-bad.c - wrong vanilla proofs are refused, with the place named
 *
 * Tests fault class "bad input found late".
 */
#include <errno.h>

#include "engine/vanilla/sample.h"
#include "engine/vanilla/vanilla.h"
#include "t/vanilla-data.h"

static char last[CUZK_ERROR_TEXT];
static struct tpool *pool;

/* Several threads say the same of a C1 as one does. */
static bool refused_alike(const struct cuzk_request *req)
{
	struct cuzk_error err = { .size = sizeof(err) };
	struct vanilla *v = NULL;

	if (vanilla_admit(req, pool, &v, NULL, &err) == 0) {
		vanilla_free(v);
		return false;
	}
	if (strcmp(err.text, last))
		diag("several threads: %s", err.text);
	return !strcmp(err.text, last);
}

/* Refused as input, with one line that has where in it? */
static bool refused(const struct cuzk_request *req, const char *where)
{
	struct cuzk_error err = { .size = sizeof(err) };
	struct vanilla *v = NULL;
	int ret = vanilla_admit(req, NULL, &v, NULL, &err);

	memcpy(last, err.text, sizeof(last));
	if (ret == 0)
		vanilla_free(v);
	return ret == -EINVAL && err.cls == CUZK_ERROR_INPUT && strstr(last, where) &&
	       !strchr(last, '\n') && strlen(last) > 10 &&
	       (req->kind != CUZK_KIND_POREP || refused_alike(req));
}

static void refuse(const struct cuzk_request *req, const char *where, const char *what)
{
	ok(refused(req, where), "%s: %s", what, last);
}

/*
 * Changes one bit every step bytes of the first blob; with step below 8,
 * every field is hit.  All of these formats' fields matter: each is in a path,
 * a root, a count or a challenge.
 */
static void test_flips(const char *name, size_t n_proofs, unsigned int step)
{
	size_t i, good = 0, all = 0;
	struct golden g;
	uint8_t *copy;

	golden_open(&g, name);
	g.req.n_vanilla_proofs = n_proofs;
	copy = malloc(g.blobs[0].len);
	memcpy(copy, g.blobs[0].data, g.blobs[0].len);
	g.blobs[0].data = copy;
	for (i = 0; i < g.blobs[0].len; i += step, all++) {
		copy[i] ^= 1u << i % 7;
		if (refused(&g.req, "vanilla_proofs[0]"))
			good++;
		else
			diag("byte %zu: %s", i, last);
		copy[i] ^= 1u << i % 7;
	}
	ok(good == all, "%s: %zu of %zu changed bits are refused", name, good, all);
	for (i = good = all = 0; i + 8 <= g.blobs[0].len; i += step, all++) {
		uint8_t saved[8];

		memcpy(saved, copy + i, 8);
		memcpy(copy + i, "\0\0\0\0\0\0\0\x10", 8);
		if (!memcmp(copy + i, saved, 8) || refused(&g.req, "vanilla_proofs[0]"))
			good++;
		else
			diag("byte %zu: %s", i, last);
		memcpy(copy + i, saved, 8);
	}
	ok(good == all, "%s: 2^60 anywhere is refused", name);
	free(copy);
	golden_close(&g);
}

static void test_truncation(const char *name, bool every)
{
	size_t i, len, good = 0, all = 0;
	struct golden g;
	void *cut;

	golden_open(&g, name);
	len = g.blobs[0].len;
	for (i = 0; i < len; i += every ? 1 : 13, all++) {
		/* memory that ends there, for the sanitizers */
		cut = malloc(i ? i : 1);
		memcpy(cut, g.json->vanilla_proofs[0].data, i);
		g.blobs[0] = (struct cuzk_blob){ cut, i };
		good += refused(&g.req, "vanilla_proofs[0]");
		free(cut);
	}
	ok(good == all, "%s: cut at any byte", name);
	cut = calloc(1, len + 1);
	memcpy(cut, g.json->vanilla_proofs[0].data, len);
	g.blobs[0] = (struct cuzk_blob){ cut, len + 1 };
	refuse(&g.req, "1 bytes too many", name);
	free(cut);
	golden_close(&g);
}

static void test_post_requests(void)
{
	static const uint8_t zeros[32];
	struct golden g, w;
	struct cuzk_request r;

	golden_open(&g, "requests/window-2k.json");
	golden_open(&w, "requests/winning-2k.json");
	r = g.req;
	r.kind = 0;
	refuse(&r, "proof_kind", "no kind");
	r.kind = 77;
	refuse(&r, "proof_kind", "unknown kind");
	r = g.req;
	r.kind = CUZK_KIND_WINNING_POST;
	refuse(&r, "registered_proof", "a window proof's number with the other kind");
	r = g.req;
	r.registered_proof = 15;
	refuse(&r, "registered_proof", "no such number");
	r.registered_proof = 1ull << 60;
	refuse(&r, "registered_proof", "no such number");
	r = g.req;
	r.registered_proof = 13;
	refuse(&r, "sector_size", "number and size disagree");
	r.sector_size = 0;
	refuse(&r, "vanilla_proofs[0].sectors[0].inclusion_proofs[0]", "another size's proof");
	r = g.req;
	r.registered_proof = 5;		/* V1: the second sector's challenges count on */
	refuse(&r, "vanilla_proofs[1].sectors[0].inclusion_proofs[0]", "another challenge rule");
	r = g.req;
	r.randomness.len = 31;
	refuse(&r, "randomness", "short randomness");
	r.randomness = (struct cuzk_blob){ NULL, 0 };
	refuse(&r, "randomness", "no randomness");
	r.randomness = (struct cuzk_blob){ zeros, 32 };
	refuse(&r, "vanilla_proofs[0].sectors[0].inclusion_proofs[0]", "other randomness");
	r = g.req;
	r.n_vanilla_proofs = 0;
	refuse(&r, "vanilla_proofs", "no proofs");
	r.n_vanilla_proofs = 3;
	refuse(&r, "vanilla_proofs", "too many proofs");
	r.n_vanilla_proofs = 1ull << 60;
	refuse(&r, "vanilla_proofs", "2^60 proofs");
	r = g.req;
	r.vanilla_proofs = NULL;
	refuse(&r, "vanilla_proofs", "proofs that are absent");
	r = g.req;
	g.blobs[1] = (struct cuzk_blob){ "{\"sector_id\": 1}", 16 };
	refuse(&r, "looks like text", "JSON instead of bincode");
	g.blobs[1] = (struct cuzk_blob){ NULL, 5 };
	refuse(&r, "vanilla_proofs[1].sector_id", "a blob without memory");
	r = g.req;
	r.kind = CUZK_KIND_WINNING_POST;
	r.registered_proof = 0;
	r.n_vanilla_proofs = 1;
	refuse(&r, "inclusion_proofs: 10 elements instead of 66", "a window proof as winning");
	r = w.req;
	r.kind = CUZK_KIND_WINDOW_POST;
	r.registered_proof = 10;
	refuse(&r, "inclusion_proofs: 66 elements instead of 10", "a winning proof as window");
	golden_close(&g);
	golden_close(&w);
}

/* The two top bits of the randomness are cleared before use, so they do not matter. */
static void test_randomness_bits(void)
{
	struct cuzk_error err = { .size = sizeof(err) };
	struct vanilla *v = NULL;
	uint8_t randomness[32];
	struct golden g;

	golden_open(&g, "requests/window-2k.json");
	memcpy(randomness, g.req.randomness.data, 32);
	randomness[31] |= 0xc0;
	g.req.randomness.data = randomness;
	ok(vanilla_admit(&g.req, NULL, &v, NULL, &err) == 0,
	   "the top bits of the randomness do not matter");
	vanilla_free(v);
	golden_close(&g);
}

static void test_update_requests(void)
{
	uint8_t comm[32];
	struct golden g;
	struct cuzk_request r;

	golden_open(&g, "requests/update-2k.json");
	r = g.req;
	r.registered_proof = 5;
	refuse(&r, "registered_proof", "no such update");
	r.registered_proof = 3;
	refuse(&r, "sector_size", "another size");
	r.sector_size = 0;
	refuse(&r, "vanilla_proofs", "one partition of sixteen");
	memset(comm, 0xff, sizeof(comm));
	r = g.req;
	r.comm_r_old.data = comm;
	refuse(&r, "comm_r_old: not below", "a commitment that is no field element");
	r.comm_r_old = (struct cuzk_blob){ NULL, 0 };
	refuse(&r, "comm_r_old", "no commitment");
	r = g.req;
	memcpy(comm, r.comm_r_old.data, 32);
	comm[0] ^= 1;
	r.comm_r_old.data = comm;
	refuse(&r, "comm_r_old", "another comm_r_old");
	r = g.req;
	memcpy(comm, r.comm_r_new.data, 32);
	comm[0] ^= 1;
	r.comm_r_new.data = comm;
	refuse(&r, "vanilla_proofs[0].challenge_proofs[0]", "another comm_r_new");
	r = g.req;
	memcpy(comm, r.comm_d_new.data, 32);
	comm[0] ^= 1;
	r.comm_d_new.data = comm;
	refuse(&r, "proof_d_new.root: differs from comm_d_new", "another comm_d_new");
	golden_close(&g);
}

/* ---- the C1 ---- */

static struct golden porep;
static char *c1;		/* the golden one, NUL-terminated */
static size_t c1_len;

static bool c1_refused(const char *text, size_t len, const char *where)
{
	struct cuzk_request r = porep.req;
	size_t n;
	char *env = envelope(1, text, len, 2048, &n);
	bool good;

	r.vanilla_proof = (struct cuzk_blob){ env, n };
	good = refused(&r, where);
	free(env);
	return good;
}

/* Replaces the first from behind a mark (NULL: from the start). */
static void c1_edit(const char *behind, const char *from, const char *to, const char *where,
		    const char *what)
{
	char *at = behind ? strstr(c1, behind) : c1, *text;
	size_t head, len;

	at = at ? strstr(at, from) : NULL;
	if (!ok(at != NULL, "%s: there is a %s", what, from))
		return;
	head = at - c1;
	len = c1_len - strlen(from) + strlen(to);
	text = malloc(len + 1);
	memcpy(text, c1, head);
	memcpy(text + head, to, strlen(to));
	strcpy(text + head + strlen(to), at + strlen(from));
	ok(c1_refused(text, len, where), "%s: %s", what, last);
	free(text);
}

/* Changes one digit of a number: every index, and one in every array of bytes. */
static void test_c1_numbers(void)
{
	char *text = strdup(c1), *p, *d;
	size_t good = 0, all = 0, turn = 0;

	for (p = text; *p; p++) {
		if (*p == '[' && p[1] >= '0' && p[1] <= '9') {
			/* another element of each array */
			size_t skip = turn++ % 32;

			for (d = p + 1; skip && *d != ']'; d++)
				skip -= *d == ',';
		} else if (*p == ':' && p[1] >= '0' && p[1] <= '9') {
			d = p + 1;
		} else {
			continue;
		}
		while (d[1] >= '0' && d[1] <= '9')
			d++;
		*d += *d < '5' ? 1 : -1;
		if (c1_refused(text, c1_len, "vanilla_proof"))
			good++;
		else
			diag("byte %zu: %s", d - text, last);
		*d = c1[d - text];
		all++;
	}
	ok(good == all && all > 900, "C1: %zu of %zu changed fields are refused", good, all);
	free(text);
}

/* Changes the first letter of every name and text. */
static void test_c1_names(void)
{
	char *text = strdup(c1), *p;
	size_t good = 0, all = 0;
	bool open = false;

	for (p = text; *p; p++) {
		if (*p != '"')
			continue;
		open = !open;
		/* "_h" may be absent, and so may be called otherwise */
		if (!open || !strncmp(p, "\"_h\"", 4))
			continue;
		p[1] ^= 1;
		good += c1_refused(text, c1_len, "vanilla_proof");
		p[1] ^= 1;
		all++;
	}
	ok(good == all && all > 500, "C1: %zu of %zu changed names are refused", good, all);
	free(text);
}

static void test_c1_truncation(void)
{
	size_t i, good = 0, all = 0;

	for (i = 0; i < c1_len - 1; i += i < 2000 || i > c1_len - 500 ? 1 : 499, all++)
		good += c1_refused(c1, i, "vanilla_proof");
	ok(good == all, "C1: cut at %zu places", all);
}

static void test_c1_edits(void)
{
	static char deep[20000];

	c1_edit(NULL, "\"StackedDrg2KiBV1_1\"", "\"StackedDrg2KiBV1\"", "registered_proof",
		"another version");
	c1_edit(NULL, "\"StackedDrg2KiBV1_1\"", "\"StackedDrg8MiBV1_1\"", "registered_proof",
		"another size");
	c1_edit(NULL, "\"StackedDrg2KiBV1_1\"", "\"StackedDrg2TiBV1_1\"", "registered_proof",
		"no such size");
	c1_edit(NULL, "\"StackedDrg2KiBV1_1\"", "5", "registered_proof", "a number for a name");
	c1_edit(NULL, "\"StackedDrg2KiBV1\":", "\"StackedDrg32GiBV1\":", "vanilla_proofs",
		"proofs of another size");
	c1_edit(NULL, "\"StackedDrg2KiBV1\":[[", "\"StackedDrg2KiBV1\":[[],[", "vanilla_proofs[0]",
		"an empty partition");
	c1_edit(NULL, "\"leaf\"", "\"root\"", "root: byte", "a repeated key");
	c1_edit(NULL, "\"comm_r\":", "\"comm_d\":[1],\"comm_r\":", "comm_d", "a short commitment");
	c1_edit("\"ticket\"", "]}", "],\"ticket\":[]}", "ticket", "a repeated member");
	c1_edit("\"ticket\"", "]}", "]}}", "", "too many brackets");
	c1_edit("\"ticket\"", "]}", "]} x", "", "text behind the end");
	c1_edit("\"hashes\"", "\"index\":0", "\"index\":18446744073709551616", "index",
		"an index above 2^64");
	c1_edit("\"hashes\"", "\"index\":0", "\"index\":-1", "index", "a negative index");
	c1_edit("\"hashes\"", "\"index\":0", "\"index\":0.0", "index", "a fraction");
	c1_edit("\"hashes\"", "\"index\":0", "\"index\":2", "index", "an index above the arity");
	c1_edit("\"hashes\"", "\"index\":0", "\"index\":null", "index", "no index");
	c1_edit("\"column\"", "\"index\":", "\"index\":4294967296", "index", "an index above 2^32");
	c1_edit("\"column\"", "\"_h\":null", "\"_h\":0", "_h", "a value for _h");
	c1_edit("\"hashes\":", "[[", "[[256,", "hashes[0]", "a byte of 256");
	c1_edit(NULL, "\"Single\"", "\"Sub\"", "comm_d_proofs.data",
		"another kind of Merkle proof");
	c1_edit("\"comm_r\":", "[", "[[", "comm_r", "an array for a number");
	memset(deep, '[', sizeof(deep) - 1);
	c1_edit(NULL, "{\"registered_proof\"", deep, "", "deep nesting");
	memcpy(deep, "{\"x\":", 5);
	c1_edit(NULL, "{\"registered_proof\"", deep, "", "deep nesting in an unknown member");
	memset(deep, '7', sizeof(deep) - 1);
	c1_edit("\"hashes\":", "[[", deep, "hashes", "a number without end");
}

static void test_c1_envelope(void)
{
	static const struct { const char *text, *where; } cases[] = {
		{ "", "vanilla_proof" }, { "{", "vanilla_proof" }, { "[]", "vanilla_proof" },
		{ "{}", "Phase1Out is missing" }, { "{\"Phase1Out\":5}", "vanilla_proof" },
		{ "{\"Phase1Out\":\"\"}", "vanilla_proof" },
		{ "{\"Phase1Out\":\"e30=\"}", "registered_proof: byte 2: missing" },
		{ "{\"Phase1Out\":\"e30\\u003d\"}", "registered_proof: byte 2: missing" },
		{ "{\"Phase1Out\":\"*\"}", "base64" },
		{ "{\"Phase1Out\":\"e30=\",\"Phase1Out\":\"e30=\"}", "twice" },
		{ "{\"SectorNum\":2,\"Phase1Out\":\"e30=\"}", "SectorNum" },
		{ "{\"SectorNum\":1,\"Phase1Out\":\"e30=\"} x", "vanilla_proof" },
	};
	struct cuzk_request r = porep.req;
	size_t i, n, good = 0;
	char *env;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		r.vanilla_proof = (struct cuzk_blob){ cases[i].text, strlen(cases[i].text) };
		if (refused(&r, cases[i].where))
			good++;
		else
			diag("%s: %s", cases[i].text, last);
	}
	ok(good == i, "envelopes that are wrong");
	env = envelope(1, c1, c1_len, 4096, &n);
	r.vanilla_proof = (struct cuzk_blob){ env, n };
	refuse(&r, "SectorSize", "an envelope for another size");
	free(env);
	r = porep.req;
	r.miner_id = 489;
	refuse(&r, "replica_id", "another miner");
	r = porep.req;
	r.registered_proof = 10;
	refuse(&r, "registered_proof", "another registered proof");
	r.registered_proof = 20;
	refuse(&r, "registered_proof", "no registered proof");
	r = porep.req;
	r.sector_number = 2;
	refuse(&r, "SectorNum", "another sector");
	r = porep.req;
	r.sector_size = 4096;
	refuse(&r, "sector_size", "another size");
}

/* Members in reverse order, white space, unknown members: all the same proof. */
static void test_c1_freedom(void)
{
	struct cuzk_error err = { .size = sizeof(err) };
	struct cuzk_request r = porep.req;
	const char *proofs = strstr(c1, "\"vanilla_proofs\""), *rest = strstr(c1, ",\"comm_r\":");
	char *text = malloc(2 * c1_len + 200), *env;
	struct vanilla *v = NULL;
	size_t n;

	n = sprintf(text, " {\t%.*s ,\n%.*s, \"more\": [{\"a\":[1.5e3,\"\\u00e9\"]}], %.*s}\r\n",
		    (int)(strlen(rest + 1) - 1), rest + 1, (int)(rest - proofs), proofs,
		    (int)(proofs - c1 - 2), c1 + 1);
	env = envelope(1, text, n, 0, &n);
	r.vanilla_proof = (struct cuzk_blob){ env, n };
	r.registered_proof = r.sector_number = r.sector_size = 0;
	ok(vanilla_admit(&r, NULL, &v, NULL, &err) == 0, "C1 in another order is admitted");
	if (!v)
		diag("%s", err.text);
	vanilla_free(v);
	free(env);
	free(text);
}

/* ---- a sector that is consistent but for a label ---- */

static long forge_at = -1;	/* the label of that number that the sample is made with is wrong */

void __real_porep_label(const uint8_t replica_id[32], unsigned int layer, uint32_t node,
			const uint8_t *const parents[], uint8_t out[32]);
void __wrap_porep_label(const uint8_t replica_id[32], unsigned int layer, uint32_t node,
			const uint8_t *const parents[], uint8_t out[32]);

void __wrap_porep_label(const uint8_t replica_id[32], unsigned int layer, uint32_t node,
			const uint8_t *const parents[], uint8_t out[32])
{
	__real_porep_label(replica_id, layer, node, parents, out);
	if (forge_at >= 0 && !forge_at--)
		out[5] ^= 1;
}

/* Columns, trees and roots agree with it: only the label's own hash does not. */
static void test_forged_label(void)
{
	struct cuzk_error err = { .size = sizeof(err) };
	struct vanilla_sample *s;
	struct vanilla *v;
	long at;
	int ret;

	/* two challenges of two layers each */
	for (at = -1; at < 4; at++) {
		forge_at = at;
		s = NULL;
		v = NULL;
		ret = vanilla_sample_make(CUZK_KIND_POREP, 5, 0, 7, &s);
		forge_at = -1;
		if (!ok(ret == 0 && s, "a sample"))
			return;
		ret = vanilla_admit(&s->req, NULL, &v, NULL, &err);
		if (at < 0)
			ok(ret == 0, "without a wrong label it is admitted");
		else
			ok(ret && strstr(err.text, "not the label that the parents' labels give"),
			   "label %ld is wrong: %s", at, ret ? err.text : "admitted");
		vanilla_free(v);
		vanilla_sample_free(s);
	}
}

int main(void)
{
	ok(tpool_open(&pool, 3) == 0, "a pool of three threads");
	test_forged_label();
	test_post_requests();
	test_randomness_bits();
	test_flips("requests/window-2k.json", 1, 7);
	test_flips("requests/winning-2k.json", 1, 31);
	test_truncation("requests/window-2k.json", true);
	test_truncation("requests/winning-2k.json", false);
	test_update_requests();
	test_flips("requests/update-2k.json", 1, 7);
	test_truncation("requests/update-2k.json", false);

	golden_open(&porep, "requests/porep-2k.json");
	c1 = read_data("porep-2k/c1.json", &c1_len);
	if (ok(c1 != NULL, "a golden C1")) {
		while (c1[c1_len - 1] == '\n')
			c1[--c1_len] = '\0';
		test_c1_freedom();
		test_c1_envelope();
		test_c1_edits();
		test_c1_truncation();
		test_c1_numbers();
		test_c1_names();
	}
	free(c1);
	golden_close(&porep);
	tpool_close(pool);
	return tap_done();
}
