/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* cs-data.h - golden digests for the tests of constraint systems */
#ifndef CUZK_T_CS_DATA_H
#define CUZK_T_CS_DATA_H

#include <time.h>

#include "engine/circuits/circuit.h"
#include "engine/cs/digest.h"
#include "engine/cs/system.h"
#include "t/vanilla-data.h"

static inline double thread_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

static inline double wall_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

/* The digest JSON equals the golden file's text. */
static inline bool digest_equal(const char *file, const struct cs_shape_digest *d,
				const struct cs_witness_digest *w)
{
	size_t want_len, got_len;
	char *want = read_data(file, &want_len), *got = NULL;
	FILE *f = open_memstream(&got, &got_len);
	bool equal;
	size_t i;

	if (!want || !f || cs_digest_print(f, d, w) || fclose(f))
		return false;
	while (want_len && want[want_len - 1] == '\n')
		want_len--;
	equal = want_len == got_len && !memcmp(want, got, got_len);
	if (!equal) {
		for (i = 0; i < want_len && i < got_len && want[i] == got[i]; i++)
			;
		while (i && want[i - 1] != '\n')
			i--;
		diag("%s: want %.100s", file, want + i);
		diag("%s: got  %.100s", file, got + i);
	}
	free(want);
	free(got);
	return equal;
}

/* Value of a hash or the n-th of an array behind "key": in golden JSON. */
static inline bool golden_hash(const char *json, const char *key, size_t n, const uint8_t h[32])
{
	char quoted[64], hex[65];
	const char *p;
	size_t i;

	snprintf(quoted, sizeof(quoted), "\"%s\":", key);
	p = strstr(json, quoted);
	if (!p)
		return false;
	p += strlen(quoted);
	p += strspn(p, " [\n\"");
	for (i = 0; i < 32; i++)
		sprintf(hex + 2 * i, "%02x", h[i]);
	p += n * strlen("\",\n    \"") + n * 64;
	return strlen(p) >= 64 && !memcmp(p, hex, 64);
}

/* The witness's own digests equal those of the golden file. */
static inline bool witness_equal(const char *file, const struct cs_witness_digest *w)
{
	size_t len, i;
	char *json = read_data(file, &len);
	bool equal;

	if (!json)
		return false;
	for (i = 0; i < w->n_aux_blocks; i++) {
		if (!golden_hash(json, "aux_block_sha256", i, w->aux_block[i])) {
			diag("%s: aux block %zu is the first to differ", file, i);
			break;
		}
	}
	equal = i == w->n_aux_blocks && golden_hash(json, "aux_sha256", 0, w->aux) &&
		golden_hash(json, "inputs_sha256", 0, w->inputs) &&
		golden_hash(json, "a_sha256", 0, w->a) && golden_hash(json, "b_sha256", 0, w->b) &&
		golden_hash(json, "c_sha256", 0, w->c) && w->first_bad == UINT64_MAX;
	free(json);
	return equal;
}

/* Commands that print golden files too large to be kept plain. */
static inline char *read_porep_32g(size_t *len)
{
	char *c1 = read_command("xz -dc '%s' 2>/dev/null", "porep-32g/c1.json.xz", len), *text;
	size_t n;

	if (!c1)
		return NULL;
	text = envelope(7, c1, *len, 32ull << 30, &n);
	free(c1);
	*len = n;
	return text;
}

static inline bool data_hex32(const char *json, const char *name, uint8_t out[32])
{
	char key[40];
	const char *p;
	unsigned int v, i;

	snprintf(key, sizeof(key), "\"%s\": \"", name);
	p = strstr(json, key);
	for (i = 0; p && i < 32; i++) {
		if (sscanf(p + strlen(key) + 2 * i, "%2x", &v) != 1)
			return false;
		out[i] = v;
	}
	return p != NULL;
}

/* 16 blobs, the caller frees their data; comm: comm_r_old, comm_r_new, comm_d_new */
static inline bool read_update_32g(struct cuzk_blob blobs[16], uint8_t comm[3][32])
{
	size_t len;
	char *json = read_data("update-32g/update-32g.json", &len), cmd[128];
	bool good = json && data_hex32(json, "comm_r_old", comm[0]) &&
		    data_hex32(json, "comm_r_new", comm[1]) &&
		    data_hex32(json, "comm_d_new", comm[2]);
	unsigned int i;

	free(json);
	for (i = 0; i < 16 && good; i++) {
		snprintf(cmd, sizeof(cmd),
			 "xz -dc '%%s' 2>/dev/null | tar -xO 'update-32g-%u.vanilla' 2>/dev/null", i);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		blobs[i].data = read_command(cmd, "update-32g/vanilla.tar.xz", &blobs[i].len);
#pragma GCC diagnostic pop
		good = blobs[i].data != NULL;
	}
	return good;
}

#endif
