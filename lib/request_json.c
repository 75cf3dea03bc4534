/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* request_json.c - a SubmitProofRequest in protobuf's JSON mapping */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base64.h"
#include "lib/json.h"
#include "lib/request_json.h"

enum field_type { TYPE_STRING, TYPE_ENUM, TYPE_U32, TYPE_U64, TYPE_BYTES, TYPE_BYTES_LIST };

static const char *const kinds[] = {
	"PROOF_KIND_UNSPECIFIED", "POREP_SEAL_COMMIT", "SNAP_DEALS_UPDATE",
	"WINDOW_POST_PARTITION", "WINNING_POST", NULL
};
static const char *const priorities[] = {
	"PRIORITY_UNSPECIFIED", "LOW", "NORMAL", "HIGH", "CRITICAL", NULL
};

#define FIELD(camel, name, type, ...) { camel, #name, type, offsetof(struct request_json, name), \
					##__VA_ARGS__ }
static const struct field {
	const char *camel, *name;
	enum field_type type;
	size_t offset;
	const char *const *words;	/* of an enum */
} fields[] = {
	FIELD("requestId", request_id, TYPE_STRING, NULL),
	FIELD("proofKind", proof_kind, TYPE_ENUM, kinds),
	FIELD("sectorSize", sector_size, TYPE_U64, NULL),
	FIELD("registeredProof", registered_proof, TYPE_U64, NULL),
	FIELD("priority", priority, TYPE_ENUM, priorities),
	FIELD("vanillaProof", vanilla_proof, TYPE_BYTES, NULL),
	FIELD("vanillaProofs", vanilla_proofs, TYPE_BYTES_LIST, NULL),
	FIELD("sectorNumber", sector_number, TYPE_U64, NULL),
	FIELD("minerId", miner_id, TYPE_U64, NULL),
	FIELD("randomness", randomness, TYPE_BYTES, NULL),
	FIELD("partitionIndex", partition_index, TYPE_U32, NULL),
	FIELD("commROld", comm_r_old, TYPE_BYTES, NULL),
	FIELD("commRNew", comm_r_new, TYPE_BYTES, NULL),
	FIELD("commDNew", comm_d_new, TYPE_BYTES, NULL),
};
#define N_FIELDS (sizeof(fields) / sizeof(fields[0]))

struct reader {
	struct json j;
	struct request_json *req;
	struct request_bytes *list;	/* for vanilla_proofs */
	size_t n_list;
	char *heap, *heap_end;		/* for the contents of strings */
	char what[96];			/* what json_fail was told */
};

static int fail(struct reader *r, const struct field *f, const char *text)
{
	snprintf(r->what, sizeof(r->what), "%s: %s", f->camel, text);
	return json_fail(&r->j, r->what);
}

static const struct field *find_field(const struct json_str *key)
{
	size_t i;

	for (i = 0; i < N_FIELDS; i++)
		if (json_str_is(key, fields[i].camel) || json_str_is(key, fields[i].name))
			return &fields[i];
	return NULL;
}

/* The text grows by no more than a NUL and what json_str_copy() wants free. */
#define STRING_SLACK 8

static int read_string(struct reader *r, const struct field *f, const char **out)
{
	struct json_str s;
	int len;

	if (json_string(&r->j, &s) < 0)
		return -EBADMSG;
	len = json_str_copy(&s, r->heap, r->heap_end - r->heap);
	if (len < 0)
		return fail(r, f, "not a text without NULs");
	*out = r->heap;
	r->heap += len + 1;
	return 0;
}

static int read_bytes(struct reader *r, const struct field *f, struct request_bytes *out)
{
	struct json_str s;
	size_t len, bad;
	int n;

	if (json_string(&r->j, &s) < 0)
		return -EBADMSG;
	if (s.escaped) {	/* "\/" is legal; undone where the bytes will be */
		n = json_str_copy(&s, r->heap, r->heap_end - r->heap);
		if (n < 0)
			return fail(r, f, "not base64");
		s.s = r->heap;
		s.len = n;
	}
	if (base64_decode((uint8_t *)r->heap, &len, s.s, s.len, &bad) < 0) {
		char text[64];

		snprintf(text, sizeof(text), "not base64 at character %zu of %zu", bad, s.len);
		return fail(r, f, text);
	}
	out->data = (uint8_t *)r->heap;
	out->len = len;
	r->heap += len;
	return 0;
}

static int read_list(struct reader *r, const struct field *f)
{
	int ret;

	if (json_array(&r->j) < 0)
		return -EBADMSG;
	while ((ret = json_next(&r->j)) > 0) {
		if (read_bytes(r, f, &r->list[r->req->n_vanilla_proofs]) < 0)
			return -EBADMSG;
		r->req->n_vanilla_proofs++;
	}
	r->req->vanilla_proofs = r->list;
	return ret;
}

