/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* u-request.c - requests in memory files: round trip, and files that lie */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "plugin/request.h"
#include "t/tap.h"

static bool same(const struct cuzk_blob *a, const struct cuzk_blob *b)
{
	return a->len == b->len && (!a->len || !memcmp(a->data, b->data, a->len));
}

static void test_round_trip(void)
{
	static char big[100000];
	struct cuzk_blob proofs[3] = { { "one", 3 }, { NULL, 0 }, { big, sizeof(big) } };
	struct cuzk_request rq = {
		.size = sizeof(rq), .kind = CUZK_KIND_UPDATE, .partition_index = 7,
		.registered_proof = 3, .sector_size = 2048, .sector_number = 1ull << 40,
		.miner_id = 1000, .vanilla_proofs = proofs, .n_vanilla_proofs = 3,
		.randomness = { "r", 1 }, .comm_r_old = { "old", 3 }, .comm_d_new = { "new", 3 },
	};
	struct request_map map;
	int fd = -1, r;

	memset(big, 'x', sizeof(big));
	r = request_pack(&rq, &fd);
	ok(!r && fd >= 0, "a request is packed");
	ok(pwrite(fd, "x", 1, 0) < 0 && ftruncate(fd, 10) < 0, "and sealed");
	r = request_map(&map, fd);
	ok(!r, "and mapped");
	if (!r) {
		const struct cuzk_request *m = &map.request;

		ok(m->kind == rq.kind && m->partition_index == 7 && m->registered_proof == 3 &&
		   m->sector_size == 2048 && m->sector_number == rq.sector_number &&
		   m->miner_id == 1000, "numbers survive");
		ok(m->n_vanilla_proofs == 3 && same(&m->vanilla_proofs[0], &proofs[0]) &&
		   same(&m->vanilla_proofs[1], &proofs[1]) && same(&m->vanilla_proofs[2], &proofs[2]) &&
		   same(&m->randomness, &rq.randomness) && same(&m->comm_r_old, &rq.comm_r_old) &&
		   same(&m->comm_r_new, &rq.comm_r_new) && same(&m->comm_d_new, &rq.comm_d_new) &&
		   !m->vanilla_proof.len, "blobs survive");
		request_unmap(&map);
	}
	close(fd);
	rq.n_vanilla_proofs = REQUEST_PROOFS_MAX + 1;
	ok(request_pack(&rq, &fd) == -EMSGSIZE, "too many proofs are refused");
}

static int make(const void *data, size_t len, bool seal)
{
	int fd = memfd_create("t", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (write(fd, data, len) != (ssize_t)len)
		diag("short write");
	if (seal)
		fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
	return fd;
}

static int try(const void *data, size_t len, bool seal)
{
	int fd = make(data, len, seal), r;
	struct request_map map;

	r = request_map(&map, fd);
	if (!r)
		request_unmap(&map);
	close(fd);
	return r;
}

static void test_lies(void)
{
	struct {
		struct request_header h;
		struct request_range ranges[2];
		char bytes[64];
	} f, g;
	uint64_t x = 88172645463325252ull;
	unsigned int i, good = 0;

	memset(&f, 0, sizeof(f));
	f.h.magic = REQUEST_MAGIC;
	f.h.total = sizeof(f);
	f.h.n_vanilla_proofs = 2;
	f.h.randomness = (struct request_range){ offsetof(typeof(f), bytes), 32 };
	f.ranges[1] = (struct request_range){ offsetof(typeof(f), bytes), 64 };
	ok(try(&f, sizeof(f), true) == 0, "a file made by hand");
	ok(try(&f, sizeof(f), false) == -EPERM, "not sealed");
	ok(try(&f, sizeof(f) - 1, true) == -EBADMSG, "cut");
	ok(try(&f, 16, true) == -EBADMSG, "shorter than a header");
	g = f, g.h.magic++;
	ok(try(&g, sizeof(g), true) == -EBADMSG, "wrong magic");
	g = f, g.ranges[1].len++;
	ok(try(&g, sizeof(g), true) == -EBADMSG, "a proof beyond the end");
	g = f, g.ranges[1].len = UINT64_MAX;
	ok(try(&g, sizeof(g), true) == -EBADMSG, "a length that overflows");
	g = f, g.h.randomness.offset = UINT64_MAX - 8;
	ok(try(&g, sizeof(g), true) == -EBADMSG, "an offset that overflows");
	g = f, g.h.n_vanilla_proofs = 1ull << 60;
	ok(try(&g, sizeof(g), true) == -EBADMSG, "a count that overflows");
	g = f, g.h.n_vanilla_proofs = 100;
	ok(try(&g, sizeof(g), true) == -EBADMSG, "more ranges than the file holds");
	for (i = 0; i < 5000; i++) {
		g = f;
		x ^= x << 13, x ^= x >> 7, x ^= x << 17;
		((unsigned char *)&g)[x % (sizeof(g) - 64)] ^= 1 << (x >> 20) % 8;
		good += !try(&g, sizeof(g), true);
	}
	ok(good < 5000, "one flipped bit of the header: no crash (%u of 5000 still fit)", good);
}

int main(void)
{
	test_round_trip();
	test_lies();
	return tap_done();
}
