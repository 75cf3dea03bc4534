/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* u-c1-ahead.c - a C1 read by several threads: the same inputs, the same faults as read by one */
#include <errno.h>

#include "engine/vanilla/c1.h"
#include "engine/vanilla/sample.h"
#include "engine/vanilla/vanilla.h"
#include "t/vanilla-data.h"

#define PARTITIONS 13
#define ALL (PARTITIONS * 2)

static struct tpool *pool;
static struct vanilla_sample *sample;
static char *c1;		/* the sample's, NUL-terminated */
static char last[CUZK_ERROR_TEXT];
static unsigned int taken;

bool __real_c1_ahead_take(struct c1_reader *r, unsigned int partition, unsigned int challenge);
bool __wrap_c1_ahead_take(struct c1_reader *r, unsigned int partition, unsigned int challenge);
bool __wrap_c1_ahead_take(struct c1_reader *r, unsigned int partition, unsigned int challenge)
{
	bool took = __real_c1_ahead_take(r, partition, challenge);

	taken += took;
	return took;
}

static bool same_path(const struct path_input *a, const struct path_input *b)
{
	return a->n_levels == b->n_levels && a->n_siblings == b->n_siblings &&
	       !memcmp(a->index, b->index, a->n_levels) &&
	       !memcmp(a->siblings, b->siblings, a->n_siblings * sizeof(*a->siblings));
}

static bool same_column(const struct porep_column_input *a, const struct porep_column_input *b)
{
	return a->n_rows == b->n_rows && !memcmp(a->rows, b->rows, a->n_rows * sizeof(*a->rows)) &&
	       same_path(&a->path, &b->path);
}

static bool same_challenge(const struct porep_challenge_input *a,
			   const struct porep_challenge_input *b)
{
	unsigned int i;

	for (i = 0; i < POREP_DRG_PARENTS; i++)
		if (!same_column(&a->drg[i], &b->drg[i]))
			return false;
	for (i = 0; i < POREP_EXP_PARENTS; i++)
		if (!same_column(&a->exp[i], &b->exp[i]))
			return false;
	return a->challenge == b->challenge && fr_equal(&a->data_leaf, &b->data_leaf) &&
	       same_path(&a->path_d, &b->path_d) && same_path(&a->path_c, &b->path_c) &&
	       same_path(&a->path_r, &b->path_r);
}

static bool same_inputs(const struct vanilla *a, const struct vanilla *b)
{
	uint32_t k, i;

	if (vanilla_partitions(a) != vanilla_partitions(b))
		return false;
	for (k = 0; k < vanilla_partitions(a); k++) {
		const struct porep_input *x = vanilla_circuit_input(a, k).porep;
		const struct porep_input *y = vanilla_circuit_input(b, k).porep;

		if (x->n_challenges != y->n_challenges || !fr_equal(&x->comm_c, &y->comm_c) ||
		    !fr_equal(&x->comm_r_last, &y->comm_r_last) ||
		    !fr_equal(&x->comm_d, &y->comm_d))
			return false;
		for (i = 0; i < x->n_challenges; i++)
			if (!same_challenge(&x->challenges[i], &y->challenges[i]))
				return false;
	}
	return true;
}

/* By one thread and by three: admitted with the same inputs, or refused with the same text? */
static bool alike(const struct cuzk_request *req, bool *admitted)
{
	struct cuzk_error one = { .size = sizeof(one) }, many = { .size = sizeof(many) };
	struct cuzk_plan plan[2] = { { .size = sizeof(plan[0]) }, { .size = sizeof(plan[1]) } };
	struct vanilla *a = NULL, *b = NULL;
	bool same;
	int ret;

	ret = vanilla_admit(req, NULL, &a, &plan[0], &one);
	taken = 0;
	same = vanilla_admit(req, pool, &b, &plan[1], &many) == ret && one.cls == many.cls &&
	       !strcmp(one.text, many.text);
	memcpy(last, many.text, sizeof(last));
	if (ret == 0 && same)
		same = same_inputs(a, b) && plan[0].host_bytes == plan[1].host_bytes;
	*admitted = ret == 0;
	vanilla_free(a);
	vanilla_free(b);
	if (!same)
		diag("one: %s, three: %s", one.text, many.text);
	return same;
}

static bool text_alike(const char *text, size_t len, bool *admitted)
{
	struct cuzk_request req = sample->req;
	size_t n;
	char *env = envelope(1000, text, len, 2048, &n);
	bool same;

	req.vanilla_proof = (struct cuzk_blob){ env, n };
	same = alike(&req, admitted);
	free(env);
	return same;
}

/* Where the text of challenge number i of all begins. */
static char *challenge_text(char *text, unsigned int i)
{
	for (text = strstr(text, "{\"comm_d_proofs\":"); i; i--)
		text = strstr(text + 1, "{\"comm_d_proofs\":");
	return text;
}

