/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* kept.c - prepared parameters in memory that the host keeps over a restart */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <syslog.h>
#include <unistd.h>

#include "engine/groth16/instance.h"
#include "engine/groth16/kept.h"
#include "lib/crc32c.h"

#define KEPT_MAGIC "cuzk-kept-params"	/* fills its field, without a NUL */
#define KEPT_VERSION 2
#define KEPT_PAGE 4096		/* of the header; keeps the points aligned */
#define KEPT_SEALS (F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

struct kept_header {
	char magic[16];
	uint32_t version, check;
	char circuit[64], layout[32], digest[40];	/* digest: "" where none is known */
	uint64_t dev, ino, file_size, mtime_ns;		/* of the file */
	uint64_t n_h, n_l, n_a, n_bg1, n_bg2, h_basis;
	uint64_t bytes;					/* behind the header's page */
};

/* In the same page, behind the header. */
#define KEPT_SUMS_AT 2048
struct kept_sums {
	uint32_t block, n;	/* bytes of a block; blocks */
	uint32_t table_crc;	/* of the n CRCs behind the points */
	uint32_t crc;		/* of the page before it */
};

_Static_assert(sizeof(struct kept_header) <= KEPT_SUMS_AT, "the header fits before the sums");
_Static_assert(KEPT_SUMS_AT + sizeof(struct kept_sums) <= KEPT_PAGE, "both fit their page");

static void kept_name(char name[CUZK_MEMORY_NAME_SIZE], const struct circuit *circuit)
{
	snprintf(name, CUZK_MEMORY_NAME_SIZE, "params.%.50s", circuit->name);
}

bool kept_offered(const struct cuzk_instance *inst)
{
	return inst->options.keep && !inst->late && inst->host.memory_put && inst->host.memory_get &&
	       inst->host.memory_drop && inst->ops->srs_memory;
}

bool kept_exists(struct cuzk_instance *inst, const struct circuit_state *line)
{
	char name[CUZK_MEMORY_NAME_SIZE];
	int fd;

	kept_name(name, &line->circuit);
	fd = inst->host.memory_get(inst->host.ctx, name);
	if (fd < 0)
		return false;
	close(fd);
	return true;
}

static void make_header(struct cuzk_instance *inst, const struct key *key,
			const struct gpu_srs_desc *desc, struct kept_header *h)
{
	memset(h, 0, sizeof(*h));
	memcpy(h->magic, KEPT_MAGIC, sizeof(h->magic));
	h->version = KEPT_VERSION;
	h->check = inst->options.full_check;
	snprintf(h->circuit, sizeof(h->circuit), "%s", key->circuit.name);
	snprintf(h->digest, sizeof(h->digest), "%s", key->line->digest);
	h->dev = key->params.map.dev;
	h->ino = key->params.map.ino;
	h->file_size = key->params.map.size;
	h->mtime_ns = key->params.map.mtime_ns;
	h->n_h = desc->n_h;
	h->n_l = desc->n_l;
	h->n_a = desc->n_a;
	h->n_bg1 = desc->n_bg1;
	h->n_bg2 = desc->n_bg2;
	h->h_basis = desc->h_basis;
	h->bytes = inst->ops->srs_memory(inst->gpu, desc, h->layout);
}

static uint64_t n_blocks(uint64_t bytes)
{
	return (bytes + KEPT_BLOCK - 1) / KEPT_BLOCK;
}

static uint64_t table_at(uint64_t bytes)
{
	return KEPT_PAGE + ((bytes + 7) & ~7ull);
}

/* The file's: header, points, table. */
static uint64_t total(uint64_t bytes)
{
	return table_at(bytes) + n_blocks(bytes) * sizeof(uint32_t);
}

static struct kept_sums *sums_of(const struct kept *kept)
{
	return (struct kept_sums *)((char *)kept->map + KEPT_SUMS_AT);
}

static uint32_t *table_of(const struct kept *kept)
{
	return (uint32_t *)((char *)kept->map + table_at(kept->bytes));
}

uint64_t kept_blocks(const struct kept *kept)
{
	return n_blocks(kept->bytes);
}

static uint32_t block_crc(const struct kept *kept, uint64_t block)
{
	uint64_t at = block * KEPT_BLOCK, len = kept->bytes - at;

	return crc32c(0, (char *)kept->points + at, len < KEPT_BLOCK ? len : KEPT_BLOCK);
}

bool kept_block_good(const struct kept *kept, uint64_t block)
{
	return table_of(kept)[block] == block_crc(kept, block);
}

static void sum_block(void *arg, size_t block, unsigned int thread)
{
	struct kept *kept = arg;

	table_of(kept)[block] = block_crc(kept, block);
}

static uint32_t page_crc(const struct kept *kept)
{
	return crc32c(0, kept->map, KEPT_SUMS_AT + offsetof(struct kept_sums, crc));
}

