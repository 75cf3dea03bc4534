/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* kept.c - prepared parameters in memory that the host keeps over a restart */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <syslog.h>
#include <unistd.h>

#include "engine/groth16/instance.h"
#include "engine/groth16/kept.h"

#define KEPT_MAGIC "cuzk-kept-params"	/* fills its field, without a NUL */
#define KEPT_VERSION 1
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

_Static_assert(sizeof(struct kept_header) <= KEPT_PAGE, "the header fits its page");

static void kept_name(char name[CUZK_MEMORY_NAME_SIZE], const struct circuit *circuit)
{
	snprintf(name, CUZK_MEMORY_NAME_SIZE, "params.%.50s", circuit->name);
}

bool kept_offered(const struct cuzk_instance *inst)
{
	return inst->options.keep && inst->host.memory_put && inst->host.memory_get &&
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

static int map(struct kept *kept, int fd, size_t size, int prot)
{
	void *p = mmap(NULL, size, prot, MAP_SHARED, fd, 0);

	if (p == MAP_FAILED)
		return -errno;
	/* only speed depends on it, and only where shared memory may have huge pages */
	madvise(p, size, MADV_HUGEPAGE);
	kept->map = p;
	kept->size = size;
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
	    (uint64_t)st.st_size == KEPT_PAGE + want.bytes)
		ret = map(kept, fd, KEPT_PAGE + want.bytes, PROT_READ);
	close(fd);
	if (!ret && memcmp(kept->map, &want, sizeof(want))) {
		kept_close(kept);
		ret = -ENOENT;
	}
	if (ret == -ENOENT) {
		instance_log(inst, LOG_NOTICE,
			     "what was kept of the parameters of %s is of another file or form",
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
	if (ftruncate(kept->fd, KEPT_PAGE + header.bytes) ||
	    fallocate(kept->fd, 0, 0, KEPT_PAGE + header.bytes))
		ret = -errno;
	else
		ret = map(kept, kept->fd, KEPT_PAGE + header.bytes, PROT_READ | PROT_WRITE);
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
	size_t size = kept->size;
	int fd = kept->fd, ret;

	kept->filling = false;
	kept_close(kept);
	ret = fcntl(fd, F_ADD_SEALS, KEPT_SEALS) ? -errno : map(kept, fd, size, PROT_READ);
	if (!ret) {
		kept_name(name, &key->circuit);
		ret = inst->host.memory_put(inst->host.ctx, name, fd, size);
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
