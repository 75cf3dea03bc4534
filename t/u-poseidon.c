/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* u-poseidon.c - Poseidon against the reference's vectors */
#include <string.h>
#include <time.h>

#include "lib/poseidon/many.h"
#include "lib/poseidon/trace.h"
#include "t/tap.h"

static int hex_fr(const char *s, struct fr *v)
{
	uint8_t b[32];
	unsigned int i, x;

	for (i = 0; i < 32; i++) {
		if (sscanf(s + 2 * i, "%2x", &x) != 1)
			return -1;
		b[i] = x;
	}
	return fr_from_bytes_le(v, b);
}

/* the value of "key": behind p, NULL when there is none */
static const char *value(const char *p, const char *key)
{
	char quoted[64];

	snprintf(quoted, sizeof(quoted), "\"%s\":", key);
	p = strstr(p, quoted);
	if (!p)
		return NULL;
	p += strlen(quoted);
	return p + strspn(p, " \"");
}

static uint64_t seed = 0x452821e638d01377;

/* small, near r, or any */
static void some_fr(struct fr *v)
{
	struct scalar s;
	int i;

	do {
		for (i = 0; i < 4; i++) {
			seed ^= seed << 13;
			seed ^= seed >> 7;
			seed ^= seed << 17;
			s.l[i] = seed;
		}
		s.l[3] >>= 1;
	} while (!scalar_is_canonical(&s));
	fr_from_u64(v, seed % 3);
	if (seed >> 8 & 1)
		fr_neg(v, v);
	if (seed >> 9 & 1)
		fr_from_scalar(v, &s);
}

/* Traces side by side are the traces one by one, and end in the hash. */
static void test_traces(unsigned int arity)
{
	enum { MAX = 19 };
	static struct fr one[POSEIDON_MAX_TRACE], many[MAX][POSEIDON_MAX_TRACE + 1];
	struct fr in[MAX * POSEIDON_MAX_ARITY], *full[MAX], hash, hashes[MAX];
	size_t n, i, size = poseidon_trace_size(arity), wrong = 0, spilt = 0;

	for (n = 1; n <= MAX; n++) {
		memset(many, 0x55, sizeof(many));
		for (i = 0; i < n * arity; i++)
			some_fr(&in[i]);
		for (i = 0; i < n; i++)
			full[i] = many[n - 1 - i];
		poseidon_trace_many(arity, in, full, n);
		poseidon_hash_many(arity, in, hashes, n);
		for (i = 0; i < n; i++) {
			poseidon_hash(arity, in + i * arity, &hash);
			wrong += poseidon_trace(POSEIDON_MERKLE, arity, in + i * arity, one) != size ||
				 memcmp(one, full[i], size * sizeof(*one)) ||
				 !fr_equal(&one[size - 1], &hash) || !fr_equal(&hashes[i], &hash);
			spilt += full[i][size].l[0] != 0x5555555555555555;
		}
	}
	ok(wrong == 0 && spilt == 0, "arity %u: %zu traces differ, %zu are too long", arity, wrong,
	   spilt);
}

int main(void)
{
	static const char *const keys[] = { "hash_zeros", "hash_1_to_n", "hash_minus_ones" };
	static char text[65536];
	struct timespec t0, t1;
	const char *p = text, *q;
	FILE *f = fopen(data_path("poseidon/poseidon.json"), "r");
	unsigned int arity;

	if (!ok(f && fread(text, 1, sizeof(text) - 1, f) > 0, "vectors are readable"))
		return tap_done();
	fclose(f);
	while ((q = value(p, "arity"))) {
		bool custom;
		char *end;
		unsigned int k;

		arity = strtoul(q, &end, 10);
		p = end;
		q = value(p, "name");
		if (!q || arity > POSEIDON_MAX_ARITY) {
			ok(false, "vector has a name and a known arity");
			break;
		}
		custom = !strncmp(q, "custom", 6);
		q = value(p, "partial_rounds");
		ok(q && poseidon_constants(arity)->partial_rounds == strtoul(q, NULL, 10),
		   "arity %u: partial rounds", arity);
		for (k = 0; k < 3; k++) {
			struct fr in[POSEIDON_MAX_ARITY], want, got;
			unsigned int i;

			for (i = 0; i < arity; i++) {
				fr_from_u64(&in[i], k == 0 ? 0 : k == 1 ? i + 1 : 1);
				if (k == 2)
					fr_neg(&in[i], &in[i]);
			}
			q = value(p, keys[k]);
			poseidon_hash_tag(custom ? POSEIDON_CUSTOM : POSEIDON_MERKLE, arity, in, &got);
			ok(q && !hex_fr(q, &want) && fr_equal(&got, &want), "arity %u%s: %s", arity,
			   custom ? " custom" : "", keys[k]);
		}
	}
	ok(!poseidon_constants(3) && !poseidon_constants(0) && !poseidon_constants(36),
	   "other arities are refused");
	test_traces(2);
	test_traces(4);
	test_traces(8);
	test_traces(11);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t0);
	{
		struct fr in[8] = { { { 1 } } };
		int i;

		for (i = 0; i < 200; i++)
			poseidon_hash(8, in, &in[i % 8]);
	}
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t1);
	diag("arity 8: %.1f us a hash",
	     ((t1.tv_sec - t0.tv_sec) * 1e9 + t1.tv_nsec - t0.tv_nsec) / 200e3);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t0);
	{
		static struct fr in[8 * 8], values[8][POSEIDON_MAX_TRACE];
		struct fr *full[8];
		int i;

		for (i = 0; i < 8; i++)
			full[i] = values[i];
		for (i = 0; i < 50; i++)
			poseidon_trace_many(8, in, full, 8);
	}
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t1);
	diag("arity 8: %.1f us a trace, eight at once",
	     ((t1.tv_sec - t0.tv_sec) * 1e9 + t1.tv_nsec - t0.tv_nsec) / 400e3);
	return tap_done();
}
