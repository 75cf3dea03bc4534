/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* u-submit.c - requests from the wire, against protobuf-c's reading of the same bytes */
#include "t/submit-check.h"
#include "t/tap.h"

static uint64_t state = 1;

static uint64_t next(void)
{
	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return state >> 20;
}

static size_t random_cut(void *ctx)
{
	return next() % 4 ? next() % 40 : next() % 3000;
}

static size_t byte_cut(void *ctx)
{
	return 1;
}

static uint8_t pool[4096];

static ProtobufCBinaryData random_bytes(size_t max)
{
	ProtobufCBinaryData b = { .len = next() % (max + 1) };

	b.data = pool + next() % (sizeof(pool) - b.len + 1);
	return b;
}

static uint64_t random_number(void)
{
	return next() % 3 ? next() >> (next() % 44) : 0;
}

/* A random message; *len bytes that the caller frees. */
static uint8_t *random_message(size_t *len)
{
	Cuzk__V1__SubmitProofRequest m = CUZK__V1__SUBMIT_PROOF_REQUEST__INIT;
	ProtobufCBinaryData proofs[40];
	uint8_t *data;
	size_t i;

	m.request_id = "porep-1000-1";
	m.proof_kind = 1 + next() % 4;
	m.priority = next() % 5;
	m.sector_size = random_number();
	m.registered_proof = random_number();
	m.sector_number = random_number();
	m.miner_id = random_number();
	m.partition_index = random_number();
	m.vanilla_proof = random_bytes(2000);
	m.randomness = random_bytes(32);
	m.comm_r_old = random_bytes(32);
	m.comm_r_new = random_bytes(32);
	m.comm_d_new = random_bytes(32);
	m.n_vanilla_proofs = next() % 40;
	m.vanilla_proofs = proofs;
	for (i = 0; i < m.n_vanilla_proofs; i++)
		proofs[i] = random_bytes(300);
	data = malloc(cuzk__v1__submit_proof_request__get_packed_size(&m) + 1);
	*len = cuzk__v1__submit_proof_request__pack(&m, data);
	return data;
}

static void test_random(void)
{
	const char *what = NULL;
	bool taken, all = true;
	int i;

	for (i = 0; i < 500 && !what; i++) {
		size_t len;
		uint8_t *data = random_message(&len);

		what = submit_differs(data, len, i % 10 ? random_cut : byte_cut, NULL, &taken);
		all &= taken;
		free(data);
	}
	ok(!what, "500 random requests in random pieces read as protobuf-c does%s%s",
	   what ? ": differs: " : "", what ? what : "");
	ok(all, "all were taken");
}

static size_t long_cut(void *ctx)
{
	return next() % 200000;
}

/* Long ones are read by two threads, each through pieces of its own. */
static void test_long(void)
{
	Cuzk__V1__SubmitProofRequest m = CUZK__V1__SUBMIT_PROOF_REQUEST__INIT;
	ProtobufCBinaryData proofs[2];
	const char *what = NULL;
	uint8_t *big, *data;
	bool taken = true;
	size_t i, len;

	big = malloc(3000001);
	for (i = 0; i < 3000001; i++)
		big[i] = next();
	m.request_id = "long";
	m.proof_kind = 1;
	m.vanilla_proof = (ProtobufCBinaryData){ 3000001, big };
	m.randomness = random_bytes(32);
	m.n_vanilla_proofs = 2;
	m.vanilla_proofs = proofs;
	proofs[0] = (ProtobufCBinaryData){ 1200000, big + 77 };
	proofs[1] = (ProtobufCBinaryData){ 0, big };
	data = malloc(cuzk__v1__submit_proof_request__get_packed_size(&m));
	len = cuzk__v1__submit_proof_request__pack(&m, data);
	for (i = 0; i < 8 && !what && taken; i++)
		what = submit_differs(data, len, i % 4 ? long_cut : random_cut, NULL, &taken);
	ok(!what && taken, "a request of %zu bytes reads as protobuf-c does%s%s", len,
	   what ? ": differs: " : "", what ? what : "");
	free(data);
	free(big);
}

static void test_damaged(void)
{
	const char *what = NULL;
	size_t len, i, taken_n = 0;
	uint8_t *data = random_message(&len);
	bool taken;

	for (i = 0; i < len && !what; i++)
		what = submit_differs(data, i, random_cut, NULL, &taken);
	ok(!what, "cut at each of %zu bytes%s%s", len, what ? ": differs: " : "", what ? what : "");
	for (i = 0; i < 3000 && !what; i++) {
		size_t at = next() % len;
		uint8_t old = data[at];

		data[at] = next();
		what = submit_differs(data, len, random_cut, NULL, &taken);
		taken_n += taken;
		data[at] = old;
	}
	ok(!what && taken_n > 100, "3000 changed bytes, %zu of them still a request%s%s", taken_n,
	   what ? ": differs: " : "", what ? what : "");
	free(data);
}

static int read_bytes(const char *bytes, size_t len, int nested, struct submission **sub)
{
	struct iovec iov = { (void *)bytes, len };
	char text[SUBMIT_ERROR_TEXT];

	return submission_read(sub, &iov, 1, nested, text);
}

#define READ(bytes, nested, sub) read_bytes(bytes, sizeof(bytes) - 1, nested, sub)

static void test_cases(void)
{
	struct submission *a, *b;
	struct iovec none = { 0 };
	char text[SUBMIT_ERROR_TEXT];

	ok(submission_read(&a, &none, 0, 0, text) == -EINVAL, "an empty request has no kind");
	ok(submission_read(&a, &none, 0, 1, text) == -ENOENT,
	   "an empty ProveRequest has no submit");
	ok(READ("\x0a\x00", 1, &a) == -EINVAL, "nor has its empty submit a kind");
	ok(READ("\x10\x05", 0, &a) == -EINVAL, "kind 5");
	ok(READ("\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 0, &a) == -EINVAL, "kind -1");
	ok(READ("\x10\x01\x28\x05", 0, &a) == -EINVAL, "priority 5");
	ok(READ("\x10\x01\x03", 0, &a) == -EINVAL, "a group");
	ok(READ("\x10\x01\x00\x01", 0, &a) == -EINVAL, "field 0");
	ok(READ("\x10\x01\x52\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 0, &a) == -EINVAL,
	   "2^64 - 1 bytes");
	ok(READ("\x10\x01\x80", 0, &a) == -EINVAL, "a number that does not end");

	/* two halves of a submit are merged */
	if (!ok(READ("\x0a\x02\x10\x01\x0a\x04\x0a\x02hi", 1, &a) == 0, "a submit in two parts"))
		return;
	ok(a->kind == 1 && !strcmp(a->request_id, "hi"), "is merged");
	ok(READ("\x10\x01\x0a\x02\x01\x80", 0, &b) == 0 && !strcmp(b->request_id, " ?"),
	   "a request_id is made printable");
	ok(!memcmp(a->digest, b->digest, sizeof(a->digest)), "and is no part of the identity");
	submission_free(a);
	submission_free(b);
	ok(READ("\x10\x04\x0a\x03\x01\x02\x03", 0, &a) == 0 &&
	   a->priority == SUBMIT_PRIORITY_CRITICAL,
	   "WinningPoSt is critical by itself");
	submission_free(a);
	submission_free(NULL);
}

int main(void)
{
	size_t i;

	for (i = 0; i < sizeof(pool); i++)
		pool[i] = next();
	test_cases();
	test_random();
	test_long();
	test_damaged();
	return tap_done();
}
