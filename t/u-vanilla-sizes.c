/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* u-vanilla-sizes.c - every kind, version and sector size, with made-up sectors */
#include <errno.h>

#include "engine/vanilla/sample.h"
#include "engine/vanilla/vanilla.h"
#include "t/vanilla-data.h"

static struct tpool *pool;
static char last[CUZK_ERROR_TEXT];

static bool admitted(const struct cuzk_request *req, const char *circuit, uint32_t partitions,
		     size_t n_inputs)
{
	struct cuzk_error err = { .size = sizeof(err) };
	struct vanilla *v;
	struct fr *inputs;
	size_t n = 0;
	bool good;

	if (vanilla_admit(req, pool, &v, NULL, &err) < 0) {
		memcpy(last, err.text, sizeof(last));
		return false;
	}
	snprintf(last, sizeof(last), "%s of %u", vanilla_circuit(v), vanilla_partitions(v));
	if (vanilla_public_inputs(v, vanilla_partitions(v) - 1, &inputs, &n) == 0)
		free(inputs);
	good = !strcmp(vanilla_circuit(v), circuit) && vanilla_partitions(v) == partitions &&
	       n == n_inputs;
	vanilla_free(v);
	return good;
}

static void test_sample(enum cuzk_proof_kind kind, unsigned int registered, unsigned int sectors,
			const char *circuit, uint32_t partitions, size_t n_inputs)
{
	struct vanilla_sample *s;

	if (!ok(vanilla_sample_make(kind, registered, sectors, 42, &s) == 0, "made %s, proof %u",
		circuit, registered))
		return;
	ok(admitted(&s->req, circuit, partitions, n_inputs), "%s", last);
	vanilla_sample_free(s);
}

static bool c1_admitted(const struct vanilla_sample *s, const char *c1, uint32_t partitions)
{
	struct cuzk_request req = s->req;
	size_t n;
	char *text = envelope(1000, c1, strlen(c1), 2048, &n);
	bool good;

	req.vanilla_proof = (struct cuzk_blob){ text, n };
	good = admitted(&req, "porep-2k", partitions, 39);
	free(text);
	return good;
}

/* Changes a byte of the C1's seed. */
static bool other_seed(const struct vanilla_sample *s, uint32_t partitions)
{
	char *c1 = c1_of(&s->req), *d = strstr(c1, "\"seed\":[") + 8;
	bool good;

	while (d[1] >= '0' && d[1] <= '9')
		d++;
	*d += *d < '5' ? 1 : -1;
	good = c1_admitted(s, c1, partitions);
	free(c1);
	return good;
}

/* Exchanges the first two partitions of the non-interactive proof. */
static void test_swapped(const struct vanilla_sample *s)
{
	char *c1 = c1_of(&s->req), *a = strstr(c1, "V1\":[[") + 5, *b = strstr(a, "}],[") + 3,
	     *end = strstr(b, "}],[") + 2, *text = malloc(strlen(c1) + 1), *p = text;

	p += sprintf(p, "%.*s%.*s,%.*s%s", (int)(a - c1), c1, (int)(end - b), b,
		     (int)(b - 1 - a), a, end);
	ok(strlen(text) == strlen(c1) && !c1_admitted(s, text, 13) &&
	   strstr(last, "vanilla_proofs[0][0]"), "swapped partitions: %s", last);
	free(text);
	free(c1);
}

static void test_versions(void)
{
	struct vanilla_sample *s;
	char *c1, *p;

	vanilla_sample_make(CUZK_KIND_POREP, 15, 0, 1, &s);
	ok(other_seed(s, 13), "non-interactive challenges do not come from the seed");
	test_swapped(s);
	vanilla_sample_free(s);

	vanilla_sample_make(CUZK_KIND_POREP, 10, 0, 1, &s);
	ok(!other_seed(s, 1), "synthetic challenges do: %s", last);
	c1 = c1_of(&s->req);
	p = strstr(c1, "_Feat_SyntheticPoRep\"");
	memmove(p, p + 20, strlen(p + 20) + 1);
	s->req.registered_proof = 0;
	ok(!c1_admitted(s, c1, 1) && strstr(last, "replica_id"), "as version 1.1: %s", last);
	free(c1);
	vanilla_sample_free(s);
	ok(vanilla_sample_make(CUZK_KIND_POREP, 13, 0, 1, &s) == -ENOTSUP,
	   "synthetic 32 GiB cannot be made up");
	ok(vanilla_sample_make(CUZK_KIND_UPDATE, 5, 0, 1, &s) == -EINVAL, "no such proof");
}

/* SnapDeals with several partitions, two of them exchanged. */
static void test_update_swapped(void)
{
	struct vanilla_sample *s;
	struct cuzk_blob blob;

	vanilla_sample_make(CUZK_KIND_UPDATE, 1, 0, 3, &s);
	blob = s->blobs[1];
	s->blobs[1] = s->blobs[2];
	s->blobs[2] = blob;
	ok(!admitted(&s->req, "", 0, 0) && strstr(last, "vanilla_proofs[1]"), "swapped: %s", last);
	s->blobs[2] = s->blobs[1];
	s->blobs[1] = blob;
	((uint8_t *)s->blobs[3].data)[32 + 8 + 32 * 100] ^= 1;
	ok(!admitted(&s->req, "", 0, 0) && strstr(last, "vanilla_proofs[3].apex_leafs"),
	   "an apex leaf: %s", last);
	vanilla_sample_free(s);
}

int main(void)
{
	static const char *const sizes[] = { "2k", "8m", "512m", "32g", "64g" };
	static const unsigned int update_partitions[] = { 1, 4, 16, 16, 16 };
	static const unsigned int window_sectors[] = { 2, 2, 2, 2349, 2300 };
	char name[32];
	unsigned int i;

	ok(tpool_open(&pool, 2) == 0, "a pool");
	for (i = 0; i < 5; i++) {
		snprintf(name, sizeof(name), "winning-%s", sizes[i]);
		test_sample(CUZK_KIND_WINNING_POST, i, 0, name, 1, 132);
		snprintf(name, sizeof(name), "window-%s", sizes[i]);
		test_sample(CUZK_KIND_WINDOW_POST, 5 + i, 2, name, 1, 11 * window_sectors[i]);
		test_sample(CUZK_KIND_WINDOW_POST, 10 + i, 2, name, 1, 11 * window_sectors[i]);
		/* large ones that the golden data has are left out: they take seconds */
		snprintf(name, sizeof(name), "update-%s", sizes[i]);
		if (i != 3)
			test_sample(CUZK_KIND_UPDATE, i, 0, name, update_partitions[i], 4);
		snprintf(name, sizeof(name), "porep-%s", sizes[i]);
		if (i < 4)
			test_sample(CUZK_KIND_POREP, i, 0, name, i < 3 ? 1 : 10, i < 3 ? 39 : 327);
		if (i != 3)
			test_sample(CUZK_KIND_POREP, 5 + i, 0, name, i < 3 ? 1 : 10,
				    i < 3 ? 39 : 327);
	}
	test_sample(CUZK_KIND_POREP, 10, 0, "porep-2k", 1, 39);
	test_sample(CUZK_KIND_POREP, 15, 0, "porep-2k", 13, 39);
	test_versions();
	test_update_swapped();
	tpool_close(pool);
	return tap_done();
}
