/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* vanilla-data.h - golden requests for the tests of vanilla proofs */
#ifndef CUZK_T_VANILLA_DATA_H
#define CUZK_T_VANILLA_DATA_H

#include "lib/base64.h"
#include "lib/request_json.h"
#include "plugin/api/cuzk_engine.h"
#include "t/tap.h"

/* All of a stream; NULL when it is empty. The caller frees. */
static inline char *read_stream(FILE *f, size_t *len)
{
	size_t size = 1 << 16, n;
	char *buf = malloc(size + 1);

	for (*len = 0; buf && (n = fread(buf + *len, 1, size - *len, f)) > 0;) {
		*len += n;
		if (*len == size)
			buf = realloc(buf, (size *= 2) + 1);
	}
	if (buf)
		buf[*len] = '\0';
	if (*len == 0) {
		free(buf);
		buf = NULL;
	}
	return buf;
}

static inline char *read_data(const char *name, size_t *len)
{
	FILE *f = fopen(data_path(name), "rb");
	char *buf;

	if (!f)
		return NULL;
	buf = read_stream(f, len);
	fclose(f);
	return buf;
}

/* Output of a command that has one %s for the data file's path. */
__attribute__((format(printf, 1, 0)))
static inline char *read_command(const char *fmt, const char *name, size_t *len)
{
	char cmd[4400];
	FILE *f;
	char *buf;

	snprintf(cmd, sizeof(cmd), fmt, data_path(name));
	f = popen(cmd, "r");
	if (!f)
		return NULL;
	buf = read_stream(f, len);
	pclose(f);
	return buf;
}

/* A golden request; blobs has room for its vanilla proofs. */
struct golden {
	struct request_json *json;
	struct cuzk_request req;
	struct cuzk_blob *blobs;
};

static inline struct cuzk_blob as_blob(struct request_bytes b)
{
	return (struct cuzk_blob){ b.data, b.len };
}

/* The test ends when the file is not there or not right. */
static inline void golden_open(struct golden *g, const char *name)
{
	size_t len, i;
	char *text = read_data(name, &len), err[256] = "no such file";

	memset(g, 0, sizeof(*g));
	if (!text || request_json_parse(text, len, &g->json, err, sizeof(err)) < 0) {
		printf("Bail out! %s: %s\n", name, err);
		exit(1);
	}
	free(text);
	g->blobs = calloc(g->json->n_vanilla_proofs + 1, sizeof(*g->blobs));
	for (i = 0; i < g->json->n_vanilla_proofs; i++)
		g->blobs[i] = as_blob(g->json->vanilla_proofs[i]);
	g->req = (struct cuzk_request){
		.size = sizeof(g->req),
		.kind = g->json->proof_kind,
		.partition_index = g->json->partition_index,
		.registered_proof = g->json->registered_proof,
		.sector_size = g->json->sector_size,
		.sector_number = g->json->sector_number,
		.miner_id = g->json->miner_id,
		.vanilla_proof = as_blob(g->json->vanilla_proof),
		.vanilla_proofs = g->blobs,
		.n_vanilla_proofs = g->json->n_vanilla_proofs,
		.randomness = as_blob(g->json->randomness),
		.comm_r_old = as_blob(g->json->comm_r_old),
		.comm_r_new = as_blob(g->json->comm_r_new),
		.comm_d_new = as_blob(g->json->comm_d_new),
	};
}

static inline void golden_close(struct golden *g)
{
	free(g->json);
	free(g->blobs);
}

/* Standard base64 of data, NUL-terminated. */
static inline char *to_base64(const uint8_t *data, size_t len, size_t *out_len)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	char *out = malloc(len / 3 * 4 + 5), *o = out;
	size_t i, j;

	for (i = 0; i < len; i += 3) {
		uint32_t v = 0;

		for (j = 0; j < 3; j++)
			v = v << 8 | (i + j < len ? data[i + j] : 0);
		for (j = 0; j < 4; j++)
			*o++ = i * 4 + j * 3 <= len * 4 && (j < 2 || i + j - 1 < len) ?
			       digits[v >> (18 - 6 * j) & 63] : '=';
	}
	*o = '\0';
	*out_len = o - out;
	return out;
}

/* Curio's envelope around a C1. */
static inline char *envelope(uint64_t sector, const char *c1, size_t c1_len, uint64_t size,
			     size_t *len)
{
	size_t n;
	char *text = to_base64((const uint8_t *)c1, c1_len, &n), *out = malloc(n + 160);

	*len = sprintf(out, "{\"SectorNum\":%llu,\"Phase1Out\":\"", (unsigned long long)sector);
	memcpy(out + *len, text, n);
	*len += n;
	*len += sprintf(out + *len, "\",\"SectorSize\":%llu}", (unsigned long long)size);
	free(text);
	return out;
}

/* The C1 in a request's envelope, NUL-terminated. */
static inline char *c1_of(const struct cuzk_request *req)
{
	const char *text = req->vanilla_proof.data, *from = strstr(text, "Phase1Out\":\"") + 12;
	size_t len = strchr(from, '"') - from, n;
	char *c1 = malloc(BASE64_BOUND(len) + 1);

	base64_decode((uint8_t *)c1, &n, from, len, NULL);
	c1[n] = '\0';
	return c1;
}

#endif
