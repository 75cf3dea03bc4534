/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* fuzz-journal.c - the file of the journal: read, compacted and read again it holds the same */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/crc32c.h"
#include "plugin/journal-file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct sum {
	uint32_t crc;
	unsigned int n;
};

/* Everything of a record that compaction must keep. */
static int add(void *ctx, const struct record *r, const void *body, const void *payload)
{
	struct sum *sum = ctx;

	sum->crc = crc32c(sum->crc, &r->type, sizeof(r->type));
	sum->crc = crc32c(sum->crc, &r->seq, sizeof(r->seq));
	sum->crc = crc32c(sum->crc, body, r->body_len);
	sum->n++;
	return 0;
}

static void make_file(int dir, const uint8_t *data, size_t size)
{
	int fd = openat(dir, "journal", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, JOURNAL_HEAD, JOURNAL_HEAD_SIZE) != JOURNAL_HEAD_SIZE ||
	    write(fd, data, size) != (ssize_t)size)
		abort();
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[] = "/dev/shm/cuzk-fuzz-XXXXXX", name[64];
	struct sum before = { 0 }, after = { 0 };
	struct journal_file file;
	const char *what;
	int dir;

	if (!mkdtemp(path))
		return 0;
	dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	make_file(dir, data, size);
	if (journal_file_open(&file, dir, &what))
		abort();	/* whatever is in it, it opens */
	if (journal_file_read(&file, add, &before) || journal_file_compact(&file) ||
	    journal_file_read(&file, add, &after))
		abort();
	journal_file_sweep(&file);
	if (before.crc != after.crc || before.n != after.n || file.size > JOURNAL_HEAD_SIZE + size)
		abort();
	journal_file_close(&file);
	snprintf(name, sizeof(name), "%s/requests", path);
	rmdir(name);
	unlinkat(dir, "journal", 0);
	close(dir);
	rmdir(path);
	return 0;
}
