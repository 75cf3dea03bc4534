/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * journal-convert.c - a journal of format 01 becomes one of today's
 *
 * Format 01 is the same but for its head, which is the name alone, and for the check
 * of a record: a CRC-32C that anybody can compute.  Its records are therefore taken
 * one after another only.  Behind a damaged one nothing is looked for, since that
 * could be a payload, which a client has chosen.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/crc32c.h"
#include "plugin/journal-file.h"

#define NAME_01 "cuzk journal 01\n"
#define NEW "journal.new"

struct record_01 {
	uint32_t magic;
	uint16_t type, version;
	uint64_t seq;
	uint32_t body_len;
	uint32_t crc;		/* CRC-32C of this head with crc 0, then of the body */
	uint64_t payload_len;
};

/* Is there a whole record at p, with left bytes to the end of the file? */
static bool record_01_at(const uint8_t *p, uint64_t left, struct record_01 *r, uint64_t *size)
{
	struct record_01 head;
	uint64_t len;

	if (left < sizeof(*r))
		return false;
	memcpy(r, p, sizeof(*r));
	left -= sizeof(*r);
	if (r->magic != RECORD_MAGIC || r->version || r->body_len > RECORD_BODY_MAX ||
	    r->body_len > left || r->payload_len > left - r->body_len)
		return false;
	len = (r->body_len + r->payload_len + 7) & ~7ull;
	if (len > left)
		return false;
	head = *r;
	head.crc = 0;
	*size = sizeof(*r) + len;
	return r->crc == crc32c(crc32c(0, &head, sizeof(head)), p + sizeof(*r), r->body_len);
}

static int copy_records(int fd, const uint8_t *base, uint64_t size,
			const uint8_t key[JOURNAL_KEY_SIZE], struct journal_conversion *done)
{
	uint64_t at = JOURNAL_NAME_SIZE, pos = JOURNAL_HEAD_SIZE, len;
	struct record_01 old;
	int err;

	while (record_01_at(base + at, size - at, &old, &len)) {
		struct record r = { .type = old.type, .seq = old.seq, .body_len = old.body_len,
				    .payload_len = old.payload_len };
		const uint8_t *body = base + at + sizeof(old);

		record_seal(&r, body, key);
		err = journal_write_record(fd, &r, body, body + r.body_len, &pos);
		if (err)
			return err;
		done->records++;
		at += len;
	}
	done->unread = size - at;
	return 0;
}

static int write_new(int dir_fd, const uint8_t *base, uint64_t size,
		     struct journal_conversion *done)
{
	uint8_t key[JOURNAL_KEY_SIZE];
	int fd, err;

	if (getrandom(key, sizeof(key), 0) != sizeof(key))
		return errno ? -errno : -EIO;
	fd = openat(dir_fd, NEW, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	err = journal_write_head(fd, key);
	if (!err)
		err = copy_records(fd, base, size, key, done);
	if (!err && fdatasync(fd) < 0)
		err = -errno;
	close(fd);
	return err;
}

/* The old file keeps its name until the new one takes it, and has another from then on. */
static int take_place(int dir_fd)
{
	if (unlinkat(dir_fd, JOURNAL_ASIDE, 0) < 0 && errno != ENOENT)
		return -errno;
	if (linkat(dir_fd, "journal", dir_fd, JOURNAL_ASIDE, 0) < 0)
		return -errno;
	if (renameat(dir_fd, NEW, dir_fd, "journal") < 0)
		return -errno;
	return fsync(dir_fd) < 0 ? -errno : 0;
}

int journal_convert(int dir_fd, struct journal_conversion *done)
{
	char name[JOURNAL_NAME_SIZE];
	const uint8_t *base;
	struct stat st;
	int fd, err = 0;

	memset(done, 0, sizeof(*done));
	fd = openat(dir_fd, "journal", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	if (pread(fd, name, sizeof(name), 0) != sizeof(name) ||
	    memcmp(name, NAME_01, sizeof(name)))
		goto out_close;
	if (fstat(fd, &st) < 0) {
		err = -errno;
		goto out_close;
	}
	base = mmap(NULL, st.st_size, PROT_READ, MAP_SHARED, fd, 0);
	if (base == MAP_FAILED) {
		err = -errno;
		goto out_close;
	}
	err = write_new(dir_fd, base, st.st_size, done);
	munmap((void *)base, st.st_size);
	if (!err)
		err = take_place(dir_fd);
	if (err)
		unlinkat(dir_fd, NEW, 0);
	done->converted = !err;
out_close:
	close(fd);
	return err;
}