/* With what stands before challenge number i, or behind its brace: admitted, and so many used? */
static void insert(unsigned int i, unsigned int skip, const char *what, unsigned int want,
		   const char *name)
{
	char *at = challenge_text(c1, i) + skip, *text = malloc(strlen(c1) + strlen(what) + 1);
	bool admitted, same;

	sprintf(text, "%.*s%s%s", (int)(at - c1), c1, what, at);
	same = text_alike(text, strlen(text), &admitted);
	ok(same && admitted && taken == want, "%s: %u of %u challenges were read ahead", name,
	   taken, ALL);
	free(text);
}

static void test_admitted(void)
{
	bool admitted, same = text_alike(c1, strlen(c1), &admitted);
	char *end;

	ok(same && admitted && taken == ALL, "all challenges were read ahead (%u): %s", taken,
	   last);
	insert(7, 0, " \n", ALL, "white space before a challenge");
	insert(7, 1, " ", 7, "one that is not found");
	insert(7, 1, "\"x\":[{\"comm_d_proofs\":5}],", ALL - 1, "a wrong place instead of one");
	insert(7, 1, "\"x\":\"\\\\{\\\"comm_d_proofs\\\":\",", 7, "its name in a text");
	insert(9, 1, "\"x\":[{\"comm_d_proofs\":{}},{\"comm_d_proofs\":{}}],", 9,
	       "a wrong place too many");
	insert(0, 0, "", ALL, "nothing");
	/* more places than challenges */
	end = strstr(c1, ",\"comm_r\":");
	if (ok(end && strlen(end) < 2000, "a member behind the proofs")) {
		char *text = malloc(strlen(c1) + 200);

		sprintf(text, "%.*s,\"x\":[{\"comm_d_proofs\":1},{\"comm_d_proofs\":2},"
			"{\"comm_d_proofs\":3}]%s", (int)(end - c1), c1, end);
		same = text_alike(text, strlen(text), &admitted);
		ok(same && admitted && taken == ALL, "wrong places behind all: %u used", taken);
		free(text);
	}
}

/* Changes a digit here and there: nearly all of these have to be refused. */
static void test_numbers(void)
{
	size_t len = strlen(c1), i, all = 0, good = 0, refused = 0;
	char *text = strdup(c1);
	bool admitted;

	for (i = 100; i < len; i += 7919) {
		while (i < len && (c1[i] < '0' || c1[i] > '9'))
			i++;
		if (i == len)
			break;
		text[i] ^= 1;
		good += text_alike(text, len, &admitted);
		refused += !admitted;
		all++;
		text[i] = c1[i];
	}
	ok(good == all && all > 50 && refused > all / 2,
	   "%zu changed numbers: %zu alike, %zu refused", all, good, refused);
	free(text);
}

/* What is right in itself, but differs from the first challenge. */
static void test_roots(void)
{
	static const char *const members[] = { "comm_d_proofs", "comm_r_last_proof" };
	char *text = strdup(c1), name[40], *at, *colon;
	bool admitted, same;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		snprintf(name, sizeof(name), "\"%s\":", members[i]);
		colon = strstr(challenge_text(text, 11), name);
		at = strstr(colon, "\"root\":[") + 8;
		*at = *at == '1' ? '2' : '1';
		same = text_alike(text, strlen(text), &admitted);
		snprintf(name, sizeof(name), "vanilla_proofs[5][1].%s", members[i]);
		ok(same && !admitted && taken == 11 && strstr(last, name) &&
		   strstr(last, "differs from that of the first challenge"), "%s", last);
		*at = c1[at - text];
	}
	free(text);
}

static void test_cut(void)
{
	size_t len = strlen(c1), i, all = 0, good = 0;
	bool admitted;

	for (i = 0; i < len; i += 9973, all++)
		good += text_alike(c1, i, &admitted) && !admitted;
	ok(good == all && all > 50, "cut at %zu places", all);
}

/* Characters that are not base64, in the envelope. */
static void test_base64(void)
{
	struct cuzk_request req = sample->req;
	size_t n, i, all = 0, good = 0;
	char *env = envelope(1000, c1, strlen(c1), 2048, &n);
	bool admitted;

	req.vanilla_proof = (struct cuzk_blob){ env, n };
	for (i = 40; i < n - 50; i += 12007, all++) {
		char saved = env[i];

		env[i] = '.';
		good += alike(&req, &admitted) && !admitted && strstr(last, "base64");
		env[i] = saved;
	}
	ok(good == all && all > 50, "wrong characters at %zu places; the last: %s", all, last);
	free(env);
}

int main(void)
{
	ok(tpool_open(&pool, 3) == 0, "a pool of three threads");
	if (!ok(vanilla_sample_make(CUZK_KIND_POREP, 15, 0, 1, &sample) == 0,
		"a proof of 13 partitions"))
		return tap_done();
	c1 = c1_of(&sample->req);
	test_admitted();
	test_numbers();
	test_roots();
	test_cut();
	test_base64();
	free(c1);
	vanilla_sample_free(sample);
	tpool_close(pool);
	return tap_done();
}