static uint32_t table_crc(const struct kept *kept)
{
	return crc32c(0, table_of(kept), kept_blocks(kept) * sizeof(uint32_t));
}

static void write_sums(struct cuzk_instance *inst, struct kept *kept)
{
	struct kept_sums *s = sums_of(kept);

	tpool_run(inst->pool, sum_block, kept, kept_blocks(kept));
	s->block = KEPT_BLOCK;
	s->n = kept_blocks(kept);
	s->table_crc = table_crc(kept);
	s->crc = page_crc(kept);
}

/* Of the header and the table; the points are another matter. */
static bool sums_good(const struct kept *kept)
{
	const struct kept_sums *s = sums_of(kept);

	return s->crc == page_crc(kept) && s->block == KEPT_BLOCK &&
	       s->n == kept_blocks(kept) && s->table_crc == table_crc(kept);
}

static int map(struct kept *kept, int fd, uint64_t bytes, int prot)
{
	size_t size = total(bytes);
	void *p = mmap(NULL, size, prot, MAP_SHARED, fd, 0);

	if (p == MAP_FAILED)
		return -errno;
	/* only speed depends on it, and only where shared memory may have huge pages */
	madvise(p, size, MADV_HUGEPAGE);
	kept->map = p;
	kept->size = size;
	kept->bytes = bytes;
	kept->points = (char *)p + KEPT_PAGE;
	return 0;
}

int kept_take(struct cuzk_instance *inst, const struct key *key, const struct gpu_srs_desc *desc,
	      struct kept *kept)
{
	char name[CUZK_MEMORY_NAME_SIZE];
	struct kept_header want;
	int fd, seals, ret = -ENOENT;
	struct stat st;

	kept_name(name, &key->circuit);
	fd = inst->host.memory_get(inst->host.ctx, name);
	if (fd < 0)
		return -ENOENT;
	make_header(inst, key, desc, &want);
	seals = fcntl(fd, F_GET_SEALS);
	if (seals >= 0 && (seals & KEPT_SEALS) == KEPT_SEALS && !fstat(fd, &st) &&
	    (uint64_t)st.st_size == total(want.bytes))
		ret = map(kept, fd, want.bytes, PROT_READ);
	close(fd);
	if (!ret && (memcmp(kept->map, &want, sizeof(want)) || !sums_good(kept))) {
		kept_close(kept);
		ret = -ENOENT;
	}
	if (ret == -ENOENT) {
		instance_log(inst, LOG_NOTICE,
			     "what was kept of the parameters of %s is damaged, or of another file or form",
			     key->circuit.name);
		inst->host.memory_drop(inst->host.ctx, name);
	}
	return ret;
}

int kept_new(struct cuzk_instance *inst, const struct key *key, const struct gpu_srs_desc *desc,
	     struct kept *kept)
{
	struct kept_header header;
	int ret;

	make_header(inst, key, desc, &header);
	kept->fd = memfd_create(key->circuit.name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (kept->fd < 0)
		return -errno;
	kept->filling = true;
	/* here a lack of memory is an error, later it would be a signal */
	if (ftruncate(kept->fd, total(header.bytes)) ||
	    fallocate(kept->fd, 0, 0, total(header.bytes)))
		ret = -errno;
	else
		ret = map(kept, kept->fd, header.bytes, PROT_READ | PROT_WRITE);
	if (ret) {
		kept_close(kept);
		return ret;
	}
	memcpy(kept->map, &header, sizeof(header));
	return 0;
}

int kept_seal(struct cuzk_instance *inst, const struct key *key, struct kept *kept)
{
	char name[CUZK_MEMORY_NAME_SIZE];
	uint64_t bytes = kept->bytes;
	int fd = kept->fd, ret;

	write_sums(inst, kept);
	kept->filling = false;
	kept_close(kept);
	ret = fcntl(fd, F_ADD_SEALS, KEPT_SEALS) ? -errno : map(kept, fd, bytes, PROT_READ);
	if (!ret) {
		kept_name(name, &key->circuit);
		ret = inst->host.memory_put(inst->host.ctx, name, fd, total(bytes));
		if (ret) {
			instance_log(inst, LOG_WARNING, "the parameters of %s are not kept: %s",
				     key->circuit.name, strerror(-ret));
			ret = 0;	/* they serve all the same */
		}
	}
	close(fd);
	return ret;
}

void kept_close(struct kept *kept)
{
	if (kept->map)
		munmap(kept->map, kept->size);
	kept->map = kept->points = NULL;
	if (kept->filling)
		close(kept->fd);
	kept->filling = false;
}

void kept_drop(struct cuzk_instance *inst, const struct circuit_state *line)
{
	char name[CUZK_MEMORY_NAME_SIZE];

	kept_name(name, &line->circuit);
	inst->host.memory_drop(inst->host.ctx, name);
}
