/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* fuzz-request.c - request files as an instance gets them; all that is mapped is read */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "plugin/request.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile unsigned int sink;

static void read_blob(const struct cuzk_blob *blob)
{
	const uint8_t *p = blob->data;
	size_t i;

	for (i = 0; i < blob->len; i++)
		sink += p[i];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	struct request_map map;
	uint64_t i;

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
	if (!request_map(&map, fd)) {
		read_blob(&map.request.vanilla_proof);
		read_blob(&map.request.randomness);
		read_blob(&map.request.comm_r_old);
		read_blob(&map.request.comm_r_new);
		read_blob(&map.request.comm_d_new);
		/* ranges may overlap, so the sum of their lengths has no bound by the file's */
		for (i = 0; i < map.request.n_vanilla_proofs && i < 64; i++)
			read_blob(&map.request.vanilla_proofs[i]);
		request_unmap(&map);
	}
	close(fd);
	return 0;
}
