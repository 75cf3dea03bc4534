/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * bench-submit.c - how long a long request takes from the message to its identity and its file
 *
 *	bench-submit [MiB [ROUNDS]]
 *
 * The best of ROUNDS (default 9) readings of a message of so many MiB (default 51, a sector's
 * output of commit phase 1), beside the digest alone, which is the least that it can take.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "plugin/request.h"
#include "plugin/submit.h"

#define PIECE 65536	/* about what the library gives */

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec * 1e-9;
}

static double smaller(double best, double x)
{
	return !best || x < best ? x : best;
}

int main(int argc, char **argv)
{
	/* proof_kind 1, and the vanilla proof's key, which its length follows */
	static const uint8_t head[] = { 2 << 3, 1, 10 << 3 | 2 };
	size_t len = (size_t)(argc > 1 ? atoi(argv[1]) : 51) << 20, n, i, pos = sizeof(head);
	unsigned int rounds = argc > 2 ? atoi(argv[2]) : 9;
	uint8_t digest[SUBMIT_DIGEST_SIZE], *message = malloc(len + 16);
	double t, whole = 0, alone = 0;
	struct iovec *iov;

	if (!message || !len)
		return 2;
	memcpy(message, head, sizeof(head));
	for (n = len; n > 127; n >>= 7)
		message[pos++] = n | 0x80;
	message[pos++] = n;
	for (i = 0; i < len; i++)
		message[pos + i] = i * 2654435761u >> 24;
	pos += len;
	n = (pos + PIECE - 1) / PIECE;
	iov = calloc(n, sizeof(*iov));
	if (!iov)
		return 2;
	for (i = 0; i < n; i++) {
		iov[i].iov_base = message + i * PIECE;
		iov[i].iov_len = i + 1 < n ? PIECE : pos - i * PIECE;
	}
	while (rounds--) {
		char text[SUBMIT_ERROR_TEXT];
		struct submission *sub;
		struct request_map map;

		t = now();
		if (submission_read(&sub, iov, n, 0, text)) {
			fprintf(stderr, "bench-submit: %s\n", text);
			return 1;
		}
		whole = smaller(whole, now() - t);
		if (request_map(&map, sub->fd))
			return 1;
		t = now();
		if (submission_digest(&map.request, digest) ||
		    memcmp(digest, sub->digest, sizeof(digest)))
			return 1;
		alone = smaller(alone, now() - t);
		request_unmap(&map);
		submission_free(sub);
	}
	printf("%zu MiB: %.1f ms, the digest alone %.1f ms, ratio %.2f\n", len >> 20, whole * 1e3,
	       alone * 1e3, whole / alone);
	free(iov);
	free(message);
	return 0;
}
