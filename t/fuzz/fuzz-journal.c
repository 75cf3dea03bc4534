/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* fuzz-journal.c - the file of the journal: compacted it holds the same; format 01 converted */
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
	static const uint8_t no_key[JOURNAL_KEY_SIZE];
	struct journal_head head;

	journal_head_fill(&head, no_key);
	if (fd < 0 || write(fd, &head, sizeof(head)) != sizeof(head) ||
	    write(fd, data, size) != (ssize_t)size)
		abort();
	close(fd);
}

/* The same bytes behind the head of format 01: what is converted opens. */
static void convert(int dir, const uint8_t *data, size_t size)
{
	int fd = openat(dir, "journal", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	struct journal_conversion done;
	struct journal_file file;
	const char *what;

	if (fd < 0 || write(fd, "cuzk journal 01\n", 16) != 16 ||
	    write(fd, data, size) != (ssize_t)size)
		abort();
	close(fd);
	if (journal_convert(dir, &done) || !done.converted || done.unread > size)
		abort();
	if (journal_file_open(&file, dir, &what))
		abort();
	journal_file_close(&file);
	unlinkat(dir, JOURNAL_ASIDE, 0);
}

static char folder[] = "/dev/shm/cuzk-fuzz-XXXXXX";
static int folder_fd = -1;

static void remove_folder(void)
{
	unlinkat(folder_fd, "requests", AT_REMOVEDIR);
	unlinkat(folder_fd, "journal", 0);
	rmdir(folder);
}

/* One folder for all inputs: making it takes as long as what is tested. */
static void make_folder(void)
{
	if (folder_fd >= 0)
		return;
	if (!mkdtemp(folder))
		abort();
	folder_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder_fd < 0)
		abort();
	atexit(remove_folder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sum before = { 0 }, after = { 0 };
	struct journal_file file;
	const char *what;

	make_folder();
	make_file(folder_fd, data, size);
	if (journal_file_open(&file, folder_fd, &what))
		abort();	/* whatever is in it, it opens */
	if (journal_file_read(&file, add, &before) || journal_file_compact(&file) ||
	    journal_file_read(&file, add, &after))
		abort();
	journal_file_sweep(&file);
	if (before.crc != after.crc || before.n != after.n || file.size > JOURNAL_HEAD_SIZE + size)
		abort();
	journal_file_close(&file);
	convert(folder_fd, data, size);
	return 0;
}

#ifdef CUZK_LIBFUZZER
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed);

/* Three times in four, what looks like a record gets a right check: no mutation finds one. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
	static const uint8_t no_key[JOURNAL_KEY_SIZE];
	struct record r;
	size_t pos;

	size = LLVMFuzzerMutate(data, size, max_size);
	for (pos = 0; seed % 4 && pos + sizeof(r) <= size; pos += 8) {
		memcpy(&r, data + pos, sizeof(r));
		if (r.magic != RECORD_MAGIC || r.body_len > size - pos - sizeof(r))
			continue;
		record_seal(&r, data + pos + sizeof(r), no_key);
		memcpy(data + pos, &r, sizeof(r));
	}
	return size;
}
#endif
