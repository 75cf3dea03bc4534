/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* request.c - a request as one flat, sealed memory file */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plugin/request.h"

#define SEALS (F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

/* Gives a blob its place behind *end. */
static int place(const struct cuzk_blob *blob, struct request_range *range, uint64_t *end)
{
	uint64_t offset = (*end + 63) & ~63ull;

	if (blob->len > REQUEST_BYTES_MAX || offset > REQUEST_BYTES_MAX - blob->len)
		return -EMSGSIZE;
	range->offset = offset;
	range->len = blob->len;
	*end = offset + blob->len;
	return 0;
}

static int write_at(int fd, const void *buf, uint64_t len, uint64_t offset)
{
	const char *p = buf;

	while (len) {
		ssize_t n = pwrite(fd, p, len, offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		p += n;
		offset += n;
		len -= n;
	}
	return 0;
}

static int write_blob(int fd, const struct cuzk_blob *blob, const struct request_range *range)
{
	return write_at(fd, blob->data, blob->len, range->offset);
}

/* The blobs of a request that have a range of their own in the header. */
#define N_BLOBS 5

struct blob_pair {
	struct cuzk_blob *blob;
	struct request_range *range;
};

static void header_blobs(struct cuzk_request *rq, struct request_header *h,
			 struct blob_pair pairs[N_BLOBS])
{
	pairs[0] = (struct blob_pair){ &rq->vanilla_proof, &h->vanilla_proof };
	pairs[1] = (struct blob_pair){ &rq->randomness, &h->randomness };
	pairs[2] = (struct blob_pair){ &rq->comm_r_old, &h->comm_r_old };
	pairs[3] = (struct blob_pair){ &rq->comm_r_new, &h->comm_r_new };
	pairs[4] = (struct blob_pair){ &rq->comm_d_new, &h->comm_d_new };
}

static int write_all(int fd, const struct request_header *h, const struct request_range *ranges,
		     const struct blob_pair *pairs, const struct cuzk_blob *proofs)
{
	uint64_t i;
	int r;

	if (ftruncate(fd, h->total) < 0)
		return -errno;
	r = write_at(fd, h, sizeof(*h), 0);
	if (!r)
		r = write_at(fd, ranges, h->n_vanilla_proofs * sizeof(*ranges), sizeof(*h));
	for (i = 0; !r && i < N_BLOBS; i++)
		r = write_blob(fd, pairs[i].blob, pairs[i].range);
	for (i = 0; !r && i < h->n_vanilla_proofs; i++)
		r = write_blob(fd, &proofs[i], &ranges[i]);
	if (!r && fcntl(fd, F_ADD_SEALS, SEALS) < 0)
		r = -errno;
	return r;
}

int request_pack(const struct cuzk_request *request, int *fd)
{
	struct cuzk_request rq = *request;
	struct blob_pair pairs[N_BLOBS];
	struct request_range *ranges = NULL;
	struct request_header h = {
		.magic = REQUEST_MAGIC,
		.kind = rq.kind,
		.partition_index = rq.partition_index,
		.registered_proof = rq.registered_proof,
		.sector_size = rq.sector_size,
		.sector_number = rq.sector_number,
		.miner_id = rq.miner_id,
		.n_vanilla_proofs = rq.n_vanilla_proofs,
	};
	uint64_t end, i;
	int r = 0, mem;

	if (rq.n_vanilla_proofs > REQUEST_PROOFS_MAX)
		return -EMSGSIZE;
	if (rq.n_vanilla_proofs) {
		ranges = calloc(rq.n_vanilla_proofs, sizeof(*ranges));
		if (!ranges)
			return -ENOMEM;
	}
	end = sizeof(h) + rq.n_vanilla_proofs * sizeof(*ranges);
	header_blobs(&rq, &h, pairs);
	for (i = 0; !r && i < N_BLOBS; i++)
		r = place(pairs[i].blob, pairs[i].range, &end);
	for (i = 0; !r && i < rq.n_vanilla_proofs; i++)
		r = place(&rq.vanilla_proofs[i], &ranges[i], &end);
	if (r < 0)
		goto out_free;
	h.total = end;
	mem = memfd_create("cuzk-request", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (mem < 0) {
		r = -errno;
		goto out_free;
	}
	r = write_all(mem, &h, ranges, pairs, rq.vanilla_proofs);
	if (r < 0)
		close(mem);
	else
		*fd = mem;
out_free:
	free(ranges);
	return r;
}

static int check_range(const struct request_map *map, const struct request_range *range,
		       struct cuzk_blob *blob)
{
	if (range->offset > map->len || range->len > map->len - range->offset)
		return -EBADMSG;
	blob->data = range->len ? (const char *)map->base + range->offset : NULL;
	blob->len = range->len;
	return 0;
}

static int check_map(struct request_map *map)
{
	const struct request_header *h = map->base;
	const struct request_range *ranges = (const void *)(h + 1);
	struct request_header copy = *h;
	struct blob_pair pairs[N_BLOBS];
	uint64_t i;
	int r = 0;

	if (h->magic != REQUEST_MAGIC || h->total != map->len ||
	    h->n_vanilla_proofs > REQUEST_PROOFS_MAX ||
	    h->n_vanilla_proofs * sizeof(*ranges) > map->len - sizeof(*h))
		return -EBADMSG;
	map->request = (struct cuzk_request){
		.size = sizeof(map->request),
		.kind = h->kind,
		.partition_index = h->partition_index,
		.registered_proof = h->registered_proof,
		.sector_size = h->sector_size,
		.sector_number = h->sector_number,
		.miner_id = h->miner_id,
		.n_vanilla_proofs = h->n_vanilla_proofs,
	};
	header_blobs(&map->request, &copy, pairs);
	for (i = 0; !r && i < N_BLOBS; i++)
		r = check_range(map, pairs[i].range, pairs[i].blob);
	if (r < 0 || !h->n_vanilla_proofs)
		return r;
	map->vanilla_proofs = calloc(h->n_vanilla_proofs, sizeof(*map->vanilla_proofs));
	if (!map->vanilla_proofs)
		return -ENOMEM;
	for (i = 0; !r && i < h->n_vanilla_proofs; i++)
		r = check_range(map, &ranges[i], &map->vanilla_proofs[i]);
	map->request.vanilla_proofs = map->vanilla_proofs;
	return r;
}

int request_map(struct request_map *map, int fd)
{
	struct stat st;
	int seals, r;

	*map = (struct request_map){ 0 };
	seals = fcntl(fd, F_GET_SEALS);
	if (seals < 0 || (seals & (F_SEAL_WRITE | F_SEAL_SHRINK)) !=
			 (F_SEAL_WRITE | F_SEAL_SHRINK))
		return -EPERM;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (st.st_size < (off_t)sizeof(struct request_header) ||
	    (uint64_t)st.st_size > REQUEST_BYTES_MAX)
		return -EBADMSG;
	map->len = st.st_size;
	map->base = mmap(NULL, map->len, PROT_READ, MAP_SHARED, fd, 0);
	if (map->base == MAP_FAILED) {
		map->base = NULL;
		return -errno;
	}
	r = check_map(map);
	if (r < 0)
		request_unmap(map);
	return r;
}

void request_unmap(struct request_map *map)
{
	if (map->base)
		munmap(map->base, map->len);
	free(map->vanilla_proofs);
	*map = (struct request_map){ 0 };
}