/* digits, as a number or in a string */
static int read_integer(struct reader *r, const struct field *f, uint64_t max, uint64_t *v)
{
	struct json_str s;
	struct json inner;

	if (json_peek(&r->j) != JSON_STRING) {
		if (json_u64(&r->j, v) < 0)
			return -EBADMSG;
	} else {
		if (json_string(&r->j, &s) < 0)
			return -EBADMSG;
		json_init(&inner, s.s, s.len);
		/* no white space on either side */
		if (!s.len || s.s[0] <= ' ' || s.s[s.len - 1] <= ' ' ||
		    json_u64(&inner, v) < 0 || json_end(&inner) < 0)
			return fail(r, f, "not a whole number in range");
	}
	return *v > max ? fail(r, f, "number out of range") : 0;
}

static int read_enum(struct reader *r, const struct field *f, uint32_t *out)
{
	struct json_str s;
	uint64_t v;
	uint32_t i, n = 0;

	while (f->words[n])
		n++;
	if (json_peek(&r->j) != JSON_STRING) {
		if (read_integer(r, f, n - 1, &v) < 0)
			return -EBADMSG;
		*out = v;
		return 0;
	}
	if (json_string(&r->j, &s) < 0)
		return -EBADMSG;
	for (i = 0; i < n; i++) {
		if (json_str_is(&s, f->words[i])) {
			*out = i;
			return 0;
		}
	}
	return fail(r, f, "unknown name");
}

static int read_field(struct reader *r, const struct field *f)
{
	void *at = (char *)r->req + f->offset;
	uint64_t v = 0;

	if (json_peek(&r->j) == JSON_NULL)
		return json_null(&r->j);
	switch (f->type) {
	case TYPE_STRING:
		return read_string(r, f, at);
	case TYPE_ENUM:
		return read_enum(r, f, at);
	case TYPE_BYTES:
		return read_bytes(r, f, at);
	case TYPE_BYTES_LIST:
		return read_list(r, f);
	case TYPE_U32:
		if (read_integer(r, f, UINT32_MAX, &v) < 0)
			return -EBADMSG;
		*(uint32_t *)at = v;
		return 0;
	case TYPE_U64:
		return read_integer(r, f, UINT64_MAX, at);
	}
	return -EBADMSG;
}

static int read_request(struct reader *r)
{
	const struct field *f;
	struct json_str key;
	uint64_t seen = 0;
	int ret;

	if (json_object(&r->j) < 0)
		return -EBADMSG;
	while ((ret = json_key(&r->j, &key)) > 0) {
		f = find_field(&key);
		if (!f) {
			snprintf(r->what, sizeof(r->what), "unknown field %.*s",
				 key.len < 64 ? (int)key.len : 64, key.s);
			return json_fail(&r->j, r->what);
		}
		if (seen & 1ull << (f - fields))
			return fail(r, f, "given twice");
		seen |= 1ull << (f - fields);
		if (read_field(r, f) < 0)
			return -EBADMSG;
	}
	return ret < 0 ? ret : json_end(&r->j);
}

/* How many elements vanilla_proofs has; what is wrong elsewhere is found later. */
static int count_proofs(struct reader *r)
{
	const struct field *f;
	struct json_str key;

	if (json_object(&r->j) < 0)
		return -EBADMSG;
	while (json_key(&r->j, &key) > 0) {
		f = find_field(&key);
		if (!f || f->type != TYPE_BYTES_LIST || json_peek(&r->j) != JSON_ARRAY) {
			json_skip(&r->j);
			continue;
		}
		json_array(&r->j);
		while (json_next(&r->j) > 0) {
			json_skip(&r->j);
			if (++r->n_list > REQUEST_JSON_MAX_PROOFS)
				return fail(r, f, "too many");
		}
	}
	return json_end(&r->j);
}

static int refuse(const struct reader *r, char *err, size_t err_size)
{
	json_error(&r->j, err, err_size);
	return -EINVAL;
}

int request_json_parse(const char *text, size_t len, struct request_json **out, char *err,
		       size_t err_size)
{
	struct reader r = { .n_list = 0 };
	size_t size, head;
	char *mem;

	if (len > REQUEST_JSON_MAX) {
		snprintf(err, err_size, "a request of %zu bytes is above the limit of %llu", len,
			 REQUEST_JSON_MAX);
		return -EINVAL;
	}
	json_init(&r.j, text, len);
	if (count_proofs(&r) < 0)
		return refuse(&r, err, err_size);

	/* decoded contents are shorter than the text, but for slack for each string */
	head = sizeof(*r.req) + r.n_list * sizeof(*r.list);
	size = head + len + (N_FIELDS + r.n_list + 1) * STRING_SLACK;
	mem = malloc(size);
	if (!mem) {
		snprintf(err, err_size, "out of memory for a request of %zu bytes", len);
		return -ENOMEM;
	}
	memset(mem, 0, head);
	r.req = (struct request_json *)mem;
	r.req->request_id = "";
	r.list = (struct request_bytes *)(r.req + 1);
	r.heap = mem + head;
	r.heap_end = mem + size;
	json_init(&r.j, text, len);
	if (read_request(&r) < 0) {
		free(mem);
		return refuse(&r, err, err_size);
	}
	*out = r.req;
	return 0;
}
